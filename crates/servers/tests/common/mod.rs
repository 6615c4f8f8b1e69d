//! A small workload, and a blocking client that parses responses as strictly as the web driver does.

#![allow(dead_code, reason = "each test program uses its own part")]

pub(crate) mod http2;
pub(crate) mod tls;

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use http1::{BodyReader, HeadError, ParseStatus, RequestMethod, ResponseHead, parse_response};
use model::{Content, FileSet, SetFile};
use servers::web::{WebOptions, WebServer};

/// Content seed of the workload.
const SEED: u64 = 1999;

/// A file that fits one write, one that needs many, an empty one, and one at the root.
pub(crate) const OBJECTS: [(&str, u64); 4] =
    [("/small.html", 500), ("/large.bin", 5 * 1024 * 1024), ("/empty.html", 0), ("/", 17)];

pub(crate) fn files() -> FileSet {
    let file = |(object, (path, bytes)): (u32, (&str, u64))| SetFile { object, path: path.to_owned(), bytes };
    FileSet { content_seed: SEED, files: (0..).zip(OBJECTS).map(file).collect() }
}

/// Starts a server with default options changed by `change`.
pub(crate) fn start(change: impl FnOnce(&mut WebOptions)) -> WebServer {
    let mut options = WebOptions::new(files());
    change(&mut options);
    WebServer::start(options).unwrap()
}

/// Returns the correct bytes of a file.
pub(crate) fn content(path: &str) -> Vec<u8> {
    let index = OBJECTS.iter().position(|(known, _)| *known == path).unwrap();
    let mut bytes = vec![0; OBJECTS[index].1 as usize];
    Content::new(SEED).fill(index as u32, 0, &mut bytes);
    bytes
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub head: ResponseHead,
    pub body: Vec<u8>,
}

/// The reason for a missing response; `Body` has the bytes read until then.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    NoHead,
    Head(HeadError),
    Truncated(usize),
    Chunk,
    Broken(io::ErrorKind),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Broken(error.kind())
    }
}

pub(crate) struct Client<S = TcpStream> {
    pub stream: S,
    input: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Client::over(stream)
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn over(stream: S) -> Client<S> {
        Client { stream, input: Vec::new() }
    }

    pub(crate) fn send(&mut self, request: &str) -> &mut Client<S> {
        self.stream.write_all(request.as_bytes()).unwrap();
        self
    }

    /// Sends an HTTP/1.1 GET and reads the response.
    pub(crate) fn get(&mut self, path: &str) -> Result<Reply, Failure> {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n")).reply(RequestMethod::Get)
    }

    pub(crate) fn reply(&mut self, method: RequestMethod) -> Result<Reply, Failure> {
        let (head, length) = loop {
            match parse_response(&self.input, method).map_err(Failure::Head)? {
                ParseStatus::Complete { head, length } => break (head, length),
                ParseStatus::Partial if self.read()? == 0 => return Err(Failure::NoHead),
                ParseStatus::Partial => {}
            }
        };
        self.input.drain(..length);
        let body = self.body(BodyReader::new(head.framing))?;
        Ok(Reply { head, body })
    }

    /// Reads to the end of the connection.
    pub(crate) fn rest(&mut self) -> String {
        while self.read().unwrap() != 0 {}
        String::from_utf8(std::mem::take(&mut self.input)).unwrap()
    }

    /// Returns whether the server has closed without sending anything more.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.input.is_empty() && matches!(self.read(), Ok(0))
    }

    fn body(&mut self, mut reader: BodyReader) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while !reader.is_done() {
            if self.input.is_empty() && self.read()? == 0 {
                return reader
                    .end_of_input()
                    .map(|()| body.clone())
                    .map_err(|_| Failure::Truncated(body.len()));
            }
            let piece = reader.read(&self.input).map_err(|_| Failure::Chunk)?;
            body.extend_from_slice(&self.input[piece.data]);
            self.input.drain(..piece.consumed);
        }
        Ok(body)
    }

    fn read(&mut self) -> io::Result<usize> {
        let mut buffer = vec![0; 256 * 1024];
        let n = self.stream.read(&mut buffer)?;
        self.input.extend_from_slice(&buffer[..n]);
        Ok(n)
    }
}
