//! A reader of one response, without sockets.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use http1::{
    BodyReader, ChunkError, HeadError, ParseStatus, RequestMethod, ResponseHead, TruncatedBody,
    parse_response, unfolded,
};
use thiserror::Error;

/// The most bytes of interim responses before the final one.
const INTERIM_BYTES_MAX: usize = 64 * 1024;

/// A reason why there is no complete response.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No connection to an address.
    #[error("{address}: {source}")]
    Connect {
        /// The last address that was tried.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The time is over.
    #[error("no complete response within {} ms", .0.as_millis())]
    Time(Duration),
    /// The connection ended before the head did.
    #[error("the server closed the connection before the response was complete")]
    Closed,
    /// The head is malformed or too long.
    #[error(transparent)]
    Head(#[from] HeadError),
    /// Interim responses do not end.
    #[error("no final response after {INTERIM_BYTES_MAX} bytes of interim responses")]
    Interim,
    /// The body is malformed.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// The connection ended before the body did.
    #[error(transparent)]
    Truncated(#[from] TruncatedBody),
    /// The body is longer than allowed.
    #[error("the page exceeds {0} bytes")]
    BodyTooLong(usize),
}

/// A reader that collects one response from pieces as they arrive. It skips interim responses (RFC 9110 section 15.2).
#[derive(Debug)]
pub struct ResponseReader {
    method: RequestMethod,
    body_bytes_max: usize,
    interim_bytes: usize,
    /// Bytes that are not part of `final_head` or `body`.
    unread: Vec<u8>,
    final_head: Option<FinalHead>,
    body: Vec<u8>,
}

/// The head of the final response.
#[derive(Debug)]
struct FinalHead {
    parsed: ResponseHead,
    bytes: Vec<u8>,
    body: BodyReader,
}

impl ResponseReader {
    /// Makes a reader of the response to a request of this method.
    pub fn new(method: RequestMethod, body_bytes_max: usize) -> ResponseReader {
        ResponseReader {
            method,
            body_bytes_max,
            interim_bytes: 0,
            unread: Vec::new(),
            final_head: None,
            body: Vec::new(),
        }
    }

    /// Takes the next bytes; returns whether the response is complete.
    ///
    /// # Errors
    ///
    /// The bytes are no response, or one that exceeds a limit.
    pub fn read(&mut self, bytes: &[u8]) -> Result<bool, ClientError> {
        self.unread.extend_from_slice(bytes);
        self.read_head()?;
        let Some(head) = &mut self.final_head else { return Ok(false) };
        let mut input = &self.unread[..];
        while !input.is_empty() && !head.body.is_done() {
            let piece = head.body.read(input)?;
            self.body.extend_from_slice(&input[piece.data]);
            input = &input[piece.consumed..];
        }
        let n_left = input.len();
        self.unread.drain(..self.unread.len() - n_left);
        if self.body_bytes_max < self.body.len() {
            return Err(ClientError::BodyTooLong(self.body_bytes_max));
        }
        Ok(head.body.is_done())
    }

    /// Records that the connection has ended, which completes a body that is framed by it.
    ///
    /// # Errors
    ///
    /// The response is not complete.
    pub fn end_of_input(&mut self) -> Result<(), ClientError> {
        let head = self.final_head.as_mut().ok_or(ClientError::Closed)?;
        Ok(head.body.end_of_input()?)
    }

    /// Returns the head of the final response, once it has arrived.
    pub fn head(&self) -> Option<ResponseHead> {
        self.final_head.as_ref().map(|head| head.parsed)
    }

    /// Returns the bytes of the final head; empty until it has arrived.
    pub fn head_bytes(&self) -> &[u8] {
        self.final_head.as_ref().map_or(&[], |head| &head.bytes)
    }

    /// Returns the body, as far as it has arrived.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Returns the bytes that arrived after the response.
    pub fn into_rest(self) -> Vec<u8> {
        self.unread
    }

    fn read_head(&mut self) -> Result<(), ClientError> {
        while self.final_head.is_none() {
            let parsed = parse_response(&self.unread, self.method);
            if parsed.is_err()
                && let Some(joined) = unfolded(&self.unread)
            {
                self.unread = joined;
                continue;
            }
            match parsed? {
                ParseStatus::Partial => return Ok(()),
                ParseStatus::Complete { head, length } if head.is_interim() => {
                    self.unread.drain(..length);
                    self.interim_bytes += length;
                    if INTERIM_BYTES_MAX < self.interim_bytes {
                        return Err(ClientError::Interim);
                    }
                }
                ParseStatus::Complete { head, length } => {
                    let bytes = self.unread.drain(..length).collect();
                    let body = BodyReader::of_response(head.framing);
                    self.final_head = Some(FinalHead { parsed: head, bytes, body });
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a response in pieces of this length; returns its status and body.
    fn read(response: &[u8], piece_length: usize) -> Result<(u16, String), String> {
        let mut reader = ResponseReader::new(RequestMethod::Get, 100);
        for piece in response.chunks(piece_length) {
            if reader.read(piece).map_err(|error| error.to_string())? {
                let body = String::from_utf8_lossy(reader.body()).into_owned();
                return Ok((reader.head().unwrap().status, body));
            }
        }
        reader.end_of_input().map_err(|error| error.to_string())?;
        Ok((reader.head().unwrap().status, String::from_utf8_lossy(reader.body()).into_owned()))
    }

    #[track_caller]
    fn check(response: &str, expected: Result<(u16, &str), &str>) {
        let expected = expected.map(|(status, body)| (status, body.to_owned())).map_err(str::to_owned);
        for piece_length in [1, 3, response.len().max(1)] {
            assert_eq!(read(response.as_bytes(), piece_length), expected, "{piece_length}: {response:.100}");
        }
    }

    #[test]
    fn a_response_arrives_in_pieces_and_in_every_framing() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Ok((200, "hello")));
        check("HTTP/1.0 200 OK\r\n\r\nhello", Ok((200, "hello")));
        check("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", Ok((503, "")));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n";
        check(chunked, Ok((200, "hello")));
    }

    #[test]
    fn peculiar_responses_are_read_as_other_clients_do() {
        let head = "HTTP/1.1 103 x\nA: 1\n\nHTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n";
        let chunked = "Transfer-Encoding : chunked\r\n\r\n5  \r\nhello\r\n0\r\n\r\n";
        check(&format!("{head}{chunked}"), Ok((200, "hello")));
    }

    #[test]
    fn incomplete_and_oversized_responses_are_errors() {
        check("", Err("the server closed the connection before the response was complete"));
        check(
            "HTTP/1.1 200 OK\r\nCont",
            Err("the server closed the connection before the response was complete"),
        );
        check(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe",
            Err("connection closed before the end of the body, 3 bytes missing"),
        );
        let long = format!("HTTP/1.0 200 OK\r\n\r\n{}", "x".repeat(101));
        check(&long, Err("the page exceeds 100 bytes"));
        assert!(read(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", 1).is_err());
    }

    #[test]
    fn interim_responses_are_skipped_up_to_a_limit() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n";
        let page = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        check(&format!("{}{page}", interim.repeat(20)), Ok((200, "hello")));
        check(&interim.repeat(2000), Err("no final response after 65536 bytes of interim responses"));
        check("HTTP/1.1 101 Switching Protocols\r\n\r\n", Ok((101, "")));
    }

    #[test]
    fn bytes_after_the_response_are_kept() {
        let mut reader = ResponseReader::new(RequestMethod::Get, 100);
        assert!(reader.read(b"HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\nokHTTP").unwrap());
        assert!(reader.head_bytes().ends_with(b"Content-Length: 2\r\n\r\n"));
        assert_eq!(reader.body(), b"ok");
        assert_eq!(reader.into_rest(), b"HTTP");
    }

    #[test]
    fn a_response_to_head_has_no_body() {
        let mut reader = ResponseReader::new(RequestMethod::Head, 100);
        assert!(reader.read(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n").unwrap());
    }
}
