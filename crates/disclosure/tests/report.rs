//! The whole report: golden files, and what must hold for every run.

use std::collections::BTreeSet;

use analysis::Finding;
use disclosure::{Block, Document, Section, charts, finding_text, outline, render, results_table};
use model::Outcome;

use crate::fixture::{self, Fixture};

fn all() -> [(&'static str, Fixture); 9] {
    [
        ("quick", fixture::quick()),
        ("valid", fixture::valid()),
        ("incomplete", fixture::incomplete()),
        ("open_loop", fixture::open_loop()),
        ("hostile", fixture::hostile()),
        ("classes", fixture::classes()),
        ("thinking", fixture::thinking()),
        ("clients", fixture::clients()),
        ("harmonic", fixture::harmonic()),
    ]
}

fn html_of(fixture: &Fixture) -> String {
    render::html(&outline(&fixture.report()))
}

/// Every block of a section, those in folds included.
fn blocks(section: &Section) -> Vec<&Block> {
    fn walk<'a>(blocks: &'a [Block], out: &mut Vec<&'a Block>) {
        for block in blocks {
            out.push(block);
            if let Block::Fold { blocks, .. } = block {
                walk(blocks, out);
            }
        }
    }
    let mut out = Vec::new();
    walk(&section.blocks, &mut out);
    out
}

fn figures(document: &Document) -> Vec<&disclosure::Figure> {
    let blocks = document.sections.iter().flat_map(blocks);
    blocks
        .filter_map(|block| if let Block::Figure(figure) = block { Some(figure.as_ref()) } else { None })
        .collect()
}

/// Splits CSV as RFC 4180 says.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![];
    let mut row = vec![];
    let mut field = String::new();
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match (c, quoted) {
            ('"', true) if letters.peek() == Some(&'"') => field.push(letters.next().unwrap()),
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(std::mem::take(&mut field)),
            ('\r', false) => {}
            ('\n', false) => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            (c, _) => field.push(c),
        }
    }
    rows
}

#[test]
fn flags_in_reasons_and_hints_are_set_as_code() {
    let mut fixture = fixture::quick();
    let fault = Finding::GeneratorFault { outcome: Outcome::NoLocalPort, n: 3 };
    fixture.analysis.verdict.reasons[0].finding = fault;
    let html = html_of(&fixture);
    assert!(html.contains("side: <code>no local port</code> (rule <code>generator-fault</code>)"), "{html}");
    assert!(html.contains("Hint: see <code>plimsoll doctor</code> on local ports"), "{html}");
}

#[test]
fn markdown_of_a_run_with_errors_and_an_invalid_load_point() {
    insta::assert_snapshot!(render::markdown(&outline(&fixture::quick().report())));
}

#[test]
fn markdown_of_an_incomplete_run() {
    insta::assert_snapshot!(render::markdown(&outline(&fixture::incomplete().report())));
}

#[test]
fn markdown_of_an_open_loop() {
    insta::assert_snapshot!(render::markdown(&outline(&fixture::open_loop().report())));
}

#[test]
fn html_of_an_incomplete_run() {
    insta::assert_snapshot!(html_of(&fixture::incomplete()).replace("><", ">\n<"));
}

#[test]
fn csv_of_a_run_with_errors_and_an_invalid_load_point() {
    insta::assert_snapshot!(render::csv(&fixture::quick().report()).replace('\r', ""));
}

