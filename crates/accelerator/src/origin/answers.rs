//! The times at which URLs were last answered, by any server.

use std::sync::atomic::{AtomicU64, Ordering};

use units::Nanos;

/// The number of times that are kept, by the hash of the URL: 8 KiB. URLs that share one look answered too, which makes
/// an overdue response count once more than it should.
const TIMES: usize = 1024;

/// The times at which URLs were last answered.
#[derive(Debug)]
pub(super) struct AnswerTimes(Box<[AtomicU64]>);

impl Default for AnswerTimes {
    fn default() -> AnswerTimes {
        AnswerTimes((0..TIMES).map(|_| AtomicU64::new(0)).collect())
    }
}

impl AnswerTimes {
    /// Notes that a URL was answered.
    pub(super) fn note(&self, url: u64, now: Nanos) {
        self.of(url).store(now.0, Ordering::Relaxed);
    }

    /// Returns whether a URL was answered after this time.
    pub(super) fn has_since(&self, url: u64, since: Nanos) -> bool {
        since.0 < self.of(url).load(Ordering::Relaxed)
    }

    fn of(&self, url: u64) -> &AtomicU64 {
        &self.0[url as usize % TIMES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_count_for_requests_made_before_them() {
        let answers = AnswerTimes::default();
        assert!(!answers.has_since(7, Nanos::ZERO));
        answers.note(7, Nanos(5));
        assert!(answers.has_since(7, Nanos(4)) && !answers.has_since(7, Nanos(5)));
        assert!(!answers.has_since(8, Nanos::ZERO), "another URL");
    }
}
