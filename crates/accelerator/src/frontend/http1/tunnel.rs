//! A connection that was upgraded to another protocol: bytes are relayed both ways until both sides close.
//!
//! A tunnel has no end of its own that a graceful stop could wait for, so it gets a time limit of its own then.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use units::Nanos;

use super::connection::Http1Connection;
use crate::exchange::Tunnel;
use crate::frontend::deadline::Deadline;
use crate::frontend::peer::ClientStream;
use crate::frontend::rewind::Rewind;
use crate::frontend::worker::Worker;

/// The client's side of a tunnel; every byte that passes renews the time limit.
#[derive(Debug)]
struct TunnelStream<'a, W> {
    wire: &'a mut W,
    deadline: &'a Deadline,
    limit: Nanos,
}

impl<W: ClientStream> Http1Connection<W> {
    /// Relays bytes both ways until both sides have closed, none has passed for too long, or a graceful stop has
    /// lasted too long.
    pub(super) async fn tunnel(&mut self, mut tunnel: Tunnel) -> io::Result<()> {
        let first = std::mem::take(&mut self.kept);
        let limit = self.worker.limits().tunnel_timeout;
        let stopped = stop_passed(Rc::clone(&self.worker));
        let lively = TunnelStream { wire: &mut self.wire, deadline: &self.deadline, limit };
        let mut client = Rewind::new(first, lively);
        self.deadline.set(limit);
        let passing = copy_bidirectional(&mut client, &mut tunnel);
        let (_from_client, to_client) = tokio::select! {
            passed = self.deadline.enforce(passing) => passed??,
            () = stopped => return Err(io::ErrorKind::TimedOut.into()),
        };
        self.outgoing.bytes += to_client;
        self.outgoing.body_bytes += to_client;
        Ok(())
    }
}

/// Waits until the time that tunnels have in a graceful stop has passed.
async fn stop_passed(worker: Rc<Worker>) {
    worker.draining().await;
    tokio::time::sleep(Duration::from_nanos(worker.limits().tunnel_stop_timeout.0)).await;
}

impl<W> TunnelStream<'_, W> {
    /// Renews the time limit if something may have passed.
    fn note<T>(&self, outcome: Poll<T>) -> Poll<T> {
        if outcome.is_ready() {
            self.deadline.set(self.limit);
        }
        outcome
    }
}

impl<W: ClientStream> AsyncRead for TunnelStream<'_, W> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut *self.wire).poll_read(context, buffer);
        self.note(outcome)
    }
}

impl<W: ClientStream> AsyncWrite for TunnelStream<'_, W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut *self.wire).poll_write(context, bytes);
        self.note(outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.wire).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.wire).poll_shutdown(context)
    }
}
