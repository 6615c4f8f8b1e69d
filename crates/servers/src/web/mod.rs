//! The built-in web origin: every file of a workload, from memory, and pages made by a program, on one thread.
//!
//! It answers GET and HEAD of HTTP/1.0 and 1.1, keeps connections where both versions allow it, takes
//! pipelined requests, and closes first where the connection ends with the response (so that the
//! TIME-WAIT entries are the server's, as with the servers it stands for). Replies carry no `Date`:
//! each but a page is a constant that was made at the start. Without files and on several threads it is the
//! program behind a reverse proxy, see [`AppServer`].
//!
//! Two things make it a part of a measuring instrument: it limits itself to an allowance of CPU (see [`WebOptions::cpu_allowance`]), so
//! that it, and not the load generator beside it, is what saturates; and it can [misbehave](Fault).
//!
//! Over TLS, and in HTTP/2, it serves the same. What that costs beside the plain way is not paid by those who do not
//! ask for it: how connections begin is chosen once for the listener.
//!
//! A connection of HTTP/1, one local task each:
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | fresh | bytes are there | answering | no registration with the event loop was needed |
//! | fresh | nothing there yet | reading | registered from here on |
//! | reading | head complete | answering | |
//! | reading | head refused | lingering | 400, 431 or 505 |
//! | reading | peer has closed its side | closed | what was complete has been answered before |
//! | answering | sent, connection kept | reading | pipelined requests are answered first |
//! | answering | sent, connection ends | closed | we close first |
//! | answering | sent, but a body was announced | lingering | it is never read as a request |
//! | answering | a [`Fault`] says so | closed, reset or held | |
//! | lingering | peer closed, or a limit | closed | a plain close would reset, and lose the reply |
//! | any but held | one to two idle timeouts without progress | closed | a drip of header bytes is no progress |
//!
//! Over TLS a handshake comes before all that, under the same timeout, and a goodbye (`close_notify`) before the end.
//! A connection of HTTP/2 is a task as well; see `http2`.

mod allowance;
mod app;
mod connection;
mod entrance;
mod fault;
mod http2;
mod metered;
mod modified;
mod options;
mod server;
mod site;
mod socket;
mod tls;

pub use allowance::{CARRY, PAUSE_MIN};
pub use app::{AppOptions, AppServer};
pub use fault::{Fault, FaultPlan, FaultPlanError, FaultRule, Freeze, Speech};
pub use options::{Identity, ServeReport, WebOptions};
pub use server::{WebServer, serve};
pub use site::DATASET_BYTES_MAX;
