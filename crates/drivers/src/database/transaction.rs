//! The rules of transactions that all users of databases share.
//!
//! A commit counts only where the server says so. What it says is in the last reply: of PostgreSQL the tag of the command
//! and the status of the transaction, of MariaDB the status flags.
//!
//! | expected | reply | transaction then | failure |
//! |---|---|---|---|
//! | commit | of a commit | none | – |
//! | commit | of a rollback | any | rolled back |
//! | commit | any other, rows included | any | other answer |
//! | commit, or a statement by itself | any | open | still open |
//! | any | any | failed | failed |
//! | a statement within a transaction | any | none, now or before | lost |

use super::failure::SqlFailure;

/// The most times that a transaction is begun again with the same input: after as many deadlocks it has failed.
pub(crate) const RETRIES_MAX: u64 = 100;

// Codes of `not committed`.
/// The server rolled the transaction back.
pub(crate) const ROLLED_BACK: u64 = 1;
/// The transaction is open after its end, or after a statement that the server commits by itself.
pub(crate) const STILL_OPEN: u64 = 2;
/// The transaction has failed, though no statement was refused.
pub(crate) const FAILED: u64 = 3;
/// There is no transaction any more before its end: the connection may have gone to another server meanwhile.
pub(crate) const LOST: u64 = 4;
/// The answer to the commit is that of another statement.
pub(crate) const OTHER_ANSWER: u64 = 5;

/// Describes a transaction that was not committed, by its code.
pub(crate) fn describe_not_committed(code: u64) -> &'static str {
    match code {
        ROLLED_BACK => "not committed: the database rolled the transaction back",
        STILL_OPEN => "not committed: the transaction is still open where it should have ended",
        FAILED => {
            "not committed: the transaction failed, although the database refused none of its statements"
        }
        LOST => {
            "not committed: the transaction was no longer open, as after a statement that ends it, or behind a \
             proxy that switches servers"
        }
        _ => "not committed: the answer to the commit is that of another statement",
    }
}

/// Whether the changes of transactions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommitMode {
    Kept,
    Undone,
}

/// The state of a session's transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum TransactionState {
    /// There is none.
    #[default]
    None,
    /// One is open.
    Open,
    /// One is open that can only be rolled back.
    Failed,
}

/// The kind of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    /// It can be that of a commit.
    Commit,
    /// It is that of a rollback.
    Rollback,
    /// It is that of neither.
    #[default]
    Other,
}

/// The last reply of a server that refused nothing, as far as it concerns the transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LastReply {
    pub(crate) kind: ReplyKind,
    pub(crate) transaction: TransactionState,
    /// Whether a reply since the begin of the transaction said that none is open.
    has_lapsed: bool,
}

impl LastReply {
    /// Notes the next reply.
    pub(crate) fn note(&mut self, kind: ReplyKind, transaction: TransactionState) {
        let has_lapsed = self.has_lapsed || transaction == TransactionState::None;
        *self = LastReply { kind, transaction, has_lapsed };
    }

    /// Checks that the reply to the begin of a transaction says that one is open.
    pub(crate) fn begun(&mut self) -> Result<(), SqlFailure> {
        self.has_lapsed = false;
        self.within()
    }

    /// Checks that it confirms a commit.
    pub(crate) fn committed(self) -> Result<(), SqlFailure> {
        match self.kind {
            ReplyKind::Rollback => Err(SqlFailure::NotCommitted(ROLLED_BACK)),
            ReplyKind::Other => Err(SqlFailure::NotCommitted(OTHER_ANSWER)),
            ReplyKind::Commit => self.alone(),
        }
    }

    /// Checks that the transaction is open, and has been since its begin.
    pub(crate) fn within(self) -> Result<(), SqlFailure> {
        match self.transaction {
            TransactionState::Failed => Err(SqlFailure::NotCommitted(FAILED)),
            TransactionState::Open if !self.has_lapsed => Ok(()),
            TransactionState::Open | TransactionState::None => Err(SqlFailure::NotCommitted(LOST)),
        }
    }

    /// Checks that no transaction is open: the server has committed the statement by itself.
    pub(crate) fn alone(self) -> Result<(), SqlFailure> {
        match self.transaction {
            TransactionState::None => Ok(()),
            TransactionState::Open => Err(SqlFailure::NotCommitted(STILL_OPEN)),
            TransactionState::Failed => Err(SqlFailure::NotCommitted(FAILED)),
        }
    }

    /// Checks that a statement which rolls nothing back was not answered as if it did.
    pub(crate) fn of_statement(self) -> Result<(), SqlFailure> {
        match self.kind {
            ReplyKind::Rollback => Err(SqlFailure::NotCommitted(ROLLED_BACK)),
            ReplyKind::Commit | ReplyKind::Other => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_counts_only_where_the_reply_says_so() {
        use ReplyKind::{Commit, Other, Rollback};
        use TransactionState::{Failed, None, Open};
        let code = |checked: Result<(), SqlFailure>| match checked {
            Ok(()) => 0,
            Err(SqlFailure::NotCommitted(code)) => code,
            Err(other) => panic!("{other:?}"),
        };
        for (kind, transaction, committed, within, alone) in [
            (Commit, None, 0, LOST, 0),
            (Commit, Open, STILL_OPEN, 0, STILL_OPEN),
            (Commit, Failed, FAILED, FAILED, FAILED),
            (Rollback, None, ROLLED_BACK, LOST, 0),
            (Rollback, Open, ROLLED_BACK, 0, STILL_OPEN),
            (Other, None, OTHER_ANSWER, LOST, 0),
            (Other, Failed, OTHER_ANSWER, FAILED, FAILED),
        ] {
            let reply = LastReply { kind, transaction, has_lapsed: false };
            let found = [reply.committed(), reply.within(), reply.alone()].map(code);
            assert_eq!(found, [committed, within, alone], "{reply:?}");
        }
    }

    /// A proxy that changes the server loses a transaction, and the new server may begin another one.
    #[test]
    fn a_transaction_that_was_not_open_for_a_while_is_lost() {
        use TransactionState::{None, Open};
        let within = |replies: &[TransactionState]| {
            let mut last = LastReply::default();
            last.note(ReplyKind::Commit, None);
            last.note(ReplyKind::Commit, Open);
            last.begun()?;
            replies.iter().for_each(|state| last.note(ReplyKind::Other, *state));
            last.within()
        };
        assert_eq!(within(&[Open, Open]), Ok(()));
        assert_eq!(within(&[Open, None]), Err(SqlFailure::NotCommitted(LOST)));
        assert_eq!(within(&[None, Open]), Err(SqlFailure::NotCommitted(LOST)));
        assert_eq!(LastReply::default().begun(), Err(SqlFailure::NotCommitted(LOST)));
    }
}
