//! Accessibility: contrast, text alternatives, keyboard navigation.

use std::collections::{BTreeMap, BTreeSet};

use disclosure::charts::Palette;
use disclosure::{outline, render};

use crate::fixture;

const STYLE: &str = include_str!("../src/render/style.css");

/// Variables of a style sheet, by name.
type Colors = BTreeMap<String, String>;

/// Terms on a background: 4.5 at least (WCAG 2.2, 1.4.3).
const WORDS: [(&str, &str); 22] = [
    ("ink", "paper"),
    ("ink", "panel"),
    ("ink", "good-bg"),
    ("ink", "bad-bg"),
    ("ink", "part-bg"),
    ("faint", "paper"),
    ("faint", "panel"),
    ("faint", "zone"),
    ("faint", "good-bg"),
    ("faint", "bad-bg"),
    ("link", "paper"),
    ("link", "panel"),
    ("brand", "paper"),
    ("good", "good-bg"),
    ("bad", "bad-bg"),
    ("part", "part-bg"),
    // Values within bars.
    ("paper", "s0"),
    ("paper", "s1"),
    ("paper", "s2"),
    ("paper", "s3"),
    ("paper", "s4"),
    ("faint", "part-bg"),
];

/// Lines, markers and signs on a background: 3 at least (1.4.11).
const GRAPHICS: [(&str, &str); 28] = [
    ("axis", "paper"),
    ("axis", "zone"),
    ("axis", "panel"),
    ("s0", "paper"),
    ("s1", "paper"),
    ("s2", "paper"),
    ("s3", "paper"),
    ("s4", "paper"),
    ("s5", "paper"),
    ("s0", "zone"),
    ("s1", "zone"),
    ("s2", "zone"),
    ("s3", "zone"),
    ("s4", "zone"),
    ("s5", "zone"),
    ("h0", "paper"),
    ("h1", "paper"),
    ("h2", "paper"),
    ("h3", "paper"),
    ("h4", "paper"),
    ("good", "paper"),
    ("bad", "paper"),
    ("part", "paper"),
    ("paper", "good"),
    ("paper", "bad"),
    ("paper", "part"),
    ("link", "zone"),
    ("brand", "panel"),
];

/// Nothing has to be told from these: they help the eye along a row.
const DECORATION: [&str; 2] = ["grid", "rule"];

