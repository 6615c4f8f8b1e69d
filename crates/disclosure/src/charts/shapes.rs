//! Lines and markers, which distinguish series without color.

use std::fmt::Write;

/// Number of different styles.
pub(super) const STYLES: usize = 6;

/// Returns the dash pattern of a style; empty for a solid line.
pub(super) fn dash(style: usize) -> &'static str {
    ["", "7 4", "2 3", "10 3 2 3", "14 5", "5 2 1 2 1 2"][style % STYLES]
}

/// Returns the outline of a marker at a pixel: circle, square, triangle, diamond, hexagon or triangle on its tip.
pub(super) fn marker(style: usize, x: f64, y: f64) -> String {
    let corners: &[(f64, f64)] = match style % STYLES {
        0 => return circle(x, y, 3.8),
        1 => &[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)],
        2 => &[(0.0, -4.6), (4.4, 3.4), (-4.4, 3.4)],
        3 => &[(0.0, -4.9), (4.9, 0.0), (0.0, 4.9), (-4.9, 0.0)],
        5 => &[(0.0, 4.6), (4.4, -3.4), (-4.4, -3.4)],
        _ => &[(-2.2, -4.0), (2.2, -4.0), (4.4, 0.0), (2.2, 4.0), (-2.2, 4.0), (-4.4, 0.0)],
    };
    let mut path = polyline(corners.iter().map(|(dx, dy)| (x + dx, y + dy, false)));
    path.push('Z');
    path
}

fn circle(x: f64, y: f64, radius: f64) -> String {
    let left = px(x - radius);
    let right = px(x + radius);
    let radius = px(radius);
    let y = px(y);
    format!("M{left} {y}A{radius} {radius} 0 1 1 {right} {y}A{radius} {radius} 0 1 1 {left} {y}Z")
}

/// Returns a path through pixels; `true` starts a new piece at a pixel. With round line caps a single pixel is drawn as a
/// dot.
pub(super) fn polyline(pixels: impl Iterator<Item = (f64, f64, bool)>) -> String {
    let mut path = String::new();
    let mut alone = false;
    for (index, (x, y, gap)) in pixels.enumerate() {
        let begins = index == 0 || gap;
        if begins && alone {
            path.push_str("h0");
        }
        alone = begins;
        let _ = write!(path, "{}{} {}", if begins { 'M' } else { 'L' }, px(x), px(y));
    }
    if alone {
        path.push_str("h0");
    }
    path
}

/// Formats a pixel with at most one decimal.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn styles_differ_in_grayscale() {
        let dashes: BTreeSet<&str> = (0..STYLES).map(dash).collect();
        let markers: BTreeSet<String> = (0..STYLES).map(|style| marker(style, 50.0, 50.0)).collect();
        assert_eq!((dashes.len(), markers.len()), (STYLES, STYLES));
    }

    #[test]
    fn a_path_is_interrupted_at_gaps() {
        let pixels = [(0.0, 1.0, false), (2.04, 3.06, false), (4.0, 5.0, true)];
        assert_eq!(polyline(pixels.into_iter()), "M0 1L2 3.1M4 5h0");
    }
}
