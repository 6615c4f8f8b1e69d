//! The `plimsoll` command: arguments, commands, terminal, hints, exit codes.
//!
//! It and `plimsoll-accelerator` alone print, read the environment and exit.

mod access;
mod announcement;
mod argument_error;
mod arguments;
mod benchmark;
mod candidate;
mod candidates;
mod choice;
mod commands;
mod compared_servers;
mod connect_to;
mod database_password;
mod embedded_server;
mod exit;
mod fail_if;
mod family;
mod files;
mod interrupt;
mod judged_bounds;
mod load_agents;
mod local_server;
mod observers;
mod other_tools;
mod outcome;
mod paths;
mod pdf;
mod placement;
mod plan_lines;
mod planned_run;
mod preflight;
mod prices;
mod program_name;
mod progress;
mod reasons;
mod requirements;
mod results;
mod run_failure;
mod running_servers;
mod seal_key;
mod secrets;
mod server_choice;
mod settings;
mod shape_arguments;
mod share_password;
mod shell;
mod side_by_side;
mod stderr;
mod stdout;
mod subject;
mod table;
mod terminal;
mod trust;
mod url;
mod url_arguments;
mod url_words;
mod wrap;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    if let Some(code) = program_name::perform() {
        return code;
    }
    let words = || std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let arguments = match arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => other_tools::advised(error, words()).exit(),
    };
    // A panic is a bug in Plimsoll. Its message has been printed, and the server that was started has been stopped.
    let code = match catch_unwind(AssertUnwindSafe(|| commands::perform(arguments))) {
        Ok(Ok(code)) => code.into(),
        Ok(Err(failure)) => failure.report().into(),
        Err(_) => exit::Exit::Internal.into(),
    };
    // Also stops what a thread that is still busy has started; usually there is nothing.
    drop(testbed::end_all());
    code
}
