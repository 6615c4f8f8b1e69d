//! Command lines of processes, whose arguments end with zero bytes.

use crate::kernel_file;

/// Returns the command line of a process; `None` if it has ended, or has none.
pub(super) fn command_line(pid: u32) -> Option<String> {
    kernel_file::read(format!("/proc/{pid}/cmdline"))
}

/// Returns the name of the program in a command line, without its folder.
pub(super) fn program(command: &str) -> Option<&str> {
    command.split('\0').next()?.rsplit('/').next()
}

/// Returns the argument after the one with this name.
pub(super) fn argument<'a>(command: &'a str, name: &str) -> Option<&'a str> {
    let mut arguments = command.split('\0');
    arguments.find(|argument| *argument == name)?;
    arguments.next()
}
