//! The sentences of a report.

use analysis::SeriesUsage;
use disclosure::{Block, Section, Span, Text, outline};
use model::{ConnectionLifetime, Counter, Fact, FactSection, Load, Series};

use crate::fixture::{self, Fixture};

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
    let begins = format!("The built-in server handled {:.1} connections per second at 40 clients", peak.rate);
    let answer = plain(&outline(&fixture.report()).answer);
    assert!(answer.starts_with(&begins), "{answer}");
    assert!(answer.ends_with(". It saturates at 20 clients."), "{answer}");
    assert_eq!(
        said[0],
        "The server saturates at 20 clients: the highest rate is 4 % more, which is within the 95 % intervals of both."
    );
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
        "The run is not valid: 3 of 4 load points are valid; 2 settings differ from the benchmark."
    );
}

/// By hand: 2 · 10^(k ÷ 4) between 2 and 20 clients.
#[test]
fn saturation_in_a_gap_of_the_loads_is_between_two_of_them() {
    let mut fixture = fixture::quick();
    assert_eq!(fixture.report().loads_in_gap(), None);
    fixture.analysis.load_points[0].load = Load::Users(2);
    let answer = plain(&outline(&fixture.report()).answer);
    assert!(answer.ends_with(". It saturates between 2 and 20 clients."), "{answer}");
    assert_eq!(fixture.report().loads_in_gap().as_deref(), Some("2,4,6,11,20"));
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
    assert!(said[0].starts_with("From 10 to 20 clients, the rate rises from "), "{}", said[0]);
    assert!(said[0].contains("for 2.00\u{a0}× the load"), "{}", said[0]);
    assert!(
        said[1].starts_with("Between 20 and 40 clients, more load raises the rate by at most "),
        "{}",
        said[1]
    );
    assert!(said[2].starts_with("Beyond the highest rate, at 80 clients, the rate"), "{}", said[2]);
    assert!(said.iter().all(|text| text.contains("of its available CPU time")), "{said:?}");
}

#[test]
fn load_points_that_are_not_valid_are_left_out_and_that_is_said() {
    let said = sentences(&section(&fixture::quick(), "analysis").unwrap());
    assert_eq!(said.last().unwrap(), "One load point is not valid and is left out of this analysis.");
    assert!(said.iter().all(|text| !text.contains("80 clients")), "{said:?}");
}

#[test]
fn a_single_load_point_has_nothing_to_be_compared_with() {
    let mut fixture = fixture::valid();
    fixture.analysis.load_points.truncate(1);
    assert_eq!(section(&fixture, "analysis"), None);
}

/// Goal: the differences from production follow from the plan.
#[test]
fn the_note_on_production_follows_from_the_plan() {
    let said = |fixture: &Fixture| sentences(&section(fixture, "production").unwrap()).join("\n");
    let files = said(&fixture::quick());
    for text in ["Users never pause", "its own connection", "Only files are served", "Nothing is encrypted"] {
        assert!(files.contains(text), "{text}: {files}");
    }
    assert!(
        files.contains("limited to the time of 0.35 CPUs") && files.contains("ran on one machine"),
        "{files}"
    );
    let pages = said(&fixture::thinking());
    assert!(
        pages.contains("Users pause 270 ms on average") && pages.contains("generated by a small program"),
        "{pages}"
    );
    let mut far = fixture::classes();
    far.plan.sut = model::SutPlan::of("external");
    let far = said(&far);
    assert!(
        far.contains("at a constant rate")
            && !far.contains("one machine")
            && !far.contains("limited to the time"),
        "{far}"
    );
}

/// The quick run whose requests keep connections, of which the load point in detail (40 clients) had to open one for each
/// `responses` operations, with 27,764 connections in TIME-WAIT and 28,232 local ports.
fn closed_by_the_server(responses: u64) -> Fixture {
    let mut fixture = fixture::quick();
    let point = &mut fixture.analysis.load_points[2];
    point.web.as_mut().unwrap().connects = point.total.n / responses;
    let time_wait = SeriesUsage {
        series: Series { machine: 0, counter: Counter::TcpTimeWait, instance: String::new() },
        readings: 9,
        resets: 0,
        value: Some(27_764.0),
        min: 27_000,
        max: 28_000,
    };
    point.resources.series.push(time_wait);
    let ports = Fact::found("net.ipv4.ip_local_port_range", "32768 60999");
    fixture.testbed.sections.push(FactSection { title: "Kernel settings".to_owned(), facts: vec![ports] });
    fixture.plan.workload.web_mut().unwrap().protocol.connection =
        ConnectionLifetime::KeepAlive { requests_max: None };
    fixture
}

/// Goal: what is said of connections follows from what was measured of them, not from what was requested.
#[test]
fn connections_that_the_server_closes_are_told_as_they_were_measured() {
    let said = |fixture: &Fixture, id: &str| sentences(&section(fixture, id).unwrap()).join("\n");
    let fixture = closed_by_the_server(1);
    let text = said(&fixture, "summary");
    let production = said(&fixture, "production");
    let point = &fixture.analysis.load_points[2];
    let per_second = point.total.n as f64 / point.length.as_secs_f64();
    assert!(text.contains("The server closed connections after nearly every response"), "{text}");
    assert!(text.contains(&format!("{per_second:.1} new connections per second")), "{text}");
    assert!(text.contains("27\u{202f}764 were in TIME-WAIT of 28\u{202f}232 local ports"), "{text}");
    assert!(production.contains("the server closed most of them"), "{production}");
    assert!(!production.contains("opened once and kept busy"), "{production}");

    let seldom = closed_by_the_server(20);
    let text = said(&seldom, "summary");
    let production = said(&seldom, "production");
    assert!(text.contains("closed connections after 20 responses on average"), "{text}");
    assert!(production.contains("kept busy until the server closes them"), "{production}");

    // Users open theirs once: fewer than one connection for a hundred operations.
    let kept = closed_by_the_server(200);
    let text = said(&kept, "summary");
    let production = said(&kept, "production");
    assert!(!text.contains("closed connections"), "{text}");
    assert!(production.contains("opened once and kept busy"), "{production}");
}
