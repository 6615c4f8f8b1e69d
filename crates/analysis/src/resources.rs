//! The use of machines and services in the steady phase of a load point.

use model::{Counter, CounterKind, MachineRole, MonitoredSource, Series};

use crate::fold::{Resources, SeriesFold};

/// The use of one series in the steady phase.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesUsage {
    /// The series: counter, instance and machine.
    pub series: Series,
    /// Number of readings; of a level, those that its mean is of.
    pub readings: u64,
    /// Number of times that a total began again.
    pub resets: u32,
    /// Of a total: its growth per second, in its unit; `None` with less than two readings. Of a level: its mean over the
    /// readings in the phase, or beside it where it has none.
    pub value: Option<f64>,
    /// The least reading of a level.
    pub min: u64,
    /// The greatest reading of a level.
    pub max: u64,
}

/// The use of all machines, series by series in the order of the run file; empty if nothing was monitored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourceUsage {
    /// The machines; their numbers are their indexes.
    pub machines: Vec<MonitoredSource>,
    /// Sorted by machine, counter, instance.
    pub series: Vec<SeriesUsage>,
}

impl SeriesUsage {
    fn of(series: &Series, fold: &SeriesFold) -> SeriesUsage {
        let seconds = fold.last_at.saturating_sub(fold.first_at).as_secs_f64();
        let value = match series.counter.kind() {
            CounterKind::Total => (0.0 < seconds).then(|| fold.grown as f64 / seconds),
            CounterKind::Level => Some(fold.sum as f64 / fold.n as f64),
        };
        SeriesUsage {
            series: series.clone(),
            readings: fold.n,
            resets: fold.resets,
            value,
            min: fold.min,
            max: fold.max,
        }
    }
}

/// The roles of the machines at one end of the load's way, in the order in which a counter is sought on them.
pub(crate) type RouteEnd = [MachineRole; 2];

/// The end at which the server runs: machines of the server alone before shared ones.
pub(crate) const SERVER_END: RouteEnd = [MachineRole::Sut, MachineRole::Both];

/// The end at which the load is made: machines of the load alone before shared ones.
pub(crate) const LOAD_END: RouteEnd = [MachineRole::Load, MachineRole::Both];

impl ResourceUsage {
    pub(crate) fn of(fold: &Resources, machines: &[MonitoredSource], known: &[Series]) -> ResourceUsage {
        let mut series: Vec<SeriesUsage> = fold
            .series
            .iter()
            .filter_map(|(number, fold)| Some(SeriesUsage::of(known.get(*number as usize)?, fold)))
            .collect();
        series.sort_by(|one, other| one.series.cmp(&other.series));
        ResourceUsage { machines: machines.to_vec(), series }
    }

    /// Returns the uses of a counter where the server runs: of the first machine that has it, machines of the server
    /// alone before shared ones.
    pub fn of_sut(&self, counter: Counter) -> impl Iterator<Item = &SeriesUsage> {
        self.of_first(counter, SERVER_END)
    }

    /// Returns the uses of a counter by the first machine that has it, of those at one end.
    pub(crate) fn of_first(&self, counter: Counter, end: RouteEnd) -> impl Iterator<Item = &SeriesUsage> {
        self.first_with(counter, end).into_iter().flat_map(move |machine| self.on(counter, machine))
    }

    /// Returns the number of the first machine that has a counter, of those at one end.
    pub(crate) fn first_with(&self, counter: Counter, end: RouteEnd) -> Option<u32> {
        let has = |role: MachineRole| {
            let mut found = self.series.iter().filter(|one| one.series.counter == counter);
            found.find(|one| self.role(one) == Some(role)).map(|one| one.series.machine)
        };
        end.into_iter().find_map(has)
    }

    /// Returns the uses of a counter on the machine with this number.
    pub(crate) fn on(&self, counter: Counter, machine: u32) -> impl Iterator<Item = &SeriesUsage> {
        self.series.iter().filter(move |one| (one.series.counter, one.series.machine) == (counter, machine))
    }

    /// Returns the uses of a counter on all machines, and in all networks of theirs, on which the server or services
    /// behind it run. Listeners and connections are those of watched processes alone, wherever these are.
    pub(crate) fn of_all(&self, counter: Counter) -> impl Iterator<Item = &SeriesUsage> {
        let is_of_load = |one: &SeriesUsage| self.role(one) == Some(MachineRole::Load);
        self.series.iter().filter(move |one| one.series.counter == counter && !is_of_load(one))
    }

    /// Returns the sum of a counter on all these machines: per second of totals, the mean of levels. `None` if it was
    /// not read.
    pub(crate) fn sum_of_all(&self, counter: Counter) -> Option<f64> {
        sum_of(self.of_all(counter))
    }

    /// Returns the value of another counter of the same instance on the same machine.
    pub(crate) fn value_beside(&self, one: &SeriesUsage, counter: Counter) -> Option<f64> {
        let mut on_machine = self.on(counter, one.series.machine);
        on_machine.find(|other| other.series.instance == one.series.instance)?.value
    }

    /// Returns the sum of a counter's instances where the server runs: per second of totals, the mean of levels. `None`
    /// if it was not read.
    pub(crate) fn sut_sum(&self, counter: Counter) -> Option<f64> {
        sum_of(self.of_sut(counter))
    }

    /// Returns the value of one instance where the server runs.
    pub(crate) fn sut_value(&self, counter: Counter, instance: &str) -> Option<f64> {
        self.of_sut(counter).find(|one| one.series.instance == instance)?.value
    }

    /// Returns the share of time (0 to 1) of a counter of µs where the server runs, summed over its instances.
    pub(crate) fn sut_share(&self, counter: Counter) -> Option<f64> {
        self.sut_sum(counter).map(|micros| micros / 1e6)
    }

    /// Returns the instances of a counter where the server runs.
    pub(crate) fn sut_instances(&self, counter: Counter) -> impl Iterator<Item = &str> {
        self.of_sut(counter).map(|one| one.series.instance.as_str())
    }

    /// Returns the role of the machine of a series.
    pub fn role(&self, one: &SeriesUsage) -> Option<MachineRole> {
        self.machines.get(one.series.machine as usize).map(|machine| machine.role)
    }
}

/// Returns the sum of the values that are known; `None` if none is.
pub(crate) fn sum_of<'a>(uses: impl Iterator<Item = &'a SeriesUsage>) -> Option<f64> {
    uses.filter_map(|one| one.value).reduce(|sum, value| sum + value)
}

/// Returns part ÷ whole; `None` if either is not known or the whole is zero.
pub(crate) fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let whole = whole.filter(|whole| 0.0 < *whole)?;
    Some(part? / whole)
}
