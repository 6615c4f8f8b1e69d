//! What a report says of a run in sentences.

mod fixture;

use disclosure::{Block, Section, Span, Text, outline};
use fixture::Fixture;

fn section(fixture: &Fixture, id: &str) -> Option<Section> {
    outline(&fixture.report()).sections.into_iter().find(|section| section.id == id)
}

fn plain(text: &Text) -> String {
    let span = |span: &Span| match span {
        Span::Plain(text) | Span::Strong(text) | Span::Code(text) => text.clone(),
    };
    text.0.iter().map(span).collect()
}

/// Returns all sentences of lists and paragraphs.
fn sentences(section: &Section) -> Vec<String> {
    let texts = section.blocks.iter().flat_map(|block| match block {
        Block::List(items) => items.iter().map(plain).collect(),
        Block::Paragraph(text) | Block::Note(_, text) => vec![plain(text)],
        _ => Vec::new(),
    });
    texts.collect()
}

/// The quick run peaks with 40 clients and saturates with 20; its 80 clients are not valid.
#[test]
fn highlights_are_the_numbers_of_the_run() {
    let fixture = fixture::quick();
    let said = sentences(&section(&fixture, "summary").unwrap());
    let peak = &fixture.analysis.load_points[2];
    // The report opens with it, so that highlights need not say it again.
    let begins = format!("The built-in server carried {:.1} connections per second at 40 clients", peak.rate);
    let answer = plain(&outline(&fixture.report()).answer);
    assert!(answer.starts_with(&begins), "{answer}");
    assert!(answer.ends_with(". It was saturated from 20 clients on."), "{answer}");
    assert_eq!(said[0], "The server saturates at 20 clients: more load brings at most 3 % more rate.");
    assert!(said[1].starts_with("Best trade-off (knee): 10 clients ("), "{}", said[1]);
    let times = peak.rate / fixture.analysis.load_points[0].rate;
    assert!(
        said[2].starts_with(&format!("Compared with 10 clients: {times:.2} times the throughput")),
        "{}",
        said[2]
    );
    let failed = said.iter().find(|one| one.contains("operations failed")).unwrap();
    assert!(failed.starts_with("12 of ") && failed.contains("most at 40 clients"), "{failed}");
    let verdict = said.iter().find(|one| one.starts_with("The run is ")).unwrap();
    assert_eq!(
        verdict,
        "The run is not valid: 3 of 4 load points are; it departs from the benchmark in 2 ways."
    );
}

#[test]
fn a_run_that_never_saturates_says_so() {
    let mut fixture = fixture::valid();
    fixture.analysis.curve.saturation = Some(3);
    fixture.analysis.curve.peak = Some(3);
    let said = sentences(&section(&fixture, "summary").unwrap());
    assert!(said[0].starts_with("Saturation was not reached"), "{}", said[0]);
    let ranges = sentences(&section(&fixture, "analysis").unwrap());
    assert_eq!(ranges.len(), 1, "all of it rises: {ranges:?}");
}

/// By hand: of the valid loads 10, 20, 40 and 80 the first two rise, 40 is flat, 80 is beyond the peak.
#[test]
fn every_range_of_the_curve_has_its_paragraph() {
    let fixture = fixture::valid();
    let said = sentences(&section(&fixture, "analysis").unwrap());
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].starts_with("From 10 to 20 clients the rate rises from "), "{}", said[0]);
    assert!(said[0].contains("for 2.00\u{a0}× the load"), "{}", said[0]);
    assert!(
        said[1].starts_with("Between 20 and 40 clients more load brings little more rate"),
        "{}",
        said[1]
    );
    assert!(said[2].starts_with("Beyond the highest rate, at 80 clients, the rate"), "{}", said[2]);
    assert!(said.iter().all(|text| text.contains("of what it is allowed")), "{said:?}");
}

#[test]
fn load_points_that_are_not_valid_are_left_out_and_that_is_said() {
    let said = sentences(&section(&fixture::quick(), "analysis").unwrap());
    assert_eq!(said.last().unwrap(), "One load point is not valid and plays no part in this text.");
    assert!(said.iter().all(|text| !text.contains("80 clients")), "{said:?}");
}

#[test]
fn a_single_load_point_has_nothing_to_be_compared_with() {
    let mut fixture = fixture::valid();
    fixture.analysis.load_points.truncate(1);
    assert_eq!(section(&fixture, "analysis"), None);
}

/// What a benchmark leaves out follows from its plan.
#[test]
fn the_note_on_production_follows_from_the_plan() {
    let said = |fixture: &Fixture| sentences(&section(fixture, "production").unwrap()).join("\n");
    let files = said(&fixture::quick());
    for text in
        ["Users never pause", "connection of its own", "Only files are served", "Nothing is encrypted"]
    {
        assert!(files.contains(text), "{text}: {files}");
    }
    assert!(files.contains("0.35 of a CPU’s time") && files.contains("ran on one machine"), "{files}");
    let pages = said(&fixture::thinking());
    assert!(
        pages.contains("Users pause 270 ms on average") && pages.contains("made by a small program"),
        "{pages}"
    );
    let mut far = fixture::classes();
    far.plan.sut = model::SutPlan::of("external");
    let far = said(&far);
    assert!(
        far.contains("equal distances") && !far.contains("one machine") && !far.contains("CPU’s time"),
        "{far}"
    );
}
