//! The network interfaces that the load passes; the others are never its bottleneck.

use model::Counter;

use crate::LoadPointResult;
use crate::resources::ResourceUsage;

/// The least share of the traffic that the load brought back that an interface must have carried to be the load's,
/// where no route was recorded. A house rule: heads and frames make it more, readings that are a little apart less.
const CARRIED_MIN: f64 = 0.8;

/// The interfaces that the load passes where the server runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadInterfaces {
    names: Vec<String>,
    /// Whether they are those of the recorded route; else they are those with enough traffic.
    pub(super) is_recorded: bool,
}

impl LoadInterfaces {
    pub(super) fn of(point: &LoadPointResult) -> LoadInterfaces {
        let uses = &point.resources;
        let on_route =
            uses.of_sut(Counter::NetRoute).filter(|one| one.value.is_some_and(|value| 0.5 < value));
        let names: Vec<String> = on_route.map(|one| one.series.instance.clone()).collect();
        match names.is_empty() {
            false => LoadInterfaces { names, is_recorded: true },
            true => LoadInterfaces { names: carriers(point, uses), is_recorded: false },
        }
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
        let values: Vec<f64> = uses
            .of_sut(counter)
            .filter(|one| self.holds(&one.series.instance))
            .filter_map(|one| one.value)
            .collect();
        (!values.is_empty()).then(|| values.iter().sum())
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
