//! The load side of a run, as its request names it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use engine::{OpenedSessions, StopRequest};
use model::{LoadPoint, Plan, RecordSource};
use units::{Nanos, RealClock};

use crate::agents::RemoteLoad;
use crate::error::LoadError;
use crate::family::ResolvedTarget;
use crate::family_counts::FamilyCounts;
use crate::load::{LoadSide, LoadThreads, ONLY_AGENT};
use crate::request::{LoadMachines, RunRequest};
use crate::thread::{Message, SpareRecords};

/// The load side of a run. It is called for each load point, not for operations.
pub(crate) enum RunLoad {
    /// Threads of this process.
    Threads(LoadThreads),
    /// Load agents.
    Agents(Box<RemoteLoad<ResolvedTarget>>),
}

impl RunLoad {
    /// Makes the load side of a plan.
    pub(crate) fn of(request: &RunRequest<'_>, plan: Arc<Plan>, clock: RealClock) -> RunLoad {
        let n_agents = plan.agents.len();
        match &request.load {
            LoadMachines::Here => {
                assert_eq!(n_agents, 1, "a plan for this process has one load agent");
                RunLoad::Threads(LoadThreads::new(plan, ONLY_AGENT, clock))
            }
            LoadMachines::Agents(fleet) => {
                assert_eq!(n_agents, fleet.agents().len(), "a plan has the load agents that there are");
                RunLoad::Agents(Box::new(RemoteLoad::new(fleet, plan, request.secrets.clone())))
            }
        }
    }
}

/// Calls the load side that there is.
macro_rules! of_either {
    ($load:expr, $side:ident => $call:expr) => {
        match $load {
            RunLoad::Threads($side) => $call,
            RunLoad::Agents($side) => $call,
        }
    };
}

impl LoadSide for RunLoad {
    type Target = ResolvedTarget;

    fn sources(&self) -> Vec<RecordSource> {
        of_either!(self, side => side.sources())
    }

    fn probe(&mut self, target: &ResolvedTarget, stop: &AtomicBool) -> Result<Vec<String>, LoadError> {
        of_either!(self, side => side.probe(target, stop))
    }

    fn prepare(
        &mut self,
        target: &ResolvedTarget,
        point: LoadPoint,
        records: Sender<Message>,
        stop: &AtomicBool,
    ) -> Result<OpenedSessions, LoadError> {
        of_either!(self, side => side.prepare(target, point, records, stop))
    }

    fn lead(&mut self) -> Nanos {
        of_either!(self, side => side.lead())
    }

    fn go(&mut self, origin: Nanos) {
        of_either!(self, side => side.go(origin));
    }

    fn abandon(&mut self) {
        of_either!(self, side => side.abandon());
    }

    fn take_spares(&mut self) -> SpareRecords {
        of_either!(self, side => side.take_spares())
    }

    fn collect(&mut self, stop: &impl StopRequest) -> Result<FamilyCounts, LoadError> {
        of_either!(self, side => side.collect(stop))
    }
}
