//! The service that connections call.

use std::rc::Rc;

use crate::exchange::Response;
use crate::message::{ClientRequest, ProxyReason, RequestBody, RequestHandling};
use crate::observation::LogEntry;

/// A handler of requests, which is also told about the responses; one per thread.
#[expect(async_fn_in_trait, reason = "used with static dispatch on one thread only")]
pub trait Service: 'static {
    /// Counts a request as in flight, until the returned guard is dropped.
    fn track_request(&self) -> impl Sized;

    /// Answers a request.
    async fn handle<B: RequestBody>(self: &Rc<Self>, request: ClientRequest, body: B) -> Response;

    /// Makes the response to a request that is refused before it reaches the handler.
    fn refuse(&self, status: u16, reason: ProxyReason, is_head: bool) -> Response;

    /// Counts a response: `bytes_out` bytes of head, uncompressed, and body were sent.
    fn note(&self, handling: &RequestHandling, status: u16, bytes_out: u64);

    /// Returns whether [`Service::log`] is to be called.
    fn is_logged(&self) -> bool;

    /// Writes a line of the access log.
    fn log(&self, entry: &LogEntry<'_>);
}