/// Returns the colors of light, dark and printed pages; what a later block does not set stays as in the first.
fn palettes() -> [(&'static str, Colors); 3] {
    let blocks: Vec<Colors> = STYLE.split(":root {").skip(1).map(variables).collect();
    let [light, dark, print] = blocks.try_into().expect("three blocks of variables");
    let over = |later: Colors| light.clone().into_iter().chain(later).collect::<Colors>();
    let dark = over(dark);
    let print = over(print);
    [("light", light), ("dark", dark), ("print", print)]
}

fn variables(block: &str) -> Colors {
    let inside = block.split('}').next().unwrap();
    let pairs = inside.split(';').filter_map(|one| one.trim().strip_prefix("--")?.split_once(':'));
    pairs.map(|(name, color)| (name.to_owned(), color.trim().to_owned())).collect()
}

/// Returns the contrast ratio of two colors, from 1 to 21.
///
/// (L₁ + 0.05) ÷ (L₂ + 0.05) for relative luminances L₁ ≥ L₂. Source: WCAG 2.2, definition of contrast ratio.
fn contrast(one: &str, other: &str) -> f64 {
    let one = luminance(one);
    let other = luminance(other);
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Returns the relative luminance, from 0 to 1. Source: WCAG 2.2, from sRGB.
fn luminance(color: &str) -> f64 {
    let digits = color.trim_start_matches('#');
    let digits: String = match digits.len() {
        3 => digits.chars().flat_map(|digit| [digit; 2]).collect(),
        _ => digits.to_owned(),
    };
    let part = |place: usize| {
        let value = f64::from(u8::from_str_radix(&digits[place..place + 2], 16).unwrap()) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
}

#[test]
fn contrast_is_computed_as_defined() {
    assert_eq!(contrast("#ffffff", "#000"), 21.0);
    assert!((contrast("#fff", "#777777") - 4.478).abs() < 0.001, "the usual example of not quite enough");
}

#[test]
fn words_and_graphics_have_contrast_in_light_dark_and_print() {
    for (name, colors) in palettes() {
        for (pairs, least) in [(&WORDS[..], 4.5), (&GRAPHICS[..], 3.0)] {
            for (front, back) in pairs {
                let found = contrast(&colors[*front], &colors[*back]);
                assert!(least <= found, "{name}: {front} on {back} has {found:.2}, less than {least}");
            }
        }
    }
}

/// Goal: a color that is added is added to the lists above.
#[test]
fn every_color_is_held_against_another() {
    let known: BTreeSet<&str> =
        WORDS.iter().chain(&GRAPHICS).flat_map(|(one, other)| [*one, *other]).chain(DECORATION).collect();
    for (name, colors) in palettes() {
        let unknown: Vec<&String> = colors.keys().filter(|color| !known.contains(color.as_str())).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}

/// Every level is at least a third lighter or darker than the next, so that a grey printer keeps them apart.
#[test]
fn levels_of_density_keep_apart_in_grey() {
    for (name, colors) in palettes() {
        let levels: Vec<&String> = (0..5).map(|level| &colors[&format!("h{level}")]).collect();
        let to_paper: Vec<f64> = levels.iter().map(|level| contrast(level, &colors["paper"])).collect();
        assert!(to_paper.windows(2).all(|pair| 1.33 * pair[0] <= pair[1]), "{name}: {to_paper:?}");
    }
}

#[test]
fn pictures_on_paper_have_the_colors_of_a_light_page() {
    let [(_, light), ..] = palettes();
    let paper = Palette::PAPER;
    for (place, color) in paper.series.iter().enumerate() {
        assert_eq!(light[&format!("s{place}")], *color);
    }
    for (place, color) in paper.heat.iter().enumerate() {
        assert_eq!(light[&format!("h{place}")], *color);
    }
    let others = [
        ("ink", paper.ink),
        ("faint", paper.faint),
        ("grid", paper.grid),
        ("axis", paper.axis),
        ("zone", paper.zone),
        ("paper", paper.paper),
    ];
    for (name, color) in others {
        assert_eq!(light[name], color, "{name}");
    }
}

#[test]
fn a_page_has_landmarks_and_begins_with_a_way_past_its_head() {
    let html = render::html(&outline(&fixture::quick().report()));
    for (what, n) in [("<main ", 1), ("<nav aria-label=", 1), ("<header>", 1), ("<footer>", 1), ("<h1>", 1)] {
        assert_eq!(html.matches(what).count(), n, "{what}");
    }
    assert!(html.contains("<body><a class=\"skip\" href=\"#report\">"));
    assert!(html.contains("<html lang=\"en\">") && html.contains("<main id=\"report\" tabindex=\"-1\">"));
    assert!(STYLE.contains(":focus-visible { outline:"));
}

#[test]
fn every_table_has_a_caption_and_heads_that_say_what_they_head() {
    let html = render::html(&outline(&fixture::quick().report()));
    let tables: Vec<&str> =
        html.split("<table>").skip(1).map(|rest| rest.split("</table>").next().unwrap()).collect();
    assert!(10 < tables.len());
    for table in tables {
        assert!(table.starts_with("<caption>") && !table.starts_with("<caption></caption>"), "{table:.200}");
        let heads = table.matches("<th ").count();
        assert_eq!(table.matches("<th scope=").count(), heads, "{table:.200}");
        assert!(table.contains("scope=\"col\"") && !table.contains("<th>"));
    }
    assert!(html.contains("<th scope=\"row\">10</th>"));
    let regions = html.matches("role=\"region\" aria-label=\"").count();
    // Charts that are scrolled on a narrow screen are announced as well.
    assert_eq!(regions, html.matches("<table>").count() + html.matches("class=\"scrolled\"").count());
}

#[test]
fn every_picture_has_a_name_and_a_description() {
    for fixture in [fixture::quick(), fixture::open_loop()] {
        let html = render::html(&outline(&fixture.report()));
        let pictures = html.split("<svg class=\"chart\"").skip(1);
        for picture in pictures {
            assert!(picture.trim_start().starts_with("role=\"img\""), "{picture:.100}");
            let text = |tag: &str| {
                let inside = picture.split_once(&format!("<{tag} id=")).unwrap().1;
                inside.split_once('>').unwrap().1.split('<').next().unwrap().to_owned()
            };
            assert!(10 < text("title").len() && 20 < text("desc").len(), "{picture:.300}");
        }
    }
}
