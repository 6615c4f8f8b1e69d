//! Verdicts on load points and runs, from the findings of the rules.

use model::{CertificateCheck, Plan, RunEnding};

use crate::find_max::SearchResult;
use crate::finding::{FaultCounter, Finding};
use crate::rules::{Evidence, RULES, RuleFinding, Severity};
use crate::{BrokenLimit, LoadPointResult, Reason, StageResult, Verdict, VerdictState};

/// The evidence for the verdict on a run besides the plan.
pub(crate) struct RunEvidence<'a> {
    /// The ending of the run.
    pub(crate) ending: &'a RunEnding,
    /// The judged load points.
    pub(crate) load_points: &'a [LoadPointResult],
    /// Records of unplanned load points.
    pub(crate) unplanned: &'a FaultCounter<u32>,
    /// The result of a search.
    pub(crate) found: Option<&'a SearchResult>,
}

/// Applies all rules to a load point, to what a load point with stages is judged by as a whole, or to a stage: incomplete if a
/// finding is, else invalid if a rule is broken, else valid.
pub(crate) fn judge_load_point(evidence: &Evidence) -> Verdict {
    let (index, stage) = (evidence.fold.point.index, evidence.stage_index());
    let rules = RULES.iter().filter(|rule| rule.is_about(evidence.part));
    let findings = rules.flat_map(|rule| (rule.check)(evidence));
    let findings: Vec<RuleFinding> =
        findings.filter(|finding| Severity::Remark <= finding.severity).collect();
    let worst = findings.iter().map(|finding| finding.severity).max();
    let state = match worst {
        None | Some(Severity::Notice | Severity::Remark) => VerdictState::Valid,
        Some(Severity::Invalid) => VerdictState::Invalid,
        Some(Severity::Incomplete) => VerdictState::Incomplete,
    };
    let (remarks, reasons): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.severity == Severity::Remark);
    let reasons_of =
        |findings: Vec<RuleFinding>| findings.into_iter().map(|f| f.reason(index, stage)).collect();
    Verdict { state, reasons: reasons_of(reasons), remarks: reasons_of(remarks) }
}

/// Makes the verdict on a load point from that on its record as a whole and those on its stages. The reasons of stages that
/// may fail are remarks: those at which the server was overloaded, and those that had to go beyond a limit to find where it
/// breaks.
pub(crate) fn judge_shaped(whole: Verdict, stages: &[StageResult], broken: Option<BrokenLimit>) -> Verdict {
    let Verdict { mut state, mut reasons, mut remarks } = whole;
    for stage in stages {
        let end = stage.start.saturating_add(stage.planned.length);
        let is_beyond = broken.is_some_and(|broken| broken.window.start < end);
        let may_fail = stage.verdict.state == VerdictState::Overloaded
            || (is_beyond && stage.verdict.state == VerdictState::Invalid);
        remarks.extend(stage.verdict.remarks.iter().cloned());
        if may_fail {
            remarks.extend(stage.verdict.reasons.iter().cloned());
            continue;
        }
        reasons.extend(stage.verdict.reasons.iter().cloned());
        state = match (state, stage.verdict.state) {
            (VerdictState::Incomplete, _) | (_, VerdictState::Incomplete) => VerdictState::Incomplete,
            (_, VerdictState::Invalid) => VerdictState::Invalid,
            (state, _) => state,
        };
    }
    Verdict { state, reasons, remarks }
}

/// Judges a run: incomplete if it did not end by itself, valid if every planned load point is present and valid,
/// except those at which the server was overloaded ([`mark_overload`]).
///
/// Its reasons and remarks are its own (without load point) followed by those of the load points.
pub(crate) fn judge_run(plan: &Plan, evidence: &RunEvidence) -> Verdict {
    let of_run = |finding| Reason { load_point: None, stage: None, finding };
    let own = ending_finding(evidence.ending)
        .into_iter()
        .chain(missing_load_points(plan, evidence))
        .chain(evidence.unplanned.found().map(Finding::UnplannedLoadPoint));
    let mut reasons: Vec<Reason> = own.map(of_run).collect();
    let mut remarks: Vec<Reason> = modified(plan).into_iter().chain(unverified(plan)).map(of_run).collect();
    let searched = plan.search.is_some();
    if searched {
        reasons.extend(search_finding(evidence).map(of_run));
    }
    for point in evidence.load_points {
        // A search has to try loads that are too high.
        let may_fail = searched || point.verdict.state == VerdictState::Overloaded;
        let told = if may_fail { &mut remarks } else { &mut reasons };
        told.extend(point.verdict.reasons.iter().cloned());
        remarks.extend(point.verdict.remarks.iter().cloned());
    }
    let state = match evidence.ending {
        RunEnding::Complete if reasons.is_empty() => VerdictState::Valid,
        RunEnding::Complete => VerdictState::Invalid,
        RunEnding::Stopped(_) | RunEnding::Missing => VerdictState::Incomplete,
    };
    Verdict { state, reasons, remarks }
}

