//! The generator's health: a load point that the generator limited is invalid, not slow.

use units::Ratio;

use super::{Evidence, RuleFinding, other_programs};
use crate::Measure;
use crate::fold::AgentTotals;

const HINT: &str = "give the generator more CPUs (`--load-cpus`) or the server a smaller share (`--sut-quota`, see `plimsoll calibrate`)";
/// Use of its allowance beyond which the allowance is evidently not enforced. Below are the errors of quotas, which
/// are enforced in slices, and of two clocks.
const ENFORCED_MAX: f64 = 1.1;

const LATE_HINT: &str = "offer less, or give the generator CPUs of its own (`--load-cpus`)";

/// Part of a limit from which a value is close to it.
const CLOSE: f64 = 0.8;

/// A value of a load agent that is beyond its limit, or close to it.
struct LimitedValue {
    rule: &'static str,
    is_beyond: bool,
    text: String,
    hint: &'static str,
    measure: Measure,
}

/// Checks every load agent by itself.
pub(super) fn limits(evidence: &Evidence) -> Vec<RuleFinding> {
    let agents = &evidence.fold.steady.agents;
    agents.iter().flat_map(|(index, agent)| agent_limits(evidence, *index, agent)).collect()
}

/// Returns the limits that an agent exceeded: invalid, or a remark where the SUT was saturated as well. Takes notice of
/// those to which it is close.
fn agent_limits(evidence: &Evidence, index: u32, agent: &AgentTotals) -> Vec<RuleFinding> {
    let (Some(busy), Some(run_queue)) = (agent.busy(), agent.run_queue_ratio()) else {
        return vec![RuleFinding::invalid(
            "generator-busy",
            format!("no metrics of the load threads of agent {index} were recorded"),
        )];
    };
    let found =
        [busy_value(evidence, busy), run_queue_value(evidence, run_queue), late_value(evidence, agent)];
    let finding = |LimitedValue { rule, is_beyond, text, hint, measure }| {
        let text = format!("load agent {index}: {text}");
        let finding = match is_beyond {
            true => weigh(evidence, rule, &text, hint),
            false => RuleFinding::notice(rule, text),
        };
        finding.measured(measure)
    };
    found.into_iter().flatten().map(finding).collect()
}

fn busy_value(evidence: &Evidence, busy: f64) -> Option<LimitedValue> {
    let limit = evidence.plan.rules.generator_busy_max;
    (CLOSE * limit <= busy).then(|| LimitedValue {
        rule: "generator-busy",
        is_beyond: limit <= busy,
        text: format!("its CPUs were {} busy, limit {}", Ratio(busy), Ratio(limit)),
        hint: HINT,
        measure: Measure::GeneratorBusy(busy),
    })
}

fn run_queue_value(evidence: &Evidence, waited: f64) -> Option<LimitedValue> {
    let limit = evidence.plan.rules.run_queue_ratio_max;
    (CLOSE * limit <= waited).then(|| {
        let others = other_programs::clause(evidence.resources);
        let (waited_part, limit_part) = (Ratio(waited), Ratio(limit));
        LimitedValue {
            rule: "generator-run-queue",
            is_beyond: limit < waited,
            text: format!(
                "its threads waited {waited_part} of the time for a CPU, limit {limit_part}{others}"
            ),
            hint: HINT,
            measure: Measure::GeneratorWait(waited),
        }
    })
}

/// Judges the 99th percentile of an agent's own lateness; open loops only.
fn late_value(evidence: &Evidence, agent: &AgentTotals) -> Option<LimitedValue> {
    let is_open = !evidence.load().is_closed();
    let p99 = agent.lateness_own.quantile(Ratio(0.99)).filter(|_| is_open)?;
    let limit = evidence.plan.rules.lateness_p99_max;
    (CLOSE * limit.0 as f64 <= p99.0 as f64).then(|| LimitedValue {
        rule: "generator-lateness",
        is_beyond: limit < p99,
        text: format!("the 99th percentile of its lateness was {p99}, limit {limit}"),
        hint: LATE_HINT,
        measure: Measure::GeneratorLateness { p99, limit },
    })
}

/// Decides the severity: a remark if the server was the limit after all.
fn weigh(evidence: &Evidence, rule: &'static str, text: &str, hint: &'static str) -> RuleFinding {
    let saturated = evidence.plan.rules.sut_saturated_min;
    match evidence.figures.sut_busy {
        Some(busy) if ENFORCED_MAX < busy => {
            let text = format!(
                "{text}, and the server's allowance was not enforced, of which it used {}",
                Ratio(busy)
            );
            RuleFinding::invalid(rule, text).hint(hint)
        }
        Some(busy) if saturated <= busy => RuleFinding::remark(
            rule,
            format!("{text}; the server was saturated as well ({} of its allowance)", Ratio(busy)),
        ),
        Some(busy) => RuleFinding::invalid(
            rule,
            format!("{text}, while the server used {} of its allowance", Ratio(busy)),
        )
        .hint(hint),
        None => RuleFinding::invalid(rule, format!("{text}, and the CPU use of the server is not known"))
            .hint(hint),
    }
}

/// Reports operations that had to wait for a slot, which is part of their response time and no fault of the
/// generator.
pub(super) fn full_slots(evidence: &Evidence) -> Vec<RuleFinding> {
    let agents = evidence.fold.steady.agents.values();
    let full = agents.map(|agent| agent.intervals_full).max().unwrap_or(0);
    if full == 0 {
        return Vec::new();
    }
    let slots = evidence.load().in_flight_max();
    let text = format!(
        "all {slots} slots for operations in flight were taken at the end of {full} seconds; \
         operations that fell due then waited while their response time ran"
    );
    vec![RuleFinding::remark("places", text)]
}
