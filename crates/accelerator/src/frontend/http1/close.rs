//! Closing a connection so that the client gets the whole last response.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Poll, ready};

use tokio::io::ReadBuf;
use units::Nanos;

use super::connection::{AfterResponse, Http1Connection};
use crate::frontend::peer::ClientStream;

/// The longest wait for a client to close after the last response.
const LINGER_TIME_MAX: Nanos = Nanos::from_secs(2);

/// The most bytes that are read and discarded meanwhile.
const LINGER_BYTES_MAX: usize = 1024 * 1024;

impl<W: ClientStream> Http1Connection<W> {
    /// Ends the connection after its last response.
    pub(super) async fn end(&mut self, after: AfterResponse) -> io::Result<()> {
        match after {
            AfterResponse::Linger => self.linger().await,
            AfterResponse::Next | AfterResponse::Close if W::NEEDS_SHUTDOWN => self.shut_down().await,
            AfterResponse::Next | AfterResponse::Close => Ok(()),
        }
    }

    /// Shuts down the sending side and reads for a moment what the client still sends: closing with unread input
    /// would send a reset, which can overtake the response.
    pub(super) async fn linger(&mut self) -> io::Result<()> {
        self.shut_down().await?;
        self.deadline.set(LINGER_TIME_MAX);
        let mut bytes = 0;
        let reading = poll_fn(|context| {
            let input = &mut self.worker.buffers.borrow_mut().input;
            while bytes < LINGER_BYTES_MAX {
                let mut room = ReadBuf::new(input);
                match ready!(Pin::new(&mut self.wire).poll_read(context, &mut room)) {
                    Ok(()) if !room.filled().is_empty() => bytes += room.filled().len(),
                    _ => break,
                }
            }
            Poll::Ready(Ok(()))
        });
        self.deadline.enforce(reading).await?
    }

    /// Shuts down the sending side.
    async fn shut_down(&mut self) -> io::Result<()> {
        self.deadline.set(LINGER_TIME_MAX);
        let shutting = poll_fn(|context| Pin::new(&mut self.wire).poll_shutdown(context));
        self.deadline.enforce(shutting).await?
    }
}
