//! The recorder, which folds samples into one record per second.
//!
//! Calls come in order of time, since one thread reads one clock. An event at or after the end of
//! the current interval first closes it, so every event lands in the interval that contains it and
//! the state between intervals is exact, however late the thread was woken.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    Catalog, Health, IntervalRecord, KindHistograms, KindTotals, MEASURES_MAX, NoticeTotals, Outcome, Phase,
    Phases, Reply, SLOTS_MAX, Score, SliceSchedule, SutUse, UnitTotals, UserNotice,
};
use stats::{Histogram, Moments};
use units::Nanos;

use crate::budget::BudgetState;
use crate::due_queue::DueQueue;
use crate::notice_outbox::NoticeOutbox;
use crate::setup::{HealthProbe, LoadThreadUse, PointSetup};
use crate::time_integral::TimeIntegral;
use crate::user_times::StartTimes;

/// Length of an interval, unless a phase ends within it.
const INTERVAL: Nanos = Nanos::from_secs(1);

/// The reason why the histograms of an interval can always be merged.
const OPERATIONS_ARE_COUNTABLE: &str = "the operations that a thread performs in an interval can be counted";

/// The index of no measure.
const NO_MEASURE: u8 = u8::MAX;

/// The amount that a successful operation adds to those of its user: one, or its bytes where the score is a throughput.
#[derive(Debug, Clone, Copy)]
struct ClientAmount {
    /// The amount of every operation.
    each: u64,
    /// The measures that are added, a bit each.
    measures: u32,
}

impl ClientAmount {
    fn of(score: &Score) -> ClientAmount {
        match score {
            Score::Throughput { measures } => {
                let bits = measures.iter().filter(|measure| **measure < MEASURES_MAX);
                ClientAmount { each: 0, measures: bits.fold(0, |all, measure| all | 1 << measure) }
            }
            _ => ClientAmount { each: 1, measures: 0 },
        }
    }
}

/// The operations of a schedule on one load thread.
enum ScheduledOperations {
    /// Any slot takes the next one: they are walked once, for both.
    Queue(DueQueue),
    /// Each belongs to a user, who walks its own; these are counted as they fall due.
    OfUsers(SliceSchedule),
}

/// A recorder of the samples of a thread's share of one load point.
pub(crate) struct Recorder {
    origin: Nanos,
    phases: Phases,
    /// Whether operations can be sent later than due: then lateness and service time are worth a histogram.
    is_paced: bool,
    /// The operations of an open loop; `None` in a closed loop, where due means started.
    scheduled: Option<ScheduledOperations>,
    current: IntervalRecord,
    /// Its detail.
    detail: KindHistograms,
    n_units: usize,
    n_measures: usize,
    n_pauses: usize,
    /// For each kind the measures of the slots of its replies; [`NO_MEASURE`] beyond them.
    slots: Vec<[u8; SLOTS_MAX]>,
    /// For each measure the index of its spread, if it has one.
    spreads: [Option<u8>; MEASURES_MAX],
    in_flight: TimeIntegral,
    /// The same, by kind.
    in_flight_kinds: Vec<u64>,
    thinking: TimeIntegral,
    /// Numbers of notices that are awaited, by the beginnings of their waits (on the run's clock) and their measures.
    awaited: BTreeMap<(Nanos, u16), u64>,
    n_notices: usize,
    /// Notices from beside the tasks of users, and an empty list to exchange for them.
    outbox: NoticeOutbox,
    taken: Vec<UserNotice>,
    /// The time after which a notice is lost.
    time_limit: Nanos,
    /// The amount of each user's successful operations in the steady phase; of nobody where slots perform what is due.
    clients: Vec<u64>,
    /// The part of a user's amount that an operation is.
    client_amount: ClientAmount,
    in_flight_integral: u128,
    thinking_integral: u128,
    probe: HealthProbe,
    probed: LoadThreadUse,
    finished: Vec<IntervalRecord>,
    /// Emptied records to be filled again.
    spares: Vec<IntervalRecord>,
    /// Emptied histograms of failures, which stand in a detail only in seconds with such a failure.
    spare_histograms: Vec<Histogram>,
    /// The operations that may still be started.
    budget: BudgetState,
    /// Whether the load point has ended: later events are not part of it.
    is_over: bool,
}

