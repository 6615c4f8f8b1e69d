//! Failures of runs: their exit codes, and what to do about them.

use drivers::{CertificateProblem, HandshakeProblem};
use fleet::{AgentError, AgentFailureKind, AgentRecordError, FleetError, LoadError, VerifyError};
use model::Outcome;
use runfile::RunFileError;
use testbed::SutError;

use crate::exit::{Exit, Failure};
use crate::family::{
    command_line, data_hint, directory_hint, export_hint, memory_limit_hint, not_fetched_hint, session_hint,
    share_hint,
};

impl Failure {
    /// Makes a failure of a run; the hint differs if the benchmark is the user's own definition, or URLs.
    pub(crate) fn of_run(error: FleetError, is_own_definition: bool) -> Failure {
        match &error {
            FleetError::Verify(VerifyError::Unreachable { outcome, .. }) if is_own_definition => {
                Failure::new(Exit::Testbed, &error).hint(own_unreachable_hint(*outcome))
            }
            FleetError::Verify(VerifyError::Wrong { family, .. }) if is_own_definition => {
                Failure::new(Exit::Testbed, &error).hint(command_line(*family).own_wrong_hint)
            }
            _ => error.into(),
        }
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Failure {
        let failure = |exit| Failure::new(exit, &error);
        match &error {
            FleetError::Policy(drivers::TargetPolicyError::Forbidden { address, .. })
                if address.is_unspecified() =>
            {
                let local = if address.is_ipv4() { "127.0.0.1" } else { "[::1]" };
                failure(Exit::Refused).hint(format!(
                    "did you mean `{local}`? A server that listens at `{address}` listens at every address of its machine"
                ))
            }
            FleetError::Policy(drivers::TargetPolicyError::Forbidden { .. }) => failure(Exit::Refused).hint(
                "Plimsoll sends load to loopback and private addresses only; run it inside the server's own network",
            ),
            FleetError::Policy(_) => {
                failure(Exit::Testbed).hint("check the spelling of the name, or use the server's address")
            }
            FleetError::Verify(VerifyError::NotPrepared { .. }) => failure(Exit::Testbed).hint(
                "check the statements in the definition, and the privileges of the target's user; write a value \
                 in braces without quotes",
            ),
            FleetError::Verify(VerifyError::NoSession { target, problem, .. }) => {
                failure(Exit::Testbed).hint(session_hint(*problem, target))
            }
            FleetError::Verify(VerifyError::Wrong { family, .. }) => {
                failure(Exit::Testbed).hint(command_line(*family).wrong_hint)
            }
            FleetError::Verify(VerifyError::Unreachable { family, .. }) => {
                failure(Exit::Testbed).hint(command_line(*family).unreachable_hint)
            }
            FleetError::Verify(VerifyError::NotFetched { outcome, is_in_protocol, .. }) => {
                failure(Exit::Testbed).hint(not_fetched_hint(*outcome, *is_in_protocol))
            }
            FleetError::Verify(VerifyError::Certificate { problem, .. }) => {
                failure(Exit::Testbed).hint(certificate_hint(problem))
            }
            FleetError::Verify(VerifyError::Handshake { problem, .. }) => {
                failure(Exit::Testbed).hint(tls_hint(*problem))
            }
            FleetError::Verify(VerifyError::Share { error: why, .. }) => {
                failure(Exit::Testbed).hint_if(share_hint(why))
            }
            FleetError::Verify(VerifyError::LargeRequest { most, .. }) => {
                let most = most.0 >> 10;
                failure(Exit::Testbed).hint(format!(
                    "choose a smaller block (`--set block=\"{most} KiB\"`), or raise the server’s limit"
                ))
            }
            FleetError::Verify(VerifyError::Cache { error: why, .. }) => failure(Exit::Testbed).hint(why.hint()),
            FleetError::Verify(VerifyError::Export { error: why, .. }) => {
                failure(Exit::Testbed).hint_if(export_hint(why))
            }
            FleetError::Verify(VerifyError::WrongData { target, .. }) => {
                failure(Exit::Testbed).hint(data_hint(target))
            }
            FleetError::Verify(VerifyError::TooFewConnections { remedy, .. }) => {
                failure(Exit::Testbed).hint(match remedy {
                    Some(option) => format!("{option} fits these connections; or raise that limit"),
                    None => "raise that limit, or close some of the existing sessions".to_owned(),
                })
            }
            // A profile or gateway that the recipe lacks; the message lists those that it has.
            FleetError::Sut(SutError::Lacks { .. }) => failure(Exit::Usage),
            FleetError::Verify(VerifyError::Interrupted) => failure(Exit::Interrupted),
            FleetError::Verify(VerifyError::System(_))
            | FleetError::Sut(_) | FleetError::Watch(_)
            | FleetError::Load(LoadError::Thread { .. }) => failure(Exit::Testbed),
            FleetError::RunFile(why) => {
                let exit = if matches!(why, RunFileError::Exists { .. }) { Exit::Usage } else { Exit::Testbed };
                let is_creation = matches!(
                    why,
                    RunFileError::Io { doing: "creating", .. } | RunFileError::Database { doing: "creating", .. }
                );
                let other_path = || is_creation.then(|| "choose another path with `--out`".to_owned());
                failure(exit).hint_if(why.hint().or_else(other_path))
            }
            FleetError::NoMemoryLimit(why) => failure(Exit::Usage).hint(memory_limit_hint(why)),
            FleetError::FilesInMemory { .. } => failure(Exit::Testbed).hint(
                "mount a disk there, or load files on a disk with `--target`: those of a server that you start yourself, or of a directory",
            ),
            FleetError::NoRoom { others: 1.., .. } => failure(Exit::Testbed)
                .hint("free some disk space, or run servers and settings one at a time, or with fewer clients (`--load`)"),
            FleetError::NoRoom { .. } => failure(Exit::Testbed)
                .hint("free some disk space, or use smaller files (`--set range=…` or `--set workspace=…`) or fewer clients with `--load`"),
            FleetError::NoRoomForData { .. } => failure(Exit::Testbed)
                .hint("free some disk space, or use less data: `--set warehouses=10`, `--set divisor=100`"),
            FleetError::Files(why) => failure(Exit::Testbed).hint(directory_hint(why)),
            // The message has its hint where there is a remedy.
            FleetError::EmbeddedData(_) => failure(Exit::Testbed),
            FleetError::Load(LoadError::Agent(why)) => failure(agent_exit(why)).hint_if(agent_hint(why)),
            // A mistake of this program.
            FleetError::Load(LoadError::Panicked | LoadError::Collect(_)) => failure(Exit::Internal),
            FleetError::Search(_)
            | FleetError::Processes(_)
            | FleetError::Verify(VerifyError::Setup(_))
            | FleetError::Load(LoadError::Setup(_)) => {
                failure(Exit::Usage)
            }
        }
    }
}

/// Returns the exit code for a failure of load agents: of several, the first.
fn agent_exit(why: &AgentError) -> Exit {
    match why {
        AgentError::Lost { .. } | AgentError::Silent { .. } | AgentError::Idle { .. } => Exit::Testbed,
        AgentError::Failed { kind, .. } => match kind {
            AgentFailureKind::Refused => Exit::Refused,
            AgentFailureKind::Testbed | AgentFailureKind::Unacknowledged => Exit::Testbed,
            AgentFailureKind::Usage => Exit::Usage,
            AgentFailureKind::Internal => Exit::Internal,
        },
        AgentError::OnlyHere { .. } => Exit::Usage,
        AgentError::Several(all) => all.first().map_or(Exit::Internal, agent_exit),
        AgentError::Record { why, .. } if is_too_late(why) => Exit::Testbed,
        AgentError::Record { .. } | AgentError::Codec { .. } | AgentError::Unexpected { .. } => {
            Exit::Internal
        }
    }
}

/// The remedy where an agent is lost.
const MACHINE_OR_NETWORK: &str =
    "check that machine and the network on the way to it; the file has what was recorded until then";

/// Returns whether records are refused for the way by which they come, and not for what they say.
fn is_too_late(why: &AgentRecordError) -> bool {
    matches!(why, AgentRecordError::TooLate { .. })
}

fn agent_hint(why: &AgentError) -> Option<String> {
    let hint = match why {
        AgentError::Lost { .. }
        | AgentError::Silent { .. }
        | AgentError::Idle { .. }
        | AgentError::Failed { kind: AgentFailureKind::Unacknowledged, .. } => MACHINE_OR_NETWORK,
        AgentError::Record { why, .. } if is_too_late(why) => MACHINE_OR_NETWORK,
        AgentError::Failed { kind: AgentFailureKind::Refused, .. } => {
            "each load machine applies the target policy to what the name of the server means there"
        }
        AgentError::Failed { kind: AgentFailureKind::Testbed, .. } => {
            "check that the server can be reached from that machine, by the same name"
        }
        AgentError::OnlyHere { .. } => "run without `--agents`",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// Returns the remedy where a user's own server is not reached, which no other server can stand for.
fn own_unreachable_hint(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Refused => "nothing listens there: check that the server runs, and on which port",
        _ => "check the server's address, and the network on the way to it",
    }
}

fn tls_hint(problem: HandshakeProblem) -> &'static str {
    match problem {
        HandshakeProblem::NoIdentity => "provide one, from PEM files: `--cert FILE --key FILE`",
        HandshakeProblem::IdentityRefused => {
            "check that an authority which the server trusts has issued it, and that it has not expired"
        }
        HandshakeProblem::OldVersion => {
            "enable TLS 1.2 or 1.3 in the server: older versions are not measured"
        }
        HandshakeProblem::NotTls => "write `http://` if the server does not use TLS on this port",
    }
}

fn certificate_hint(problem: &CertificateProblem) -> &'static str {
    match problem {
        CertificateProblem::Expired(_) | CertificateProblem::NotYetValid(_) => {
            "renew it, or set this machine's clock; `--insecure` accepts any certificate, and the result notes it"
        }
        CertificateProblem::WrongName { .. } => {
            "use the host name in the certificate; `--insecure` accepts any certificate, and the result notes it"
        }
        CertificateProblem::OldVersion => {
            "make a certificate of version 3 with the name: `openssl req -x509 … -addext subjectAltName=DNS:HOST`"
        }
        CertificateProblem::NoName { .. } => {
            "make a certificate with the name: `openssl req -x509 … -addext subjectAltName=DNS:HOST`; `--insecure` accepts \
            any, and the result notes it"
        }
        CertificateProblem::SelfSigned => {
            "`--ca FILE` accepts the certificate in FILE (PEM); `--insecure` accepts any, and the result notes it"
        }
        CertificateProblem::UnknownIssuer(_)
        | CertificateProblem::NotFromThisRun
        | CertificateProblem::Other(_) => {
            "`--ca FILE` accepts certificates of the authority in FILE (PEM); `--insecure` accepts any, and the result \
            notes it"
        }
    }
}
