//! The network interfaces that the load passes; the others are never its bottleneck.

use std::ops::Add;

use model::Counter;

use crate::LoadPointResult;
use crate::resources::{LOAD_END, ResourceUsage, RouteEnd, SERVER_END, SeriesUsage};

/// The least share of the traffic that the load brought back that an interface must have carried to be the load's,
/// where no route was recorded. A house rule: heads and frames make it more, readings that are a little apart less.
const CARRIED_MIN: f64 = 0.8;

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
        let names = recorded(&point.resources, SERVER_END);
        let is_recorded = !names.is_empty();
        let names = if is_recorded { names } else { carriers(point, &point.resources) };
        LoadInterfaces { end: SERVER_END, names, is_recorded }
    }

    /// Returns the interfaces where the server runs, and those where the load is made, if that is another machine or
    /// another network namespace.
    pub(super) fn of_both_ends(point: &LoadPointResult) -> Vec<LoadInterfaces> {
        let uses = &point.resources;
        let machine = |counter, end| uses.of_first(counter, end).next().map(|one| one.series.machine);
        let of_server = machine(Counter::TcpSegmentsSent, SERVER_END);
        let of_load = machine(Counter::NetRoute, LOAD_END);
        let names = recorded(uses, LOAD_END);
        let is_apart = of_load.is_some() && of_load != of_server && !names.is_empty();
        let far = is_apart.then_some(LoadInterfaces { end: LOAD_END, names, is_recorded: true });
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
        let own = self.series(uses, counter).filter(|one| self.holds(&one.series.instance));
        own.filter_map(|one| one.value).reduce(f64::add)
    }

    /// Returns the sum of a counter over all instances at this end; `None` if it was not read.
    pub(super) fn sum_of_end(&self, uses: &ResourceUsage, counter: Counter) -> Option<f64> {
        self.series(uses, counter).filter_map(|one| one.value).reduce(f64::add)
    }

    /// Returns the series of a counter at this end.
    pub(super) fn series<'a>(
        &self,
        uses: &'a ResourceUsage,
        counter: Counter,
    ) -> impl Iterator<Item = &'a SeriesUsage> + use<'a> {
        uses.of_first(counter, self.end)
    }
}

/// Returns the interfaces of the recorded route at one end.
fn recorded(uses: &ResourceUsage, end: RouteEnd) -> Vec<String> {
    let is_route = |one: &&SeriesUsage| one.value.is_some_and(|value| 0.5 < value);
    let routes = uses.of_first(Counter::NetRoute, end).filter(is_route);
    routes.map(|one| one.series.instance.clone()).collect()
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
