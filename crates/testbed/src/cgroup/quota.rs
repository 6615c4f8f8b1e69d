//! CPU quotas in the form of the kernel: CPU time per period.

use std::fmt;

/// The period. Short, so that a server that has used up its quota is paused for milliseconds rather than for
/// the kernel's default of up to 100 ms, which would show in every percentile.
const PERIOD_US: u64 = 10_000;

/// The kernel's minimum quota. Source: Linux, `min_cfs_quota_period` (kernel/sched/core.c).
const QUOTA_US_MIN: u64 = 1_000;

/// The kernel's maximum period. Source: Linux, `max_cfs_quota_period`.
const PERIOD_US_MAX: u64 = 1_000_000;

/// A CPU quota. Invariant: within the limits of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quota {
    /// CPU time per period, summed over CPUs, in µs.
    pub quota_us: u64,
    /// Length of the period in µs.
    pub period_us: u64,
}

impl Quota {
    /// Creates a quota of this many CPUs; less than a thousandth becomes a thousandth.
    ///
    /// The period is 10 ms, or longer if the quota of such a period would be below the kernel's minimum.
    pub(super) fn new(cpus: f64) -> Quota {
        let cpus = if cpus.is_finite() { cpus.clamp(0.001, 100_000.0) } else { 100_000.0 };
        let period_us = PERIOD_US.max((QUOTA_US_MIN as f64 / cpus).ceil() as u64).min(PERIOD_US_MAX);
        let quota_us = ((cpus * period_us as f64).round() as u64).max(QUOTA_US_MIN);
        Quota { quota_us, period_us }
    }
}

impl fmt::Display for Quota {
    /// Formats the quota in CPUs: `0.25 CPUs`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} CPUs", (self.quota_us as f64 / self.period_us as f64 * 1000.0).round() / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_quotas_get_longer_periods() {
        for (cpus, quota_us, period_us, text) in [
            (0.25, 2_500, 10_000, "0.25 CPUs"),
            (1.5, 15_000, 10_000, "1.5 CPUs"),
            (0.1, 1_000, 10_000, "0.1 CPUs"),
            (0.05, 1_000, 20_000, "0.05 CPUs"),
            (0.0, 1_000, 1_000_000, "0.001 CPUs"),
            (-1.0, 1_000, 1_000_000, "0.001 CPUs"),
        ] {
            let quota = Quota::new(cpus);
            assert_eq!((quota.quota_us, quota.period_us), (quota_us, period_us), "{cpus}");
            assert_eq!(quota.to_string(), text);
        }
        assert_eq!(Quota::new(f64::NAN).period_us, 10_000);
    }
}
