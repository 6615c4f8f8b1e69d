//! Virtual users and slots for operations in flight, each on a thread of its own.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{HasKind, MeasuredValues, Mix, Outcome, Reply, SliceSchedule, Step, User, UserReply};
use units::{Nanos, Rng};

use super::cpu_meter::{CpuMeter, MeteredCpu};
use super::{BlockingClock, BlockingDriver};
use crate::examples::Examples;
use crate::lifetime::Lifetime;
use crate::recorder::Recorder;
use crate::scheduled_user::ScheduledUser;
use crate::user_times::{StartTimes, UserTimes};

/// The load point, as shared by a load thread and the threads of its users.
pub(super) struct SharedPoint<C> {
    pub(super) clock: C,
    pub(super) origin: Nanos,
    pub(super) time_limit: Nanos,
    pub(super) state: Mutex<State>,
    /// Whether users are to leave, whatever they do.
    pub(super) is_over: AtomicBool,
    /// Number of users that have not left.
    pub(super) n_present: AtomicU32,
    /// Whether the thread of a user has panicked.
    pub(super) has_panicked: AtomicBool,
    pub(super) cpu: Arc<UsersCpu>,
}

/// The state that threads change in turns.
pub(super) struct State {
    pub(super) recorder: Recorder,
    pub(super) examples: Examples,
}

/// CPU time of the threads of users, in ns.
#[derive(Debug, Default)]
pub(super) struct UsersCpu {
    /// Outside of operations.
    pub(super) own: AtomicU64,
    /// Within operations.
    pub(super) sut: AtomicU64,
}

impl UsersCpu {
    /// Adds what was metered of a user.
    fn add(&self, metered: Option<MeteredCpu>) {
        let Some(MeteredCpu { own, sut }) = metered else { return };
        self.own.fetch_add(own.0, Ordering::Relaxed);
        self.sut.fetch_add(sut.0, Ordering::Relaxed);
    }
}

impl<C: BlockingClock> SharedPoint<C> {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked is noticed by its load thread.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn sleep_until(&self, at: Nanos) {
        self.clock.sleep_until(at, &self.is_over);
    }
}

/// The presence of a user at a load point.
pub(super) struct UserLifetime<C>(pub(super) Arc<SharedPoint<C>>);

impl<C> Drop for UserLifetime<C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.has_panicked.store(true, Ordering::Relaxed);
        }
        self.0.n_present.fetch_sub(1, Ordering::Release);
    }
}

/// A user's thread, or a slot's.
pub(super) struct UserThread<'a, C, D> {
    point: &'a SharedPoint<C>,
    driver: D,
    /// The number of the user among those of its load thread.
    user: usize,
    cpu: CpuMeter,
}

