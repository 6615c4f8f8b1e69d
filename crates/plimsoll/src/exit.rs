//! Exit codes, and how a failure is told.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use analysis::State;
use fleet::{FleetError, LoadError};
use model::{Diagnostics, Ending, Problem};

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
    pub fn of_run(state: State, ending: &Ending) -> Exit {
        match (state, ending) {
            (State::Valid, _) => Exit::Valid,
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
}

impl Failure {
    /// Makes a failure without a hint; `message` may bring its own.
    pub fn new(exit: Exit, message: impl Display) -> Failure {
        Failure { exit, message: message.to_string(), hint: None }
    }

    /// Makes a failure of the user's.
    pub fn usage(message: impl Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Tells the failure on standard error. A reader that hung up gets a quiet end.
    pub fn report(self) -> ExitCode {
        let mut text = self.message.trim_end().to_owned();
        // Diagnostics come with their own head and pointer.
        if !text.starts_with("error") {
            text.insert_str(0, "error: ");
        }
        if let Some(hint) = self.hint {
            text.push_str("\nhint: ");
            text.push_str(&hint);
        }
        anstream::eprintln!("{text}");
        self.exit.into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            // Nobody reads on: `plimsoll report RUN | head`.
            std::process::exit(0);
        }
        Failure::new(Exit::Internal, error)
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Failure {
        Failure::usage(diagnostics.render(true))
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Failure {
        let text = |problem: &Problem| format!("error: {problem}\nhint: {}", problem.hint());
        Failure::usage(problems.iter().map(text).collect::<Vec<_>>().join("\n"))
    }
}

impl From<runfile::RunFileError> for Failure {
    fn from(error: runfile::RunFileError) -> Failure {
        let failure = Failure::usage(&error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
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
            FleetError::Policy(_) => failure(Exit::Testbed),
            FleetError::Verify(_) => failure(Exit::Testbed).hint(
                "lay the files out with `plimsoll populate BENCHMARK --dir DIR` and let the server serve DIR",
            ),
            FleetError::Sut(_) => failure(Exit::Testbed),
            FleetError::RunFile(_) | FleetError::Load(LoadError::Thread { .. }) => failure(Exit::Testbed),
            FleetError::Load(LoadError::Origin(_)) => failure(Exit::Usage),
        }
    }
}
