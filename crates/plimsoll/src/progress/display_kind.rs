//! Choice of the progress display.

/// The kinds of progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DisplayKind {
    /// Full-screen charts, numbers and validity indicators.
    View,
    /// One updating line.
    Line,
    /// One line of text per event.
    Plain,
}

/// Minimum size of a terminal on which the full-screen view is the default: columns, rows.
const VIEW_MIN: (u16, u16) = (80, 20);

/// The capabilities of the terminal on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TerminalCapabilities {
    /// Whether standard error is a terminal.
    pub is_terminal: bool,
    /// Whether the terminal has no cursor control: `TERM=dumb`.
    pub is_dumb: bool,
    /// Whether the user disabled colors: `NO_COLOR`.
    pub is_colorless: bool,
    /// Whether this process is in the foreground; a background process that takes the terminal over is stopped.
    pub is_foreground: bool,
    /// Columns and rows, if known.
    pub size: Option<(u16, u16)>,
}

impl TerminalCapabilities {
    /// Returns the display to use if the user requested `asked`.
    pub(super) fn choose(self, asked: Option<DisplayKind>) -> DisplayKind {
        let can_fill = self.is_foreground && self.size.is_some();
        let is_large = self.size.is_some_and(|(columns, rows)| VIEW_MIN.0 <= columns && VIEW_MIN.1 <= rows);
        match asked {
            _ if !self.is_terminal || self.is_dumb => DisplayKind::Plain,
            Some(DisplayKind::View) if !can_fill => DisplayKind::Line,
            Some(asked) => asked,
            None if self.is_colorless => DisplayKind::Plain,
            None if can_fill && is_large => DisplayKind::View,
            None => DisplayKind::Line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DisplayKind::{Line, Plain, View};

    const LARGE: TerminalCapabilities = TerminalCapabilities {
        is_terminal: true,
        is_dumb: false,
        is_colorless: false,
        is_foreground: true,
        size: Some((80, 20)),
    };

    #[track_caller]
    fn check(terminal: TerminalCapabilities, expected: [DisplayKind; 4]) {
        let asked = [None, Some(View), Some(Line), Some(Plain)];
        assert_eq!(asked.map(|asked| terminal.choose(asked)), expected);
    }

    #[test]
    fn a_large_terminal_gets_the_view() {
        check(LARGE, [View, View, Line, Plain]);
    }

    #[test]
    fn a_small_terminal_gets_the_view_on_request() {
        check(TerminalCapabilities { size: Some((79, 50)), ..LARGE }, [Line, View, Line, Plain]);
        check(TerminalCapabilities { size: Some((200, 19)), ..LARGE }, [Line, View, Line, Plain]);
    }

    #[test]
    fn a_background_process_does_not_take_the_terminal_over() {
        check(TerminalCapabilities { is_foreground: false, ..LARGE }, [Line, Line, Line, Plain]);
        check(TerminalCapabilities { size: None, ..LARGE }, [Line, Line, Line, Plain]);
    }

    #[test]
    fn without_color_the_default_is_plain_lines() {
        check(TerminalCapabilities { is_colorless: true, ..LARGE }, [Plain, View, Line, Plain]);
    }

    #[test]
    fn a_pipe_or_dumb_terminal_gets_plain_lines() {
        check(TerminalCapabilities { is_terminal: false, ..LARGE }, [Plain; 4]);
        check(TerminalCapabilities { is_dumb: true, ..LARGE }, [Plain; 4]);
    }
}
