//! The time limit of operations, at a cost of two stores per operation.
//!
//! A timer per operation would nearly always be set and cancelled for nothing. Instead each user
//! stores its deadline in a cell of its own, and a periodic sweep looks at all cells: an operation
//! is given up at most one sweep after its limit.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use units::Nanos;

/// The deadlines of all users of a load thread.
#[derive(Debug, Default)]
pub(crate) struct TimeLimits {
    timeouts: RefCell<Vec<Rc<OperationTimeout>>>,
}

/// The timeout of one user's operations.
#[derive(Debug)]
pub(crate) struct OperationTimeout {
    /// The deadline; [`Nanos::MAX`] while no operation is in progress.
    deadline: Cell<Nanos>,
    waker: RefCell<Option<Waker>>,
    expired: Cell<bool>,
}

impl TimeLimits {
    /// Makes the timeout of a new user.
    pub(crate) fn register(&self) -> Rc<OperationTimeout> {
        let timeout = Rc::new(OperationTimeout {
            deadline: Cell::new(Nanos::MAX),
            waker: RefCell::new(None),
            expired: Cell::new(false),
        });
        self.timeouts.borrow_mut().push(Rc::clone(&timeout));
        timeout
    }

    /// Wakes every user whose deadline has passed.
    pub(crate) fn sweep(&self, now: Nanos) {
        for timeout in self.timeouts.borrow().iter() {
            if timeout.deadline.get() <= now {
                timeout.expired.set(true);
                if let Some(waker) = timeout.waker.borrow().as_ref() {
                    waker.wake_by_ref();
                }
            }
        }
    }
}

impl OperationTimeout {
    /// Waits for `work`, but not past `deadline` (plus one sweep): then it returns `None`.
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

    /// Stores the waker; a task's waker hardly ever changes, so this is mostly a comparison.
    fn park(&self, waker: &Waker) {
        let mut parked = self.waker.borrow_mut();
        if !parked.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *parked = Some(waker.clone());
        }
    }
}
