//! The wording of findings for the live view, which has less room than a report.

use analysis::Finding;
use analysis::finding::{LittlePopulation, ServerUse};

use super::{figure_name, finding_text};

/// Returns a short clause about a finding, as it stands so far; its sentence if there is no shorter one.
pub fn finding_brief(finding: &Finding) -> String {
    match finding {
        Finding::LittleGap { found, population: LittlePopulation::Users(users), explained } => {
            format!("X·(R + Z) = {:.2} for {users} users", found + explained)
        }
        Finding::LittleGap { found, population: LittlePopulation::Operations(operations), explained } => {
            format!("X·R = {:.2} for {operations:.2} operations", found + explained)
        }
        Finding::GeneratorBusy { busy, server, .. } => {
            format!("CPU {}{}", whole_percent(busy.0), saturated(*server))
        }
        Finding::GeneratorRunQueue { waited, server, .. } => {
            format!("waiting for a CPU {} of the time{}", whole_percent(waited.0), saturated(*server))
        }
        Finding::GeneratorLateness { p99, limit, server, .. } => {
            format!("p99 lateness {p99}, limit {limit}{}", saturated(*server))
        }
        Finding::GeneratorFault { n, .. } => {
            format!("{n} operations failed because of the generator's machine")
        }
        Finding::Errors { n, ratio, limit, .. } => {
            let limit = if limit < ratio { format!(", limit {limit}") } else { String::new() };
            format!("{n} operations failed ({:.2} %){limit}", 100.0 * ratio.0)
        }
        Finding::Delivered { rate, offered, limit } => {
            let ratio = if 0.0 < *offered { rate / offered } else { 0.0 };
            let delivered = whole_percent(ratio);
            let required = whole_percent(limit.0);
            format!("{delivered} of the offered rate completed, at least {required} required")
        }
        Finding::Drift { figure, by } => {
            format!("the {} has changed by {:+.1} %", figure_name(*figure), 100.0 * by.value)
        }
        Finding::Variation { figure, variation, .. } => {
            format!("the {} varies by {variation}", figure_name(*figure))
        }
        other => finding_text(other),
    }
}

/// Returns a clause where the generator is at its limit while the server is at its own.
fn saturated(server: Option<ServerUse>) -> &'static str {
    match server {
        Some(ServerUse::Saturated(_)) => "; the server is saturated too",
        Some(ServerUse::TookTheRest(_)) => "; the server took all other CPU time",
        None
        | Some(ServerUse::Unknown | ServerUse::Part(_) | ServerUse::Unenforced(_) | ServerUse::LeftRest(_)) => {
            ""
        }
    }
}

fn whole_percent(ratio: f64) -> String {
    format!("{:.0} %", 100.0 * ratio)
}
