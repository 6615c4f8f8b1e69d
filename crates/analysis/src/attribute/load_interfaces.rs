//! The network interfaces that the load passes; the others are never its bottleneck.

use model::Counter;

use crate::LoadPointResult;
use crate::resources::{ResourceUsage, SeriesUsage};

/// The least share of the traffic that the load brought back that an interface must have carried to be the load's,
/// where no route was recorded. A house rule: heads and frames make it more, readings that are a little apart less.
const CARRIED_MIN: f64 = 0.8;

/// An end of the way that the load takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RouteEnd {
    Server,
    Load,
}

/// The interfaces that the load passes at one end of its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadInterfaces {
    end: RouteEnd,
    names: Vec<String>,
    /// Whether they are those of the recorded route; else they are those with enough traffic.
    pub(super) is_recorded: bool,
}

impl LoadInterfaces {
    /// Returns the interfaces where the server runs.
    pub(super) fn of(point: &LoadPointResult) -> LoadInterfaces {
        let names = recorded(&point.resources, RouteEnd::Server);
        match names.is_empty() {
            false => LoadInterfaces { end: RouteEnd::Server, names, is_recorded: true },
            true => {
                let names = carriers(point, &point.resources);
                LoadInterfaces { end: RouteEnd::Server, names, is_recorded: false }
            }
        }
    }

    /// Returns the interfaces where the server runs, and those where the load is made, if that is another machine or
    /// another network namespace.
    pub(super) fn of_both_ends(point: &LoadPointResult) -> Vec<LoadInterfaces> {
        let uses = &point.resources;
        let machine = |mut series: Box<dyn Iterator<Item = &SeriesUsage> + '_>| {
            series.next().map(|one| one.series.machine)
        };
        let of_server = machine(Box::new(uses.of_sut(Counter::TcpSegmentsSent)));
        let of_load = machine(Box::new(uses.of_load(Counter::NetRoute)));
        let names = recorded(uses, RouteEnd::Load);
        let is_apart = of_load.is_some() && of_load != of_server && !names.is_empty();
        let far = is_apart.then_some(LoadInterfaces { end: RouteEnd::Load, names, is_recorded: true });
        std::iter::once(LoadInterfaces::of(point)).chain(far).collect()
    }

    /// Returns whether the load passes an interface, as far as is known.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Returns whether the load is known to pass this interface and no other.
    pub(super) fn is_only(&self, name: &str) -> bool {
        self.is_recorded && self.names.iter().all(|known| known == name)
    }

    /// Returns the sum of a counter over these interfaces; `None` if none of them has it.
    pub(super) fn sum(&self, uses: &ResourceUsage, counter: Counter) -> Option<f64> {
        let all = self.series(uses, counter).into_iter();
        total(all.filter(|one| self.holds(&one.series.instance)).filter_map(|one| one.value))
    }

    /// Returns the sum of a counter over all instances at this end; `None` if it was not read.
    pub(super) fn sum_of_end(&self, uses: &ResourceUsage, counter: Counter) -> Option<f64> {
        total(self.series(uses, counter).into_iter().filter_map(|one| one.value))
    }

    /// Returns the series of a counter at this end.
    pub(super) fn series<'a>(&self, uses: &'a ResourceUsage, counter: Counter) -> Vec<&'a SeriesUsage> {
        match self.end {
            RouteEnd::Server => uses.of_sut(counter).collect(),
            RouteEnd::Load => uses.of_load(counter).collect(),
        }
    }
}

/// Returns the interfaces of the recorded route at one end.
fn recorded(uses: &ResourceUsage, end: RouteEnd) -> Vec<String> {
    let is_route = |one: &&SeriesUsage| one.value.is_some_and(|value| 0.5 < value);
    let name = |one: &SeriesUsage| one.series.instance.clone();
    match end {
        RouteEnd::Server => uses.of_sut(Counter::NetRoute).filter(is_route).map(name).collect(),
        RouteEnd::Load => uses.of_load(Counter::NetRoute).filter(is_route).map(name).collect(),
    }
}

/// Returns the interfaces that sent or received enough to have carried the load.
fn carriers(point: &LoadPointResult, uses: &ResourceUsage) -> Vec<String> {
    let brought = point.total.transferred as f64 / point.length.as_secs_f64();
    let carried = |name: &str| {
        let of = |counter| uses.sut_value(counter, name).unwrap_or(0.0);
        of(Counter::NetSentBytes).max(of(Counter::NetReceivedBytes))
    };
    let names = uses.sut_instances(Counter::NetSentBytes);
    names.filter(|name| 0.0 < brought && CARRIED_MIN * brought <= carried(name)).map(str::to_owned).collect()
}

fn total(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values = values.peekable();
    values.peek()?;
    Some(values.sum())
}
