//! The lights of validity: a sign, a word, and why for the gravest of them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use units::Nanos;

use super::paint::{Look, bold, dim, put, take_rows};
use crate::progress::state::{Light, Point, State, gravest};

/// What is left of a word where there is no room for all: enough to tell it from the others.
const LETTERS: usize = 3;

/// Draws them; two rows.
pub fn draw(state: &State, look: Look, mut area: Rect, buffer: &mut Buffer) {
    let lights = state.point.as_ref().map_or(&[][..], |point| &point.lights);
    let words = row(lights, look, "Validity  ", |family| format!(" {family}  "));
    let fits = words.width() <= usize::from(area.width);
    let words = if fits { words } else { row(lights, look, "", |family| format!("{} ", &family[..LETTERS])) };
    put(buffer, take_rows(&mut area, 1), &words, &Line::default());
    let why = Line::styled(format!("          {}", why(state.point.as_ref())), dim());
    put(buffer, take_rows(&mut area, 1), &why, &Line::default());
}

/// Makes the row of all signs, with a word behind each.
fn row(lights: &[Light], look: Look, head: &'static str, word: fn(&str) -> String) -> Line<'static> {
    let light = |light: &Light| {
        let (sign, style) = look.light(light.color);
        Span::styled(format!("{sign}{}", word(light.family)), style)
    };
    Line::from_iter([Span::styled(head, bold())].into_iter().chain(lights.iter().map(light)))
}

/// Says what the gravest light means.
fn why(point: Option<&Point>) -> String {
    let Some(point) = point else { return String::new() };
    match gravest(&point.lights) {
        Some(Light { family, why, .. }) if !why.is_empty() => format!("{family}: {why}"),
        Some(_) if point.totals.length == Nanos::ZERO => "judged in the steady phase".to_owned(),
        _ => String::new(),
    }
}
