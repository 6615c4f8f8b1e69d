//! Failures of statements: the server's answers by their SQLSTATE, lost sessions, results that no statement of ours
//! has.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use model::Outcome;

use super::transaction::describe_not_committed;
use crate::net::OperationFailure;

// Codes of `malformed head`: the server's bytes are not of the protocol, it sends notices without end, or it wants to know
// who we are in a way that we have not.
pub(crate) const OTHER_BYTES: u64 = 1;
pub(crate) const NOTICES_WITHOUT_END: u64 = 2;
pub(crate) const NO_PASSWORD: u64 = 3;
pub(crate) const OTHER_AUTHENTICATION: u64 = 4;
// Or it offers no TLS, or is another product behind MariaDB's protocol.
pub(crate) const NO_TLS: u64 = 5;
pub(crate) const NOT_MARIADB: u64 = 6;
/// It asks for the password in clear over a connection that others can read.
pub(crate) const CLEAR_PASSWORD: u64 = 7;

// Codes of `wrong bytes` beside those of all order-entry transactions.
/// A column of a result is missing, or has a value of another type or range.
pub(crate) const WRONG_COLUMN: u64 = 7;
/// A row that the data must have is missing, or there are several.
pub(crate) const WRONG_ROWS: u64 = 8;
/// The server finds other parameters in a statement than its text names.
pub(crate) const WRONG_PARAMETERS: u64 = 9;
/// The rows of a statement do not have a column whose value is expected.
pub(crate) const NO_SUCH_COLUMN: u64 = 10;

/// The text of the server's refusals that are kept for descriptions: the first of each SQLSTATE, and of so many.
const MESSAGES_MAX: usize = 64;

/// The server's own texts of its refusals by SQLSTATE, for descriptions of failed operations.
#[derive(Debug, Default)]
pub(crate) struct RefusalTexts(RefCell<BTreeMap<u64, String>>);

impl RefusalTexts {
    /// Keeps the text of a refusal.
    pub(crate) fn note(&self, failure: &SqlFailure) {
        let Some(text) = failure.text() else { return };
        let mut texts = self.0.borrow_mut();
        if texts.len() < MESSAGES_MAX {
            texts.entry(failure.operation().detail).or_insert_with(|| text.to_owned());
        }
    }

    /// Describes the failure of an operation.
    pub(crate) fn describe(&self, failure: &OperationFailure) -> String {
        let texts = self.0.borrow();
        describe(failure, texts.get(&failure.detail).map(String::as_str))
    }
}

/// A value that no column has where it stands.
pub(crate) const WRONG_VALUE: SqlFailure = SqlFailure::WrongResult(WRONG_COLUMN);

/// A failure of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SqlFailure {
    /// The server refused the statement.
    Refused(Refusal),
    /// The session has ended, or the server does not speak the protocol.
    Lost(OperationFailure),
    /// The result is not one that the statement can have, by its code.
    WrongResult(u64),
    /// The server asks for a way of authentication that we have not, of this name.
    OtherAuthentication(String),
    /// The server's answer says that a transaction was not committed, by its code. What is open then ends with the session.
    NotCommitted(u64),
}

/// The server's statement that it refuses something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) state: SqlStateCode,
    /// Whether the session ends with it.
    pub(crate) is_fatal: bool,
    pub(crate) message: String,
}

/// A SQLSTATE: five letters or digits. Of a server that sends other characters, those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SqlStateCode([u8; 5]);

impl SqlStateCode {
    /// A serialization failure, a deadlock, and a lock that another transaction did not give up in time: the transaction can be
    /// begun again.
    const CONFLICTS: [SqlStateCode; 3] =
        [SqlStateCode(*b"40001"), SqlStateCode(*b"40P01"), SqlStateCode(*b"55P03")];

    /// It is not known whether the statement was completed, and the statement was interrupted.
    const IN_DOUBT: [SqlStateCode; 2] = [SqlStateCode(*b"40003"), SqlStateCode(*b"70100")];

