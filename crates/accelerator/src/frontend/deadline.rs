//! Deadlines of connections, without a timer for each wait.
//!
//! A worker counts ticks of a quarter of a second. A connection that begins to wait notes the tick of its deadline,
//! which costs two stores; the ticker wakes the connections whose deadline has come. So a time limit is kept to one
//! tick, and a request that is answered in time costs the runtime's timers nothing.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use units::Nanos;

use super::min_rate::MinRateDeadline;

/// The length of a tick.
pub(super) const TICK: Nanos = Nanos(250_000_000);

/// A deadline that never comes.
const NEVER: u64 = u64::MAX;

/// The ticks that an idle connection may stay once its worker is stopping: a request that is on its way is still
/// answered, and its response closes the connection.
const IDLE_DRAIN_TICKS: u64 = 4;

/// Returns the least number of ticks that surely hold a time: the current tick does not count.
fn ticks(time: Nanos) -> u64 {
    time.0.div_ceil(TICK.0).saturating_add(1)
}

/// The ticker of one worker, which knows all deadlines.
#[derive(Debug)]
pub(super) struct TimeoutTicker {
    now: Cell<u64>,
    next_id: Cell<u64>,
    /// The longest time that a connection may be idle, in ticks.
    idle_max: Cell<u64>,
    deadlines: RefCell<BTreeMap<u64, Rc<DeadlineState>>>,
}

#[derive(Debug, Default)]
struct DeadlineState {
    /// The tick of the deadline.
    due: Cell<u64>,
    /// Whether the connection is idle.
    is_idle: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// The deadline of one connection.
#[derive(Debug)]
pub(super) struct Deadline {
    id: u64,
    state: Rc<DeadlineState>,
    ticker: Rc<TimeoutTicker>,
}

/// The error of a deadline that has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DeadlineElapsed;

impl From<DeadlineElapsed> for io::Error {
    fn from(_: DeadlineElapsed) -> io::Error {
        io::ErrorKind::TimedOut.into()
    }
}

impl Default for TimeoutTicker {
    fn default() -> TimeoutTicker {
        let now = Cell::new(0);
        let next_id = Cell::new(0);
        let idle_max = Cell::new(NEVER);
        TimeoutTicker { now, next_id, idle_max, deadlines: RefCell::default() }
    }
}

impl TimeoutTicker {
    /// Makes a deadline that is not set yet.
    pub(super) fn deadline(self: &Rc<Self>) -> Deadline {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        let state = Rc::new(DeadlineState { due: Cell::new(NEVER), ..DeadlineState::default() });
        self.deadlines.borrow_mut().insert(id, Rc::clone(&state));
        Deadline { id, state, ticker: Rc::clone(self) }
    }

    /// Counts one tick and wakes the connections whose deadline has come.
    pub(super) fn tick(&self) {
        let now = self.now.get() + 1;
        self.now.set(now);
        for state in self.deadlines.borrow().values().filter(|state| state.due.get() <= now) {
            state.wake();
        }
    }

    /// Shortens the idle timeout of all connections, from now on.
    pub(super) fn shorten_idle(&self) {
        self.idle_max.set(IDLE_DRAIN_TICKS);
        let end = self.now.get() + IDLE_DRAIN_TICKS;
        for state in self.deadlines.borrow().values().filter(|state| state.is_idle.get()) {
            state.due.set(state.due.get().min(end));
        }
    }
}

impl DeadlineState {
    fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.ticker.deadlines.borrow_mut().remove(&self.id);
    }
}

impl Deadline {
    /// Sets the deadline to this time from now, while a request is in progress.
    #[inline]
    pub(super) fn set(&self, time: Nanos) {
        self.set_ticks(ticks(time), false);
    }

    /// Sets the deadline to this time from now, while the connection is idle.
    #[inline]
    pub(super) fn set_idle(&self, time: Nanos) {
        self.set_ticks(ticks(time).min(self.ticker.idle_max.get()), true);
    }

