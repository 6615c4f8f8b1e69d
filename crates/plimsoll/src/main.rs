//! The `plimsoll` command: arguments, commands, terminal, hints, exit codes.
//!
//! The only crate that prints, reads the environment or exits.

mod arguments;
mod bench;
mod commands;
mod exit;
mod interrupt;
mod placement;
mod places;
mod progress;
mod results;
mod shell;
mod tell;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = arguments::Arguments::parse();
    match commands::perform(arguments) {
        Ok(code) => code.into(),
        Err(failure) => failure.report(),
    }
}
