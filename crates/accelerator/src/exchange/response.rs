//! A response as the frontend gets it.

use bytes::Bytes;
use http1::HeaderLines;

use super::memo::Memo;
use super::stream::BodyStream;
use crate::message::RequestHandling;
use crate::origin::OriginTunnel;

/// A response to a client.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// All lines except connection-specific ones: the frontend writes `Connection`, `Keep-Alive`,
    /// `Transfer-Encoding`.
    ///
    /// Includes `Content-Length` if the length is known, for HEAD too.
    pub lines: HeaderLines,
    /// The body.
    pub body: ResponseBody,
    /// The handling, for logs and metrics.
    pub handling: RequestHandling,
    /// The memo with which the frontend may repeat the response to the same head, see [`Memo`].
    pub memo: Option<Memo>,
}

/// The connection to the origin after a 101: bytes are relayed both ways.
///
/// Bytes that came right after the head are read first.
pub type Tunnel = Box<OriginTunnel>;

/// The body of a response.
#[derive(Debug)]
pub enum ResponseBody {
    /// No body: HEAD, 204, 304.
    Empty,
    /// The whole body, in pieces that are sent one after the other; usually one.
    Pieces(Vec<Bytes>),
    /// A body that is arriving; its length is that of `Content-Length` if there is one, else it ends when it ends.
    Stream(BodyStream),
    /// No body: the connection is upgraded to another protocol (101), bytes are relayed both ways.
    Tunnel(Tunnel),
}
