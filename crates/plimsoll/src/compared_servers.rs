//! Limits of comparisons of servers that are already running, whether they are named by URLs or as targets.

use languages::foreign_text;

use crate::arguments::PlanArguments;
use crate::exit::Failure;

/// The most servers that are compared: each is as idle as the others are busy.
const TARGETS_MAX: usize = 8;

/// Checks the number of servers that are compared, and that of their labels.
///
/// # Errors
/// There are too many of them.
pub(crate) fn check_number(n: usize, labels: &[String]) -> Result<(), Failure> {
    if TARGETS_MAX < n {
        let error = format!("expected at most {TARGETS_MAX} servers to compare, found {n}");
        return Err(
            Failure::usage(error).hint("compare fewer at a time: while one is loaded, the others wait")
        );
    }
    if let Some(twice) = (1..labels.len()).find(|index| labels[..*index].contains(&labels[*index])) {
        let label = foreign_text(&labels[twice]);
        return Err(Failure::usage(format!("two servers have the label `{label}`"))
            .hint("give each server a label of its own"));
    }
    if labels.is_empty() || labels.len() == n {
        return Ok(());
    }
    let servers = if n == 1 { "1 server".to_owned() } else { format!("{n} servers") };
    let error = format!("`--label` is given {} times for {servers}", labels.len());
    Err(Failure::usage(error).hint("give each server a label, in the order of the servers, or none of them"))
}

/// Refuses loads at which servers cannot be compared: those of a search, which are each server's own, one that changes, and a
/// number of operations that a server gets in all.
///
/// # Errors
/// `--find-max`, `-n` or stages are given.
pub(crate) fn refuse_own_loads(plan: &PlanArguments) -> Result<(), Failure> {
    if plan.shape.is_given() {
        return Err(Failure::usage("a load that changes over time cannot be used with servers that are compared").hint(
            "servers are compared at loads that stay the same: `--load 10,20,50`; or run the stages on each by itself",
        ));
    }
    if plan.overrides.find_max {
        return Err(Failure::usage("`--find-max` cannot be used with servers that are compared").hint(
            "servers are compared at the same loads: `--load 10,20,50`; or search for each by itself",
        ));
    }
    if let Some(n) = plan.overrides.operations {
        return Err(Failure::usage("`-n` cannot be used with servers that are compared")
            .hint(format!("load each by itself: `plimsoll run URL -n {n}`")));
    }
    Ok(())
}
