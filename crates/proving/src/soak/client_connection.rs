//! One request with its response, sent and checked strictly.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Result;
use http1::{BodyReader, Parsed, RequestMethod, header, parse_response};

/// Read timeout: so short that a client that waits in vain does not always overlap with an outage that
/// excuses it.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Sizes of normal and slow reads, and the pause between slow ones.
const USUAL_BYTES: usize = 64 * 1024;
const SLOW_BYTES: usize = 4096;
const SLOW_PAUSE: Duration = Duration::from_millis(10);

/// A kept connection.
pub struct ClientConnection {
    stream: TcpStream,
    address: SocketAddr,
    /// Bytes received but not yet parsed.
    came: Vec<u8>,
}

/// The pace of reading a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPace {
    /// As it arrives.
    Usual,
    /// In small pieces with pauses.
    Slow,
    /// Not at all.
    Leave,
}

/// A complete response.
pub struct ClientReply {
    /// Its status.
    pub status: u16,
    /// Whether the connection can be reused.
    pub keep_alive: bool,
    /// The bytes of its head.
    pub head: Vec<u8>,
    /// Its body.
    pub body: Vec<u8>,
}

impl ClientReply {
    /// Returns the value of a field.
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        header(&self.head, name)
    }
}

impl ClientConnection {
    /// Connects.
    pub fn open(address: SocketAddr) -> Result<ClientConnection> {
        let stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(ClientConnection { stream, address, came: Vec::new() })
    }

    /// Sends a request and reads the response; `fields` are complete header lines. `None` if the client
    /// closes before it.
    ///
    /// # Errors
    /// The response is incomplete: an I/O error if the connection failed, timed out or ended, another error
    /// if the bytes are not HTTP.
    pub fn perform(
        &mut self,
        method: &str,
        path: &str,
        fields: &str,
        pace: ReadPace,
    ) -> Result<Option<ClientReply>> {
        write!(self.stream, "{method} {path} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", self.address)?;
        if pace == ReadPace::Leave {
            return Ok(None);
        }
        let method = RequestMethod::from_name(method.as_bytes());
        let (head, length) = loop {
            match parse_response(&self.came, method)? {
                Parsed::Complete { head, length } => break (head, length),
                Parsed::Partial => self.more(pace)?,
            }
        };
        let head_bytes: Vec<u8> = self.came.drain(..length).collect();
        let (mut reader, mut body) = (BodyReader::new(head.framing), Vec::new());
        while !reader.is_done() {
            if self.came.is_empty() {
                self.more(pace)?;
            }
            let piece = reader.read(&self.came)?;
            body.extend_from_slice(&self.came[piece.data.clone()]);
            self.came.drain(..piece.consumed);
        }
        Ok(Some(ClientReply { status: head.status, keep_alive: head.keep_alive, head: head_bytes, body }))
    }

    fn more(&mut self, pace: ReadPace) -> Result<()> {
        let mut buffer = [0; USUAL_BYTES];
        let most = if pace == ReadPace::Slow { SLOW_BYTES } else { USUAL_BYTES };
        match self.stream.read(&mut buffer[..most])? {
            0 => {
                let why = "the connection was closed before the end of the reply";
                return Err(Error::new(ErrorKind::UnexpectedEof, why).into());
            }
            n => self.came.extend_from_slice(&buffer[..n]),
        }
        if pace == ReadPace::Slow {
            std::thread::sleep(SLOW_PAUSE);
        }
        Ok(())
    }
}