impl Recorder {
    /// Makes a recorder for a thread's share of a load point.
    pub(crate) fn new(
        setup: &PointSetup,
        origin: Nanos,
        n_kinds: usize,
        n_units: usize,
        mut probe: HealthProbe,
    ) -> Recorder {
        let probed = probe();
        let mut spreads = [None; MEASURES_MAX];
        for (index, measure) in (0..).zip(setup.catalog.spread_measures()) {
            spreads[measure] = Some(index);
        }
        let mut recorder = Recorder {
            origin,
            phases: setup.phases,
            is_paced: false,
            scheduled: None,
            current: IntervalRecord {
                thread: Some(setup.assignment.share),
                ..IntervalRecord::empty(setup.point.index, setup.agent)
            },
            detail: KindHistograms::default(),
            n_units,
            n_measures: setup.catalog.measures.len(),
            n_pauses: setup.catalog.pauses.len(),
            slots: (0..n_kinds).map(|kind| slots(&setup.catalog, kind)).collect(),
            spreads,
            in_flight: TimeIntegral::default(),
            in_flight_kinds: vec![0; n_kinds],
            thinking: TimeIntegral::default(),
            awaited: BTreeMap::new(),
            n_notices: setup.catalog.notices.len(),
            outbox: setup.notices.clone(),
            taken: Vec::new(),
            time_limit: setup.time_limit,
            clients: vec![0; setup.assignment.users.len()],
            client_amount: ClientAmount::of(&setup.catalog.score),
            in_flight_integral: 0,
            thinking_integral: 0,
            probe,
            probed,
            finished: Vec::new(),
            spares: Vec::new(),
            spare_histograms: Vec::new(),
            budget: match &setup.budget {
                Some(budget) => BudgetState::Open(Arc::clone(budget), origin),
                None => BudgetState::Unlimited,
            },
            is_over: false,
        };
        recorder.begin_interval(Nanos::ZERO, 0);
        recorder
    }

    /// Counts due operations by the schedule of this share, and has them to be taken unless users with state take their
    /// own.
    pub(crate) fn follow(&mut self, schedule: SliceSchedule, has_user_state: bool) {
        self.scheduled = Some(if has_user_state {
            ScheduledOperations::OfUsers(schedule)
        } else {
            ScheduledOperations::Queue(DueQueue::new(schedule))
        });
        self.is_paced = true;
        if !has_user_state {
            self.clients = Vec::new();
        }
    }

    /// Counts the operations of the schedule that have fallen due by `now` (on the run's clock), in the intervals in
    /// which they fell due, and returns the number that wait to be taken.
    #[inline]
    pub(crate) fn fall_due(&mut self, now: Nanos) -> u64 {
        // Nothing falls due in later intervals, and the end of a drain decides which of them there are.
        self.roll(now.min(self.origin + self.phases.issuing()));
        self.count_due_before(now.saturating_sub(self.origin) + Nanos(1));
        self.queue().map_or(0, |queue| queue.n_waiting())
    }

    /// Returns the due time of the next operation that has not fallen due, from the start of the load point; `None` if
    /// there is none.
    pub(crate) fn next_due(&mut self) -> Option<Nanos> {
        self.queue()?.next_due()
    }

    /// Takes the next operation that has fallen due; returns its number and its due time, from the start of the load point.
    #[inline]
    pub(crate) fn take_due(&mut self) -> Option<(u64, Nanos)> {
        self.queue()?.take_due()
    }

    /// Takes the next operation, whether or not it has fallen due. `None` after the last, and in a closed loop.
    pub(crate) fn take_next(&mut self) -> Option<(u64, Nanos)> {
        self.queue()?.take_next()
    }

    fn queue(&mut self) -> Option<&mut DueQueue> {
        match &mut self.scheduled {
            Some(ScheduledOperations::Queue(queue)) => Some(queue),
            Some(ScheduledOperations::OfUsers(_)) | None => None,
        }
    }

    fn count_due_before(&mut self, time: Nanos) {
        self.current.flow.due += match &mut self.scheduled {
            Some(ScheduledOperations::Queue(queue)) => queue.pass_before(time),
            Some(ScheduledOperations::OfUsers(schedule)) => schedule.pass_before(time),
            None => 0,
        };
    }

