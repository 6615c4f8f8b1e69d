//! Styles, and helpers for drawing rows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use units::Nanos;

use crate::progress::state::IndicatorStatus;

/// The parameters of a frame besides the state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameContext {
    /// Time since the view was opened.
    pub elapsed: Nanos,
    /// Whether colors are used; they carry no information of their own.
    pub has_color: bool,
    /// Whether the user has requested a stop.
    pub is_stopping: bool,
}

impl FrameContext {
    /// Returns the style of a color; the default style without colors.
    pub(crate) fn color(self, color: Color) -> Style {
        if self.has_color { Style::new().fg(color) } else { Style::new() }
    }

    /// Returns the style of progress bars.
    pub(crate) fn accent(self) -> Style {
        self.color(Color::Cyan)
    }

    /// Returns the symbol and style of an indicator's status.
    pub(crate) fn symbol(self, status: IndicatorStatus) -> (&'static str, Style) {
        match status {
            IndicatorStatus::Good => ("✓", self.color(Color::Green)),
            IndicatorStatus::Unknown => ("·", dim()),
            IndicatorStatus::Warning => ("!", self.color(Color::Yellow).add_modifier(Modifier::BOLD)),
            IndicatorStatus::Bad => ("✗", self.color(Color::Red).add_modifier(Modifier::BOLD)),
        }
    }
}

/// Returns the style of headings.
pub(super) fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Returns the style of secondary text.
pub(super) fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// Draws `left` in the first row of an area, and `right` at its end if both fit.
pub(super) fn put(buffer: &mut Buffer, area: Rect, left: &Line<'_>, right: &Line<'_>) {
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

/// Draws a progress bar in the first row of an area.
pub(super) fn put_bar(buffer: &mut Buffer, area: Rect, fraction: f64, context: FrameContext) {
    let done = (fraction.clamp(0.0, 1.0) * f64::from(area.width)).round() as usize;
    let left = usize::from(area.width) - done;
    let line = Line::from(vec![
        Span::styled("━".repeat(done), context.accent()),
        Span::styled("─".repeat(left), dim()),
    ]);
    put(buffer, area, &line, &Line::default());
}

/// Removes up to `rows` rows from the top of an area and returns them.
pub(super) fn take_rows(area: &mut Rect, rows: u16) -> Rect {
    let height = rows.min(area.height);
    let taken = Rect { height, ..*area };
    *area = Rect { y: area.y + height, height: area.height - height, ..*area };
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_color_the_symbols_differ() {
        let context = FrameContext { elapsed: Nanos::ZERO, has_color: false, is_stopping: false };
        let all =
            [IndicatorStatus::Good, IndicatorStatus::Unknown, IndicatorStatus::Warning, IndicatorStatus::Bad];
        let symbols = all.map(|status| context.symbol(status));
        assert!(symbols.iter().all(|(_, style)| style.fg.is_none()));
        assert_eq!(symbols.map(|(symbol, _)| symbol), ["✓", "·", "!", "✗"]);
    }
}
