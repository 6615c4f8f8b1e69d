//! The state of the progress display: a fold over the events of runs. Independent of terminal and clock, and bounded.

mod counters;
mod history;
mod indicators;
mod point;
#[cfg(test)]
pub(super) mod testing;

use std::collections::VecDeque;

use analysis::LoadPointStatus;
use fleet::Event;
use model::{IntervalRecord, LoadPoint, Plan, Words};
use units::{Bytes, Nanos, Ratio};

use super::text::adding_text;

pub(super) use counters::Counters;
pub(super) use history::{History, PointKey, SecondValues};
pub(super) use indicators::{IndicatorStatus, most_severe};
pub(super) use point::{FinishedPoint, Point};

/// Maximum numbers of stored finished load points and messages.
const FINISHED_MAX: usize = 500;
const MESSAGES_MAX: usize = 20;

/// A run whose progress is displayed.
#[derive(Debug)]
pub(super) struct WatchedRun {
    /// Label that tells it from the other runs.
    pub label: String,
    /// Its plan.
    pub plan: Plan,
    /// The server and its address, once it is ready.
    pub server: Option<String>,
}

/// The state of the progress display.
#[derive(Debug)]
pub(super) struct State {
    /// One run, or several interleaved runs. Not empty.
    pub runs: Vec<WatchedRun>,
    /// Index of the current run.
    pub turn: usize,
    /// The current step of the preparation.
    pub step: Option<String>,
    /// The running load point, or the last one.
    pub point: Option<Point>,
    /// The last second of the current run; `None` before its first.
    pub second: Option<SecondValues>,
    /// Finished load points, oldest first.
    pub finished: VecDeque<FinishedPoint>,
    /// Number of load points of all runs that have begun.
    pub n_begun: u32,
    /// The data of the charts.
    pub history: History,
    /// Resource counters of the machines.
    pub counters: Counters,
    /// Warnings and first failures, oldest first.
    pub messages: VecDeque<String>,
}

impl State {
    /// Makes the state before any event. There is at least one plan.
    pub(super) fn new(plans: &[Plan], labels: &[String]) -> State {
        let run = |(plan, label): (&Plan, &String)| WatchedRun {
            label: label.clone(),
            plan: plan.clone(),
            server: None,
        };
        let runs: Vec<WatchedRun> = plans.iter().zip(labels).map(run).collect();
        State {
            history: History { planned: planned(&runs), ..History::default() },
            runs,
            turn: 0,
            step: None,
            point: None,
            second: None,
            finished: VecDeque::new(),
            n_begun: 0,
            counters: Counters::default(),
            messages: VecDeque::new(),
        }
    }

    /// Returns the words of a run's benchmark.
    pub(super) fn words(&self, run: usize) -> &Words {
        &self.runs[run].plan.catalog.words
    }

    /// Returns whether the score of a run's benchmark is the rate of all its operations, which is always shown.
    pub(super) fn is_operation_rate(&self, run: usize) -> bool {
        self.runs[run].plan.catalog.score.is_operation_rate()
    }

