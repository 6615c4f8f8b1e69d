//! Load agents: all of them, in every second. A missing one must not just make the result smaller.

use super::{Evidence, Finding};

const HINT: &str = "look for a load machine that stopped or started late, and run it again";

/// Reports seconds of the steady phase in which an agent or a load thread is missing.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let absent = evidence.fold.axis.absent.text();
    absent.map(|text| Finding::invalid("load-agents", text).hint(HINT)).into_iter().collect()
}