    /// The server has no connection left. PostgreSQL says so by a state of class 53, insufficient resources: too many
    /// connections, a full disk, no memory.
    const REJECTED: SqlStateCode = SqlStateCode(*b"08004");

    /// There is no such database.
    pub(crate) const NO_DATABASE: SqlStateCode = SqlStateCode(*b"3D000");

    /// The state of a statement that would change something where nothing may be changed.
    pub(crate) const READ_ONLY: SqlStateCode = SqlStateCode(*b"25006");

    /// Of prepared statements: there is one of this name, or there is none. The connection is another session's, too.
    const OF_OTHERS_STATEMENTS: [SqlStateCode; 2] = [SqlStateCode(*b"42P05"), SqlStateCode(*b"26000")];

    /// The state by which the stored procedure of `NewOrder` says that an item does not exist.
    pub(crate) const ROLLED_BACK: SqlStateCode = SqlStateCode(*b"OE001");

    pub(crate) fn of(text: &str) -> SqlStateCode {
        let mut code = [b'?'; 5];
        code.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        SqlStateCode(code)
    }

    /// Returns it as a number, from which [`SqlStateCode::of_number`] makes it again.
    pub(crate) fn number(self) -> u64 {
        self.0.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    pub(crate) fn of_number(number: u64) -> SqlStateCode {
        SqlStateCode(std::array::from_fn(|index| (number >> (8 * (4 - index))) as u8))
    }

    /// Returns the class as a number: that of its two digits, or 100 + 36·a + b where it has a letter, and A counts 10.
    pub(crate) fn class(self) -> u32 {
        let digit = |byte: u8| char::from(byte).to_digit(36);
        match (digit(self.0[0]), digit(self.0[1])) {
            (Some(a), Some(b)) if a < 10 && b < 10 => 10 * a + b,
            (Some(a), Some(b)) => 100 + 36 * a + b,
            _ => 0,
        }
    }

    pub(crate) fn text(self) -> String {
        self.0.iter().map(|byte| char::from(*byte)).filter(char::is_ascii_graphic).collect()
    }

    /// Returns whether it has the form of one.
    fn is_valid(self) -> bool {
        self.0.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    }
}

impl Refusal {
    /// Returns whether a transaction whose end was refused in this way may be committed all the same: the session or its
    /// connection ended meanwhile, of a pooler that to its server (class 08), or the server was interrupted, which MariaDB also
    /// says of a procedure that has committed.
    pub(crate) fn leaves_doubt(&self) -> bool {
        self.is_fatal || self.state.class() == 8 || SqlStateCode::IN_DOUBT.contains(&self.state)
    }
}

impl SqlFailure {
    /// The failure of a server that sends notices without end.
    pub(crate) fn notices() -> SqlFailure {
        SqlFailure::Lost(OperationFailure::new(Outcome::MalformedHead, NOTICES_WITHOUT_END))
    }

    /// The failure of a server whose bytes are not of the protocol.
    pub(crate) const fn malformed(code: u64) -> SqlFailure {
        SqlFailure::Lost(OperationFailure::new(Outcome::MalformedHead, code))
    }

    /// The failure of a connection.
    pub(crate) fn of_io(error: io::Error) -> SqlFailure {
        SqlFailure::Lost(OperationFailure::of_io(error))
    }

    /// The failure of a connection that has ended, between replies or within one.
    pub(crate) fn ended(is_between: bool) -> SqlFailure {
        let outcome = if is_between { Outcome::SessionLost } else { Outcome::Truncated };
        SqlFailure::Lost(OperationFailure::new(outcome, 0))
    }

    /// The failure of a session that the server has closed.
    pub(crate) fn closed() -> SqlFailure {
        SqlFailure::Lost(OperationFailure::new(Outcome::SessionLost, 0))
    }

