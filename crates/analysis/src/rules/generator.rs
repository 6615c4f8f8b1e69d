//! The generator's health: a load point that the generator limited is invalid, not slow.

use units::Ratio;

use super::{Evidence, RuleFinding, other_programs};
use crate::finding::{Finding, ServerUse};
use crate::fold::AgentTotals;
use crate::{SharedCpus, limits_in_force};

/// Use of its allowance beyond which the allowance is evidently not enforced. Below are the errors of quotas, which
/// are enforced in slices, and of two clocks.
const ENFORCED_MAX: f64 = 1.1;

/// Part of a limit from which a value is close to it.
const CLOSE: f64 = 0.8;

/// Checks every load agent by itself.
pub(super) fn limits(evidence: &Evidence) -> Vec<RuleFinding> {
    let agents = &evidence.fold.steady.agents;
    agents.iter().flat_map(|(index, agent)| agent_limits(evidence, *index, agent)).collect()
}

/// Returns the limits that an agent exceeded: invalid, or a remark where the SUT was saturated as well. Takes notice of
/// those to which it is close.
fn agent_limits(evidence: &Evidence, index: u32, agent: &AgentTotals) -> Vec<RuleFinding> {
    let (Some(busy), Some(run_queue)) = (agent.busy(), agent.run_queue_ratio()) else {
        return vec![RuleFinding::invalid(Finding::GeneratorUnmeasured { agent: index })];
    };
    let found = [
        busy_finding(evidence, index, busy),
        run_queue_finding(evidence, index, run_queue),
        late_finding(evidence, index, agent),
    ];
    found.into_iter().flatten().collect()
}

fn busy_finding(evidence: &Evidence, agent: u32, busy: f64) -> Option<RuleFinding> {
    let limit = evidence.plan.rules.generator_busy_max;
    (CLOSE * limit <= busy).then(|| {
        let server = (limit <= busy).then(|| server_use(evidence));
        let busy = Ratio(busy);
        let limit = Ratio(limit);
        weighed(server, Finding::GeneratorBusy { agent, busy, limit, server })
    })
}

fn run_queue_finding(evidence: &Evidence, agent: u32, waited: f64) -> Option<RuleFinding> {
    let limit = evidence.plan.rules.run_queue_ratio_max;
    (CLOSE * limit <= waited).then(|| {
        let others = other_programs::used(evidence.resources);
        let server = (limit < waited).then(|| server_use(evidence));
        let waited = Ratio(waited);
        let limit = Ratio(limit);
        weighed(server, Finding::GeneratorRunQueue { agent, waited, limit, others, server })
    })
}

/// Judges the 99th percentile of an agent's own lateness; open loops only.
fn late_finding(evidence: &Evidence, index: u32, agent: &AgentTotals) -> Option<RuleFinding> {
    let is_open = !evidence.load().is_closed();
    let p99 = agent.lateness_own.quantile(Ratio(0.99)).filter(|_| is_open)?;
    let limit = evidence.plan.rules.lateness_p99_max;
    (CLOSE * limit.0 as f64 <= p99.0 as f64).then(|| {
        let server = (limit < p99).then(|| server_use(evidence));
        weighed(server, Finding::GeneratorLateness { agent: index, p99, limit, server })
    })
}

fn server_use(evidence: &Evidence) -> ServerUse {
    let saturated = evidence.plan.rules.sut_saturated_min;
    let of_limits = limits_in_force::processor_share(evidence.resources);
    match evidence.figures.sut_busy.or_else(|| of_limits.filter(|share| saturated <= *share)) {
        None => beside_generator(evidence),
        Some(busy) if ENFORCED_MAX < busy => ServerUse::Unenforced(Ratio(busy)),
        Some(busy) if saturated <= busy => ServerUse::Saturated(Ratio(busy)),
        Some(busy) => ServerUse::Part(Ratio(busy)),
    }
}

/// Judges a server without an allowance that shares its CPUs with the generator: it is saturated if the two of
/// them fill the CPUs.
fn beside_generator(evidence: &Evidence) -> ServerUse {
    let agents = evidence.fold.steady.agents.values();
    let busy = agents.filter_map(AgentTotals::busy).fold(0.0, f64::max);
    let generator = busy * f64::from(evidence.plan.load_threads());
    let shared = SharedCpus::of(evidence.plan, evidence.resources, generator, evidence.figures.sut_cpus);
    match shared {
        None => ServerUse::Unknown,
        Some(shared) if shared.are_full(evidence.plan.rules.sut_saturated_min) => {
            ServerUse::TookTheRest(shared)
        }
        Some(shared) => ServerUse::LeftRest(shared),
    }
}

/// Decides the severity: a notice of a value that is only close to its limit, a remark if the server was the limit after
/// all.
fn weighed(server: Option<ServerUse>, finding: Finding) -> RuleFinding {
    match server {
        None => RuleFinding::notice(finding),
        Some(ServerUse::Saturated(_) | ServerUse::TookTheRest(_)) => RuleFinding::remark(finding),
        Some(ServerUse::Unknown | ServerUse::Part(_) | ServerUse::Unenforced(_) | ServerUse::LeftRest(_)) => {
            RuleFinding::invalid(finding)
        }
    }
}

/// Reports operations that had to wait for a slot, which is part of their response time and no fault of the
/// generator.
pub(super) fn full_slots(evidence: &Evidence) -> Vec<RuleFinding> {
    let agents = evidence.fold.steady.agents.values();
    let seconds = agents.map(|agent| agent.intervals_full).max().unwrap_or(0);
    if seconds == 0 {
        return Vec::new();
    }
    vec![RuleFinding::remark(Finding::FullSlots { slots: evidence.load().in_flight_max(), seconds })]
}
