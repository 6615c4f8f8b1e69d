//! Scaling of a server's score with its CPUs, over passes on processor groups.

use std::collections::BTreeMap;

use model::{Load, Plan, SutPlan};
use stats::{Amdahl, FitError, Repeats, ScalingPoint, SpeedUp, Usl, median, speed_ups};
use units::Ratio;

use crate::LoadPointResult;
use crate::attribute::{Bottleneck, Indicator};
use crate::percentiles::CONFIDENCE;
use crate::run_input::{RunInput, best_point};
use crate::web;

/// The busy share of its CPUs at its peak from which a pass is evidence about scaling: below, something else held the
/// server back. Source: the CPU-scalability method of the order-entry specification (2.2).
pub const BUSY_MIN: f64 = 0.95;

/// The scaling of one server over groups of CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The server: `nginx`.
    pub server: String,
    /// The groups by rising number of CPUs; at least two.
    pub groups: Vec<CpuGroup>,
    /// Amdahl's law through the peaks.
    pub amdahl: Result<Amdahl, FitError>,
    /// The universal scalability law through the peaks.
    pub usl: Result<Usl, FitError>,
}

/// The passes on one number of CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuGroup {
    /// Number of CPUs.
    pub cpus: usize,
    /// The highest valid score of each pass; not empty.
    pub scores: Vec<f64>,
    /// Their median.
    pub score: f64,
    /// The load at the highest of them.
    pub load: Load,
    /// Busy share of the CPUs there, of what the server is allowed, or of what a load generator on the same CPUs left;
    /// `None` if not seen.
    pub busy: Option<f64>,
    /// The CPU time per second that the load generator used there of these CPUs, in CPUs; `None` if it had others.
    pub generator: Option<f64>,
    /// The bottleneck there; `None` if nothing was monitored.
    pub bottleneck: Option<Bottleneck>,
    /// Speed-up over one CPU; `None` if there was no pass on one.
    pub speed_up: Option<SpeedUp>,
}

impl CpuGroup {
    /// Returns whether the CPUs held the server back and it had them to itself, so that the pass shows its scaling.
    pub fn is_bound_by_cpus(&self) -> bool {
        self.generator.is_none() && self.busy.is_some_and(|busy| BUSY_MIN <= busy)
    }
}

/// Returns the scaling of every server that was run on groups of at least two sizes.
pub(crate) fn scalings(runs: &[RunInput]) -> Vec<Scaling> {
    let mut servers: BTreeMap<String, Vec<&RunInput>> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.plan.sut.cpus.is_empty() && run.plan.sut.quota.is_none()) {
        servers.entry(server(&run.plan.sut)).or_default().push(run);
    }
    servers.into_iter().filter_map(|(server, runs)| scaling(server, &runs)).collect()
}

/// Returns the label that distinguishes a server apart from its CPUs: `nginx, php-fpm × 4, behind varnish`.
fn server(sut: &SutPlan) -> String {
    let of_any_family = [Some(sut.name.clone()), sut.profile.clone()];
    of_any_family.into_iter().chain(web::parts(sut)).flatten().collect::<Vec<_>>().join(", ")
}

fn scaling(server: String, runs: &[&RunInput]) -> Option<Scaling> {
    let mut by_size: BTreeMap<usize, Vec<Peak>> = BTreeMap::new();
    for run in runs {
        let peak = best_point(run.analysis).map(|point| (run.plan, point));
        by_size.entry(run.plan.sut.cpus.len()).or_default().extend(peak);
    }
    let mut groups: Vec<CpuGroup> =
        by_size.into_iter().filter_map(|(cpus, peaks)| group(cpus, &peaks)).collect();
    if groups.len() < 2 {
        return None;
    }
    let rates: Vec<(f64, f64)> = groups.iter().map(|group| (group.cpus as f64, group.score)).collect();
    for (group, speed_up) in groups.iter_mut().zip(speed_ups(&rates).unwrap_or_default()) {
        group.speed_up = Some(speed_up);
    }
    let (amdahl, usl) = fits(&groups, runs[0].plan.seed);
    Some(Scaling { server, groups, amdahl, usl })
}

/// The load point of a pass that has its highest score.
type Peak<'a> = (&'a Plan, &'a LoadPointResult);

fn group(cpus: usize, peaks: &[Peak]) -> Option<CpuGroup> {
    let mut scored: Vec<(f64, Peak)> = peaks.iter().filter_map(|peak| Some((peak.1.score?, *peak))).collect();
    scored.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let (_, (plan, highest)) = *scored.last()?;
    let is_shared = plan.load_is_on_sut_cpus();
    let attribution = highest.attribution.as_ref();
    let of_the_rest =
        attribution.and_then(|attribution| attribution.indicators.get(&Indicator::ProcessorUse).copied());
    let scores: Vec<f64> = scored.iter().map(|(score, _)| *score).collect();
    Some(CpuGroup {
        cpus,
        score: median(&scores)?,
        scores,
        load: highest.load,
        busy: if is_shared { of_the_rest } else { highest.sut_busy },
        generator: is_shared.then(|| highest.generator_cpus(plan)),
        bottleneck: attribution.map(|attribution| attribution.bottleneck),
        speed_up: None,
    })
}

/// Fits both laws to the passes that had their CPUs to themselves: with intervals from the repeats if there are any, else
/// from the residuals.
fn fits(groups: &[CpuGroup], seed: u64) -> (Result<Amdahl, FitError>, Result<Usl, FitError>) {
    let confidence: Ratio = CONFIDENCE;
    let groups = || groups.iter().filter(|group| group.generator.is_none());
    if groups().any(|group| 1 < group.scores.len()) {
        let repeats: Vec<Repeats> =
            groups().map(|group| Repeats { size: group.cpus as f64, rates: group.scores.clone() }).collect();
        let amdahl = Amdahl::fit_repeats(&repeats, confidence, seed);
        return (amdahl, Usl::fit_repeats(&repeats, confidence, seed));
    }
    let points: Vec<ScalingPoint> = groups()
        .map(|group| ScalingPoint { size: group.cpus as f64, rate: group.score, error: None })
        .collect();
    (Amdahl::fit(&points, confidence), Usl::fit(&points, confidence))
}
