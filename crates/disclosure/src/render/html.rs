//! Self-contained HTML: one file without network access, scripts or fonts.

use std::collections::BTreeMap;

use analysis::VerdictState;
use languages::escaped;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::charts::{self, DrawingWidth};
use crate::{
    Align, Banner, Block, Cell, Document, Figure, Hero, LeadFigure, NoteKind, Row, RowStyle, Section, Span,
    Table, Text, Tile,
};

const STYLE: &str = include_str!("style.css");

/// The logo of the project: a load line on a hull.
const LOGO: &str = r#"<svg class="logo" viewBox="0 0 48 32" aria-hidden="true"><circle cx="24" cy="16" r="12" fill="none" stroke="currentColor" stroke-width="4"/><path d="M4 16H44" stroke="currentColor" stroke-width="4"/></svg>"#;

/// Renders a document as one self-contained HTML file.
pub fn html(document: &Document) -> String {
    let mut anchors = Anchors::default();
    let main = anchors.of("report");
    let sections: Vec<(String, &Section)> =
        document.sections.iter().map(|section| (anchors.of(section.id), section)).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (document.title) " — " (state_word(document.banner.state)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href={ "#" (main) } { "Skip to the report" }
                (opening(document))
                div class="page" {
                    (contents(&sections))
                    main id=(main) tabindex="-1" {
                        @for (index, (anchor, section)) in sections.iter().enumerate() {
                            (section_html(section, anchor, index < document.n_open, &mut anchors))
                        }
                    }
                }
                footer { (text(&document.colophon)) }
            }
        }
    };
    escaped(&page.into_string()).into_owned()
}

/// The anchors of the page. A repeated one gets a number, so that each is unique.
#[derive(Default)]
struct Anchors(BTreeMap<&'static str, usize>);

impl Anchors {
    fn of(&mut self, id: &'static str) -> String {
        let n = self.0.entry(id).or_default();
        *n += 1;
        if *n == 1 { id.to_owned() } else { format!("{id}-{n}") }
    }
}

fn state_word(state: VerdictState) -> &'static str {
    match state {
        VerdictState::Valid => "valid",
        VerdictState::Overloaded | VerdictState::Invalid => "invalid",
        VerdictState::Incomplete => "incomplete",
    }
}

fn opening(document: &Document) -> Markup {
    html! {
        header {
            div class="brand" { (PreEscaped(LOGO)) span { "Plimsoll" } span class="kind" { "Disclosure report" } }
            h1 { (document.title) }
            p class="subtitle" { (document.subtitle) }
            @if !document.answer.is_empty() { p class="answer" { (text(&document.answer)) } }
            div class="opening" {
                div class="said" {
                    (banner(&document.banner))
                    @if let Some(hero) = &document.hero { (hero_html(hero, document.banner.state)) }
                    @if !document.banner.modified.is_empty() {
                        div class="modified" {
                            strong { "Modified:" }
                            ul { @for change in &document.banner.modified { li { (text(change)) } } }
                        }
                    }
                }
                @if let Some(lead) = &document.lead { (lead_html(lead)) }
            }
            @if !document.brief.is_empty() { div class="brief" { (facts_html(&document.brief)) } }
        }
    }
}

fn banner(banner: &Banner) -> Markup {
    let sign = match banner.state {
        VerdictState::Valid => "M6 13l5 5 9-11",
        VerdictState::Overloaded | VerdictState::Invalid => "M7 7l12 12M19 7L7 19",
        VerdictState::Incomplete => "M13 5v9h6",
    };
    html! {
        div class={ "banner " (state_word(banner.state)) } role="status" {
            div class="judgement" {
                svg viewBox="0 0 26 26" aria-hidden="true" {
                    circle cx="13" cy="13" r="12" fill="currentColor" {}
                    path d=(sign) fill="none" stroke="var(--paper)" stroke-width="3" stroke-linecap="round" {}
                }
                span { (state_word(banner.state)) }
            }
            p { (text(&banner.text)) }
            @if !banner.reasons.is_empty() {
                ul { @for reason in &banner.reasons { li { (text(reason)) } } }
            }
        }
    }
}

fn hero_html(hero: &Hero, state: VerdictState) -> Markup {
    html! {
        div class={ "hero " (state_word(state)) } {
            div class="value" { (hero.value) }
            div class="unit" { (hero.unit) }
            p { (text(&hero.companion)) }
        }
    }
}

fn lead_html(lead: &LeadFigure) -> Markup {
    let id = lead.chart.id;
    html! {
        figure id=(id) class="lead" {
            figcaption { (lead.chart.title) }
            (charts::inline_as(&lead.chart, id, DrawingWidth::Half, "wide"))
            (charts::inline_as(&lead.chart, &format!("{id}-narrow"), DrawingWidth::Narrow, "narrow"))
            p class="caption" { (text(&lead.caption)) }
        }
    }
}

fn contents(sections: &[(String, &Section)]) -> Markup {
    html! {
        nav aria-label="Contents" {
            h2 { "Contents" }
            ol { @for (anchor, section) in sections { li { a href={ "#" (anchor) } { (section.title) } } } }
        }
    }
}

