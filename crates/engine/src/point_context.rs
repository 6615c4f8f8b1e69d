//! State shared by the tasks of one load thread.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::pin::pin;
use std::rc::Rc;

use model::{CLOSE_WAIT_MAX, Example, HasKind, IntervalRecord, MeasuredValues, Outcome, Reply, UserReply};
use units::{Clock, Nanos};

use crate::deadlines::{Deadlines, UserIndex};
use crate::driver::Driver;
use crate::examples::Examples;
use crate::recorder::Recorder;
use crate::setup::PointSetup;
use crate::timers::Timers;
use crate::user_times::StartTimes;

/// The receiver of a load thread's records.
pub trait RecordSink {
    /// Takes a finished interval.
    fn interval(&mut self, record: IntervalRecord);
    /// Gives back an emptied record that was taken before, to be filled again, so that the load thread allocates
    /// nothing after its first seconds. `None` if there is none.
    fn spare(&mut self) -> Option<IntervalRecord> {
        None
    }
    /// Takes the first example of a failure on this thread.
    fn example(&mut self, example: Example);
}

/// A spawner of tasks on the thread's executor.
pub trait Spawn {
    /// Starts a task.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);
}

/// The clock, timers, recorder and limits of one load thread during one load point.
pub struct PointContext<C> {
    pub(crate) clock: C,
    pub(crate) timers: Rc<Timers>,
    pub(crate) recorder: RefCell<Recorder>,
    pub(crate) deadlines: Deadlines,
    pub(crate) time_limit: Nanos,
    pub(crate) origin: Nanos,
    pub(crate) examples: RefCell<Examples>,
    /// Whether the task of a user has panicked, which the runtime alone would not tell anybody.
    has_panicked: Cell<bool>,
}

impl<C: Clock> PointContext<C> {
    pub(crate) fn new(
        clock: C,
        timers: Rc<Timers>,
        recorder: Recorder,
        setup: &PointSetup,
        origin: Nanos,
    ) -> Rc<PointContext<C>> {
        Rc::new(PointContext {
            clock,
            timers,
            recorder: RefCell::new(recorder),
            deadlines: Deadlines::default(),
            time_limit: setup.time_limit,
            origin,
            examples: RefCell::new(Examples::new(setup.point.index)),
            has_panicked: Cell::new(false),
        })
    }

    /// Performs one operation and records it. Returns its answer and the time at which it was done.
    pub(crate) fn perform<'a, D: Driver>(
        &'a self,
        driver: &'a mut D,
        user: UserIndex,
        operation: &'a D::Operation,
        times: StartTimes,
    ) -> impl Future<Output = (UserReply, Nanos)> {
        // Before the future, which would keep all of the times until its end.
        self.recorder.borrow_mut().started(operation.kind(), times);
        let StartTimes { due, sent, .. } = times;
        async move {
            let deadline = sent.saturating_add(self.time_limit);
            let mut is_closing = false;
            let limited = {
                let work = pin!(driver.perform(operation, sent));
                self.deadlines.limit(user, deadline, work).await
            };
            let mut reply = match limited {
                Some(reply) => {
                    is_closing = driver.is_closing();
                    reply
                }
                None => {
                    driver.give_up();
                    timed_out(sent, self.clock.now())
                }
            };
            let is_left_open = is_closing && !self.close(driver, user, &mut reply, deadline).await;
            self.completed(driver, user, operation, due, &reply, is_left_open);
            (UserReply { outcome: reply.outcome, value: reply.answer }, reply.done)
        }
    }

    /// Records the end of an operation, with an example if it failed.
    pub(crate) fn completed<D: Driver>(
        &self,
        driver: &D,
        user: UserIndex,
        operation: &D::Operation,
        due: Nanos,
        reply: &Reply,
        is_left_open: bool,
    ) {
        let mut recorder = self.recorder.borrow_mut();
        recorder.completed(operation.kind(), user.number(), due, reply);
        if is_left_open {
            recorder.left_open();
        }
        drop(recorder);
        if reply.outcome != Outcome::Ok {
            let at = reply.done.saturating_sub(self.origin);
            let describe = || driver.describe(operation, reply);
            self.examples.borrow_mut().keep(at, operation.kind(), reply.outcome, describe);
        }
    }

    /// Waits for the end of the connection of a complete reply, within the operation's time limit and
    /// [`CLOSE_WAIT_MAX`], which completes the reply. Returns whether the peer has ended the connection.
    fn close<'a, D: Driver>(
        &'a self,
        driver: &'a mut D,
        user: UserIndex,
        reply: &'a mut Reply,
        deadline: Nanos,
    ) -> impl Future<Output = bool> {
        let until = deadline.min(reply.done.saturating_add(CLOSE_WAIT_MAX));
        async move {
            let ended = {
                let work = pin!(driver.close(reply));
                self.deadlines.limit(user, until, work).await
            };
            if ended.is_none() {
                driver.give_up();
                reply.done = self.clock.now();
            }
            ended.is_some()
        }
    }
}

impl<C> PointContext<C> {
    /// Stops the load thread if the task of a user has panicked: with one user less, its numbers would be wrong.
    ///
    /// # Panics
    ///
    /// A task has panicked: a mistake of ours, or of a driver.
    pub(crate) fn require_all_users(&self) {
        assert!(!self.has_panicked.get(), "the task of a virtual user has panicked");
    }
}

/// The context as the task of a user holds it: tells the load thread if the task panics.
pub(crate) struct UserContext<C>(Rc<PointContext<C>>);

impl<C> UserContext<C> {
    pub(crate) fn new(point: Rc<PointContext<C>>) -> UserContext<C> {
        UserContext(point)
    }
}

impl<C> Deref for UserContext<C> {
    type Target = PointContext<C>;

    fn deref(&self) -> &PointContext<C> {
        &self.0
    }
}

impl<C> Drop for UserContext<C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.has_panicked.set(true);
        }
    }
}

/// Returns the reply of an operation that was given up at its time limit.
pub(crate) fn timed_out(sent: Nanos, now: Nanos) -> Reply {
    let measured = MeasuredValues::default();
    Reply { outcome: Outcome::TimedOut, sent, done: now, measured, answer: 0, code: 0, detail: 0 }
}
