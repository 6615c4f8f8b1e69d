//! A campaign: several benchmarks and servers in one document.

use std::collections::BTreeSet;

use analysis::compare::{MismatchPolicy, RunInput, compare};
use analysis::{Verdict, VerdictState};
use disclosure::charts::{Palette, standalone};
use disclosure::{
    Block, CampaignRun, Document, Figure, PriceSheet, campaign_document, comparison_sections, render,
};
use model::{Fact, FactSection, PriceList};

use crate::fixture::{self, Fixture};

/// A run with the names that a campaign gives it.
struct Named {
    name: &'static str,
    server: &'static str,
    fixture: Fixture,
}

fn named(name: &'static str, server: &'static str, fixture: Fixture) -> Named {
    Named { name, server, fixture }
}

fn runs(all: &[Named]) -> Vec<CampaignRun<'_>> {
    all.iter()
        .map(|one| CampaignRun {
            name: one.name,
            server: one.server,
            began: &[],
            report: one.fixture.report(),
        })
        .collect()
}

/// A server that carries a fifth more than the usual one, and whose configuration differs in one fact.
fn faster() -> Fixture {
    let mut fixture = fixture::valid();
    for point in &mut fixture.analysis.load_points {
        fixture::speed_up(point, 1.2);
    }
    if let Some(headline) = &mut fixture.analysis.headline {
        headline.value *= 1.2;
    }
    fixture.plan.sut.name = "apache".into();
    let server = FactSection::new("Server", [("version", "Apache/2.4.62".to_owned())]);
    fixture.testbed.sections.push(server);
    fixture
}

fn usual() -> Fixture {
    let mut fixture = fixture::valid();
    fixture.plan.sut.name = "nginx".into();
    let server = FactSection::new("Server", [("version", "nginx/1.22.1".to_owned())]);
    fixture.testbed.sections.push(server);
    fixture
}

/// Another benchmark needs another id to be one.
fn of_benchmark(id: &str, mut fixture: Fixture) -> Fixture {
    fixture.plan.benchmark.id = id.into();
    fixture.analysis.benchmark = fixture.plan.benchmark.clone();
    fixture
}

/// Three benchmarks; of the first two servers, of the last a run that is not valid.
fn campaign() -> Vec<Named> {
    let mut broken = of_benchmark("dynpage", fixture::thinking());
    let verdict = Verdict { state: VerdictState::Incomplete, reasons: vec![], remarks: vec![] };
    broken.analysis.verdict = verdict;
    vec![
        named("webstone/nginx", "nginx", usual()),
        named("webstone/apache", "apache", faster()),
        named("web96/nginx", "nginx", of_benchmark("web96", fixture::classes())),
        named("dynpage/nginx", "nginx", broken),
    ]
}

fn priced(mut fixture: Fixture, dollars: &str) -> Fixture {
    let text = format!(
        "format = 1\ntitle = \"t\"\ncurrency = \"USD\"\ndate = 2026-11-01\nsource = \"s\"\n\
         [[item]]\nname = \"Server\"\nkind = \"hardware\"\nunit-price = {dollars}\n"
    );
    let list = PriceList::parse("prices.toml", &text).unwrap();
    fixture.price = Some(PriceSheet { list, file: "prices.toml".into(), blake3: "9b1f0c".into() });
    fixture
}

fn figures(document: &Document) -> Vec<&Figure> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    blocks
        .filter_map(|block| if let Block::Figure(figure) = block { Some(figure.as_ref()) } else { None })
        .collect()
}

fn svg_of(all: &[Named], id: &str) -> String {
    let document = campaign_document(&runs(all));
    let figure = figures(&document).into_iter().find(|figure| figure.chart.id == id).expect("such a figure");
    standalone(&figure.chart, &Palette::PAPER).replace("><", ">\n<")
}

#[test]
fn markdown_of_a_campaign() {
    let markdown = render::markdown(&campaign_document(&runs(&campaign())));
    assert!(!markdown.contains("\\`"), "flags are set as code");
    insta::assert_snapshot!(markdown);
}

