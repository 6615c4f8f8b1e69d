//! Buffers that the sessions of a load thread share: a session that waits for nothing has none of its own.

use std::cell::RefCell;

use bytes::BytesMut;

/// The most buffers that are kept: more commands are seldom under way at once.
const KEPT_MAX: usize = 64;

/// The largest buffers that are kept, in bytes.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// The buffers of a command.
#[derive(Debug, Default)]
pub(super) struct CommandBuffers {
    /// Bytes that have arrived, behind the last whole packet.
    pub(super) received: BytesMut,
    /// The last whole packet.
    pub(super) packet: Vec<u8>,
    pub(super) sent: BytesMut,
}

/// Buffers of commands that have ended.
#[derive(Debug, Default)]
pub(crate) struct SharedBuffers(RefCell<Vec<CommandBuffers>>);

impl SharedBuffers {
    /// Returns empty buffers.
    pub(super) fn take(&self) -> CommandBuffers {
        self.0.borrow_mut().pop().unwrap_or_default()
    }

    /// Keeps buffers for the next command, unless they are large.
    pub(super) fn keep(&self, mut buffers: CommandBuffers) {
        let kept = &mut *self.0.borrow_mut();
        let n_bytes = buffers.received.capacity() + buffers.packet.capacity() + buffers.sent.capacity();
        if kept.len() < KEPT_MAX && n_bytes <= KEPT_BYTES_MAX {
            buffers.packet.clear();
            buffers.sent.clear();
            kept.push(buffers);
        }
    }
}
