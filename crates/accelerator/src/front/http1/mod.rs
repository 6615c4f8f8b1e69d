//! HTTP/1 with clients: where requests begin and end, and what is sent back.
//!
//! A connection takes turns:
//!
//! | turn | what happens | next |
//! |---|---|---|
//! | read | what has arrived is read into the worker's buffer; nothing for too long: 408 or the end | hits |
//! | hits | requests whose heads are remembered are answered, all in one write | read, flush or parse |
//! | flush | what the client did not take at once is sent | hits |
//! | parse | the next head is parsed: not all there: read; refused: an error page and the end | answer |
//! | answer | the exchange answers, reading the body; the reply is sent, and its head remembered | hits, or the end |
//!
//! While a connection waits for a request it holds no buffer.
//!
//! **Strictness.** A head that others could read differently is refused by the parser of the crate `http1`; where the
//! next message begins is not known then, so the connection ends, after what the client still sends has been read for a
//! moment (closing over unread bytes would send a reset, which can overtake the reply). Bodies are taken out of their
//! framing here and framed anew by whoever sends them on; trailers are dropped.

mod body;
mod close;
mod connection;
mod head;
mod reply;
mod send;
mod tunnel;

pub(super) use connection::{Left, Start, Unsent, serve};
pub(super) use head::write_head;