#[test]
fn json_of_an_incomplete_run() {
    let json = render::json(&fixture::incomplete().report());
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn the_timeline_says_which_load_points_were_steady() {
    let expected = "Steady state of rate and mean response time: reached at 10 and 20 clients; not reached at 40 clients \
                    (the rate fell by 7.1 %, the response time varied by 12.4 %); unknown (too few seconds) at 80 clients.";
    assert!(html_of(&fixture::quick()).contains(expected));
}

#[test]
fn html_loads_nothing_and_runs_nothing() {
    for (name, fixture) in all() {
        let html = html_of(&fixture);
        for forbidden in
            ["<script", "<link", "<iframe", " src=", "url(", "@import", " onload", "http://", "https://"]
        {
            assert!(!html.contains(forbidden), "{name}: {forbidden}");
        }
        let links: Vec<&str> = html.split("href=\"").skip(1).collect();
        assert!(!links.is_empty() && links.iter().all(|link| link.starts_with('#')), "{name}");
    }
}

#[test]
fn every_link_has_its_place_and_no_id_occurs_twice() {
    for (name, fixture) in all() {
        let html = html_of(&fixture);
        let values = |attribute: &str| -> Vec<String> {
            let parts = html.split(attribute).skip(1);
            parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
        };
        let ids = values(" id=\"");
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(ids.len(), unique.len(), "{name}");
        assert!(values("href=\"#").iter().all(|link| unique.contains(link)), "{name}");
    }
}

/// Returns a line of Markdown without its code spans, in which nothing has a meaning either.
fn without_code(line: &str) -> String {
    let mut kept = String::new();
    let mut is_code = false;
    let mut is_escaped = false;
    for c in line.chars() {
        match c {
            '`' if !is_escaped => is_code = !is_code,
            _ if is_code => {}
            _ => kept.push(c),
        }
        is_escaped = c == '\\' && !is_escaped && !is_code;
    }
    assert!(!is_code, "a code span without an end: {line}");
    kept
}

#[test]
fn hostile_texts_break_no_form() {
    let fixture = fixture::hostile();
    let report = fixture.report();
    let bad = fixture::HOSTILE;

    let markdown = render::markdown(&outline(&report));
    // Between fences nothing has a meaning; there it stands as it was typed.
    let mut fence = None;
    let mut outside = String::new();
    for line in markdown.lines() {
        match fence {
            None if line.starts_with("```") => fence = Some(line),
            Some(open) if line == open => fence = None,
            None => outside += &without_code(line),
            Some(_) => {}
        }
    }
    assert!(fence.is_none() && !outside.contains("<script>"));
    let width = |line: &str| line.replace(r"\|", "").matches('|').count();
    let lines: Vec<&str> = markdown.lines().collect();
    for table in lines.split(|line| !line.starts_with('|')).filter(|table| !table.is_empty()) {
        assert!(table.iter().all(|line| width(line) == width(table[0])), "{table:#?}");
    }

    let rows = parse_csv(&render::csv(&report));
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let reason = finding_text(&fixture.analysis.load_points[3].verdict.reasons[0].finding);
    assert!(reason.contains(bad), "{reason}");
    assert_eq!(*rows[4].last().unwrap(), reason);

    let json: serde_json::Value = serde_json::from_str(&render::json(&report).to_string()).unwrap();
    assert_eq!(json["load_points"][0]["kinds"][0]["name"].as_str(), Some(bad));
}

/// Three significant digits, of times from 1 to 999 ms.
fn milliseconds(seconds: f64) -> String {
    let (value, decimals) = match 1e3 * seconds {
        value if value < 10.0 => (value, 2),
        value if value < 100.0 => (value, 1),
        value => (value, 0),
    };
    format!("{value:.decimals$} ms")
}

/// Four significant digits, of figures from 1 to 999.
fn figure(value: f64) -> String {
    if value < 100.0 { format!("{value:.2}") } else { format!("{value:.1}") }
}

#[test]
fn all_forms_carry_the_same_numbers() {
    let fixture = fixture::quick();
    let report = fixture.report();
    let html = html_of(&fixture);
    let markdown = render::markdown(&outline(&report));
    let rows = parse_csv(&render::csv(&report));
    let json = render::json(&report);
    let column = |name: &str| rows[0].iter().position(|head| head == name).unwrap();
    for (index, point) in fixture.analysis.load_points.iter().enumerate() {
        let p99 = point.response.percentile(0.99).unwrap().value.as_secs_f64();
        let figures = [
            ("rate_per_s", point.rate, format!("{:.1}", point.rate)),
            ("response_mean_s", point.response.mean.unwrap(), milliseconds(point.response.mean.unwrap())),
            ("load_factor", point.load_factor, figure(point.load_factor)),
            ("response_p99_s", p99, milliseconds(p99)),
        ];
        for (name, exact, shown) in figures {
            let cells = [format!("<td>{shown}</td>"), format!("<td>{shown}<small>")];
            assert!(cells.iter().any(|cell| html.contains(cell)), "{name} {shown} not in HTML");
            let cells = [
                format!(" {shown} |"),
                format!("**{shown}** |"),
                format!("| {shown} ("),
                format!("**{shown} ("),
            ];
            assert!(cells.iter().any(|cell| markdown.contains(cell)), "{name} {shown}");
            assert_eq!(rows[index + 1][column(name)].parse::<f64>(), Ok(exact), "{name}");
        }
        let point_json = &json["load_points"][index];
        assert_eq!(point_json["rate_per_s"].as_f64(), Some(point.rate));
        let throughput = point.throughput_mbit.unwrap();
        let megabits = figure(throughput * 1.048_576);
        assert!(html.contains(&format!("<td>{megabits}</td>")), "{megabits}");
        let exported = rows[index + 1][column("throughput_mbit_per_s")].parse::<f64>();
        assert_eq!(
            exported.map(figure).as_deref(),
            Ok(megabits.as_str()),
            "one unit on pages and in exports"
        );
        assert_eq!(point_json["response"]["mean_s"].as_f64(), point.response.mean);
        assert_eq!(point_json["response"]["percentiles"][3]["value_s"].as_f64(), Some(p99));
    }
}

#[test]
fn every_point_of_every_chart_is_in_the_page_at_its_pixel() {
    for (name, fixture) in all() {
        let document = outline(&fixture.report());
        let figures = figures(&document);
        let is_open = fixture.plan.load_points.iter().any(|point| !point.load.is_closed());
        assert_eq!(figures.len(), if is_open { 6 } else { 5 }, "{name}");
        assert!(document.lead.is_some(), "{name}");
        for figure in figures {
            let svg = charts::standalone(&figure.chart, &charts::Palette::PAPER);
            let mut n_points = 0;
            for (panel, content) in figure.chart.panels.iter().enumerate() {
                let points = content.series.iter().flat_map(|series| {
                    series.points.iter().enumerate().map(move |point| (series.draw, point))
                });
                for (draw, (index, point)) in points {
                    let (x, y) = charts::position(&figure.chart, panel, point);
                    let round = |pixel: f64| format!("{pixel:.1}").trim_end_matches(".0").to_owned();
                    let x = round(x);
                    let y = round(y);
                    // The second of two corners is reached along the sides of the rectangle.
                    let is_drawn = if draw == charts::Draw::Cells && index % 2 == 1 {
                        svg.contains(&format!("H{x}V{y}"))
                    } else {
                        svg.contains(&format!("M{x} {y}")) || svg.contains(&format!("L{x} {y}"))
                    };
                    assert!(is_drawn, "{name} {} {x} {y}", figure.chart.id);
                    n_points += 1;
                }
            }
            assert!(0 < n_points, "{name}: {} is empty", figure.chart.id);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        }
    }
}

#[test]
fn every_chart_has_its_numbers_in_a_table_below() {
    let fixture = fixture::quick();
    let document = outline(&fixture.report());
    // The table of the heat map has a row for each of its columns, however many rectangles those come to.
    for figure in figures(&document).into_iter().filter(|figure| figure.chart.id != "heat-map") {
        let longest = figure
            .chart
            .panels
            .iter()
            .flat_map(|panel| &panel.series)
            .map(|series| series.points.len())
            .max();
        assert_eq!(Some(figure.table.rows.len()), longest, "{}", figure.chart.id);
    }
}

#[test]
fn no_headline_without_a_verdict_beside_it() {
    for (name, fixture) in all() {
        let html = html_of(&fixture);
        let banner = html.find("class=\"banner").unwrap();
        assert!(html.find("class=\"hero").is_none_or(|hero| banner < hero), "{name}");
    }
    let document = outline(&fixture::quick().report());
    let companion = format!("{:?}", document.hero.unwrap().companion);
    assert!(
        companion.contains("40 clients") && companion.contains("invalid") && companion.contains("modified")
    );
    assert!(html_of(&fixture::incomplete()).contains("so there is no headline"));
}

#[test]
fn a_run_by_the_book_does_not_say_modified() {
    let mut fixture = fixture::valid();
    assert!(html_of(&fixture).contains("class=\"modified\""));
    fixture.analysis.modifications.clear();
    assert!(!html_of(&fixture).contains("class=\"modified\""));
}

#[test]
fn the_terminal_shows_the_table_of_the_report() {
    let fixture = fixture::quick();
    let table = results_table(&fixture.analysis);
    let headings = [
        "Clients",
        "Conn/second",
        "Errors/second",
        "Latency",
        "Little’s Law",
        "Throughput (Mbit/s)",
        "p99",
        "Error level (%)",
        "Pages/minute",
        "Verdict",
    ];
    assert_eq!(table.headings(), headings);
    let document = outline(&fixture.report());
    let [Block::Table(of_report)] = document.sections[1].blocks.as_slice() else { panic!("a table") };
    // The report has intervals besides, in smaller type.
    let texts = |table: &disclosure::Table| -> Vec<String> {
        table.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.text.clone()).collect()
    };
    assert_eq!((of_report.headings(), texts(of_report)), (table.headings(), texts(&table)));
    assert_eq!(of_report.rows[0].cells[1].detail, "358.4–371.1");
    let rows = table.plain_rows();
    assert_eq!(rows[3][8..], ["24720", "✕ invalid"]);
}

