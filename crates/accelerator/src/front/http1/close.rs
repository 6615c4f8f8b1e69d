//! Ending a connection so that the client gets all of the last reply.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Poll, ready};

use tokio::io::ReadBuf;
use units::Nanos;

use super::connection::Connection;
use crate::front::peer::Wire;

/// The longest wait for a client to close after our last reply.
const LINGER_TIME_MAX: Nanos = Nanos::from_secs(2);

/// The most bytes that are read and thrown away meanwhile.
const LINGER_BYTES_MAX: usize = 1024 * 1024;

impl<W: Wire> Connection<W> {
    /// Says that we send no more, and reads for a moment what the client still sends: closing over unread bytes would
    /// send a reset, which can overtake the reply.
    pub(super) async fn linger(&mut self) -> io::Result<()> {
        self.shut_down().await?;
        self.watch.limit(LINGER_TIME_MAX);
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
        self.watch.keep(reading).await?
    }

    /// Says that we send no more.
    pub(super) async fn shut_down(&mut self) -> io::Result<()> {
        self.watch.limit(LINGER_TIME_MAX);
        let shutting = poll_fn(|context| Pin::new(&mut self.wire).poll_shutdown(context));
        self.watch.keep(shutting).await?
    }
}
