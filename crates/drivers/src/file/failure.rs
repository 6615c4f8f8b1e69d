//! Failures of actions on files by their meaning, and the replies of operations.

use files::{Expectation, FileAction, FileAnswer, FileOperation, FilePath};
use model::{MeasuredValues, Outcome, Reply, file_measure};
use units::Nanos;

/// The weight of a failure where an operation is meant to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The name is not there.
    Missing,
    /// The server does not do what it was asked for, as with a name that is taken.
    Other,
    /// It could not do it, or did it wrongly. No operation is meant to fail like this.
    Fault,
}

/// The failure of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileFailure {
    pub(crate) outcome: Outcome,
    pub(crate) refusal: Refusal,
    /// The code of the server or of the kernel; 0 if there is none.
    pub(crate) code: u32,
    /// The position of the wrong byte, the number of bytes read or of names found; the code, where there is one.
    pub(crate) detail: u64,
}

impl FileFailure {
    /// Makes a failure that the server or the kernel has a code for.
    pub(crate) fn coded(outcome: Outcome, refusal: Refusal, code: u32) -> FileFailure {
        FileFailure { outcome, refusal, code, detail: code.into() }
    }

    /// Makes a failure that was found in what came back.
    pub(crate) fn found(outcome: Outcome, detail: u64) -> FileFailure {
        FileFailure { outcome, refusal: Refusal::Fault, code: 0, detail }
    }

    /// Makes the failure of a search that has no match.
    pub(crate) fn no_match() -> FileFailure {
        FileFailure { outcome: Outcome::Gone, refusal: Refusal::Missing, code: 0, detail: 0 }
    }

    /// Returns whether the operation is meant to fail like this.
    fn is_meant(&self, operation: &FileOperation) -> bool {
        match operation.expected {
            Expectation::Success => false,
            // Of captured mixes only that they fail is known, as dbench has it.
            Expectation::Failure if is_populated(operation) => self.refusal == Refusal::Missing,
            Expectation::Failure | Expectation::Any => self.refusal != Refusal::Fault,
        }
    }
}

/// Returns whether an operation is about a path of a population.
fn is_populated(operation: &FileOperation) -> bool {
    matches!(operation.paths(), [Some(FilePath::Populated(_)), _])
}

/// The failure of an operation in a session with a server.
pub(crate) trait SessionFailure: Copy {
    /// Makes the failure of an operation whose session has ended.
    fn lost() -> Self;

    /// Returns whether nothing more can be asked in the session.
    fn ends_session(self) -> bool;

    /// Makes the failure that is held against what the operation expects.
    fn into_file_failure(self) -> FileFailure;
}

/// An action that was performed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PerformedAction<F = FileFailure> {
    /// The time at which it had ended.
    pub(crate) done: Nanos,
    /// The requests or calls that it took.
    pub(crate) n_exchanges: u64,
    /// Nothing, or its failure.
    pub(crate) result: Result<(), F>,
}

/// Makes the reply of an operation, from what its action led to and what it expects.
pub(crate) fn reply(operation: &FileOperation, sent: Nanos, performed: PerformedAction) -> Reply {
    let (outcome, answer, code, detail) = match performed.result {
        Ok(()) if operation.expected == Expectation::Failure => {
            (Outcome::WrongStatus, FileAnswer::Failed, 0, 0)
        }
        Ok(()) => (Outcome::Ok, FileAnswer::Done, 0, 0),
        Err(failure) if failure.is_meant(operation) => {
            // A client may need to know whether its file is open, even if both are right.
            let is_open_question = operation.expected == Expectation::Any;
            (Outcome::Ok, if is_open_question { FileAnswer::Failed } else { FileAnswer::Done }, 0, 0)
        }
        Err(failure) => {
            let answer = match failure.outcome {
                Outcome::WrongBytes => FileAnswer::WrongBytes,
                Outcome::SessionLost => FileAnswer::SessionLost,
                _ => FileAnswer::Failed,
            };
            (failure.outcome, answer, failure.code, failure.detail)
        }
    };
    let mut measured = MeasuredValues::default();
    measured.set(file_measure::EXCHANGES, performed.n_exchanges);
    match operation.action {
        FileAction::Read(_, range) => measured.set(file_measure::READ_BYTES, range.length),
        FileAction::Write(_, range) => measured.set(file_measure::WRITTEN_BYTES, range.length),
        _ => {}
    }
    Reply { outcome, sent, done: performed.done, measured, answer: answer.to_u64(), code, detail }
}