#[test]
fn a_full_run_fits_into_four_hundred_kilobytes_and_240_columns() {
    let fixture = fixture::full();
    let document = outline(&fixture.report());
    let timeline = figures(&document).into_iter().find(|figure| figure.chart.id == "timeline-chart").unwrap();
    assert!(
        timeline.chart.panels.iter().flat_map(|panel| &panel.series).all(|series| series.points.len() <= 240)
    );
    assert!(timeline.table.rows.len() <= 240);
    let heat_map = figures(&document).into_iter().find(|figure| figure.chart.id == "heat-map").unwrap();
    assert!((60..=120).contains(&heat_map.table.rows.len()), "{}", heat_map.table.rows.len());
    let bytes = render::html(&document).len();
    assert!(bytes < 400_000, "{bytes} bytes");
}

#[test]
fn a_run_that_never_began_still_makes_a_report() {
    let mut fixture = fixture::incomplete();
    fixture.analysis.load_points.clear();
    fixture.analysis.curve = analysis::Curve::default();
    fixture.testbed.sections.clear();
    fixture.provenance = disclosure::Provenance::default();
    let report = fixture.report();
    assert!(html_of(&fixture).contains("No load point was started."));
    assert_eq!(render::csv(&report), "load_point\r\n");
    assert_eq!(render::json(&report)["load_points"].as_array().map(Vec::len), Some(0));
}

