//! A connection that is no longer HTTP: bytes both ways, until both sides have ended theirs.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use units::Nanos;

use super::connection::Connection;
use crate::exchange::Tunnel;
use crate::front::peer::Wire;
use crate::front::prefixed::Prefixed;
use crate::front::watch::Watch;

/// The client's side of a tunnel: every byte that passes sets the time limit anew.
#[derive(Debug)]
struct Lively<'a, W> {
    wire: &'a mut W,
    watch: &'a Watch,
    limit: Nanos,
}

impl<W: Wire> Connection<W> {
    /// Passes bytes both ways until both sides have ended theirs, or none has passed for too long.
    pub(super) async fn tunnel(&mut self, mut tunnel: Tunnel) -> io::Result<()> {
        let first = std::mem::take(&mut self.kept);
        let limit = self.worker.limits().tunnel_timeout;
        let lively = Lively { wire: &mut self.wire, watch: &self.watch, limit };
        let mut client = Prefixed::new(first, lively);
        self.watch.limit(limit);
        let passing = copy_bidirectional(&mut client, &mut tunnel);
        let (_from_client, to_client) = self.watch.keep(passing).await??;
        self.bytes_out += to_client;
        self.body_out += to_client;
        Ok(())
    }
}

impl<W> Lively<'_, W> {
    /// Notes that something may have passed.
    fn note<T>(&self, outcome: Poll<T>) -> Poll<T> {
        if outcome.is_ready() {
            self.watch.limit(self.limit);
        }
        outcome
    }
}

impl<W: Wire> AsyncRead for Lively<'_, W> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut *self.wire).poll_read(context, buffer);
        self.note(outcome)
    }
}

impl<W: Wire> AsyncWrite for Lively<'_, W> {
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
