//! The transport of HTTP/1: a plain TCP connection or one with TLS.

use model::WebRequest;
use rustix::io::Errno;
use units::{Clock, Nanos};

use super::context::WebContext;
use crate::net::OperationFailure;
use crate::net::tcp::{self, SendOutcome};
use crate::net::{ReadOutcome, TcpTransport};

/// A request whose bytes in HTTP/1 are known.
pub trait RequestBytes {
    /// Passes the bytes of the request to `take`.
    fn with_bytes<T>(&self, web: &WebContext, take: impl FnOnce(&[u8]) -> T) -> T;
}

impl RequestBytes for WebRequest {
    #[inline]
    fn with_bytes<T>(&self, web: &WebContext, take: impl FnOnce(&[u8]) -> T) -> T {
        web.with_request(self, take)
    }
}

/// An established connection that carries HTTP/1.
#[expect(async_fn_in_trait, reason = "not implemented outside this crate, and futures stay on their thread")]
pub trait Http1Transport: Sized + 'static {
    /// State that a user keeps between connections, such as TLS sessions.
    type UserState;

    /// Creates the state of a new user.
    fn user_state(web: &WebContext) -> Self::UserState;

    /// Connects and sends a request; also returns the time at which the connection was established.
    async fn open(
        web: &WebContext,
        user_state: &Self::UserState,
        request: &impl RequestBytes,
    ) -> Result<(Self, Nanos), OperationFailure>;

    /// Sends a request on a kept connection.
    async fn send(self, web: &WebContext, request: &impl RequestBytes) -> Result<Self, OperationFailure>;

    /// Waits for bytes and reads them into the thread's buffer.
    fn read<'a>(&'a mut self, web: &'a WebContext) -> impl Future<Output = Result<ReadOutcome, Errno>>;

    /// Passes the part of the response in the received bytes to `take`, in any number of pieces.
    fn decode(
        &mut self,
        web: &WebContext,
        received: ReadOutcome,
        take: impl FnMut(&[u8]),
    ) -> Result<(), OperationFailure>;

    /// Returns whether the peer has announced the end (`close_notify`), whether or not the socket is still
    /// open.
    fn has_ended(&self) -> bool;

    /// Returns whether an end of the stream now could be a truncation attack.
    fn may_be_truncated(&self) -> bool;

    /// Returns the underlying socket.
    fn tcp(&mut self) -> &mut TcpTransport;

    /// Waits until the peer has closed its side of the socket; bytes sent until then are not read.
    async fn wait_for_close(mut self) {
        self.tcp().peer_closes().await;
    }
}

impl Http1Transport for TcpTransport {
    type UserState = ();

    fn user_state(_: &WebContext) {}

    /// Futures that have to wait are boxed: waiting is rare, and the tasks of many users stay small.
    #[inline]
    async fn open(
        web: &WebContext,
        _: &(),
        request: &impl RequestBytes,
    ) -> Result<(TcpTransport, Nanos), OperationFailure> {
        let (socket, is_established) = web.endpoint.begin()?;
        let connected = web.clock.now();
        let (sent, rest) = request.with_bytes(web, |request| {
            let sent = tcp::send_at_once(socket, is_established, request)?;
            let rest = match &sent {
                SendOutcome::Whole(_) => None,
                SendOutcome::Partly(_, n) => Some(request[*n..].into()),
                SendOutcome::NotYet(_) => Some(request.into()),
            };
            Ok::<(SendOutcome, Option<Box<[u8]>>), Errno>((sent, rest))
        })?;
        let rest = rest.unwrap_or_default();
        match sent {
            SendOutcome::Whole(link) => Ok((link, connected)),
            SendOutcome::Partly(socket, _) => Ok((Box::pin(tcp::send_all(socket, &rest)).await?, connected)),
            SendOutcome::NotYet(socket) => {
                Box::pin(async {
                    let socket = tcp::established(socket).await?;
                    let connected = web.clock.now();
                    Ok((tcp::send_all(socket, &rest).await?, connected))
                })
                .await
            }
        }
    }

    #[inline]
    async fn send(
        self,
        web: &WebContext,
        request: &impl RequestBytes,
    ) -> Result<TcpTransport, OperationFailure> {
        let rest = request.with_bytes(web, |request| self.send_now(request))?;
        match rest {
            None => Ok(self),
            Some(rest) => Ok(Box::pin(self.send_rest(rest)).await?),
        }
    }

    #[inline]
    fn read<'a>(&'a mut self, web: &'a WebContext) -> impl Future<Output = Result<ReadOutcome, Errno>> {
        TcpTransport::read(self, &web.buffer, &[])
    }

    #[inline]
    fn decode(
        &mut self,
        web: &WebContext,
        received: ReadOutcome,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), OperationFailure> {
        take(&web.buffer.borrow()[..received.bytes]);
        Ok(())
    }

    fn has_ended(&self) -> bool {
        false
    }

    fn may_be_truncated(&self) -> bool {
        false
    }

    #[inline]
    fn tcp(&mut self) -> &mut TcpTransport {
        self
    }
}
