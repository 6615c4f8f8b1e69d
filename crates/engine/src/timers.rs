//! Timers of one load thread, on any clock.
//!
//! tokio's timer ticks in milliseconds; these are as fine as the clock. They do not wait by
//! themselves: their driver (a timer descriptor in a real run, the executor in a simulated one) asks
//! for the earliest due time and calls [`Timers::fire`] at that time.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use units::Nanos;

/// The timers of one load thread.
#[derive(Debug, Default)]
pub struct Timers {
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Due time and slot, earliest first. Entries whose slot was freed are skipped when they come up.
    heap: BinaryHeap<Reverse<(Nanos, u64)>>,
    /// Wakers by ticket; `None` once cancelled.
    sleepers: std::collections::HashMap<u64, Waker>,
    tickets: u64,
    /// The waker called when a timer becomes the earliest.
    on_earlier: Option<Waker>,
}

impl Timers {
    /// Makes an empty set of timers.
    pub fn new() -> Rc<Timers> {
        Rc::new(Timers::default())
    }

    /// Returns a future that is ready once [`Timers::fire`] was called with a time of `due` or later.
    pub fn sleep_until(self: &Rc<Self>, due: Nanos) -> Sleep {
        Sleep { timers: Rc::clone(self), due, ticket: None }
    }

    /// Returns the due time of the earliest timer.
    pub fn earliest(&self) -> Option<Nanos> {
        let mut state = self.state.borrow_mut();
        while let Some(Reverse((due, ticket))) = state.heap.peek().copied() {
            if state.sleepers.contains_key(&ticket) {
                return Some(due);
            }
            state.heap.pop();
        }
        None
    }

    /// Wakes everything that is due by `now`.
    pub fn fire(&self, now: Nanos) {
        while let Some(waker) = self.pop_due(now) {
            waker.wake();
        }
    }

    /// Registers the waker to call when a timer is set that is earlier than all others.
    pub(crate) fn wake_on_earlier(&self, waker: &Waker) {
        let mut state = self.state.borrow_mut();
        if !state.on_earlier.as_ref().is_some_and(|on_earlier| on_earlier.will_wake(waker)) {
            state.on_earlier = Some(waker.clone());
        }
    }

    fn pop_due(&self, now: Nanos) -> Option<Waker> {
        let mut state = self.state.borrow_mut();
        while let Some(Reverse((due, ticket))) = state.heap.peek().copied() {
            if now < due {
                return None;
            }
            state.heap.pop();
            if let Some(waker) = state.sleepers.remove(&ticket) {
                return Some(waker);
            }
        }
        None
    }

    fn register(&self, due: Nanos, waker: &Waker) -> u64 {
        let mut state = self.state.borrow_mut();
        let ticket = state.tickets;
        state.tickets += 1;
        state.sleepers.insert(ticket, waker.clone());
        let is_earliest = state.heap.peek().is_none_or(|Reverse((earliest, _))| due < *earliest);
        state.heap.push(Reverse((due, ticket)));
        if is_earliest && let Some(on_earlier) = &state.on_earlier {
            on_earlier.wake_by_ref();
        }
        ticket
    }
}

/// A wait for a point in time.
#[derive(Debug)]
pub struct Sleep {
    timers: Rc<Timers>,
    due: Nanos,
    ticket: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(ticket) = self.ticket else {
            let ticket = self.timers.register(self.due, context.waker());
            self.ticket = Some(ticket);
            return Poll::Pending;
        };
        let mut state = self.timers.state.borrow_mut();
        match state.sleepers.get_mut(&ticket) {
            None => Poll::Ready(()),
            Some(waker) => {
                waker.clone_from(context.waker());
                Poll::Pending
            }
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.timers.state.borrow_mut().sleepers.remove(&ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    fn is_ready(sleep: Pin<&mut Sleep>) -> bool {
        sleep.poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn sleepers_wake_when_their_time_has_come_and_not_before() {
        let timers = Timers::new();
        let mut early = pin!(timers.sleep_until(Nanos(10)));
        let mut late = pin!(timers.sleep_until(Nanos(20)));
        assert!(!is_ready(late.as_mut()));
        assert!(!is_ready(early.as_mut()));
        assert_eq!(timers.earliest(), Some(Nanos(10)));
        timers.fire(Nanos(10));
        assert!(is_ready(early.as_mut()));
        assert!(!is_ready(late.as_mut()));
        assert_eq!(timers.earliest(), Some(Nanos(20)));
    }

    #[test]
    fn a_dropped_sleep_leaves_nothing_behind() {
        let timers = Timers::new();
        {
            let mut sleep = pin!(timers.sleep_until(Nanos(10)));
            assert!(!is_ready(sleep.as_mut()));
        }
        assert_eq!(timers.earliest(), None);
    }
}
