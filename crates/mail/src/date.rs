//! Dates as messages and calendars write them, always in UTC.

use std::fmt;

const SECONDS_PER_DAY: u64 = 86_400;

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A date and time of day, in seconds since the beginning of 1970 in UTC; the last is in 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MailDate {
    seconds: u64,
}

/// A date in the calendar.
struct CivilDate {
    year: u64,
    /// From 1.
    month: u64,
    /// From 1.
    day: u64,
}

impl MailDate {
    /// The last: 9999-12-31 23:59:59.
    pub const LAST: MailDate = MailDate { seconds: 253_402_300_799 };

    /// Makes a date from the seconds since the beginning of 1970; later ones than [`MailDate::LAST`] are that one.
    pub fn from_unix_seconds(seconds: u64) -> MailDate {
        MailDate { seconds: seconds.min(MailDate::LAST.seconds) }
    }

    /// Returns the date so many seconds later.
    pub fn later(self, seconds: u64) -> MailDate {
        MailDate::from_unix_seconds(self.seconds.saturating_add(seconds))
    }

    /// Returns the date so many seconds before, at most the beginning of 1970.
    pub fn earlier(self, seconds: u64) -> MailDate {
        MailDate { seconds: self.seconds.saturating_sub(seconds) }
    }

    /// Returns the first moment of its day.
    pub fn midnight(self) -> MailDate {
        self.earlier(self.seconds % SECONDS_PER_DAY)
    }

    /// Returns the date as calendars have it (RFC 5545, 3.3.5): `20261130T023000Z`.
    pub fn calendar_form(self) -> CalendarDateTime {
        CalendarDateTime(self)
    }

    /// Returns the day in the calendar.
    ///
    /// Source: H. Hinnant, chrono-compatible low-level date algorithms, `civil_from_days`: years begin in March, and 400 of
    /// them have 146,097 days.
    fn civil(self) -> CivilDate {
        let days = self.seconds / SECONDS_PER_DAY + 719_468;
        let era = days / 146_097;
        let day_of_era = days % 146_097;
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        CivilDate { year: year_of_era + era * 400 + u64::from(month <= 2), month, day }
    }

    /// Returns hour, minute and second.
    fn time_of_day(self) -> [u64; 3] {
        let second = self.seconds % SECONDS_PER_DAY;
        [second / 3600, second / 60 % 60, second % 60]
    }
}

impl fmt::Display for MailDate {
    /// Writes the date as messages have it (RFC 5322, 3.3), in 31 characters: `Mon, 30 Nov 2026 02:30:00 +0000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CivilDate { year, month, day } = self.civil();
        let [hour, minute, second] = self.time_of_day();
        let weekday = WEEKDAYS[(self.seconds / SECONDS_PER_DAY % 7) as usize];
        let month = MONTHS[(month - 1) as usize];
        write!(f, "{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} +0000")
    }
}

/// A date as calendars write it.
#[derive(Debug, Clone, Copy)]
pub struct CalendarDateTime(MailDate);

impl fmt::Display for CalendarDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CivilDate { year, month, day } = self.0.civil();
        let [hour, minute, second] = self.0.time_of_day();
        write!(f, "{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Leap days, the turn of a century that has none, and the days around them; weekdays from a printed calendar.
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, message, calendar) in [
            (0, "Thu, 01 Jan 1970 00:00:00 +0000", "19700101T000000Z"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 +0000", "20000229T000000Z"),
            (951_868_799, "Tue, 29 Feb 2000 23:59:59 +0000", "20000229T235959Z"),
            (951_868_800, "Wed, 01 Mar 2000 00:00:00 +0000", "20000301T000000Z"),
            (1_796_005_800, "Mon, 30 Nov 2026 02:30:00 +0000", "20261130T023000Z"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 +0000", "21000228T235959Z"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 +0000", "21000301T000000Z"),
            (u64::MAX, "Fri, 31 Dec 9999 23:59:59 +0000", "99991231T235959Z"),
        ] {
            let date = MailDate::from_unix_seconds(seconds);
            assert_eq!(
                (date.to_string().as_str(), date.calendar_form().to_string().as_str()),
                (message, calendar)
            );
            assert_eq!(message.len(), 31);
        }
    }

    #[test]
    fn dates_stay_within_their_limits() {
        let date = MailDate::from_unix_seconds(100_000);
        assert_eq!(date.midnight(), MailDate::from_unix_seconds(86_400));
        assert_eq!(date.earlier(200_000), MailDate::from_unix_seconds(0));
        assert_eq!(date.later(u64::MAX), MailDate::LAST);
    }
}
