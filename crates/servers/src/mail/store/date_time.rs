//! Dates of messages in mailboxes (RFC 3501, `date-time`): `30-Nov-2026 02:30:00 +0000`.

use mail::MailDate;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const SECONDS_PER_DAY: i64 = 86_400;

/// Writes a date as mailboxes have it: that of messages (`Mon, 30 Nov 2026 02:30:00 +0000`) in another order.
pub(crate) fn write_date_time(date: MailDate) -> String {
    let text = date.to_string();
    format!("{}-{}-{} {}", &text[5..7], &text[8..11], &text[12..16], &text[17..])
}

/// Reads a date with time and zone; `None` if it is none, or before 1970.
pub(crate) fn read_date_time(text: &[u8]) -> Option<MailDate> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii() && text.len() == 26)?;
    let has = |at: usize, sign: &str| text.get(at..at + 1) == Some(sign);
    let is_formed =
        has(2, "-") && has(6, "-") && has(11, " ") && has(14, ":") && has(17, ":") && has(20, " ");
    let number = |at: usize, digits: usize| text[at..at + digits].trim_start().parse::<u32>().ok();
    let [hour, minute, second] = [number(12, 2)?, number(15, 2)?, number(18, 2)?];
    let [zone_hours, zone_minutes] = [number(22, 2)?, number(24, 2)?];
    let east = if has(21, "+") { 1 } else { -1 };
    let is_time =
        hour < 24 && minute < 60 && second <= 60 && zone_minutes < 60 && (has(21, "+") || has(21, "-"));
    if !is_formed || !is_time {
        return None;
    }
    let day = days_since_1970(&text[..11])?;
    let time = i64::from(hour * 3600 + minute * 60 + second);
    let zone = east * i64::from(zone_hours * 3600 + zone_minutes * 60);
    u64::try_from(day * SECONDS_PER_DAY + time - zone).ok().map(MailDate::from_unix_seconds)
}

/// Returns the number of days from the beginning of 1970 to a date: `30-Nov-2026`, with a blank or nothing in place of the
/// first digit of the day if it is 0.
///
/// Source: H. Hinnant, chrono-compatible low-level date algorithms, `days_from_civil`.
pub(crate) fn days_since_1970(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let [day, month, year] = [parts.next()?, parts.next()?, parts.next()?];
    let day: i64 = day.trim_start().parse().ok().filter(|day| (1..=31).contains(day))?;
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? as i64 + 1;
    let year: i64 =
        year.parse().ok().filter(|year| (1970..=9999).contains(year) && parts.next().is_none())?;
    let year = if month <= 2 { year - 1 } else { year };
    let era = year / 400;
    let year_of_era = year % 400;
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Returns the day of a date, as [`days_since_1970`] counts them.
pub(crate) fn day_of(date: MailDate) -> Option<i64> {
    days_since_1970(&write_date_time(date)[..11])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds are those of `mail`'s own test of dates.
    #[test]
    fn dates_are_written_and_read_back() {
        for (seconds, text) in [
            (0, "01-Jan-1970 00:00:00 +0000"),
            (951_868_799, "29-Feb-2000 23:59:59 +0000"),
            (1_796_005_800, "30-Nov-2026 02:30:00 +0000"),
            (253_402_300_799, "31-Dec-9999 23:59:59 +0000"),
        ] {
            let date = MailDate::from_unix_seconds(seconds);
            assert_eq!((write_date_time(date).as_str(), read_date_time(text.as_bytes())), (text, Some(date)));
        }
        assert_eq!(day_of(MailDate::from_unix_seconds(951_868_799)), Some(951_868_799 / 86_400));
    }

    #[test]
    fn zones_are_taken_off() {
        let utc = MailDate::from_unix_seconds(1_796_005_800);
        for text in ["30-Nov-2026 04:00:00 +0130", "29-nov-2026 18:30:00 -0800", "30-Nov-2026 02:30:00 -0000"]
        {
            assert_eq!(read_date_time(text.as_bytes()), Some(utc), "{text}");
        }
        assert_eq!(read_date_time(b" 1-Jan-1970 00:00:00 +0000"), Some(MailDate::from_unix_seconds(0)));
    }

    #[test]
    fn texts_that_are_no_dates_are_refused() {
        for text in [
            "",
            "30-Nov-2026",
            "30-Nov-2026 24:30:00 +0000",
            "30-Nov-2026 02:30:00 *0000",
            "30 Nov 2026 02:30:00 +0000",
            "00-Nov-2026 02:30:00 +0000",
            "30-Now-2026 02:30:00 +0000",
            "30-Nov-1969 02:30:00 +0000",
            "01-Jan-1970 00:00:00 +0100",
            "30-Nov-2026 02:3\u{e9}:00 +00",
        ] {
            assert_eq!(read_date_time(text.as_bytes()), None, "{text}");
        }
    }
}