    /// Returns whether another transaction was in the way, so that this one can be begun again with the same input.
    pub(crate) fn is_conflict(&self) -> bool {
        match self {
            SqlFailure::Refused(refusal) => {
                !refusal.is_fatal && SqlStateCode::CONFLICTS.contains(&refusal.state)
            }
            _ => false,
        }
    }

    /// Returns the failure as one after which a session is of no use, where the server has refused something.
    pub(crate) fn ending_session(self) -> SqlFailure {
        match self {
            SqlFailure::Refused(refusal) => SqlFailure::Refused(Refusal { is_fatal: true, ..refusal }),
            failure => failure,
        }
    }

    /// Returns whether the session is of no use any more.
    pub(crate) fn ends_session(&self) -> bool {
        match self {
            SqlFailure::Refused(refusal) => refusal.is_fatal,
            SqlFailure::Lost(_) | SqlFailure::OtherAuthentication(_) | SqlFailure::NotCommitted(_) => true,
            SqlFailure::WrongResult(_) => false,
        }
    }

    /// Describes the failure for people, with the server's own text where it has refused something.
    pub(crate) fn describe(&self) -> String {
        describe(&self.operation(), self.text())
    }

    /// Returns the server's own text.
    fn text(&self) -> Option<&str> {
        match self {
            SqlFailure::Refused(refusal) => Some(&refusal.message),
            SqlFailure::OtherAuthentication(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the failure of the transaction.
    pub(crate) fn operation(&self) -> OperationFailure {
        match self {
            SqlFailure::Refused(refusal) => {
                let is_busy = refusal.state.class() == 53 || refusal.state == SqlStateCode::REJECTED;
                let outcome = if is_busy { Outcome::Busy } else { Outcome::WrongStatus };
                OperationFailure::new(outcome, refusal.state.number())
            }
            SqlFailure::Lost(failure) => *failure,
            SqlFailure::OtherAuthentication(_) => {
                OperationFailure::new(Outcome::MalformedHead, OTHER_AUTHENTICATION)
            }
            SqlFailure::WrongResult(code) => OperationFailure::new(Outcome::WrongBytes, *code),
            SqlFailure::NotCommitted(code) => OperationFailure::new(Outcome::NotCommitted, *code),
        }
    }
}

impl From<OperationFailure> for SqlFailure {
    fn from(failure: OperationFailure) -> SqlFailure {
        SqlFailure::Lost(failure)
    }
}

/// Describes the failure of a transaction; `message` is the server's own text where it has refused something.
pub(crate) fn describe(failure: &OperationFailure, message: Option<&str>) -> String {
    let detail = failure.detail;
    match failure.outcome {
        Outcome::WrongStatus | Outcome::Busy => {
            let state = SqlStateCode::of_number(detail);
            let mut text = if state.is_valid() {
                format!("the database refused it with SQLSTATE {}", state.text())
            } else {
                "the database refused it without an SQLSTATE".to_owned()
            };
            if let Some(message) = message {
                let _ = write!(text, ": {}", languages::foreign_text(message));
            }
            if SqlStateCode::OF_OTHERS_STATEMENTS.contains(&state) {
                text +=
                    "; a pooler in between must keep a connection for each session (`pool_mode = session`)";
            }
            text
        }
        Outcome::SessionLost => "the database closed the session".to_owned(),
        Outcome::Truncated => "the connection ended within a reply".to_owned(),
        Outcome::MalformedHead if detail == NOTICES_WITHOUT_END => {
            "the database sends notices without end".to_owned()
        }
        Outcome::MalformedHead if detail == NO_PASSWORD => {
            "the database asks for a password, but none is given".to_owned()
        }
        Outcome::MalformedHead if detail == OTHER_AUTHENTICATION => match message {
            Some(name) => {
                let name = languages::foreign_text(name);
                format!("the database asks for authentication by `{name}`, which Plimsoll does not support")
            }
            None => {
                "the database asks for an authentication method that Plimsoll does not support".to_owned()
            }
        },
        Outcome::MalformedHead if detail == NOT_MARIADB => {
            "the server speaks MariaDB's protocol, but is not MariaDB".to_owned()
        }
        Outcome::MalformedHead if detail == NO_TLS => "the database offers no TLS".to_owned(),
        Outcome::MalformedHead if detail == CLEAR_PASSWORD => {
            "the database asks for the password in clear text, which others could read in transit".to_owned()
        }
        Outcome::NotCommitted => describe_not_committed(detail).to_owned(),
        Outcome::TlsFailed => "the TLS handshake failed".to_owned(),
        Outcome::MalformedHead => "the reply does not follow the database's protocol".to_owned(),
        Outcome::WrongBytes if detail == WRONG_COLUMN => {
            "a column of the result is missing, or has a value of another type".to_owned()
        }
        Outcome::WrongBytes if detail == WRONG_ROWS => "a row that the data must have is missing".to_owned(),
        Outcome::WrongBytes if detail == WRONG_PARAMETERS => {
            "the database expects other parameters for the statement than those given".to_owned()
        }
        Outcome::WrongBytes if detail == NO_SUCH_COLUMN => {
            "the rows lack a column named in `expect`".to_owned()
        }
        Outcome::WrongBytes => format!("the output does not fit the input (code {detail})"),
        _ => io::Error::from_raw_os_error(detail as i32).to_string(),
    }
}

/// Returns the code of a failed transaction: the class of its SQLSTATE, or the check that found it wrong. 0 without
/// one.
pub(crate) fn code(failure: &OperationFailure) -> u32 {
    match failure.outcome {
        Outcome::WrongStatus | Outcome::Busy => SqlStateCode::of_number(failure.detail).class(),
        Outcome::MalformedHead | Outcome::WrongBytes | Outcome::NotCommitted => {
            u32::try_from(failure.detail).unwrap_or(0)
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(state: &str, is_fatal: bool) -> SqlFailure {
        let state = SqlStateCode::of(state);
        SqlFailure::Refused(Refusal { state, is_fatal, message: "no".to_owned() })
    }

    /// By hand: A counts 10, so 0A is 100 + 0 + 10, and XX 100 + 36 · 33 + 33.
    #[test]
    fn codes_are_the_classes_of_the_state() {
        let class = |state| code(&refused(state, false).operation());
        assert_eq!(["40001", "40P01", "53300", "0A000", "XX000"].map(class), [40, 40, 53, 110, 1321]);
        assert_eq!(["", "4", "??"].map(class), [0, 0, 0], "no state");
    }

    #[test]
    fn conflicts_are_begun_again_and_keep_the_session() {
        for (state, is_conflict) in
            [("40001", true), ("40P01", true), ("55P03", true), ("40002", false), ("23505", false)]
        {
            assert_eq!(refused(state, false).is_conflict(), is_conflict, "{state}");
            let over = refused(state, false).ending_session();
            assert!(!over.is_conflict() && over.ends_session(), "{state}");
        }
        assert!(!refused("40P01", false).ends_session());
        assert!(refused("57P01", true).ends_session() && SqlFailure::closed().ends_session());
    }

    #[test]
    fn refusals_are_described_with_their_state_and_text() {
        let failure = refused("53300", true).operation();
        assert_eq!(failure.outcome, Outcome::Busy);
        let expected = "the database refused it with SQLSTATE 53300: too many\\u{1b}";
        assert_eq!(describe(&failure, Some("too many\u{1b}")), expected);
        let failure = refused("42P05", false).operation();
        assert!(describe(&failure, None).ends_with("for each session (`pool_mode = session`)"));
        let strange = SqlStateCode::of("4\u{7}0");
        assert_eq!(SqlStateCode::of_number(strange.number()).text(), "40??");
        for state in ["", "4\u{7}0", "42p05"] {
            let failure = refused(state, false).operation();
            assert_eq!(describe(&failure, Some("no")), "the database refused it without an SQLSTATE: no");
        }
    }
}
