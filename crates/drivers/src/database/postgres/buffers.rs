//! Buffers that the sessions of a load thread share: a session that waits for nothing has none of its own.

use std::cell::{RefCell, RefMut};

use bytes::BytesMut;

/// The most bytes that one read takes. Most replies are shorter.
const RECEIVED_BYTES: usize = 16 * 1024;

/// The largest buffer that is kept for the next request.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// The buffers.
#[derive(Debug)]
pub(crate) struct SharedBuffers {
    received: RefCell<Box<[u8]>>,
    sent: RefCell<BytesMut>,
}

impl Default for SharedBuffers {
    fn default() -> SharedBuffers {
        let received = vec![0; RECEIVED_BYTES].into();
        SharedBuffers { received: RefCell::new(received), sent: RefCell::default() }
    }
}

impl SharedBuffers {
    /// Returns the room for bytes that arrive, to be left before the task waits.
    pub(super) fn received(&self) -> RefMut<'_, Box<[u8]>> {
        self.received.borrow_mut()
    }

    /// Takes the buffer for a request; it is a new one while another session is sending.
    pub(super) fn take_sent(&self) -> BytesMut {
        self.sent.take()
    }

    /// Keeps a buffer for the next request, unless it is a large one.
    pub(super) fn keep_sent(&self, mut buffer: BytesMut) {
        if buffer.capacity() <= KEPT_BYTES_MAX {
            buffer.clear();
            self.sent.replace(buffer);
        }
    }
}
