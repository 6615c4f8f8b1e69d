//! Exit codes, and failures with their messages.

use std::fmt::Display;
use std::process::ExitCode;

use accelerator::config::ConfigError;
use accelerator::operation::AcceleratorStartError;

use crate::stderr::eprint;

/// The exit code of an accelerator; the numbers are those of `plimsoll`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum AcceleratorExit {
    /// It has stopped as requested.
    Stopped = 0,
    /// A bug in Plimsoll.
    Internal = 1,
    /// A mistake in the command line or in the configuration.
    Usage = 2,
    /// The machine does not give what it needs.
    Machine = 4,
    /// It quit without finishing the requests in flight.
    Interrupted = 130,
}

impl From<AcceleratorExit> for ExitCode {
    fn from(exit: AcceleratorExit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// An accelerator that did not start: the exit code and the message for the user, which may end with a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceleratorFailure {
    /// The exit code.
    pub exit: AcceleratorExit,
    /// The message, without `error:`.
    pub message: String,
}

impl AcceleratorFailure {
    /// Makes a failure.
    pub(crate) fn new(exit: AcceleratorExit, message: impl Display) -> AcceleratorFailure {
        AcceleratorFailure { exit, message: message.to_string() }
    }

    /// Prints the failure on standard error and returns the exit code.
    pub fn report(self) -> AcceleratorExit {
        eprint(format!("error: {}", self.message.trim_end()));
        self.exit
    }
}

impl From<ConfigError> for AcceleratorFailure {
    fn from(error: ConfigError) -> AcceleratorFailure {
        AcceleratorFailure::new(AcceleratorExit::Usage, error.render())
    }
}

impl From<AcceleratorStartError> for AcceleratorFailure {
    fn from(error: AcceleratorStartError) -> AcceleratorFailure {
        let exit = match error {
            AcceleratorStartError::Origin(_)
            | AcceleratorStartError::Tls(_)
            | AcceleratorStartError::NoListener(_) => AcceleratorExit::Usage,
            AcceleratorStartError::Disk(_)
            | AcceleratorStartError::Log { .. }
            | AcceleratorStartError::Admin { .. } => AcceleratorExit::Machine,
            AcceleratorStartError::Listen(_) | AcceleratorStartError::System(_) => AcceleratorExit::Machine,
        };
        AcceleratorFailure::new(exit, error)
    }
}
