//! Age of a response (RFC 9111 §4.2.3).

use units::{Nanos, WallTime};

use crate::response_meta::ResponseMeta;

impl ResponseMeta {
    /// Returns the age of the response when it was received.
    ///
    /// a = max(0, r − d, A + (r − q)): r the time of receipt, q the time of the request, d its `Date`, A its `Age`.
    /// The greater of what clocks and what caches on the way say, as either may be wrong or missing.
    ///
    /// Source: RFC 9111 §4.2.3, corrected_initial_age.
    #[inline]
    pub(crate) fn age_on_arrival(&self) -> Nanos {
        let apparent = since(self.date, self.times.received);
        let corrected = self.age.saturating_add(since(self.times.requested, self.times.received));
        apparent.max(corrected)
    }

    /// Returns the current age: the age on receipt and the time since.
    ///
    /// Never below the age on receipt, should the clock have been set back.
    #[inline]
    pub fn age(&self, now: WallTime) -> Nanos {
        self.age_on_arrival().saturating_add(since(self.times.received, now))
    }
}

/// Returns the time from one moment to a later one; zero if it is earlier.
pub(crate) fn since(earlier: WallTime, later: WallTime) -> Nanos {
    let milliseconds = later.0.saturating_sub(earlier.0).max(0).unsigned_abs();
    Nanos(milliseconds.saturating_mul(1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response_meta::ExchangeTimes;
    use crate::settings::Settings;

    /// A response that came 10 s after its `Date`, having been asked for 2 s before.
    fn response(age: &str) -> ResponseMeta {
        let received = WallTime(784_111_787_000);
        let times = ExchangeTimes { requested: WallTime(received.0 - 2000), received };
        let lines: [(&[u8], &[u8]); 2] =
            [(b"Date", b"Sun, 06 Nov 1994 08:49:37 GMT"), (b"Age", age.as_bytes())];
        ResponseMeta::read(200, lines.iter().copied(), times, &Settings::default())
    }

    #[test]
    fn age_is_the_greater_of_clock_and_field() {
        for (age, seconds) in [("0", 10), ("8", 10), ("9", 11), ("3600", 3602), ("none", 10)] {
            assert_eq!(response(age).age_on_arrival(), Nanos::from_secs(seconds), "{age}");
        }
    }

    #[test]
    fn age_grows_with_the_clock_and_never_shrinks() {
        let response = response("0");
        let received = response.times.received.0;
        assert_eq!(response.age(WallTime(received + 1500)), Nanos::from_millis(11_500));
        assert_eq!(response.age(WallTime(received - 60_000)), Nanos::from_secs(10));
        assert_eq!(response.age(WallTime(i64::MAX)), Nanos::MAX);
    }

    #[test]
    fn reversed_times_have_zero_distance() {
        assert_eq!(since(WallTime(i64::MAX), WallTime(i64::MIN)), Nanos::ZERO);
        assert_eq!(since(WallTime(i64::MIN), WallTime(i64::MAX)), Nanos::MAX);
    }
}
