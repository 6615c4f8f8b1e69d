//! A socket that charges its own input and output to the allowance, for protocols implemented by libraries.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::connection::Liveness;
use super::server::SharedState;

/// Bytes that cost about as much CPU as a small write: half as many as without TLS, because encryption takes
/// about as long as sending.
const BYTES_PER_WORK: usize = 8 * 1024;

/// A TCP socket that charges all its traffic to the CPU allowance.
///
/// Pauses of the allowance happen within its reads and writes, so that they fall between two kernel calls
/// however much a library does in one go.
#[derive(Debug)]
pub(super) struct MeteredStream {
    stream: TcpStream,
    shared: Rc<SharedState>,
    /// Set to active whenever bytes were sent.
    liveness: Rc<Cell<Liveness>>,
    /// The work of a call that moves few bytes.
    pub(super) work: u32,
}

impl MeteredStream {
    /// Wraps a socket, with the liveness of its connection.
    pub(super) fn new(
        stream: TcpStream,
        shared: &Rc<SharedState>,
        liveness: &Rc<Cell<Liveness>>,
        work: u32,
    ) -> MeteredStream {
        MeteredStream { stream, shared: Rc::clone(shared), liveness: Rc::clone(liveness), work }
    }

    /// Makes closing the connection send a reset.
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
            if self.liveness.get() == Liveness::Idle {
                self.liveness.set(Liveness::Active);
            }
        }
        outcome
    }
}

impl AsyncRead for MeteredStream {
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

impl AsyncWrite for MeteredStream {
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
