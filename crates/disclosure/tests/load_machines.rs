//! A run whose load agents are processes of their own.

use disclosure::{Block, Document, Section, Table, outline};
use model::{AgentFigure, Fact, FactSection, NamedCount, agent_title};

use crate::fixture;

fn section<'a>(document: &'a Document, id: &str) -> Option<&'a Section> {
    document.sections.iter().find(|section| section.id == id)
}

fn table<'a>(section: &'a Section, caption: &str) -> Option<&'a Table> {
    section.blocks.iter().find_map(|block| match block {
        Block::Table(table) if table.caption == caption => Some(table),
        _ => None,
    })
}

/// Goal: every load machine has a row that says what it is, and one that says how it did: the worst of all load points. Method: two
/// agents, one with little known; by hand: 250 ms of 1 s and 600 ms of 1 s are 25 % and 60 %.
#[test]
fn load_machines_stand_in_tables_of_their_own() {
    let mut fixture = fixture::quick();
    assert!(section(&outline(&fixture.report()), "load-machines").is_none(), "no agents, no section");
    let known = [
        ("machine", "machine 1"),
        ("processor", "Xeon MP 2.8 GHz"),
        ("CPUs available", "4"),
        ("kernel", "6.1.0"),
        ("memory", "8 GiB"),
        ("network", "1 Gbit/s"),
        ("load threads", "4"),
        ("CPUs of load threads", "not pinned"),
        ("users", "40"),
    ];
    for (agent, facts) in [&known[..], &known[..1]].into_iter().enumerate() {
        let facts = facts.iter().map(|(name, value)| Fact::found(name, value)).collect();
        fixture.testbed.sections.push(FactSection { title: agent_title(agent), facts });
    }
    for (place, cpu) in [(0, 250_000), (1, 600_000)] {
        let point = &mut fixture.analysis.load_points[place];
        for (figure, n) in [
            (AgentFigure::Started, 1_000),
            (AgentFigure::Cpu, cpu),
            (AgentFigure::ThreadTime, 1_000_000),
            (AgentFigure::RunQueue, 12_000),
            (AgentFigure::Lateness, 1_500),
            (AgentFigure::StartDelay, 40),
            (AgentFigure::ClockBound, 30),
        ] {
            let name = figure.count_name(0);
            point.counts.push(NamedCount { load_point: point.index, name, n });
        }
    }
    let document = outline(&fixture.report());
    let found = section(&document, "load-machines").expect("a section");
    let machines = table(found, "Load machines, as they describe themselves").unwrap().plain_rows();
    let expected = [
        "0",
        "machine 1 (6.1.0)",
        "Xeon MP 2.8 GHz (4 CPUs available)",
        "8 GiB",
        "1 Gbit/s",
        "4 (not pinned)",
        "40",
    ];
    assert_eq!(machines[0], expected);
    assert_eq!(machines[1][..2], ["1", "machine 1"]);
    let figures = table(found, "Load of the load machines").unwrap().plain_rows();
    assert_eq!(figures[0], ["0", "2000", "60.0", "1.2", "1.50 ms", "40.0 µs", "30.0 µs", "–"]);
    assert_eq!(figures[1], ["1", "–", "–", "–", "–", "–", "–", "–"]);
    let counts = section(&document, "checks").and_then(|checks| table(checks, "Counts of load points"));
    assert!(counts.is_none(), "they stand nowhere else");
    let configuration = section(&document, "configuration").unwrap();
    assert!(!format!("{configuration:?}").contains("Load agent"));
}
