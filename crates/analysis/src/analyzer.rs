//! The fold over the records of a run.

use std::collections::BTreeMap;

use model::{
    DetailRecord, Ending, Example, IntervalRecord, LoadPoint, Machine, Phase, Plan, ResourceRecord, Series,
};

use crate::attribute::attribute;
use crate::find_max::replay;
use crate::fold::{PointFold, Resources};
use crate::judge::{RunEvidence, judge_load_point, judge_run, mark_overload};
use crate::metrics::{curve, headline, measure};
use crate::rules::Evidence;
use crate::tally::Tally;
use crate::{Analysis, LoadPointResult, ResourceUse};

/// Takes the records of a run and makes the analysis of it.
///
/// Interval records come in the order of load point, index and agent, already split from their
/// details; details in any order, before or after the intervals they belong to.
#[derive(Debug)]
pub struct Analyzer {
    plan: Plan,
    points: BTreeMap<u32, PointFold>,
    unplanned: Tally,
    machines: Vec<Machine>,
    series: Vec<Series>,
    resources: BTreeMap<u32, Resources>,
}

impl Analyzer {
    /// Makes an analyzer that has seen nothing.
    pub fn new(plan: &Plan) -> Analyzer {
        Analyzer {
            plan: plan.clone(),
            points: BTreeMap::new(),
            unplanned: Tally::default(),
            machines: Vec::new(),
            series: Vec::new(),
            resources: BTreeMap::new(),
        }
    }

    /// Takes the next machine that is watched; its number is its place.
    pub fn machine(&mut self, machine: Machine) {
        self.machines.push(machine);
    }

    /// Takes what the values of the next series are; its number is its place. Comes before its first value.
    pub fn series(&mut self, series: Series) {
        self.series.push(series);
    }

    /// Folds what a machine told; before or after the intervals of its load point.
    pub fn resource(&mut self, record: &ResourceRecord) {
        let phases = &self.plan.phases;
        let steady = || Resources::new(phases.start_of(Phase::Steady), phases.end_of(Phase::Steady));
        let fold = self.resources.entry(record.load_point).or_insert_with(steady);
        fold.record(record, &self.series);
    }

    /// Takes a load point that a search adds to its plan. One that is planned already is no news.
    pub fn load_point(&mut self, point: LoadPoint) {
        if self.plan.search.is_some() && self.plan.load_points.iter().all(|known| known.index != point.index)
        {
            self.plan.load_points.push(point);
        }
    }

    /// Returns the result of a load point whose last record has come, while others may follow.
    pub fn result(&mut self, index: u32) -> Option<LoadPointResult> {
        let fold = self.points.get_mut(&index)?;
        fold.close();
        let resources = used(self.resources.get(&index), &self.machines, &self.series);
        Some(result_of(&self.plan, fold, false, resources))
    }

    /// Folds one interval, split from its detail.
    pub fn interval(&mut self, record: &IntervalRecord) {
        if let Some(point) = self.point(record.load_point) {
            point.interval(record);
        }
    }

    /// Folds the detail of one or several intervals.
    pub fn detail(&mut self, record: &DetailRecord) {
        if let Some(point) = self.point(record.load_point) {
            point.detail(record);
        }
    }

    /// Takes an example of a failure; the earliest of each outcome and load point is kept.
    pub fn example(&mut self, example: Example) {
        if let Some(point) = self.point(example.load_point) {
            point.example(example);
        }
    }

    /// Ends the fold: metrics, verdicts, curve and headline.
    pub fn finish(mut self, ending: Ending) -> Analysis {
        let last = self.points.keys().next_back().copied();
        let mut load_points = Vec::new();
        for (index, fold) in &mut self.points {
            fold.close();
            let interrupted = ending != Ending::Complete && Some(*index) == last;
            let resources = used(self.resources.get(index), &self.machines, &self.series);
            load_points.push(result_of(&self.plan, fold, interrupted, resources));
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
            modifications: self.plan.modifications.clone(),
            curve: curve(&load_points),
            headline: headline(&self.plan, &load_points, found.as_ref()),
            found,
            ending,
            load_points,
            verdict,
        }
    }

    /// Returns the fold of a load point, a new one for the first record; `None` if the plan has no such point.
    fn point(&mut self, index: u32) -> Option<&mut PointFold> {
        let planned = self.plan.load_points.iter().find(|point| point.index == index).copied();
        let Some(planned) = planned else {
            self.unplanned
                .note(|| format!("a record belongs to load point {index}, which is not in the plan"));
            return None;
        };
        Some(self.points.entry(index).or_insert_with(|| PointFold::new(&self.plan, planned)))
    }
}

fn used(fold: Option<&Resources>, machines: &[Machine], series: &[Series]) -> ResourceUse {
    fold.map_or_else(ResourceUse::default, |fold| ResourceUse::of(fold, machines, series))
}

fn result_of(plan: &Plan, fold: &PointFold, interrupted: bool, resources: ResourceUse) -> LoadPointResult {
    let mut result = LoadPointResult { resources, ..measure(plan, fold) };
    result.verdict = judge_load_point(&Evidence { plan, fold, result: &result, interrupted });
    result
}
