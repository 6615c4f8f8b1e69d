//! Exit codes, and how a failure is told.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use analysis::VerdictState;
use drivers::web::CertificateProblem;
use fleet::{FleetError, LoadError, VerifyError};
use model::{Diagnostics, Ending, Problem, escaped};
use runfile::RunFileError;
use testbed::{RecipeError, SutError};

use crate::tell::{tell, tell_styled};

/// What the exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, and where a run is concerned, valid.
    Valid = 0,
    /// Our own fault.
    Internal = 1,
    /// The command line or a file of the user's.
    Usage = 2,
    /// The run is not valid.
    Invalid = 3,
    /// The server or the machine cannot be used.
    Testbed = 4,
    /// A limit that the user set was missed.
    Limit = 5,
    /// An audit found differences.
    Differences = 6,
    /// The target policy refused.
    Refused = 7,
    /// Interrupted; what was recorded is kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// Returns what a run's verdict and ending come to.
    pub fn of_run(state: VerdictState, ending: &Ending) -> Exit {
        match (state, ending) {
            (VerdictState::Valid, _) => Exit::Valid,
            (_, Ending::Stopped(reason)) if reason == fleet::INTERRUPTED => Exit::Interrupted,
            _ => Exit::Invalid,
        }
    }
}

/// Why a command could not do its work: a message for people and what the exit code says.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
    /// Whether the message begins with `error:` already, as diagnostics do.
    has_head: bool,
}

impl Failure {
    /// Makes a failure without a hint; `message` may bring its own.
    pub fn new(exit: Exit, message: impl Display) -> Failure {
        Failure { exit, message: message.to_string(), hint: None, has_head: false }
    }

    /// Makes a failure of the user's.
    pub fn usage(message: impl Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Makes a failure of the user's from diagnostics, which have their own heads and hints.
    fn rendered(text: String) -> Failure {
        Failure { has_head: true, ..Failure::usage(text) }
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Returns what is wrong, without the hint.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Tells the failure on standard error; returns what the exit code is to say.
    pub fn tell(self) -> Exit {
        match self.has_head {
            true => tell_styled(self.message.trim_end()),
            false => tell(format!("error: {}", self.message.trim_end())),
        }
        if let Some(hint) = self.hint {
            tell(format!("hint: {hint}"));
        }
        self.exit
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::new(Exit::Internal, error)
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Failure {
        Failure::rendered(diagnostics.render(true))
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        let text = |problem: &Problem| format!("error: {problem}\nhint: {}", problem.hint());
        Failure::rendered(escaped(&problems.iter().map(text).collect::<Vec<_>>().join("\n")).into_owned())
    }
}

impl From<RunFileError> for Failure {
    fn from(error: RunFileError) -> Failure {
        Failure { hint: error.hint(), ..Failure::usage(&error) }
    }
}

impl Failure {
    /// Makes a failure of a run. What a definition of the user's own expects is for its user to know.
    pub fn of_run(error: FleetError, is_own_definition: bool) -> Failure {
        match &error {
            FleetError::Verify(VerifyError::Wrong { .. }) if is_own_definition => {
                Failure::new(Exit::Testbed, &error).hint(
                    "the definition says which `path`, `status` and `reply` are right; files of a size that it names are \
                     Plimsoll's, which `--sut nginx` lays out and serves",
                )
            }
            _ => error.into(),
        }
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Failure {
        let failure = |exit| Failure::new(exit, &error);
        match &error {
            FleetError::Policy(drivers::PolicyError::Forbidden { .. }) => failure(Exit::Refused).hint(
                "load goes to loopback and private addresses only; run Plimsoll inside the server's own network",
            ),
            FleetError::Policy(_) => {
                failure(Exit::Testbed).hint("look for a slip in the name, or give the server's address")
            }
            FleetError::Verify(VerifyError::Wrong { .. }) => failure(Exit::Testbed).hint(
                "lay the files out with `plimsoll populate BENCHMARK --dir DIR` and let the server serve DIR; in a recipe \
                 of yours that folder is `{root}`",
            ),
            FleetError::Verify(VerifyError::Unreachable { .. }) => failure(Exit::Testbed)
                .hint("start the server first, or leave `--target` away: then Plimsoll starts its own"),
            FleetError::Verify(VerifyError::Certificate { problem, .. }) => {
                failure(Exit::Testbed).hint(certificate_hint(problem))
            }
            // A profile, a gateway: the recipe has others, which the message names.
            FleetError::Sut(SutError::Lacks { .. }) => failure(Exit::Usage),
            FleetError::Verify(VerifyError::Interrupted) => failure(Exit::Interrupted),
            FleetError::Verify(VerifyError::System(_))
            | FleetError::Sut(_) | FleetError::Watch(_)
            | FleetError::Load(LoadError::Thread { .. }) => failure(Exit::Testbed),
            FleetError::RunFile(why) => {
                let exit = if matches!(why, RunFileError::Exists { .. }) { Exit::Usage } else { Exit::Testbed };
                let is_place = matches!(
                    why,
                    RunFileError::Io { doing: "creating", .. } | RunFileError::Database { doing: "creating", .. }
                );
                let elsewhere = || is_place.then(|| "`--out` names another place".to_owned());
                Failure { hint: why.hint().or_else(elsewhere), ..failure(exit) }
            }
            FleetError::Search(_)
            | FleetError::Verify(VerifyError::Origin(_))
            | FleetError::Load(LoadError::Origin(_)) => {
                failure(Exit::Usage)
            }
        }
    }
}

fn certificate_hint(problem: &CertificateProblem) -> &'static str {
    match problem {
        CertificateProblem::Expired(_) | CertificateProblem::NotYetValid(_) => {
            "renew it, or set this machine's clock; `--insecure` accepts any certificate, and the result says so"
        }
        CertificateProblem::WrongName { .. } => {
            "name the target as its certificate does; `--insecure` accepts any certificate, and the result says so"
        }
        CertificateProblem::SelfSigned => {
            "`--ca FILE` accepts the certificate in FILE (PEM); `--insecure` accepts any, and the result says so"
        }
        CertificateProblem::UnknownIssuer(_) | CertificateProblem::NotOurs | CertificateProblem::Other(_) => {
            "`--ca FILE` accepts certificates of the authority in FILE (PEM); `--insecure` accepts any, and the result \
             says so"
        }
    }
}

impl From<RecipeError> for Failure {
    fn from(error: RecipeError) -> Failure {
        match error {
            RecipeError::Mistaken(diagnostics) => diagnostics.into(),
            other => Failure::usage(other),
        }
    }
}
