//! The built-in web origin: every file of a workload, from memory, and generated pages, on one thread.
//!
//! It answers GET and HEAD of HTTP/1.0 and 1.1, keeps connections where both versions allow it, accepts
//! pipelined requests, and closes first where the connection ends with the response (so that the TIME-WAIT
//! entries are the server's, as with the servers it represents). Replies carry no `Date`: each except a page
//! is a constant built at startup. Without files and on several threads it is the page server behind a
//! reverse proxy, see [`PagesServer`].
//!
//! Two features make it part of a measuring instrument: it limits itself to a CPU allowance (see
//! [`WebOptions::cpu_allowance`]), so that it saturates rather than the load generator beside it; and it can
//! [misbehave](Fault).
//!
//! Over TLS and in HTTP/2 it serves the same. Plain connections do not pay for these: the start of
//! connections is chosen once per listener.
//!
//! An HTTP/1 connection, one local task each:
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | fresh | bytes have arrived | answering | the socket need not be registered with the event loop |
//! | fresh | no bytes yet | reading | registered from here on |
//! | reading | head complete | answering | |
//! | reading | head refused | lingering | 400, 431 or 505 |
//! | reading | peer has closed its side | closed | complete requests have been answered |
//! | answering | sent, connection kept | reading | pipelined requests are answered first |
//! | answering | sent, connection ends | closed | the server closes first |
//! | answering | sent, but the request has a body | lingering | it is never read as a request |
//! | answering | a [`Fault`] applies | closed, reset or held | |
//! | lingering | peer closed, or a limit | closed | an immediate close would send a reset and lose the response |
//! | any but held | one to two idle timeouts without progress | closed | slowly dripping header bytes is not progress |
//!
//! Over TLS a handshake comes first, under the same timeout, and `close_notify` is sent before the end. An
//! HTTP/2 connection is one task as well; see `http2`.

mod connection;
mod fault;
mod handshake;
mod http2;
mod metered_stream;
mod modified;
mod options;
mod pages;
mod server;
mod site;
mod socket;
mod tls;

pub use crate::allowance::{CARRY, PAUSE_MIN};
pub use fault::{ClientProtocol, Fault, FaultPlan, FaultPlanError, FaultRule, Freeze};
pub use options::{Identity, ServeReport, WebOptions};
pub use pages::{PagesOptions, PagesServer};
pub use server::{WebServer, serve};
pub use site::DATASET_BYTES_MAX;
