//! The operations in flight of an open loop on a database that runs already. Each may need a session: where nobody has chosen
//! their number, there are no more than the database has connections for.

use model::{CpuQuota, Load, Plan};

use super::candidate_plan::candidate_plan;
use super::run::RunContext;
use crate::arguments::RunArguments;
use crate::candidates::Candidate;
use crate::exit::Failure;
use crate::interrupt;
use crate::stderr::eprint;

/// Plans anew with fewer operations in flight where a database has connections for fewer; notes their number in the arguments.
pub(super) fn fitted(
    arguments: &mut RunArguments,
    candidates: &[Candidate],
    plans: Vec<Plan>,
    context: &RunContext<'_>,
) -> Result<Vec<Plan>, Failure> {
    let of_definition = context.chosen.benchmark.definition.open_loop.in_flight_max;
    if arguments.plan.in_flight_max.or(of_definition).is_some() {
        return Ok(plans);
    }
    let planned = plans.iter().flat_map(Plan::loads).map(Load::in_flight_max).max().unwrap_or(0);
    let mut fewest = planned;
    for (candidate, plan) in candidates.iter().zip(&plans) {
        let server = candidate.server(&context.chosen.name, plan, context.trust)?;
        if let fleet::ServerChoice::External(server) = server {
            let room = fleet::room_in_flight(plan, &server, context.secrets, &interrupt::flag());
            fewest = fewest.min(room.unwrap_or(planned));
        }
    }
    if fewest == planned {
        return Ok(plans);
    }
    eprint(format!("The database has connections for {fewest} operations in flight."));
    arguments.plan.in_flight_max = Some(fewest);
    let again = |(candidate, plan): (&Candidate, &Plan)| {
        let quota = CpuQuota { cpus: plan.sut.quota, reason: plan.sut.quota_reason.clone() };
        let plan = candidate_plan(arguments, context.chosen, candidate, plan.load_threads())?;
        Ok(plan.with_quota(quota).map_err(|problem| vec![problem])?)
    };
    candidates.iter().zip(&plans).map(again).collect()
}
