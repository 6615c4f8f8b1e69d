//! The `plimsoll` command: arguments, commands, terminal, hints, exit codes.
//!
//! The only crate that prints, reads the environment or exits.

mod arguments;
mod audience;
mod benchmark;
mod candidates;
mod commands;
mod exit;
mod files;
mod interrupt;
mod outcome;
mod paper;
mod placement;
mod places;
mod preflight;
mod prices;
mod program_name;
mod progress;
mod results;
mod seal_key;
mod secrets;
mod service_manager;
mod shell;
mod side_by_side;
mod table;
mod tell;
mod trust;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    if let Some(code) = program_name::perform() {
        return code;
    }
    let arguments = arguments::Arguments::parse();
    // A panic is our own fault. Its message is out by now, and the server that was started has been ended.
    let code = match catch_unwind(AssertUnwindSafe(|| commands::perform(arguments))) {
        Ok(Ok(code)) => code.into(),
        Ok(Err(failure)) => failure.tell().into(),
        Err(_) => exit::Exit::Internal.into(),
    };
    // What a thread that is still busy has started goes as well; mostly there is nothing.
    drop(testbed::end_all());
    code
}
