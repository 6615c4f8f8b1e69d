//! The state machine of a virtual user.

use units::{Nanos, Rng};

use crate::{HasKind, Outcome, PauseStart};

/// The next step of a virtual user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<O> {
    /// Pause; not part of any response time. Of several pauses between two operations, the first counts from where it
    /// says, and each further one from the end of the one before.
    Think {
        /// Index into the catalog's list of kinds of pauses.
        kind: u16,
        /// The time as drawn.
        time: Nanos,
        /// The moment from which it counts.
        from: PauseStart,
    },
    /// Perform an operation and come back with its outcome.
    Perform(O),
    /// Count a unit: a group that the benchmark counts besides operations, such as WebStone's page.
    Unit {
        /// Index into the workload's list of unit kinds.
        kind: u16,
        /// Whether every operation of the unit succeeded.
        ok: bool,
    },
    /// Come back with the answer to one of the operations in flight. Only of users who may have several in flight
    /// ([`Mix::in_flight`]).
    Await,
    /// Stop permanently.
    Leave,
}

impl<O> Step<O> {
    /// Returns a pause of the only kind that users make, from the end of the operation before.
    pub fn think(time: Nanos) -> Step<O> {
        Step::Think { kind: 0, time, from: PauseStart::Done }
    }
}

/// The part of a reply that its user sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserReply {
    /// The outcome of the operation.
    pub outcome: Outcome,
    /// The value that the operation asked for, as its family defines it: a number of messages, an order number.
    pub value: u64,
}

impl UserReply {
    /// Makes the answer of an operation that asks for no value.
    pub fn of(outcome: Outcome) -> UserReply {
        UserReply { outcome, value: 0 }
    }
}

/// A virtual user: a pure state machine, strictly sequential, unless several of its operations may be in flight.
pub trait User {
    /// The operation that the user performs.
    type Operation;

    /// Returns the next step. `last` is the answer to the operation performed just before, if any; where several may be in
    /// flight, to one of these. Such a user is asked on without an answer until it says [`Step::Await`], or as many are in
    /// flight as may be.
    fn next(&mut self, last: Option<UserReply>, rng: &mut Rng) -> Step<Self::Operation>;
}

/// The source of users and of scheduled operations: the part of a benchmark that the engine needs.
pub trait Mix {
    /// The operation that users perform.
    type Operation: HasKind;
    /// Users of a closed loop.
    type User: User<Operation = Self::Operation>;

    /// Makes the state machine of a user, by its number among all users of the load point, from 0.
    fn user(&self, user: u32) -> Self::User;

    /// Returns whether users have state that their next operation depends on, such as cookies or a session. Then
    /// operation k of an open loop belongs to user k mod U, with U the most operations in flight: it is the next that this
    /// user performs (pauses are skipped), and waits while the last one of that user is in flight.
    fn has_user_state(&self) -> bool {
        false
    }

    /// Returns the most operations of a user in flight at the same time. Users who may have several make no pauses, and are
    /// those of closed loops.
    fn in_flight(&self) -> usize {
        1
    }

    /// Returns operation `k` of an open-loop schedule, a function of the run's seed and k alone. Not asked for where users
    /// have state.
    fn scheduled(&self, k: u64) -> Self::Operation;

    /// Returns the number of operation kinds.
    fn n_kinds(&self) -> usize;

    /// Returns the number of unit kinds.
    fn n_units(&self) -> usize;
}
