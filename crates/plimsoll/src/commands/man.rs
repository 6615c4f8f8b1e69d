//! `man`: prints the manual page, or writes those of all commands.

use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;
use plimsoll_accelerator::ProgramArguments;

use super::print;
use crate::arguments::{Arguments, ManArguments};
use crate::exit::{Exit, Failure};
use crate::files;

/// Prints the manual page of this program; or writes it, those of its commands and that of `plimsoll-accelerator` to a folder.
pub(super) fn perform(arguments: &ManArguments) -> Result<Exit, Failure> {
    match &arguments.to {
        Some(folder) => write_all(folder)?,
        None => print(&String::from_utf8_lossy(&page(Arguments::command())?))?,
    }
    Ok(Exit::Valid)
}

/// Writes the pages and prints their paths.
fn write_all(folder: &Path) -> Result<(), Failure> {
    // Once it is built, a command has the name of its page: `plimsoll-run`.
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    for command in commands.collect::<Vec<_>>().into_iter().chain([program, ProgramArguments::command()]) {
        let path = folder.join(Man::new(command.clone()).get_filename());
        files::write(&path, page(command)?)?;
        print(&path.display().to_string())?;
    }
    Ok(())
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
