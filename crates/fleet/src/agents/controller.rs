//! The controller as a load agent knows it: the way to it, and what was last heard from it.
//!
//! Records are numbered at each load point, and one is kept until the controller has it:
//!
//! | a record | is kept by | until |
//! |---|---|---|
//! | that was made | the queue to the controller | the stream takes it |
//! | on its way | the stream: the kernels of both machines, of which one sends again what the other has not confirmed | the controller has read it |
//! | that was read | the controller, whose pings say how many these are | it is stored |
//!
//! A stream loses nothing, changes no order, and has one end: what was not read then has no other way. So an agent has no second
//! copy of what it wrote, sends nothing again, and ends with its input. It needs to know what is acknowledged all the same: on a
//! way that is too slow records queue in places that it does not see, and load whose records come minutes later is of no use.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};

use units::{Clock, Nanos, RealClock};

use crate::agent_link::{FromAgent, GREETING, write_frame};

/// The most records of an agent that the controller has not acknowledged: as many seconds as either waits for the other.
pub(super) const UNACKNOWLEDGED_MAX: u64 = 60;

/// The most messages that wait for the stream. Beside records these are answers to pings, which are dropped when there is no
/// room, and examples.
const QUEUE_MAX: usize = 256;

/// The way to the controller: a queue, and a thread that writes what is in it, so that a stream which takes nothing keeps
/// neither load nor the reader of messages waiting.
#[derive(Clone)]
pub(super) struct ControllerWriter {
    queue: SyncSender<Vec<u8>>,
    stop: Arc<AtomicBool>,
}

impl ControllerWriter {
    /// Writes the greeting and a first message, then begins to write others. Load for a controller that cannot be written to
    /// ends: `stop` is set.
    pub(super) fn begin(
        mut output: impl Write + Send + 'static,
        first: &FromAgent,
        stop: Arc<AtomicBool>,
    ) -> ControllerWriter {
        // One that cannot be written to has nobody at the other end, which the input says.
        let _ = output.write_all(GREETING);
        let _ = write_frame(&mut output, &first.encode());
        let (queue, messages) = sync_channel::<Vec<u8>>(QUEUE_MAX);
        let failed = Arc::clone(&stop);
        std::thread::spawn(move || {
            for message in messages {
                if write_frame(&mut output, &message).is_err() {
                    failed.store(true, Ordering::Relaxed);
                    return;
                }
            }
        });
        ControllerWriter { queue, stop }
    }

    /// Sends a message, and waits for room.
    pub(super) fn send(&self, message: &FromAgent) {
        if self.queue.send(message.encode()).is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Sends a message if there is room for it; returns whether there was.
    pub(super) fn offer(&self, message: &FromAgent) -> bool {
        match self.queue.try_send(message.encode()) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(_)) => {
                self.stop.store(true, Ordering::Relaxed);
                false
            }
        }
    }
}

/// The last that a load agent has heard from its controller, which all its threads may ask for.
pub(super) struct ControllerContact {
    clock: RealClock,
    /// The time of the last message, in ns.
    heard: AtomicU64,
    /// The number of records of this load point that it has taken, as it says.
    acknowledged: AtomicU64,
    /// Whether nothing that it may still say matters.
    is_over: AtomicBool,
}

impl ControllerContact {
    /// Begins with one that is heard now.
    pub(super) fn new(clock: RealClock) -> ControllerContact {
        ControllerContact {
            clock,
            heard: AtomicU64::new(clock.now().0),
            acknowledged: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    /// Notes a message that came at a time.
    pub(super) fn hear(&self, at: Nanos) {
        self.heard.store(at.0, Ordering::Relaxed);
    }

    /// Returns the time since the last message.
    pub(super) fn silence(&self) -> Nanos {
        self.clock.now().saturating_sub(Nanos(self.heard.load(Ordering::Relaxed)))
    }

    /// Notes how many records of this load point it has taken.
    pub(super) fn acknowledge(&self, n: u64) {
        self.acknowledged.store(n, Ordering::Relaxed);
    }

    /// Returns how many records it has not acknowledged of so many that were sent.
    pub(super) fn unacknowledged(&self, sent: u64) -> u64 {
        sent.saturating_sub(self.acknowledged.load(Ordering::Relaxed))
    }

    /// Ends the contact.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Returns whether it has ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Goal: a stream that takes nothing keeps nobody waiting, and what waits for it has a bound. Method: the buffer of a socket
    /// is full, and nobody reads; then its other end is closed.
    #[test]
    fn a_stream_that_takes_nothing_keeps_nobody_waiting() {
        let (controller, mut stream) = UnixStream::pair().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let writer =
            ControllerWriter::begin(stream.try_clone().unwrap(), &FromAgent::Done, Arc::clone(&stop));
        stream.set_nonblocking(true).unwrap();
        for piece in [4096, 1] {
            while stream.write_all(&[0; 4096][..piece]).is_ok() {}
        }
        stream.set_nonblocking(false).unwrap();
        let n = (0..2 * QUEUE_MAX).take_while(|_| writer.offer(&FromAgent::Done)).count();
        // The thread that writes may have taken one.
        assert!((QUEUE_MAX..=QUEUE_MAX + 1).contains(&n), "{n} messages wait");
        assert!(!stop.load(Ordering::Relaxed));
        drop(controller);
        while writer.offer(&FromAgent::Done) || !stop.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    }
}
