//! The wording of findings about the load generator and its machine.

use analysis::SharedCpus;
use analysis::finding::{OtherCpuUse, ServerUse, UnseenPart};
use units::Ratio;

pub(super) const MORE_CPUS: &str = "give the generator more CPUs (`--load-cpus`) or the server a smaller share (`--sut-quota`, see `plimsoll calibrate`)";
pub(super) const OFFER_LESS: &str = "offer less, or give the generator CPUs of its own (`--load-cpus`)";

const MORE_OF_SHARED: &str =
    "give the generator more CPUs (`--load-cpus`), and stop other programs on this machine";

pub(super) const END_OTHERS: &str = "stop other programs on this machine, and repeat the run";

/// Idle CPU time below which more CPUs would not help the generator, in CPUs.
const IDLE_MIN: f64 = 0.2;

/// The most programs that are named; a program that used less than this of a CPU is not.
const N_NAMED: usize = 3;
const SHARE_MIN: f64 = 0.02;

/// Returns a clause about the server, to stand behind a limit of the generator; empty if the limit was not reached.
pub(super) fn server_clause(server: Option<ServerUse>) -> String {
    match server {
        None => String::new(),
        Some(ServerUse::Unknown) => ", and the CPU use of the server is not known".to_owned(),
        Some(ServerUse::Part(busy)) => format!(", while the server used {busy} of its allowance"),
        Some(ServerUse::Saturated(busy)) => {
            format!("; the server was saturated as well ({busy} of its allowance)")
        }
        Some(ServerUse::Unenforced(busy)) => {
            format!(", and the server's allowance was not enforced, of which it used {busy}")
        }
        Some(ServerUse::TookTheRest(shared)) => format!(
            "; the server used the rest of the CPUs that they share ({:.2} of {:.0})",
            shared.server, shared.n
        ),
        Some(ServerUse::LeftRest(SharedCpus { n, server, idle, .. })) => format!(
            ", while the server used {server:.2} of the {n:.0} CPUs that they share, and {idle:.2} were idle"
        ),
    }
}

/// Returns the hint where the generator was the limit: not if it was only close to it, or the server was one as well.
pub(super) fn limit_hint(server: Option<ServerUse>, hint: &'static str) -> Option<&'static str> {
    match server {
        None | Some(ServerUse::Saturated(_) | ServerUse::TookTheRest(_)) => None,
        Some(ServerUse::LeftRest(shared)) if shared.idle < IDLE_MIN => Some(END_OTHERS),
        Some(ServerUse::LeftRest(_)) => Some(MORE_OF_SHARED),
        Some(ServerUse::Unknown | ServerUse::Part(_) | ServerUse::Unenforced(_)) => Some(hint),
    }
}

/// Returns a clause about the other users of the machine, to stand behind what they may have disturbed.
pub(super) fn others_clause(used: &OtherCpuUse) -> String {
    format!("; other programs used {:.2} CPUs ({})", used.total, programs(used))
}

/// Returns a clause about the share of the CPUs that other programs had, with the limit where it is judged.
pub(super) fn share_clause(share: Ratio, limit: Ratio, unseen: Option<UnseenPart>) -> String {
    let limit = if unseen.is_none() { format!(", limit {limit}") } else { String::new() };
    format!(", {share} of those that server and generator could use{limit}")
}

/// Returns a clause about the part of the system under test that may be among other programs.
pub(super) fn unseen_clause(unseen: UnseenPart) -> &'static str {
    match unseen {
        UnseenPart::Server => "; the server may be one of them",
        UnseenPart::Service => "; a service behind the server may be one of them",
    }
}

/// Writes `stress 98 % of one, cc1 40 % of one`: of one CPU each.
pub(super) fn programs(used: &OtherCpuUse) -> String {
    let named = used.programs.iter().take(N_NAMED).filter(|program| SHARE_MIN <= program.cpus);
    let texts: Vec<String> =
        named.map(|program| format!("{} {:.0} % of one", program.name, 100.0 * program.cpus)).collect();
    if texts.is_empty() { "none of them above 2 % of a CPU".to_owned() } else { texts.join(", ") }
}
