//! What a user sees while a run goes on: a line that moves on a terminal, plain lines elsewhere.

use std::io::IsTerminal;

use fleet::{Event, Observer};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{IntervalRecord, Load, LoadPoint, Phase, Plan};
use stats::Histogram;
use units::{Bytes, Nanos, Ratio};

use crate::tell::{tell, warn};

/// Steps of the bar for each load point.
const STEPS: u64 = 1000;

/// Tells the progress of one run, or of several that take turns, on standard error.
pub struct Progress {
    bar: Option<ProgressBar>,
    runs: Vec<Run>,
    /// Place of the run that goes on.
    turn: usize,
    point: Option<Point>,
    is_quiet: bool,
}

/// A run that is watched.
struct Run {
    label: String,
    n_points: usize,
    point_length: Nanos,
    allowance: Option<f64>,
}

impl Run {
    /// Returns what follows the number of a load point: `/20`, nothing in a search.
    fn of_all(&self) -> String {
        if self.n_points == 0 { String::new() } else { format!("/{}", self.n_points) }
    }
}

/// The load point that runs.
struct Point {
    point: LoadPoint,
    /// How many runs had their turn at this load before.
    place: u64,
    ok: u64,
    errors: u64,
    length: Nanos,
    response: Histogram,
}

impl Progress {
    /// Makes a display for plans, each with the name by which it is told from the others.
    pub fn new(plans: &[Plan], labels: Vec<String>) -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            // A search does not know its length: the bar stays where it is.
            let steps = plans.iter().map(|plan| plan.load_points.len() as u64 * STEPS).sum::<u64>().max(1);
            let style = ProgressStyle::with_template("{bar:20} {percent:>3} % {wide_msg}");
            ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr())
                .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        let run = |(plan, label): (&Plan, String)| Run {
            label,
            n_points: plan.load_points.len(),
            point_length: plan.phases.issuing(),
            allowance: plan.sut.allowance(),
        };
        let runs = plans.iter().zip(labels).map(run).collect();
        Progress { bar, runs, turn: 0, point: None, is_quiet: false }
    }

    /// Makes a display of one run that shows warnings only.
    pub fn quiet(plan: &Plan) -> Progress {
        Progress {
            bar: None,
            is_quiet: true,
            ..Progress::new(std::slice::from_ref(plan), vec![String::new()])
        }
    }

    /// Removes what moves from the terminal.
    pub fn end(&mut self) {
        self.finish_point();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            _ if self.is_quiet => {}
            Some(bar) => bar.println(line),
            None => tell(line),
        }
    }

    /// Returns the name of the run that goes on, behind `before`, if there are several.
    fn name(&self, before: &str) -> String {
        match self.runs.as_slice() {
            [_] => String::new(),
            runs => format!("{before}{}", runs[self.turn].label),
        }
    }

    fn begin_point(&mut self, point: LoadPoint) {
        self.finish_point();
        let response = Histogram::default();
        // Runs that take turns begin with another one at every load point.
        let n = self.runs.len();
        let place = ((self.turn + n - point.index as usize % n) % n) as u64;
        self.point = Some(Point { point, place, ok: 0, errors: 0, length: Nanos::ZERO, response });
    }

    /// Leaves a line about the load point that has ended.
    fn finish_point(&mut self) {
        let Some(done) = self.point.take() else { return };
        if done.length == Nanos::ZERO {
            return;
        }
        let rate = done.ok as f64 / done.length.as_secs_f64();
        let p99 = quantile_text(&done.response);
        let line = format!(
            "  {:>2}{}  {:<16} {rate:>10.1}/s   p99 {p99:>8}   errors {}{}",
            done.point.index + 1,
            self.runs[self.turn].of_all(),
            load_text(done.point.load),
            done.errors,
            self.name("   ")
        );
        self.say(&line);
    }

    fn second(&mut self, record: &IntervalRecord) {
        let name = self.name(" ");
        let Some(point) = &mut self.point else { return };
        let flow = &record.flow;
        point.errors += flow.failed + flow.timed_out;
        if record.phase == Phase::Steady {
            // The line that stays agrees with the results, which are of this phase.
            point.ok += flow.ok;
            point.length += record.end.saturating_sub(record.start);
            point.response.merge(&record.response);
        }
        let (Some(bar), Some(run)) = (&self.bar, self.runs.get(self.turn)) else { return };
        let seconds = (record.end.saturating_sub(record.start)).as_secs_f64().max(1e-9);
        let busy = |cpu: Nanos, of: f64| format!("{:.0} %", 100.0 * cpu.as_secs_f64() / seconds / of);
        let sut = record.sut.map_or(String::new(), |used| match run.allowance {
            Some(allowance) => format!(" · server {} of its allowance", busy(used.cpu, allowance)),
            None => format!(" · server {} of a CPU", busy(used.cpu, 1.0)),
        });
        let offered = match point.point.load {
            Load::Users(_) => String::new(),
            Load::Rate { .. } => format!(" of {:.0}/s due", flow.due as f64 / seconds),
        };
        bar.set_message(format!(
            "{}{}{} · {} · {} {:.0} s · {:.0}/s{offered} · p99 {} · errors {} · generator {}{sut}",
            point.point.index + 1,
            run.of_all(),
            name,
            load_text(point.point.load),
            record.phase.name(),
            record.end.as_secs_f64(),
            flow.ok as f64 / seconds,
            quantile_text(&record.response),
            point.errors,
            busy(record.health.cpu, f64::from(record.health.threads.max(1))),
        ));
        let part = record.end.as_secs_f64() / run.point_length.as_secs_f64().max(1e-9);
        let before = u64::from(point.point.index) * self.runs.len() as u64 + point.place;
        if run.n_points == 0 {
            return;
        }
        bar.set_position(before * STEPS + (part.min(1.0) * STEPS as f64) as u64);
    }
}

impl Observer for Progress {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Preparing(what) => match &self.bar {
                Some(bar) => bar.set_message(what.to_owned()),
                None => self.say(&format!("{}.", capitalized(what))),
            },
            Event::Files { done, total } => {
                if let Some(bar) = &self.bar {
                    bar.set_message(format!("laying out files, {} of {}", Bytes(done), Bytes(total)));
                }
            }
            Event::Turn(turn) => {
                self.finish_point();
                self.turn = turn;
            }
            Event::Ready { address, server } => self.say(&format!("Server: {server}, {address}")),
            Event::LoadPoint(point) => self.begin_point(point),
            Event::Interval(record) => self.second(record),
            // Too many for a line.
            Event::Readings { .. } => {}
            Event::Example(example) => {
                self.say(&format!("  first `{}`: {}", example.outcome.name(), example.text));
            }
            Event::Warning(text) => match &self.bar {
                Some(bar) => bar.println(format!("warning: {text}")),
                None => warn(text),
            },
        }
    }
}

fn load_text(load: Load) -> String {
    if load.is_closed() { load.to_string() } else { format!("{load} offered") }
}

/// Returns the 99th percentile; `–` if there is nothing. For the eye only: reports give n and an interval.
fn quantile_text(response: &Histogram) -> String {
    response.quantile(Ratio(0.99)).map_or("–".to_owned(), |p99| p99.to_string())
}

fn capitalized(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}
