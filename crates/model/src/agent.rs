//! The load agents of a plan.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The plan of a load agent: a process that performs a part of every load point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPlan {
    /// The number of its load threads; at least 1.
    pub threads: u32,
    /// CPUs that its load threads are pinned to, one thread each; empty: one thread per CPU that is left, not pinned.
    pub cpus: Vec<u32>,
    /// The first of the shares of a load point ([`crate::partition`]) that its threads perform.
    pub first_share: u32,
    /// The number of its machine; 0: that of the controller, whose processes share it.
    #[serde(default, skip_serializing_if = "is_of_controller")]
    pub machine: u32,
}

/// Returns whether a machine is that of the controller, of which plans say nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_of_controller(machine: &u32) -> bool {
    *machine == 0
}

/// The most load agents of a plan.
pub const AGENTS_MAX: usize = 1024;

/// The most load threads of a load agent.
pub const AGENT_THREADS_MAX: u32 = 4096;

impl AgentPlan {
    /// Makes the plan of the only agent, whose threads are not pinned.
    pub fn only(threads: u32) -> AgentPlan {
        AgentPlan { threads, cpus: Vec::new(), first_share: 0, machine: 0 }
    }

    /// Gives agents the shares of a load point one after another.
    pub fn in_sequence(agents: impl IntoIterator<Item = AgentPlan>) -> Vec<AgentPlan> {
        let mut first_share = 0;
        let following = agents.into_iter().map(|agent| {
            let agent = AgentPlan { first_share, ..agent };
            first_share = agent.shares().end;
            agent
        });
        following.collect()
    }

    /// Returns the shares of a load point that its threads perform, one each.
    pub fn shares(&self) -> Range<u32> {
        self.first_share..self.first_share.saturating_add(self.threads)
    }
}

/// A fault of the load agents in a plan that comes from a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum AgentFault {
    /// There is none.
    #[error("the plan has no load agent")]
    NoAgent,
    /// There are too many.
    #[error("the plan has {0} load agents; there can be {AGENTS_MAX}")]
    TooMany(usize),
    /// One has no load threads.
    #[error("load agent {agent} of the plan has no load threads")]
    NoThreads {
        /// Index of the agent.
        agent: usize,
    },
    /// One has too many load threads.
    #[error("load agent {agent} of the plan has {threads} load threads; there can be {AGENT_THREADS_MAX}")]
    TooManyThreads {
        /// Index of the agent.
        agent: usize,
        /// Its load threads.
        threads: u32,
    },
    /// The shares of one do not follow those of the agent before it.
    #[error("the shares of load agent {agent} of the plan begin at {found} in place of {expected}")]
    Shares {
        /// Index of the agent.
        agent: usize,
        /// The share that comes next.
        expected: u32,
        /// Its first share.
        found: u32,
    },
}

/// Checks that agents perform all shares of a load point, each of them once.
///
/// # Errors
/// The first fault.
pub fn check_agents(agents: &[AgentPlan]) -> Result<(), AgentFault> {
    if AGENTS_MAX < agents.len() {
        return Err(AgentFault::TooMany(agents.len()));
    }
    let mut expected = 0;
    for (agent, plan) in agents.iter().enumerate() {
        let found = plan.first_share;
        if plan.threads == 0 {
            return Err(AgentFault::NoThreads { agent });
        }
        if AGENT_THREADS_MAX < plan.threads {
            return Err(AgentFault::TooManyThreads { agent, threads: plan.threads });
        }
        if found != expected {
            return Err(AgentFault::Shares { agent, expected, found });
        }
        expected = plan.shares().end;
    }
    if agents.is_empty() { Err(AgentFault::NoAgent) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three threads and two more: shares 0 to 2, and 3 and 4.
    #[test]
    fn agents_perform_all_shares_of_a_load_point_once() {
        let second = AgentPlan { first_share: 3, ..AgentPlan::only(2) };
        let following = AgentPlan::in_sequence([AgentPlan::only(3), AgentPlan::only(2)]);
        assert_eq!(following, [AgentPlan::only(3), second.clone()]);
        let agents = [AgentPlan::only(3), second.clone()];
        assert_eq!((agents[0].shares(), second.shares(), check_agents(&agents)), (0..3, 3..5, Ok(())));
        assert_eq!(check_agents(&[]), Err(AgentFault::NoAgent));
        assert_eq!(check_agents(&[AgentPlan::only(0)]), Err(AgentFault::NoThreads { agent: 0 }));
        let twice = Err(AgentFault::Shares { agent: 1, expected: 4, found: 3 });
        assert_eq!(check_agents(&[AgentPlan::only(4), second.clone()]), twice);
        let gap = Err(AgentFault::Shares { agent: 0, expected: 0, found: 3 });
        assert_eq!(check_agents(&[second]), gap);
        let threads = AGENT_THREADS_MAX + 1;
        let broad = Err(AgentFault::TooManyThreads { agent: 0, threads });
        assert_eq!(check_agents(&[AgentPlan::only(threads)]), broad);
        let many = AgentPlan::in_sequence(vec![AgentPlan::only(1); AGENTS_MAX + 1]);
        assert_eq!(check_agents(&many), Err(AgentFault::TooMany(AGENTS_MAX + 1)));
    }
}
