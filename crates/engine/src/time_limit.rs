//! The time limit of operations, at no cost per operation but two stores.
//!
//! A timer per operation would be set and cancelled for nothing nearly always. Instead each user
//! notes its deadline in a cell of its own, and a sweep looks at all cells now and then: an
//! operation is given up at most one sweep after its limit.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use units::Nanos;

/// The deadlines of all users of a load thread.
#[derive(Debug, Default)]
pub(crate) struct TimeLimits {
    watches: RefCell<Vec<Rc<Watch>>>,
}

/// The deadline of one user's operation.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Later than everything while no operation is under way.
    deadline: Cell<Nanos>,
    waker: RefCell<Option<Waker>>,
    expired: Cell<bool>,
}

impl TimeLimits {
    /// Makes the watch of a new user.
    pub(crate) fn watch(&self) -> Rc<Watch> {
        let watch = Rc::new(Watch {
            deadline: Cell::new(Nanos::MAX),
            waker: RefCell::new(None),
            expired: Cell::new(false),
        });
        self.watches.borrow_mut().push(Rc::clone(&watch));
        watch
    }

    /// Wakes every user whose deadline has passed.
    pub(crate) fn sweep(&self, now: Nanos) {
        for watch in self.watches.borrow().iter() {
            if watch.deadline.get() <= now {
                watch.expired.set(true);
                if let Some(waker) = watch.waker.borrow().as_ref() {
                    waker.wake_by_ref();
                }
            }
        }
    }
}

impl Watch {
    /// Waits for `work`, but not past `deadline` (plus one sweep): then the answer is `None`.
    ///
    /// Takes the work by reference so that the many users' tasks hold it once.
    pub(crate) async fn limit<F: Future>(&self, deadline: Nanos, mut work: Pin<&mut F>) -> Option<F::Output> {
        self.expired.set(false);
        self.deadline.set(deadline);
        let outcome = poll_fn(|context| {
            if self.expired.get() {
                return Poll::Ready(None);
            }
            match work.as_mut().poll(context) {
                Poll::Ready(value) => Poll::Ready(Some(value)),
                Poll::Pending => {
                    self.park(context.waker());
                    Poll::Pending
                }
            }
        })
        .await;
        self.deadline.set(Nanos::MAX);
        outcome
    }

    /// Remembers who to wake; a task's waker hardly ever changes, so this is a comparison.
    fn park(&self, waker: &Waker) {
        let mut parked = self.waker.borrow_mut();
        if !parked.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *parked = Some(waker.clone());
        }
    }
}
