//! Several runs in one document.

use analysis::compare::{
    ComparedMetric, Comparison, IntervalBasis, MismatchPolicy, PlanDifference, RunInput, compare,
};
use disclosure::{charts, render};
use disclosure::{
    comparison_changes, comparison_document, comparison_overall, comparison_summary, comparison_table,
    comparison_text, configuration_table,
};
use stats::ComparisonFinding;

use crate::fixture::{self, Fixture};

/// A server, another that carries a fifth more with one load point that is not valid, and one that carries nothing.
fn runs() -> [(&'static str, Fixture); 3] {
    let mut faster = fixture::quick();
    for point in &mut faster.analysis.load_points {
        fixture::speed_up(point, 1.2);
    }
    let mut dead = fixture::quick();
    dead.analysis.headline = None;
    dead.analysis
        .load_points
        .iter_mut()
        .for_each(|point| point.verdict.state = analysis::VerdictState::Invalid);
    [("nginx", fixture::valid()), ("apache", faster), ("a|b<c>", dead)]
}

fn compared(runs: &[(&'static str, Fixture)]) -> Comparison {
    let runs: Vec<RunInput> = runs
        .iter()
        .map(|(name, fixture)| RunInput {
            name,
            server: name,
            program: &fixture.provenance.program,
            plan: &fixture.plan,
            analysis: &fixture.analysis,
            testbed: &fixture.testbed,
            began: &[],
        })
        .collect();
    compare(&runs, MismatchPolicy::Refuse).unwrap()
}

/// The comparison with what an interval would say: a difference of a fifth at three loads, and none that holds elsewhere.
fn certain() -> Comparison {
    let mut comparison = compared(&runs());
    let findings = [ComparisonFinding::Higher, ComparisonFinding::NoEvidence, ComparisonFinding::Higher];
    for (level, finding) in comparison.levels.iter_mut().zip(findings) {
        for change in
            level.figures[1].changes.iter_mut().filter(|change| change.metric == ComparedMetric::Score)
        {
            change.finding = finding;
            (change.interval, change.detectable) = (Some((1.151, 1.252)), Some(0.034));
        }
    }
    let overall = &mut comparison.sides[1].overall;
    for change in overall.iter_mut().filter(|change| change.metric == ComparedMetric::Score) {
        (change.interval, change.detectable) = (Some((1.151, 1.252)), Some(0.034));
        (change.finding, change.basis) = (ComparisonFinding::Higher, IntervalBasis::Interleaved(3));
    }
    comparison
}

#[test]
fn markdown_of_a_comparison() {
    let provenance: Vec<_> = runs().iter().map(|(_, fixture)| fixture.provenance.clone()).collect();
    insta::assert_snapshot!(render::markdown(&comparison_document(&certain(), &[], &provenance)));
}

#[test]
fn a_comparison_in_html_needs_nothing_else() {
    let html = render::html(&comparison_document(&compared(&runs()), &[], &[]));
    for forbidden in ["<script", "<link", " src=", "http://", "https://", "a|b<c>"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("1 of 3 runs valid"), "the verdicts stand above");
}

/// 40 users are the best of both: 1.2 is the ratio, and what is not valid has none.
#[test]
fn the_terminal_shows_ratios_of_what_is_valid() {
    let comparison = certain();
    let summary = comparison_summary(&comparison);
    assert_eq!(summary.headings()[..5], ["Server", "Clients", "Conn/second", "Ratio", "Finding"]);
    let ratios = |rows: Vec<Vec<String>>| {
        let ratio = |row: Vec<String>| row[3].split(' ').next().unwrap_or_default().to_owned();
        rows.into_iter().map(ratio).collect::<Vec<_>>()
    };
    assert_eq!(ratios(summary.plain_rows()), ["1", "1.200", "–"]);
    let table = comparison_table(&comparison).plain_rows();
    assert_eq!(table.len(), 4 * 3);
    assert_eq!(table[..3].iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["10", "", ""]);
    // A second interval beside the one that decided would contradict it: it allows for less.
    assert_eq!(table[1][2], "437.7");
    assert_eq!(table[1][3], "1.200 (1.151–1.252)");
    assert_eq!(table[1][4], "▲ faster");
    assert_eq!(ratios(table)[9..], ["1", "–", "–"]);
}

/// The best load of the first server at which both are valid is the third, of 40 clients.
#[test]
fn sentences_say_what_holds() {
    let text = comparison_text(&certain());
    assert_eq!(
        text[0],
        "apache serves 20 % more connections per second than nginx (95 % CI 15–25 %) at 40 clients. Over 3 loads: 20 % \
         more connections per second (95 % CI 15–25 %); faster at 2, no difference found at 1."
    );
    assert_eq!(text[1], "a|b<c> and nginx have no common load at which both are valid.");
    assert!(
        text[2].contains("allow for what identical processes usually differ by, 5.0 % of the rate"),
        "{}",
        text[2]
    );
    assert_eq!(
        text[3],
        "The runs are too short to determine whether 6 of the 12 differences are real. Use at least 10 s per load point \
         (`--duration 10s`), or three runs per server (`--repeat 3`)."
    );
    assert_eq!(text.len(), 4);
    let mut longer = certain();
    longer.steady = units::Nanos::from_secs(10);
    let longer = comparison_text(&longer);
    assert!(
        longer[3]
            .ends_with("Use longer load points (`--duration`), or three runs per server (`--repeat 3`).")
    );
    let without = comparison_text(&compared(&runs()));
    assert!(without[3].contains("whether 9 of the 12 differences are real"), "percentiles have: {without:?}");
}

/// Where the rate does not differ, there is no server yet that "it" could be.
#[test]
fn a_clause_about_one_server_names_it() {
    let mut comparison = certain();
    comparison.sides.truncate(2);
    comparison.sides[1].overall.clear();
    for change in &mut comparison.levels[2].figures[1].changes {
        change.finding = ComparisonFinding::Lower;
        (change.ratio, change.interval, change.detectable) = (0.85, Some((0.82, 0.88)), Some(0.051));
        if change.metric == ComparedMetric::Score {
            change.finding = ComparisonFinding::NoEvidence;
        }
    }
    let text = comparison_text(&comparison).remove(0);
    assert!(
        text.contains(
            "at 40 clients; responses of apache take 15 % less time (95 % CI 12–18 %), its 99th percentile is"
        ),
        "{text}"
    );
    assert!(text.contains("and it uses 15 % less CPU time per operation"), "{text}");
}

/// Every finding about the rate, in words.
#[test]
fn every_finding_has_its_sentence() {
    let said = |finding, ratio: f64, interval: Option<(f64, f64)>| {
        let mut comparison = certain();
        comparison.sides.truncate(2);
        comparison.sides[1].overall.clear();
        let level = &mut comparison.levels[2];
        for change in &mut level.figures[1].changes {
            (change.finding, change.ratio, change.interval, change.detectable) =
                (finding, ratio, interval, interval.map(|_| 0.051));
            if change.metric != ComparedMetric::Score && finding != ComparisonFinding::Lower {
                change.finding = ComparisonFinding::NoEvidence;
            }
        }
        comparison_text(&comparison).remove(0)
    };
    assert_eq!(
        said(ComparisonFinding::Lower, 0.85, Some((0.82, 0.88))),
        "apache serves 15 % fewer connections per second than nginx (95 % CI 12–18 %) at 40 clients; its responses \
         take 15 % less time (95 % CI 12–18 %), its 99th percentile is 15 % lower (95 % CI 12–18 %) and it uses 15 % less \
         CPU time per operation (95 % CI 12–18 %)."
    );
    assert_eq!(
        said(ComparisonFinding::Higher, 2.5, Some((2.4, 2.6))),
        "apache serves 2.5 times the connections per second of nginx (95 % CI 2.4–2.6 times) at 40 clients."
    );
    assert_eq!(
        said(ComparisonFinding::Alike, 1.002, Some((0.996, 1.007))),
        "apache and nginx serve the same connections per second, within 0.7 % at 40 clients."
    );
    assert_eq!(
        said(ComparisonFinding::NoEvidence, 1.01, Some((0.98, 1.04))),
        "No difference in connections per second was found between apache and nginx (95 % CI −2.0 to +4.0 %; a \
         difference of 5.1 % or more would have been detected) at 40 clients."
    );
    assert_eq!(
        said(ComparisonFinding::TooNoisy, 1.01, Some((0.94, 1.08))),
        "apache and nginx vary too much to determine whether they differ in connections per second (95 % CI −6.0 to +8.0 %; a \
         difference of less than 5.1 % could have been missed) at 40 clients."
    );
    assert_eq!(
        said(ComparisonFinding::TooShort, 1.01, None),
        "The runs are too short to determine whether apache and nginx differ in connections per second at 40 clients."
    );
}

#[test]
fn differences_are_listed_figure_by_figure() {
    let comparison = certain();
    let changes = comparison_changes(&comparison).plain_rows();
    assert_eq!(changes.len(), 3 * 4, "four figures at the three loads at which both are valid");
    assert_eq!(changes[0], ["10", "apache", "Conn/second", "1.200 (1.151–1.252)", "▲ faster", "3.4 %"]);
    let overall = comparison_overall(&comparison).unwrap().plain_rows();
    assert_eq!(overall.len(), 4);
    assert_eq!(overall[1][..2], ["3", "apache"]);
    assert_eq!(overall[1][4], "~ too short");
}

#[test]
fn what_differs_in_the_configuration_has_a_column_for_each_side() {
    let mut runs = runs();
    runs[1].1.testbed.sections[0].facts[0].value = "another".to_owned();
    let comparison = compared(&runs);
    let table = configuration_table(&comparison).unwrap();
    assert_eq!(table.headings()[2..], ["nginx", "apache", "a|b<c>"]);
    let rows = table.plain_rows();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0][3], "another");
    assert!(render::html(&comparison_document(&comparison, &[], &[])).contains("id=\"differences\""));
    // A file's lines stay in their cell.
    let mut comparison = comparison;
    comparison.configuration[0].values[0] = Some("one;\ntwo;".to_owned());
    assert_eq!(configuration_table(&comparison).unwrap().plain_rows()[0][2], "2 differing lines");
    let html = render::html(&comparison_document(&comparison, &[], &[]));
    assert!(html.contains("<td class=\"l listing\">one;\ntwo;</td>"), "each on a line of its own");
    assert!(render::markdown(&comparison_document(&comparison, &[], &[])).contains("one;<br>two;"));
}

#[test]
fn what_is_not_alike_stands_above_everything() {
    let mut comparison = certain();
    comparison.plan_differences.push(PlanDifference {
        what: "seed",
        run: "apache".to_owned(),
        from: "nginx".to_owned(),
        here: "7".to_owned(),
        there: "1".to_owned(),
    });
    let banner = comparison_document(&comparison, &[], &[]).banner;
    let text = format!("{:?}", banner.reasons);
    assert!(text.contains("different settings: `apache` differs from `nginx` in seed (7, not 1)"), "{text}");
}

#[test]
fn json_has_every_figure_of_every_server() {
    let comparison = certain();
    let json = render::comparison_json(&comparison, &[]);
    assert_eq!(json["runs"][1]["name"], "apache");
    assert_eq!(json["sides"][2]["best"], serde_json::Value::Null);
    for (level, found) in comparison.levels.iter().zip(json["levels"].as_array().unwrap()) {
        assert_eq!(found["load"]["users"].as_f64(), Some(level.load.level()));
        let scores: Vec<_> =
            found["figures"].as_array().unwrap().iter().map(|one| one["score"].as_f64().unwrap()).collect();
        assert_eq!(scores, level.figures.iter().map(|one| one.score).collect::<Vec<_>>());
    }
    let change = &json["levels"][0]["figures"][1]["changes"][0];
    assert_eq!((&change["metric"], &change["finding"]), (&"score".into(), &"higher".into()));
    assert_eq!(change["ratio_interval"], serde_json::json!([1.151, 1.252]));
    assert_eq!(json["sides"][1]["overall"][0]["repetitions"], serde_json::json!([3, 3]));
}

/// A fifth more operations of which each weighs two thirds: 0.8 times the score, at 1.2 times the rate.
#[test]
fn servers_are_compared_by_a_weighted_score() {
    let mut other = fixture::weighted();
    for point in &mut other.analysis.load_points {
        let score = point.score.unwrap();
        fixture::set_rate(point, point.rate * 1.2);
        point.score = Some(score * 0.8);
    }
    let comparison = compared(&[("nginx", fixture::weighted()), ("apache", other)]);
    let json = render::comparison_json(&comparison, &[]);
    for level in json["levels"].as_array().unwrap() {
        let ratio = level["figures"][1]["score_ratio"].as_f64().unwrap();
        assert!((ratio - 0.8).abs() < 1e-9, "{level}");
    }
    let text = comparison_text(&comparison).join(" ").replace('\u{a0}', " ");
    assert!(text.contains("transactions per minute") && !text.contains("connections per second"), "{text}");
}

#[test]
fn every_server_has_its_line_in_the_chart() {
    let document = comparison_document(&compared(&runs()), &[], &[]);
    let lead = document.lead.expect("a chart on the first screen");
    let svg = charts::standalone(&lead.chart, &charts::Palette::PAPER);
    assert!(["nginx", "apache"].iter().all(|name| svg.contains(name)) && !svg.contains("NaN"));
    assert_eq!(lead.chart.panels[0].series.len(), 3);
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
        fixture::set_rate(point, rate);
        (point.score_interval, point.sut_busy) = (None, Some(busy));
        runs.push(("built-in", fixture));
    }
    let comparison = compared(&runs);
    let text = disclosure::scaling_text(&comparison.scalings[0]).unwrap();
    assert_eq!(
        text,
        "built-in: 4 CPUs handle 3.03 × the rate of one CPU (efficiency 76 %); its CPUs were not saturated"
    );
    let mut document = comparison_document(&comparison, &[], &[]);
    document.sections.retain(|section| section.id == "scaling");
    insta::assert_snapshot!(render::markdown(&document));
    assert!(render::html(&comparison_document(&comparison, &[], &[])).contains("id=\"scaling-chart\""));
    let json = render::comparison_json(&comparison, &[]);
    assert_eq!(json["scalings"][0]["groups"][2]["bound_by_cpus"], false);
}

