//! What a connection needs of the worker that it belongs to.

use std::rc::Rc;

use crate::message::{Handling, Inbound, Reply, RequestBody};
use crate::operation::LogEntry;

/// Answers requests, and hears what became of the replies; one per thread.
#[expect(async_fn_in_trait, reason = "used with static dispatch on one thread only")]
pub trait Service: 'static {
    /// Counts a request as being answered, until what is returned is dropped.
    fn engage(&self) -> impl Sized;

    /// Answers a request.
    async fn handle<B: RequestBody>(self: &Rc<Self>, inbound: Inbound, body: B) -> Reply;

    /// Makes the reply to a request that is refused before anybody decides about it.
    fn refuse(&self, status: u16, reason: &'static str, is_head: bool) -> Reply;

    /// Counts a reply: `bytes_out` of head, unpacked, and body were handed over.
    fn note(&self, handling: &Handling, status: u16, bytes_out: u64);

    /// Tells whether [`Service::log`] wants to be called.
    fn is_logged(&self) -> bool;

    /// Writes a line of the access log.
    fn log(&self, entry: &LogEntry<'_>);
}
