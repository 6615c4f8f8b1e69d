//! The counters of one group of processes.

use std::collections::{BTreeMap, BTreeSet};

use model::{Counter, Reading};
use units::Nanos;

use super::process::{OpenFiles, Process};
use super::ticks_to_micros;

/// Maximum number of wait channels with their own series; others are combined as [`OTHERS`].
const CHANNELS_MAX: usize = 24;

const OTHERS: &str = "others";

/// The totals of a group that only grow, and what was seen of it before.
#[derive(Debug, Default)]
pub(super) struct GroupTotals {
    cpu_ticks: GrowingSum,
    minor_faults: GrowingSum,
    major_faults: GrowingSum,
    read: GrowingSum,
    written: GrowingSum,
    /// Run delay of ended processes.
    ended_delay: Nanos,
    channels: WaitChannels,
}

/// The wait channels of a group seen so far: one in which no thread sleeps now is reported as zero.
#[derive(Debug, Default)]
pub(in crate::monitor) struct WaitChannels(BTreeSet<String>);

/// A sum over processes that does not fall when one of them ends. What ended processes leave to their parents is part of
/// the parents' use.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::monitor) struct GrowingSum {
    last: Option<u64>,
    total: u64,
}

impl GrowingSum {
    /// Takes the present sum; returns the total.
    pub(in crate::monitor) fn add(&mut self, sum: u64) -> u64 {
        let grown = sum.saturating_sub(self.last.unwrap_or(0));
        self.total = self.total.saturating_add(grown);
        self.last = Some(sum);
        self.total
    }

    /// Returns whether a sum was taken.
    pub(super) fn has_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Returns the total.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Continues with a sum from another source.
    pub(super) fn restart(&mut self, sum: u64) {
        self.last = Some(sum);
    }
}

impl GroupTotals {
    /// Keeps the run delay of a process that has ended.
    pub(super) fn end(&mut self, process: &Process) {
        self.ended_delay = Nanos(self.ended_delay.0.saturating_add(process.run_delay().0));
    }

    /// Reports the counters of a group. Those that its control group has counted already, in `into`, are left out.
    pub(super) fn report(&mut self, label: &str, living: &[&Process], into: &mut Vec<Reading>) {
        let sum = |of: fn(&Process) -> u64| living.iter().map(|one| of(one)).fold(0, u64::saturating_add);
        let delay = sum(|one| one.run_delay().0).saturating_add(self.ended_delay.0);
        let cpu = self.cpu_ticks.add(sum(|one| one.stat.cpu_ticks));
        let mut values = vec![
            (Counter::SutCpu, ticks_to_micros(cpu)),
            (Counter::SutMajorFaults, self.major_faults.add(sum(|one| one.stat.major_faults))),
            (Counter::SutMinorFaults, self.minor_faults.add(sum(|one| one.stat.minor_faults))),
            (Counter::SutRunDelay, delay / 1000),
            (Counter::SutThreads, sum(|one| one.stat.threads.into())),
        ];
        for (counter, state) in [
            (Counter::SutThreadsRunning, 'R'),
            (Counter::SutThreadsWaiting, 'S'),
            (Counter::SutThreadsBlocked, 'D'),
        ] {
            values.push((counter, share_in_state(living, state)));
        }
        if living.iter().any(|one| one.disk.is_some()) {
            let disk = |of: fn(&Process) -> Option<u64>| {
                living.iter().filter_map(|one| of(one)).fold(0, u64::saturating_add)
            };
            values.push((Counter::SutReadBytes, self.read.add(disk(|one| Some(one.disk?.read)))));
            values.push((Counter::SutWriteBytes, self.written.add(disk(|one| Some(one.disk?.written)))));
        }
        let nearest = OpenFiles::nearest(living.iter().filter_map(|one| one.files));
        values.extend(nearest.iter().flat_map(OpenFiles::counters));
        let is_new = |(counter, _): &(Counter, u64)| {
            !into.iter().any(|known| known.counter == *counter && known.instance == label)
        };
        let new: Vec<Reading> = values
            .into_iter()
            .filter(is_new)
            .map(|(counter, value)| Reading::of(counter, label, value))
            .collect();
        into.extend(new);
        let tasks = living.iter().flat_map(|one| &one.tasks);
        self.channels.report(label, tasks.filter_map(|task| task.channel.as_deref()), into);
    }
}

