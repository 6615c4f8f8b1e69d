//! The responses to a command.

use std::fmt;

use thiserror::Error;

use super::response::{ImapResponse, ImapStatus};

/// The most untagged responses to a command: a mailbox of a million messages has as many.
pub const UNTAGGED_MAX: u32 = 1_000_000;

/// The tag of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImapTag(pub u32);

impl ImapTag {
    /// Returns the tag of the next command.
    pub fn next(self) -> ImapTag {
        ImapTag(self.0.wrapping_add(1))
    }

    /// Returns whether a response has this tag.
    pub fn is(self, tag: &[u8]) -> bool {
        let Some(digits) = tag.strip_prefix(b"P") else { return false };
        let add = |value: u32, digit: &u8| {
            let digit = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
            value.checked_mul(10)?.checked_add(digit)
        };
        let is_written_so = matches!(digits, [b'0'] | [b'1'..=b'9', ..]);
        is_written_so && digits.iter().try_fold(0, add) == Some(self.0)
    }
}

impl fmt::Display for ImapTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", self.0)
    }
}

/// The progress of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeProgress {
    /// More responses come.
    More,
    /// The server awaits the rest of the command.
    Continue,
    /// The command has ended.
    Done(ImapStatus),
}

/// A response that a command cannot have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ExchangeFault {
    /// The server ends the connection.
    #[error("the server ended the session")]
    Bye,
    /// A response to another command.
    #[error("the response has the tag of no command that is performed")]
    AnotherTag,
    /// The server awaits the rest of a command that has none.
    #[error("the server awaits more of a command that is complete")]
    Continuation,
    /// Too many responses.
    #[error("more than {0} responses came without the end of the command")]
    TooManyResponses(u32),
    /// A greeting where none can be.
    #[error("a greeting came in the middle of a session")]
    PreAuth,
}

/// The responses to a command, as they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImapExchange {
    tag: ImapTag,
    /// The parts of the command that the server has to await.
    n_continuations: u32,
    is_logout: bool,
    n_untagged: u32,
    untagged_max: u32,
}

impl ImapExchange {
    /// Begins a command, of which the server has to await so many further parts: one for each literal, an answer to
    /// AUTHENTICATE, or IDLE.
    pub fn new(tag: ImapTag, n_continuations: u32) -> ImapExchange {
        let untagged_max = UNTAGGED_MAX;
        ImapExchange { tag, n_continuations, is_logout: false, n_untagged: 0, untagged_max }
    }

    /// Begins LOGOUT, to which the server says that it ends the connection.
    pub fn logout(tag: ImapTag) -> ImapExchange {
        ImapExchange { is_logout: true, ..ImapExchange::new(tag, 0) }
    }

    /// Takes fewer untagged responses than the standard.
    pub fn with_untagged_max(self, untagged_max: u32) -> ImapExchange {
        ImapExchange { untagged_max, ..self }
    }

    /// Takes a response.
    ///
    /// # Errors
    ///
    /// When the command cannot have it. The session is over.
    pub fn take(&mut self, response: &ImapResponse) -> Result<ExchangeProgress, ExchangeFault> {
        match response {
            ImapResponse::Tagged { tag, status, .. } if self.tag.is(tag) => {
                return Ok(ExchangeProgress::Done(*status));
            }
            ImapResponse::Tagged { .. } => return Err(ExchangeFault::AnotherTag),
            ImapResponse::Continuation(_) => {
                self.n_continuations =
                    self.n_continuations.checked_sub(1).ok_or(ExchangeFault::Continuation)?;
                return Ok(ExchangeProgress::Continue);
            }
            ImapResponse::Status { status: ImapStatus::Bye, .. } if !self.is_logout => {
                return Err(ExchangeFault::Bye);
            }
            ImapResponse::Status { status: ImapStatus::PreAuth, .. } => return Err(ExchangeFault::PreAuth),
            _ => {}
        }
        if self.untagged_max <= self.n_untagged {
            return Err(ExchangeFault::TooManyResponses(self.untagged_max));
        }
        self.n_untagged += 1;
        Ok(ExchangeProgress::More)
    }
}