/// Control characters that color a terminal, set its title, clear it, write from right to left, or are invisible.
const COMMANDS: &str = "\u{1b}[31mRED\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\u{7f}";

#[test]
fn no_form_passes_on_commands_to_a_terminal() {
    let mut fixture = fixture::hostile();
    let bad = COMMANDS;
    fixture.plan.workload.web_mut().unwrap().requests[0].name = bad.into();
    fixture.plan.benchmark.title = bad.into();
    fixture.analysis.benchmark.title = bad.into();
    fixture.analysis.verdict.reasons[0].finding = Finding::Stopped { reason: bad.into() };
    fixture.analysis.load_points[3].verdict.reasons[0].finding = fixture::foreign_kind(bad);
    fixture.testbed.sections[0].title = bad.into();
    fixture.testbed.sections[0].facts[0].name = bad.into();
    fixture.testbed.sections[0].facts[0].value = bad.into();
    for point in &mut fixture.analysis.load_points {
        point.kinds[0].name = bad.into();
        point.examples.iter_mut().for_each(|example| example.text = bad.into());
    }
    let report = fixture.report();
    let document = outline(&report);
    let head = render::Ndjson { plan: &fixture.plan, machines: &[], series: &[] }.head(&fixture.provenance);
    let forms = [
        ("html", render::html(&document)),
        ("markdown", render::markdown(&document)),
        ("csv", render::csv(&report)),
        ("ndjson", head),
        ("junit", render::junit(&[report])),
    ];
    for (form, text) in forms {
        assert!(text.contains("31mRED") || form == "junit", "{form}");
        let is_terminal_control =
            |c: char| languages::is_terminal_control(c) && !matches!(c, '\n' | '\r' | '\t');
        let found = text.find(is_terminal_control).map(|at| text[at..].chars().take(20).collect::<String>());
        assert_eq!(found, None, "{form}");
    }
}

