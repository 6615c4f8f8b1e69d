//! What is shown of a run: a fold over its events. Knows no terminal and no clock, and does not grow with the run.

mod counters;
mod history;
mod lights;
mod point;
#[cfg(test)]
pub mod testing;
mod totals;

use std::collections::VecDeque;

use analysis::values_needed;
use fleet::Event;
use model::{IntervalRecord, LoadPoint, Plan};
use stats::Histogram;
use units::{Bytes, Nanos, Ratio};

pub use counters::Counters;
pub use history::{History, Place, Second};
pub use lights::{Color, Light, gravest};
pub use point::{Done, Point};

/// How many load points that are done are kept, and how many messages.
const DONE_MAX: usize = 500;
const MESSAGES_MAX: usize = 20;

/// A run that is watched.
#[derive(Debug)]
pub struct Run {
    /// The name by which it is told from the others.
    pub label: String,
    /// What it is to do.
    pub plan: Plan,
    /// The server and its address, once it is up.
    pub server: Option<String>,
}

/// Everything that is shown.
#[derive(Debug)]
pub struct State {
    /// One, or several that take turns. Not empty.
    pub runs: Vec<Run>,
    /// Place of the run that goes on.
    pub turn: usize,
    /// What is being prepared.
    pub step: Option<String>,
    /// The load point that runs, or ran last.
    pub point: Option<Point>,
    /// The last second of the run that goes on; `None` before its first.
    pub second: Option<Second>,
    /// Load points that are done, oldest first.
    pub done: VecDeque<Done>,
    /// Load points of all runs that have begun.
    pub n_begun: u32,
    /// For the charts.
    pub history: History,
    /// What machines tell.
    pub counters: Counters,
    /// Warnings and first failures, oldest first.
    pub messages: VecDeque<String>,
}

impl State {
    /// Makes the state before anything has happened. There is at least one plan.
    pub fn new(plans: &[Plan], labels: &[String]) -> State {
        let run =
            |(plan, label): (&Plan, &String)| Run { label: label.clone(), plan: plan.clone(), server: None };
        let runs: Vec<Run> = plans.iter().zip(labels).map(run).collect();
        State {
            history: History { planned: planned(&runs), ..History::default() },
            runs,
            turn: 0,
            step: None,
            point: None,
            second: None,
            done: VecDeque::new(),
            n_begun: 0,
            counters: Counters::default(),
            messages: VecDeque::new(),
        }
    }

    /// Takes an event; returns the load point that has ended by it.
    pub fn event(&mut self, event: &Event<'_>) -> Option<Done> {
        let ended = match event {
            Event::Turn(_) | Event::LoadPoint(_) => self.end_point(),
            _ => None,
        };
        self.take(event);
        ended
    }

    /// Ends the load point that runs; returns it, if there is one.
    pub fn end_point(&mut self) -> Option<Done> {
        let point = self.point.as_mut().filter(|point| !point.is_over)?;
        point.is_over = true;
        let done = Done::new(point, &self.runs[point.place.run].plan);
        keep(&mut self.done, done.clone(), DONE_MAX);
        Some(done)
    }

    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Preparing(what) => self.step = Some((*what).to_owned()),
            Event::Files { done, total } => {
                self.step = Some(format!("laying out files, {} of {}", Bytes(*done), Bytes(*total)));
            }
            Event::Turn(turn) => self.turn = (*turn).min(self.runs.len() - 1),
            Event::Ready { address, server } => {
                self.step = None;
                self.runs[self.turn].server = Some(format!("{server}, {address}"));
            }
            Event::LoadPoint(point) => self.begin_point(*point),
            Event::Interval(record) => self.second(record),
            Event::Readings { machine, at, readings } => self.counters.read(*machine, *at, readings),
            Event::Example(example) => {
                self.message(format!("first `{}`: {}", example.outcome.name(), example.text));
            }
            Event::Warning(text) => self.message(format!("warning: {text}")),
        }
    }

    /// Returns the run that goes on.
    pub fn run(&self) -> &Run {
        &self.runs[self.turn]
    }

    /// Returns the name of a run, if there are several.
    pub fn name_of(&self, run: usize) -> Option<&str> {
        (1 < self.runs.len()).then(|| self.runs[run].label.as_str())
    }

    /// Returns what follows the number of a load point: `/20`, nothing in a search.
    pub fn of_all(&self, run: usize) -> String {
        let plan = &self.runs[run].plan;
        if plan.search.is_some() { String::new() } else { format!("/{}", plan.load_points.len()) }
    }

    /// Returns how many load points all runs have; `None` if that is not known beforehand, as in a search.
    pub fn n_points(&self) -> Option<u32> {
        let counts = self.runs.iter().map(|run| run.plan.load_points.len() as u32);
        let n = counts.sum();
        (0 < n && self.runs.iter().all(|run| run.plan.search.is_none())).then_some(n)
    }

    /// Returns the part of all load points that is over, from 0 to 1; `None` if their number is not known.
    pub fn part_done(&self) -> Option<Ratio> {
        let n = f64::from(self.n_points()?);
        let point = self.point.as_ref().map_or(0.0, |point| 1.0 - point.part_done(self).0);
        Some(Ratio(((f64::from(self.n_begun) - point) / n).clamp(0.0, 1.0)))
    }

    /// Returns how long the rest takes by the plan; drains and restarts of servers come on top.
    pub fn to_go(&self) -> Option<Nanos> {
        let phases = self.run().plan.phases;
        let left = f64::from(self.n_points()?.saturating_sub(self.n_begun));
        let point = self.point.as_ref().map_or(0.0, |point| 1.0 - point.part_done(self).0);
        let seconds =
            left * (phases.quiet + phases.issuing()).as_secs_f64() + point * phases.issuing().as_secs_f64();
        Some(Nanos::from_secs_f64(seconds))
    }

    fn message(&mut self, text: String) {
        keep(&mut self.messages, text, MESSAGES_MAX);
    }

    fn begin_point(&mut self, point: LoadPoint) {
        self.step = None;
        self.counters.restart();
        let place = Place { ordinal: self.n_begun, load: point.load, run: self.turn };
        // What was seen last stays until more is seen, but not of another server.
        self.second = self.second.filter(|second| second.run == self.turn);
        self.point = Some(Point::new(point.index, place, &self.run().plan));
        self.n_begun += 1;
    }

    fn second(&mut self, record: &IntervalRecord) {
        let Some(point) = self.point.as_mut().filter(|point| !point.is_over) else { return };
        self.second = Some(self.history.add(point.place, record));
        point.add(record, &self.runs[point.place.run].plan);
    }
}

