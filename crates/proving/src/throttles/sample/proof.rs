//! The proof of a case: the named resource, relaxed alone, raises the rate; no other does.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::case::SampleCase;
use super::kind::ThrottleKind;
use super::order::{RunAim, try_case};
use super::setting::Setting;
use super::work::UserPacing;

/// The factor by which the named resource must raise the rate, and which every other one must stay below.
const RAISED_MIN: f64 = 1.40;
const RAISED_BY_OTHERS: f64 = 1.15;

/// The rates of a case and of its relaxed forms, in operations per second.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CaseProof {
    /// The rate of the case.
    pub rate: f64,
    /// The rate with the named resource relaxed.
    pub relaxed: f64,
    /// The rates with one other resource relaxed each.
    pub others: Vec<(ThrottleKind, f64)>,
}

impl CaseProof {
    /// Measures the rates of a case with these numbers, each with a server of its own.
    pub(super) fn measure(case: &SampleCase, setting: &Setting, plimsoll: &Path) -> Result<CaseProof> {
        let rate =
            |setting: &Setting| -> Result<f64> { Ok(try_case(case, setting, plimsoll, RunAim::Rate)?.rate) };
        let relaxed = setting.relaxed(case.kind).context("the case limits nothing")?;
        let mut proof = CaseProof { rate: rate(setting)?, relaxed: rate(&relaxed)?, others: Vec::new() };
        for other in others(case, setting) {
            let Some(relaxed) = setting.relaxed(other) else { continue };
            let of_it = rate(&relaxed).with_context(|| format!("with {} relaxed", other.name()))?;
            proof.others.push((other, of_it));
        }
        Ok(proof)
    }

    /// Returns whether the named resource, and it alone, holds the rate back.
    pub(super) fn holds(&self) -> bool {
        let raised = |rate: f64| 0.0 < self.rate && RAISED_MIN * self.rate <= rate;
        raised(self.relaxed) && self.others.iter().all(|(_, rate)| *rate < RAISED_BY_OTHERS * self.rate)
    }

    /// Returns the proof as JSON.
    pub(super) fn json(&self) -> Value {
        let others: Map<String, Value> =
            self.others.iter().map(|(kind, rate)| (kind.name().to_owned(), (*rate).into())).collect();
        json!({ "holds": self.holds(), "rate": self.rate, "relaxed": self.relaxed, "others": others })
    }
}

/// Returns the other resources that a case has.
fn others(case: &SampleCase, setting: &Setting) -> Vec<ThrottleKind> {
    let is_paced = !matches!(setting.pace, UserPacing::Closed);
    let candidates = [
        (true, ThrottleKind::CpuQuota),
        (true, ThrottleKind::GeneratorCpu),
        (case.server.has_workers(), ThrottleKind::WorkerPool),
        (case.server.has_workers(), ThrottleKind::AcceptBacklog),
        (is_paced, ThrottleKind::Pace),
    ];
    // More of the same: both are CPU time of the server.
    let is_cpu = matches!(case.kind, ThrottleKind::CpuQuota | ThrottleKind::CrowdedCores);
    let is_other = |kind: &ThrottleKind| *kind != case.kind && !(is_cpu && *kind == ThrottleKind::CpuQuota);
    candidates.into_iter().filter_map(|(has, kind)| has.then_some(kind)).filter(is_other).collect()
}

#[cfg(test)]
mod tests {
    use super::super::case::{SEED, sample};
    use super::*;

    #[test]
    fn a_proof_needs_the_named_resource_and_no_other() {
        let proof = |relaxed, other| CaseProof {
            rate: 100.0,
            relaxed,
            others: vec![(ThrottleKind::CpuQuota, other), (ThrottleKind::WorkerPool, 90.0)],
        };
        assert!(proof(140.0, 114.0).holds());
        assert!(!proof(139.0, 100.0).holds());
        assert!(!proof(300.0, 115.0).holds());
        assert!(
            !CaseProof { rate: 0.0, relaxed: 5.0, others: vec![] }.holds(),
            "a server that serves nothing"
        );
    }

    /// Goal: no case is called proven because nothing of it was relaxed.
    #[test]
    fn every_case_of_a_sample_has_something_to_relax_and_something_else() {
        for case in (SEED..SEED + 10).flat_map(sample) {
            let setting = Setting::of(&case);
            assert!(setting.relaxed(case.kind).is_some(), "{case}");
            let others = others(&case, &setting);
            assert!(others.iter().filter_map(|other| setting.relaxed(*other)).count() >= 1, "{case}");
        }
    }
}