    /// Closes every interval that has ended by `now` (on the run's clock); with the last of the drain the record
    /// is over, and what is left is given up.
    #[inline]
    pub(crate) fn roll(&mut self, now: Nanos) {
        if let BudgetState::Open(budget, latest) = &mut self.budget {
            match budget.spent_at() {
                // Some of this thread may be later by as little as another takes to say so.
                Some(spent) if spent <= now => {
                    let end = spent.max(*latest);
                    self.end_issuing(end);
                }
                _ => *latest = now.max(*latest),
            }
        }
        self.close_ended(now);
    }

    /// Takes an operation for a user that is to start it at `now`; returns whether one was left.
    #[inline]
    pub(crate) fn may_start(&mut self, now: Nanos) -> bool {
        match &self.budget {
            BudgetState::Unlimited => return true,
            BudgetState::Open(budget, _) if budget.take(now) => return true,
            BudgetState::Open(..) | BudgetState::Spent => {}
        }
        self.roll(now);
        false
    }

    /// Ends the phases in which operations are started at `at`, with the interval that contains it: the drain follows.
    #[cold]
    fn end_issuing(&mut self, at: Nanos) {
        self.budget = BudgetState::Spent;
        self.close_ended(at);
        let end = at.saturating_sub(self.origin);
        if self.phases.issuing() <= end || self.is_over {
            return;
        }
        self.phases = self.phases.ending_at(end);
        if self.current.start < end {
            self.current.end = end;
            self.close_interval();
        } else {
            self.begin_interval(self.current.start, self.current.index);
        }
    }

    /// Closes the intervals that have ended by `now` while operations may be started; returns the phases, as far as they are
    /// known.
    pub(crate) fn roll_issuing(&mut self, now: Nanos) -> Phases {
        self.roll(now.min(self.origin + self.phases.issuing()));
        self.phases
    }

    /// Returns the phases, which end early where no operation is left.
    pub(crate) fn phases(&self) -> Phases {
        self.phases
    }

    fn close_ended(&mut self, now: Nanos) {
        while self.current.end + self.origin <= now && !self.is_over {
            self.is_over = self.ends_the_drain();
            if self.is_over {
                self.give_up();
            }
            self.close_interval();
        }
    }

    /// Ends recording at `at`: the running interval is closed there, whatever its length, and what
    /// comes later is not recorded. Operations still in flight or waiting are given up if `abandon`.
    pub(crate) fn finish(&mut self, at: Nanos, abandon: bool) {
        self.roll(at);
        // A run may be stopped before its load point has begun.
        let end = at.saturating_sub(self.origin);
        if self.current.start < end && !self.is_over {
            self.current.end = end;
            if abandon {
                self.give_up();
            }
            self.close_interval();
        }
        self.is_over = true;
    }

    /// Returns whether the current interval is the last that the plan allows a drain.
    fn ends_the_drain(&self) -> bool {
        let end = self.phases.end_of(Phase::Drain);
        self.phases.issuing() < end && self.current.end == end
    }

    /// Counts the operations in flight and waiting as given up.
    fn give_up(&mut self) {
        self.current.flow.abandoned = self.in_flight.inside();
        self.current.flow.skipped = self.waiting();
    }

    /// Takes the intervals that were closed since the last call.
    pub(crate) fn take_finished(&mut self) -> Vec<IntervalRecord> {
        std::mem::take(&mut self.finished)
    }

    /// Takes an emptied record to be filled again.
    pub(crate) fn reuse(&mut self, mut spare: IntervalRecord) {
        if let Some(detail) = &mut spare.detail {
            self.spare_histograms.extend(std::mem::take(&mut detail.failed).into_values());
        }
        self.spares.push(spare);
    }

    /// Returns a time of the run's clock, but no earlier than the current interval: where several threads record, one may
    /// have closed an interval after another read the clock.
    pub(crate) fn not_before_interval(&self, at: Nanos) -> Nanos {
        at.max(self.origin + self.current.start)
    }

