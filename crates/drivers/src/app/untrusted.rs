//! The parser of what application servers send over HTTP, without a socket: for tests with arbitrary bytes.

use frame::app::AppOperation;
use model::Outcome;

use super::http;

/// A reply that was read, or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedReply {
    /// The outcome of its reading, before its content is checked.
    pub outcome: Outcome,
    /// The result that it states, if its body is one.
    pub result: Option<u64>,
    /// The bytes of content in it.
    pub content_bytes: usize,
    /// The times in the queue and of service that it states, in ns.
    pub times: [Option<u64>; 2],
}

/// Reads the reply to a request for content, or for a number; `None` if more bytes must arrive. `has_ended` is whether none
/// will.
pub fn http_reply(bytes: &[u8], has_ended: bool, has_content: bool) -> Option<UntrustedReply> {
    let operation = if has_content { AppOperation::ServerClient } else { AppOperation::RandomRead };
    match http::read(bytes, has_ended, operation) {
        Ok(reply) => reply.map(|reply| UntrustedReply {
            outcome: reply.fault.map_or(Outcome::Ok, |fault| fault.outcome),
            result: reply.result,
            content_bytes: reply.payload.len(),
            times: [reply.queue, reply.service],
        }),
        Err(failure) => Some(UntrustedReply {
            outcome: failure.outcome,
            result: None,
            content_bytes: 0,
            times: [None, None],
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_reads_what_servers_send() {
        let reply =
            b"HTTP/1.1 200 OK\r\nServer-Timing: queue;dur=0.5\r\nContent-Length: 2\r\n\r\n42".as_slice();
        let number = http_reply(reply, false, false).unwrap();
        assert_eq!((number.outcome, number.result, number.content_bytes), (Outcome::Ok, Some(42), 0));
        assert_eq!(number.times, [Some(500_000), None]);
        let content = http_reply(reply, false, true).unwrap();
        assert_eq!((content.result, content.content_bytes), (None, 2));
        assert_eq!(http_reply(&reply[..reply.len() - 1], false, false), None);
        assert_eq!(http_reply(b"TRBS", false, false).unwrap().outcome, Outcome::MalformedHead);
    }
}
