//! The driver of a transport, as sessions make requests with it.

use std::rc::Rc;

use engine::Driver;
use model::{Reply, WebRequest};
use units::Nanos;

use super::capture::Capture;
use super::composed_request::ComposedRequest;
use super::context::{ExpectedReply, WebContext};

/// A driver of one transport, which a session can make requests with.
#[expect(async_fn_in_trait, reason = "not implemented outside this crate, and futures stay on their thread")]
pub trait SessionTransport: Driver<Operation = WebRequest> {
    /// Creates a driver without a connection.
    fn of(web: Rc<WebContext>) -> Self;

    /// Sends a request that was made for one operation, at `sent`, and reads its reply.
    async fn exchange(
        &mut self,
        request: &ComposedRequest,
        expected: ExpectedReply<'_>,
        capture: &mut Capture,
        sent: Nanos,
    ) -> Reply;
}