    /// Returns the time, to a tick.
    fn now(&self) -> Nanos {
        Nanos(self.ticker.now.get() * TICK.0)
    }

    /// Clears the deadline: what is waited for has a limit of its own.
    pub(super) fn clear(&self) {
        self.set_ticks(NEVER, false);
    }

    #[inline]
    fn set_ticks(&self, ticks: u64, is_idle: bool) {
        self.state.due.set(self.ticker.now.get().saturating_add(ticks));
        self.state.is_idle.set(is_idle);
    }

    /// Returns whether the deadline has passed; if not, the task is woken when it has.
    #[inline]
    pub(super) fn poll_elapsed(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.state.due.get() <= self.ticker.now.get() {
            return Poll::Ready(());
        }
        let mut kept = self.state.waker.borrow_mut();
        if !kept.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *kept = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Waits for a future within a client's minimum rate, and counts the wait.
    pub(super) async fn wait_at_min_rate<F: Future>(
        &self,
        min_rate: &mut MinRateDeadline,
        future: F,
    ) -> Result<F::Output, DeadlineElapsed> {
        self.wait(min_rate, min_rate.remaining(), future).await
    }

    /// Waits for a future until it is time to look how much of a response has left this machine, and counts the wait.
    pub(super) async fn wait_until_look<F: Future>(
        &self,
        min_rate: &mut MinRateDeadline,
        future: F,
    ) -> Result<F::Output, DeadlineElapsed> {
        self.wait(min_rate, min_rate.until_look(), future).await
    }

    async fn wait<F: Future>(
        &self,
        min_rate: &mut MinRateDeadline,
        time: Nanos,
        future: F,
    ) -> Result<F::Output, DeadlineElapsed> {
        self.set(time);
        let began = self.now();
        let output = self.enforce(future).await;
        min_rate.add_wait(self.now() - began);
        output
    }

    /// Waits for a future, up to the deadline, which may be changed meanwhile.
    pub(super) async fn enforce<F: Future>(&self, future: F) -> Result<F::Output, DeadlineElapsed> {
        let mut future = pin!(future);
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll_elapsed(context).map(|()| Err(DeadlineElapsed)),
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_over(deadline: &Deadline) -> bool {
        deadline.poll_elapsed(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_deadline_passes_within_one_tick_of_its_time() {
        let ticker = Rc::new(TimeoutTicker::default());
        let deadline = ticker.deadline();
        for (time, ticks) in [(Nanos(1), 2), (TICK, 2), (Nanos(TICK.0 + 1), 3), (Nanos(4 * TICK.0), 5)] {
            deadline.set(time);
            (1..ticks).for_each(|_| ticker.tick());
            assert!(!is_over(&deadline), "{time:?}");
            ticker.tick();
            assert!(is_over(&deadline), "{time:?}");
        }
        deadline.clear();
        (0..1_000).for_each(|_| ticker.tick());
        assert!(!is_over(&deadline));
    }

    #[test]
    fn only_idle_connections_have_their_timeout_shortened() {
        let ticker = Rc::new(TimeoutTicker::default());
        let idle = ticker.deadline();
        let in_flight = ticker.deadline();
        let late = ticker.deadline();
        idle.set_idle(Nanos::from_secs(60));
        in_flight.set(Nanos::from_secs(60));
        ticker.shorten_idle();
        late.set_idle(Nanos::from_secs(60));
        (0..IDLE_DRAIN_TICKS).for_each(|_| ticker.tick());
        assert!(is_over(&idle) && is_over(&late) && !is_over(&in_flight));
    }

    #[test]
    fn a_dropped_deadline_is_removed() {
        let ticker = Rc::new(TimeoutTicker::default());
        let one = ticker.deadline();
        let other = ticker.deadline();
        drop(one);
        assert_eq!(ticker.deadlines.borrow().len(), 1);
        drop(other);
        assert!(ticker.deadlines.borrow().is_empty());
    }
}
