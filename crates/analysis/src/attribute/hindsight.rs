//! The lowest load, judged by the next one: what holds many users back holds one back too if he reaches the same rate. By
//! itself that load looks free, because its rate is what others are compared with.

use model::Plan;

use super::cause::hindsight_condition;
use super::{Attribution, Bottleneck, CAUSES, Condition, Indicator, IndicatorUnit, Threshold};
use crate::LoadPointResult;
use crate::resources::ratio;

/// The rate at the next load ÷ that at the lowest one between which the two are equal: a server at its limit may lose some to
/// contention. House rules.
const EQUAL_MIN: f64 = 0.80;
const EQUAL_MAX: f64 = 1.05;

/// The part of a threshold that the lowest load must reach: a few users leave a resource idle for moments. A house rule.
const PART_MIN: f64 = 0.8;

/// Resources that a single user can use up; he waits for no lock, worker or connection of others.
const USED_UP_BY_ONE: [Bottleneck; 5] = [
    Bottleneck::Processor,
    Bottleneck::Memory,
    Bottleneck::DiskOperations,
    Bottleneck::DiskBandwidth,
    Bottleneck::Network,
];

/// The names of a load whose own limit is not seen.
const UNLIMITED: [Bottleneck; 3] = [Bottleneck::None, Bottleneck::Waiting, Bottleneck::Undetermined];

/// Gives the lowest load the bottleneck of the next one if that brings no higher rate, and nothing contradicts it.
pub(super) fn judge_lowest(plan: &Plan, points: &[LoadPointResult], found: &mut [Attribution]) {
    let Some((lowest, next)) = lowest_two(points) else { return };
    let low = &points[lowest];
    let high = &points[next];
    let Some(growth) = ratio(Some(high.rate), Some(low.rate)) else { return };
    found[lowest].indicators.insert(Indicator::RateAtNextLoad, growth);
    let bottleneck = found[next].bottleneck;
    let certainty = found[next].certainty;
    let is_equal = (EQUAL_MIN..=EQUAL_MAX).contains(&growth);
    if !is_equal || !UNLIMITED.contains(&found[lowest].bottleneck) || !USED_UP_BY_ONE.contains(&bottleneck) {
        return;
    }
    let load_ratio = low.load.level() / high.load.level();
    let Some(evidence) = evidence(&found[lowest], &found[next], load_ratio) else { return };
    let lowest = &mut found[lowest];
    (lowest.bottleneck, lowest.certainty, lowest.evidence) = (bottleneck, certainty, evidence);
    lowest.service = None;
    lowest.add_processor(plan, low);
}

/// Returns the indexes of the lowest load of users, and of the next higher one; `None` if there are no two.
fn lowest_two(points: &[LoadPointResult]) -> Option<(usize, usize)> {
    let level = |index: &usize| points[*index].load.level();
    let by_level = |one: &usize, other: &usize| level(one).total_cmp(&level(other));
    let closed = || (0..points.len()).filter(|index| points[*index].load.is_closed());
    let lowest = closed().min_by(by_level)?;
    Some((lowest, closed().filter(|index| level(&lowest) < level(index)).min_by(by_level)?))
}

/// Returns the evidence at the lowest load for the next one's bottleneck; `None` if some of it is missing or contradicts it.
fn evidence(lowest: &Attribution, next: &Attribution, load_ratio: f64) -> Option<Vec<(Condition, f64)>> {
    let is_of_next = |condition: &Condition| next.evidence.iter().any(|(one, _)| one == condition);
    let cause = CAUSES.iter().find(|cause| {
        cause.bottleneck == next.bottleneck
            && cause.holds(&next.indicators)
            && cause.all.iter().all(is_of_next)
    })?;
    let own = cause.all.iter().filter(|condition| !is_relative(condition.indicator));
    let own = own.map(|condition| {
        let value = *lowest.indicators.get(&condition.indicator)?;
        reaches_part(condition, value, load_ratio).then_some((*condition, value))
    });
    let mut evidence = own.collect::<Option<Vec<_>>>()?;
    let growth = *lowest.indicators.get(&Indicator::RateAtNextLoad)?;
    evidence.push((hindsight_condition(EQUAL_MAX), growth));
    (1 < evidence.len()).then_some(evidence)
}

/// Returns whether an indicator compares a load with lower ones.
fn is_relative(indicator: Indicator) -> bool {
    use Indicator::{DiskGrowth, RateGrowth, RateOfIdeal, RateOfLoadGrowth, SwitchGrowth};
    matches!(indicator, DiskGrowth | RateGrowth | RateOfIdeal | RateOfLoadGrowth | SwitchGrowth)
}

/// Returns whether a value reaches a part of a threshold. What queues is in proportion to the users.
fn reaches_part(condition: &Condition, value: f64, load_ratio: f64) -> bool {
    let is_queue = matches!(condition.indicator.unit(), IndicatorUnit::Bytes | IndicatorUnit::PerSecond)
        && condition.indicator != Indicator::DiskRequestBytes;
    let part = if is_queue { PART_MIN * load_ratio } else { PART_MIN };
    match condition.threshold {
        Threshold::AtLeast(least) => part * least <= value,
        Threshold::Below(limit) => value < limit,
    }
}
