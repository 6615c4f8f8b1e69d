//! Sections of the web family's benchmarks beyond WebStone's tables.

use analysis::SeriesUsage;
use analysis::compare::{MismatchPolicy, compare};
use disclosure::{
    Block, CampaignRun, Section, Table, campaign_document, comparison_document, outline, render, table_notes,
};
use model::{BenchmarkId, Counter, Fact, FactSection, ReplyBody, Series};

use crate::fixture::{self, Fixture};

fn section(fixture: &Fixture, id: &str) -> Section {
    let document = outline(&fixture.report());
    document.sections.into_iter().find(|section| section.id == id).unwrap_or_else(|| panic!("no {id}"))
}

fn has(fixture: &Fixture, id: &str) -> bool {
    outline(&fixture.report()).sections.iter().any(|section| section.id == id)
}

fn table(section: &Section) -> &Table {
    let found = section.blocks.iter().find_map(|block| match block {
        Block::Table(table) => Some(table),
        Block::Figure(figure) => Some(&figure.table),
        _ => None,
    });
    found.expect("a table")
}

/// Only the sections that depend on the benchmark, as Markdown.
fn markdown(fixture: &Fixture, ids: &[&str]) -> String {
    let mut document = outline(&fixture.report());
    document.sections.retain(|section| ids.contains(&section.id));
    render::markdown(&document)
}

#[test]
fn markdown_of_classes_of_files() {
    let fixture = fixture::classes();
    insta::assert_snapshot!(markdown(&fixture, &["delivery", "classes", "network", "workload", "method"]));
}

#[test]
fn markdown_of_users_who_think() {
    insta::assert_snapshot!(markdown(&fixture::thinking(), &["summary", "interactive-law", "workload"]));
}

#[test]
fn markdown_of_webbench_clients() {
    insta::assert_snapshot!(markdown(&fixture::clients(), &["clients"]));
}

/// Golden check G16: 888 MB and 6552 files at 1650 operations per second.
#[test]
fn the_file_set_is_disclosed_as_the_original_does() {
    let fixture = fixture::classes();
    let text = format!("{:?}", section(&fixture, "network").blocks);
    assert!(text.contains("888.6 MiB, 6\\u{202f}552 files"), "{text}");
    assert!(text.contains("60 s – Non RFC1122"), "{text}");
    let listed = fixture.plan.file_set().bytes();
    assert_eq!((listed, listed >> 20), (931_746_088, 888));
}

/// A valid run with load points at which the server was overloaded says so above everything else.
#[test]
fn an_overload_at_the_end_is_told_in_the_banner() {
    let mut fixture = fixture::classes();
    fixture.analysis.load_points[1].verdict.state = analysis::VerdictState::Overloaded;
    let text = format!("{:?}", outline(&fixture.report()).banner.text);
    assert!(
        text.contains("1 of 2 load points valid") && text.contains("show where its capacity ends"),
        "{text}"
    );
}

/// Golden check G26: N ÷ Z at 100, 500 and 1000 users with Z = 0.27 s.
#[test]
fn the_bound_of_thinking_users_stands_beside_their_rate() {
    let section = section(&fixture::thinking(), "interactive-law");
    let bounds: Vec<String> = table(&section).plain_rows().iter().map(|row| row[1].clone()).collect();
    assert_eq!(bounds, ["370.4", "1852", "3704"]);
}

#[test]
fn the_shares_of_classes_add_up() {
    let section = section(&fixture::classes(), "classes");
    for column in [1, 2, 8] {
        let rows = table(&section).plain_rows();
        let share = |row: &Vec<String>| row[column].parse::<f64>().unwrap();
        let sum: f64 = rows[..4].iter().map(share).sum();
        assert!((sum - 100.0).abs() < 0.03 && (share(&rows[4]) - 100.0).abs() < 0.01, "{rows:?}");
    }
}

#[test]
fn sections_appear_where_they_mean_something() {
    let ids = ["delivery", "classes", "interactive-law", "clients"];
    let found = |fixture: Fixture| ids.map(|id| has(&fixture, id));
    assert_eq!(found(fixture::valid()), [false; 4]);
    assert_eq!(found(fixture::classes()), [true, true, false, false]);
    assert_eq!(found(fixture::thinking()), [false, false, true, false]);
    assert_eq!(found(fixture::clients()), [false, false, false, true]);
}

/// A run of a URL instead of a benchmark, over loopback: of its pages nothing is known beforehand.
fn of_url(port: u16) -> Fixture {
    let mut fixture = fixture::valid();
    let title = format!("http://localhost:{port}/");
    let benchmark = BenchmarkId { id: BenchmarkId::URLS.to_owned(), version: 1, title };
    (fixture.plan.benchmark, fixture.analysis.benchmark) = (benchmark.clone(), benchmark);
    fixture.analysis.modifications.clear();
    fixture.plan.sut.name = "external".into();
    let web = fixture.plan.workload.web_mut().unwrap();
    web.requests.iter_mut().for_each(|request| request.reply = ReplyBody::Seen);
    let interfaces = FactSection::new(
        "Network interfaces",
        [("eth0: MTU", "1500".to_owned()), ("lo: MTU", "65536".to_owned())],
    );
    fixture.testbed.sections.push(interfaces);
    let route = Series { machine: 0, counter: Counter::NetRoute, instance: "lo".into() };
    let routed = SeriesUsage { series: route, readings: 1, resets: 0, value: Some(1.0), min: 1, max: 1 };
    fixture.analysis.load_points[0].resources.series.push(routed);
    fixture
}

