//! HTTP/1 with clients: request parsing and response framing.
//!
//! A connection goes through these states:
//!
//! | state | action | next |
//! |---|---|---|
//! | read | reads into the worker's buffer; timed out: 408 or the end | fast path |
//! | fast path | answers the requests whose heads are remembered, all in one write | read, flush or parse |
//! | flush | sends what the client did not take at once | fast path |
//! | parse | parses the next head; incomplete: read; refused: an error page and the end | answer |
//! | answer | calls the exchange, which reads the body; remembers the head and sends the response | fast path, or the end |
//!
//! A connection whose first bytes were read on accept begins with the state that they lead to: a head that is not
//! remembered is parsed at once. An idle connection holds no buffer.
//!
//! **Strictness.** The parser of the crate `http1` refuses a head that others could read differently; the start of
//! the next message is not known then, so the connection is closed after a linger (closing with unread input would
//! send a reset, which can overtake the response). Bodies are decoded here and framed anew by the side that sends
//! them on; trailers are dropped.

mod body;
mod close;
mod connection;
mod head;
mod response;
mod send;
mod tunnel;

pub(super) use connection::{ConnectionEvent, Http1Outcome, InitialState, Unsent, refuse, serve};
pub(super) use head::write_head;