    /// Applies an event; returns the load point that it has ended, if any.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Option<FinishedPoint> {
        let ended = match event {
            Event::Turn(_) | Event::LoadPoint(_) => self.end_point(),
            Event::Status(status) => {
                let running = self.point.as_ref().filter(|point| !point.is_over);
                running.and_then(|point| point.ended_stage(status))
            }
            _ => None,
        };
        self.apply(event);
        ended
    }

    /// Ends the running load point; returns it, if there is one.
    pub(super) fn end_point(&mut self) -> Option<FinishedPoint> {
        let point = self.point.as_mut().filter(|point| !point.is_over)?;
        point.is_over = true;
        let finished = FinishedPoint::new(point);
        push_bounded(&mut self.finished, finished.clone(), FINISHED_MAX);
        Some(finished)
    }

    fn apply(&mut self, event: &Event<'_>) {
        match event {
            Event::Preparing(what) | Event::Probing(what) => self.step = Some((*what).to_owned()),
            Event::Files { done, total } => {
                self.step = Some(format!("creating files, {} of {}", Bytes(*done), Bytes(*total)));
            }
            Event::Rows { done, total } => {
                let share = 100.0 * (*done).min(*total) as f64 / (*total).max(1) as f64;
                self.step = Some(format!("loading rows, {done} of about {total} ({share:.0} %)"));
            }
            Event::Turn(turn) => self.turn = (*turn).min(self.runs.len() - 1),
            Event::Ready { address, server } => {
                self.step = None;
                self.runs[self.turn].server = Some(format!("{server}, {address}"));
            }
            Event::LoadPoint(point) => self.begin_point(*point),
            Event::Interval(record) => self.second(record),
            Event::Status(status) => self.status(status),
            Event::Readings { machine, at, readings } => self.counters.add(*machine, *at, readings),
            Event::Example(example) => {
                self.message(format!("first `{}`: {}", example.outcome.name(), example.text));
            }
            Event::Warning(text) => self.message(format!("warning: {text}")),
            Event::Adding(added) => self.message(adding_text(added)),
        }
    }

    /// Returns whether an event says of a server that was already running what an earlier run has said: that it is ready, or
    /// how that was checked. Other steps are done again, and may take long.
    pub(super) fn is_said(&self, event: &Event<'_>) -> bool {
        let run = self.run();
        let is_of_server = matches!(event, Event::Probing(_) | Event::Ready { .. });
        let is_repeated = |label: &str| label.rsplit_once(" #").is_some_and(|(_, turn)| turn != "1");
        is_of_server && run.plan.sut.name == "external" && is_repeated(&run.label)
    }

    /// Returns the current run.
    pub(super) fn run(&self) -> &WatchedRun {
        &self.runs[self.turn]
    }

    /// Returns the label of a run; `None` if there is only one run.
    pub(super) fn label_if_several(&self, run: usize) -> Option<&str> {
        (1 < self.runs.len()).then(|| self.runs[run].label.as_str())
    }

    /// Returns the suffix of a load point's number: `/20`, empty in a search. Load points that a run has added count.
    pub(super) fn total_suffix(&self, run: usize) -> String {
        let plan = &self.runs[run].plan;
        if plan.search.is_some() { String::new() } else { format!("/{}", plan.load_points.len()) }
    }

    /// Returns the number of load points of all runs, with those added so far; `None` if it is not known beforehand, as in a
    /// search.
    pub(super) fn n_points(&self) -> Option<u32> {
        let counts = self.runs.iter().map(|run| run.plan.load_points.len() as u32);
        let n = counts.sum();
        (0 < n && self.runs.iter().all(|run| run.plan.search.is_none())).then_some(n)
    }

    /// Returns the finished fraction of all load points, from 0 to 1; `None` if their number is not known.
    pub(super) fn fraction_done(&self) -> Option<Ratio> {
        let n = f64::from(self.n_points()?);
        let point = self.point.as_ref().map_or(0.0, |point| 1.0 - point.fraction_done(self).0);
        Some(Ratio(((f64::from(self.n_begun) - point) / n).clamp(0.0, 1.0)))
    }

    /// Returns the remaining time according to the plan, with all load points that the run may add, without drains and server
    /// restarts; `None` in a search.
    pub(super) fn remaining(&self) -> Option<Nanos> {
        let phases = self.run().plan.phases;
        let left = n_points_max(&self.runs)?.saturating_sub(self.n_begun as usize) as f64;
        let point = self.point.as_ref().map_or(Nanos::ZERO, |point| point.remaining(self));
        Some(Nanos::from_secs_f64(left * (phases.quiet + phases.issuing()).as_secs_f64()) + point)
    }

    /// Returns whether load points may still be added, so that the remaining time is the most that it can be.
    pub(super) fn may_add_points(&self) -> bool {
        self.runs.iter().any(|run| run.plan.n_points_max().is_some_and(|n| run.plan.load_points.len() < n))
    }

    /// Shows the first answer as a message.
    pub(super) fn answer(&mut self, text: &str) {
        self.message(text.to_owned());
    }

    fn message(&mut self, text: String) {
        push_bounded(&mut self.messages, text, MESSAGES_MAX);
    }

    fn begin_point(&mut self, point: LoadPoint) {
        self.step = None;
        self.counters.restart();
        self.runs[self.turn].plan.add_load_point(point);
        let key = PointKey { ordinal: self.n_begun, load: point.load, run: self.turn };
        // The last second is shown until the next one, but not that of another server.
        self.second = self.second.filter(|second| second.run == self.turn);
        self.point = Some(Point::new(point.index, key, &self.run().plan));
        self.n_begun += 1;
    }

    fn second(&mut self, record: &IntervalRecord) {
        let Some(point) = self.point.as_mut().filter(|point| !point.is_over) else { return };
        self.second = Some(self.history.add(point.key, record));
        point.add(record);
    }

    fn status(&mut self, status: &LoadPointStatus) {
        if let Some(point) = self.point.as_mut().filter(|point| !point.is_over) {
            point.status = Some(status.clone());
        }
    }
}

/// Returns the planned time under load of all runs, at most; `None` if one of them is a search.
fn planned(runs: &[WatchedRun]) -> Option<Nanos> {
    let of =
        |run: &WatchedRun| Some(run.plan.phases.issuing().as_secs_f64() * run.plan.n_points_max()? as f64);
    let seconds: f64 = runs.iter().map(of).sum::<Option<f64>>()?;
    (0.0 < seconds).then(|| Nanos::from_secs_f64(seconds))
}

/// Returns the largest number of load points that all runs can have; `None` if one of them is a search.
fn n_points_max(runs: &[WatchedRun]) -> Option<usize> {
    runs.iter().map(|run| run.plan.n_points_max()).sum()
}

/// Appends to a bounded queue; drops the oldest element if it is full.
fn push_bounded<T>(queue: &mut VecDeque<T>, one: T, max: usize) {
    if queue.len() == max {
        queue.pop_front();
    }
    queue.push_back(one);
}

#[cfg(test)]
mod tests {
    use model::{Load, Phase};

    use super::super::fixtures;
    use super::*;

