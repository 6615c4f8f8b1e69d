//! The driver of a protocol, as the engine sees it.

use model::{HasKind, Reply, UserNotice};
use units::Nanos;

use crate::session_error::SessionError;

/// A driver, which performs operations of one family over one protocol, for one virtual user.
pub trait Driver {
    /// The operation that the driver performs.
    type Operation: HasKind;

    /// Whether [`Driver::perform`] opens a session where there is none. In an open loop none is opened before then: most
    /// slots for operations in flight are never used, and their sessions would be kept from others.
    const OPENS_WHEN_NEEDED: bool = false;

    /// Whether users get notices while they think ([`Driver::rest`]).
    const RESTS: bool = false;

    /// Whether a user may have several operations in flight ([`Driver::begin`], [`Driver::end`]).
    const HAS_WINDOW: bool = false;

    /// Opens the session of the driver's user, before the load point begins: what belongs to no operation. Drivers
    /// whose connections belong to operations have none, and need not do anything.
    ///
    /// # Errors
    ///
    /// The session cannot be opened.
    fn open(&mut self) -> impl Future<Output = Result<(), SessionError>> {
        std::future::ready(Ok(()))
    }

    /// Performs an operation that is sent now, at `sent` on the run's clock.
    ///
    /// Failures are part of the reply. The future may be dropped at any point: [`Driver::give_up`] follows.
    fn perform(&mut self, operation: &Self::Operation, sent: Nanos) -> impl Future<Output = Reply>;

    /// Returns whether the reply of the last operation is complete, but not the operation: the peer is still to end
    /// the connection, which belongs to it.
    fn is_closing(&self) -> bool {
        false
    }

    /// Waits until the peer ends the connection of the last operation, and closes it; that completes `reply`. Only
    /// where [`Driver::is_closing`] says so. The future may be dropped at any point: [`Driver::give_up`] follows, and
    /// the reply stays the complete one that it was.
    fn close(&mut self, reply: &mut Reply) -> impl Future<Output = ()> {
        let _ = reply;
        std::future::ready(())
    }

    /// Waits, while the user thinks, for the next notice: of something that it awaits since its last operation, or that
    /// has come. Only where [`Driver::RESTS`] says so; a user that never thinks never rests.
    ///
    /// The future may be dropped at any point, and an operation may follow: what has arrived until then is not lost.
    fn rest(&mut self) -> impl Future<Output = UserNotice> {
        std::future::pending()
    }

    /// Discards the remains of a dropped operation, such as its connection.
    fn give_up(&mut self);

    /// Begins an operation that is sent now, at `sent` on the run's clock, beside those in flight. `place` is a number that
    /// no other in flight has, below [`model::Mix::in_flight`]. Only where [`Driver::HAS_WINDOW`] says so.
    fn begin(&mut self, place: usize, operation: &Self::Operation, sent: Nanos) {
        let _ = (place, operation, sent);
    }

    /// Waits for the end of any operation in flight; returns its place and its reply. Only where [`Driver::HAS_WINDOW`] says
    /// so. The future may be dropped at any point, and another one goes on.
    fn end(&mut self) -> impl Future<Output = (usize, Reply)> {
        std::future::pending()
    }

    /// Gives up the operation at a place, whose time limit has passed. What others lose with it they say when they end.
    fn give_up_place(&mut self, place: usize) {
        let _ = place;
        self.give_up();
    }

    /// Describes a failed operation for people: a clause without a full stop.
    fn describe(&self, operation: &Self::Operation, reply: &Reply) -> String;
}
