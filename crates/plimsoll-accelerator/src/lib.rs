//! The command that runs an accelerator: arguments, signals, messages and exit codes.
//!
//! Two programs have it: `plimsoll-accelerator`, which links nothing else of the laboratory, and `plimsoll accelerate`.

mod arguments;
mod command;
mod exit;
mod service_manager;
mod signals;
mod stderr;
mod upgrade;

pub use arguments::{AccelerateArguments, ProgramArguments};
pub use command::perform;
pub use exit::{AcceleratorExit, AcceleratorFailure};
pub use signals::ignored_signals;
