//! `completions`: prints the completion script of a shell.

use clap::CommandFactory;
use plimsoll_accelerator::ProgramArguments;

use super::print;
use crate::arguments::{Arguments, CompletionsArguments, DocumentedProgram};
use crate::exit::{Exit, Failure};

/// Prints the script that completes the command lines of a program.
pub(super) fn perform(arguments: &CompletionsArguments) -> Result<Exit, Failure> {
    let mut command = match arguments.program {
        DocumentedProgram::Plimsoll => Arguments::command(),
        DocumentedProgram::PlimsollAccelerator => ProgramArguments::command(),
    };
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Valid)
}