fn section_html(section: &Section, anchor: &str, is_open: bool, anchors: &mut Anchors) -> Markup {
    let blocks = html! { @for block in &section.blocks { (block_html(block, anchors)) } };
    html! {
        section id=(anchor) {
            @if is_open {
                h2 { (section.title) }
                (blocks)
            } @else {
                details class="section" {
                    summary { h2 { (section.title) } }
                    (blocks)
                }
            }
        }
    }
}

/// Number of lines from which a file is printed in two columns.
const LONG_MIN: usize = 24;

fn block_html(block: &Block, anchors: &mut Anchors) -> Markup {
    match block {
        Block::Paragraph(paragraph) => html! { p { (text(paragraph)) } },
        Block::Heading(heading) => html! { h3 { (heading) } },
        Block::Tiles(tiles) => html! { div class="tiles" { @for tile in tiles { (tile_html(tile)) } } },
        Block::Table(table) => table_html(table),
        Block::Figure(figure) => figure_html(figure, &anchors.of(figure.chart.id)),
        Block::Facts(facts) => facts_html(facts),
        Block::Code { caption, text } => {
            let class = (LONG_MIN <= text.lines().count()).then_some("long");
            html! { figure class="code" { figcaption { (caption) } pre class=[class] { code { (text) } } } }
        }
        Block::List(items) => html! { ul { @for item in items { li { (text(item)) } } } },
        Block::Note(kind, note) => {
            let class = if *kind == NoteKind::Warning { "note warning" } else { "note" };
            html! { p class=(class) { (text(note)) } }
        }
        Block::Fold { title, blocks, bulky } => html! {
            details class=[bulky.then_some("bulky")] {
                summary { (title) }
                @for block in blocks { (block_html(block, anchors)) }
            }
        },
    }
}

fn tile_html(tile: &Tile) -> Markup {
    html! {
        div class="tile" {
            div class="name" { (tile.name) }
            div class="value" { (tile.value) }
            div class="where" { (tile.note) }
        }
    }
}

fn figure_html(figure: &Figure, anchor: &str) -> Markup {
    html! {
        figure id=(anchor) {
            figcaption { (figure.chart.title) }
            @if figure.bulky || figure.chart.is_heavy() {
                // Two drawings of it would be too much; on a narrow screen it is scrolled.
                div class="scrolled" role="region" aria-label=(figure.chart.title) tabindex="0" {
                    (charts::inline_as(&figure.chart, anchor, DrawingWidth::Page, ""))
                }
            } @else {
                (charts::inline_as(&figure.chart, anchor, DrawingWidth::Page, "wide"))
                (charts::inline_as(&figure.chart, &format!("{anchor}-narrow"), DrawingWidth::Narrow, "narrow"))
            }
            p class="caption" { (text(&figure.caption)) }
        }
        @if figure.bulky {
            details class="bulky" {
                summary { "The same numbers as a table (" (figure.table.rows.len()) " rows)" }
                (table_html(&figure.table))
            }
        } @else {
            (table_html(&figure.table))
        }
    }
}

/// Number of columns from which a table has a smaller font.
const DENSE_MIN: usize = 8;

fn table_html(table: &Table) -> Markup {
    let class = if DENSE_MIN <= table.columns.len() { "table dense" } else { "table" };
    html! {
        // Wide tables are scrolled, by keyboard as well, so they need a name to be announced by.
        div class=(class) role="region" aria-label=(table.caption) tabindex="0" {
            table {
                caption { (table.caption) }
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" class=[(column.align == Align::Left).then_some("l")] {
                                (column.heading)
                                @if !column.unit.is_empty() { " " span class="unit" { (column.unit) } }
                            }
                        }
                    }
                }
                tbody { @for row in &table.rows { (row_html(row, table)) } }
            }
        }
        @if !table.note.is_empty() { p class="caption" { (text(&table.note)) } }
    }
}

fn row_html(row: &Row, table: &Table) -> Markup {
    let class = match row.style {
        RowStyle::Plain => None,
        RowStyle::Best => Some("best"),
        RowStyle::Invalid => Some("bad"),
        RowStyle::Total => Some("total"),
    };
    html! {
        tr class=[class] {
            @for (place, (cell, column)) in row.cells.iter().zip(&table.columns).enumerate() {
                @let class = match (column.align, cell.is_listing()) {
                    (_, true) => Some("l listing"),
                    (Align::Left, false) => Some("l"),
                    (Align::Right, false) => None,
                };
                @if place == 0 && !cell.text.is_empty() {
                    th scope="row" class=[class] { (cell_html(cell)) }
                } @else {
                    td class=[class] { (cell_html(cell)) }
                }
            }
        }
    }
}

fn cell_html(cell: &Cell) -> Markup {
    html! {
        (cell.text)
        @if !cell.detail.is_empty() { small { (cell.detail) } }
    }
}

fn facts_html(facts: &[(String, Text)]) -> Markup {
    html! {
        dl { @for (name, value) in facts { div { dt { (name) } dd { (text(value)) } } } }
    }
}

fn text(text: &Text) -> Markup {
    html! {
        @for span in &text.0 {
            @match span {
                Span::Plain(text) => { (text) }
                Span::Strong(text) => { strong { (text) } }
                Span::Code(text) => { code { (text) } }
            }
        }
    }
}
