//! From what machines tell to what is shown of the server's machine: totals become growth per second.

use std::collections::BTreeMap;

use model::{Counter, CounterKind, Reading, Series};
use units::{Nanos, Ratio};

/// What is shown besides the busy modes of CPUs; what is neither is not kept.
const SHOWN: [Counter; 6] = [
    Counter::CpuIdle,
    Counter::DiskBusy,
    Counter::DiskIdle,
    Counter::NetReceivedBytes,
    Counter::NetSentBytes,
    Counter::SutCpu,
];

/// Microseconds in a second.
const MICROS: f64 = 1e6;

/// The readings of a second ago, and what follows from them.
#[derive(Debug, Default)]
pub struct Counters {
    /// When a total was read last, and what it stood at.
    before: BTreeMap<Series, (Nanos, u64)>,
    /// Growth of totals per second, in their unit.
    now: BTreeMap<Series, f64>,
}

impl Counters {
    /// Takes what a machine told at a time of the load point.
    ///
    /// A total that fell has begun again, or gone around: how much it grew is not known for this once.
    pub fn read(&mut self, machine: u32, at: Nanos, readings: &[Reading]) {
        for Reading { counter, instance, value } in readings {
            let is_shown = Counter::CPU_BUSY.contains(counter) || SHOWN.contains(counter);
            if !is_shown || counter.kind() != CounterKind::Total {
                continue;
            }
            let series = Series { machine, counter: *counter, instance: instance.clone() };
            let before = self.before.insert(series.clone(), (at, *value));
            let Some(before) = before else { continue };
            match growth(before, (at, *value)) {
                Some(growth) => self.now.insert(series, growth),
                None => self.now.remove(&series),
            };
        }
    }

    /// Begins with a new load point, whose time begins at zero. What is shown stays until more is read.
    pub fn restart(&mut self) {
        self.before.clear();
    }

    /// Returns the CPU time that the server uses per second, in CPUs, where a machine counts that.
    pub fn sut_cpus(&self) -> Option<f64> {
        sum(self.of_sut(Counter::SutCpu)).map(|micros| micros / MICROS)
    }

    /// Returns how many CPUs of the server's machine are busy, and how many it has.
    pub fn cpus_busy(&self) -> Option<(f64, usize)> {
        let n = self.of_sut(Counter::CpuIdle).count();
        let busy = Counter::CPU_BUSY.iter().filter_map(|mode| sum(self.of_sut(*mode))).sum::<f64>() / MICROS;
        (0 < n).then_some((busy, n))
    }

    /// Returns the busiest disk of the server's machine, and for which part of the time it had something to do.
    pub fn busiest_disk(&self) -> Option<(&str, Ratio)> {
        let busy = self.of_sut(Counter::DiskBusy).map(|(disk, micros)| (disk, micros / MICROS));
        let idle = self.of_sut(Counter::DiskIdle).map(|(disk, micros)| (disk, 1.0 - micros / MICROS));
        let busiest = busy.chain(idle).max_by(|one, other| one.1.total_cmp(&other.1));
        busiest.map(|(disk, busy)| (disk, Ratio(busy.clamp(0.0, 1.0))))
    }

    /// Returns bytes per second of all interfaces of the server's machine: received, sent.
    pub fn network(&self) -> Option<(f64, f64)> {
        Some((sum(self.of_sut(Counter::NetReceivedBytes))?, sum(self.of_sut(Counter::NetSentBytes))?))
    }

    /// Returns a counter by instance where the server is: the first machine besides this one that has it, else this one.
    fn of_sut(&self, counter: Counter) -> impl Iterator<Item = (&str, f64)> {
        let found = self.now.keys().filter(|series| series.counter == counter).map(|series| series.machine);
        let machine = found.min_by_key(|machine| if *machine == 0 { u32::MAX } else { *machine });
        let of_machine = move |series: &Series| series.counter == counter && Some(series.machine) == machine;
        self.now
            .iter()
            .filter(move |(series, _)| of_machine(series))
            .map(|(series, value)| (series.instance.as_str(), *value))
    }
}

