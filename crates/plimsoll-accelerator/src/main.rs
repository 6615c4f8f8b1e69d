//! The `plimsoll-accelerator` program: the accelerator without the laboratory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;
use plimsoll_accelerator::{AcceleratorExit, ProgramArguments, perform};

fn main() -> ExitCode {
    let ProgramArguments { json, accelerate } = ProgramArguments::parse();
    // A panic is a bug in Plimsoll. Its message has been printed.
    let exit = match catch_unwind(AssertUnwindSafe(|| perform(&accelerate, json))) {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => failure.report(),
        Err(_) => AcceleratorExit::Internal,
    };
    exit.into()
}