impl<'a, C: BlockingClock, D: BlockingDriver> UserThread<'a, C, D> {
    pub(super) fn new(point: &'a SharedPoint<C>, driver: D, user: usize) -> UserThread<'a, C, D> {
        UserThread { point, driver, user, cpu: CpuMeter::new(|| point.clock.thread_cpu()) }
    }

    /// Runs a user of a closed loop from its arrival until it leaves: the same states as in [`crate::closed`].
    pub(super) fn follow_user<U>(mut self, mut user: U, mut rng: Rng, mut lifetime: Lifetime)
    where
        U: User<Operation = D::Operation>,
    {
        let point = self.point;
        point.sleep_until(lifetime.from);
        let mut times = UserTimes::arriving(point.clock.now().max(lifetime.from));
        let mut last = None;
        while !point.is_over() {
            if lifetime.until <= times.now() {
                if !lifetime.go_on() {
                    break;
                }
                if times.now() < lifetime.from {
                    point.cpu.add(self.cpu.within_gap(|| point.clock.thread_cpu()));
                    point.sleep_until(lifetime.from);
                    times.absent_until(point.clock.now());
                }
                continue;
            }
            if let Some(due) = times.rest_of_pause() {
                times.back(self.think(times.now(), lifetime.end_of_pause(due)));
                continue;
            }
            match user.next(last.take(), &mut rng) {
                Step::Perform(operation) => {
                    let Some((answer, done)) = self.perform(&operation, times.start()) else { break };
                    times.done(done);
                    last = Some(answer);
                }
                Step::Think { kind, time, from } => {
                    self.paused(times.now(), kind, time);
                    if let Some(due) = times.pause(time, from) {
                        times.back(self.think(times.now(), lifetime.end_of_pause(due)));
                    }
                }
                Step::Unit { kind, ok } => point.state().recorder.unit(kind, ok),
                // With one operation in flight there is none to await.
                Step::Await | Step::Leave => break,
            }
        }
        self.close();
    }

    /// Runs a slot of an open loop: it takes the next operation that no other has taken, and waits until that is due. The
    /// operations of slots that wait are thus always the next ones.
    pub(super) fn follow_schedule<M: Mix<Operation = D::Operation>>(mut self, mix: &M) {
        let point = self.point;
        loop {
            let next = point.state().recorder.take_next();
            let Some((k, due)) = next else { break };
            let due = point.origin + due;
            let operation = mix.scheduled(k);
            point.sleep_until(due);
            if point.is_over() {
                break;
            }
            self.perform(&operation, StartTimes::of(due, point.clock.now()));
        }
        self.close();
    }

    /// Runs a user with state of an open loop: its operations as they are due, each when the one before it is done.
    pub(super) fn follow_own_schedule<M: Mix<Operation = D::Operation>>(
        mut self,
        mut user: ScheduledUser<M::User>,
        schedule: SliceSchedule,
        mix: &M,
    ) {
        let point = self.point;
        let mut free = point.origin;
        let mut last = None;
        for (_, due) in schedule {
            let count = |kind, ok| point.state().recorder.unit(kind, ok);
            let operation = user.next_operation(last.take(), mix, count);
            let due = point.origin + due;
            let sent = if due <= free {
                free
            } else {
                point.sleep_until(due);
                point.clock.now()
            };
            if point.is_over() {
                break;
            }
            let times = StartTimes { free, ..StartTimes::of(due, sent) };
            let Some((answer, done)) = self.perform(&operation, times) else { break };
            (free, last) = (done, Some(answer));
        }
        self.close();
    }

    /// Performs one operation and records it. Returns its answer and the time at which it was done; `None` if none was left to
    /// start. To take it and to record its start is one step: a record that ended in between would lack it.
    fn perform(&mut self, operation: &D::Operation, times: StartTimes) -> Option<(UserReply, Nanos)> {
        let point = self.point;
        let kind = operation.kind();
        let StartTimes { sent, due, .. } = {
            let recorder = &mut point.state().recorder;
            if !recorder.may_start(times.sent) {
                return None;
            }
            let times = times.sent_at(recorder.not_before_interval(times.sent));
            recorder.started(kind, times);
            times
        };
        let metered = self.cpu.gap_ended(sent, || point.clock.thread_cpu());
        point.cpu.add(metered);
        let reply = self.driver.perform(operation, sent);
        point.cpu.add(self.cpu.operation_ended(reply.done, || point.clock.thread_cpu()));
        let mut reply = Reply { sent, ..reply };
        let mut state = point.state();
        reply.done = state.recorder.not_before_interval(reply.done.max(sent));
        if reply.outcome == Outcome::Ok && point.time_limit < reply.done - sent {
            (reply.outcome, reply.measured) = (Outcome::TimedOut, MeasuredValues::default());
        }
        state.recorder.completed(kind, self.user, due, &reply);
        if reply.outcome != Outcome::Ok {
            let at = reply.done.saturating_sub(point.origin);
            state.examples.keep(at, kind, reply.outcome, || self.driver.describe(operation, &reply));
        }
        drop(state);
        Some((UserReply { outcome: reply.outcome, value: reply.answer }, reply.done))
    }

    /// Records a pause that was drawn at a time.
    fn paused(&self, at: Nanos, kind: u16, drawn: Nanos) {
        let recorder = &mut self.point.state().recorder;
        let at = recorder.not_before_interval(at);
        recorder.paused(at, kind, drawn);
    }

    /// Thinks from `began` until `due`, and returns the time at which the user was really back.
    fn think(&mut self, began: Nanos, due: Nanos) -> Nanos {
        let point = self.point;
        let began = {
            let recorder = &mut point.state().recorder;
            let began = recorder.not_before_interval(began);
            recorder.think_begins(began);
            began
        };
        point.cpu.add(self.cpu.within_gap(|| point.clock.thread_cpu()));
        point.sleep_until(due);
        let recorder = &mut point.state().recorder;
        let back = recorder.not_before_interval(point.clock.now());
        recorder.think_ends(began, back);
        back
    }

    /// Adds the rest of the thread's CPU time.
    fn close(&mut self) {
        self.point.cpu.add(Some(self.cpu.close(self.point.clock.thread_cpu())));
    }
}
