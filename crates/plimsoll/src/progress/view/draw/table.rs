//! The load points that are done, and the last messages.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{Look, bold, dim, put, take_rows};
use crate::progress::state::{Color, Done, State};
use crate::progress::text::{load_text, rate, time};

/// Columns of a server's name.
const LABEL: usize = 14;

/// Draws the newest of them that there is room for, oldest first.
pub fn draw(state: &State, look: Look, mut area: Rect, buffer: &mut Buffer) {
    let labels = if state.runs.len() == 1 { 0 } else { LABEL };
    let heading = format!(
        "Done {:<14}{:<labels$}{:>12}{:>10}{:>10}{:>8}  so far",
        "load",
        if labels == 0 { "" } else { "server" },
        "completed",
        "mean",
        "p99",
        "errors"
    );
    put(buffer, take_rows(&mut area, 1), &Line::styled(heading, bold()), &Line::default());
    let hidden = state.done.len().saturating_sub(usize::from(area.height));
    for done in state.done.iter().skip(hidden) {
        let label = shortened(&state.runs[done.run].label, labels.saturating_sub(1));
        let row = take_rows(&mut area, 1);
        put(buffer, row, &line(done, &format!("{label:<labels$}"), look), &Line::default());
    }
}

fn line(done: &Done, label: &str, look: Look) -> Line<'static> {
    let color = done.objection.map_or(Color::Green, |(color, _)| color);
    let (sign, style) = look.light(color);
    let words = done.objection.map_or("no objection", |(_, family)| family);
    let numbers = format!(
        "{:>4} {:<14}{label}{:>12}{:>10}{:>10}{:>8}  ",
        done.index + 1,
        load_text(done.load),
        rate(done.rate),
        time(done.mean),
        time(done.p99),
        done.errors,
    );
    Line::from(vec![Span::raw(numbers), Span::styled(format!("{sign} {words}"), style)])
}

/// Draws the newest messages.
pub fn draw_messages(state: &State, mut area: Rect, buffer: &mut Buffer) {
    let hidden = state.messages.len().saturating_sub(usize::from(area.height));
    for message in state.messages.iter().skip(hidden) {
        let first = message.lines().next().unwrap_or_default();
        put(buffer, take_rows(&mut area, 1), &Line::raw(first), &Line::default());
    }
}

/// Draws what can be done.
pub fn draw_footer(look: Look, area: Rect, buffer: &mut Buffer) {
    let text = match look.is_stopping {
        false => "q: end the run and keep what is recorded",
        true => "Stopping; what was recorded is kept. Ctrl-C quits immediately.",
    };
    put(buffer, area, &Line::styled(text, dim()), &Line::default());
}

/// Cuts a text that is too long, and says so with an ellipsis.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    if width == 0 { String::new() } else { format!("{kept}…") }
}
