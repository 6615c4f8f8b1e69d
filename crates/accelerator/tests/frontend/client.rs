//! A client that sends raw bytes, one by one if need be.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use http1::{BodyReader, ParseStatus, RequestMethod, TruncatedBody, parse_response};

/// Longer than any response takes; a test that waits so long has failed.
const TIME_MAX: Duration = Duration::from_secs(20);

/// A connection to the frontend.
pub(crate) struct Client {
    pub stream: TcpStream,
    input: Vec<u8>,
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientResponse {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    /// Whether the connection can take another request.
    pub keep_alive: bool,
}

impl ClientResponse {
    /// Returns the value of a header line.
    pub(crate) fn line(&self, name: &str) -> Option<&str> {
        http1::header(self.head.as_bytes(), name).map(|value| std::str::from_utf8(value).unwrap())
    }

    /// Returns the body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Client {
    /// Connects.
    pub(crate) fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIME_MAX)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, input: Vec::new() }
    }

    /// Sends bytes; the server may have closed the connection by then.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Client {
        let _ = self.stream.write_all(bytes.as_ref());
        self
    }

    /// Sends a GET of HTTP/1.1.
    pub(crate) fn get(&mut self, target: &str) -> ClientResponse {
        self.send(get(target)).answer()
    }

    /// Shuts down the sending side.
    pub(crate) fn end(&mut self) -> &mut Client {
        self.stream.shutdown(Shutdown::Write).unwrap();
        self
    }

    /// Reads a response to a GET, or to another request whose response may have a body.
    pub(crate) fn answer(&mut self) -> ClientResponse {
        self.answer_to(RequestMethod::Get).unwrap()
    }

    /// Reads a response; its error is that of a truncated body.
    pub(crate) fn answer_to(&mut self, method: RequestMethod) -> Result<ClientResponse, TruncatedBody> {
        let (head, length) = loop {
            match parse_response(&self.input, method).expect("a well formed reply") {
                ParseStatus::Complete { head, length } => break (head, length),
                ParseStatus::Partial => {
                    assert_ne!(self.read(), 0, "a reply, after {:?}", self.input.escape_ascii())
                }
            }
        };
        let text = String::from_utf8(self.input.drain(..length).collect()).unwrap();
        let mut reader = BodyReader::new(head.framing);
        let mut body = Vec::new();
        while !reader.is_done() {
            if self.input.is_empty() && self.read() == 0 {
                reader.end_of_input()?;
                continue;
            }
            let piece = reader.read(&self.input).expect("a well formed body");
            body.extend_from_slice(&self.input[piece.data]);
            self.input.drain(..piece.consumed);
        }
        Ok(ClientResponse { status: head.status, head: text, body, keep_alive: head.keep_alive })
    }

    /// Waits for exactly these bytes.
    pub(crate) fn expect(&mut self, bytes: &[u8]) {
        while self.input.len() < bytes.len() {
            assert_ne!(
                self.read(),
                0,
                "expected {:?}, found {:?}",
                bytes.escape_ascii(),
                self.input.escape_ascii()
            );
        }
        let found: Vec<u8> = self.input.drain(..bytes.len()).collect();
        assert_eq!(found, bytes);
    }

    /// Waits for the end of the connection; any byte before it is an error.
    pub(crate) fn expect_end(&mut self) {
        let read = self.read();
        assert_eq!(read, 0, "expected the end, found {:?}", self.input.escape_ascii());
    }

    /// Reads some bytes; a reset counts as the end.
    fn read(&mut self) -> usize {
        let mut room = vec![0; 64 * 1024];
        match self.stream.read(&mut room) {
            Ok(read) => {
                self.input.extend_from_slice(&room[..read]);
                read
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Returns a GET request of HTTP/1.1.
pub(crate) fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n")
}

/// Returns a POST request of HTTP/1.1 with further lines, each ending in CR LF.
pub(crate) fn post(target: &str, lines: &str, body: &str) -> String {
    format!("POST {target} HTTP/1.1\r\nHost: h\r\n{lines}\r\n{body}")
}