/// The reported case: of three servers that were offered 2,000/s one was called the best, at 2,000/s.
#[test]
fn a_rate_that_all_were_offered_belongs_to_all_of_them() {
    let all =
        [named("nginx", "nginx", fixture::open_loop()), named("apache", "apache", fixture::open_loop())];
    let document = campaign_document(&runs(&all));
    let tiles = document.sections[0].blocks.iter().find_map(|block| match block {
        Block::Tiles(tiles) => Some(tiles),
        _ => None,
    });
    let tile = &tiles.unwrap()[0];
    assert_eq!(
        (tile.value.as_str(), tile.note.as_str()),
        ("400", "the highest offered load, handled by nginx and apache, modified")
    );
}

#[test]
fn svg_of_bars() {
    insta::assert_snapshot!(svg_of(&campaign(), "bars"));
}

#[test]
fn svg_of_percentile_curves() {
    insta::assert_snapshot!(svg_of(&campaign(), "curves"));
}

#[test]
fn svg_of_price_against_performance() {
    let all = [
        named("nginx", "nginx", priced(usual(), "2000")),
        named("apache", "apache", priced(faster(), "3500")),
    ];
    insta::assert_snapshot!(svg_of(&all, "price-chart"));
}

#[test]
fn a_campaign_says_of_every_benchmark_what_a_report_has_to_say() {
    let all = campaign();
    let document = campaign_document(&runs(&all));
    let titles: Vec<&str> = document.sections.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(
        titles[..4],
        ["Executive overview", "WebStone 2.0.1-style", "SPECweb96-style", "Dynamic page"]
    );
    assert_eq!(document.banner.state, VerdictState::Incomplete);
    for section in &document.sections[1..4] {
        let headings: Vec<&str> = section
            .blocks
            .iter()
            .filter_map(|block| if let Block::Heading(text) = block { Some(text.as_str()) } else { None })
            .collect();
        let expected =
            ["Results", "Measurement analysis", "Methodology", "Test disclosure", "Benchmark and production"];
        assert_eq!(headings, expected, "{}", section.title);
    }
}

