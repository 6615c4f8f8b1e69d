//! The fold over the records of a run.

use std::collections::BTreeMap;

use model::{
    ConsistencyCheck, DetailRecord, Example, IntervalRecord, LoadPoint, MonitoredSource, NamedCount, Phase,
    Phases, Plan, ResourceRecord, RunEnding, Series,
};
use units::Nanos;

use crate::attribute::attribute;
use crate::find_max::replay;
use crate::finding::FaultCounter;
use crate::fold::{PointFold, Resources, StageFold};
use crate::judge::{
    RunEvidence, judge_load_point, judge_run, judge_shaped, mark_overload, mark_overloaded_stages,
};
use crate::metrics::{PointFigures, curve, headline, measure, measure_stage, without_merged_loads};
use crate::rules::{Evidence, JudgedPart, RecordProgress};
use crate::{Analysis, LoadPointResult, LoadPointStatus, ResourceUsage, StageResult};

/// The analyzer, which folds the records of a run into its analysis.
///
/// Interval records come in the order of load point, index and agent, already split from their
/// details; details in any order, before or after the intervals they belong to.
#[derive(Debug)]
pub struct Analyzer {
    plan: Plan,
    points: BTreeMap<u32, PointFold>,
    unplanned: FaultCounter<u32>,
    machines: Vec<MonitoredSource>,
    series: Vec<Series>,
    resources: BTreeMap<u32, Resources>,
    /// The resources in each stage of the only load point with a shape.
    stage_resources: Vec<Resources>,
}

impl Analyzer {
    /// Makes an analyzer without records.
    pub fn new(plan: &Plan) -> Analyzer {
        Analyzer {
            plan: plan.clone(),
            points: BTreeMap::new(),
            unplanned: FaultCounter::default(),
            machines: Vec::new(),
            series: Vec::new(),
            resources: BTreeMap::new(),
            stage_resources: stage_phases(plan).iter().map(Resources::new).collect(),
        }
    }

    /// Adds the next monitored machine; its number is its index.
    pub fn machine(&mut self, machine: MonitoredSource) {
        self.machines.push(machine);
    }

    /// Adds the next series, before its first value; its number is its index.
    pub fn series(&mut self, series: Series) {
        self.series.push(series);
    }

    /// Folds the readings of a machine, before or after the intervals of its load point.
    pub fn resource(&mut self, record: &ResourceRecord) {
        let steady = || Resources::new(&self.plan.phases);
        let fold = self.resources.entry(record.load_point).or_insert_with(steady);
        fold.record(record, &self.series);
        self.stage_resources.iter_mut().for_each(|stage| stage.record(record, &self.series));
    }

    /// Adds a load point that the run has begun to the plan, if it may add it. One that is already planned changes nothing.
    pub fn load_point(&mut self, point: LoadPoint) {
        self.plan.add_load_point(point);
    }

    /// Returns the result of a load point whose records are complete, while others may follow.
    pub fn result(&mut self, index: u32) -> Option<LoadPointResult> {
        self.points.get_mut(&index)?.close();
        let fold = &self.points[&index];
        Some(self.result_of(fold, RecordProgress::Over))
    }

    /// Returns the status of a load point whose records come in; `None` if the plan has no such point.
    ///
    /// The records of all agents in the seconds so far, with their details, have been folded. It costs little enough to
    /// be asked for once a second: no histogram is copied.
    pub fn status(&self, index: u32) -> Option<LoadPointStatus> {
        match self.points.get(&index) {
            Some(fold) => Some(self.status_of(fold, RecordProgress::Running)),
            None => {
                let planned = self.plan.load_points.iter().find(|point| point.index == index)?;
                Some(self.status_of(&PointFold::new(&self.plan, *planned), RecordProgress::Running))
            }
        }
    }

    /// Returns the status of a load point whose records are complete, or end early because its run does; `None` if it
    /// has none.
    pub fn final_status(&mut self, index: u32, is_cut_short: bool) -> Option<LoadPointStatus> {
        self.points.get_mut(&index)?.close();
        let progress = if is_cut_short { RecordProgress::CutShort } else { RecordProgress::Over };
        Some(self.status_of(self.points.get(&index)?, progress))
    }

