//! The web family over HTTP/1 and HTTP/2, with and without TLS: fetches objects and checks every byte.
//!
//! - [`Target`]: the server as given by the user; [`TargetAccess`]: how connections to it are made.
//! - [`WebContext`]: the state that all connections of a thread share: address, requests, content, read
//!   buffer.
//! - [`PlainDriver`], [`TlsDriver`], [`Http2Driver`]: drivers of one virtual user. They are separate types,
//!   so that choices made once per run are not repeated for each request.
//! - `request`: prepared requests; `body_check`: checks of response bodies.
//! - `seen`: bodies that nobody has described, and the rule of those that change.
//! - `reply`: an incremental parser and checker of HTTP/1 responses, without a socket.
//! - `transport`: the transport of HTTP/1: TCP, or `tls_transport` with the settings of `tls`.
//! - `http2`: streams on shared connections.
//! - [`SessionDriver`]: users with cookies, extracted values and data, over any of these drivers, as `session_transport`
//!   has them: a `composed_request` is sent, a `capture` of its reply kept, and what is `missing` then is a failure.
//! - `marks`: the moments of a request, and the measures that follow from them.
//! - `fetch`: a page without expectations, to learn what a server answers.
//! - `describe`: failures of operations, described for people; `malformed`: the line at fault of a reply that is not HTTP.

mod access;
mod body_check;
mod capture;
mod composed_request;
mod context;
mod describe;
mod driver;
mod fetch;
mod fetched_reply;
mod http2;
mod malformed_reply;
mod media_type;
mod missing_value;
mod reply;
mod request;
mod request_timestamps;
mod seen;
mod session;
mod session_transport;
mod setup_error;
mod target;
mod tls;
mod tls_transport;
mod transport;

pub use access::{ConnectTo, TargetAccess};
pub use context::{KeptConnectionCounts, WebContext, WebContextOptions};
pub use driver::{PlainDriver, TlsDriver, WebDriver};
pub use fetch::{FetchError, fetch};
pub use fetched_reply::FetchedReply;
pub use http2::Http2Driver;
pub use seen::{ComparisonState, ObjectSeen};
pub use session::{SessionDriver, SessionUser, untrusted};
pub use session_transport::SessionTransport;
pub use setup_error::WebSetupError;
pub use target::{Target, TargetError, at_socket};
pub use tls::HandshakeCounts;
