//! What the engine asks of a protocol.

use model::{Kinded, Reply, User};
use units::Nanos;

/// Performs operations of one family over one protocol, for one virtual user.
pub trait Driver {
    /// What it performs.
    type Operation: Kinded;

    /// Performs an operation that is sent now, at `sent` on the run's clock.
    ///
    /// Failures are part of the reply. The future may be dropped at any point: [`Driver::give_up`] follows.
    fn perform(&mut self, operation: &Self::Operation, sent: Nanos) -> impl Future<Output = Reply>;

    /// Throws away what a dropped operation left behind, such as its connection.
    fn give_up(&mut self);

    /// Says for people what was seen in a failed operation: a clause without a full stop.
    fn describe(&self, operation: &Self::Operation, reply: &Reply) -> String;
}

/// Where users and scheduled operations come from: the part of a benchmark that the engine needs.
pub trait Mix {
    /// What is performed.
    type Operation: Kinded;
    /// Users of a closed loop.
    type User: User<Operation = Self::Operation>;

    /// Makes the state machine of a user; every user begins in the same state.
    fn user(&self) -> Self::User;

    /// Returns operation `k` of an open-loop schedule, a function of the run's seed and k alone.
    fn scheduled(&self, k: u64) -> Self::Operation;

    /// Returns the number of operation kinds.
    fn n_kinds(&self) -> usize;

    /// Returns the number of unit kinds.
    fn n_units(&self) -> usize;
}
