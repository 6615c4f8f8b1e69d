//! The server's refusals.

use super::message::{Content, MALFORMED};
use crate::database::failure::{Refusal, SqlFailure, SqlStateCode};

// Fields of a refusal. Source: the documentation of PostgreSQL 15, "Error and Notice Message Fields".
const SEVERITY: u8 = b'V';
/// The severity in the language of the server.
const LOCAL_SEVERITY: u8 = b'S';
const STATE: u8 = b'C';
const MESSAGE: u8 = b'M';

/// Reads a refusal: fields with a letter each, and a zero at the end.
///
/// # Errors
/// It has no severity, state or message, which every refusal has.
pub(super) fn refusal(content: &[u8]) -> Result<Refusal, SqlFailure> {
    let mut content = Content(content);
    let mut severity = None;
    let mut local_severity = None;
    let mut state = None;
    let mut message = None;
    loop {
        match content.byte()? {
            0 => break,
            SEVERITY => severity = Some(content.text()?),
            LOCAL_SEVERITY => local_severity = Some(content.text()?),
            STATE => state = Some(content.text()?),
            MESSAGE => message = Some(content.text()?),
            _ => drop(content.text()?),
        }
    }
    content.end()?;
    let severity = severity.or(local_severity).ok_or(MALFORMED)?;
    Ok(Refusal {
        state: SqlStateCode::of(&state.ok_or(MALFORMED)?),
        is_fatal: severity != "ERROR",
        message: message.ok_or(MALFORMED)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_state_and_message() {
        let found = refusal(b"SFEHLER\0VERROR\0C40001\0Mcannot serialize\0Hretry\0\0").unwrap();
        assert_eq!(found.state, SqlStateCode::of("40001"));
        assert_eq!((found.message.as_str(), found.is_fatal), ("cannot serialize", false));
        // Servers before 9.6 say the severity in their language only.
        let found = refusal(b"SFATAL\0C57P01\0Mterminating\0\0").unwrap();
        assert!(found.is_fatal);
    }

    #[test]
    fn what_every_refusal_has_must_be_there() {
        for content in
            [&b"\0"[..], b"", b"SERROR\0C40001\0\0", b"SERROR\0C40001\0Mcut", b"VERROR\0Mno state\0\0"]
        {
            assert_eq!(refusal(content), Err(MALFORMED), "{content:?}");
        }
    }
}