/// The same charts and tables come back for every benchmark; each needs an anchor of its own.
#[test]
fn no_anchor_of_a_campaign_occurs_twice_and_nothing_is_loaded() {
    let mut all = campaign();
    all.push(named(
        "web96/apache",
        "apache",
        of_benchmark("web96", {
            let mut fixture = fixture::classes();
            fixture.plan.sut.name = "apache".into();
            fixture
        }),
    ));
    let html = render::html(&campaign_document(&runs(&all)));
    let values = |attribute: &str| -> Vec<String> {
        html.split(attribute).skip(1).map(|part| part.split('"').next().unwrap().to_owned()).collect()
    };
    let ids = values(" id=\"");
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(ids.len(), unique.len());
    assert!(ids.contains(&"bars".to_owned()) && ids.contains(&"bars-2".to_owned()));
    assert!(values("href=\"#").iter().all(|link| unique.contains(link)));
    for forbidden in ["<script", "<link", " src=", "url(", "http://", "https://"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
}

/// Three benchmarks with two servers each, and twenty load points, as a published report would have.
#[test]
fn a_campaign_of_full_runs_stays_small() {
    let run = |id: &'static str, server: &'static str| {
        let mut fixture = of_benchmark(id, fixture::full());
        fixture.plan.sut.name = server.into();
        fixture
    };
    let all: Vec<Named> = ["one", "two", "three"]
        .into_iter()
        .flat_map(|id| ["nginx", "apache"].map(|server| named(id, server, run(id, server))))
        .collect();
    let bytes = render::html(&campaign_document(&runs(&all))).len();
    assert!(bytes < 400_000, "{bytes} bytes");
}

#[test]
fn configurations_stand_side_by_side_and_what_differs_comes_first() {
    let mut all = campaign();
    all[0].fixture.testbed.sections[0].facts.push(Fact::found("load average", "0.31"));
    for (one, port) in all.iter_mut().zip(["46273", "80"]) {
        let launch = Fact::found("command line", &format!("httpd -l 127.0.0.1:{port}"));
        one.fixture.testbed.sections.last_mut().unwrap().facts.push(launch);
    }
    // Found first after the server's section was begun; it stands with its own.
    let first = &mut all[1].fixture.testbed.sections[0];
    first.facts.push(Fact::found("swap", "none"));
    let first = first.title.clone();
    let document = campaign_document(&runs(&all));
    let section = document.sections.iter().find(|section| section.id == "configurations").unwrap();
    let [Block::Table(differing), Block::Fold { blocks, .. }] = section.blocks.as_slice() else {
        panic!("a table and a fold: {:?}", section.blocks)
    };
    let columns: Vec<&str> = differing.columns.iter().map(|column| column.heading.as_str()).collect();
    assert_eq!(columns, ["Section", "Setting", "nginx", "apache"]);
    let row = |row: &disclosure::Row| row.cells.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = differing.rows.iter().map(row).collect();
    let expected =
        [[first.as_str(), "swap", "–", "none"], ["Server", "version", "nginx/1.22.1", "Apache/2.4.62"]];
    assert_eq!(rows, expected);
    let [Block::Table(alike)] = blocks.as_slice() else { panic!("a table") };
    let alike: Vec<Vec<String>> = alike.rows.iter().map(row).collect();
    assert!(alike.iter().any(|row| row[1..] == ["governor", "performance"]), "once for all: {alike:?}");
    let launch = ["Server", "command line", "httpd -l 127.0.0.1:…"];
    assert!(alike.iter().any(|row| row == &launch), "a port is no difference: {alike:?}");
    assert!(alike.iter().all(|row| row[1] != "load average" && row[1] != "nginx.conf"));
}

#[test]
fn json_has_the_report_of_every_run_under_its_benchmark() {
    let all = campaign();
    let json = render::campaign_json(&runs(&all));
    let benchmarks = json["benchmarks"].as_array().unwrap();
    let ids: Vec<&str> = benchmarks.iter().map(|one| one["benchmark"]["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["webstone-2.0.1", "web96", "dynpage"]);
    let sizes: Vec<usize> = benchmarks.iter().map(|one| one["runs"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [2, 1, 1]);
    assert!(benchmarks[0]["comparison"]["levels"].is_array() && benchmarks[1]["comparison"].is_null());
    let rate = &benchmarks[0]["runs"][1]["report"]["load_points"][2]["rate_per_s"];
    assert_eq!(rate.as_f64(), Some(all[1].fixture.analysis.load_points[2].rate));
}

#[test]
fn a_campaign_without_runs_says_so() {
    let html = render::html(&campaign_document(&[]));
    assert!(html.contains("There are no runs.") && html.contains("0 of 0 runs valid"));
}

#[test]
fn a_comparison_gains_bars_curves_and_configurations() {
    let all = campaign();
    let pair = &runs(&all)[..2];
    let compared: Vec<RunInput> = pair
        .iter()
        .map(|run| RunInput {
            name: run.name,
            server: run.server,
            program: "plimsoll 0.1.0",
            plan: run.report.plan,
            analysis: run.report.analysis,
            testbed: run.report.testbed,
            began: &[],
        })
        .collect();
    let comparison = compare(&compared, MismatchPolicy::Allow).unwrap();
    let sections = comparison_sections(pair, &comparison);
    let ids: Vec<&str> = sections.iter().map(|section| section.id).collect();
    assert_eq!(ids, ["beside", "configurations", "disclosure", "production"]);
    let Block::Figure(bars) = &sections[0].blocks[0] else { panic!("bars") };
    let first = &bars.table.rows[0].cells;
    assert_eq!((first[0].text.as_str(), first[2].text.as_str()), ("apache", "40"), "the highest comes first");
}
