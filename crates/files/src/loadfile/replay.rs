//! The replay of a load file by a client.
//!
//! | answer | next |
//! |---|---|
//! | done | the next line |
//! | an open failed | the next line; operations on the handle are left out until it is opened again |
//! | a write failed, or wrong bytes were read | the client leaves |
//! | anything else failed | the next line |
//! | session lost | the next line; operations on all handles are left out until they are opened again |
//!
//! Where an operation has no open handle, or writes less than recorded, dbench ends. Behind the last line, the first
//! is next.

use std::sync::Arc;

use super::{HANDLES_MAX, LoadAction, LoadFile};
use crate::{FileAction, FileAnswer, FileOperation, FileStep, Handle};

/// A client that replays a load file.
#[derive(Debug, Clone)]
pub struct ReplayClient {
    load: Arc<LoadFile>,
    client: u32,
    /// The index of the next line.
    at: usize,
    /// By slot, whether what the file takes to be open is not.
    is_broken: [bool; HANDLES_MAX],
    last: Option<FileOperation>,
    has_left: bool,
}

impl ReplayClient {
    /// Makes the client of this number.
    pub fn new(load: Arc<LoadFile>, client: u32) -> ReplayClient {
        ReplayClient { load, client, at: 0, is_broken: [false; HANDLES_MAX], last: None, has_left: false }
    }

    /// Returns the next step. `last` is the answer to the operation performed just before, if any.
    pub fn next(&mut self, last: Option<FileAnswer>) -> FileStep {
        if let (Some(operation), Some(answer)) = (self.last.take(), last) {
            self.heed(operation, answer);
        }
        if self.has_left {
            return FileStep::Leave;
        }
        loop {
            let Some(line) = self.load.lines.get(self.at).copied() else {
                self.at = 0;
                return FileStep::UnitEnd;
            };
            self.at += 1;
            match line.action {
                LoadAction::Sleep(time) => return FileStep::Pause(time),
                LoadAction::NotBefore(time) => return FileStep::PauseUntil(time),
                _ => {}
            }
            let operation = line.operation(self.client).filter(|operation| self.can_perform(operation));
            if let Some(operation) = operation {
                self.last = Some(operation);
                return FileStep::Perform(operation);
            }
        }
    }

    fn heed(&mut self, operation: FileOperation, answer: FileAnswer) {
        match answer {
            FileAnswer::Done | FileAnswer::Failed => {
                let failed = answer == FileAnswer::Failed;
                if let Some(Handle(slot)) = operation.opens() {
                    self.is_broken[usize::from(slot)] = failed;
                }
                self.has_left = failed && matches!(operation.action, FileAction::Write(..));
            }
            FileAnswer::SessionLost => self.is_broken = [true; HANDLES_MAX],
            FileAnswer::WrongBytes => self.has_left = true,
        }
    }

    fn can_perform(&self, operation: &FileOperation) -> bool {
        operation.uses().is_none_or(|Handle(slot)| !self.is_broken[usize::from(slot)])
    }
}