    /// Returns whether no operation is in flight or waits, and no notice is awaited.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.take_notices();
        self.in_flight.inside() == 0 && self.waiting() == 0 && self.awaited.is_empty()
    }

    /// Returns the number of operations that are due and not started, as far as this interval knows.
    fn waiting(&mut self) -> u64 {
        self.count_due_before(self.current.end);
        let flow = &self.current.flow;
        flow.waiting_at_start + flow.due - flow.started - flow.skipped
    }

    /// Records that an operation of kind `kind` was sent. What it waited for its user is no lateness of the generator.
    #[inline]
    pub(crate) fn started(&mut self, kind: u16, times: StartTimes) {
        let StartTimes { due, free, sent, due_span } = times;
        self.roll(sent);
        self.current.flow.started += 1;
        if self.scheduled.is_none() {
            self.current.flow.due += 1;
        }
        if self.is_paced {
            self.current.lateness.record(sent.saturating_sub(due.max(free)));
        }
        if due < free {
            self.current.flow.user_wait.record((free - due).0);
        }
        self.current.flow.due_span_ns += u128::from(due_span.0);
        self.in_flight.enter(sent);
        self.in_flight_kinds[usize::from(kind)] += 1;
    }

    /// Records the end of an operation of kind `kind` that was due at `due`. `user` is the number of its user on this thread.
    #[inline]
    pub(crate) fn completed(&mut self, kind: u16, user: usize, due: Nanos, reply: &Reply) {
        self.roll(reply.done);
        self.in_flight.leave(reply.sent, reply.done);
        self.in_flight_kinds[usize::from(kind)] -= 1;
        let response = reply.done.saturating_sub(due);
        let flow = &mut self.current.flow;
        if reply.outcome != Outcome::Ok {
            match reply.outcome {
                Outcome::TimedOut => flow.timed_out += 1,
                _ => flow.failed += 1,
            }
            return self.failed(kind, reply, response);
        }
        flow.ok += 1;
        let totals = &mut self.current.kinds[usize::from(kind)];
        totals.response.record(response.0);
        self.detail.response[usize::from(kind)].record(response);
        let slots = &self.slots[usize::from(kind)];
        let mut amount = self.client_amount.each;
        for (slot, value) in reply.measured.iter() {
            let measure = usize::from(slots[slot]);
            if self.client_amount.measures >> measure & 1 == 1 {
                amount = amount.saturating_add(value);
            }
            totals.measures[measure].record(value);
            if let Some(spread) = self.spreads[measure] {
                self.detail.spreads[usize::from(spread)].record(Nanos(value));
            }
        }
        if self.is_paced {
            self.current.service.record(reply.done.saturating_sub(reply.sent));
        }
        if self.current.phase == Phase::Steady
            && let Some(n) = self.clients.get_mut(user)
        {
            *n = n.saturating_add(amount);
        }
    }

    /// Records that the peer left the connection of the operation that was just completed open.
    #[cold]
    pub(crate) fn left_open(&mut self) {
        self.current.flow.left_open += 1;
    }

    #[cold]
    fn failed(&mut self, kind: u16, reply: &Reply, response: Nanos) {
        let totals = &mut self.current.kinds[usize::from(kind)];
        *totals.failed.entry(reply.outcome).or_default() += 1;
        if reply.code != 0 {
            totals.codes.add(reply.outcome, reply.code, 1);
        }
        let times = self.detail.failed.entry((kind, reply.outcome));
        times.or_insert_with(|| self.spare_histograms.pop().unwrap_or_default()).record(response);
    }

    /// Records a unit, such as a page.
    #[inline]
    pub(crate) fn unit(&mut self, kind: u16, ok: bool) {
        let totals = &mut self.current.units[usize::from(kind)];
        if ok {
            totals.ok += 1;
        } else {
            totals.failed += 1;
        }
    }

    /// Records that a user makes a pause of kind `kind`, for a time that was `drawn`; from now on operations can be late.
    pub(crate) fn paused(&mut self, at: Nanos, kind: u16, drawn: Nanos) {
        self.roll(at);
        let kind = usize::from(kind);
        self.current.pauses[kind].record(drawn.0);
        self.detail.pauses[kind].record(drawn);
        if !self.is_paced {
            self.become_paced();
        }
    }

    /// Records that a user begins to think.
    pub(crate) fn think_begins(&mut self, at: Nanos) {
        self.roll(at);
        self.thinking.enter(at);
    }

    /// Begins to record service times; until now they were the response times.
    fn become_paced(&mut self) {
        self.is_paced = true;
        for response in &self.detail.response {
            self.current.service.merge(response).expect(OPERATIONS_ARE_COUNTABLE);
        }
    }

    /// Records that a user that began to think at `began` has stopped.
    pub(crate) fn think_ends(&mut self, began: Nanos, at: Nanos) {
        self.roll(at);
        self.thinking.leave(began, at);
    }

    /// Records that a notice is awaited, or has come; one that was lost already is not recorded again.
    pub(crate) fn notice(&mut self, at: Nanos, notice: UserNotice) {
        self.roll(at);
        self.record_notice(notice);
    }

    /// Records the notices in the outbox.
    fn take_notices(&mut self) {
        let mut taken = std::mem::take(&mut self.taken);
        self.outbox.exchange(&mut taken);
        taken.drain(..).for_each(|notice| self.record_notice(notice));
        self.taken = taken;
    }

    fn record_notice(&mut self, notice: UserNotice) {
        let UserNotice { measure, begun, value } = notice;
        let index = usize::from(measure);
        let totals = &mut self.current.notices[index];
        let is_in_steady = self.phases.at(begun.saturating_sub(self.origin)) == Phase::Steady;
        let Some(value) = value else {
            totals.begun += 1;
            totals.begun_in_steady += u64::from(is_in_steady);
            *self.awaited.entry((begun, measure)).or_default() += 1;
            return;
        };
        let Some(n) = self.awaited.get_mut(&(begun, measure)) else { return };
        *n -= 1;
        if *n == 0 {
            self.awaited.remove(&(begun, measure));
        }
        totals.ended += 1;
        if is_in_steady {
            totals.times.record(value);
            self.detail.notices[index].record(Nanos(value));
        }
    }

    /// Gives up the notices that have not come within the time limit by `boundary`, and counts those that are awaited.
    fn close_notices(&mut self, boundary: Nanos) {
        while let Some(first) = self.awaited.first_entry() {
            let (begun, measure) = *first.key();
            if boundary < begun.saturating_add(self.time_limit) {
                break;
            }
            self.current.notices[usize::from(measure)].lost += first.remove();
        }
        for ((_, measure), n) in &self.awaited {
            self.current.notices[usize::from(*measure)].awaited_at_end += n;
        }
    }

    /// Hands over the amount of each user when the steady phase ends.
    fn hand_over_clients(&mut self) {
        if self.current.phase == Phase::Steady && self.current.end == self.phases.end_of(Phase::Steady) {
            self.clients.iter().for_each(|n| self.current.clients.record(*n));
        }
    }

    fn close_interval(&mut self) {
        let boundary = self.current.end + self.origin;
        self.take_notices();
        self.close_notices(boundary);
        self.hand_over_clients();
        let waiting = self.waiting();
        let in_flight = self.in_flight.integral(boundary);
        let thinking = self.thinking.integral(boundary);
        let flow = &mut self.current.flow;
        flow.waiting_at_end = waiting;
        flow.in_flight_at_end = self.in_flight.inside() - flow.abandoned;
        flow.in_flight_age_ns = self.in_flight.age(boundary);
        flow.in_flight_ns = in_flight - self.in_flight_integral;
        flow.thinking_ns = thinking - self.thinking_integral;
        let probed = (self.probe)();
        self.current.health = Health {
            threads: 1,
            cpu: probed.cpu.saturating_sub(self.probed.cpu),
            run_queue: probed.run_queue.saturating_sub(self.probed.run_queue),
        };
        self.current.sut = probed.sut_cpu.map(|cpu| {
            let before = self.probed.sut_cpu.unwrap_or_default();
            SutUse { cpu: cpu.saturating_sub(before), throttled: Nanos::ZERO }
        });
        let has_abandoned = self.current.flow.abandoned != 0;
        for response in &self.detail.response {
            self.current.response.merge(response).expect(OPERATIONS_ARE_COUNTABLE);
        }
        for (kind, in_flight) in self.current.kinds.iter_mut().zip(&self.in_flight_kinds) {
            kind.in_flight_at_end = if has_abandoned { 0 } else { *in_flight };
        }
        (self.in_flight_integral, self.thinking_integral, self.probed) = (in_flight, thinking, probed);
        let IntervalRecord { load_point, agent, thread, .. } = self.current;
        let spare = self.spares.pop().unwrap_or_else(|| IntervalRecord::empty(load_point, agent));
        let mut next = IntervalRecord { load_point, agent, thread, ..spare };
        let detail = std::mem::replace(&mut self.detail, next.detail.take().unwrap_or_default());
        let mut closed = std::mem::replace(&mut self.current, next);
        closed.detail = Some(detail);
        self.begin_interval(closed.end, closed.index + 1);
        self.current.flow.waiting_at_start = closed.flow.waiting_at_end;
        self.current.flow.in_flight_at_start = closed.flow.in_flight_at_end;
        for (next, closed) in self.current.notices.iter_mut().zip(&closed.notices) {
            next.awaited_at_start = closed.awaited_at_end;
        }
        self.finished.push(closed);
    }

    fn begin_interval(&mut self, start: Nanos, index: u32) {
        self.current.start = start;
        self.current.index = index;
        self.current.phase = self.phases.at(start);
        let whole = Nanos((start.0 / INTERVAL.0 + 1) * INTERVAL.0);
        let phase_end = self.phases.end_of(self.current.phase);
        self.current.end = if start < phase_end { whole.min(phase_end) } else { whole };
        let n_kinds = self.in_flight_kinds.len();
        self.current.kinds.resize_with(n_kinds, || KindTotals::new(self.n_measures));
        self.detail.response.resize_with(n_kinds, Histogram::new);
        self.detail.spreads.resize_with(self.spreads.iter().flatten().count(), Histogram::new);
        self.current.units.resize_with(self.n_units, UnitTotals::default);
        self.current.pauses.resize_with(self.n_pauses, Moments::default);
        self.detail.pauses.resize_with(self.n_pauses, Histogram::new);
        self.current.notices.resize_with(self.n_notices, NoticeTotals::default);
        self.detail.notices.resize_with(self.n_notices, Histogram::new);
    }
}

