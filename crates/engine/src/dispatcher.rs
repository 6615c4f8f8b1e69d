//! The dispatcher, which hands the operations of an open-loop schedule to slots for operations in flight.
//!
//! The schedule is a function, so nothing is queued: two copies of it are walked, one to know what
//! has fallen due, one to know what is next to start. The difference is the number waiting.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use model::{Assignment, Schedule};
use units::{Clock, Nanos};

use crate::point_context::PointContext;

/// The schedule of one share and the slots that wait for work.
pub(crate) struct Dispatcher {
    state: RefCell<State>,
}

struct State {
    starting: Turns,
    falling_due: Turns,
    n_due: u64,
    n_started: u64,
    /// Slots without work, the last to finish first, so that as few connections as possible are used.
    idle: Vec<Waker>,
}

/// The operations of one share, in order.
struct Turns {
    schedule: Schedule,
    share: u64,
    n_shares: u64,
    next: Option<(u64, Nanos)>,
}

impl Turns {
    fn new(schedule: Schedule, assignment: &Assignment) -> Turns {
        let (share, n_shares) = (assignment.share.into(), assignment.n_shares.into());
        let mut turns = Turns { schedule, share, n_shares, next: None };
        turns.step();
        turns
    }

    fn step(&mut self) -> Option<(u64, Nanos)> {
        let (share, n_shares) = (self.share, self.n_shares);
        let next = self.schedule.find(|(k, _)| k % n_shares == share);
        std::mem::replace(&mut self.next, next)
    }
}

impl Dispatcher {
    pub(crate) fn new(schedule: &Schedule, assignment: &Assignment) -> Rc<Dispatcher> {
        let turns = || Turns::new(schedule.clone(), assignment);
        let state =
            State { starting: turns(), falling_due: turns(), n_due: 0, n_started: 0, idle: Vec::new() };
        Rc::new(Dispatcher { state: RefCell::new(state) })
    }

    /// Returns whether an operation is due and not started, as of the last look.
    pub(crate) fn has_waiting(&self) -> bool {
        let state = self.state.borrow();
        state.n_started < state.n_due
    }

    /// Waits for the next operation; returns its number, its due time (from the start of the load point), and the
    /// time at which it is taken (on the run's clock).
    pub(crate) async fn take<C: Clock>(&self, point: &PointContext<C>) -> (u64, Nanos, Nanos) {
        poll_fn(|context| {
            let now = point.clock.now();
            let mut state = self.state.borrow_mut();
            state.look(now.saturating_sub(point.origin));
            if state.n_started == state.n_due {
                state.idle.push(context.waker().clone());
                return Poll::Pending;
            }
            state.n_started += 1;
            let (k, due) = state.starting.step().expect("what has fallen due is in the schedule");
            Poll::Ready((k, due, now))
        })
        .await
    }

    /// Wakes slots as operations fall due, until the schedule ends.
    pub(crate) async fn pace<C: Clock>(self: Rc<Self>, point: Rc<PointContext<C>>) {
        loop {
            let next = {
                let mut state = self.state.borrow_mut();
                state.look(point.clock.now().saturating_sub(point.origin));
                state.wake_idle();
                state.falling_due.next
            };
            let Some((_, due)) = next else { return };
            point.timers.sleep_until(point.origin + due).await;
        }
    }
}

impl State {
    /// Counts the operations that have fallen due by `time` from the start of the load point.
    fn look(&mut self, time: Nanos) {
        while self.falling_due.next.is_some_and(|(_, due)| due <= time) {
            self.falling_due.step();
            self.n_due += 1;
        }
    }

    fn wake_idle(&mut self) {
        for _ in self.n_started..self.n_due {
            let Some(waker) = self.idle.pop() else { return };
            waker.wake();
        }
    }
}
