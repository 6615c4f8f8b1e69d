//! A socket that sees by itself to the allowance and the counts, for protocols that are not ours to look into.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::connection::Pulse;
use super::server::Shared;

/// Bytes that cost about as much CPU as a small write: half of those that are sent as they are, for encrypting
/// them takes about as long as sending them.
const BYTES_PER_WORK: usize = 8 * 1024;

/// A TCP socket with whatever goes through it noted as work.
///
/// The pauses of the allowance fall into its reads and writes, so that they come between two kernel calls
/// however much a library does in one go.
#[derive(Debug)]
pub(super) struct Metered {
    stream: TcpStream,
    shared: Rc<Shared>,
    /// Alive whenever bytes were sent.
    pulse: Rc<Cell<Pulse>>,
    /// The work of a call that moves few bytes.
    pub(super) work: u32,
}

impl Metered {
    /// Takes a socket, and what shows whether its connection goes forward.
    pub(super) fn new(stream: TcpStream, shared: &Rc<Shared>, pulse: &Rc<Cell<Pulse>>, work: u32) -> Metered {
        Metered { stream, shared: Rc::clone(shared), pulse: Rc::clone(pulse), work }
    }

    /// Makes the end of the connection a reset.
    pub(super) fn set_reset(&self) -> io::Result<()> {
        SockRef::from(&self.stream).set_linger(Some(std::time::Duration::ZERO))
    }

    fn spend(&self, bytes: usize) {
        self.shared.spend(self.work + (bytes / BYTES_PER_WORK) as u32);
    }

    fn sent(&self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = outcome {
            self.shared.count(|counts| counts.bytes_sent += bytes as u64);
            self.spend(bytes);
            if self.pulse.get() == Pulse::Still {
                self.pulse.set(Pulse::Alive);
            }
        }
        outcome
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(context, buffer);
        if outcome.is_ready() {
            self.spend(buffer.filled().len() - before);
        }
        outcome
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.sent(outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.sent(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