/// Returns the measures of the slots of a kind's replies.
fn slots(catalog: &Catalog, kind: usize) -> [u8; SLOTS_MAX] {
    let mut slots = [NO_MEASURE; SLOTS_MAX];
    for (slot, measure) in slots.iter_mut().zip(catalog.slots(kind)) {
        *slot = u8::try_from(measure).unwrap_or(NO_MEASURE);
    }
    slots
}

#[cfg(test)]
mod tests {
    use model::{
        Assignment, Load, LoadPoint, Measure, MeasureUnit, MeasuredValues, NoticeKind, OperationKind,
    };

    use super::*;

    const S: fn(u64) -> Nanos = Nanos::from_secs;

    fn recorder() -> Recorder {
        recorder_of(Catalog::default())
    }

    /// Makes the recorder of two kinds, of one user.
    fn recorder_of(catalog: Catalog) -> Recorder {
        recorder_of_users(catalog, 1, S(60))
    }

    fn recorder_of_users(catalog: Catalog, n_users: u32, steady: Nanos) -> Recorder {
        let zero = S(0);
        let phases =
            Phases { quiet: zero, ramp_up: zero, settle: zero, steady, ramp_down: zero, drain: zero };
        let setup = PointSetup {
            point: LoadPoint { index: 0, load: Load::Users(n_users) },
            agent: 0,
            assignment: Assignment { load_point: 0, share: 0, n_shares: 1, users: 0..n_users },
            schedule: None,
            budget: None,
            phases,
            shape: None,
            catalog,
            seed: 1,
            time_limit: S(1),
            notices: NoticeOutbox::default(),
        };
        Recorder::new(&setup, S(0), 2, 1, Box::new(LoadThreadUse::default))
    }

