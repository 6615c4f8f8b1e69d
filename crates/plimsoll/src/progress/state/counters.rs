//! Resource counters of the server's machine for display: totals are converted to rates.

use std::collections::BTreeMap;

use model::{Counter, CounterKind, Reading, Series};
use units::{Nanos, Ratio};

/// Counters that are shown besides the busy CPU modes; no others are stored.
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

/// The latest readings of all machines, and the rates computed from them.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Time and value of the last reading of each total.
    last: BTreeMap<Series, (Nanos, u64)>,
    /// Rate of each total, in its unit per second.
    rates: BTreeMap<Series, f64>,
}

impl Counters {
    /// Adds readings of a machine; `at` is the time since the load point began.
    ///
    /// A total that fell was reset or wrapped around: it has no rate for this interval.
    pub(crate) fn add(&mut self, machine: u32, at: Nanos, readings: &[Reading]) {
        for Reading { counter, instance, value } in readings {
            let is_shown = Counter::CPU_BUSY.contains(counter) || SHOWN.contains(counter);
            if !is_shown || counter.kind() != CounterKind::Total {
                continue;
            }
            let series = Series { machine, counter: *counter, instance: instance.clone() };
            let last = self.last.insert(series.clone(), (at, *value));
            let Some(last) = last else { continue };
            match growth_rate(last, (at, *value)) {
                Some(rate) => self.rates.insert(series, rate),
                None => self.rates.remove(&series),
            };
        }
    }

    /// Starts a new load point, whose time begins at zero. The rates stay until the next readings.
    pub(crate) fn restart(&mut self) {
        self.last.clear();
    }

    /// Returns the CPU use of the server, in CPUs; `None` if no machine reports it.
    pub(crate) fn sut_cpus(&self) -> Option<f64> {
        sum(self.of_sut(Counter::SutCpu)).map(|micros| micros / MICROS)
    }

    /// Returns the number of busy CPUs and the number of CPUs of the server's machine.
    pub(crate) fn cpus_busy(&self) -> Option<(f64, usize)> {
        let n = self.of_sut(Counter::CpuIdle).count();
        let busy = Counter::CPU_BUSY.iter().filter_map(|mode| sum(self.of_sut(*mode))).sum::<f64>() / MICROS;
        (0 < n).then_some((busy, n))
    }

    /// Returns the busiest disk of the server's machine and its utilization.
    pub(crate) fn busiest_disk(&self) -> Option<(&str, Ratio)> {
        let busy = self.of_sut(Counter::DiskBusy).map(|(disk, micros)| (disk, micros / MICROS));
        let idle = self.of_sut(Counter::DiskIdle).map(|(disk, micros)| (disk, 1.0 - micros / MICROS));
        let busiest = busy.chain(idle).max_by(|one, other| one.1.total_cmp(&other.1));
        busiest.map(|(disk, busy)| (disk, Ratio(busy.clamp(0.0, 1.0))))
    }

    /// Returns the traffic of all network interfaces of the server's machine, in bytes per second: received, sent.
    pub(crate) fn network(&self) -> Option<(f64, f64)> {
        Some((sum(self.of_sut(Counter::NetReceivedBytes))?, sum(self.of_sut(Counter::NetSentBytes))?))
    }

    /// Returns the rates of a counter by instance on the server's machine: the first remote machine that reports it, or else
    /// this machine.
    fn of_sut(&self, counter: Counter) -> impl Iterator<Item = (&str, f64)> {
        let found = self.rates.keys().filter(|series| series.counter == counter).map(|series| series.machine);
        let machine = found.min_by_key(|machine| if *machine == 0 { u32::MAX } else { *machine });
        let of_machine = move |series: &Series| series.counter == counter && Some(series.machine) == machine;
        self.rates
            .iter()
            .filter(move |(series, _)| of_machine(series))
            .map(|(series, value)| (series.instance.as_str(), *value))
    }
}

/// Returns the growth of a total per second; `None` if it fell or no time has passed.
fn growth_rate((last, old): (Nanos, u64), (now, new): (Nanos, u64)) -> Option<f64> {
    let seconds = now.saturating_sub(last).as_secs_f64();
    let growth = new.checked_sub(old)?;
    (0.0 < seconds).then(|| growth as f64 / seconds)
}

fn sum<'a>(values: impl Iterator<Item = (&'a str, f64)>) -> Option<f64> {
    values.map(|(_, value)| value).reduce(|sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Counter::*;

    fn counters_from(readings: &[(u32, u64, Counter, &str, u64)]) -> Counters {
        let mut counters = Counters::default();
        for (machine, second, counter, instance, value) in readings {
            counters.add(*machine, Nanos::from_secs(*second), &[Reading::of(*counter, *instance, *value)]);
        }
        counters
    }

    /// By hand: CPU 0 used (0.6 + 0.2) s in 2 s, CPU 1 (1.2 + 0) s: 1 of 2 CPUs.
    #[test]
    fn busy_modes_of_all_cpus_are_added_up() {
        let counters = counters_from(&[
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
    fn the_busiest_disk_is_found_from_busy_or_idle_time() {
        let counters = counters_from(&[
            (0, 1, DiskBusy, "sda", 0),
            (0, 2, DiskBusy, "sda", 100_000),
            (0, 1, DiskBusy, "sdb", 0),
            (0, 2, DiskBusy, "sdb", 300_000),
        ]);
        assert_eq!(counters.busiest_disk(), Some(("sdb", Ratio(0.3))));
        let counters = counters_from(&[(0, 1, DiskIdle, "C:", 0), (0, 2, DiskIdle, "C:", 250_000)]);
        assert_eq!(counters.busiest_disk(), Some(("C:", Ratio(0.75))));
    }

    #[test]
    fn a_remote_machine_that_reports_a_counter_is_the_servers() {
        let here = [(0, 1, SutCpu, "", 0), (0, 2, SutCpu, "", 500_000)];
        assert_eq!(counters_from(&here).sut_cpus(), Some(0.5));
        let both = [&here[..], &[(2, 1, SutCpu, "", 0), (2, 2, SutCpu, "", 1_500_000)]].concat();
        assert_eq!(counters_from(&both).sut_cpus(), Some(1.5));
    }

    #[test]
    fn one_reading_or_a_total_that_fell_has_no_rate() {
        assert_eq!(counters_from(&[(0, 1, SutCpu, "", 9)]).sut_cpus(), None);
        assert_eq!(counters_from(&[(0, 1, SutCpu, "", 9), (0, 1, SutCpu, "", 10)]).sut_cpus(), None);
        assert_eq!(counters_from(&[(0, 1, SutCpu, "", 9), (0, 2, SutCpu, "", 4)]).sut_cpus(), None);
    }

    #[test]
    fn rates_do_not_span_two_load_points() {
        let mut counters = counters_from(&[(0, 1, SutCpu, "", 0), (0, 2, SutCpu, "", 500_000)]);
        counters.restart();
        counters.add(0, Nanos::ZERO, &[Reading::new(SutCpu, 9_000_000)]);
        assert_eq!(counters.sut_cpus(), Some(0.5), "still shown");
        counters.add(0, Nanos::from_secs(1), &[Reading::new(SutCpu, 9_250_000)]);
        assert_eq!(counters.sut_cpus(), Some(0.25));
    }

    #[test]
    fn counters_that_are_not_shown_are_not_stored() {
        let counters = counters_from(&[(0, 1, Forks, "", 1), (0, 2, Forks, "", 5)]);
        assert!(counters.last.is_empty() && counters.rates.is_empty());
    }
}
