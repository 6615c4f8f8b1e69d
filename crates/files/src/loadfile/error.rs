//! The mistakes of load files: each with its line, and a remedy.

use thiserror::Error;

use super::line::{LINE_BYTES_MAX, OPERATIONS, TOKENS_MAX};
use super::{HANDLES_MAX, LINES_MAX, LOOPS_MAX, PATHS_MAX, REQUEST_BYTES_MAX};

/// A load file that cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct LoadFileError {
    /// The line, from 1. For what concerns the whole file, the last one.
    pub line: u64,
    /// The mistake.
    pub problem: LoadProblem,
}

/// A mistake in a load file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LoadProblem {
    /// Reading failed, or decompression.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
    /// There are bytes that are no text.
    #[error("expected text, found other bytes")]
    NotText,
    /// The line is too long.
    #[error("expected at most {LINE_BYTES_MAX} characters in a line, found more")]
    LineTooLong,
    /// The line has too many parts.
    #[error("expected at most {TOKENS_MAX} parts in a line, found more")]
    TooManyParts,
    /// The file has too many lines, or its loops would make too many.
    #[error("expected at most {LINES_MAX} lines, with loops written out, found more")]
    TooManyLines,
    /// The file has too many paths.
    #[error("expected at most {PATHS_MAX} different paths, found more")]
    TooManyPaths,
    /// There is no operation.
    #[error("expected operations, found none")]
    NoOperations,
    /// The first version of load files.
    #[error("`{0}` is an operation of load files of version 1")]
    Version1(String),
    /// Load files for NFS.
    #[error("`{0}` is an operation of NFS")]
    Nfs(String),
    /// An operation that does not exist.
    #[error("unknown operation `{0}`")]
    UnknownOperation(String),
    /// A directive that is not supported.
    #[error("the directive `{0}` is not supported")]
    Directive(String),
    /// A loop that does not begin, or does not end, or is too deep.
    #[error("`LOOP` and `ENDLOOP` do not fit, or more than {LOOPS_MAX} loops are in each other")]
    Loops,
    /// A repetition of nothing.
    #[error("`{0}` has a number of at least 1")]
    NoTurns(String),
    /// A repetition that closes a handle without opening it again.
    #[error("the second turn uses a handle that the first has closed")]
    ClosedInLoop,
    /// The operation has another number of arguments.
    #[error("`{operation}` has {expected} arguments before the status, found {found}")]
    Arguments {
        /// The operation.
        operation: &'static str,
        /// The number of its arguments.
        expected: usize,
        /// The number that the line has.
        found: usize,
    },
    /// A word instead of a number.
    #[error("expected a number, found `{0}`")]
    NotANumber(String),
    /// A number beyond what is possible.
    #[error("expected a number from 0 to {most}, found `{found}`")]
    NumberOutside {
        /// The number, as written.
        found: String,
        /// The greatest that is possible.
        most: u64,
    },
    /// A path that is none, or that leads out.
    #[error(r#"expected a path such as "\clients\client1\file", found `{0}`"#)]
    BadPath(String),
    /// A handle that is not open.
    #[error("the handle {0} is not open")]
    HandleNotOpen(i64),
    /// Too many handles are open.
    #[error("expected at most {HANDLES_MAX} open handles, found more")]
    TooManyHandles,
    /// A write that did not write all.
    #[error("expected a write of which all {expected} bytes were written, found {found}")]
    PartialWrite {
        /// The bytes to be written.
        expected: u64,
        /// The bytes that were.
        found: u64,
    },
}

impl LoadProblem {
    /// Returns the remedy, as a line of help.
    pub fn hint(&self) -> String {
        match self {
            LoadProblem::Unreadable(_) => "give a load file as text, or compressed by gzip".to_owned(),
            LoadProblem::NotText => "save the file as UTF-8".to_owned(),
            LoadProblem::LineTooLong | LoadProblem::TooManyParts => {
                "is this a load file of dbench? write one operation on each line".to_owned()
            }
            LoadProblem::TooManyLines | LoadProblem::TooManyPaths => {
                "cut the load file: it is repeated until the time is up".to_owned()
            }
            LoadProblem::NoOperations => "give a file with lines such as `Close 1 NT_STATUS_OK`".to_owned(),
            LoadProblem::Version1(_) => "use the load file of dbench 4, `client.txt`".to_owned(),
            LoadProblem::Nfs(_) => {
                "use a load file of file operations: they are mapped to NFS where the transport is NFS".to_owned()
            }
            LoadProblem::UnknownOperation(_) => format!("known operations: {}", known_operations()),
            LoadProblem::Directive(_) => {
                "write the operations out; `REPEAT`, `LOOP` and `SLEEP` are supported".to_owned()
            }
            LoadProblem::Loops => "end each `LOOP n` with `ENDLOOP`".to_owned(),
            LoadProblem::NoTurns(_) => "remove what is not to be performed".to_owned(),
            LoadProblem::ClosedInLoop => "open in each turn what the turn closes".to_owned(),
            LoadProblem::Arguments { .. } => "compare the line with others of this operation".to_owned(),
            LoadProblem::NotANumber(_) => {
                "write a decimal, octal (`017`) or hexadecimal (`0x1f`) number; the modifiers of dbench 5 are not \
                 supported"
                    .to_owned()
            }
            LoadProblem::NumberOutside { .. } => {
                format!("offsets are below 2^63, and requests have at most {REQUEST_BYTES_MAX} bytes")
            }
            LoadProblem::BadPath(_) => {
                r"begin the path with `\`, put it in quotes, and leave `..` and `/` out of it".to_owned()
            }
            LoadProblem::HandleNotOpen(_) => {
                "add the `NTCreateX` that opens it, with `NT_STATUS_OK`, or remove the line".to_owned()
            }
            LoadProblem::TooManyHandles => "add the missing `Close` lines".to_owned(),
            LoadProblem::PartialWrite { .. } => "write the same number twice, or remove the line".to_owned(),
        }
    }
}

fn known_operations() -> String {
    let names: Vec<&str> = OPERATIONS.iter().map(|known| known.name).collect();
    names.join(", ")
}