    /// Records an operation of a kind that takes `response` from `sent` on.
    fn perform(recorder: &mut Recorder, kind: u16, outcome: Outcome, sent: Nanos, response: Nanos) {
        let measured = MeasuredValues::default();
        let code = if outcome == Outcome::WrongStatus { 503 } else { 0 };
        let reply = Reply { outcome, sent, done: sent + response, measured, answer: 0, code, detail: 0 };
        recorder.started(kind, StartTimes::of(sent, sent));
        recorder.completed(kind, 0, sent, &reply);
    }

    /// A catalog may have more measures than a reply has slots: each kind has its own.
    #[test]
    fn values_are_recorded_for_the_measures_of_their_kind() {
        let measure = |index: usize| Measure {
            name: format!("measure {index}"),
            unit: MeasureUnit::Count,
            is_always: false,
            has_spread: index == 30,
            part_of: None,
        };
        let kind = |measures: &[usize]| OperationKind {
            name: format!("{measures:?}"),
            share: None,
            share_gap_max: None,
            limits: Vec::new(),
            measures: measures.to_vec(),
            expected: Vec::new(),
        };
        let kinds = vec![kind(&[30, 2]), kind(&[2, 31])];
        let catalog =
            Catalog { kinds, measures: (0..MEASURES_MAX).map(measure).collect(), ..Catalog::default() };
        let mut recorder = recorder_of(catalog);
        let mut measured = MeasuredValues::default();
        measured.set(0, 5);
        measured.set(1, 7);
        for kind in 0..2 {
            let reply = Reply {
                outcome: Outcome::Ok,
                sent: S(0),
                done: S(0),
                measured,
                answer: 0,
                code: 0,
                detail: 0,
            };
            recorder.started(kind, StartTimes::of(S(0), S(0)));
            recorder.completed(kind, 0, S(0), &reply);
        }
        recorder.roll(S(1));
        let record = recorder.take_finished().pop().unwrap();
        let sums = |kind: usize| {
            let measures = record.kinds[kind].measures.iter().enumerate();
            measures
                .filter(|(_, moments)| moments.n == 1)
                .map(|(index, moments)| (index, moments.sum))
                .collect::<Vec<_>>()
        };
        assert_eq!((sums(0), sums(1)), (vec![(2, 7), (30, 5)], vec![(2, 5), (31, 7)]));
        assert_eq!(record.detail.unwrap().spreads[0].sum(), 5);
    }

