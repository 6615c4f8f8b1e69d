//! The modification time of files, and conditional requests.

use http1::headers;

/// Modification time of every file of a data set: 946 684 800 s after 1970, for built-in and installed
/// servers alike.
pub(super) const LAST_MODIFIED: &str = "Sat, 01 Jan 2000 00:00:00 GMT";

/// The same as a [`Date`].
const LAST_MODIFIED_DATE: Date = Date { year: 2000, month: 1, day: 1, time: (0, 0, 0) };

/// Returns whether a GET or HEAD states that the client's copy of a file is current.
///
/// That takes a valid `If-Modified-Since` not before [`LAST_MODIFIED`]. It is ignored if `If-None-Match` is
/// present, because the server has no entity tags (RFC 9110 §13.1.2, §13.1.3).
#[inline]
pub(super) fn is_unmodified(head: &[u8]) -> bool {
    let mut since = None;
    let mut by_tag = false;
    for (name, value) in headers(head) {
        // The lengths are compared first because every request passes here.
        match name.len() {
            13 => by_tag |= name.eq_ignore_ascii_case(b"If-None-Match"),
            17 if name.eq_ignore_ascii_case(b"If-Modified-Since") => since = Some(value),
            _ => {}
        }
    }
    is_current(since, by_tag)
}

/// Returns whether a client's copy is current by its `If-Modified-Since`; `by_tag` says that there is an
/// `If-None-Match` as well.
pub(super) fn is_current(since: Option<&[u8]>, by_tag: bool) -> bool {
    !by_tag && since.and_then(parse_date).is_some_and(|date| LAST_MODIFIED_DATE <= date)
}

/// A date and time in GMT; ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Date {
    year: u32,
    /// 1 for January.
    month: usize,
    day: u32,
    time: (u32, u32, u32),
}

/// Parses the three HTTP date formats (RFC 9110 §5.6.7); `None` for anything else.
fn parse_date(value: &[u8]) -> Option<Date> {
    let words: Vec<&str> = std::str::from_utf8(value).ok()?.split_ascii_whitespace().collect();
    match words[..] {
        [_weekday, day, month, year, time, "GMT"] => date(number(year, 4)?, month, day, time),
        [_weekday, date_dashed, time, "GMT"] => {
            let mut parts = date_dashed.split('-');
            let day = parts.next()?;
            let month = parts.next()?;
            let year = number(parts.next()?, 2)?;
            // A two-digit year means the nearest one to the present.
            date(if year < 70 { 2000 + year } else { 1900 + year }, month, day, time)
        }
        [_weekday, month, day, time, year] => date(number(year, 4)?, month, day, time),
        _ => None,
    }
}

fn date(year: u32, month: &str, day: &str, time: &str) -> Option<Date> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = 1 + MONTHS.iter().position(|name| *name == month)?;
    let day = number(day, 2).or_else(|| number(day, 1)).filter(|day| (1..=31).contains(day))?;
    let mut parts = time.split(':').map(|part| number(part, 2));
    let time = (parts.next()??, parts.next()??, parts.next()??);
    // 60 is a leap second.
    let valid = time <= (23, 59, 60) && time.1 < 60 && time.2 <= 60 && parts.next().is_none();
    valid.then_some(Date { year, month, day, time })
}

/// Parses a number of exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let right = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    right.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fields: &str, unmodified: bool) {
        let head = format!("GET / HTTP/1.1\r\nHost: h\r\n{fields}\r\n\r\n");
        assert_eq!(is_unmodified(head.as_bytes()), unmodified, "{fields}");
    }

    #[test]
    fn a_date_at_or_after_the_modification_is_unmodified() {
        check("If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT", true);
        check("if-modified-since: Sat, 01 Jan 2000 00:00:01 GMT", true);
        check("If-Modified-Since: Sunday, 02-Jan-00 00:00:00 GMT", true);
        check("If-Modified-Since: Tue Feb  1 00:00:00 2000", true);
        check("If-Modified-Since: Thu, 31 Dec 2026 23:59:60 GMT", true);
    }

    #[test]
    fn an_earlier_date_is_modified() {
        check("If-Modified-Since: Fri, 31 Dec 1999 23:59:59 GMT", false);
        check("If-Modified-Since: Friday, 31-Dec-99 23:59:59 GMT", false);
        check("If-Modified-Since: Fri Dec 31 23:59:59 1999", false);
    }

    #[test]
    fn a_missing_or_invalid_date_or_an_entity_tag_is_modified() {
        check("X: y", false);
        for value in [
            "",
            "yesterday",
            "Sat, 01 Jan 2000 00:00:00 CET",
            "Sat, 32 Jan 2000 00:00:00 GMT",
            "Sat, 01 Jan 2000 24:00:00 GMT",
            "Sat, 01 Jan 2000 00:00 GMT",
            "Sat, 01 Jän 2000 00:00:00 GMT",
            "Sat, +1 Jan 2000 00:00:00 GMT",
        ] {
            check(&format!("If-Modified-Since: {value}"), false);
        }
        check("If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT\r\nIf-None-Match: \"a\"", false);
    }
}
