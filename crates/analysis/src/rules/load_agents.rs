//! Load agents: all of them must be present in every second. A missing one must not just lower the result.

use super::{Evidence, RuleFinding};

const HINT: &str = "look for a load machine that stopped or started late, and repeat the run";

/// Reports seconds of the steady phase in which an agent or a load thread is missing.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let absent = evidence.fold.axis.absent.text();
    absent.map(|text| RuleFinding::invalid("load-agents", text).hint(HINT)).into_iter().collect()
}
