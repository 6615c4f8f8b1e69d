//! The dispatcher, which hands the operations of an open-loop schedule to slots for operations in flight.
//!
//! The recorder has the operations: it counts them as they fall due, and those that are not taken by then wait there
//! ([`DueQueue`](crate::due_queue::DueQueue)).

use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use units::{Clock, Nanos};

use crate::point_context::PointContext;

/// The slots that wait for work.
#[derive(Debug, Default)]
pub(crate) struct Dispatcher {
    /// The last to finish first, so that as few connections as possible are used.
    idle: RefCell<Vec<Waker>>,
}

impl Dispatcher {
    pub(crate) fn new() -> Rc<Dispatcher> {
        Rc::new(Dispatcher::default())
    }

    /// Waits for the next operation; returns its number, its due time (from the start of the load point), and the
    /// time at which it is taken (on the run's clock).
    pub(crate) async fn take<C: Clock>(&self, point: &PointContext<C>) -> (u64, Nanos, Nanos) {
        poll_fn(|context| {
            let now = point.clock.now();
            let mut recorder = point.recorder.borrow_mut();
            recorder.fall_due(now);
            match recorder.take_due() {
                Some((k, due)) => Poll::Ready((k, due, now)),
                None => {
                    self.idle.borrow_mut().push(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Wakes slots as operations fall due, until the schedule ends.
    pub(crate) async fn pace<C: Clock>(self: Rc<Self>, point: Rc<PointContext<C>>) {
        loop {
            let next = {
                let mut recorder = point.recorder.borrow_mut();
                let n_waiting = recorder.fall_due(point.clock.now());
                self.wake_idle(n_waiting);
                recorder.next_due()
            };
            let Some(due) = next else { return };
            point.timers.sleep_until(point.origin + due).await;
        }
    }

    /// Wakes slots for a number of operations, as far as there are any.
    fn wake_idle(&self, n: u64) {
        let mut idle = self.idle.borrow_mut();
        for _ in 0..n {
            let Some(waker) = idle.pop() else { return };
            waker.wake();
        }
    }
}
