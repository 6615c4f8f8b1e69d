//! The limits that end a load point early, judged once a second on the seconds just past.

use std::collections::VecDeque;

use model::{IntervalRecord, Limit, LimitMetric, Phase, Plan, Shape};
use stats::Histogram;
use units::{Nanos, Ratio};

use crate::percentiles::values_needed;
use crate::until::{BrokenLimit, LoadWindow, UntilResult};

/// The number of seconds on which limits are judged together: in fewer, one slow moment would decide.
const WINDOW: usize = 5;

/// The length of a full second.
const SECOND: Nanos = Nanos::from_secs(1);

/// The fold of the limits that end a load point: the last seconds, and what was found so far.
///
/// It answers the same whether it is asked every second or at the end: the first window that breaks a limit decides.
#[derive(Debug)]
pub(crate) struct UntilFold {
    shape: Shape,
    /// The start of the shape, from the start of the load point.
    start: Nanos,
    /// The last finished seconds without a gap, fewer than a window has.
    seconds: VecDeque<LoadSecond>,
    current: Option<LoadSecond>,
    found: UntilResult,
}

/// One second of all agents.
#[derive(Debug, Clone)]
struct LoadSecond {
    index: u32,
    start: Nanos,
    end: Nanos,
    ok: u64,
    errors: u64,
    due: u64,
    response: Histogram,
    in_flight_at_end: u64,
    in_flight_age_ns: u128,
}

/// The judgment of a window.
enum WindowState {
    /// A limit is broken, by this value.
    Broken(Limit, f64),
    /// All limits hold.
    Held,
    /// No limit is broken, but there was too little to judge all of them.
    Undecided,
}

impl UntilFold {
    /// Makes the fold of the only load point of a plan; `None` if no limit ends it.
    pub(crate) fn new(plan: &Plan) -> Option<UntilFold> {
        let shape = plan.shape.as_ref().filter(|shape| !shape.until.is_empty())?;
        let found = UntilResult { limits: shape.until.clone(), broken: None, held: None, windows_judged: 0 };
        Some(UntilFold {
            shape: shape.clone(),
            start: plan.phases.start_of(Phase::Steady),
            seconds: VecDeque::with_capacity(WINDOW),
            current: None,
            found,
        })
    }

    /// Returns what the finished seconds say; all of them once closed.
    pub(crate) fn found(&self) -> &UntilResult {
        &self.found
    }

    /// Returns the limit that is broken by the seconds so far, the current one included.
    pub(crate) fn broken_so_far(&self) -> Option<BrokenLimit> {
        self.found.broken.or_else(|| match self.judge_with(self.current.as_ref()?)? {
            (window, WindowState::Broken(limit, value)) => Some(BrokenLimit { limit, value, window }),
            (_, WindowState::Held | WindowState::Undecided) => None,
        })
    }

    pub(crate) fn interval(&mut self, record: &IntervalRecord) {
        if self.found.broken.is_some() {
            return;
        }
        if record.phase != Phase::Steady {
            return self.close();
        }
        if self.current.as_ref().is_some_and(|second| second.index != record.index) {
            self.close();
        }
        match &mut self.current {
            Some(second) => second.add(record),
            None => self.current = Some(LoadSecond::of(record)),
        }
    }

    /// Finishes the current second.
    pub(crate) fn close(&mut self) {
        let Some(second) = self.current.take().filter(|_| self.found.broken.is_none()) else { return };
        let follows = self.seconds.back().is_none_or(|last| last.end == second.start);
        if !follows || second.end.saturating_sub(second.start) != SECOND {
            self.seconds.clear();
            return;
        }
        match self.judge_with(&second) {
            Some((window, WindowState::Broken(limit, value))) => {
                self.found.broken = Some(BrokenLimit { limit, value, window });
            }
            Some((window, WindowState::Held)) => {
                self.found.windows_judged += 1;
                let is_highest = self.found.held.is_none_or(|highest| highest.level_mean < window.level_mean);
                if is_highest {
                    self.found.held = Some(window);
                }
            }
            Some((_, WindowState::Undecided)) | None => {}
        }
        self.seconds.push_back(second);
        if self.seconds.len() == WINDOW {
            self.seconds.pop_front();
        }
    }