/// Returns what a total grew by per second; `None` if it fell or no time has passed.
fn growth((before, was): (Nanos, u64), (now, is): (Nanos, u64)) -> Option<f64> {
    let seconds = now.saturating_sub(before).as_secs_f64();
    let grown = is.checked_sub(was)?;
    (0.0 < seconds).then(|| grown as f64 / seconds)
}

fn sum<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> Option<f64> {
    values.map(|(_, value)| value).reduce(|sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Counter::*;

    fn told(readings: &[(u32, u64, Counter, &str, u64)]) -> Counters {
        let mut counters = Counters::default();
        for (machine, second, counter, instance, value) in readings {
            counters.read(*machine, Nanos::from_secs(*second), &[Reading::of(*counter, *instance, *value)]);
        }
        counters
    }

    /// By hand: CPU 0 used (0.6 + 0.2) s in 2 s, CPU 1 (1.2 + 0) s: 1 of 2 CPUs.
    #[test]
    fn busy_modes_of_all_cpus_are_added_up() {
        let counters = told(&[
            (0, 0, CpuUser, "0", 1_000_000),
            (0, 2, CpuUser, "0", 1_600_000),
            (0, 0, CpuSystem, "0", 0),
            (0, 2, CpuSystem, "0", 200_000),
            (0, 0, CpuUser, "1", 0),
            (0, 2, CpuUser, "1", 1_200_000),
            (0, 0, CpuIdle, "0", 0),
            (0, 2, CpuIdle, "0", 1),
            (0, 0, CpuIdle, "1", 0),
            (0, 2, CpuIdle, "1", 1),
        ]);
        assert_eq!(counters.cpus_busy(), Some((1.0, 2)));
    }

    #[test]
    fn the_busiest_disk_is_shown_whichever_way_it_counts() {
        let counters = told(&[
            (0, 1, DiskBusy, "sda", 0),
            (0, 2, DiskBusy, "sda", 100_000),
            (0, 1, DiskBusy, "sdb", 0),
            (0, 2, DiskBusy, "sdb", 300_000),
        ]);
        assert_eq!(counters.busiest_disk(), Some(("sdb", Ratio(0.3))));
        let counters = told(&[(0, 1, DiskIdle, "C:", 0), (0, 2, DiskIdle, "C:", 250_000)]);
        assert_eq!(counters.busiest_disk(), Some(("C:", Ratio(0.75))));
    }

    #[test]
    fn the_server_is_on_the_other_machine_if_there_is_one() {
        let here = [(0, 1, SutCpu, "", 0), (0, 2, SutCpu, "", 500_000)];
        assert_eq!(told(&here).sut_cpus(), Some(0.5));
        let both = [&here[..], &[(2, 1, SutCpu, "", 0), (2, 2, SutCpu, "", 1_500_000)]].concat();
        assert_eq!(told(&both).sut_cpus(), Some(1.5));
    }

    #[test]
    fn one_reading_or_a_total_that_fell_says_nothing() {
        assert_eq!(told(&[(0, 1, SutCpu, "", 9)]).sut_cpus(), None);
        assert_eq!(told(&[(0, 1, SutCpu, "", 9), (0, 1, SutCpu, "", 10)]).sut_cpus(), None);
        assert_eq!(told(&[(0, 1, SutCpu, "", 9), (0, 2, SutCpu, "", 4)]).sut_cpus(), None);
    }

    #[test]
    fn readings_of_two_load_points_are_not_subtracted() {
        let mut counters = told(&[(0, 1, SutCpu, "", 0), (0, 2, SutCpu, "", 500_000)]);
        counters.restart();
        counters.read(0, Nanos::ZERO, &[Reading::new(SutCpu, 9_000_000)]);
        assert_eq!(counters.sut_cpus(), Some(0.5), "still shown");
        counters.read(0, Nanos::from_secs(1), &[Reading::new(SutCpu, 9_250_000)]);
        assert_eq!(counters.sut_cpus(), Some(0.25));
    }

    #[test]
    fn nothing_is_kept_that_is_not_shown() {
        let counters = told(&[(0, 1, Forks, "", 1), (0, 2, Forks, "", 5)]);
        assert!(counters.before.is_empty() && counters.now.is_empty());
    }
}
