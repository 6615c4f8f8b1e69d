//! Opening the sessions of users, before a load point begins.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use units::{Clock, Nanos};

use crate::driver::Driver;
use crate::session_error::SessionError;
use crate::stop_request::StopRequest;
use crate::timers::Timers;

/// The most sessions of one load thread that are opened at a time: a server that starts need not take all at once.
pub(crate) const OPENING_MAX: usize = 64;

/// The period at which the thread looks for a request to stop.
const STOP_TICK: Nanos = Nanos::from_millis(50);

/// The result of opening the sessions of one or several load threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenedSessions {
    /// Number of users whose session is open, or who need none.
    pub n_open: u32,
    /// Number of users whose session could not be opened.
    pub n_failed: u32,
    /// The first failure, described for people.
    pub first_failure: Option<String>,
}

impl OpenedSessions {
    /// Returns the result where so many users need no session yet.
    pub(crate) fn none_needed(n_users: usize) -> OpenedSessions {
        OpenedSessions { n_open: u32::try_from(n_users).unwrap_or(u32::MAX), ..OpenedSessions::default() }
    }

    /// Adds the sessions of another load thread.
    pub fn add(&mut self, other: OpenedSessions) {
        self.n_open += other.n_open;
        self.n_failed += other.n_failed;
        self.first_failure = self.first_failure.take().or(other.first_failure);
    }

    pub(crate) fn count(&mut self, result: Result<(), SessionError>) {
        match result {
            Ok(()) => self.n_open += 1,
            Err(error) => {
                self.n_failed += 1;
                self.first_failure.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

/// A session that is being opened.
type Opening<'a> = Pin<Box<dyn Future<Output = Result<(), SessionError>> + 'a>>;

/// Opens the sessions of all drivers, each within `limit`; returns early if a stop is requested.
pub(crate) async fn open_sessions<D: Driver>(
    drivers: &mut [D],
    clock: &impl Clock,
    timers: &Rc<Timers>,
    limit: Nanos,
    stop: &impl StopRequest,
) -> OpenedSessions {
    let mut sessions = OpenedSessions::default();
    let mut left = drivers.iter_mut();
    let mut opening: Vec<Opening> = Vec::new();
    let all = poll_fn(|context| {
        loop {
            let room = OPENING_MAX - opening.len();
            for driver in left.by_ref().take(room) {
                opening.push(Box::pin(open(driver, timers, clock.now().saturating_add(limit), limit)));
            }
            let n_before = opening.len();
            opening.retain_mut(|one| match one.as_mut().poll(context) {
                Poll::Pending => true,
                Poll::Ready(result) => {
                    sessions.count(result);
                    false
                }
            });
            if opening.is_empty() && left.len() == 0 {
                return Poll::Ready(());
            }
            if opening.len() == n_before {
                return Poll::Pending;
            }
        }
    });
    first_of(all, stopped(clock, timers, stop)).await;
    drop(opening);
    sessions
}

/// Opens one session, or gives it up at `until`.
async fn open<D: Driver>(
    driver: &mut D,
    timers: &Rc<Timers>,
    until: Nanos,
    limit: Nanos,
) -> Result<(), SessionError> {
    let mut result = None;
    first_of(async { result = Some(driver.open().await) }, timers.sleep_until(until)).await;
    result.unwrap_or(Err(SessionError::Slow(limit)))
}

async fn stopped(clock: &impl Clock, timers: &Rc<Timers>, stop: &impl StopRequest) {
    while !stop.is_requested() {
        timers.sleep_until(clock.now().saturating_add(STOP_TICK)).await;
    }
}

/// Waits for the first of two futures to end.
async fn first_of(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let mut one = pin!(one);
    let mut other = pin!(other);
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => other.as_mut().poll(context),
    })
    .await;
}