    /// Judges the window that ends with a second; `None` if it is not full.
    fn judge_with(&self, last: &LoadSecond) -> Option<(LoadWindow, WindowState)> {
        let first = self.seconds.front().filter(|_| self.seconds.len() + 1 == WINDOW)?;
        let is_full = last.end.saturating_sub(first.start) == Nanos(SECOND.0 * WINDOW as u64);
        let mut sum = first.clone();
        let rest = self.seconds.iter().skip(1).chain([last]);
        let is_whole = rest.into_iter().all(|second| sum.append(second));
        let window = self.window(first.start, last.end);
        (is_full && is_whole).then(|| (window, state_of(&self.shape.until, &sum)))
    }

    fn window(&self, start: Nanos, end: Nanos) -> LoadWindow {
        let [from, to] = [start, end].map(|time| time.saturating_sub(self.start));
        LoadWindow {
            start,
            end,
            level_from: self.shape.level_at(from),
            level_to: level_before(&self.shape, to),
            level_mean: self.shape.level_mean(from..to),
        }
    }
}

impl LoadSecond {
    fn of(record: &IntervalRecord) -> LoadSecond {
        let mut second = LoadSecond {
            index: record.index,
            start: record.start,
            end: record.end,
            ok: 0,
            errors: 0,
            due: 0,
            response: Histogram::new(),
            in_flight_at_end: 0,
            in_flight_age_ns: 0,
        };
        second.add(record);
        second
    }

    fn add(&mut self, record: &IntervalRecord) {
        let flow = &record.flow;
        self.ok = self.ok.saturating_add(flow.ok);
        self.errors = self.errors.saturating_add(flow.failed).saturating_add(flow.timed_out);
        self.due = self.due.saturating_add(flow.due);
        self.in_flight_at_end = self.in_flight_at_end.saturating_add(flow.in_flight_at_end);
        self.in_flight_age_ns = self.in_flight_age_ns.saturating_add(flow.in_flight_age_ns);
        // The ledger reports a histogram that overflows; the sum then lacks what nobody can count.
        let _ = self.response.merge(&record.response);
    }

    /// Adds the second that follows; returns whether all of it could be added.
    fn append(&mut self, next: &LoadSecond) -> bool {
        self.end = next.end;
        self.ok = self.ok.saturating_add(next.ok);
        self.errors = self.errors.saturating_add(next.errors);
        self.due = self.due.saturating_add(next.due);
        self.in_flight_at_end = next.in_flight_at_end;
        self.in_flight_age_ns = next.in_flight_age_ns;
        self.response.merge(&next.response).is_ok()
    }

    /// Returns the value of a metric over these seconds, in the unit of [`Limit::value`]; `None` if there is too little for it.
    fn value(&self, metric: LimitMetric) -> Option<f64> {
        let seconds = |time: Nanos| time.as_secs_f64();
        let ratio = |part: u64, whole: u64| (0 < whole).then(|| part as f64 / whole as f64);
        match metric {
            LimitMetric::Percentile(rank) => {
                let q = Ratio(rank.quantile());
                let has_enough = values_needed(q) <= self.response.n();
                has_enough.then(|| self.response.quantile(q)).flatten().map(seconds)
            }
            LimitMetric::Mean => self.response.mean().map(seconds),
            LimitMetric::Max => self.response.max().map(seconds),
            LimitMetric::Errors => ratio(self.errors, self.ok.saturating_add(self.errors)),
            LimitMetric::Delivered => ratio(self.ok, self.due),
            LimitMetric::Rate => Some(self.ok as f64 / self.end.saturating_sub(self.start).as_secs_f64()),
        }
    }

    /// Returns the mean age of operations in flight at the end, in s, where none succeeded in all these seconds: at least so
    /// long they take.
    fn stalled_for(&self) -> Option<f64> {
        let is_stalled = self.ok == 0 && 0 < self.in_flight_at_end;
        is_stalled.then(|| self.in_flight_age_ns as f64 / 1e9 / self.in_flight_at_end as f64)
    }
}

/// Returns the level just before a time since the start of a shape: where it jumps, that of the stage before.
fn level_before(shape: &Shape, time: Nanos) -> f64 {
    let last = shape.spans().take_while(|(span, _)| span.start < time).last();
    last.map_or(0.0, |(span, stage)| stage.level_at(time.saturating_sub(span.start)))
}

/// Judges seconds by all limits.
fn state_of(limits: &[Limit], seconds: &LoadSecond) -> WindowState {
    let mut state = WindowState::Held;
    for limit in limits {
        let value = match seconds.value(limit.metric()) {
            None if limit.metric().is_time() => seconds.stalled_for().filter(|age| !limit.allows(*age)),
            value => value,
        };
        match value {
            Some(value) if !limit.allows(value) => return WindowState::Broken(*limit, value),
            Some(_) => {}
            None => state = WindowState::Undecided,
        }
    }
    state
}
