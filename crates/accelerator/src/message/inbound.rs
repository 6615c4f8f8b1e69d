//! A request as a front hands it over, whatever protocol it came by.

use std::net::SocketAddr;

use bytes::Bytes;
use thiserror::Error;

use super::interim::Interim;
use super::lines::HeaderLines;
use crate::policy::Scheme;

/// The protocol that a client speaks.
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
    /// Returns the protocol's name, as logs have it.
    pub fn as_str(self) -> &'static str {
        match self {
            ClientVersion::Http10 => "HTTP/1.0",
            ClientVersion::Http11 => "HTTP/1.1",
            ClientVersion::Http2 => "HTTP/2.0",
        }
    }
}

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// The method's name.
    pub method_name: Vec<u8>,
    /// How the client reached us.
    pub scheme: Scheme,
    /// The host with its port if given; empty if an HTTP/1.0 client named none.
    pub authority: Vec<u8>,
    /// Path and query as sent; `/` if the client sent an absolute URI without a path.
    pub target: Vec<u8>,
    /// The header lines; of HTTP/2 without pseudo-header fields, its several `cookie` lines joined.
    pub lines: HeaderLines,
    /// What the client speaks.
    pub version: ClientVersion,
    /// The client, as far as it is known: what a trusted peer says by the PROXY protocol, else who connected.
    pub client: SocketAddr,
    /// Whether a body follows, be it empty.
    pub has_body: bool,
    /// How long the body is, if that was announced.
    pub content_length: Option<u64>,
}

/// Why a body ended before its end.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BodyError {
    /// The connection ended.
    #[error("connection ended before the body did")]
    Truncated,
    /// The framing is broken.
    #[error("body is not framed as HTTP wants it: {0}")]
    Malformed(String),
    /// It is longer than allowed.
    #[error("body is longer than the {0} bytes allowed")]
    TooLong(u64),
    /// Nothing came for too long.
    #[error("nothing of the body came within the time limit")]
    TimedOut,
}

/// The client's side of a request under way: its body, piece by piece, and the way for what comes before the reply.
#[expect(async_fn_in_trait, reason = "used with static dispatch on one thread only")]
pub trait RequestBody {
    /// Returns the next piece, never an empty one; `None` once the body is complete.
    ///
    /// # Errors
    /// A body that ends early, is malformed, too long or too slow; it is of no use afterwards.
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError>;

    /// Sends the client an interim response; does nothing where there is nobody to send it to, or who could read it.
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

/// The body of a request that has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBody;

impl RequestBody for NoBody {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        Ok(None)
    }
}
