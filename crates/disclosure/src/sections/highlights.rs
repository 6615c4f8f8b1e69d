//! Highlights of a run: sentences that follow from its numbers.

use analysis::attribute::{EXTRAPOLATION_MAX, GeneratorHeadroom, HeadroomSource, generator_headroom};
use analysis::{Analysis, LoadPointResult, VerdictState};

use super::network::{local_ports, time_wait_counted};
use crate::bottleneck::bottleneck_adjective;
use crate::report::{Growth, Terms};
use crate::{Report, Text, numbers};

/// The growth of the rate beyond 97 % of the highest: 1 ÷ 0.97 − 1, a little above 3 %.
const GROWTH_MAX: f64 = 0.031;

/// The headroom of the load generator, as a multiple of the load, below which it is called small.
const HEADROOM_MIN: f64 = 1.25;

/// Returns the findings, most important first: rate, saturation, knee, response times, bottleneck, headroom, errors,
/// verdict. Empty without a load point.
pub(crate) fn highlights(report: &Report) -> Vec<Text> {
    // What a run with stages has found is in its answer.
    let Some(point) = report.main_point().filter(|point| !point.is_shaped()) else { return Vec::new() };
    let sentences = [
        Some(peak(report, point)),
        saturation(report),
        knee(report),
        growth(report, point),
        bottleneck(report.analysis),
        reconnects(report, point),
        use_of_server(point),
        use_of_generator(report, point),
        Some(errors(report.analysis)),
        Some(verdict(report)),
    ];
    sentences.into_iter().flatten().collect()
}

fn peak(report: &Report, point: &LoadPointResult) -> Text {
    let terms = report.terms();
    let rate = terms.score_text(point.score);
    let is_any_valid =
        report.analysis.load_points.iter().any(|point| point.verdict.state == VerdictState::Valid);
    let is_peak = report.analysis.curve.peak == Some(point.index as usize);
    let begin = match (&report.analysis.headline, is_any_valid) {
        (Some(_), _) if is_peak => "The highest valid rate is ",
        (Some(_), _) => {
            "The highest valid rates are equal within their 95 % intervals; at the lowest of these loads it is "
        }
        (None, true) => "There is no headline; the highest rate measured is ",
        (None, false) => "No load point is valid, so there is no result; the highest rate measured is ",
    };
    let mut text = Text::from(begin).strong(rate).plain(" at ").strong(terms.load_text(point.load));
    text = text.plain(format!(", with a mean response time of {}", numbers::seconds(point.response.mean)));
    if let Some(p99) = point.response.percentile(0.99) {
        text = text.plain(format!(" and a 99th percentile of {}", numbers::time(p99.value)));
    }
    if let Some(interval) = point.score_interval {
        text =
            text.plain(format!("; 95 % interval of the rate {}", numbers::figure_interval(Some(interval))));
    }
    text.plain(".")
}

/// Returns the saturation point, or that it was not reached.
fn saturation(report: &Report) -> Option<Text> {
    let terms = report.terms();
    Some(match report.growth()? {
        Growth::Ended(saturation) => {
            let (preposition, load) = report.saturation_words(saturation);
            let text = Text::from(format!("The server saturates {preposition} ")).strong(load);
            text.plain(growth_left(report, saturation))
        }
        Growth::Going { last, limit: Some(limit) } => {
            Text::from("The rate still grew up to the highest load, ")
                .strong(terms.load_text(last.load))
                .plain(format!(", at which the server was {}.", bottleneck_adjective(limit)))
        }
        Growth::Going { last, limit: None } => {
            Text::from("Saturation was not reached: the rate still grew up to the highest load, ")
                .strong(terms.load_text(last.load))
                .plain(".")
        }
        Growth::Unknown(last) => Text::from("Saturation is not known: no load point above ")
            .strong(terms.load_text(last.load))
            .plain(" is valid."),
    })
}

/// Returns a clause about the growth of the rate beyond saturation.
fn growth_left(report: &Report, saturation: &LoadPointResult) -> String {
    let highest = at(report, report.analysis.curve.peak).and_then(|peak| peak.score);
    let growth = highest.zip(saturation.score).map_or(0.0, |(highest, score)| highest / score - 1.0);
    if growth <= GROWTH_MAX {
        ": more load raises the rate by at most 3 %.".to_owned()
    } else {
        format!(
            ": the highest rate is {} more, which is within the 95 % intervals of both.",
            numbers::percent(growth, 0)
        )
    }
}

fn knee(report: &Report) -> Option<Text> {
    let curve = &report.analysis.curve;
    let knee = at(report, curve.knee).filter(|_| curve.knee != curve.peak && report.has_curve())?;
    let terms = report.terms();
    let rate = terms.short_score_text(knee.score);
    let response = numbers::seconds(knee.response.mean);
    Some(
        Text::from("Best trade-off (knee): ").strong(terms.load_text(knee.load)).plain(format!(
            " ({rate} in {response}). Beyond it, response time grows faster than throughput."
        )),
    )
}

/// Compares the main load point with the lowest load.
fn growth(report: &Report, main: &LoadPointResult) -> Option<Text> {
    let points = report.analysis.load_points.iter();
    let lowest = points.min_by(|one, other| one.load.level().total_cmp(&other.load.level()))?;
    let slower = main.response.mean? / lowest.response.mean?;
    let faster = main.score? / lowest.score?;
    let is_known = lowest.index != main.index && slower.is_finite() && faster.is_finite();
    is_known.then(|| {
        let from = report.terms().load_text(lowest.load);
        Text::from(format!(
            "Compared with {from}: {} times the throughput, {} times the mean response time ({}).",
            numbers::figure(faster),
            numbers::figure(slower),
            numbers::seconds(lowest.response.mean),
        ))
    })
}