    /// Of two waits that begin in the first second one ends there, and the other is lost a second after its beginning. The
    /// third end belongs to no beginning.
    #[test]
    fn notices_from_another_thread_are_recorded_when_an_interval_closes() {
        let delivery = NoticeKind { name: "delivery".to_owned() };
        let mut recorder = recorder_of(Catalog { notices: vec![delivery], ..Catalog::default() });
        let outbox = recorder.outbox.clone();
        let ms = Nanos::from_millis;
        let sender = std::thread::spawn(move || {
            let wait = |begun, value| outbox.send(UserNotice { measure: 0, begun, value });
            wait(ms(100), None);
            wait(ms(500), None);
            wait(ms(100), Some(200_000));
            wait(ms(300), Some(1));
        });
        sender.join().unwrap();
        assert!(!recorder.is_empty(), "one is awaited");
        recorder.roll(S(3));
        let closed = recorder.take_finished();
        let counts = closed.iter().map(|record| {
            let [totals] = &record.notices[..] else { panic!("one kind") };
            assert_eq!(totals.sides()[0], totals.sides()[1]);
            (totals.begun, totals.ended, totals.times.sum, totals.lost, totals.awaited_at_end)
        });
        assert_eq!(counts.collect::<Vec<_>>(), [(2, 1, 200_000, 0, 1), (0, 0, 0, 1, 0), (0, 0, 0, 0, 0)]);
        assert_eq!(closed[0].detail.as_ref().unwrap().notices[0].n(), 1);
        assert!(recorder.is_empty());
    }

