//! Load files as text again: the lines as they are replayed, with loops written out and handles by their slots.

use std::fmt;

use super::{LoadAction, LoadFile, LoadLine};
use crate::{Expectation, FileRange};

impl fmt::Display for LoadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| self.print(line, f))
    }
}

impl LoadFile {
    fn print(&self, line: &LoadLine, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |text: u32| Quoted(self.texts.get(text as usize).map_or("", |text| text));
        match line.action {
            LoadAction::Create { text, options, disposition, slot } => {
                write!(f, "NTCreateX {} {options:#x} {disposition:#x} {slot}", path(text))
            }
            LoadAction::Close(slot) => write!(f, "Close {slot}"),
            LoadAction::Read(slot, FileRange { offset, length }) => {
                write!(f, "ReadX {slot} {offset} {length} {length}")
            }
            LoadAction::Write(slot, FileRange { offset, length }) => {
                write!(f, "WriteX {slot} {offset} {length} {length}")
            }
            LoadAction::Rename(from, to) => write!(f, "Rename {} {}", path(from), path(to)),
            LoadAction::Unlink { text, attribute } => write!(f, "Unlink {} {attribute:#x}", path(text)),
            LoadAction::RemoveTree(text) => write!(f, "Deltree {}", path(text)),
            LoadAction::MakeFolder(text) => write!(f, "Mkdir {}", path(text)),
            LoadAction::RemoveFolder(text) => write!(f, "Rmdir {}", path(text)),
            LoadAction::PathQuery(text, level) => write!(f, "QUERY_PATH_INFORMATION {} {level}", path(text)),
            LoadAction::FileQuery(slot, level) => write!(f, "QUERY_FILE_INFORMATION {slot} {level}"),
            LoadAction::VolumeQuery(level) => write!(f, "QUERY_FS_INFORMATION {level}"),
            LoadAction::Set(slot, level) => write!(f, "SET_FILE_INFORMATION {slot} {level}"),
            LoadAction::Find { text, level, wanted, found } => {
                write!(f, "FIND_FIRST {} {level} {wanted} {found}", path(text))
            }
            LoadAction::Flush(slot) => write!(f, "Flush {slot}"),
            LoadAction::Lock(slot, FileRange { offset, length }) => {
                write!(f, "LockX {slot} {offset} {length}")
            }
            LoadAction::Unlock(slot, FileRange { offset, length }) => {
                write!(f, "UnlockX {slot} {offset} {length}")
            }
            LoadAction::NotBefore(at) => {
                // In the line of its operation.
                return write!(f, "{}.{:09} ", at.0 / 1_000_000_000, at.0 % 1_000_000_000);
            }
            LoadAction::Sleep(time) => write!(f, "Sleep {}", time.0 / 1000),
        }?;
        writeln!(f, " {}", status(line.expected))
    }
}

/// A path in quotes, with `\` before each part.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"\\{}\"", self.0.replace('/', "\\"))
    }
}

fn status(expected: Expectation) -> &'static str {
    match expected {
        Expectation::Success => "NT_STATUS_OK",
        Expectation::Failure => "NT_STATUS_UNSUCCESSFUL",
        Expectation::Any => "*",
    }
}
