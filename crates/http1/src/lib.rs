//! HTTP/1.x heads and body framing, without sockets or clocks.
//!
//! Three programs read and write HTTP/1 here: the load generator's web driver, the built-in web
//! servers and the accelerator. All of them use the same rules, because two parties that
//! read one message differently are how requests are smuggled: every length that could be read in
//! two ways is refused, never guessed ([`HeadError`], [`ChunkError`]).
//!
//! Requests are read strictly. Responses are read as RFC 9112 tells clients to, and as curl and browsers do, wherever that
//! leaves one meaning: blanks behind chunk sizes, bare line feeds, `identity`, folded lines ([`unfolded`]). `tests/replies.rs`
//! has the whole table, and [`faulty_line`] names the line because of which a response is refused.
//!
//! [`RequestTemplate`] makes requests; [`parse_response`] reads the head of a response, and [`BodyReader`] its body, piece by
//! piece.
//!
//! Sources: RFC 9110 (semantics), RFC 9112 (HTTP/1.1 messages).

mod body;
mod chunk;
mod error;
mod fields;
mod framing;
mod head;
mod header_lines;
mod peculiar;
mod request;
mod response;
mod template;
mod write;

pub use body::{BodyReader, TruncatedBody};
pub use chunk::{
    CHUNK_EXTENSION_BYTES_MAX, CHUNK_TRAILER_BYTES_MAX, ChunkDecoder, ChunkError, DecodeOutcome,
};
pub use error::{HeadError, HeadLimit, MalformedPart};
pub use fields::{Fields, header, headers};
pub use framing::names_content_coding;
pub use head::{
    Framing, HEAD_BYTES_MAX, HEADERS_MAX, Http1Version, INTERIM_BYTES_MAX, ParseStatus, RESPONSE_HEADERS_MAX,
    RequestMethod, is_token_byte,
};
pub use header_lines::{HeaderLines, LinesIter};
pub use peculiar::{FaultyLine, faulty_line, is_http1, unfolded};
pub use request::{RequestHead, is_host, parse_request};
pub use response::{
    EncodedResponseHead, FinalResponseHead, HeadSpan, ResponseHead, parse_encoded_response,
    parse_final_response, parse_response,
};
pub use template::{RequestError, RequestOptions, RequestTemplate, check_path, content_length};
pub use write::{LAST_CHUNK, WriteError, reason_phrase, write_chunk, write_response_head};
