//! The trend of memory use.

use std::fmt;

use units::{Bytes, Nanos};

/// Maximum growth of a process over the second half of its life, relative and in bytes.
const GROWTH_MAX: f64 = 0.05;
const GROWTH_BYTES_MAX: f64 = 4e6;

/// Resident memory of a process over time.
#[derive(Debug, Clone, Default)]
pub(super) struct MemoryTrend(Vec<(Nanos, u64)>);

impl MemoryTrend {
    pub(super) fn new() -> MemoryTrend {
        MemoryTrend::default()
    }

    /// Adds a sample of the resident bytes.
    pub(super) fn note(&mut self, at: Nanos, bytes: u64) {
        self.0.push((at, bytes));
    }

    /// Returns whether memory did not grow in the second half, by linear regression.
    pub(super) fn is_flat(&self) -> bool {
        self.growth().is_some_and(|growth| growth <= self.growth_max())
    }

    fn most(&self) -> u64 {
        self.0.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0)
    }

    fn growth_max(&self) -> f64 {
        (self.most() as f64 * GROWTH_MAX).max(GROWTH_BYTES_MAX)
    }

    /// Returns the growth in bytes of the regression line over the second half.
    fn growth(&self) -> Option<f64> {
        let half = &self.0[self.0.len() / 2..];
        let first = half.first()?;
        let last = half.last()?;
        let n = half.len() as f64;
        let mean = |value: fn(&(Nanos, u64)) -> f64| half.iter().map(value).sum::<f64>() / n;
        let time = mean(|one| one.0.as_secs_f64());
        let bytes = mean(|one| one.1 as f64);
        let sum = |value: &dyn Fn(f64, f64) -> f64| {
            half.iter().map(|one| value(one.0.as_secs_f64() - time, one.1 as f64 - bytes)).sum::<f64>()
        };
        let spread = sum(&|x, _| x * x);
        let slope = if spread == 0.0 { 0.0 } else { sum(&|x, y| x * y) / spread };
        Some(slope * (last.0.saturating_sub(first.0)).as_secs_f64())
    }
}

impl fmt::Display for MemoryTrend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((_, last)) = self.0.last() else { return write!(f, "memory not looked at") };
        let growth = self.growth().unwrap_or(0.0) / 1e6;
        let allowed = self.growth_max() / 1e6;
        let n = self.0.len();
        write!(
            f,
            "{} resident, {} at most, {growth:+.2} MB over the second half of {n} s ({allowed:.2} MB allowed)",
            Bytes(*last),
            Bytes(self.most())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: impl Fn(u64) -> u64) -> MemoryTrend {
        MemoryTrend((0..100).map(|second| (Nanos::from_secs(second), bytes(second))).collect())
    }

    #[test]
    fn a_filling_cache_is_flat_and_a_leak_is_not() {
        let filling = memory(|second| 100_000_000 * second.min(40) / 40);
        assert!(filling.is_flat(), "{filling}");
        // A leak of 100 kB a second: 5 MB over the second half, of 20.
        let leak = memory(|second| 10_000_000 + second * 100_000);
        assert!(!leak.is_flat(), "{leak}");
        let up_and_down = memory(|second| 100_000_000 + second % 2 * 3_000_000);
        assert!(up_and_down.is_flat(), "{up_and_down}");
        assert!(!MemoryTrend::new().is_flat());
    }
}
