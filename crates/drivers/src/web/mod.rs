//! The web family over HTTP/1 and HTTP/2, plain and over TLS: fetch objects, check every byte.
//!
//! - [`Target`]: the server as a user names it.
//! - [`Origin`]: what all connections of a thread share: address, requests, content, read buffer.
//! - [`PlainDriver`], [`TlsDriver`], [`Http2Driver`]: perform requests for one virtual user. They are types of
//!   their own, so that what is chosen once per run is not asked again for each request.
//! - `request`: requests as they go over the wire; `check`: what the body of a reply must be.
//! - `reply`: follows a reply of HTTP/1 through whatever pieces arrive, without a socket.
//! - `carrier`: what carries HTTP/1: `connection`, a socket, or `tls`, one with encryption.
//! - `http2`: streams on shared connections.
//! - `failure`: why an operation fails; `describe`: what people are told of it.

mod carrier;
mod check;
mod connection;
mod describe;
mod driver;
mod failure;
mod http2;
mod origin;
mod reply;
mod request;
mod target;
mod tls;

pub use driver::{PlainDriver, TlsDriver, WebDriver};
pub use http2::Http2Driver;
pub use origin::{Origin, OriginError, OriginSetup};
pub use target::{Target, TargetError};
pub use tls::{Authorities, CertificateProblem, HandshakeCounts, Trust};
