//! The generator's health: a load point that the generator limited is invalid, not slow.

use units::{Nanos, Ratio};

use super::{Evidence, RuleFinding, other_programs};
use crate::fold::AgentTotals;

const HINT: &str = "give the generator more CPUs (`--load-cpus`) or the server a smaller share (`--sut-quota`, see `plimsoll calibrate`)";
/// Use of its allowance beyond which the allowance is evidently not enforced. Below are the errors of quotas, which
/// are enforced in slices, and of two clocks.
const ENFORCED_MAX: f64 = 1.1;

const LATE_HINT: &str = "offer less, or give the generator CPUs of its own (`--load-cpus`)";

/// Checks every load agent by itself, and the effect of full slots of an open loop.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let agents = &evidence.fold.steady.agents;
    let mut findings: Vec<RuleFinding> =
        agents.iter().flat_map(|(index, agent)| limits(evidence, *index, agent)).collect();
    findings.extend(full_slots(evidence));
    findings
}

/// Returns the limits that an agent exceeded: invalid, or a remark where the SUT was saturated as well.
fn limits(evidence: &Evidence, index: u32, agent: &AgentTotals) -> Vec<RuleFinding> {
    let rules = &evidence.plan.rules;
    let (Some(busy), Some(run_queue)) = (agent.busy(), agent.run_queue_ratio()) else {
        return vec![RuleFinding::invalid(
            "generator-busy",
            format!("no metrics of the load threads of agent {index} were recorded"),
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

/// Returns the 99th percentile of an agent's own lateness if it exceeds the limit; open loops only.
fn late(evidence: &Evidence, agent: &AgentTotals) -> Option<Nanos> {
    let open = !evidence.result.load.is_closed();
    let p99 = agent.lateness_own.quantile(Ratio(0.99)).filter(|_| open)?;
    (evidence.plan.rules.lateness_p99_max < p99).then_some(p99)
}

/// Decides the severity: a remark if the server was the limit after all.
fn weigh(evidence: &Evidence, rule: &'static str, text: &str, hint: &'static str) -> RuleFinding {
    let saturated = evidence.plan.rules.sut_saturated_min;
    match evidence.result.sut_busy {
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
fn full_slots(evidence: &Evidence) -> Option<RuleFinding> {
    let agents = evidence.fold.steady.agents.values();
    let full = agents.map(|agent| agent.intervals_full).max().unwrap_or(0);
    (0 < full).then(|| {
        let slots = evidence.result.load.in_flight_max();
        let text = format!(
            "all {slots} slots for operations in flight were taken at the end of {full} seconds; \
             operations that fell due then waited while their response time ran"
        );
        RuleFinding::remark("places", text)
    })
}
