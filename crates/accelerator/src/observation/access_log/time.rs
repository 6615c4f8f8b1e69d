//! Timestamps of log lines, in UTC.

use cache_policy::write_date;
use units::WallTime;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The timestamps of the second that was written last: a line's time seldom needs to be formatted anew.
#[derive(Debug, Default)]
pub(crate) struct TimestampCache {
    /// Seconds since 1970, plus one, so that zero is no second.
    second: i64,
    /// `06/Nov/1994:08:49:37 +0000`
    common: String,
    /// `1994-11-06T08:49:37`
    iso: String,
}

impl TimestampCache {
    /// Returns a time in the common log format: `06/Nov/1994:08:49:37 +0000`.
    pub(crate) fn common(&mut self, time: WallTime) -> &str {
        self.switch_to(time);
        &self.common
    }

    /// Returns a time in ISO 8601: `1994-11-06T08:49:37.123Z`.
    pub(crate) fn iso(&mut self, time: WallTime) -> String {
        self.switch_to(time);
        format!("{}.{:03}Z", self.iso, time.0.rem_euclid(1000))
    }

    fn switch_to(&mut self, time: WallTime) {
        let second = time.0.div_euclid(1000) + 1;
        if self.second == second {
            return;
        }
        self.second = second;
        // `Sun, 06 Nov 1994 08:49:37 GMT`: of fixed length, whatever the time.
        let date = write_date(time);
        let part = |range: std::ops::Range<usize>| date.get(range).unwrap_or_default();
        let day = part(5..7);
        let month = part(8..11);
        let year = part(12..16);
        let clock = part(17..25);
        let number = MONTHS.iter().position(|name| *name == month).map_or(0, |place| place + 1);
        self.common = format!("{day}/{month}/{year}:{clock} +0000");
        self.iso = format!("{year}-{number:02}-{day}T{clock}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_timestamp_formats_follow_the_clock() {
        let mut stamp = TimestampCache::default();
        for (time, common, iso) in [
            (0, "01/Jan/1970:00:00:00 +0000", "1970-01-01T00:00:00.000Z"),
            (784_111_777_009, "06/Nov/1994:08:49:37 +0000", "1994-11-06T08:49:37.009Z"),
            (784_111_777_999, "06/Nov/1994:08:49:37 +0000", "1994-11-06T08:49:37.999Z"),
            (1_709_164_800_000, "29/Feb/2024:00:00:00 +0000", "2024-02-29T00:00:00.000Z"),
        ] {
            assert_eq!(stamp.common(WallTime(time)), common);
            assert_eq!(stamp.iso(WallTime(time)), iso);
        }
    }
}
