//! Open loop: everything on the schedule fell due, and enough of it was delivered.

use model::{Load, Schedule};

use super::{Evidence, Finding};

const SCHEDULE_HINT: &str =
    "the generator lost or repeated operations; run it again, and report this if it happens again";
const DELIVERED_HINT: &str = "the system does not carry this rate; offer less: lower rates in `--rate`";

/// Reports a number of due operations that differs from the schedule, a pure function of plan and seed.
pub(super) fn schedule(evidence: &Evidence) -> Vec<Finding> {
    let Load::Rate { per_second, arrivals, .. } = evidence.result.load else { return Vec::new() };
    let totals = &evidence.fold.steady;
    let Some(start) = totals.start else { return Vec::new() };
    let plan = evidence.plan;
    let schedule = Schedule::new(per_second, arrivals, &plan.phases, plan.seed, evidence.result.index);
    let due = schedule.map(|(_, due)| due).skip_while(|due| *due < start).take_while(|due| *due < totals.end);
    let (expected, found) = (due.count() as u64, totals.due);
    if found == expected {
        return Vec::new();
    }
    let text = format!("{found} operations fell due in the steady phase, the schedule has {expected}");
    vec![Finding::invalid("schedule", text).hint(SCHEDULE_HINT)]
}

/// Reports a rate of successes too far below the rate at which operations fell due.
pub(super) fn delivered(evidence: &Evidence) -> Vec<Finding> {
    let Some(offered) = evidence.result.offered_rate else { return Vec::new() };
    let (rate, limit) = (evidence.result.rate, evidence.plan.rules.delivered_ratio_min);
    if limit * offered <= rate && 0.0 < offered {
        return Vec::new();
    }
    let text = format!(
        "{rate:.1} of {offered:.1} operations per second were delivered, at least {:.0} % must be",
        100.0 * limit
    );
    vec![Finding::invalid("delivered", text).hint(DELIVERED_HINT)]
}
