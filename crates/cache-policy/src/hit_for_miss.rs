//! Hit-for-miss: marks on keys whose responses cannot be stored, so that requests are not collapsed in vain.

use units::{Nanos, WallTime};

use crate::settings::Settings;
use crate::store::NotStored;

/// A hit-for-miss mark: requests for a key go to the origin at once, uncollapsed, until it expires.
///
/// The first response that can be stored replaces the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitForMiss {
    /// The reason why the last response could not be stored.
    pub why: NotStored,
    /// The time at which requests are collapsed again.
    pub until: WallTime,
}

impl HitForMiss {
    /// Returns whether the mark is still valid.
    #[inline]
    pub fn is_valid(&self, now: WallTime) -> bool {
        now < self.until
    }
}

/// Returns the mark for the key of a response that was not stored.
///
/// `None` if the reason lies with this one request or transfer: otherwise a single client could switch off collapsing
/// for all others. `None` too if the operator has set no time for marks.
pub fn hit_for_miss(why: NotStored, now: WallTime, settings: &Settings) -> Option<HitForMiss> {
    if !why.is_persistent() || settings.hit_for_miss == Nanos::ZERO {
        return None;
    }
    let milliseconds = i64::try_from(settings.hit_for_miss.0 / 1_000_000).unwrap_or(i64::MAX);
    Some(HitForMiss { why, until: WallTime(now.0.saturating_add(milliseconds)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_expire() {
        let settings = Settings { hit_for_miss: Nanos::from_secs(10), ..Settings::default() };
        let mark = hit_for_miss(NotStored::NoStore, WallTime(5_000), &settings).unwrap();
        assert!(mark.is_valid(WallTime(14_999)) && !mark.is_valid(WallTime(15_000)));
    }

    #[test]
    fn reasons_of_one_request_leave_no_mark() {
        for why in [NotStored::RequestNoStore, NotStored::Method, NotStored::Incomplete] {
            assert_eq!(hit_for_miss(why, WallTime(0), &Settings::default()), None);
        }
        let settings = Settings { hit_for_miss: Nanos::ZERO, ..Settings::default() };
        assert_eq!(hit_for_miss(NotStored::NoStore, WallTime(0), &settings), None);
    }
}