    /// Goal: sixteen turns of servers that run say once that they do; a server that is started says each time what it does.
    #[test]
    fn what_servers_say_is_said_by_their_first_turns() {
        let plan = fixtures::closed().runs[0].plan.clone();
        let running = Plan { sut: model::SutPlan::of("external"), ..plan.clone() };
        let labels = ["A #1", "A #2", "nginx #2"].map(str::to_owned);
        let mut state = State::new(&[running.clone(), running, plan], &labels);
        let said = [0, 1, 2].map(|turn| {
            state.event(&Event::Turn(turn));
            state.is_said(&Event::Probing("fetching the page once"))
        });
        assert_eq!(said, [false, true, false]);
        state.event(&Event::Turn(1));
        let ready = Event::Ready { address: "127.0.0.1:80".to_owned(), server: "A".to_owned() };
        assert!(state.is_said(&ready) && !state.is_said(&Event::Preparing("putting 100000 messages")));
        assert!(!state.is_said(&Event::Warning("busy".to_owned())));
    }

    /// By hand: two of four load points of 65 s are done, and 29 s of the third: (2 + 29/65) ÷ 4; 36 s and 65 s remain.
    #[test]
    fn fraction_done_and_remaining_time_follow_from_the_plan() {
        let mut state = fixtures::closed();
        assert!((state.fraction_done().unwrap().0 - (2.0 + 29.0 / 65.0) / 4.0).abs() < 1e-9);
        assert_eq!(state.remaining(), Some(Nanos::from_secs(101)));
        state.event(&Event::Turn(0));
        assert_eq!(
            (state.fraction_done(), state.remaining()),
            (Some(Ratio(0.75)), Some(Nanos::from_secs(65)))
        );
    }

    /// By hand: of four load points of 65 s, the third has 36 s left, and the fourth and two more may follow: 36 + 3 · 65 s. Once
    /// both are added, the first of them running, one of 65 s is left beside it.
    #[test]
    fn the_remaining_time_has_room_for_load_points_that_may_be_added() {
        let mut state = fixtures::closed();
        state.runs[0].plan.refinement = Some(model::Refinement { n_planned: 4, added_max: 2 });
        assert_eq!((state.n_points(), state.remaining()), (Some(4), Some(Nanos::from_secs(36 + 3 * 65))));
        for (index, users) in [(3, 40), (4, 15)] {
            state.event(&Event::LoadPoint(LoadPoint { index, load: Load::Users(users) }));
        }
        assert_eq!((state.n_points(), state.total_suffix(0)), (Some(5), "/5".to_owned()));
        assert_eq!((state.remaining(), state.may_add_points()), (Some(Nanos::from_secs(2 * 65)), true));
        state.event(&Event::LoadPoint(LoadPoint { index: 5, load: Load::Users(12) }));
        assert_eq!((state.n_points(), state.may_add_points()), (Some(6), false));
    }

    #[test]
    fn interleaved_runs_are_counted_together() {
        let state = fixtures::interleaved();
        assert_eq!((state.n_points(), state.n_begun, state.turn), (Some(4), 3, 1));
        assert_eq!(state.label_if_several(1), Some("apache"));
        let finished: Vec<_> =
            state.finished.iter().map(|point| (point.run, point.index, point.problem)).collect();
        assert_eq!(finished, [(0, 0, None), (1, 0, None)]);
    }

    #[test]
    fn the_length_of_a_search_is_unknown() {
        let mut state = fixtures::closed();
        state.runs[0].plan.search = Some(model::Search { least: Load::Users(1), most: Load::Users(9) });
        assert_eq!((state.n_points(), state.fraction_done(), state.remaining()), (None, None, None));
    }

    #[test]
    fn a_load_point_that_was_cut_short_is_bad() {
        let mut state = fixtures::closed();
        assert_eq!(state.end_point().unwrap().problem, Some("cut short"));
        assert_eq!(state.end_point(), None, "it has ended");
    }

    #[test]
    fn records_outside_load_points_are_ignored() {
        let mut state = fixtures::preparing();
        let record = testing::record(0, Phase::Steady, 5);
        state.event(&Event::Interval(&record));
        assert!(state.history.seconds.is_empty() && state.second.is_none());
    }

    #[test]
    fn the_last_second_is_not_shown_for_another_server() {
        let mut state = fixtures::interleaved();
        let point = LoadPoint { index: 1, load: Load::Users(20) };
        assert!(state.second.is_some());
        state.event(&Event::Turn(0));
        state.event(&Event::LoadPoint(point));
        assert_eq!(state.second, None);
    }

    #[test]
    fn a_missing_second_is_a_flaw() {
        let mut live = fixtures::live_closed();
        let next = live.state.point.as_ref().unwrap().at.0 / 1_000_000_000;
        live.second(fixtures::closed_second(next + 1, 30, 304));
        let status = live.state.point.as_ref().unwrap().status.as_ref().unwrap();
        let worst = most_severe(status).map(|(name, status, _)| (name, status));
        assert_eq!(worst, Some(("record", IndicatorStatus::Bad)));
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
