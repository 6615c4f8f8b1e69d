//! A line on the terminal that is redrawn in place: a bar and a message.

use std::io::{Write, stderr};

use languages::escaped;
use ratatui::crossterm::cursor::MoveToColumn;
use ratatui::crossterm::queue;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{Clear, ClearType, size};
use ratatui::text::Span;

use super::capabilities::terminal_capabilities;

/// Width of the bar, in columns.
const BAR_COLUMNS: usize = 20;

/// A bar with a message after it, on standard error. Nothing is drawn if that is not a terminal.
#[derive(Debug)]
pub(crate) struct ProgressBar {
    is_visible: bool,
    /// The line on the terminal; empty if there is none.
    line: String,
}

impl ProgressBar {
    /// Makes a bar, which appears when it is drawn.
    pub(crate) fn new() -> ProgressBar {
        let terminal = terminal_capabilities();
        ProgressBar { is_visible: terminal.is_terminal && !terminal.is_dumb, line: String::new() }
    }

    /// Draws the bar at a fraction from 0 to 1, and a message.
    pub(crate) fn draw(&mut self, fraction: f64, message: &str) {
        let line = line(fraction, message);
        if line != self.line {
            self.line = line;
            self.write("");
        }
    }

    /// Prints a line above the bar.
    pub(crate) fn print_above(&mut self, text: &str) {
        self.write(&format!("{}\n", escaped(text)));
    }

    /// Removes the bar from the terminal.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
        self.write("");
    }

    /// Writes text in place of the line, and the line after it, all at once.
    fn write(&self, above: &str) {
        if !self.is_visible {
            return;
        }
        let columns = size().map_or(usize::MAX, |(columns, _)| usize::from(columns));
        let line = first_columns(&self.line, columns);
        let mut frame = Vec::new();
        // A terminal that is gone needs no bar.
        let _ = queue!(frame, MoveToColumn(0), Clear(ClearType::UntilNewLine), Print(above), Print(line));
        let _ = stderr().write_all(&frame);
    }
}

fn line(fraction: f64, message: &str) -> String {
    let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
    let n = (fraction * BAR_COLUMNS as f64) as usize;
    let full = "█".repeat(n);
    let empty = "░".repeat(BAR_COLUMNS - n);
    format!("{full}{empty} {:>3.0} % {}", fraction * 100.0, escaped(message))
}

/// Returns the beginning of a text that fits into this many columns.
fn first_columns(text: &str, columns: usize) -> &str {
    let ends = text.char_indices().map(|(at, character)| at + character.len_utf8());
    let end = ends.take_while(|end| Span::raw(&text[..*end]).width() <= columns).last();
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_bar_percentage_and_message() {
        assert_eq!(line(0.0, "a"), "░░░░░░░░░░░░░░░░░░░░   0 % a");
        assert_eq!(line(0.524, "a\x1b[2J"), "██████████░░░░░░░░░░  52 % a\\u{1b}[2J");
        assert_eq!(line(1.0, ""), "████████████████████ 100 % ");
        assert_eq!(line(f64::NAN, ""), "░░░░░░░░░░░░░░░░░░░░   0 % ", "nothing to do");
    }

    #[test]
    fn a_line_ends_at_the_edge_of_the_terminal() {
        assert_eq!(first_columns("██ 146 µs", 7), "██ 146 ");
        assert_eq!(first_columns("██ 146 µs", 100), "██ 146 µs");
        assert_eq!(first_columns("服务器", 5), "服务");
        assert_eq!(first_columns("a", 0), "");
    }
}
