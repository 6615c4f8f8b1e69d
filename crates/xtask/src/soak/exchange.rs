//! One request with its reply, as a client that looks closely sends and reads it.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Result;
use http1::{BodyReader, Parsed, RequestMethod, header, parse_response};

/// How long nothing may come: so short that who waits in vain does not always see a trouble that excuses it.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// How much is read at once, usually and slowly, and how often slowly.
const USUAL_BYTES: usize = 64 * 1024;
const SLOW_BYTES: usize = 4096;
const SLOW_PAUSE: Duration = Duration::from_millis(10);

/// A kept connection.
pub struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    /// What has come and was not looked at yet.
    came: Vec<u8>,
}

/// How a reply is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As it comes.
    Usual,
    /// In small pieces with pauses.
    Slow,
    /// Not at all.
    Leave,
}

/// A whole reply.
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Whether the connection can be used again.
    pub keep_alive: bool,
    /// The bytes of its head.
    pub head: Vec<u8>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Reply {
    /// Returns the value of a field.
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        header(&self.head, name)
    }
}

impl Connection {
    /// Connects.
    pub fn open(address: SocketAddr) -> Result<Connection> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, address, came: Vec::new() })
    }

    /// Sends a request and reads the reply; `fields` are lines with their ends. `None` if it is left before that.
    ///
    /// # Errors
    /// Whatever keeps the reply from being whole: an error of input and output if the connection failed, stood still or
    /// ended, another one if what came is no HTTP.
    pub fn perform(&mut self, method: &str, path: &str, fields: &str, pace: Pace) -> Result<Option<Reply>> {
        write!(self.stream, "{method} {path} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", self.address)?;
        if pace == Pace::Leave {
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
        Ok(Some(Reply { status: head.status, keep_alive: head.keep_alive, head: head_bytes, body }))
    }

    fn more(&mut self, pace: Pace) -> Result<()> {
        let mut buffer = [0; USUAL_BYTES];
        let most = if pace == Pace::Slow { SLOW_BYTES } else { USUAL_BYTES };
        match self.stream.read(&mut buffer[..most])? {
            0 => {
                let why = "the connection was closed before the end of the reply";
                return Err(Error::new(ErrorKind::UnexpectedEof, why).into());
            }
            n => self.came.extend_from_slice(&buffer[..n]),
        }
        if pace == Pace::Slow {
            std::thread::sleep(SLOW_PAUSE);
        }
        Ok(())
    }
}
