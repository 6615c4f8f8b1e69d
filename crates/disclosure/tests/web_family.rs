//! Sections of the web family's benchmarks beyond WebStone's tables.

use disclosure::{Block, Section, Table, outline, render};

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
