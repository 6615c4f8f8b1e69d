//! Layout of pages, as far as it can be checked without a browser; `browser.rs` checks the rest.

use disclosure::{Align, Block, Document, Table, outline, render};

use crate::fixture::{self, Fixture};

const STYLE: &str = include_str!("../src/render/style.css");

/// Between the margins beside the contents, on a screen of 1280 px.
const WIDTH: f64 = 960.0;

fn all() -> [(&'static str, Fixture); 7] {
    [
        ("quick", fixture::quick()),
        ("incomplete", fixture::incomplete()),
        ("open_loop", fixture::open_loop()),
        ("classes", fixture::classes()),
        ("thinking", fixture::thinking()),
        ("clients", fixture::clients()),
        ("full", fixture::full()),
    ]
}

fn tables(document: &Document) -> Vec<&Table> {
    fn walk<'a>(blocks: &'a [Block], out: &mut Vec<&'a Table>) {
        for block in blocks {
            match block {
                Block::Table(table) => out.push(table),
                Block::Figure(figure) => out.push(&figure.table),
                Block::Fold { blocks, .. } => walk(blocks, out),
                _ => {}
            }
        }
    }
    let mut out = Vec::new();
    document.sections.iter().for_each(|section| walk(&section.blocks, &mut out));
    out
}

/// Returns how wide a table is at least, in px: what may not be broken in each of its columns, by the sizes of the style
/// sheet (a letter is 0.56 of its size on the mean, words are 7 letters wide at least).
fn least_width(table: &Table) -> f64 {
    let (size, padding) = if 8 <= table.columns.len() { (12.5, 10.0) } else { (13.8, 16.0) };
    let longest = |text: &str, ends: &[char]| {
        text.split(|c: char| c == ' ' || ends.contains(&c))
            .map(|word| word.chars().count())
            .max()
            .unwrap_or(0) as f64
    };
    let columns = table.columns.iter().enumerate().map(|(index, column)| {
        let cells = table.rows.iter().map(|row| &row.cells[index]);
        let widest = match column.align {
            Align::Left => 7.0,
            Align::Right => cells
                .map(|cell| (cell.text.chars().count() as f64).max(0.82 * longest(&cell.detail, &['–'])))
                .fold(0.0, f64::max),
        };
        let head = 0.97 * longest(&column.heading, &['-', '–']);
        0.56 * size * widest.max(head) + padding
    });
    columns.sum()
}

#[test]
fn every_table_finds_room_beside_the_contents() {
    for (name, fixture) in all() {
        let document = outline(&fixture.report());
        for table in tables(&document) {
            let width = least_width(table);
            assert!(width <= WIDTH, "{name}, {}: {width:.0} px", table.caption);
        }
    }
}

/// The estimate can fail: twenty load points beside one another have no room.
#[test]
fn a_table_that_is_too_wide_is_found() {
    let columns = (0..24).map(|_| disclosure::Column::numbers("Rate", "")).collect();
    let table = Table::new("t", columns, vec![disclosure::Row::plain(vec!["12 345.6"; 24])]);
    assert!(WIDTH < least_width(&table));
}

#[test]
fn a_report_opens_with_its_answer_and_a_chart() {
    for (name, fixture) in all() {
        let html = render::html(&outline(&fixture.report()));
        let place = |what: &str| html.find(what).unwrap_or_else(|| panic!("{name}: no {what}"));
        let order =
            ["<p class=\"answer\">", "class=\"banner", "class=\"lead\"", "<nav ", "<table>"].map(place);
        assert!(order.is_sorted(), "{name}: {order:?}");
        let answer = &html[order[0]..order[0] + 200];
        assert!(answer.contains("/s") || answer.contains(" per second"), "{name}: {answer}");
    }
}

/// A drawing that is shrunk has letters that nobody can read: narrow screens get one that was made for them.
#[test]
fn every_light_chart_is_drawn_for_narrow_screens_as_well() {
    let html = render::html(&outline(&fixture::quick().report()));
    let n = |what: &str| html.matches(what).count();
    assert_eq!(n("class=\"chart narrow\""), n("class=\"chart wide\""));
    assert!(3 <= n("class=\"chart narrow\""));
    // Those that are drawn once are scrolled.
    assert_eq!(n("class=\"chart\""), n("class=\"scrolled\""));
    for rule in [
        "svg.narrow { display: none; }",
        "@media screen and (max-width: 760px) { svg.wide { display: none; } svg.narrow { display: block;",
        ".scrolled svg.chart { min-width: 700px; }",
    ] {
        assert!(STYLE.contains(rule), "{rule}");
    }
}

#[test]
fn what_is_folded_stands_open_on_paper() {
    let print = STYLE.split("@media print {").nth(1).expect("rules for paper");
    let unfolded = "details::details-content { content-visibility: visible; display: block; height: auto; }";
    assert!(print.contains(unfolded), "nothing unfolds it");
    let document = outline(&fixture::quick().report());
    let files = document.sections.iter().find(|section| section.id == "files").expect("statistics of files");
    let is_folded = |block: &Block| !matches!(block, Block::Table(_));
    assert!(files.blocks.iter().all(is_folded), "statistics of single files are looked up, not read");
}

/// The words of somebody else's name belong to what imitates it.
#[test]
fn only_what_imitates_a_benchmark_says_so() {
    let markdown = |fixture: &Fixture| render::markdown(&outline(&fixture.report()));
    assert!(markdown(&fixture::quick()).contains("in the manner of that benchmark"));
    let mut own = fixture::thinking();
    own.plan.benchmark.title = "My blog".into();
    own.plan.workload.web_mut().unwrap().requests[0].reply = model::ReplyBody::Seen;
    let text = markdown(&own);
    assert!(!text.contains("in the manner of") && !text.contains("original program"), "{text}");
    assert!(!text.contains("Data set"), "of pages that are there already nothing is known: {text}");
    assert!(!text.contains("mean body –") && !text.contains("– B"), "{text}");
}