#[test]
fn a_url_is_no_benchmark_and_has_nothing_of_the_originals() {
    let fixture = of_url(8000);
    let text = render::markdown(&outline(&fixture.report()));
    let foreign =
        ["WebStone", "WebBench", "SPECweb", "RFC1122", "enchmark", "version 1", "file set", " files", "eth0"];
    let found: Vec<&str> = foreign
        .into_iter()
        .flat_map(|word| text.lines().filter(move |line| line.contains(word)))
        // The list of settings as found is of the machine.
        .filter(|line| !line.starts_with("- eth0: MTU"))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(text.contains("http://localhost:8000/") && text.contains("lo: MTU 65536"), "{text}");
    let junit = render::junit(&[fixture.report()]);
    let classes = junit.matches("classname=\"http://localhost:8000/\"").count();
    assert_eq!((classes, junit.matches("classname=").count()), (1, 1), "{junit}");
    assert!(!junit.contains("\"url"), "{junit}");
}

#[test]
fn servers_loaded_by_url_are_not_measured_with_a_url() {
    let one = of_url(8000);
    let other = of_url(8001);
    let run =
        |fixture: &'static str, report| CampaignRun { name: fixture, server: fixture, began: &[], report };
    let runs = [run("http://localhost:8000/", one.report()), run("http://localhost:8001/", other.report())];
    let document = campaign_document(&runs);
    let text = render::markdown(&document);
    let introduction = "http://localhost:8000/ and http://localhost:8001/ were loaded in 2 runs.";
    assert!(text.contains(introduction) && !text.contains("measured with"), "{text}");
    assert_eq!(document.title, "Performance report: pages by URL");
    let compared: Vec<_> = runs.iter().map(CampaignRun::compared).collect();
    let comparison = compare(&compared, MismatchPolicy::Allow).unwrap();
    let document = comparison_document(&comparison, &[], &[]);
    assert_eq!(document.title, "Comparison of running servers");
    assert_eq!(document.subtitle, "http://localhost:8000/, http://localhost:8001/");
    let junit = render::comparison_junit(&comparison, &[], false);
    assert!(!junit.contains("\"url"), "{junit}");
}

/// Errors and warnings are folded, so their headings say whether it is worth to unfold them.
#[test]
fn folded_sections_say_how_much_is_in_them() {
    let mut fixture = fixture::quick();
    let title = |fixture: &Fixture, id: &str| section(fixture, id).title;
    let n: u64 = fixture.analysis.load_points.iter().map(|point| point.total.errors).sum();
    assert_eq!(title(&fixture, "errors"), format!("Errors ({n})"));
    fixture.analysis.load_points[0].total.errors += 1000 - n;
    assert_eq!(title(&fixture, "errors"), "Errors (1\u{202f}000)");
    let listed = section(&fixture, "remarks");
    let Block::List(remarks) = &listed.blocks[0] else { panic!("{listed:?}") };
    assert_eq!(listed.title, format!("Warnings and remarks ({})", remarks.len()));
    fixture.analysis.verdict.remarks.clear();
    fixture.analysis.load_points.iter_mut().for_each(|point| point.verdict.remarks.clear());
    assert_eq!(title(&fixture, "remarks"), "Warnings and remarks (0)");
}

/// Tables that are only looked up fill most pages of a printed report: a browser leaves them out.
#[test]
fn settings_and_counters_are_not_printed() {
    let mut fixture = fixture::quick();
    let facts = ["online", "governor"].map(|name| Fact::found(name, "2").from("/sys"));
    fixture.testbed.sections.push(FactSection { title: "Processor".into(), facts: facts.into() });
    let document = outline(&fixture.report());
    let folds = |id: &str| -> Vec<bool> {
        let section = document.sections.iter().find(|section| section.id == id).unwrap();
        let bulky = |block: &Block| match block {
            Block::Fold { bulky, .. } => Some(*bulky),
            _ => None,
        };
        section.blocks.iter().filter_map(bulky).collect()
    };
    assert!(!folds("configuration").is_empty() && folds("configuration").iter().all(|bulky| *bulky));
    assert_eq!(
        folds("method"),
        [false, true],
        "what the numbers mean is printed, the limits of all rules are not"
    );
    let html = render::html(&document);
    assert!(
        html.contains("<details class=\"bulky\"><summary>")
            && html.contains("details.bulky::details-content")
    );
}

/// 103.7 operations in progress with 100 clients need a word, and so does a percentile that is not there.
#[test]
fn what_a_table_shows_against_expectation_is_explained_beside_it() {
    let mut fixture = fixture::valid();
    for point in &mut fixture.analysis.load_points {
        point.load_factor = point.load.level();
    }
    assert!(fixture.analysis.load_points.iter().all(|point| point.response.percentile(0.99).is_some()));
    assert_eq!(table_notes(&fixture.report()), Vec::<String>::new());
    fixture.analysis.load_points[1].load_factor *= 1.037;
    fixture.analysis.load_points[0].response.percentiles.clear();
    let notes = table_notes(&fixture.report());
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].contains("above it where long ones began before") && notes[1].starts_with("p99 –: too few")
    );
}
