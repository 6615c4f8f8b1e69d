//! The CPU quota that holds a server back.

use model::{Counter, Plan};

use super::{Indicator, Indicators};
use crate::LoadPointResult;
use crate::resources::ratio;

/// The share of a quota from which it is used up, and the share of its periods. House rules, those of the processor.
const USED_MIN: f64 = 0.90;
const THROTTLED_MIN: f64 = 0.50;

/// A CPU quota that a server used up.
#[derive(Debug, Clone, PartialEq)]
pub struct UsedUpQuota {
    /// The CPU time per second that it allows, in CPUs.
    pub cpus: f64,
    /// The group of watched processes that it limits, as it was selected; `None` of a server that the run started.
    pub group: Option<String>,
}

/// Returns the quota that a server used up: that of the plan, or the one in force of which most is used. `None` if none is.
pub(super) fn used_up(plan: &Plan, point: &LoadPointResult, indicators: &Indicators) -> Option<UsedUpQuota> {
    let is_throttled = indicators.get(&Indicator::Throttled).is_some_and(|share| THROTTLED_MIN <= *share);
    let of_plan =
        plan.sut.quota.filter(|_| is_throttled || point.sut_busy.is_some_and(|busy| USED_MIN <= busy));
    let uses = &point.resources;
    let in_force = uses.of_sut(Counter::SutQuota).filter_map(|quota| {
        let group = &quota.series.instance;
        let of = |counter| uses.sut_value(counter, group);
        let used = of(Counter::SutQuotaCpu).into_iter().chain(of(Counter::SutCpu)).max_by(f64::total_cmp);
        let share = ratio(used, quota.value).unwrap_or(0.0);
        let cpus = quota.value? / 1e6;
        (is_throttled || USED_MIN <= share).then(|| (share, UsedUpQuota { cpus, group: Some(group.clone()) }))
    });
    let of_plan = of_plan.map(|cpus| UsedUpQuota { cpus, group: None });
    of_plan.or_else(|| in_force.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, quota)| quota))
}
