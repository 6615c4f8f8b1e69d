//! The deadlines of operations, at a cost of a few stores per operation.
//!
//! A timer per operation would nearly always be set and cancelled for nothing. Instead, the deadlines of the
//! operations in flight are in one array, without gaps, which a periodic sweep reads: an operation is given up at
//! most one sweep after its time limit, and a user without an operation costs the sweep nothing.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, Waker};

use units::Nanos;

/// The deadlines of the operations in flight of a load thread.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    table: RefCell<DeadlineTable>,
}

/// The number of a user among those of its load thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UserIndex(usize);

impl UserIndex {
    /// Returns the number, below that of the thread's users.
    pub(crate) fn number(self) -> usize {
        self.0
    }
}

/// The operations in flight, and the users that perform them.
#[derive(Debug, Default)]
struct DeadlineTable {
    /// In no order. Invariant: each entry is at the position that its user has.
    in_flight: Vec<Deadline>,
    /// Indexed by [`UserIndex`].
    users: Vec<TimedUser>,
}

/// The deadline of an operation in flight.
#[derive(Debug)]
struct Deadline {
    at: Nanos,
    user: UserIndex,
}

#[derive(Debug, Default)]
struct TimedUser {
    operation: OperationState,
    waker: Option<Waker>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum OperationState {
    /// The user performs no operation.
    #[default]
    Idle,
    /// The operation is in flight; its deadline is at this position.
    InFlight { position: usize },
    /// The deadline of the operation has passed.
    Expired,
}

/// An operation that is subject to a deadline until this is dropped.
struct DeadlineGuard<'a> {
    deadlines: &'a Deadlines,
    user: UserIndex,
}

impl Deadlines {
    /// Adds a user.
    pub(crate) fn register(&self) -> UserIndex {
        let users = &mut self.table.borrow_mut().users;
        users.push(TimedUser::default());
        UserIndex(users.len() - 1)
    }

    /// Waits for `work` of a user, but not past `deadline` (plus one sweep): then it returns `None`.
    ///
    /// Takes the work by reference so that the many users' tasks hold it once.
    pub(crate) fn limit<'a, F: Future>(
        &'a self,
        user: UserIndex,
        deadline: Nanos,
        mut work: Pin<&'a mut F>,
    ) -> impl Future<Output = Option<F::Output>> {
        self.table.borrow_mut().start(user, deadline);
        let guard = DeadlineGuard { deadlines: self, user };
        poll_fn(move |context| {
            if guard.is_expired() {
                return Poll::Ready(None);
            }
            match work.as_mut().poll(context) {
                Poll::Ready(value) => Poll::Ready(Some(value)),
                Poll::Pending => {
                    guard.park(context.waker());
                    Poll::Pending
                }
            }
        })
    }

    /// Wakes every user whose deadline has passed.
    pub(crate) fn sweep(&self, now: Nanos) {
        let table = &mut *self.table.borrow_mut();
        for user in table.expire(now) {
            if let Some(waker) = &table.users[user.0].waker {
                waker.wake_by_ref();
            }
        }
    }
}

impl DeadlineTable {
    fn start(&mut self, user: UserIndex, at: Nanos) {
        self.users[user.0].operation = OperationState::InFlight { position: self.in_flight.len() };
        self.in_flight.push(Deadline { at, user });
    }

    /// Removes the deadline of a user's operation, if it has not passed, and moves the last one into its place.
    fn end(&mut self, user: UserIndex) {
        let before = std::mem::take(&mut self.users[user.0].operation);
        if let OperationState::InFlight { position } = before {
            self.in_flight.swap_remove(position);
            if let Some(moved) = self.in_flight.get(position) {
                self.users[moved.user.0].operation = OperationState::InFlight { position };
            }
        }
    }

    /// Removes the deadlines that have passed, and returns their users in order.
    fn expire(&mut self, now: Nanos) -> Vec<UserIndex> {
        let passed = self.in_flight.iter().filter(|deadline| deadline.at <= now);
        let mut users: Vec<UserIndex> = passed.map(|deadline| deadline.user).collect();
        // The order in which operations end must not depend on the positions of their deadlines.
        users.sort_unstable();
        for user in &users {
            self.end(*user);
            self.users[user.0].operation = OperationState::Expired;
        }
        users
    }
}

impl DeadlineGuard<'_> {
    fn is_expired(&self) -> bool {
        self.deadlines.table.borrow().users[self.user.0].operation == OperationState::Expired
    }

    /// Stores the waker; a task's waker hardly ever changes, so this is mostly a comparison.
    fn park(&self, waker: &Waker) {
        let parked = &mut self.deadlines.table.borrow_mut().users[self.user.0].waker;
        if !parked.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *parked = Some(waker.clone());
        }
    }
}