/// A server that answers 400/s, and one that stops below: `slow` is its rate there.
fn sweep(slow: f64) -> [(&'static str, Fixture); 2] {
    let mut stopped = fixture::open_loop();
    let full = fixture::open_loop();
    let top = &mut stopped.analysis.load_points[2];
    (top.verdict.state, top.rate) = (analysis::VerdictState::Overloaded, slow);
    let headline = stopped.analysis.headline.as_mut().unwrap();
    let before = 1;
    headline.load_point = before;
    [("apache", stopped), ("apache behind plimsoll", full)]
}

/// The reported case: the page opened with INVALID and three paragraphs of "too noisy".
#[test]
fn a_comparison_of_offered_rates_opens_with_the_answer() {
    let comparison = compared(&sweep(237.0));
    let text = comparison_text(&comparison);
    let answer = &text[0];
    assert!(
        answer.starts_with("apache behind plimsoll handled the highest offered load, 400/s, in "),
        "{answer}"
    );
    assert!(answer.ends_with("; apache reached its limit near 240/s."), "{answer}");
    let document = comparison_document(&comparison, &[], &[]);
    assert_eq!(document.banner.state, analysis::VerdictState::Valid, "overload is no fault of a run");
    let banner = format!("{:?}", document.banner.text);
    assert!(banner.contains("the highest offered load") && banner.contains("2 of 2 runs valid"), "{banner}");
    assert!(render::markdown(&document).contains("↑\u{a0}overloaded"));
    assert_eq!(render::comparison_json(&comparison, &[])["levels"][2]["figures"][0]["verdict"], "overloaded");
    assert_eq!(comparison.leader(), Some(1));
    // Closed loops have no such answer: nobody offers a rate.
    assert!(!comparison_text(&certain())[0].contains("the highest offered load"));
}

/// Nobody knows which of two servers could have done more if both did all that was asked of them.
#[test]
fn what_reached_only_the_offered_rate_is_not_called_the_best() {
    let comparison = compared(&[("nginx", fixture::open_loop()), ("apache", fixture::open_loop())]);
    assert_eq!((comparison.leader(), comparison.leaders()), (None, vec![0, 1]));
    assert!(comparison_summary(&comparison).rows.iter().all(|row| row.style == disclosure::RowStyle::Plain));
    let answer = &comparison_text(&comparison)[0];
    assert!(
        answer.starts_with("nginx (in ") && answer.ends_with(" handled the highest offered load, 400/s."),
        "{answer}"
    );
    let stopped = compared(&sweep(237.0));
    let tones: Vec<_> = comparison_summary(&stopped).rows.iter().map(|row| row.style).collect();
    assert_eq!(tones, [disclosure::RowStyle::Plain, disclosure::RowStyle::Best]);
}
