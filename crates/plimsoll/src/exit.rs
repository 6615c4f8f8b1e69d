//! Exit codes, and failures with their messages and hints.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use analysis::VerdictState;
use languages::{Diagnostics, escaped};
use model::{Problem, RunEnding};
use runfile::RunFileError;
use testbed::RecipeError;

use crate::stderr::{eprint, eprint_styled};

/// The exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The command succeeded; if it was a run, the run is valid.
    Valid = 0,
    /// A bug in Plimsoll.
    Internal = 1,
    /// A mistake in the command line or in a file of the user's.
    Usage = 2,
    /// The run is not valid.
    Invalid = 3,
    /// The server or the machine is not usable.
    Testbed = 4,
    /// A limit that the user set was missed, or there were too few operations to decide it.
    Limit = 5,
    /// An audit found differences.
    Differences = 6,
    /// The target policy refused.
    Refused = 7,
    /// The command was interrupted; the records so far are kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// Returns the exit code for a run's verdict and ending.
    pub fn of_run(state: VerdictState, ending: &RunEnding) -> Exit {
        match (state, ending) {
            (VerdictState::Valid, _) => Exit::Valid,
            (_, RunEnding::Stopped(reason)) if reason == fleet::INTERRUPTED => Exit::Interrupted,
            _ => Exit::Invalid,
        }
    }
}

/// A failed command: the message for the user and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
    /// Whether the message already begins with `error:`, as diagnostics do.
    has_prefix: bool,
}

impl Failure {
    /// Makes a failure without a hint; `message` may contain its own.
    pub(crate) fn new(exit: Exit, message: impl Display) -> Failure {
        Failure { exit, message: message.to_string(), hint: None, has_prefix: false }
    }

    /// Makes a failure that is the user's mistake.
    pub(crate) fn usage(message: impl Display) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// Makes a user's mistake from diagnostics, which contain their own prefixes and hints.
    fn rendered(text: String) -> Failure {
        Failure { has_prefix: true, ..Failure::usage(text) }
    }

    /// Adds a hint: what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is one.
    pub(crate) fn hint_if(self, hint: Option<String>) -> Failure {
        Failure { hint: hint.or(self.hint), ..self }
    }

    /// Puts the place of a mistake before the message.
    pub(crate) fn at(self, place: &str) -> Failure {
        Failure { message: format!("{place}{}", self.message), ..self }
    }

    /// Returns the message without the hint.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Prints the failure on standard error and returns the exit code.
    pub(crate) fn report(self) -> Exit {
        if self.has_prefix {
            eprint_styled(self.message.trim_end());
        } else {
            eprint(format!("error: {}", self.message.trim_end()));
        }
        if let Some(hint) = self.hint {
            eprint(format!("hint: {hint}"));
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
        Failure::usage(&error).hint_if(error.hint())
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
