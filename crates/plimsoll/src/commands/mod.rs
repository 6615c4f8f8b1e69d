//! One file per command.

mod accelerate;
mod agent;
mod audit;
mod audit_report;
mod audit_seal;
mod brief_run;
mod calibrate;
mod campaign;
mod compare;
mod completions;
mod doctor;
mod export;
mod finish;
mod history;
mod in_flight;
mod inventory;
mod list;
mod load_threads;
mod man;
mod planner;
mod populate;
mod report;
mod run;
mod run_spec;
mod runs;
mod seal;
mod serve;
mod show;
mod suts;
mod think_time;
mod trend;

use languages::escaped_json;

use crate::arguments::{Arguments, Command};
use crate::exit::{Exit, Failure};
use crate::stdout::print;

/// Runs the command and returns the exit code.
pub(crate) fn perform(arguments: Arguments) -> Result<Exit, Failure> {
    let json = arguments.json;
    match arguments.command {
        Command::List => list::perform(json),
        Command::Show(arguments) => show::perform(&arguments, json),
        Command::Doctor(arguments) => doctor::perform(&arguments, json),
        Command::Inventory(arguments) => inventory::perform(&arguments, json),
        Command::Run(arguments) => run::perform(*arguments, json),
        Command::Runs(arguments) => runs::perform(&arguments, json),
        Command::Suts => suts::perform(json),
        Command::Report(arguments) => report::perform(&arguments, json),
        Command::Compare(arguments) => compare::perform(&arguments, json),
        Command::History(arguments) => history::perform(&arguments, json),
        Command::Export(arguments) => export::perform(&arguments),
        Command::Audit(arguments) => audit::perform(&arguments, json),
        Command::Seal(arguments) => seal::perform(&arguments, json),
        Command::Populate(arguments) => populate::perform(&arguments, json),
        Command::Calibrate(arguments) => calibrate::perform(&arguments, json),
        Command::Serve(arguments) => serve::perform(&arguments),
        Command::Accelerate(arguments) => accelerate::perform(&arguments, json),
        Command::Agent(arguments) => agent::perform(&arguments),
        Command::Completions(arguments) => completions::perform(&arguments),
        Command::Man(arguments) => man::perform(&arguments),
    }
}

/// Prints a value as JSON.
fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&json_text(value))
}

fn json_text(value: &serde_json::Value) -> String {
    let text = serde_json::to_string_pretty(value).expect("a JSON value can be written");
    escaped_json(&text).into_owned()
}
