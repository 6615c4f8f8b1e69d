//! HTTP/2: many requests on one connection, each answered as one of HTTP/1 is.
//!
//! | a stream is | when | then |
//! |---|---|---|
//! | refused | its head could mean something else in HTTP/1 | an error page; nobody else hears of it |
//! | handled | its head is there | a task of its own asks the service, which may read the body |
//! | sent | the reply is there | its pieces are handed over as the client's windows open |
//! | reset | the client says so, or leaves | its task is dropped, and the request with it |
//!
//! **Strictness.** What comes in binary goes on in text, so whatever could end a line, a head or a body in the text is
//! refused (`request`); lengths are compared with what comes, by `h2` at every frame. Of framing nothing is relayed. What
//! `h2` drops unread is looked at before it (`inspector`).
//!
//! **Bounds**, per connection: streams, bytes on their way in either direction, bytes and lines of a head, requests
//! taken back, errors that make us reset streams, small frames, and the time without any progress (`watch`).
//!
//! Source: RFC 9113.

mod body;
mod connection;
mod hpack;
mod inspector;
mod pace;
mod progress;
mod reply;
mod request;
mod settings;
mod stream;
mod watch;

pub use connection::{Ended, serve};
pub use settings::Http2Settings;
