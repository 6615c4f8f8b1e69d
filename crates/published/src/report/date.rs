//! Dates as reports print them: a day, a month or a year.

use std::cmp::Ordering;

/// Years of two digits from here on are of the twentieth century.
const CENTURY_TURN: u32 = 70;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A date, as exact as it was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarDate {
    /// The date as printed.
    pub text: String,
    /// Four digits.
    pub year: u32,
    /// The month from 1 to 12, if it was printed.
    pub month: Option<u32>,
    /// The day from 1 to 31, if it was printed.
    pub day: Option<u32>,
}

impl CalendarDate {
    /// Reads `1996-09-09`, `1996-09`, `1996`, `Sep 1996`, `Sept. 96` or `September 1996`; `None` for anything else.
    pub fn parse(text: &str) -> Option<CalendarDate> {
        let text = text.trim();
        let (year, month, day) = in_numbers(text).or_else(|| in_words(text))?;
        let is_date = month.is_none_or(|month| (1..=12).contains(&month))
            && day.is_none_or(|day| (1..=31).contains(&day));
        is_date.then(|| CalendarDate { text: text.to_owned(), year, month, day })
    }

    /// Compares two dates as far as both are exact: September 1996 is neither before nor after 9 September 1996.
    pub fn compare(&self, other: &CalendarDate) -> Ordering {
        let known =
            |one: Option<u32>, two: Option<u32>| one.zip(two).map_or(Ordering::Equal, |(a, b)| a.cmp(&b));
        let year = self.year.cmp(&other.year);
        let month = year.then(known(self.month, other.month));
        if self.month.is_some() && other.month.is_some() {
            month.then(known(self.day, other.day))
        } else {
            month
        }
    }
}

fn in_numbers(text: &str) -> Option<(u32, Option<u32>, Option<u32>)> {
    let numbers: Vec<u32> = text.split('-').map(number).collect::<Option<_>>()?;
    let year = *numbers.first().filter(|year| 1000 <= **year && **year <= 9999)?;
    (numbers.len() <= 3).then(|| (year, numbers.get(1).copied(), numbers.get(2).copied()))
}

fn in_words(text: &str) -> Option<(u32, Option<u32>, Option<u32>)> {
    let (word, year) = text.split_once(' ')?;
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    let is_name = 3 <= word.len() && word.len() <= 9 && word.chars().all(|c| c.is_ascii_lowercase());
    let month = MONTHS.iter().position(|month| is_name && word.starts_with(month))? + 1;
    let digits = year.trim();
    let year = match (digits.len(), number(digits)?) {
        (4, year) => year,
        (2, year) if CENTURY_TURN <= year => 1900 + year,
        (2, year) => 2000 + year,
        _ => return None,
    };
    Some((year, u32::try_from(month).ok(), None))
}

fn number(digits: &str) -> Option<u32> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(u32, Option<u32>, Option<u32>)> {
        CalendarDate::parse(text).map(|date| (date.year, date.month, date.day))
    }

    #[test]
    fn dates_are_read_as_reports_print_them() {
        assert_eq!(read("1996-09-09"), Some((1996, Some(9), Some(9))));
        assert_eq!(read("1998-05"), Some((1998, Some(5), None)));
        assert_eq!(read("1998"), Some((1998, None, None)));
        assert_eq!(read("May 98"), Some((1998, Some(5), None)));
        assert_eq!(read("Sept. 1997"), Some((1997, Some(9), None)));
        assert_eq!(read("April 04"), Some((2004, Some(4), None)));
        for text in
            ["", "98", "May", "Mayday", "1998-13", "1998-01-32", "1998-1-1-1", "Mai 98", "May 198", "M 98"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn dates_are_compared_as_far_as_both_are_exact() {
        let compare =
            |one, two| CalendarDate::parse(one).unwrap().compare(&CalendarDate::parse(two).unwrap());
        assert_eq!(compare("May 98", "Aug 98"), Ordering::Less);
        assert_eq!(compare("1999", "Aug 98"), Ordering::Greater);
        assert_eq!(compare("1998", "Aug 98"), Ordering::Equal);
        assert_eq!(compare("1998-08-02", "Aug 98"), Ordering::Equal);
        assert_eq!(compare("1998-08-02", "1998-08-01"), Ordering::Greater);
    }
}
