//! Styles, and the few ways in which rows are filled.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color as Ink, Modifier, Style};
use ratatui::text::{Line, Span};
use units::Nanos;

use crate::progress::state::Color;

/// How a frame looks, besides what the state says.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Time since the view was opened.
    pub elapsed: Nanos,
    /// Whether colors are wanted; without them nothing is lost.
    pub has_color: bool,
    /// Whether its user has asked the run to end.
    pub is_stopping: bool,
}

impl Look {
    /// Returns the style of an ink, if there is any.
    pub fn ink(self, ink: Ink) -> Style {
        if self.has_color { Style::new().fg(ink) } else { Style::new() }
    }

    /// Returns the style of what moves.
    pub fn accent(self) -> Style {
        self.ink(Ink::Cyan)
    }

    /// Returns the sign and the style of a light.
    pub fn light(self, color: Color) -> (&'static str, Style) {
        match color {
            Color::Green => ("✓", self.ink(Ink::Green)),
            Color::Dark => ("·", dim()),
            Color::Amber => ("!", self.ink(Ink::Yellow).add_modifier(Modifier::BOLD)),
            Color::Red => ("✗", self.ink(Ink::Red).add_modifier(Modifier::BOLD)),
        }
    }
}

/// Returns the style of headings.
pub fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Returns the style of what is there for the sake of the rest.
pub fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// Writes a line into the first row of an area, `right` at its end if there is room for both.
pub fn put(buffer: &mut Buffer, area: Rect, left: &Line<'_>, right: &Line<'_>) {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    buffer.set_line(area.x, area.y, left, area.width);
    let width = right.width() as u16;
    if left.width() as u16 + width < area.width {
        buffer.set_line(area.right() - width, area.y, right, width);
    }
}

/// Writes a bar into the first row of an area: heavy for what is done, light for what is not.
pub fn put_bar(buffer: &mut Buffer, area: Rect, part: f64, look: Look) {
    let done = (part.clamp(0.0, 1.0) * f64::from(area.width)).round() as usize;
    let left = usize::from(area.width) - done;
    let line = Line::from(vec![
        Span::styled("━".repeat(done), look.accent()),
        Span::styled("─".repeat(left), dim()),
    ]);
    put(buffer, area, &line, &Line::default());
}

/// Takes rows off the top of an area, as many as there are of those wanted.
pub fn take_rows(area: &mut Rect, rows: u16) -> Rect {
    let height = rows.min(area.height);
    let taken = Rect { height, ..*area };
    *area = Rect { y: area.y + height, height: area.height - height, ..*area };
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_color_signs_and_words_are_left() {
        let look = Look { elapsed: Nanos::ZERO, has_color: false, is_stopping: false };
        let colors = [Color::Green, Color::Dark, Color::Amber, Color::Red];
        let lights = colors.map(|color| look.light(color));
        assert!(lights.iter().all(|(_, style)| style.fg.is_none()));
        assert_eq!(lights.map(|(sign, _)| sign), ["✓", "·", "!", "✗"]);
    }
}
