//! One file per command.

mod audit;
mod calibrate;
mod doctor;
mod list;
mod populate;
mod report;
mod run;
mod runs;
mod serve;
mod show;

use std::io::Write;

use clap::CommandFactory;

use crate::arguments::{Arguments, Command};
use crate::exit::{Exit, Failure};

/// Performs the command that was given.
pub fn perform(arguments: Arguments) -> Result<Exit, Failure> {
    let json = arguments.json;
    match arguments.command {
        Command::List => list::perform(json),
        Command::Show(arguments) => show::perform(&arguments, json),
        Command::Doctor(arguments) => doctor::perform(&arguments, json),
        Command::Run(arguments) => run::perform(&arguments, json),
        Command::Runs(arguments) => runs::perform(&arguments, json),
        Command::Report(arguments) => report::perform(&arguments, json),
        Command::Audit(arguments) => audit::perform(&arguments, json),
        Command::Populate(arguments) => populate::perform(&arguments, json),
        Command::Calibrate(arguments) => calibrate::perform(&arguments, json),
        Command::Serve(arguments) => serve::perform(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "plimsoll", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(Exit::Valid)
        }
        Command::Man => {
            clap_mangen::Man::new(Arguments::command()).render(&mut std::io::stdout())?;
            Ok(Exit::Valid)
        }
    }
}

/// Prints a line on standard output; a reader that hung up ends the program quietly.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    writeln!(out, "{}", text.trim_end())?;
    Ok(out.flush()?)
}

/// Prints a value as JSON.
fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&serde_json::to_string_pretty(value).expect("a JSON value can be written"))
}
