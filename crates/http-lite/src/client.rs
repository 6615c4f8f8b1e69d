//! One request and its response over a connection.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use units::{Clock, RealClock};

use crate::response_reader::{ClientError, ResponseReader};

/// The size of one read, in bytes.
const PIECE_BYTES: usize = 16 * 1024;

/// Sends a request and reads its response. A time limit is the caller's.
///
/// # Errors
///
/// There is no complete response; `reader` has what arrived of it.
pub async fn exchange<S>(
    stream: &mut S,
    request: &[u8],
    reader: &mut ResponseReader,
) -> Result<(), ClientError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    stream.write_all(request).await?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        // Some servers keep the connection open although the request asks to close it.
        match stream.read(&mut piece).await? {
            0 => return reader.end_of_input(),
            n if reader.read(&piece[..n])? => return Ok(()),
            _ => {}
        }
    }
}

/// Connects to the first of the addresses that accepts, sends a request and reads its response. Blocks the thread, but
/// not longer than `time_max`.
///
/// # Errors
///
/// There is no complete response in time; `reader` has what arrived of it.
pub fn fetch_blocking(
    addresses: &[SocketAddr],
    request: &[u8],
    reader: &mut ResponseReader,
    time_max: Duration,
) -> Result<(), ClientError> {
    let timer = Timer { clock: RealClock::start(), time_max };
    let mut stream = connect(addresses, timer)?;
    stream.set_write_timeout(Some(timer.left()?))?;
    stream.write_all(request).map_err(|error| timer.error(error))?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        stream.set_read_timeout(Some(timer.left()?))?;
        match stream.read(&mut piece).map_err(|error| timer.error(error))? {
            0 => return reader.end_of_input(),
            n if reader.read(&piece[..n])? => return Ok(()),
            _ => {}
        }
    }
}

fn connect(addresses: &[SocketAddr], timer: Timer) -> Result<TcpStream, ClientError> {
    let mut last = ClientError::Io(io::Error::new(ErrorKind::NotFound, "there is no address"));
    for address in addresses {
        match TcpStream::connect_timeout(address, timer.left()?) {
            Ok(stream) => return Ok(stream),
            Err(source) => last = ClientError::Connect { address: *address, source },
        }
    }
    Err(last)
}

/// The time that an exchange may still take.
#[derive(Clone, Copy)]
struct Timer {
    clock: RealClock,
    time_max: Duration,
}

impl Timer {
    fn left(self) -> Result<Duration, ClientError> {
        let left = self.time_max.checked_sub(Duration::from_nanos(self.clock.now().0));
        left.filter(|left| !left.is_zero()).ok_or(ClientError::Time(self.time_max))
    }

    /// Returns the error of a step; a timeout of the socket is one of the exchange.
    fn error(self, error: io::Error) -> ClientError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => ClientError::Time(self.time_max),
            _ => ClientError::Io(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use http1::RequestMethod;

    use super::*;

    /// Fetches a page that does not arrive; returns the error.
    fn fetch(address: SocketAddr) -> String {
        let mut reader = ResponseReader::new(RequestMethod::Get, 100);
        let request = b"GET / HTTP/1.0\r\n\r\n";
        fetch_blocking(&[address], request, &mut reader, Duration::from_millis(20)).unwrap_err().to_string()
    }

    #[test]
    fn a_server_that_never_responds_times_out() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert_eq!(fetch(address), "no complete response within 20 ms");
    }

    #[test]
    fn a_refused_connection_is_reported_with_its_address() {
        // A port that has been used lately may have been given to another test by now.
        let address = "127.0.0.1:1".parse().unwrap();
        let error = fetch(address);
        assert!(error.starts_with(&format!("{address}: ")), "{error}");
    }
}
