//! The time to the first data of a stream.

use files::{FileAction, FileOperation};
use model::{Outcome, Reply, file_measure};
use units::Nanos;

/// A timer from the opening of a stream to its first data.
#[derive(Debug)]
pub(crate) struct FirstDataTimer {
    /// Whether the time is measured: only of streams that are read.
    is_on: bool,
    /// The time at which the opening of the stream was sent that has had no data yet.
    opened: Option<Nanos>,
}

impl FirstDataTimer {
    pub(crate) fn new(is_on: bool) -> FirstDataTimer {
        FirstDataTimer { is_on, opened: None }
    }

    /// Takes note of an operation that has ended. The first read that succeeds after an opening has the time from when that
    /// was sent until the read was done.
    pub(crate) fn note(&mut self, operation: &FileOperation, reply: &mut Reply) {
        if !self.is_on || reply.outcome != Outcome::Ok {
            return;
        }
        match operation.action {
            FileAction::Open(..) => self.opened = Some(reply.sent),
            FileAction::Read(..) => {
                if let Some(opened) = self.opened.take() {
                    reply.measured.set(file_measure::FIRST_DATA, reply.done.saturating_sub(opened).0);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use files::{Entry, FilePath, FileRange, Folder, Handle, Owner};
    use model::MeasuredValues;

    use super::*;

    /// By hand: opened from 10 to 15; a read fails at 20, one ends at 32, which is 22 after the opening was sent; later reads
    /// have no such time, and after the next opening the first one has.
    #[test]
    fn the_first_read_after_an_opening_has_the_time_since_that_was_sent() {
        let path = FilePath::new(Owner::Client(0), Folder::Stream, Entry::File(0));
        let open = FileAction::Open(Handle(0), path);
        let read = FileAction::Read(Handle(0), FileRange { offset: 0, length: 4096 });
        let close = FileAction::Close(Handle(0));
        let steps = [
            (open, 10, 15, Outcome::Ok),
            (read, 15, 20, Outcome::Truncated),
            (read, 20, 32, Outcome::Ok),
            (read, 32, 40, Outcome::Ok),
            (close, 40, 41, Outcome::Ok),
            (open, 50, 51, Outcome::Ok),
            (read, 51, 53, Outcome::Ok),
        ];
        let times = |is_on| {
            let mut timer = FirstDataTimer::new(is_on);
            steps.map(|(action, sent, done, outcome)| {
                let measured = MeasuredValues::default();
                let [sent, done] = [sent, done].map(Nanos);
                let mut reply = Reply { outcome, sent, done, measured, answer: 0, code: 0, detail: 0 };
                timer.note(&FileOperation::of(action), &mut reply);
                reply.measured.get(file_measure::FIRST_DATA)
            })
        };
        assert_eq!(times(true), [None, None, Some(22), None, None, None, Some(3)]);
        assert_eq!(times(false), [None; 7]);
    }
}
