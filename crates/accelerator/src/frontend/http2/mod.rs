//! HTTP/2 with clients: concurrent requests on one connection, each answered like one of HTTP/1.
//!
//! | state of a stream | event | action |
//! |---|---|---|
//! | refused | its head would be ambiguous in HTTP/1 | an error page; the service is not called |
//! | handled | its head has arrived | a task calls the service, which may read the body |
//! | sent | the response has begun | its pieces are sent as the client's windows open |
//! | reset | the client resets it, or leaves | its task is dropped, and the request with it |
//!
//! **Strictness.** Binary names and values are forwarded as text, so whatever could end a line, a head or a body in
//! that text is refused (`request`); `h2` compares announced lengths with every frame. No framing is relayed. Errors
//! that `h2` drops silently are found before it sees them (`inspector`).
//!
//! **Limits**, per connection: streams, buffered bytes in either direction, bytes and lines of a head, client resets,
//! local resets, small frames, and the time without any progress (`keep_alive`).
//!
//! Source: RFC 9113.

mod body;
mod connection;
mod hpack;
mod inspector;
mod keep_alive;
mod metered_stream;
mod min_rate;
mod request;
mod response;
mod settings;
mod stream;

pub use connection::{ConnectionEnd, serve};
pub use settings::Http2Settings;
