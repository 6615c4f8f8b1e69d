//! Pictures of a run, as they are on paper.

use disclosure::charts::{Palette, standalone};
use disclosure::{Block, outline};

use crate::fixture::{self, Fixture};

/// Returns a chart of a run's report as a file of its own, an element per line.
fn svg_of(fixture: &Fixture, id: &str) -> String {
    let document = outline(&fixture.report());
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    let mut figures =
        blocks.filter_map(|block| if let Block::Figure(figure) = block { Some(figure) } else { None });
    let figure = figures.find(|figure| figure.chart.id == id).expect("such a chart");
    standalone(&figure.chart, &Palette::PAPER).replace("><", ">\n<")
}

#[test]
fn svg_of_the_heat_map() {
    insta::assert_snapshot!(svg_of(&fixture::quick(), "heat-map"));
}

#[test]
fn svg_of_percentile_curves() {
    insta::assert_snapshot!(svg_of(&fixture::quick(), "percentile-curve"));
}

#[test]
fn svg_of_the_chart_that_a_report_opens_with() {
    let fixture = fixture::quick();
    let lead = outline(&fixture.report()).lead.expect("a chart");
    insta::assert_snapshot!(standalone(&lead.chart, &Palette::PAPER).replace("><", ">\n<"));
}

/// A curve needs two points; of one load the run itself is shown.
#[test]
fn a_report_of_one_load_opens_with_the_run_over_time() {
    let mut fixture = fixture::valid();
    fixture.analysis.load_points.truncate(1);
    let lead = outline(&fixture.report()).lead.expect("a chart");
    assert_eq!(
        (lead.chart.title.as_str(), lead.chart.panels.len()),
        ("Rate and response time over the run", 2)
    );
}

#[test]
fn svg_of_the_timeline() {
    insta::assert_snapshot!(svg_of(&fixture::incomplete(), "timeline-chart"));
}

/// Goal: of many load points only those are drawn that matter, each with what it is.
#[test]
fn of_many_load_points_the_curves_of_those_that_matter_are_drawn() {
    let document = outline(&fixture::full().report());
    let section = document.sections.iter().find(|section| section.id == "percentiles").unwrap();
    let Block::Figure(figure) = &section.blocks[1] else { panic!("a figure") };
    let names: Vec<&str> = figure.chart.panels[0].series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(
        names,
        ["10 clients", "30 clients (knee)", "50 clients (saturation)", "180 clients (peak)", "200 clients"]
    );
}

#[test]
fn a_heat_map_without_classes_is_left_out() {
    let mut fixture = fixture::quick();
    fixture.analysis.load_points.iter_mut().for_each(|point| point.time_classes.clear());
    let document = outline(&fixture.report());
    let section = document.sections.iter().find(|section| section.id == "timeline").unwrap();
    assert_eq!(section.blocks.len(), 1);
}
