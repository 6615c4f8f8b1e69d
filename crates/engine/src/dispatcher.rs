//! The dispatcher, which hands the operations of an open-loop schedule to slots for operations in flight.
//!
//! The schedule is a function, so nothing is queued, however long the backlog: there are two cursors over it. The
//! recorder's counts what has fallen due, the dispatcher's is at the next operation to start, and the difference is the
//! number waiting.

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use model::SliceSchedule;
use units::{Clock, Nanos};

use crate::point_context::PointContext;

/// The schedule of one share and the slots that wait for work.
pub(crate) struct Dispatcher {
    state: RefCell<State>,
}

struct State {
    /// The operations that have not been started.
    starting: SliceSchedule,
    n_due: u64,
    n_started: u64,
    /// Slots without work, the last to finish first, so that as few connections as possible are used.
    idle: Vec<Waker>,
}

impl Dispatcher {
    pub(crate) fn new(slice: SliceSchedule) -> Rc<Dispatcher> {
        let state = State { starting: slice, n_due: 0, n_started: 0, idle: Vec::new() };
        Rc::new(Dispatcher { state: RefCell::new(state) })
    }

    /// Waits for the next operation; returns its number, its due time (from the start of the load point), and the
    /// time at which it is taken (on the run's clock).
    pub(crate) async fn take<C: Clock>(&self, point: &PointContext<C>) -> (u64, Nanos, Nanos) {
        poll_fn(|context| {
            let now = point.clock.now();
            let mut state = self.state.borrow_mut();
            state.n_due = point.recorder.borrow_mut().fall_due(now);
            if state.n_started == state.n_due {
                state.idle.push(context.waker().clone());
                return Poll::Pending;
            }
            state.n_started += 1;
            let (k, due) = state.starting.next().expect("what has fallen due is in the schedule");
            Poll::Ready((k, due, now))
        })
        .await
    }

    /// Wakes slots as operations fall due, until the schedule ends.
    pub(crate) async fn pace<C: Clock>(self: Rc<Self>, point: Rc<PointContext<C>>) {
        loop {
            let next = {
                let (mut state, mut recorder) = (self.state.borrow_mut(), point.recorder.borrow_mut());
                state.n_due = recorder.fall_due(point.clock.now());
                state.wake_idle();
                recorder.next_due()
            };
            let Some(due) = next else { return };
            point.timers.sleep_until(point.origin + due).await;
        }
    }
}

impl State {
    fn wake_idle(&mut self) {
        for _ in self.n_started..self.n_due {
            let Some(waker) = self.idle.pop() else { return };
            waker.wake();
        }
    }
}
