//! The table of finished load points, the latest messages, and the footer.

use model::Words;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{FrameContext, bold, dim, put, take_rows};
use crate::progress::state::{FinishedPoint, IndicatorStatus, State};
use crate::progress::text::{load_text, rate, time};

/// Width of a server's label, in columns.
const LABEL: usize = 14;

/// Draws as many of the latest load points as fit, oldest first.
pub(super) fn draw(state: &State, context: FrameContext, mut area: Rect, buffer: &mut Buffer) {
    let labels = if state.runs.len() == 1 { 0 } else { LABEL };
    let heading = format!(
        "   # {:<14}{:<labels$}{:>12}{:>10}{:>10}{:>8}  status",
        "load",
        if labels == 0 { "" } else { "server" },
        "completed",
        "mean",
        "p99",
        "errors"
    );
    put(buffer, take_rows(&mut area, 1), &Line::styled(heading, bold()), &Line::default());
    let hidden = state.finished.len().saturating_sub(usize::from(area.height));
    for point in state.finished.iter().skip(hidden) {
        let label = truncated(&state.runs[point.run].label, labels.saturating_sub(1));
        let row = take_rows(&mut area, 1);
        put(
            buffer,
            row,
            &line(point, state.words(point.run), &format!("{label:<labels$}"), context),
            &Line::default(),
        );
    }
}

fn line(point: &FinishedPoint, words: &Words, label: &str, context: FrameContext) -> Line<'static> {
    let (status, text) = match point.problem {
        Some(problem) => (IndicatorStatus::Bad, problem),
        None => (IndicatorStatus::Good, "ok"),
    };
    let (symbol, style) = context.symbol(status);
    let numbers = format!(
        "{:>4} {:<14}{label}{:>12}{:>10}{:>10}{:>8}  ",
        point.index + 1,
        load_text(point.load, words),
        rate(point.rate),
        time(point.mean),
        time(point.p99),
        point.errors,
    );
    Line::from(vec![Span::raw(numbers), Span::styled(format!("{symbol} {text}"), style)])
}

/// Draws the latest messages.
pub(super) fn draw_messages(state: &State, mut area: Rect, buffer: &mut Buffer) {
    let hidden = state.messages.len().saturating_sub(usize::from(area.height));
    for message in state.messages.iter().skip(hidden) {
        let first = message.lines().next().unwrap_or_default();
        put(buffer, take_rows(&mut area, 1), &Line::raw(first), &Line::default());
    }
}

/// Draws the footer with the keys.
pub(super) fn draw_footer(context: FrameContext, area: Rect, buffer: &mut Buffer) {
    let text = if context.is_stopping {
        "Stopping; the records so far are kept. Ctrl-C quits immediately."
    } else {
        "q: stop the run and keep its records"
    };
    put(buffer, area, &Line::styled(text, dim()), &Line::default());
}

/// Truncates a text that is too long, with an ellipsis.
fn truncated(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    if width == 0 { String::new() } else { format!("{kept}…") }
}