/// Returns how long the load of all runs lasts by their plans; `None` if one of them is a search.
fn planned(runs: &[Run]) -> Option<Nanos> {
    let of = |run: &Run| run.plan.phases.issuing().as_secs_f64() * run.plan.load_points.len() as f64;
    let seconds: f64 = runs.iter().map(of).sum();
    let is_known = 0.0 < seconds && runs.iter().all(|run| run.plan.search.is_none());
    is_known.then(|| Nanos::from_secs_f64(seconds))
}

/// Adds to what is kept; the oldest goes where there are too many.
fn keep<T>(kept: &mut VecDeque<T>, one: T, max: usize) {
    if kept.len() == max {
        kept.pop_front();
    }
    kept.push_back(one);
}

/// Returns a quantile; `None` if there are too few values for it.
fn quantile(histogram: &Histogram, q: f64) -> Option<Nanos> {
    let is_enough = values_needed(Ratio(q)) <= histogram.n();
    is_enough.then(|| histogram.quantile(Ratio(q))).flatten()
}

#[cfg(test)]
mod tests {
    use model::{Load, Phase};

    use super::super::fixtures;
    use super::*;

    /// By hand: two of four load points of 65 s are over, of the third 29 s: (2 + 29/65) ÷ 4; 36 s and 65 s are left.
    #[test]
    fn what_is_over_and_what_is_left_follow_from_the_plan() {
        let mut state = fixtures::closed();
        assert!((state.part_done().unwrap().0 - (2.0 + 29.0 / 65.0) / 4.0).abs() < 1e-9);
        assert_eq!(state.to_go(), Some(Nanos::from_secs(101)));
        state.event(&Event::Turn(0));
        assert_eq!((state.part_done(), state.to_go()), (Some(Ratio(0.75)), Some(Nanos::from_secs(65))));
    }

    #[test]
    fn runs_that_take_turns_count_together() {
        let state = fixtures::turns();
        assert_eq!((state.n_points(), state.n_begun, state.turn), (Some(4), 3, 1));
        assert_eq!(state.name_of(1), Some("apache"));
        let done: Vec<_> = state.done.iter().map(|done| (done.run, done.index, done.objection)).collect();
        assert_eq!(done, [(0, 0, None), (1, 0, None)]);
    }

    #[test]
    fn a_search_has_no_end_that_is_known() {
        let mut state = fixtures::closed();
        state.runs[0].plan.search = Some(model::Search { least: Load::Users(1), most: Load::Users(9) });
        assert_eq!((state.n_points(), state.part_done(), state.to_go()), (None, None, None));
    }

    #[test]
    fn a_load_point_that_was_cut_short_is_no_good() {
        let mut state = fixtures::closed();
        assert_eq!(state.end_point().unwrap().objection, Some((Color::Red, "cut short")));
        assert_eq!(state.end_point(), None, "it has ended");
    }

    #[test]
    fn seconds_beside_load_points_are_passed_over() {
        let mut state = fixtures::preparing();
        let record = testing::record(0, Phase::Steady, 5);
        state.event(&Event::Interval(&record));
        assert!(state.history.seconds.is_empty() && state.second.is_none());
    }

    #[test]
    fn another_server_does_not_inherit_the_last_second() {
        let mut state = fixtures::turns();
        let point = LoadPoint { index: 1, load: Load::Users(20) };
        assert!(state.second.is_some());
        state.event(&Event::Turn(0));
        state.event(&Event::LoadPoint(point));
        assert_eq!(state.second, None);
    }

    #[test]
    fn a_missing_second_is_a_flaw() {
        let mut state = fixtures::closed();
        let point = state.point.as_ref().unwrap();
        let mut record = testing::record(0, Phase::Steady, 5);
        record.start = point.at + Nanos::from_secs(1);
        record.end = record.start + Nanos::from_secs(1);
        state.event(&Event::Interval(&record));
        let red = gravest(&state.point.as_ref().unwrap().lights).map(|light| (light.family, light.color));
        assert_eq!(red, Some(("record", Color::Red)));
    }

    #[test]
    fn messages_are_bounded() {
        let mut state = fixtures::preparing();
        for n in 0..100 {
            state.event(&Event::Warning(format!("number {n}")));
        }
        assert_eq!(state.messages.len(), MESSAGES_MAX);
        assert_eq!(state.messages.back().unwrap(), "warning: number 99");
    }
}