/// By hand: rates of the fixture halved; N·Σn ÷ Σt is load · rate ÷ Little's load factor.
#[test]
fn a_harmonic_score_has_the_figures_of_its_suite_and_the_rates_beside_it() {
    let markdown = render::markdown(&outline(&fixture::harmonic().report()));
    let (_, rest) = markdown.split_once("### Score of the suite").expect("the figures");
    let (section, _) = rest.split_once("\n## ").unwrap();
    insta::assert_snapshot!(section.trim().replace('\u{a0}', " "), @"
    - Peak: 206.0 weighted operations per second at 80 users
    - Greatest load: 206.0 weighted operations per second at 80 users
    - Harmonic mean: 196.0 weighted operations per second over 4 of 4 load points

    **Score beside the rates without its weights**

    | Users | Weighted ops/second | N·Σn ÷ Σt | Operations/second | Verdict |
    | ---: | ---: | ---: | ---: | --- |
    | 10 | 182.4 | 369.3 | 364.8 | ✓ valid |
    | 20 | 195.2 | 393.1 | 390.4 | ✓ valid |
    | 40 | 202.3 | 407.5 | 404.6 | ✓ valid |
    | 80 | 206.0 | 415.3 | 412.0 | ✓ valid |

    Only the score has the declared weights of the kinds, so that the drift of the mix does not move it: quote the rates beside it, never alone. N·Σn ÷ Σt: the rate of N clients by their own sums, with n the successful operations of each and t the sum of their response times.
    ");
    let csv = render::csv(&fixture::harmonic().report());
    assert!(parse_csv(&csv)[0].iter().any(|name| name == "rate_of_clients_per_s"));
    let others = render::csv(&fixture::throughput().report());
    assert!(!others.contains("rate_of_clients"), "{others}");
    assert!(!render::markdown(&outline(&fixture::throughput().report())).contains("Score of the suite"));
}

/// By hand: ten parts of the data, so each has a tenth of the score.
#[test]
fn the_score_of_a_part_of_the_data_stands_beside_the_score() {
    let heading = "Conn/second/warehouse";
    let markdown = render::markdown(&outline(&fixture::sized().report()));
    let table: Vec<&str> = markdown.lines().skip_while(|line| !line.contains(heading)).collect();
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let headings = cells(table[0]);
    let first = cells(table[2]);
    let column = headings.iter().position(|one| one == heading).unwrap();
    assert_eq!(headings[column - 1], "Conn/second");
    let figure = |cell: &str| cell.split_whitespace().next().unwrap().parse::<f64>().unwrap();
    assert!((figure(&first[column]) * 10.0 / figure(&first[column - 1]) - 1.0).abs() < 0.01, "{first:?}");
    let others = render::markdown(&outline(&fixture::quick().report()));
    assert!(!others.contains("/warehouse"));
    assert!(render::csv(&fixture::sized().report()).contains("score_per_part"));
}

/// Goal: what is pasted into a pull request is short whatever the run was, and says what the first page says.
#[test]
fn a_summary_is_ten_lines_or_so() {
    for (name, fixture) in all() {
        let text = render::summary(&outline(&fixture.report()));
        let n_lines = text.lines().filter(|line| !line.is_empty()).count();
        assert!((6..=12).contains(&n_lines), "{name}: {text}");
        assert!(!text.contains("<script") && !text.contains('\u{1b}'), "{name}: {text}");
    }
    insta::assert_snapshot!("summary_quick", render::summary(&outline(&fixture::quick().report())));
    insta::assert_snapshot!("summary_incomplete", render::summary(&outline(&fixture::incomplete().report())));
}
