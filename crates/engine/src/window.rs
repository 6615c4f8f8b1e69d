//! A virtual user of a closed loop with several operations in flight over its one session.
//!
//! The user says when it must await an answer ([`Step::Await`]); until then, and while places are free, it sends on. Each
//! operation has a place, a number by which user and driver tell it from the others in flight. Operations may end in any order.
//!
//! | state | event | then |
//! |---|---|---|
//! | entering | – | wait for the user's own time, in the ramp-up or by the shape, then ask |
//! | asking | `Perform` | the operation begins at a free place; ask again while another one is free, else wait |
//! | asking | `Unit` | count it, ask again |
//! | asking | `Await` | wait for the end of any operation |
//! | asking | `Leave`, or the time to leave has come | nothing more begins; wait for those in flight, then gone, or absent where there is a time to come back |
//! | absent | the time to come back | ask, with the answers that have come meanwhile |
//! | waiting | an operation ends | record it, ask with its answer |
//! | waiting | the time limit of the oldest one passes | give it up, record it, ask |
//!
//! An operation is due and sent the moment at which the one before it ended that made room for it.
//!
//! One task waits for all of them, in place of one for each: the order in which a stream asks for its blocks is then that of
//! its user, the session has one reader and one writer, and what ends is recorded in the order in which it ended.

use std::collections::VecDeque;
use std::pin::pin;

use model::{HasKind, Step, User, UserReply};
use units::{Clock, Nanos, Rng};

use crate::deadlines::UserIndex;
use crate::driver::Driver;
use crate::lifetime::Lifetime;
use crate::point_context::{PointContext, UserContext, timed_out};
use crate::user_times::StartTimes;

/// The operations in flight of a user, by their places.
struct Window<O> {
    places: Vec<Option<InFlight<O>>>,
    n_taken: usize,
}

/// An operation in flight.
struct InFlight<O> {
    operation: O,
    sent: Nanos,
}

impl<O> Window<O> {
    fn new(n_places: usize) -> Window<O> {
        Window { places: (0..n_places).map(|_| None).collect(), n_taken: 0 }
    }

    /// Returns a free place.
    fn free_place(&self) -> Option<usize> {
        self.places.iter().position(Option::is_none)
    }

    fn put(&mut self, place: usize, operation: O, sent: Nanos) {
        self.places[place] = Some(InFlight { operation, sent });
        self.n_taken += 1;
    }

    /// Takes an operation out; `None` where there is none.
    fn take(&mut self, place: usize) -> Option<InFlight<O>> {
        let taken = self.places.get_mut(place)?.take()?;
        self.n_taken -= 1;
        Some(taken)
    }

    /// Returns the place of the operation that was sent first, and when that was.
    fn oldest(&self) -> Option<(usize, Nanos)> {
        let sent = self.places.iter().enumerate();
        sent.filter_map(|(place, one)| Some((place, one.as_ref()?.sent))).min_by_key(|(_, sent)| *sent)
    }
}

/// Runs one user from its arrival until it leaves, with at most so many operations in flight.
pub(crate) async fn user<C: Clock, D: Driver, U: User<Operation = D::Operation>>(
    point: UserContext<C>,
    mut driver: D,
    (mut user, mut rng): (U, Rng),
    mut lifetime: Lifetime,
    n_places: usize,
) {
    let index = point.deadlines.register();
    if point.clock.now() < lifetime.from {
        point.timers.sleep_until(lifetime.from).await;
    }
    let mut window = Window::new(n_places);
    let mut now = point.clock.now().max(lifetime.from);
    // Several where the user was absent when they came: each is a step of the user's.
    let mut answers = VecDeque::with_capacity(n_places);
    let mut has_left = false;
    loop {
        while let Some(place) = window.free_place() {
            if has_left || lifetime.until <= now {
                break;
            }
            match user.next(answers.pop_front(), &mut rng) {
                Step::Perform(operation) if point.recorder.borrow_mut().may_start(now) => {
                    point.recorder.borrow_mut().started(operation.kind(), StartTimes::of(now, now));
                    driver.begin(place, &operation, now);
                    window.put(place, operation, now);
                }
                Step::Unit { kind, ok } => point.recorder.borrow_mut().unit(kind, ok),
                Step::Await if answers.is_empty() => break,
                Step::Await => {}
                // Such users make no pauses, and leave where no operation is left.
                Step::Perform(_) | Step::Think { .. } | Step::Leave => has_left = true,
            }
        }
        match next_end(&point, &mut driver, index, &mut window).await {
            Some((answer, done)) => {
                answers.push_back(answer);
                now = done;
            }
            None if !has_left && lifetime.until <= now && lifetime.go_on() => {
                if now < lifetime.from {
                    point.timers.sleep_until(lifetime.from).await;
                    now = point.clock.now();
                }
            }
            None => return,
        }
    }
}

/// Waits for the end of an operation, and records it. Returns its answer and the time at which it was done; `None` if none is
/// in flight.
async fn next_end<C: Clock, D: Driver>(
    point: &PointContext<C>,
    driver: &mut D,
    index: UserIndex,
    window: &mut Window<D::Operation>,
) -> Option<(UserReply, Nanos)> {
    loop {
        let (oldest, sent) = window.oldest()?;
        let deadline = sent.saturating_add(point.time_limit);
        let limited = {
            let work = pin!(driver.end());
            point.deadlines.limit(index, deadline, work).await
        };
        let (place, reply) = limited.unwrap_or_else(|| {
            driver.give_up_place(oldest);
            (oldest, timed_out(sent, point.clock.now()))
        });
        // A driver that names a place where nothing is in flight would be mistaken; nothing ended then.
        let Some(InFlight { operation, sent }) = window.take(place) else { continue };
        point.completed(driver, index, &operation, sent, &reply, false);
        return Some((UserReply { outcome: reply.outcome, value: reply.answer }, reply.done));
    }
}