    /// Folds one interval, with its detail if it has one.
    pub fn interval(&mut self, record: &IntervalRecord) {
        if let Some(point) = self.point(record.load_point) {
            point.interval(record);
        }
    }

    /// Folds the detail of one or several intervals that were folded without it.
    pub fn detail(&mut self, record: &DetailRecord) {
        if let Some(point) = self.point(record.load_point) {
            point.detail(record.agent, record.phase, record.start, &record.detail);
        }
    }

    /// Adds an example of a failure; the earliest of each outcome and load point is kept.
    pub fn example(&mut self, example: Example) {
        if let Some(point) = self.point(example.load_point) {
            point.example(example);
        }
    }

    /// Adds a check of the system under test.
    pub fn check(&mut self, check: ConsistencyCheck) {
        if let Some(point) = self.point(check.load_point) {
            point.checks.push(check);
        }
    }

    /// Adds a count of a load point.
    pub fn count(&mut self, count: NamedCount) {
        if let Some(point) = self.point(count.load_point) {
            point.counts.push(count);
        }
    }

    /// Ends the fold: metrics, verdicts, curve and headline.
    pub fn finish(mut self, ending: RunEnding) -> Analysis {
        let last = self.points.keys().next_back().copied();
        self.points.values_mut().for_each(PointFold::close);
        let mut load_points = Vec::new();
        for (index, fold) in &self.points {
            let is_cut_short = ending != RunEnding::Complete && Some(*index) == last;
            let progress = if is_cut_short { RecordProgress::CutShort } else { RecordProgress::Over };
            load_points.push(self.result_of(fold, progress));
        }
        // A load point with a shape had several loads: none of them is the bottleneck's.
        if !self.machines.is_empty() && self.plan.shape.is_none() {
            let attributions = attribute(&self.plan, &load_points);
            for (point, attribution) in load_points.iter_mut().zip(attributions) {
                point.attribution = Some(attribution);
            }
        }
        let found = replay(&self.plan, &load_points);
        mark_overload(&mut load_points);
        let evidence = RunEvidence {
            ending: &ending,
            load_points: &load_points,
            unplanned: &self.unplanned,
            found: found.as_ref(),
        };
        let verdict = judge_run(&self.plan, &evidence);
        Analysis {
            benchmark: self.plan.benchmark.clone(),
            score: self.plan.catalog.score.clone(),
            words: self.plan.catalog.words.clone(),
            sizing: self.plan.catalog.sizing.clone(),
            modifications: self.plan.modifications.clone(),
            curve: curve(&load_points),
            headline: headline(&self.plan, &load_points, found.as_ref()),
            found,
            ending,
            load_points,
            verdict,
        }
    }

    fn status_of(&self, fold: &PointFold, progress: RecordProgress) -> LoadPointStatus {
        let resources = self.used(self.resources.get(&fold.point.index));
        let figures = PointFigures::of(&self.plan, fold, &resources);
        let stages: Vec<StageEvidence> = begun(fold).map(|stage| self.stage_evidence(stage)).collect();
        let evidences = stages.iter().map(|one| self.evidence_of_stage(fold, one, progress));
        let whole = self.evidence(fold, &figures, &resources, progress);
        LoadPointStatus::of(&whole, &evidences.collect::<Vec<_>>())
    }

    fn result_of(&self, fold: &PointFold, progress: RecordProgress) -> LoadPointResult {
        let resources = self.used(self.resources.get(&fold.point.index));
        let figures = PointFigures::of(&self.plan, fold, &resources);
        let verdict = judge_load_point(&self.evidence(fold, &figures, &resources, progress));
        let point = LoadPointResult { verdict, resources, ..measure(&self.plan, fold, figures) };
        let mut stages: Vec<StageResult> =
            begun(fold).map(|stage| self.stage_result(fold, stage, progress)).collect();
        if stages.is_empty() {
            return point;
        }
        mark_overloaded_stages(&mut stages);
        let broken = point.until.as_ref().and_then(|until| until.broken);
        let verdict = judge_shaped(point.verdict.clone(), &stages, broken);
        LoadPointResult { verdict, stages, ..without_merged_loads(point) }
    }

