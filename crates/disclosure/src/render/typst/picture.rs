//! A chart as a picture of its own, in literal colors and in a font that is there.

use super::FONTS;
use crate::charts::{self, Chart, Palette};

const FONT_FAMILY: &str = "font-family=\"";

/// Draws a chart for paper.
pub(super) fn picture(chart: &Chart) -> String {
    let drawing = charts::standalone(chart, &Palette::PAPER);
    in_font(&drawing).chars().filter(|c| is_xml(*c)).collect()
}

/// Names our font wherever the drawing names some: families of the reader's system are not there, and what stands for them
/// would be set in anything.
fn in_font(drawing: &str) -> String {
    let mut pieces = drawing.split(FONT_FAMILY);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        // Quotes in text are written as entities, so the next one ends the value.
        let (_, after) = piece.split_once('"').unwrap_or_default();
        out.push_str(&format!("{FONT_FAMILY}{}\"{after}", FONTS[0]));
    }
    out
}

/// Returns whether a character may stand in a document of XML 1.0.
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{Axis, DataSeries, Draw, Format, Panel, Point, Spacing};

    fn chart(name: &str) -> Chart {
        let points = vec![Point::new(1.0, 1.0), Point::new(2.0, 3.0)];
        let series = [name, "other"].map(|name| DataSeries {
            name: name.to_owned(),
            style: 0,
            draw: Draw::Points,
            points: points.clone(),
        });
        let axis = || Axis::new("ms", Spacing::FromZero, Format::Plain);
        Chart {
            id: "test",
            title: "t".into(),
            description: "d".into(),
            x: axis(),
            panels: vec![Panel { y: axis(), series: series.into(), limit: None }],
            zones: vec![],
            marks: vec![],
        }
    }

    #[test]
    fn a_picture_has_literal_colors_and_our_font() {
        let picture = picture(&chart("font-family=\"x\""));
        assert!(!picture.contains("var(") && !picture.contains("sans-serif"), "{picture}");
        assert!(picture.contains("font-family=\"Open Sans\""));
        assert!(picture.contains("font-family=&quot;x&quot;</text>"), "{picture}");
        assert!(
            picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"") && picture.ends_with("</svg>")
        );
    }

    #[test]
    fn a_name_with_control_characters_leaves_a_picture_that_can_be_read() {
        let picture = picture(&chart("a\u{0}\u{1b}b\u{fffe}"));
        assert!(picture.contains(">ab</text>"), "{picture}");
    }
}
