//! Several runs in one document.

mod fixture;

use analysis::compare::{Compared, Comparison, interleaved};
use disclosure::{charts, comparison_document, comparison_summary, comparison_table, render};
use fixture::Fixture;

/// A server, another that carries a fifth more with one load point that is not valid, and one that carries nothing.
fn runs() -> [(&'static str, Fixture); 3] {
    let mut faster = fixture::quick();
    for point in &mut faster.analysis.load_points {
        point.rate *= 1.2;
        point.rate_interval = point.rate_interval.map(|(low, high)| (low * 1.2, high * 1.2));
    }
    let mut dead = fixture::quick();
    dead.analysis.headline = None;
    dead.analysis.load_points.iter_mut().for_each(|point| point.verdict.state = analysis::State::Invalid);
    [("nginx", fixture::valid()), ("apache", faster), ("a|b<c>", dead)]
}

fn compared(runs: &[(&'static str, Fixture)]) -> Comparison {
    let runs: Vec<Compared> = runs
        .iter()
        .map(|(name, fixture)| Compared { name, plan: &fixture.plan, analysis: &fixture.analysis })
        .collect();
    interleaved(&runs).unwrap()
}

#[test]
fn markdown_of_a_comparison() {
    let runs = runs();
    let provenance: Vec<_> = runs.iter().map(|(_, fixture)| fixture.provenance.clone()).collect();
    let document = comparison_document(&compared(&runs), &provenance);
    insta::assert_snapshot!(render::markdown(&document));
}

#[test]
fn a_comparison_in_html_needs_nothing_else() {
    let html = render::html(&comparison_document(&compared(&runs()), &[]));
    for forbidden in ["<script", "<link", " src=", "http://", "https://", "a|b<c>"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("1 of 3 runs valid"), "the verdicts stand above");
}

/// 40 users are the best of both: 1.2 is the ratio, and what is not valid has none.
#[test]
fn the_terminal_shows_ratios_of_what_is_valid() {
    let comparison = compared(&runs());
    let summary = comparison_summary(&comparison);
    assert_eq!(summary.headings()[..4], ["Server", "Clients", "Conn/second", "Ratio"]);
    let ratios = |rows: Vec<Vec<String>>| rows.into_iter().map(|row| row[3].clone()).collect::<Vec<_>>();
    assert_eq!(ratios(summary.plain_rows()), ["1.000", "1.200", "–"]);
    let table = comparison_table(&comparison).plain_rows();
    assert_eq!(table.len(), 4 * 3);
    assert_eq!(table[..3].iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["10", "", ""]);
    assert_eq!(ratios(table)[9..], ["1.000", "–", "–"]);
}

#[test]
fn json_has_every_figure_of_every_server() {
    let comparison = compared(&runs());
    let json = render::comparison_json(&comparison);
    assert_eq!(json["runs"][1]["name"], "apache");
    assert_eq!(json["runs"][2]["best"], serde_json::Value::Null);
    for (level, found) in comparison.levels.iter().zip(json["levels"].as_array().unwrap()) {
        assert_eq!(found["load"]["users"].as_f64(), Some(level.load.level()));
        let rates: Vec<_> = found["figures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["rate_per_s"].as_f64().unwrap())
            .collect();
        assert_eq!(rates, level.figures.iter().map(|one| one.rate).collect::<Vec<_>>());
    }
}

#[test]
fn every_server_has_its_line_in_the_chart() {
    let document = comparison_document(&compared(&runs()), &[]);
    let disclosure::Block::Figure(figure) = &document.sections[1].blocks[0] else { panic!("a figure") };
    let svg = charts::standalone(&figure.chart, &charts::Palette::PAPER);
    assert!(["nginx", "apache"].iter().all(|name| svg.contains(name)) && !svg.contains("NaN"));
    assert_eq!(figure.chart.panels[0].series.len(), 3);
}

/// Passes on 1, 2 and 4 CPUs, twice each; the four were not full.
#[test]
fn markdown_of_a_server_on_groups_of_cpus() {
    let mut runs = Vec::new();
    for (cpus, rate, busy) in [
        (1, 1000.0, 0.99),
        (2, 1900.0, 0.98),
        (4, 3000.0, 0.91),
        (1, 1010.0, 0.99),
        (2, 1880.0, 0.99),
        (4, 3100.0, 0.90),
    ] {
        let mut fixture = fixture::valid();
        fixture.plan.sut.cpus = (0..cpus).collect();
        fixture.plan.sut.quota = None;
        let best = fixture.analysis.headline.as_ref().unwrap().load_point;
        let point = &mut fixture.analysis.load_points[best];
        (point.rate, point.rate_interval, point.sut_busy) = (rate, None, Some(busy));
        runs.push(("built-in", fixture));
    }
    let comparison = compared(&runs);
    let text = disclosure::scaling_text(&comparison.scalings[0]).unwrap();
    assert_eq!(
        text,
        "built-in: 4 CPUs carry 3.03 × the rate of one (efficiency 76 %), where its CPUs were not full"
    );
    let mut document = comparison_document(&comparison, &[]);
    document.sections.retain(|section| section.id == "scaling");
    insta::assert_snapshot!(render::markdown(&document));
    assert!(render::html(&comparison_document(&comparison, &[])).contains("id=\"scaling-chart\""));
    let json = render::comparison_json(&comparison);
    assert_eq!(json["scalings"][0]["groups"][2]["bound_by_cpus"], false);
}
