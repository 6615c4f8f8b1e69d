//! The fold over the records of a run.

use std::collections::BTreeMap;

use model::{
    ConsistencyCheck, DetailRecord, Example, IntervalRecord, LoadPoint, MonitoredSource, NamedCount, Plan,
    ResourceRecord, RunEnding, Series,
};

use crate::attribute::attribute;
use crate::find_max::replay;
use crate::finding::FaultCounter;
use crate::fold::{PointFold, Resources};
use crate::judge::{RunEvidence, judge_load_point, judge_run, mark_overload};
use crate::metrics::{PointFigures, curve, headline, measure};
use crate::rules::{Evidence, Stage};
use crate::{Analysis, LoadPointResult, LoadPointStatus, ResourceUsage};

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
    }

    /// Adds a load point that the run has begun to the plan, if it may add it. One that is already planned changes nothing.
    pub fn load_point(&mut self, point: LoadPoint) {
        self.plan.add_load_point(point);
    }

    /// Returns the result of a load point whose records are complete, while others may follow.
    pub fn result(&mut self, index: u32) -> Option<LoadPointResult> {
        let fold = self.points.get_mut(&index)?;
        fold.close();
        let resources = used(self.resources.get(&index), &self.machines, &self.series);
        Some(result_of(&self.plan, fold, Stage::Over, resources))
    }

    /// Returns the status of a load point whose records come in; `None` if the plan has no such point.
    ///
    /// The records of all agents in the seconds so far, with their details, have been folded. It costs little enough to
    /// be asked for once a second: no histogram is copied.
    pub fn status(&self, index: u32) -> Option<LoadPointStatus> {
        match self.points.get(&index) {
            Some(fold) => Some(self.status_of(fold, Stage::Running)),
            None => {
                let planned = self.plan.load_points.iter().find(|point| point.index == index)?;
                Some(self.status_of(&PointFold::new(&self.plan, *planned), Stage::Running))
            }
        }
    }

    /// Returns the status of a load point whose records are complete, or end early because its run does; `None` if it
    /// has none.
    pub fn final_status(&mut self, index: u32, is_cut_short: bool) -> Option<LoadPointStatus> {
        self.points.get_mut(&index)?.close();
        let stage = if is_cut_short { Stage::CutShort } else { Stage::Over };
        Some(self.status_of(self.points.get(&index)?, stage))
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
        let mut load_points = Vec::new();
        for (index, fold) in &mut self.points {
            fold.close();
            let is_cut_short = ending != RunEnding::Complete && Some(*index) == last;
            let stage = if is_cut_short { Stage::CutShort } else { Stage::Over };
            let resources = used(self.resources.get(index), &self.machines, &self.series);
            load_points.push(result_of(&self.plan, fold, stage, resources));
        }
        if !self.machines.is_empty() {
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

    fn status_of(&self, fold: &PointFold, stage: Stage) -> LoadPointStatus {
        let resources = &used(self.resources.get(&fold.point.index), &self.machines, &self.series);
        let plan = &self.plan;
        let figures = &PointFigures::of(&self.plan, fold, resources);
        LoadPointStatus::of(&Evidence { plan, fold, figures, resources, stage })
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

fn used(fold: Option<&Resources>, machines: &[MonitoredSource], series: &[Series]) -> ResourceUsage {
    fold.map_or_else(ResourceUsage::default, |fold| ResourceUsage::of(fold, machines, series))
}

fn result_of(plan: &Plan, fold: &PointFold, stage: Stage, resources: ResourceUsage) -> LoadPointResult {
    let figures = PointFigures::of(plan, fold, &resources);
    let evidence = Evidence { plan, fold, figures: &figures, resources: &resources, stage };
    let verdict = judge_load_point(&evidence);
    LoadPointResult { verdict, resources, ..measure(plan, fold, figures) }
}
