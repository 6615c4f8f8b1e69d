//! The outcome of a run besides its verdict: the user's limits and the result of a search.

use analysis::find_max::{Compliance, SearchEnd, SearchResult, comply, comply_stage, counts};
use analysis::{Analysis, LoadPointResult, StageResult};
use model::{Limit, Load, Plan, Words};

use crate::exit::Exit;

/// A limit that a load point did not meet, or for which it has too few operations.
#[derive(Debug)]
pub(crate) struct MissedLimit<'a> {
    /// The limit.
    pub limit: Limit,
    /// The load point.
    pub point: &'a LoadPointResult,
    /// The stage of it, where its load changed.
    pub stage: Option<&'a StageResult>,
    /// The measured value against the limit.
    pub found: Compliance,
}

/// Lists the limits that were missed or could not be decided: by any load point or stage, or by the load point that a
/// search found.
pub(crate) fn missed<'a>(plan: &Plan, analysis: &'a Analysis) -> Vec<MissedLimit<'a>> {
    let points = analysis.load_points.iter().filter(|point| counts(plan, analysis.found.as_ref(), point));
    let checked = points.flat_map(|point| {
        plan.limits.iter().flat_map(move |limit| {
            let limit = *limit;
            let of_point = (!point.is_shaped()).then(|| MissedLimit {
                limit,
                point,
                stage: None,
                found: comply(limit, point),
            });
            let of_stages = point.stages.iter().filter(|stage| 0.0 < stage.planned.level_mean());
            let of_stages = of_stages.map(move |stage| {
                let found = comply_stage(limit, stage);
                MissedLimit { limit, point, stage: Some(stage), found }
            });
            of_point.into_iter().chain(of_stages)
        })
    });
    checked.filter(|one| !one.found.is_met()).collect()
}

/// Returns the exit code of a run.
pub(crate) fn exit(plan: &Plan, analysis: &Analysis) -> Exit {
    let of_run = Exit::of_run(analysis.verdict.state, &analysis.ending);
    let found_none = analysis.found.is_some_and(|found| found.max.is_none());
    match of_run {
        Exit::Valid if !missed(plan, analysis).is_empty() => Exit::Limit,
        Exit::Invalid if found_none && !plan.limits.is_empty() => Exit::Limit,
        other => other,
    }
}

/// Returns the result of the search and the limits, one sentence per line; empty if the user asked for neither.
pub(crate) fn text(plan: &Plan, analysis: &Analysis) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if let (Some(search), Some(found)) = (plan.search, &analysis.found) {
        lines.push(found_text(search.most, found, &analysis.words));
    }
    let missed = missed(plan, analysis);
    if !plan.limits.is_empty() && missed.is_empty() && analysis.found.is_none_or(|found| found.max.is_some())
    {
        lines.push(format!("Limits met: {}.", model::limits_text(&plan.limits)));
    }
    let text = |one: &MissedLimit| {
        let load = match one.stage {
            Some(stage) => format!("stage {}", stage.index + 1),
            None => one.point.load.text(&analysis.words.user),
        };
        unmet_text(one.limit, &load, &one.found)
    };
    lines.extend(missed.iter().map(text));
    lines
}

/// Returns a sentence about a limit that a load point did not meet, or that it has too little data for.
fn unmet_text(limit: Limit, load: &str, found: &Compliance) -> String {
    let why = disclosure::compliance_text(found);
    if found.is_decided() {
        format!("Limit missed at {load}: {why}.")
    } else {
        format!("Limit {limit} not decided at {load}: {why}.")
    }
}

fn found_text(most: Load, found: &SearchResult, words: &Words) -> String {
    let points = format!("{} load points", found.n_runs);
    let Some(max) = found.max else {
        return format!("Highest load: none; even the lowest load is too high ({points}).");
    };
    let at = most.at_level(max.level).text(&words.user);
    let end = match (found.end, found.fails_at) {
        (SearchEnd::Range, _) => {
            "or more: the search reached its upper bound, which `--max-load` raises".to_owned()
        }
        (SearchEnd::Generator, _) => {
            "or more: beyond it, the load generator or other programs were the limit, not the server"
                .to_owned()
        }
        (SearchEnd::TooFew, _) => "too few operations to judge a higher load".to_owned(),
        // The runs of one load can differ; most of those at this one failed.
        (SearchEnd::Server, Some(level)) if found.is_noisy => {
            format!("{} failed more often than it passed", most.at_level(level).text(&words.user))
        }
        (SearchEnd::Server, Some(level)) => format!("{} is too high", most.at_level(level).text(&words.user)),
        (SearchEnd::Server, None) => "a higher load does not increase throughput".to_owned(),
    };
    let noisy = if found.is_noisy {
        " Near the limit, results differed from one load point to the next: repeat the search for a firm answer."
    } else {
        ""
    };
    // The headline has the rate: that of the best run of this load, which is not their mean.
    format!("Highest load: {at} ({end}; {points}).{noisy}")
}

#[cfg(test)]
mod tests {
    use analysis::find_max::{LimitMeasurement, Maximum, NoData};
    use model::Noun;

    use super::*;

    /// 18 clients ran three times, 19 passed once and failed twice: one rate for 18 clients, that of the headline, and nothing
    /// about 19 that its own load points contradict.
    #[test]
    fn a_search_whose_load_points_differ_says_so_and_states_no_second_rate() {
        let words = Words {
            operation: Noun::regular("request"),
            user: Noun::regular("client"),
            unit: Noun::regular("page"),
            score: "requests per second".to_owned(),
            score_heading: "Requests/second".to_owned(),
            response_heading: "Response time".to_owned(),
        };
        let found = |is_noisy| SearchResult {
            max: Some(Maximum { level: 18.0, throughput: 412.3 }),
            end: SearchEnd::Server,
            fails_at: Some(19.0),
            is_noisy,
            n_runs: 12,
        };
        let text = |is_noisy| found_text(Load::Users(100), &found(is_noisy), &words);
        assert_eq!(text(false), "Highest load: 18 clients (19 clients is too high; 12 load points).");
        assert_eq!(
            text(true),
            "Highest load: 18 clients (19 clients failed more often than it passed; 12 load points). Near the limit, results \
             differed from one load point to the next: repeat the search for a firm answer."
        );
    }

    #[test]
    fn a_limit_without_enough_operations_is_not_called_missed() {
        let limit = model::parse_limits("p99<50ms").unwrap()[0];
        let too_few = Compliance::Undecided(NoData::TooFew { n: 120, needed: 1000 });
        assert_eq!(
            unmet_text(limit, "2 users", &too_few),
            "Limit p99<50ms not decided at 2 users: 120 response times are too few for the percentile, which needs 1000."
        );
        let missed = Compliance::Missed(LimitMeasurement { limit, value: 0.0621, interval: None });
        assert_eq!(
            unmet_text(limit, "2 users", &missed),
            "Limit missed at 2 users: p99 was 62.1 ms, limit p99<50ms."
        );
    }
}
