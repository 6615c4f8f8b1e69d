//! The validity indicators: a symbol and a name each, and the reason of the most severe one.

use analysis::GroupStanding;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{FrameContext, bold, dim, put, take_rows};
use crate::progress::state::{Point, State, most_severe};

/// Length of an abbreviated name, for narrow terminals: enough to tell it from the others.
const ABBREVIATED: usize = 3;

/// Draws the two rows of the indicators.
pub(super) fn draw(state: &State, context: FrameContext, mut area: Rect, buffer: &mut Buffer) {
    let status = state.point.as_ref().and_then(|point| point.status.as_ref());
    let standings = status.map_or(&[][..], |status| &status.standings);
    let full = row(standings, context, "Validity  ", |name| format!(" {name}  "));
    let fits = full.width() <= usize::from(area.width);
    let row =
        if fits { full } else { row(standings, context, "", |name| format!("{} ", &name[..ABBREVIATED])) };
    put(buffer, take_rows(&mut area, 1), &row, &Line::default());
    let why = Line::styled(format!("          {}", why(state.point.as_ref())), dim());
    put(buffer, take_rows(&mut area, 1), &why, &Line::default());
}

/// Returns the row of all indicators, each with its name.
fn row(
    standings: &[GroupStanding],
    context: FrameContext,
    head: &'static str,
    name: fn(&str) -> String,
) -> Line<'static> {
    let span = |standing: &GroupStanding| {
        let (symbol, style) = context.symbol(standing.state.into());
        Span::styled(format!("{symbol}{}", name(standing.group.name())), style)
    };
    Line::from_iter([Span::styled(head, bold())].into_iter().chain(standings.iter().map(span)))
}

/// Returns the reason of the most severe indicator.
fn why(point: Option<&Point>) -> String {
    let Some(point) = point else { return String::new() };
    match point.status.as_ref().and_then(most_severe) {
        Some((name, _, why)) if !why.is_empty() => format!("{name}: {why}"),
        Some(_) if point.measured().is_none() => "checked in the steady phase".to_owned(),
        _ => String::new(),
    }
}
