//! Sections about servers that state their own times.

use analysis::SummaryStatistics;
use disclosure::{Block, Table, outline};
use model::{AppFileIo, AppPayload, AppProtocol, AppSuite, AppWorkload, ThinkTime, Workload};

use crate::fixture::{self, Fixture};

/// Five kinds of transactions, each with means of 5 ms in all, 1 ms in the queue and 3 ms in service.
fn fixture() -> Fixture {
    let workload = AppWorkload {
        suite: AppSuite::System,
        payloads: vec![AppPayload { bytes: 512, weight: 1 }],
        rounds: 1,
        range_bytes: 1 << 20,
        auto_range: None,
        io: AppFileIo::Buffered,
        is_cold: false,
        protocol: AppProtocol::Http,
        think: ThinkTime::None,
    };
    let mut fixture = fixture::valid();
    fixture.plan.catalog = workload.catalog();
    fixture.plan.workload = Workload::App(workload);
    let mean = |seconds: f64| SummaryStatistics { mean: Some(seconds), ..SummaryStatistics::default() };
    for point in &mut fixture.analysis.load_points {
        point.web = None;
        for kind in point.kinds.iter_mut().chain([&mut point.total]) {
            kind.web = None;
            kind.response = mean(0.005);
            kind.measures = [0.001, 0.003, 544.0, 56.0].map(mean).into();
            kind.rest_mean = Some(0.001);
        }
    }
    fixture
}

/// Returns the table of kinds of operations at the first load point.
fn kinds(fixture: &Fixture) -> Table {
    let sections = outline(&fixture.report()).sections;
    let found = sections.into_iter().find(|section| section.id == "kinds").expect("a section of kinds");
    let first = found.blocks.into_iter().next();
    let Some(Block::Table(table)) = first else { panic!("{first:?}") };
    table
}

#[test]
fn the_rest_of_the_response_time_stands_beside_the_times_of_the_server() {
    let mut fixture = fixture();
    // A reply to PROC left its time in the queue out.
    let point = &mut fixture.analysis.load_points[0];
    point.kinds[1].rest_mean = None;
    point.total.rest_mean = None;
    let table = kinds(&fixture);
    let headings = &table.headings()[9..];
    let names =
        ["Mean queue", "Mean service", "Mean network and client", "Mean sent bytes", "Mean received bytes"];
    assert!(names.iter().zip(headings).all(|(name, heading)| heading.starts_with(name)), "{headings:?}");
    assert_eq!(headings.len(), names.len());
    let rows: Vec<Vec<String>> = table.plain_rows().into_iter().map(|row| row[9..12].to_vec()).collect();
    let row = |rest: &str| ["1.00 ms", "3.00 ms", rest].map(str::to_owned).to_vec();
    let known = row("1.00 ms");
    let unknown = row("–");
    assert_eq!(rows, [&known, &unknown, &known, &known, &known, &unknown].map(Vec::clone));
    assert!(format!("{:?}", table.note).contains("(queue, service); network and client have the rest"));
}

#[test]
fn a_server_that_states_no_times_of_its_own_has_no_rest() {
    let mut fixture = fixture();
    fixture.plan.catalog.response_parts.clear();
    let table = kinds(&fixture);
    assert_eq!(table.headings().len(), 13, "{:?}", table.headings());
    assert!(table.plain_rows().iter().all(|row| row.len() == 13));
    assert!(!format!("{:?}", table.note).contains("network and client"));
}
