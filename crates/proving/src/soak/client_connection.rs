//! One request with its response, sent and checked strictly.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::Result;
use http_lite::ResponseReader;
use http1::{RequestMethod, header};

/// Read timeout: so short that a client that waits in vain does not always overlap with an outage that
/// excuses it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// Sizes of normal and slow reads, and the pause between slow ones.
const USUAL_BYTES: usize = 64 * 1024;
const SLOW_BYTES: usize = 4096;
const SLOW_PAUSE: Duration = Duration::from_millis(10);

/// A kept connection.
pub(super) struct ClientConnection {
    stream: TcpStream,
    address: SocketAddr,
    /// Bytes received but not yet parsed.
    came: Vec<u8>,
}

/// The pace of reading a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadPace {
    /// As it arrives.
    Usual,
    /// In small pieces with pauses.
    Slow,
    /// Not at all.
    Leave,
}

/// A complete response.
pub(super) struct ClientReply {
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
    pub(super) fn field(&self, name: &str) -> Option<&[u8]> {
        header(&self.head, name)
    }
}

impl ClientConnection {
    /// Connects.
    pub(super) fn open(address: SocketAddr) -> Result<ClientConnection> {
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
    pub(super) fn perform(
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
        let mut response = ResponseReader::new(RequestMethod::from_name(method.as_bytes()), usize::MAX);
        let mut is_complete = response.read(&std::mem::take(&mut self.came))?;
        while !is_complete {
            is_complete = response.read(&self.receive(pace)?)?;
        }
        let reply = response.head().map(|head| ClientReply {
            status: head.status,
            keep_alive: head.keep_alive,
            head: response.head_bytes().to_vec(),
            body: response.body().to_vec(),
        });
        self.came = response.into_rest();
        Ok(reply)
    }

    fn receive(&mut self, pace: ReadPace) -> Result<Vec<u8>> {
        let most = if pace == ReadPace::Slow { SLOW_BYTES } else { USUAL_BYTES };
        let mut piece = vec![0; most];
        let n = self.stream.read(&mut piece)?;
        if n == 0 {
            let why = "the connection was closed before the end of the reply";
            return Err(Error::new(ErrorKind::UnexpectedEof, why).into());
        }
        piece.truncate(n);
        if pace == ReadPace::Slow {
            std::thread::sleep(SLOW_PAUSE);
        }
        Ok(piece)
    }
}