fn bottleneck(analysis: &Analysis) -> Option<Text> {
    let said = crate::bottleneck_text(&analysis.load_points, &analysis.words.user)?;
    Some(Text::from("Bottleneck: ").strong(said).plain("."))
}

/// Says that the server closed connections that requests asked to keep, and how many were in TIME-WAIT.
fn reconnects(report: &Report, point: &LoadPointResult) -> Option<Text> {
    let found = report.reconnects()?;
    let often = found.how_often();
    let mut text = format!(
        "The server closed connections {often}, although requests asked to keep them: {} new connections per second, \
         whose cost is part of every figure",
        numbers::figure(found.per_second)
    );
    if let Some(waiting) = time_wait_counted(point) {
        let ports = local_ports(report).map(|ports| format!(" of {} local ports", numbers::count(ports)));
        text += &format!("; {} were in TIME-WAIT{}", numbers::figure(waiting), ports.unwrap_or_default());
    }
    text += ". Have the server keep connections (HTTP/1.1, keep-alive), or measure it so on purpose with `--connection \
             per-request`.";
    Some(Text::default().sentence(&text))
}

/// Returns how much of its CPU time the server used, and the rate that the demand on its scarcest resource would allow.
fn use_of_server(point: &LoadPointResult) -> Option<Text> {
    let busy = point.sut_busy?;
    let mut text =
        format!("At that load the server used {} of its available CPU time", numbers::percent(busy, 0));
    let scarcest = point.attribution.as_ref().and_then(|attribution| attribution.demands.first());
    let bound = scarcest.and_then(|demand| Some((&demand.resource, demand.rate_max?)));
    if let Some((resource, bound)) = bound.filter(|(_, bound)| point.rate < *bound) {
        let left = numbers::percent(bound / point.rate - 1.0, 0);
        // `disk sda, time` is the time of disk sda.
        let resource = resource.split_once(',').map_or(resource.as_str(), |(resource, _)| resource);
        let article = if resource == "CPU" { "the " } else { "" };
        text += &format!(
            "; extrapolated from the service demand on {article}{resource}, {}/s would be possible, {left} more",
            numbers::figure(bound)
        );
    }
    Some((text + ".").into())
}

/// Returns how busy the load generator was and, where known, its headroom.
fn use_of_generator(report: &Report, point: &LoadPointResult) -> Option<Text> {
    // Load agents that do not report their CPU time have no sentence.
    (0.0 < point.generator_busy).then(|| {
        let busy = numbers::percent(point.generator_busy, 0);
        let headroom = generator_headroom(report.plan, point).map_or(String::new(), headroom_clause);
        format!("The load generator used {busy} of its CPU time{headroom}.").into()
    })
}

/// Returns a clause about the headroom of the generator that says what it is computed from.
fn headroom_clause(headroom: GeneratorHeadroom) -> String {
    let from = match headroom.from {
        HeadroomSource::OwnCpus => "the idle time of its CPUs",
        HeadroomSource::SharedCpus => "the idle time of the CPUs that it shares with the server",
        HeadroomSource::Threads => "the time of its threads",
    };
    let times = headroom.times;
    if times < HEADROOM_MIN {
        return format!("; {from} leaves little headroom");
    }
    let times = if times < EXTRAPOLATION_MAX {
        format!("about {} times", numbers::fixed(times, 1))
    } else {
        format!("at least {EXTRAPOLATION_MAX} times")
    };
    format!("; extrapolated from {from}, it had headroom for {times} this load")
}

fn errors(analysis: &Analysis) -> Text {
    let sum = |of: fn(&LoadPointResult) -> u64| analysis.load_points.iter().map(of).sum::<u64>();
    let ok = sum(|point| point.total.n);
    let failed = sum(|point| point.total.errors);
    if failed == 0 {
        return format!("None of {} operations failed in a steady phase.", numbers::count(ok)).into();
    }
    let worst = analysis.load_points.iter().filter_map(|point| Some((point.error_level?, point)));
    let worst = worst.max_by(|one, other| one.0.total_cmp(&other.0));
    let place = worst.map_or(String::new(), |(level, point)| {
        format!(", most at {} ({})", Terms::of(analysis).load_text(point.load), numbers::percent(level, 2))
    });
    let (failed, all) = (numbers::count(failed), numbers::count(ok + failed));
    format!("{failed} of {all} operations failed in steady phases{place}.").into()
}

fn verdict(report: &Report) -> Text {
    let verdict = &report.analysis.verdict;
    let points = &report.analysis.load_points;
    let n_valid = points.iter().filter(|point| point.verdict.state == VerdictState::Valid).count();
    let word = match verdict.state {
        VerdictState::Valid => "valid",
        VerdictState::Overloaded | VerdictState::Invalid => "not valid",
        VerdictState::Incomplete => "incomplete",
    };
    let modified = match report.analysis.modifications.len() {
        0 => String::new(),
        1 => "; one setting differs from the benchmark".to_owned(),
        n => format!("; {n} settings differ from the benchmark"),
    };
    Text::from("The run is ")
        .strong(word)
        .plain(format!(": {n_valid} of {} load points are valid{modified}.", report.plan.load_points.len()))
}

fn at<'a>(report: &Report<'a>, index: Option<usize>) -> Option<&'a LoadPointResult> {
    report.analysis.load_points.get(index?)
}
