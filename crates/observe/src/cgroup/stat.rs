//! CPU accounting of a control group, which includes ended processes.

use std::path::PathBuf;

use model::SutUse;
use units::Nanos;

use super::hierarchy::CgroupVersion;
use crate::kernel_file::{KernelFile, keyed_number};

/// The files of a group's CPU accounting, kept open.
#[derive(Debug)]
pub enum CpuAccount {
    /// `cpuacct.usage` and `cpu.stat`.
    V1 {
        /// The CPU time.
        usage: KernelFile,
        /// The throttled time.
        stat: KernelFile,
    },
    /// `cpu.stat`.
    V2 {
        /// Both.
        stat: KernelFile,
    },
}

impl CpuAccount {
    /// Opens the CPU accounting of a group; `None` if its files are missing.
    pub fn open(version: CgroupVersion, [cpu, cpuacct]: &[PathBuf; 2]) -> Option<CpuAccount> {
        let open = |directory: &PathBuf, name| KernelFile::open(directory.join(name)).ok();
        match version {
            CgroupVersion::V1 => {
                Some(CpuAccount::V1 { usage: open(cpuacct, "cpuacct.usage")?, stat: open(cpu, "cpu.stat")? })
            }
            CgroupVersion::V2 => Some(CpuAccount::V2 { stat: open(cpu, "cpu.stat")? }),
        }
    }

    /// Returns the group's usage since its creation; `None` if the group is gone.
    pub fn read(&self) -> Option<SutUse> {
        match self {
            CpuAccount::V1 { usage, stat } => parse_v1(&usage.text()?, &stat.text()?),
            CpuAccount::V2 { stat } => parse_v2(&stat.text()?),
        }
    }
}

/// Version 1: `cpuacct.usage` is one number, `throttled_time` one line; both in ns. The throttled time is
/// summed over the CPUs on which the group was throttled.
fn parse_v1(usage: &str, stat: &str) -> Option<SutUse> {
    let throttled = keyed_number(stat, "throttled_time").unwrap_or(0);
    Some(SutUse { cpu: Nanos(usage.trim().parse().ok()?), throttled: Nanos(throttled) })
}

/// Version 2: lines in µs; `throttled_usec` exists only with the controller.
fn parse_v2(stat: &str) -> Option<SutUse> {
    let micros = |key| keyed_number(stat, key).map(|number| Nanos(number.saturating_mul(1_000)));
    Some(SutUse { cpu: micros("usage_usec")?, throttled: micros("throttled_usec").unwrap_or(Nanos::ZERO) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_counts_in_nanoseconds() {
        let stat = "nr_periods 41\nnr_throttled 40\nthrottled_time 331234567\nnr_bursts 0\nburst_time 0\n";
        let used = parse_v1("81234567\n", stat).unwrap();
        assert_eq!(used, SutUse { cpu: Nanos(81_234_567), throttled: Nanos(331_234_567) });
        assert_eq!(parse_v1("", stat), None);
    }

    #[test]
    fn version_2_counts_in_microseconds() {
        let stat = "usage_usec 812345\nuser_usec 300000\nsystem_usec 512345\nnice_usec 0\n\
                    core_sched.force_idle_usec 0\nnr_periods 41\nnr_throttled 40\nthrottled_usec 331234\n";
        let used = parse_v2(stat).unwrap();
        assert_eq!(used, SutUse { cpu: Nanos(812_345_000), throttled: Nanos(331_234_000) });
    }

    #[test]
    fn without_a_controller_throttled_time_is_zero() {
        let used = parse_v2("usage_usec 5\nuser_usec 2\nsystem_usec 3\n").unwrap();
        assert_eq!(used, SutUse { cpu: Nanos(5_000), throttled: Nanos::ZERO });
        assert_eq!(parse_v2("user_usec 2\n"), None);
    }
}