/// Marks the load points of an open loop at which the server was overloaded: invalid only by rules that overload
/// breaks, while all load points with less load, at least one, were delivered.
///
/// They show where the server's capacity ends; they do not make the run invalid.
pub(crate) fn mark_overload(load_points: &mut [LoadPointResult]) {
    let judged = load_points.iter().map(|point| JudgedLevel {
        is_closed: point.load.is_closed(),
        level: point.load.level(),
        verdict: &point.verdict,
    });
    for index in overloaded(&judged.collect::<Vec<_>>()) {
        load_points[index].verdict.state = VerdictState::Overloaded;
    }
}

/// Marks the stages of an open loop at which the server was overloaded, likewise.
pub(crate) fn mark_overloaded_stages(stages: &mut [StageResult]) {
    let judged = stages.iter().map(|stage| JudgedLevel {
        is_closed: stage.offered_rate.is_none(),
        level: stage.planned.level_mean(),
        verdict: &stage.verdict,
    });
    for index in overloaded(&judged.collect::<Vec<_>>()) {
        stages[index].verdict.state = VerdictState::Overloaded;
    }
}

/// A level of load with its verdict.
struct JudgedLevel<'a> {
    is_closed: bool,
    level: f64,
    verdict: &'a Verdict,
}

/// Returns the indexes of those levels at which the server was overloaded.
fn overloaded(judged: &[JudgedLevel<'_>]) -> Vec<usize> {
    let is_missed = |one: &JudgedLevel| {
        let findings = || one.verdict.reasons.iter().map(|reason| &reason.finding);
        !one.is_closed
            && one.verdict.state == VerdictState::Invalid
            && findings().any(|finding| matches!(finding, Finding::Delivered { .. }))
            && findings().all(Finding::is_of_overload)
    };
    let missed: Vec<bool> = judged.iter().map(is_missed).collect();
    let is_overload = |index: usize| {
        let level = judged[index].level;
        let lower = || (0..judged.len()).filter(|other| judged[*other].level < level);
        let is_valid = |other: usize| judged[other].verdict.state == VerdictState::Valid;
        missed[index] && lower().any(is_valid) && lower().all(|other| is_valid(other) || missed[other])
    };
    (0..judged.len()).filter(|index| is_overload(*index)).collect()
}

/// Reports that a search came to its end without an answer.
fn search_finding(evidence: &RunEvidence) -> Option<Finding> {
    if *evidence.ending != RunEnding::Complete {
        return None;
    }
    match evidence.found {
        None => Some(Finding::SearchUnfinished),
        Some(found) => found.max.is_none().then_some(Finding::SearchWithoutResult),
    }
}

fn ending_finding(ending: &RunEnding) -> Option<Finding> {
    match ending {
        RunEnding::Complete => None,
        RunEnding::Stopped(reason) => Some(Finding::Stopped { reason: reason.clone() }),
        RunEnding::Missing => Some(Finding::EndingMissing),
    }
}

/// Reports load points of the plan without any record, unless the run was stopped.
fn missing_load_points(plan: &Plan, evidence: &RunEvidence) -> Option<Finding> {
    let recorded = |index: u32| evidence.load_points.iter().any(|point| point.index == index);
    let planned = plan.load_points.iter().map(|point| point.index);
    let missing: Vec<u32> = planned.filter(|index| !recorded(*index)).collect();
    let complete = *evidence.ending == RunEnding::Complete;
    let n_planned = plan.load_points.len();
    (complete && !missing.is_empty()).then_some(Finding::LoadPointsMissing { missing, n_planned })
}

fn modified(plan: &Plan) -> Option<Finding> {
    let settings: Vec<String> = plan.modifications.iter().map(|one| one.what.clone()).collect();
    (!settings.is_empty()).then_some(Finding::Modified { settings })
}

/// Reports that the server was not verified, where its certificate was not checked.
fn unverified(plan: &Plan) -> Option<Finding> {
    let is_unverified = plan.workload.is_encrypted() && plan.sut.certificates == CertificateCheck::Off;
    is_unverified.then_some(Finding::CertificateUnverified)
}
