//! Dates in fields (RFC 9110 §5.6.7), as seconds since 1970.

use std::time::{Duration, UNIX_EPOCH};

use units::WallTime;

/// The longest of the three forms: `Wednesday, 06-Nov-94 08:49:37 GMT`.
const DATE_BYTES_MAX: usize = 33;

/// Reads a date in one of the three forms, in any case (RFC 9111 §4.2 asks caches for that).
///
/// `None` for anything else: a zone other than GMT, too many or too few blanks or digits, a time that does not exist,
/// a wrong day of the week, a year before 1970. A two-digit year below 70 is of this century, which does not
/// contradict the rule of at most fifty years in the future (RFC 9110 §5.6.7).
pub fn parse_date(value: &[u8]) -> Option<WallTime> {
    if DATE_BYTES_MAX < value.len() {
        return None;
    }
    let text = capitalized(std::str::from_utf8(value).ok()?);
    let time = httpdate::parse_http_date(&text).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(WallTime)
}

/// Writes a date in the preferred form: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Fractions of a second are cut off. Times that the form cannot express become its limits, 1970 and 9999.
pub fn write_date(time: WallTime) -> String {
    /// The last second of 9999.
    const SECONDS_MAX: u64 = 253_402_300_799;
    let seconds = u64::try_from(time.0.div_euclid(1000)).unwrap_or(0).min(SECONDS_MAX);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Capitalizes each word, and a zone of three letters at the end.
fn capitalized(text: &str) -> String {
    let mut inside_word = false;
    let put = |letter: char| {
        let case = if inside_word { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() };
        inside_word = letter.is_ascii_alphabetic();
        case
    };
    let text: String = text.chars().map(put).collect();
    match text.strip_suffix("Gmt") {
        Some(start) => format!("{start}GMT"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d '1994-11-06 08:49:37' +%s`
    const TIME: WallTime = WallTime(784_111_777_000);

    #[test]
    fn all_three_date_forms_are_case_insensitive() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "SUN, 06 NOV 1994 08:49:37 gmt",
            "sunday, 06-nov-94 08:49:37 GMT",
            "sun nov  6 08:49:37 1994",
        ] {
            assert_eq!(parse_date(text.as_bytes()), Some(TIME), "{text}");
        }
    }

    #[test]
    fn invalid_dates_are_refused() {
        for text in [
            "",
            "0",
            "-1",
            "784111777",
            "1994-11-06T08:49:37Z",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 AEST",
            "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun, 06 Nov 1994  08:49:37 GMT",
            "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 36 Nov 1994 08:49:37 GMT",
            "Thu, 31 Nov 1994 08:49:37 GMT",
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1964 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(parse_date(text.as_bytes()), None, "{text}");
        }
        assert_eq!(parse_date(b"Sun, 06 Nov 1994 08:49:37 GM\xff"), None);
    }

    #[test]
    fn two_digit_years_are_within_fifty_years() {
        let year = |text: &str| parse_date(text.as_bytes()).map(write_date);
        let later = "Friday, 06-Nov-26 08:49:37 GMT";
        let earlier = "Saturday, 06-Nov-99 08:49:37 GMT";
        assert_eq!(year(later).as_deref(), Some("Fri, 06 Nov 2026 08:49:37 GMT"));
        assert_eq!(year(earlier).as_deref(), Some("Sat, 06 Nov 1999 08:49:37 GMT"));
    }

    #[test]
    fn dates_are_written_in_the_preferred_form() {
        assert_eq!(write_date(TIME), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(write_date(WallTime(TIME.0 + 999)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(write_date(WallTime(i64::MIN)), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(write_date(WallTime(i64::MAX)), "Fri, 31 Dec 9999 23:59:59 GMT");
    }
}