impl WaitChannels {
    /// Reports how many threads of a group sleep in each channel, from the channel of each thread that does.
    pub(in crate::monitor) fn report<'a>(
        &mut self,
        label: &str,
        channels: impl Iterator<Item = &'a str>,
        into: &mut Vec<Reading>,
    ) {
        let mut rest = 0;
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for channel in channels {
            if !self.0.contains(channel) && self.0.len() < CHANNELS_MAX {
                self.0.insert(channel.to_owned());
            }
            if self.0.contains(channel) {
                *counts.entry(channel).or_default() += 1;
            } else {
                rest += 1;
            }
        }
        let instance = |channel: &str| match label {
            "" => channel.to_owned(),
            label => format!("{label} {channel}"),
        };
        for channel in &self.0 {
            let n = counts.get(channel.as_str()).copied().unwrap_or(0);
            into.push(Reading::of(Counter::SutWaitChannel, instance(channel), n));
        }
        if self.0.len() == CHANNELS_MAX {
            into.push(Reading::of(Counter::SutWaitChannel, instance(OTHERS), rest));
        }
    }
}

/// Returns the number of threads in a state.
fn share_in_state(living: &[&Process], state: char) -> u64 {
    living.iter().flat_map(|one| &one.tasks).filter(|task| task.state == state).count() as u64
}

#[cfg(test)]
mod tests {
    use super::super::process::DiskBytes;
    use super::super::testing::process;
    use super::*;

    fn of(readings: &[Reading], counter: Counter, instance: &str) -> Option<u64> {
        readings.iter().find(|one| one.counter == counter && one.instance == instance).map(|one| one.value)
    }

    /// By hand: 100, then one of two ends and leaves 70, which grows by 5.
    #[test]
    fn a_sum_does_not_fall_with_a_process() {
        let mut sum = GrowingSum::default();
        assert_eq!([100, 70, 75].map(|now| sum.add(now)), [100, 100, 105]);
        sum.restart(1_000);
        assert_eq!(sum.add(1_010), 115);
    }

    #[test]
    fn the_counters_of_a_group_are_sums_of_its_processes() {
        let mut one = process("nginx", 'S', 10);
        let mut two = process("nginx", 'R', 20);
        one.stat.minor_faults = 3;
        two.stat.minor_faults = 4;
        one.disk = Some(DiskBytes { read: 4096, written: 1 });
        one.files = Some(OpenFiles { open: 10, max: 20 });
        two.files = Some(OpenFiles { open: 15, max: 1024 });
        one.tasks[0].used.run_queue = Nanos(5_000);
        one.tasks[0].channel = Some("ep_poll".into());
        let mut totals = GroupTotals::default();
        let mut readings = vec![Reading::of(Counter::SutMajorFaults, "port=80", 99)];
        totals.report("port=80", &[&one, &two], &mut readings);
        for (counter, value) in [
            (Counter::SutCpu, ticks_to_micros(30)),
            (Counter::SutMinorFaults, 7),
            (Counter::SutMajorFaults, 99),
            (Counter::SutRunDelay, 5),
            (Counter::SutThreads, 2),
            (Counter::SutThreadsRunning, 1),
            (Counter::SutThreadsWaiting, 1),
            (Counter::SutThreadsBlocked, 0),
            (Counter::SutReadBytes, 4096),
            (Counter::SutOpenFiles, 10),
            (Counter::SutOpenFilesMax, 20),
        ] {
            assert_eq!(of(&readings, counter, "port=80"), Some(value), "{counter}");
        }
        assert_eq!(of(&readings, Counter::SutWaitChannel, "port=80 ep_poll"), Some(1));
        // The worker ends: its delay stays, and its wait channel is empty.
        totals.end(&one);
        readings.clear();
        totals.report("port=80", &[&two], &mut readings);
        assert_eq!(of(&readings, Counter::SutRunDelay, "port=80"), Some(5));
        assert_eq!(of(&readings, Counter::SutCpu, "port=80"), Some(ticks_to_micros(30)));
        assert_eq!(of(&readings, Counter::SutWaitChannel, "port=80 ep_poll"), Some(0));
    }

    /// Goal: a server cannot create unbounded series.
    #[test]
    fn wait_channels_beyond_the_limit_are_counted_together() {
        let mut totals = GroupTotals::default();
        let all: Vec<Process> = (0..CHANNELS_MAX + 3)
            .map(|number| {
                let mut one = process("x", 'S', 0);
                one.tasks[0].channel = Some(format!("f{number}"));
                one
            })
            .collect();
        let mut readings = Vec::new();
        totals.report("", &all.iter().collect::<Vec<_>>(), &mut readings);
        let n = readings.iter().filter(|one| one.counter == Counter::SutWaitChannel).count();
        assert_eq!((n, of(&readings, Counter::SutWaitChannel, OTHERS)), (CHANNELS_MAX + 1, Some(3)));
    }
}
