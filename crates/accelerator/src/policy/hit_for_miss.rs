//! Marks for keys whose responses cannot be stored, so that requests do not wait for each other in vain.

use units::{Nanos, WallTime};

use super::settings::Settings;
use super::store::NotStored;

/// Says that requests for a key go to the origin at once, each by itself, until a time.
///
/// The first response that can be stored takes the mark's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Why the last response could not be stored.
    pub why: NotStored,
    /// When requests wait for each other again.
    pub until: WallTime,
}

impl Mark {
    /// Tells whether the mark still counts.
    pub fn is_valid(&self, now: WallTime) -> bool {
        now < self.until
    }
}

/// Returns the mark that a response leaves behind which was not stored.
///
/// `None` if the reason lies with this one request or transfer: otherwise a single client could switch waiting off for
/// all others. `None` too if the operator has set no time for marks.
pub fn hit_for_miss(why: NotStored, now: WallTime, settings: &Settings) -> Option<Mark> {
    if !why.is_lasting() || settings.hit_for_miss == Nanos::ZERO {
        return None;
    }
    let milliseconds = i64::try_from(settings.hit_for_miss.0 / 1_000_000).unwrap_or(i64::MAX);
    Some(Mark { why, until: WallTime(now.0.saturating_add(milliseconds)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_end() {
        let settings = Settings { hit_for_miss: Nanos::from_secs(10), ..Settings::default() };
        let mark = hit_for_miss(NotStored::NoStore, WallTime(5_000), &settings).unwrap();
        assert!(mark.is_valid(WallTime(14_999)) && !mark.is_valid(WallTime(15_000)));
    }

    #[test]
    fn one_request_leaves_no_mark() {
        for why in [NotStored::RequestNoStore, NotStored::Method, NotStored::Incomplete] {
            assert_eq!(hit_for_miss(why, WallTime(0), &Settings::default()), None);
        }
        let settings = Settings { hit_for_miss: Nanos::ZERO, ..Settings::default() };
        assert_eq!(hit_for_miss(NotStored::NoStore, WallTime(0), &settings), None);
    }
}
