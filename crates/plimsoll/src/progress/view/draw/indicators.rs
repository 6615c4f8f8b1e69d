//! The validity indicators: a symbol and a name each, and the reason of the most severe one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use units::Nanos;

use super::paint::{FrameContext, bold, dim, put, take_rows};
use crate::progress::state::{Indicator, Point, State, most_severe};

/// Length of an abbreviated name, for narrow terminals: enough to tell it from the others.
const ABBREVIATED: usize = 3;

/// Draws the two rows of the indicators.
pub fn draw(state: &State, context: FrameContext, mut area: Rect, buffer: &mut Buffer) {
    let indicators = state.point.as_ref().map_or(&[][..], |point| &point.indicators);
    let full = row(indicators, context, "Validity  ", |name| format!(" {name}  "));
    let fits = full.width() <= usize::from(area.width);
    let row =
        if fits { full } else { row(indicators, context, "", |name| format!("{} ", &name[..ABBREVIATED])) };
    put(buffer, take_rows(&mut area, 1), &row, &Line::default());
    let why = Line::styled(format!("          {}", why(state.point.as_ref())), dim());
    put(buffer, take_rows(&mut area, 1), &why, &Line::default());
}

/// Returns the row of all indicators, each with its name.
fn row(
    indicators: &[Indicator],
    context: FrameContext,
    head: &'static str,
    name: fn(&str) -> String,
) -> Line<'static> {
    let span = |indicator: &Indicator| {
        let (symbol, style) = context.symbol(indicator.status);
        Span::styled(format!("{symbol}{}", name(indicator.name)), style)
    };
    Line::from_iter([Span::styled(head, bold())].into_iter().chain(indicators.iter().map(span)))
}

/// Returns the reason of the most severe indicator.
fn why(point: Option<&Point>) -> String {
    let Some(point) = point else { return String::new() };
    match most_severe(&point.indicators) {
        Some(Indicator { name, why, .. }) if !why.is_empty() => format!("{name}: {why}"),
        Some(_) if point.totals.length == Nanos::ZERO => "checked in the steady phase".to_owned(),
        _ => String::new(),
    }
}
