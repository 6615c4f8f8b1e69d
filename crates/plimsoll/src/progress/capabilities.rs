//! The capabilities of the terminal on standard error.

use std::io::{IsTerminal, stderr};

use ratatui::crossterm::terminal::size;
use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;

use super::display_kind::TerminalCapabilities;

/// Returns the capabilities of the terminal on standard error.
pub(super) fn terminal_capabilities() -> TerminalCapabilities {
    let is_terminal = stderr().is_terminal();
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    TerminalCapabilities {
        is_terminal,
        is_dumb: matches!(variable("TERM").as_str(), "" | "dumb"),
        is_colorless: !variable("NO_COLOR").is_empty(),
        is_foreground: is_terminal && tcgetpgrp(stderr()).is_ok_and(|group| group == getpgrp()),
        size: size().ok().filter(|(columns, rows)| 0 < *columns && 0 < *rows),
    }
}
