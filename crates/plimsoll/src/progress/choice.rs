//! Which display fits the terminal.

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Charts and numbers that fill the terminal.
    View,
    /// One line that moves.
    Line,
    /// Lines one after another.
    Plain,
}

/// The least terminal that is filled without being asked: columns, rows.
const VIEW_MIN: (u16, u16) = (80, 20);

/// What is known of standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Whether it is a terminal.
    pub is_terminal: bool,
    /// Whether the terminal can do no more than print: `TERM=dumb`.
    pub is_dumb: bool,
    /// Whether its user wants no color: `NO_COLOR`.
    pub is_colorless: bool,
    /// Whether the terminal listens to us; one that a shell has put into the background is stopped if it takes it over.
    pub is_ours: bool,
    /// Columns and rows, if they are known.
    pub size: Option<(u16, u16)>,
}

impl Screen {
    /// Returns what is shown there if so much was `asked` for.
    pub fn choose(self, asked: Option<Kind>) -> Kind {
        let can_fill = self.is_ours && self.size.is_some();
        let is_large = self.size.is_some_and(|(columns, rows)| VIEW_MIN.0 <= columns && VIEW_MIN.1 <= rows);
        match asked {
            _ if !self.is_terminal || self.is_dumb => Kind::Plain,
            Some(Kind::View) if !can_fill => Kind::Line,
            Some(asked) => asked,
            None if self.is_colorless => Kind::Plain,
            None if can_fill && is_large => Kind::View,
            None => Kind::Line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Line, Plain, View};

    const LARGE: Screen = Screen {
        is_terminal: true,
        is_dumb: false,
        is_colorless: false,
        is_ours: true,
        size: Some((80, 20)),
    };

    #[track_caller]
    fn check(screen: Screen, expected: [Kind; 4]) {
        let asked = [None, Some(View), Some(Line), Some(Plain)];
        assert_eq!(asked.map(|asked| screen.choose(asked)), expected);
    }

    #[test]
    fn a_large_terminal_is_filled() {
        check(LARGE, [View, View, Line, Plain]);
    }

    #[test]
    fn a_small_one_is_filled_on_demand() {
        check(Screen { size: Some((79, 50)), ..LARGE }, [Line, View, Line, Plain]);
        check(Screen { size: Some((200, 19)), ..LARGE }, [Line, View, Line, Plain]);
    }

    #[test]
    fn a_terminal_that_is_not_ours_is_left_alone() {
        check(Screen { is_ours: false, ..LARGE }, [Line, Line, Line, Plain]);
        check(Screen { size: None, ..LARGE }, [Line, Line, Line, Plain]);
    }

    #[test]
    fn without_color_lines_are_plain_unless_more_is_asked_for() {
        check(Screen { is_colorless: true, ..LARGE }, [Plain, View, Line, Plain]);
    }

    #[test]
    fn what_is_no_real_terminal_gets_plain_lines() {
        check(Screen { is_terminal: false, ..LARGE }, [Plain; 4]);
        check(Screen { is_dumb: true, ..LARGE }, [Plain; 4]);
    }
}
