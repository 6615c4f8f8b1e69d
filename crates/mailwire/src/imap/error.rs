//! The reasons for which replies are refused.

use thiserror::Error;

/// A reply that cannot be read. Nothing that follows on the connection can be read, either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ImapError {
    /// A line, with the literals that belong to it, is too long.
    #[error("a line is longer than {0} bytes")]
    LineTooLong(usize),
    /// A literal is announced that is too long.
    #[error("a literal of {announced} bytes is announced, where at most {most} are taken")]
    LiteralTooLong {
        /// The number of bytes.
        announced: u64,
        /// The most that are taken.
        most: u64,
    },
    /// The length of a literal is no number that fits.
    #[error("the length of a literal is no number")]
    LiteralLength,
    /// A line ends with a line feed alone.
    #[error("a line ends without a carriage return")]
    BareLineFeed,
    /// A byte that no line has.
    #[error("a line has the byte {0:#04x}")]
    ForbiddenByte(u8),
    /// A part of a line is not there or not what it must be.
    #[error("{0} is expected, and something else was found")]
    Malformed(&'static str),
    /// A number does not fit.
    #[error("a number is larger than numbers can be")]
    NumberTooLarge,
    /// Lists are within lists too deep.
    #[error("lists are more than {0} deep")]
    TooDeep(usize),
}
