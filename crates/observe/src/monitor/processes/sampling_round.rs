//! Turns of threads whose accounting is read.

/// Maximum number of accounting files that are read per reading, and of those of threads that ran.
const ACCOUNT_READS_MAX: usize = 512;
const RUNNING_READS_MAX: usize = 384;

/// The accounting that is read this time: that of threads that ran before they were read last, and that of threads that
/// slept, or of every n-th of either, so that they are not too many.
#[derive(Debug, Default)]
pub(super) struct SamplingRound {
    /// The number of this reading.
    number: usize,
    ran: Rotation,
    slept: Rotation,
}

/// The threads of a kind as they are met in one reading.
#[derive(Debug, Default)]
struct Rotation {
    n_met: usize,
    /// Every n-th is read; 0 is every one.
    every: usize,
}

impl SamplingRound {
    /// Returns whether the next thread is read.
    pub(super) fn takes(&mut self, ran: bool) -> bool {
        if ran { self.ran.takes(self.number) } else { self.slept.takes(self.number) }
    }

    /// Begins the next reading, as if it had as many threads as this one.
    pub(super) fn next(&mut self) {
        let n_ran = self.ran.n_met.min(RUNNING_READS_MAX);
        self.number = self.number.wrapping_add(1);
        self.ran = Rotation { n_met: 0, every: self.ran.n_met.div_ceil(RUNNING_READS_MAX) };
        self.slept = Rotation { n_met: 0, every: self.slept.n_met.div_ceil(ACCOUNT_READS_MAX - n_ran) };
    }
}

impl Rotation {
    fn takes(&mut self, reading: usize) -> bool {
        let index = self.n_met;
        self.n_met += 1;
        self.every < 2 || index % self.every == reading % self.every
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a reading is bounded, threads that run are read each time, and those that sleep have their turn.
    #[test]
    fn threads_that_sleep_take_turns() {
        let mut turn = SamplingRound::default();
        let mut n_read = vec![0; 2_000];
        let ran = |index: usize| index.is_multiple_of(20);
        for reading in 0..9 {
            let mut n_now = 0;
            for (index, n) in n_read.iter_mut().enumerate() {
                let is_read = turn.takes(ran(index));
                *n += usize::from(is_read);
                n_now += usize::from(is_read);
            }
            // By hand: 100 that ran, and every 5th of 1,900, because 412 of them may be read.
            assert_eq!(n_now, if reading == 0 { 2_000 } else { 480 }, "{reading}");
            turn.next();
        }
        assert!(n_read.iter().enumerate().all(|(index, n)| if ran(index) {
            *n == 9
        } else {
            (2..=3).contains(n)
        }));
    }

    #[test]
    fn threads_that_run_take_turns_where_they_are_too_many() {
        let mut turn = SamplingRound::default();
        let mut count = |n_threads: usize| {
            let n_read = (0..n_threads).filter(|_| turn.takes(true)).count();
            turn.next();
            n_read
        };
        assert_eq!([count(1_000), count(1_000), count(1_000), count(300)], [1_000, 333, 333, 100]);
        assert_eq!(count(300), 300);
    }
}