    fn stage_result(&self, fold: &PointFold, stage: &StageFold, progress: RecordProgress) -> StageResult {
        let evidence = self.stage_evidence(stage);
        let verdict = judge_load_point(&self.evidence_of_stage(fold, &evidence, progress));
        measure_stage(&self.plan, stage, evidence.figures, verdict)
    }

    fn stage_evidence<'a>(&self, stage: &'a StageFold) -> StageEvidence<'a> {
        let resources = self.used(self.stage_resources.get(stage.index as usize));
        let figures = PointFigures::of(&self.plan, &stage.fold, &resources);
        StageEvidence { stage, resources, figures }
    }

    /// Makes the evidence on a load point as a whole.
    fn evidence<'a>(
        &'a self,
        fold: &'a PointFold,
        figures: &'a PointFigures,
        resources: &'a ResourceUsage,
        progress: RecordProgress,
    ) -> Evidence<'a> {
        let part = if fold.stages.is_empty() { JudgedPart::Uniform } else { JudgedPart::Shaped };
        let plan = &self.plan;
        Evidence { plan, fold, figures, resources, progress, part, broken_at: broken_at(fold) }
    }

    /// Makes the evidence on a stage of a load point. A stage is over as soon as another has begun.
    fn evidence_of_stage<'a>(
        &'a self,
        whole: &PointFold,
        evidence: &'a StageEvidence<'a>,
        progress: RecordProgress,
    ) -> Evidence<'a> {
        let StageEvidence { stage, resources, figures } = evidence;
        let is_followed = begun(whole).any(|other| stage.index < other.index);
        let progress = if is_followed { RecordProgress::Over } else { progress };
        let StageFold { index, stage: planned, level_before, .. } = **stage;
        let part = JudgedPart::Stage { index, stage: planned, level_before };
        let (plan, fold) = (&self.plan, &stage.fold);
        Evidence { plan, fold, figures, resources, progress, part, broken_at: broken_at(whole) }
    }

    fn used(&self, fold: Option<&Resources>) -> ResourceUsage {
        fold.map_or_else(ResourceUsage::default, |fold| ResourceUsage::of(fold, &self.machines, &self.series))
    }

    /// Returns the fold of a load point, a new one for the first record; `None` if the plan has no such point.
    fn point(&mut self, index: u32) -> Option<&mut PointFold> {
        let planned = self.plan.load_points.iter().find(|point| point.index == index).copied();
        let Some(planned) = planned else {
            self.unplanned.note(index);
            return None;
        };
        Some(self.points.entry(index).or_insert_with(|| PointFold::new(&self.plan, planned)))
    }
}

/// The evidence on a stage that is made for it alone.
struct StageEvidence<'a> {
    stage: &'a StageFold,
    resources: ResourceUsage,
    figures: PointFigures,
}

/// Returns the stages of a load point that have begun.
fn begun(fold: &PointFold) -> impl Iterator<Item = &StageFold> {
    fold.stages.iter().filter(|stage| stage.has_begun())
}

/// Returns the end of the window in which a limit broke that ends a load point.
fn broken_at(fold: &PointFold) -> Option<Nanos> {
    Some(fold.until.as_ref()?.found().broken?.window.end)
}

/// Returns, for each stage of a plan, the phases of a load point whose steady phase is that stage.
fn stage_phases(plan: &Plan) -> Vec<Phases> {
    let start = plan.phases.start_of(Phase::Steady);
    let spans = plan.shape.iter().flat_map(|shape| shape.spans());
    let phases = spans.map(|(span, stage)| Phases {
        ramp_up: start + span.start,
        settle: Nanos::ZERO,
        steady: stage.length,
        ramp_down: plan.phases.steady.saturating_sub(span.end),
        ..plan.phases
    });
    phases.collect()
}
