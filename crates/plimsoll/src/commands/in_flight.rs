//! The operations in flight of an open loop on a database that runs already. Each may need a session: where nobody has chosen
//! their number, there are no more than the database has connections for.

use model::Load;

use super::run::RunContext;
use crate::exit::Failure;
use crate::interrupt;
use crate::planned_run::PlannedRun;
use crate::stderr::eprint;

/// Plans anew with fewer operations in flight where a database has connections for fewer.
pub(super) fn fit(runs: &mut [PlannedRun], context: &RunContext<'_>) -> Result<(), Failure> {
    let spec = context.planner.spec;
    let of_definition = spec.chosen.benchmark.definition.open_loop.in_flight_max;
    if spec.overrides.in_flight_max.or(of_definition).is_some() {
        return Ok(());
    }
    let loads = runs.iter().flat_map(|run| run.plan.loads());
    let planned = loads.map(Load::in_flight_max).max().unwrap_or(0);
    let mut fewest = planned;
    for PlannedRun { candidate, plan, .. } in &*runs {
        let server = candidate.server(&spec.chosen_for(candidate).name, plan, context.trust)?;
        if let fleet::ServerChoice::External(server) = server {
            let room =
                fleet::room_in_flight(plan, &server, context.secrets_of(candidate), &interrupt::flag());
            fewest = fewest.min(room.unwrap_or(planned));
        }
    }
    if fewest == planned {
        return Ok(());
    }
    eprint(format!("The database has connections for {fewest} operations in flight."));
    for run in runs {
        run.found.in_flight_max = Some(fewest);
        context.planner.plan_again(run)?;
    }
    Ok(())
}
