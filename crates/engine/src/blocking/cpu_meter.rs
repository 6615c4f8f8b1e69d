//! A user's CPU time, within operations and between them.
//!
//! A reading of a thread's CPU time takes nearly a microsecond, as long as a short operation. Operations of some microseconds
//! are therefore not metered one by one: at most once in [`READING_INTERVAL`] a gap between two of them is metered, and the
//! gaps since the one before are taken to be as long. Their sum with the operations is read, not estimated. Gaps have little
//! variance: in them the loop records an operation and asks the user for the next one. Longer operations and the gaps behind
//! them are all metered.

use units::Nanos;

/// The time between two metered gaps, at least: readings take less than a hundredth of it.
const READING_INTERVAL: Nanos = Nanos::from_micros(200);

/// CPU time since the last reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MeteredCpu {
    /// Outside of operations.
    pub(super) own: Nanos,
    /// Within operations.
    pub(super) sut: Nanos,
}

/// A meter of a user's thread, which alternates between gaps and operations, beginning with a gap.
#[derive(Debug)]
pub(super) struct CpuMeter {
    /// The CPU time that a reading adds to a gap that is metered.
    cost: Nanos,
    /// The thread's CPU time as read last.
    read: Nanos,
    /// Whether the gap in which the thread is, or was last, is metered.
    is_gap_metered: bool,
    /// The gaps since the last reading.
    n_gaps: u64,
    /// The last gap that was metered, without the reading.
    gap: Nanos,
    /// The time from which on another gap is metered.
    next: Nanos,
}

impl CpuMeter {
    /// Makes a meter whose first gap has begun; `cpu` reads the CPU time of the thread.
    pub(super) fn new(mut cpu: impl FnMut() -> Nanos) -> CpuMeter {
        let first = cpu();
        let read = cpu();
        CpuMeter {
            cost: read.saturating_sub(first),
            read,
            is_gap_metered: true,
            n_gaps: 0,
            gap: Nanos::ZERO,
            next: Nanos::ZERO,
        }
    }

    /// Notes that an operation has ended at a time, and a gap begun.
    pub(super) fn operation_ended(&mut self, at: Nanos, cpu: impl FnOnce() -> Nanos) -> Option<MeteredCpu> {
        self.is_gap_metered = self.next <= at;
        if self.is_gap_metered {
            return Some(self.operations(cpu()));
        }
        self.n_gaps += 1;
        None
    }

    /// Notes that a gap has ended at a time, and an operation begins.
    pub(super) fn gap_ended(&mut self, at: Nanos, cpu: impl FnOnce() -> Nanos) -> Option<MeteredCpu> {
        self.is_gap_metered.then(|| {
            self.next = at.saturating_add(READING_INTERVAL);
            self.gap(cpu())
        })
    }

    /// Returns what is known in the middle of a gap, which goes on.
    pub(super) fn within_gap(&mut self, cpu: impl FnOnce() -> Nanos) -> Option<MeteredCpu> {
        self.is_gap_metered.then(|| self.gap(cpu()))
    }

    /// Returns the rest, when the thread ends in a gap.
    pub(super) fn close(&mut self, cpu: Nanos) -> MeteredCpu {
        if self.is_gap_metered { self.gap(cpu) } else { self.operations(cpu) }
    }

    /// Ends a metered gap.
    fn gap(&mut self, read: Nanos) -> MeteredCpu {
        let own = self.elapsed(read);
        self.gap = own.saturating_sub(self.cost);
        MeteredCpu { own, sut: Nanos::ZERO }
    }

    /// Divides the CPU time since the last metered gap into operations and the gaps between them, each as long as that one.
    fn operations(&mut self, read: Nanos) -> MeteredCpu {
        let all = self.elapsed(read);
        let n_gaps = std::mem::take(&mut self.n_gaps);
        let own = Nanos(self.gap.0.saturating_mul(n_gaps)).min(all);
        MeteredCpu { own, sut: all - own }
    }

    /// Returns the CPU time since the last reading.
    fn elapsed(&mut self, read: Nanos) -> Nanos {
        let before = std::mem::replace(&mut self.read, read);
        read.saturating_sub(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICROS: u64 = 1000;

    fn metered(own: u64, sut: u64) -> Option<MeteredCpu> {
        Some(MeteredCpu { own: Nanos(own), sut: Nanos(sut) })
    }

    /// Makes a meter of which a reading takes 3 ns, at 103 ns.
    fn meter() -> CpuMeter {
        let mut now = 97;
        CpuMeter::new(|| {
            now += 3;
            Nanos(now)
        })
    }

    /// By hand: gaps of 10 and 20 ns and one of 10 + 20, and operations of 1, 2 and 3 µs of CPU time, 300 µs apart.
    #[test]
    fn long_operations_are_metered_one_by_one() {
        let mut meter = meter();
        assert_eq!(meter.gap_ended(Nanos(0), || Nanos(113)), metered(10, 0));
        assert_eq!(meter.operation_ended(Nanos(300 * MICROS), || Nanos(1113)), metered(0, 1000));
        assert_eq!(meter.gap_ended(Nanos(300 * MICROS), || Nanos(1133)), metered(20, 0));
        assert_eq!(meter.operation_ended(Nanos(600 * MICROS), || Nanos(3133)), metered(0, 2000));
        assert_eq!(meter.within_gap(|| Nanos(3143)), metered(10, 0));
        assert_eq!(meter.gap_ended(Nanos(900 * MICROS), || Nanos(3163)), metered(20, 0));
        assert_eq!(meter.operation_ended(Nanos(1200 * MICROS), || Nanos(6163)), metered(0, 3000));
        assert_eq!(Some(meter.close(Nanos(6200))), metered(37, 0));
    }

    /// By hand: a metered gap of 13 ns is one of 10 without the reading. Three operations with two gaps between them have taken
    /// 320 ns: 20 and 300. The sum is what was read, even if gaps were shorter than that.
    #[test]
    fn gaps_between_short_operations_are_as_long_as_the_one_that_is_metered() {
        let mut meter = meter();
        let never = || -> Nanos { panic!("not read") };
        assert_eq!(meter.gap_ended(Nanos(0), || Nanos(116)), metered(13, 0));
        for at in [50, 100] {
            assert_eq!(meter.operation_ended(Nanos(at * MICROS), never), None);
            assert_eq!(meter.gap_ended(Nanos(at * MICROS), never), None);
        }
        assert_eq!(meter.operation_ended(Nanos(210 * MICROS), || Nanos(436)), metered(20, 300));
        assert_eq!(meter.gap_ended(Nanos(210 * MICROS), || Nanos(449)), metered(13, 0));
        assert_eq!(meter.operation_ended(Nanos(220 * MICROS), never), None);
        assert_eq!(meter.within_gap(never), None);
        assert_eq!(Some(meter.close(Nanos(454))), metered(5, 0));
    }
}