/// Makes the reply of an operation in a session, as [`reply`] does; it says so if the session has ended.
pub(crate) fn session_reply<F: SessionFailure>(
    operation: &FileOperation,
    sent: Nanos,
    performed: PerformedAction<F>,
) -> Reply {
    let PerformedAction { done, n_exchanges, result } = performed;
    let ends_session = result.is_err_and(F::ends_session);
    let result = result.map_err(F::into_file_failure);
    let mut reply = reply(operation, sent, PerformedAction { done, n_exchanges, result });
    if ends_session {
        reply.answer = FileAnswer::SessionLost.to_u64();
    }
    reply
}

#[cfg(test)]
mod tests {
    use files::{CapturedPath, Entry, FileRange, Folder, Handle, InfoLevel, Owner};

    use super::*;

    const POPULATED: FilePath = FilePath::Populated(files::PopulatedPath {
        owner: Owner::Client(0),
        folder: Folder::Bulk,
        entry: Entry::File(0),
    });
    const CAPTURED: FilePath = FilePath::Captured(CapturedPath { client: 0, text: 0 });

    fn judge(
        path: FilePath,
        expected: Expectation,
        result: Result<(), FileFailure>,
    ) -> (Outcome, FileAnswer, u32) {
        let operation = FileOperation { action: FileAction::PathQuery(path, InfoLevel::BASIC), expected };
        let performed = PerformedAction { done: Nanos(2), n_exchanges: 3, result };
        let reply = reply(&operation, Nanos(1), performed);
        assert_eq!(reply.measured.get(file_measure::EXCHANGES), Some(3));
        (reply.outcome, FileAnswer::from_u64(reply.answer), reply.code)
    }

    /// Rows: expectation and failure. Columns: a path of a population, one of a captured mix.
    #[test]
    fn the_result_is_held_against_what_is_expected() {
        use Expectation::{Any, Failure, Success};
        use FileAnswer::{Done, Failed, WrongBytes};
        let missing = FileFailure::coded(Outcome::Gone, Refusal::Missing, 2);
        let taken = FileFailure::coded(Outcome::Conflict, Refusal::Other, 17);
        let broken = FileFailure::coded(Outcome::WrongStatus, Refusal::Fault, 5);
        let wrong = FileFailure::found(Outcome::WrongBytes, 4097);
        let ok = (Outcome::Ok, Done, 0);
        let gone = (Outcome::Gone, Failed, 2);
        let conflict = (Outcome::Conflict, Failed, 17);
        let fault = (Outcome::WrongStatus, Failed, 5);
        let rows = [
            (Success, Ok(()), ok, ok),
            (Success, Err(missing), gone, gone),
            (Success, Err(wrong), (Outcome::WrongBytes, WrongBytes, 0), (Outcome::WrongBytes, WrongBytes, 0)),
            (Failure, Ok(()), (Outcome::WrongStatus, Failed, 0), (Outcome::WrongStatus, Failed, 0)),
            (Failure, Err(missing), ok, ok),
            (Failure, Err(taken), conflict, ok),
            (Failure, Err(broken), fault, fault),
            (Any, Ok(()), ok, ok),
            (Any, Err(missing), (Outcome::Ok, Failed, 0), (Outcome::Ok, Failed, 0)),
            (Any, Err(broken), fault, fault),
        ];
        for (expected, result, populated, captured) in rows {
            assert_eq!(judge(POPULATED, expected, result), populated, "{expected:?} {result:?}");
            assert_eq!(judge(CAPTURED, expected, result), captured, "{expected:?} {result:?}");
        }
    }

    #[test]
    fn bytes_are_measured_where_they_move() {
        let range = FileRange { offset: 7, length: 100 };
        let measured = |action| {
            let performed = PerformedAction { done: Nanos(2), n_exchanges: 1, result: Ok(()) };
            let measured = reply(&FileOperation::of(action), Nanos(1), performed).measured;
            (measured.get(file_measure::READ_BYTES), measured.get(file_measure::WRITTEN_BYTES))
        };
        assert_eq!(measured(FileAction::Read(Handle(0), range)), (Some(100), None));
        assert_eq!(measured(FileAction::Write(Handle(0), range)), (None, Some(100)));
        assert_eq!(measured(FileAction::Flush(Handle(0))), (None, None));
    }
}
