//! The network interfaces that the load passes; the others are never its bottleneck.

use model::Counter;

use crate::LoadPointResult;
use crate::resources::{LOAD_END, ResourceUsage, RouteEnd, SERVER_END, SeriesUsage, sum_of};

/// The least share of the traffic that the load brought back that an interface must have carried to be the load's,
/// where no route was recorded. A house rule: heads and frames make it more, readings that are a little apart less.
const CARRIED_MIN: f64 = 0.8;

/// The interfaces that the load passes at one end of its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadInterfaces {
    end: RouteEnd,
    names: Vec<String>,
    /// The machine on which they were recorded as the route; `None` if they are those with enough traffic.
    machine: Option<u32>,
}

impl LoadInterfaces {
    /// Returns the interfaces where the server runs.
    pub(super) fn of(point: &LoadPointResult) -> LoadInterfaces {
        recorded(&point.resources, SERVER_END).unwrap_or_else(|| {
            let names = carriers(point, &point.resources);
            LoadInterfaces { end: SERVER_END, names, machine: None }
        })
    }

    /// Returns whether they are those of the recorded route.
    pub(super) fn is_recorded(&self) -> bool {
        self.machine.is_some()
    }

    /// Returns the interfaces where the server runs, and those where the load is made, if that is another machine or
    /// another network namespace.
    pub(super) fn of_both_ends(point: &LoadPointResult) -> Vec<LoadInterfaces> {
        let uses = &point.resources;
        let near = LoadInterfaces::of(point);
        let of_server = near.machine.or_else(|| uses.first_with(Counter::TcpSegmentsSent, SERVER_END));
        let far = recorded(uses, LOAD_END).filter(|far| far.machine != of_server);
        std::iter::once(near).chain(far).collect()
    }

    /// Returns whether the load passes an interface, as far as is known.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    /// Returns whether the load is known to pass this interface and no other.
    pub(super) fn is_only(&self, name: &str) -> bool {
        self.is_recorded() && self.names.iter().all(|known| known == name)
    }

    /// Returns the sum of a counter over these interfaces; `None` if none of them has it.
    pub(super) fn sum(&self, uses: &ResourceUsage, counter: Counter) -> Option<f64> {
        sum_of(self.series(uses, counter).filter(|one| self.holds(&one.series.instance)))
    }

    /// Returns the value of one instance of a counter at this end.
    pub(super) fn value(&self, uses: &ResourceUsage, counter: Counter, instance: &str) -> Option<f64> {
        self.series(uses, counter).find(|one| one.series.instance == instance)?.value
    }

    /// Returns the sum of a counter over all instances at this end; `None` if it was not read.
    pub(super) fn sum_of_end(&self, uses: &ResourceUsage, counter: Counter) -> Option<f64> {
        sum_of(self.series(uses, counter))
    }

    /// Returns the series of a counter at this end: on the machine of the recorded route, else on the first with it.
    pub(super) fn series<'a>(
        &self,
        uses: &'a ResourceUsage,
        counter: Counter,
    ) -> impl Iterator<Item = &'a SeriesUsage> + use<'a> {
        let machine = self.machine.or_else(|| uses.first_with(counter, self.end));
        machine.into_iter().flat_map(move |machine| uses.on(counter, machine))
    }
}

/// Returns the interfaces of the recorded route at one end; `None` if none was recorded.
fn recorded(uses: &ResourceUsage, end: RouteEnd) -> Option<LoadInterfaces> {
    let is_route = |one: &&SeriesUsage| one.value.is_some_and(|value| 0.5 < value);
    let routes: Vec<&SeriesUsage> = uses.of_first(Counter::NetRoute, end).filter(is_route).collect();
    let machine = Some(routes.first()?.series.machine);
    let names = routes.iter().map(|one| one.series.instance.clone()).collect();
    Some(LoadInterfaces { end, names, machine })
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
