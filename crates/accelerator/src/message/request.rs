//! A client's request as the frontend passes it on, whatever its protocol.

use std::net::SocketAddr;

use bytes::Bytes;
use cache_policy::Scheme;
use http1::HeaderLines;
use thiserror::Error;

use super::interim::Interim;

/// The HTTP version of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientVersion {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

impl ClientVersion {
    /// Returns the version's name, as logs show it.
    pub fn as_str(self) -> &'static str {
        match self {
            ClientVersion::Http10 => "HTTP/1.0",
            ClientVersion::Http11 => "HTTP/1.1",
            ClientVersion::Http2 => "HTTP/2.0",
        }
    }
}

/// The head of a client's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRequest {
    /// The method's name.
    pub method_name: Vec<u8>,
    /// The scheme by which the client reached the listener.
    pub scheme: Scheme,
    /// The host with its port if given; empty if an HTTP/1.0 client sent none.
    pub authority: Vec<u8>,
    /// Path and query as sent; `/` if the client sent an absolute URI without a path.
    pub target: Vec<u8>,
    /// The header lines; from HTTP/2 without pseudo-header fields, and with several `cookie` lines joined.
    pub lines: HeaderLines,
    /// The version of the client.
    pub version: ClientVersion,
    /// The address of the client: as a trusted peer says by the PROXY protocol, else that of the peer.
    pub client: SocketAddr,
    /// Whether a body follows, even an empty one.
    pub has_body: bool,
    /// The announced length of the body.
    pub content_length: Option<u64>,
}

/// The reason for which a body ended early.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BodyError {
    /// The connection ended.
    #[error("connection ended before the body did")]
    Truncated,
    /// The framing is broken.
    #[error("body has invalid framing: {0}")]
    Malformed(String),
    /// It is longer than allowed.
    #[error("body is longer than the {0} bytes allowed")]
    TooLong(u64),
    /// Nothing came for too long.
    #[error("no bytes of the body arrived within the time limit")]
    TimedOut,
}

/// The client's side of a request in progress: its body, piece by piece, and the way back for interim responses.
#[expect(async_fn_in_trait, reason = "used with static dispatch on one thread only")]
pub trait RequestBody {
    /// Returns the next piece, never an empty one; `None` once the body is complete.
    ///
    /// # Errors
    /// A body that ends early, is malformed, too long or too slow; it cannot be read any further.
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError>;

    /// Sends the client an interim response; does nothing if there is no client, or its version has none.
    ///
    /// # Errors
    /// A client that does not take it: nothing else can be sent to it.
    async fn send_interim(&mut self, _interim: Interim) -> Result<(), BodyError> {
        Ok(())
    }
}

impl<B: RequestBody> RequestBody for &mut B {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        (**self).next().await
    }

    async fn send_interim(&mut self, interim: Interim) -> Result<(), BodyError> {
        (**self).send_interim(interim).await
    }
}

/// The empty body of a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBody;

impl RequestBody for NoBody {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        Ok(None)
    }
}
