//! The generator's health: a load point that the generator limited is invalid, not slow.

use units::{Nanos, Ratio};

use super::{Evidence, Finding, other_programs};
use crate::fold::AgentTotals;

const HINT: &str = "give the generator more CPUs (`--load-cpus`) or the server a smaller share (`--sut-quota`, see `plimsoll calibrate`)";
/// Use of its allowance beyond which the SUT shows that nothing holds it to that allowance. Below lie
/// the errors of quotas, which are enforced in slices, and of two clocks.
const ENFORCED_MAX: f64 = 1.1;

const LATE_HINT: &str = "offer less, or give the generator CPUs of its own (`--load-cpus`)";

/// Checks every load agent by itself, and what the places of an open loop did to its lateness.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let agents = &evidence.fold.steady.agents;
    let mut findings: Vec<Finding> =
        agents.iter().flat_map(|(index, agent)| limits(evidence, *index, agent)).collect();
    findings.extend(places(evidence));
    findings
}

/// Returns the limits that an agent passed: invalid, or a remark where the SUT was saturated all the same.
fn limits(evidence: &Evidence, index: u32, agent: &AgentTotals) -> Vec<Finding> {
    let rules = &evidence.plan.rules;
    let (Some(busy), Some(run_queue)) = (agent.busy(), agent.run_queue_ratio()) else {
        return vec![Finding::invalid(
            "generator-busy",
            format!("nothing is known of the load threads of agent {index}"),
        )];
    };
    let mut passed = Vec::new();
    if rules.generator_busy_max <= busy {
        let limit = Ratio(rules.generator_busy_max);
        passed.push(("generator-busy", format!("its CPUs were {} busy, limit {limit}", Ratio(busy)), HINT));
    }
    if rules.run_queue_ratio_max < run_queue {
        let limit = Ratio(rules.run_queue_ratio_max);
        let others = other_programs::clause(evidence.result);
        let text =
            format!("its threads waited {} of the time for a CPU, limit {limit}{others}", Ratio(run_queue));
        passed.push(("generator-run-queue", text, HINT));
    }
    if let Some(late) = late(evidence, agent) {
        let text =
            format!("the 99th percentile of its lateness was {late}, limit {}", rules.lateness_p99_max);
        passed.push(("generator-lateness", text, LATE_HINT));
    }
    passed
        .into_iter()
        .map(|(rule, text, hint)| weigh(evidence, rule, &format!("load agent {index}: {text}"), hint))
        .collect()
}

/// Returns the 99th percentile of an agent's own lateness if it passes the limit; open loops only.
fn late(evidence: &Evidence, agent: &AgentTotals) -> Option<Nanos> {
    let open = !evidence.result.load.is_closed();
    let p99 = agent.lateness_own.quantile(Ratio(0.99)).filter(|_| open)?;
    (evidence.plan.rules.lateness_p99_max < p99).then_some(p99)
}

/// Was the server the limit after all?
fn weigh(evidence: &Evidence, rule: &'static str, text: &str, hint: &'static str) -> Finding {
    let saturated = evidence.plan.rules.sut_saturated_min;
    match evidence.result.sut_busy {
        Some(busy) if ENFORCED_MAX < busy => {
            let text = format!(
                "{text}, and nothing held the server to its allowance, of which it used {}",
                Ratio(busy)
            );
            Finding::invalid(rule, text).hint(hint)
        }
        Some(busy) if saturated <= busy => Finding::remark(
            rule,
            format!("{text}; the server was saturated as well ({} of its allowance)", Ratio(busy)),
        ),
        Some(busy) => {
            Finding::invalid(rule, format!("{text}, while the server used {} of its allowance", Ratio(busy)))
                .hint(hint)
        }
        None => {
            Finding::invalid(rule, format!("{text}, and how busy the server was is not known")).hint(hint)
        }
    }
}

/// Reports operations that had to wait for a slot, which is part of their response time and no fault of the
/// generator.
fn places(evidence: &Evidence) -> Option<Finding> {
    let agents = evidence.fold.steady.agents.values();
    let full = agents.map(|agent| agent.intervals_full).max().unwrap_or(0);
    (0 < full).then(|| {
        let places = evidence.result.load.in_flight_max();
        let text = format!(
            "all {places} places for operations in flight were taken at the end of {full} seconds; \
             what fell due then waited, its response time running"
        );
        Finding::remark("places", text)
    })
}
