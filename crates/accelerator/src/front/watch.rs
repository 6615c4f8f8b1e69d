//! Time limits of connections, without a timer for each wait.
//!
//! A worker counts ticks of a quarter of a second. A connection that begins to wait notes the tick at which its
//! patience ends, which costs two stores; whoever counts the ticks wakes the connections whose tick has come. So a
//! limit is kept to one tick, and a request that is answered in time costs the timers of the runtime nothing.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use units::Nanos;

use super::patience::Patience;

/// How long a tick is.
pub(super) const TICK: Nanos = Nanos(250_000_000);

/// A limit that never comes.
const NEVER: u64 = u64::MAX;

/// How long a connection without a request may stay once its worker is about to stop, in ticks: those whose next request
/// is on its way are answered, with a reply that says that it is the last.
const LAST_CALL: u64 = 4;

/// Returns how many ticks surely hold a time: the tick that has begun does not count.
fn ticks(time: Nanos) -> u64 {
    time.0.div_ceil(TICK.0).saturating_add(1)
}

/// Counts the ticks of one worker and knows all connections that wait.
#[derive(Debug)]
pub(super) struct Clockwork {
    now: Cell<u64>,
    next_id: Cell<u64>,
    /// The longest that a connection may be without a request, in ticks.
    idle_max: Cell<u64>,
    watches: RefCell<BTreeMap<u64, Rc<State>>>,
}

#[derive(Debug, Default)]
struct State {
    /// The tick at which the patience ends.
    due: Cell<u64>,
    /// Whether the connection waits for a request.
    is_idle: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// The watch of one connection.
#[derive(Debug)]
pub(super) struct Watch {
    id: u64,
    state: Rc<State>,
    clockwork: Rc<Clockwork>,
}

/// A time limit has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Elapsed;

impl From<Elapsed> for io::Error {
    fn from(_: Elapsed) -> io::Error {
        io::ErrorKind::TimedOut.into()
    }
}

impl Default for Clockwork {
    fn default() -> Clockwork {
        let (now, next_id, idle_max) = (Cell::new(0), Cell::new(0), Cell::new(NEVER));
        Clockwork { now, next_id, idle_max, watches: RefCell::default() }
    }
}

impl Clockwork {
    /// Makes the watch of a connection, as yet without limit.
    pub(super) fn watch(self: &Rc<Self>) -> Watch {
        let id = self.next_id.get();
        self.next_id.set(id + 1);
        let state = Rc::new(State { due: Cell::new(NEVER), ..State::default() });
        self.watches.borrow_mut().insert(id, Rc::clone(&state));
        Watch { id, state, clockwork: Rc::clone(self) }
    }

    /// Counts one tick and wakes those whose patience has ended.
    pub(super) fn tick(&self) {
        let now = self.now.get() + 1;
        self.now.set(now);
        for state in self.watches.borrow().values().filter(|state| state.due.get() <= now) {
            state.wake();
        }
    }

    /// Gives connections without a request only a moment more, from now on.
    pub(super) fn last_call(&self) {
        self.idle_max.set(LAST_CALL);
        let end = self.now.get() + LAST_CALL;
        for state in self.watches.borrow().values().filter(|state| state.is_idle.get()) {
            state.due.set(state.due.get().min(end));
        }
    }
}

impl State {
    fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.clockwork.watches.borrow_mut().remove(&self.id);
    }
}

impl Watch {
    /// Sets the limit to this time from now, in the midst of something.
    #[inline]
    pub(super) fn limit(&self, time: Nanos) {
        self.set(ticks(time), false);
    }

    /// Sets the limit to this time from now, while there is no request.
    #[inline]
    pub(super) fn limit_idle(&self, time: Nanos) {
        self.set(ticks(time).min(self.clockwork.idle_max.get()), true);
    }

    /// Returns the time, to a tick.
    fn now(&self) -> Nanos {
        Nanos(self.clockwork.now.get() * TICK.0)
    }

    /// Takes the limit away: what is waited for has a limit of its own.
    pub(super) fn unlimited(&self) {
        self.set(NEVER, false);
    }

    #[inline]
    fn set(&self, ticks: u64, is_idle: bool) {
        self.state.due.set(self.clockwork.now.get().saturating_add(ticks));
        self.state.is_idle.set(is_idle);
    }

    /// Returns whether the limit has passed; if not, the task is woken when it has.
    #[inline]
    pub(super) fn poll_over(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.state.due.get() <= self.clockwork.now.get() {
            return Poll::Ready(());
        }
        let mut kept = self.state.waker.borrow_mut();
        if !kept.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *kept = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Waits for a future as long as patience with the client reaches; the wait uses it up.
    pub(super) async fn bear<F: Future>(
        &self,
        patience: &mut Patience,
        future: F,
    ) -> Result<F::Output, Elapsed> {
        self.limit(patience.left());
        let began = self.now();
        let output = self.keep(future).await;
        patience.waited(self.now() - began);
        output
    }

    /// Waits for a future, up to the limit that is set, and may be set anew while it goes on.
    pub(super) async fn keep<F: Future>(&self, future: F) -> Result<F::Output, Elapsed> {
        let mut future = pin!(future);
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll_over(context).map(|()| Err(Elapsed)),
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_over(watch: &Watch) -> bool {
        watch.poll_over(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_limit_holds_at_least_its_time_and_at_most_a_tick_more() {
        let clockwork = Rc::new(Clockwork::default());
        let watch = clockwork.watch();
        for (time, ticks) in [(Nanos(1), 2), (TICK, 2), (Nanos(TICK.0 + 1), 3), (Nanos(4 * TICK.0), 5)] {
            watch.limit(time);
            (1..ticks).for_each(|_| clockwork.tick());
            assert!(!is_over(&watch), "{time:?}");
            clockwork.tick();
            assert!(is_over(&watch), "{time:?}");
        }
        watch.unlimited();
        (0..1_000).for_each(|_| clockwork.tick());
        assert!(!is_over(&watch));
    }

    #[test]
    fn only_connections_without_a_request_hear_the_last_call() {
        let clockwork = Rc::new(Clockwork::default());
        let (idle, busy, late) = (clockwork.watch(), clockwork.watch(), clockwork.watch());
        idle.limit_idle(Nanos::from_secs(60));
        busy.limit(Nanos::from_secs(60));
        clockwork.last_call();
        late.limit_idle(Nanos::from_secs(60));
        (0..LAST_CALL).for_each(|_| clockwork.tick());
        assert!(is_over(&idle) && is_over(&late) && !is_over(&busy));
    }

    #[test]
    fn a_dropped_watch_is_forgotten() {
        let clockwork = Rc::new(Clockwork::default());
        let (one, other) = (clockwork.watch(), clockwork.watch());
        drop(one);
        assert_eq!(clockwork.watches.borrow().len(), 1);
        drop(other);
        assert!(clockwork.watches.borrow().is_empty());
    }
}