    /// Golden check 22, by hand: of four users the first reads 2 · 100 bytes, the second 200 at once and writes 50, and the third
    /// fails. By operations they are 2, 2, 0 and 0: fairness 16 ÷ (4 · 8). By bytes read and written they are 200, 250, 0 and
    /// 0. One of four that reads alone: 1 ÷ 4. All equal: 1.
    #[test]
    fn amounts_of_users_are_operations_or_the_bytes_of_the_score() {
        let measure = |name: &str| Measure {
            name: name.to_owned(),
            unit: MeasureUnit::Bytes,
            is_always: false,
            has_spread: false,
            part_of: None,
        };
        let measures = ["read", "written", "other"].map(measure).to_vec();
        let found = |score: Score, operations: &[(usize, usize, u64)]| {
            let catalog = Catalog { measures: measures.clone(), score, ..Catalog::default() };
            let mut recorder = recorder_of_users(catalog, 4, S(1));
            for (user, slot, value) in operations.iter().copied() {
                let mut measured = MeasuredValues::default();
                measured.set(slot, value);
                measured.set(2, 1_000);
                let outcome = if value == 0 { Outcome::Truncated } else { Outcome::Ok };
                let reply =
                    Reply { outcome, sent: S(0), done: S(0), measured, answer: 0, code: 0, detail: 0 };
                recorder.started(0, StartTimes::of(S(0), S(0)));
                recorder.completed(0, user, S(0), &reply);
            }
            recorder.roll(S(1));
            let clients = recorder.take_finished().pop().unwrap().clients;
            (clients.n, clients.min, clients.max, clients.sum, clients.fairness())
        };
        let some = [(0, 0, 100), (0, 0, 100), (1, 0, 200), (1, 1, 50), (2, 0, 0)];
        assert_eq!(found(Score::default(), &some), (4, 0, 2, 4, Some(0.5)));
        let bytes = || Score::Throughput { measures: vec![0, 1] };
        let index = 450.0 * 450.0 / (4.0 * (200.0 * 200.0 + 250.0 * 250.0));
        assert_eq!(found(bytes(), &some), (4, 0, 250, 450, Some(index)));
        assert_eq!(found(bytes(), &[(3, 0, 70), (3, 1, 30)]), (4, 0, 100, 100, Some(0.25)));
        let equal = [(0, 0, 100), (1, 1, 100), (2, 0, 40), (2, 0, 60), (3, 0, 100)];
        assert_eq!(found(bytes(), &equal), (4, 100, 100, 400, Some(1.0)));
    }

    /// Goal: a server that refuses every operation costs no memory anew every second, and leaves no trace in seconds
    /// without failures.
    #[test]
    fn histograms_of_failures_are_kept_and_emptied() {
        let mut recorder = recorder();
        let memory = |record: &IntervalRecord, kind: usize| -> usize {
            let failed = &record.detail.as_ref().unwrap().failed;
            let of_kind = failed.iter().filter(|((one, _), _)| usize::from(*one) == kind);
            of_kind.map(|(_, times)| times.memory()).sum()
        };
        let close = |recorder: &mut Recorder, second: u64| {
            recorder.roll(S(second));
            let mut finished = recorder.take_finished();
            let record = finished.pop().expect("a finished second");
            assert!(finished.is_empty());
            record
        };
        perform(&mut recorder, 0, Outcome::Refused, S(0), Nanos(100_000));
        let first = close(&mut recorder, 1);
        let one_octave = memory(&first, 0);
        assert!(0 < one_octave);
        let mut spare = first.clone();
        spare.clear();
        // The copy has the memory of its own values only, which the cleared record keeps.
        assert_eq!((memory(&spare, 0), memory(&spare, 1)), (one_octave, 0));
        recorder.reuse(spare);

        perform(&mut recorder, 0, Outcome::Ok, S(1), Nanos(100_000));
        let second = close(&mut recorder, 2);
        assert!(second.kinds.iter().all(|kind| kind.failed.is_empty()));

        perform(&mut recorder, 1, Outcome::TimedOut, S(2), Nanos(300_000));
        perform(&mut recorder, 0, Outcome::WrongStatus, S(2), Nanos(300_000));
        let third = close(&mut recorder, 3);
        let codes: Vec<_> = third.kinds[0].codes.iter().collect();
        assert_eq!((codes, third.kinds[1].codes.n()), (vec![(Outcome::WrongStatus, 503, 1)], 0));
        assert!(one_octave < memory(&third, 1), "the octave of the first second is kept");
        let mut expected = Histogram::new();
        expected.record(Nanos(300_000));
        let times = &third.detail.as_ref().unwrap().failed[&(1, Outcome::TimedOut)];
        assert_eq!((third.kinds[1].failed[&Outcome::TimedOut], times), (1, &expected));
        assert_eq!((third.kinds[1].failed.len(), third.kinds[0].failed.len()), (1, 1));
    }
}