impl Drop for DeadlineGuard<'_> {
    fn drop(&mut self) {
        self.deadlines.table.borrow_mut().end(self.user);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Context, Wake};

    use super::*;

    /// A waker that counts how often it is used.
    #[derive(Default)]
    struct Counter(AtomicU32);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Counter {
        fn n(&self) -> u32 {
            self.0.load(Ordering::Relaxed)
        }
    }

    /// The users in the array that a sweep reads.
    fn in_flight(deadlines: &Deadlines) -> Vec<usize> {
        let table = deadlines.table.borrow();
        for (position, deadline) in table.in_flight.iter().enumerate() {
            assert_eq!(table.users[deadline.user.0].operation, OperationState::InFlight { position });
        }
        let mut users: Vec<usize> = table.in_flight.iter().map(|deadline| deadline.user.0).collect();
        users.sort_unstable();
        users
    }

    #[test]
    fn a_sweep_reads_the_deadlines_of_busy_users_only() {
        let deadlines = Deadlines::default();
        let users: Vec<UserIndex> = (0..100_000).map(|_| deadlines.register()).collect();
        assert!(in_flight(&deadlines).is_empty());
        let wakes = Arc::new(Counter::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut context = Context::from_waker(&waker);
        let mut work = [(); 3].map(|()| Box::pin(std::future::pending::<()>()));
        let [a, b, c] = work.each_mut();
        let mut first = pin!(deadlines.limit(users[70_000], Nanos(20), a.as_mut()));
        let mut second = pin!(deadlines.limit(users[5], Nanos(10), b.as_mut()));
        let mut third = Box::pin(deadlines.limit(users[99_999], Nanos(30), c.as_mut()));
        for operation in [first.as_mut() as Pin<&mut dyn Future<Output = Option<()>>>, second.as_mut()] {
            assert_eq!(operation.poll(&mut context), Poll::Pending);
        }
        assert_eq!(third.as_mut().poll(&mut context), Poll::Pending);
        assert_eq!(in_flight(&deadlines), [5, 70_000, 99_999]);

        deadlines.sweep(Nanos(9));
        assert_eq!((wakes.n(), in_flight(&deadlines).len()), (0, 3));
        deadlines.sweep(Nanos(10));
        assert_eq!((wakes.n(), in_flight(&deadlines)), (1, vec![70_000, 99_999]));
        assert_eq!(second.as_mut().poll(&mut context), Poll::Ready(None));
        assert_eq!(first.as_mut().poll(&mut context), Poll::Pending);
        // A task that is dropped takes its deadline with it.
        drop(third);
        assert_eq!(in_flight(&deadlines), [70_000]);
        deadlines.sweep(Nanos(1_000));
        assert_eq!((wakes.n(), in_flight(&deadlines)), (2, Vec::new()));
        assert_eq!(first.as_mut().poll(&mut context), Poll::Ready(None));
    }

    #[test]
    fn an_operation_that_ends_in_time_has_no_deadline_left() {
        let deadlines = Deadlines::default();
        let user = deadlines.register();
        let mut context = Context::from_waker(Waker::noop());
        for limit in 1..4 {
            {
                let mut work = pin!(std::future::ready(limit));
                let mut operation = pin!(deadlines.limit(user, Nanos(limit), work.as_mut()));
                assert_eq!(operation.as_mut().poll(&mut context), Poll::Ready(Some(limit)));
            }
            assert!(in_flight(&deadlines).is_empty());
            deadlines.sweep(Nanos::MAX);
        }
    }

    /// Users in any order start, end and pass their deadlines; the table always agrees with a plain list.
    #[test]
    fn the_table_agrees_with_a_list_of_operations() {
        let mut rng = units::Rng::new(1, units::StreamPurpose::Simulation, 0);
        let deadlines = Deadlines::default();
        let users: Vec<UserIndex> = (0..50).map(|_| deadlines.register()).collect();
        let mut list: Vec<Option<Nanos>> = vec![None; users.len()];
        for now in 0..20_000 {
            let index = (rng.uniform() * 50.0) as usize;
            let now = Nanos(now);
            let mut table = deadlines.table.borrow_mut();
            if list[index].take().is_some() {
                table.end(users[index]);
            } else {
                let at = Nanos(now.0 + (rng.uniform() * 500.0) as u64);
                table.start(users[index], at);
                list[index] = Some(at);
            }
            let expired: Vec<usize> =
                (0..users.len()).filter(|index| list[*index].is_some_and(|at| at <= now)).collect();
            expired.iter().for_each(|index| list[*index] = None);
            assert_eq!(table.expire(now).iter().map(|user| user.0).collect::<Vec<_>>(), expired);
            drop(table);
            let expected: Vec<usize> = (0..users.len()).filter(|index| list[*index].is_some()).collect();
            assert_eq!(in_flight(&deadlines), expected);
        }
    }
}
