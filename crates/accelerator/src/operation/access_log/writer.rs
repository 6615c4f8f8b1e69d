//! The thread that brings lines to the file.

use std::io::Write;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use units::{WallTime, wall};

use super::{LogFile, Order, Shared, lock};
use crate::operation::notice::Notices;

/// The longest that a line waits until it is written.
const EVERY: Duration = Duration::from_millis(250);

/// Dropped lines are told at most so often, in milliseconds.
const TELL_EVERY_MS: i64 = 10_000;

/// Writes lines until it is told to stop.
pub(super) fn run(shared: &Shared, orders: &Receiver<Order>, notices: &Notices) {
    let mut output = Output::default();
    loop {
        // Without a file there is nothing to wait for but an order.
        let order = match output.file {
            Some(_) => orders.recv_timeout(EVERY),
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        output.write_all(shared, notices);
        match order {
            Ok(Order::Write) | Err(RecvTimeoutError::Timeout) => {}
            Ok(Order::Use(file)) => output.file = file,
            Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The file, and what has been told of it.
#[derive(Default)]
struct Output {
    file: Option<LogFile>,
    /// Takes the place of a buffer while that one is written, so that buffers keep their memory.
    spare: Vec<u8>,
    is_failing: bool,
    dropped_told: u64,
    told: Option<WallTime>,
}

impl Output {
    /// Writes what is in all buffers, if there is a file, and forgets buffers that nobody writes to any more.
    fn write_all(&mut self, shared: &Shared, notices: &Notices) {
        if let Some(mut file) = self.file.take() {
            let buffers = lock(&shared.buffers).clone();
            for buffer in &buffers {
                mem::swap(&mut lock(&buffer.0).bytes, &mut self.spare);
                if !self.spare.is_empty() {
                    self.write(&mut file, shared, notices);
                    self.spare.clear();
                }
            }
            self.file = Some(file);
        }
        // One that only the list holds is empty for good once it has been emptied.
        lock(&shared.buffers)
            .retain(|buffer| 1 < Arc::strong_count(buffer) || !lock(&buffer.0).bytes.is_empty());
        self.tell_dropped(shared, notices);
    }

    fn write(&mut self, LogFile { path, file, .. }: &mut LogFile, shared: &Shared, notices: &Notices) {
        let written = file.write_all(&self.spare);
        match &written {
            Err(why) if !mem::replace(&mut self.is_failing, true) => {
                notices.warn(format!(
                    "access log `{}` cannot be written, lines are lost: {why}",
                    path.display()
                ));
            }
            Ok(()) if mem::replace(&mut self.is_failing, false) => {
                notices.info(format!("access log `{}` is written again", path.display()));
            }
            _ => {}
        }
        if written.is_err() {
            let lines = self.spare.iter().filter(|byte| **byte == b'\n').count() as u64;
            shared.dropped.fetch_add(lines, Ordering::Relaxed);
        }
    }

    fn tell_dropped(&mut self, shared: &Shared, notices: &Notices) {
        let dropped = shared.dropped.load(Ordering::Relaxed);
        let now = wall();
        if dropped == self.dropped_told || self.told.is_some_and(|told| now.0 - told.0 < TELL_EVERY_MS) {
            return;
        }
        let more = dropped - self.dropped_told;
        notices.warn(format!("{more} lines of the access log were dropped, {dropped} since the start"));
        (self.dropped_told, self.told) = (dropped, Some(now));
    }
}
