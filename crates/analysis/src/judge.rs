//! Verdicts: what the findings of the rules make of a load point and of a run.

use model::{CertificateCheck, Ending, Plan, Tls};

use crate::find_max::Found;
use crate::rules::{Evidence, Finding, Gravity, RULES};
use crate::tally::Tally;
use crate::{LoadPointResult, Reason, State, Verdict};

/// The evidence for the verdict on a run besides the plan.
pub(crate) struct RunEvidence<'a> {
    /// The ending of the run.
    pub(crate) ending: &'a Ending,
    /// The judged load points.
    pub(crate) load_points: &'a [LoadPointResult],
    /// Records that belong to no planned load point.
    pub(crate) unplanned: &'a Tally,
    /// The result of a search.
    pub(crate) found: Option<&'a Found>,
}

/// Applies all rules to a load point: incomplete if one says so, else invalid if one is broken, else valid.
pub(crate) fn judge_load_point(evidence: &Evidence) -> Verdict {
    let index = evidence.result.index;
    let findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(evidence)).collect();
    let worst = findings.iter().map(|finding| finding.gravity).max();
    let state = match worst {
        None | Some(Gravity::Remark) => State::Valid,
        Some(Gravity::Invalid) => State::Invalid,
        Some(Gravity::Incomplete) => State::Incomplete,
    };
    let (remarks, reasons): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.gravity == Gravity::Remark);
    let reasons_of = |findings: Vec<Finding>| findings.into_iter().map(|f| f.reason(Some(index))).collect();
    Verdict { state, reasons: reasons_of(reasons), remarks: reasons_of(remarks) }
}

/// Judges a run: incomplete if it did not end by itself, valid if every planned load point is there and valid,
/// but for those at which the server was overloaded ([`mark_overload`]).
///
/// Its reasons and remarks are its own (without load point) followed by those of the load points.
pub(crate) fn judge_run(plan: &Plan, evidence: &RunEvidence) -> Verdict {
    let mut own = ending_findings(evidence.ending);
    own.extend(missing_load_points(plan, evidence));
    own.extend(evidence.unplanned.text().map(|text| Finding::invalid("load-points", text)));
    let mut reasons: Vec<Reason> = own.into_iter().map(|finding| finding.reason(None)).collect();
    let said = modified(plan).into_iter().chain(unverified(plan));
    let mut remarks: Vec<Reason> = said.map(|finding| finding.reason(None)).collect();
    let searched = plan.search.is_some();
    if searched {
        reasons.extend(search_finding(evidence).map(|finding| finding.reason(None)));
    }
    for point in evidence.load_points {
        // A search has to meet loads that are too high: that is how it knows.
        let may_fail = searched || point.verdict.state == State::Overloaded;
        let told = if may_fail { &mut remarks } else { &mut reasons };
        told.extend(point.verdict.reasons.iter().cloned());
        remarks.extend(point.verdict.remarks.iter().cloned());
    }
    let state = match evidence.ending {
        Ending::Complete if reasons.is_empty() => State::Valid,
        Ending::Complete => State::Invalid,
        Ending::Stopped(_) | Ending::Missing => State::Incomplete,
    };
    Verdict { state, reasons, remarks }
}

/// Rules that an overloaded load point may break: operations were not delivered, and some were given up or refused.
/// A generator that was not healthy breaks other rules.
const MISSED_BY_OVERLOAD: [&str; 2] = ["delivered", "errors"];

/// Marks the load points of an open loop at which the server was overloaded: invalid for nothing but what overload makes
/// them miss, while all that offered less were delivered, at least one.
///
/// They show where the server's capacity ends; the run is not invalid for their sake.
pub(crate) fn mark_overload(load_points: &mut [LoadPointResult]) {
    let is_missed = |point: &LoadPointResult| {
        let rules = || point.verdict.reasons.iter().map(|reason| reason.rule);
        !point.load.is_closed()
            && point.verdict.state == State::Invalid
            && rules().any(|rule| rule == "delivered")
            && rules().all(|rule| MISSED_BY_OVERLOAD.contains(&rule))
    };
    let missed: Vec<bool> = load_points.iter().map(is_missed).collect();
    let is_overload = |index: usize| {
        let level = load_points[index].load.level();
        let lower = || (0..load_points.len()).filter(|other| load_points[*other].load.level() < level);
        let is_valid = |other: usize| load_points[other].verdict.state == State::Valid;
        missed[index] && lower().any(is_valid) && lower().all(|other| is_valid(other) || missed[other])
    };
    let overloaded: Vec<usize> = (0..load_points.len()).filter(|index| is_overload(*index)).collect();
    for index in overloaded {
        load_points[index].verdict.state = State::Overloaded;
    }
}

/// Reports that a search came to its end without an answer.
fn search_finding(evidence: &RunEvidence) -> Option<Finding> {
    if *evidence.ending != Ending::Complete {
        return None;
    }
    match evidence.found {
        None => Some(Finding::invalid("search", "the search did not come to its end".to_owned())),
        Some(found) if found.max.is_none() => {
            Some(Finding::invalid("search", "no load point is valid and within the limits".to_owned()))
        }
        Some(_) => None,
    }
}

fn ending_findings(ending: &Ending) -> Vec<Finding> {
    let text = match ending {
        Ending::Complete => return Vec::new(),
        Ending::Stopped(reason) => format!("the run was stopped: {reason}"),
        Ending::Missing => {
            "the run file has no end: the program or the machine died, or the disk was full".to_owned()
        }
    };
    vec![Finding::incomplete("ending", text)]
}

/// Load points of the plan without any record. In a run that was stopped they are no news.
fn missing_load_points(plan: &Plan, evidence: &RunEvidence) -> Option<Finding> {
    let recorded = |index: u32| evidence.load_points.iter().any(|point| point.index == index);
    let missing: Vec<String> = plan
        .load_points
        .iter()
        .filter(|point| !recorded(point.index))
        .map(|point| (point.index + 1).to_string())
        .collect();
    let complete = *evidence.ending == Ending::Complete;
    (complete && !missing.is_empty()).then(|| {
        let (missing, planned) = (missing.join(", "), plan.load_points.len());
        Finding::invalid("load-points", format!("nothing was recorded of load point {missing} of {planned}"))
    })
}

fn modified(plan: &Plan) -> Option<Finding> {
    let what: Vec<&str> = plan.modifications.iter().map(|one| one.what.as_str()).collect();
    (!what.is_empty()).then(|| {
        Finding::remark(
            "modified",
            format!("differs from the benchmark's definition in: {}", what.join(", ")),
        )
    })
}

/// Reports that the server was not verified, where its certificate was not checked.
fn unverified(plan: &Plan) -> Option<Finding> {
    let is_unverified = plan.protocol.tls != Tls::Off && plan.sut.certificates == CertificateCheck::Off;
    is_unverified.then(|| {
        let text = "the server's certificate was not verified (`--insecure`): any was accepted".to_owned();
        Finding::remark("certificate", text).hint("`--ca FILE` accepts those of an authority of yours")
    })
}
