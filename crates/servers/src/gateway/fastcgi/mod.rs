//! FastCGI 1.0, the responder's side: records, the protocol as a state machine, and its input and output.
//!
//! Source: FastCGI Specification, version 1.0 (Open Market, 1996).

mod connection;
mod record;
mod responder;

pub(super) use connection::serve_connection;
