//! The thread that writes lines to the file.

use std::io::Write;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use units::{WallTime, wall};

use super::{LogCommand, LogFile, Shared, lock};
use crate::observation::notice::Notices;

/// The longest time that a line waits to be written.
const WRITE_EVERY: Duration = Duration::from_millis(250);

/// The shortest time between two reports of dropped lines, in milliseconds.
const REPORT_EVERY_MS: i64 = 10_000;

/// Writes lines until it is told to stop.
pub(super) fn run(shared: &Shared, commands: &Receiver<LogCommand>, notices: &Notices) {
    let mut output = Output::default();
    loop {
        // Without a file the thread waits for commands only.
        let order = match output.file {
            Some(_) => commands.recv_timeout(WRITE_EVERY),
            None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        output.write_all(shared, notices);
        match order {
            Ok(LogCommand::Write) | Err(RecvTimeoutError::Timeout) => {}
            Ok(LogCommand::Use(file)) => output.file = file,
            Ok(LogCommand::Stop) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The file, and the state of the reports about it.
#[derive(Default)]
struct Output {
    file: Option<LogFile>,
    /// Replaces a buffer while that one is written, so that buffers keep their memory.
    spare: Vec<u8>,
    is_failing: bool,
    dropped_reported: u64,
    last_report: Option<WallTime>,
}

impl Output {
    /// Writes the content of all buffers, if there is a file, and drops buffers without a writer.
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
        // A buffer that only the list holds stays empty once it has been emptied.
        lock(&shared.buffers)
            .retain(|buffer| 1 < Arc::strong_count(buffer) || !lock(&buffer.0).bytes.is_empty());
        self.report_dropped(shared, notices);
    }

    fn write(&mut self, LogFile { path, file, .. }: &mut LogFile, shared: &Shared, notices: &Notices) {
        let written = file.write_all(&self.spare);
        match &written {
            Err(why) if !mem::replace(&mut self.is_failing, true) => {
                notices.warn(format!(
                    "access log `{}` cannot be written, lines are dropped: {why}",
                    path.display()
                ));
            }
            Ok(()) if mem::replace(&mut self.is_failing, false) => {
                notices.info(format!("access log `{}` can be written again", path.display()));
            }
            _ => {}
        }
        if written.is_err() {
            let lines = self.spare.iter().filter(|byte| **byte == b'\n').count() as u64;
            shared.dropped.fetch_add(lines, Ordering::Relaxed);
        }
    }

    fn report_dropped(&mut self, shared: &Shared, notices: &Notices) {
        let dropped = shared.dropped.load(Ordering::Relaxed);
        let now = wall();
        if dropped == self.dropped_reported
            || self.last_report.is_some_and(|last_report| now.0 - last_report.0 < REPORT_EVERY_MS)
        {
            return;
        }
        let more = dropped - self.dropped_reported;
        notices.warn(format!("{more} lines of the access log were dropped, {dropped} since the start"));
        (self.dropped_reported, self.last_report) = (dropped, Some(now));
    }
}
