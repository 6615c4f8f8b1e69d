//! Limits in force of watched processes, which their control groups set: how much of each is used, by all processes of
//! the control group that sets it.

use std::collections::{BTreeMap, BTreeSet};

use model::Counter;

use crate::resources::{ResourceUsage, ratio};

/// Counters of a limit on a disk, each with its use.
pub(crate) type DiskLimits = [(Counter, Counter); 2];

/// Limits on the number of requests to a disk, and on their bytes.
pub(crate) const DISK_OPERATIONS: DiskLimits =
    [(Counter::SutReadsMax, Counter::SutLimitedReads), (Counter::SutWritesMax, Counter::SutLimitedWrites)];
pub(crate) const DISK_BYTES: DiskLimits = [
    (Counter::SutReadBytesMax, Counter::SutLimitedReadBytes),
    (Counter::SutWriteBytesMax, Counter::SutLimitedWriteBytes),
];

/// Returns the greatest use of CPU time of a group of processes that control groups limit: of its quota by all processes
/// that share it, of the CPUs that it may use by the group alone. `None` if neither is limited.
pub(crate) fn processor_share(uses: &ResourceUsage) -> Option<f64> {
    let of_quota = uses.of_sut(Counter::SutQuota).filter_map(|quota| {
        let group = &quota.series.instance;
        let of = |counter| uses.sut_value(counter, group);
        // The account of a shared quota may be unreadable; the group's own use is at least known to be part of it.
        let used = of(Counter::SutQuotaCpu).into_iter().chain(of(Counter::SutCpu)).max_by(f64::total_cmp)?;
        ratio(Some(used), quota.value)
    });
    let of_cpus = allowed_cpus_by_group(uses).into_iter().filter_map(|(group, cpus)| {
        ratio(uses.sut_value(Counter::SutCpu, group), Some(1e6 * cpus.len() as f64))
    });
    of_quota.chain(of_cpus).max_by(f64::total_cmp)
}

/// Returns the CPUs that the watched processes may use; `None` if some of them may use all.
pub(crate) fn allowed_cpus(uses: &ResourceUsage) -> Option<BTreeSet<u32>> {
    let by_group = allowed_cpus_by_group(uses);
    let is_limited = |group: &str| by_group.contains_key(group);
    let is_known = !by_group.is_empty() && uses.sut_instances(Counter::SutProcesses).all(is_limited);
    is_known.then(|| by_group.into_values().flatten().collect())
}

/// Returns the CPU time per second, in CPUs, that the only watched group may use; `None` of several, and of one without
/// a limit.
pub(crate) fn allowance(uses: &ResourceUsage) -> Option<f64> {
    let mut groups = uses.sut_instances(Counter::SutProcesses);
    let (Some(group), None) = (groups.next(), groups.next()) else { return None };
    let quota = uses.sut_value(Counter::SutQuota, group).map(|micros| micros / 1e6);
    let cpus = allowed_cpus_by_group(uses).get(group).map(|cpus| cpus.len() as f64);
    quota.into_iter().chain(cpus).min_by(f64::total_cmp)
}

/// Returns the greatest use of a memory limit.
pub(crate) fn memory_share(uses: &ResourceUsage) -> Option<f64> {
    let shares = uses.of_sut(Counter::SutMemoryMax).filter_map(|limit| {
        let of = |counter| uses.sut_value(counter, &limit.series.instance);
        ratio(of(Counter::SutLimitedMemory).or_else(|| of(Counter::SutMemory)), limit.value)
    });
    shares.max_by(f64::total_cmp)
}

/// Returns the greatest use of limits on the traffic with a disk.
pub(crate) fn disk_share(uses: &ResourceUsage, limits: DiskLimits) -> Option<f64> {
    let shares = limits.into_iter().flat_map(|(limit, used)| {
        uses.of_sut(limit)
            .filter_map(move |limit| ratio(uses.sut_value(used, &limit.series.instance), limit.value))
    });
    shares.max_by(f64::total_cmp)
}

/// Returns the CPUs of each group of watched processes that may not use all of them, by the group's label.
pub fn allowed_cpus_by_group(uses: &ResourceUsage) -> BTreeMap<&str, BTreeSet<u32>> {
    let mut groups: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    // The instance is the group, then the CPU.
    for instance in uses.sut_instances(Counter::SutAllowedCpu) {
        if let Some((group, cpu)) = instance.rsplit_once(' ')
            && let Ok(cpu) = cpu.parse()
        {
            groups.entry(group).or_default().insert(cpu);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use model::{MachineRole, MonitoredSource, Series};

    use super::*;
    use crate::SeriesUsage;

    fn uses(values: &[(Counter, &str, f64)]) -> ResourceUsage {
        let one = |(counter, instance, value): &(Counter, &str, f64)| SeriesUsage {
            series: Series { machine: 0, counter: *counter, instance: (*instance).to_owned() },
            readings: 2,
            resets: 0,
            value: Some(*value),
            min: 0,
            max: 0,
        };
        ResourceUsage {
            machines: vec![MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both }],
            series: values.iter().map(one).collect(),
        }
    }

    /// By hand: the web server used 0.1 of 0.3 CPUs, those beside it 0.19; the database 0.2 of the one CPU that it may use.
    #[test]
    fn a_quota_is_used_by_all_that_share_it() {
        let two = uses(&[
            (Counter::SutCpu, "port=80", 100_000.0),
            (Counter::SutCpu, "port=5432", 200_000.0),
            (Counter::SutProcesses, "port=80", 2.0),
            (Counter::SutProcesses, "port=5432", 5.0),
            (Counter::SutQuota, "port=80", 300_000.0),
            (Counter::SutQuotaCpu, "port=80", 290_000.0),
            (Counter::SutAllowedCpu, "port=5432 1", 1.0),
        ]);
        assert!((processor_share(&two).unwrap() - 0.29 / 0.30).abs() < 1e-9);
        assert_eq!((allowed_cpus(&two), allowance(&two)), (None, None));
        let one = uses(&[
            (Counter::SutCpu, "pid=7", 200_000.0),
            (Counter::SutProcesses, "pid=7", 1.0),
            (Counter::SutQuota, "pid=7", 500_000.0),
            (Counter::SutAllowedCpu, "pid=7 1", 1.0),
            (Counter::SutAllowedCpu, "pid=7 3", 1.0),
        ]);
        assert!((processor_share(&one).unwrap() - 0.4).abs() < 1e-9);
        assert_eq!((allowed_cpus(&one), allowance(&one)), (Some([1, 3].into()), Some(0.5)));
        assert_eq!(processor_share(&uses(&[(Counter::SutCpu, "port=80", 1e6)])), None);
    }

    /// By hand: 950 of 1,000 bytes; 79 of 80 reads from one disk, 30 of 100 writes to another.
    #[test]
    fn memory_and_disks_are_compared_with_their_limits() {
        let found = uses(&[
            (Counter::SutMemory, "port=80", 400.0),
            (Counter::SutMemoryMax, "port=80", 1000.0),
            (Counter::SutLimitedMemory, "port=80", 950.0),
            (Counter::SutReadsMax, "port=80 8:0", 80.0),
            (Counter::SutLimitedReads, "port=80 8:0", 79.0),
            (Counter::SutWritesMax, "port=80 259:0", 100.0),
            (Counter::SutLimitedWrites, "port=80 259:0", 30.0),
        ]);
        assert_eq!(memory_share(&found), Some(0.95));
        assert_eq!(disk_share(&found, DISK_OPERATIONS), Some(79.0 / 80.0));
        assert_eq!(disk_share(&found, DISK_BYTES), None);
    }
}
