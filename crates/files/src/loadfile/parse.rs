//! Reading of load files.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::line::{self, LINE_BYTES_MAX, Line, OperationLine, OperationName};
use super::{
    CLIENT, HANDLES_MAX, LINES_MAX, LOOPS_MAX, LoadAction, LoadFile, LoadFileError, LoadLine, LoadProblem,
    OpenSlots, PATHS_MAX, REQUEST_BYTES_MAX,
};
use crate::{Expectation, FileRange, Handle};

/// The first bytes of what gzip has compressed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The most that an offset can be, and the end of a range.
const OFFSET_MAX: u64 = i64::MAX as u64;

/// Reads a load file.
pub(super) fn read(mut source: impl BufRead) -> Result<LoadFile, LoadFileError> {
    let begin = source.fill_buf().map_err(|error| LoadFileError { line: 1, problem: unreadable(&error) })?;
    if begin.starts_with(&GZIP) {
        read_text(BufReader::new(MultiGzDecoder::new(source)))
    } else {
        read_text(source)
    }
}

fn read_text(mut source: impl BufRead) -> Result<LoadFile, LoadFileError> {
    let mut parser = Parser::default();
    let mut bytes = Vec::with_capacity(LINE_BYTES_MAX + 1);
    let mut number = 0;
    loop {
        bytes.clear();
        number += 1;
        let at_line = |problem| LoadFileError { line: number, problem };
        // One byte more than the longest line with its end: enough to see that a line is too long.
        let limit = LINE_BYTES_MAX as u64 + 2;
        let read = source.by_ref().take(limit).read_until(b'\n', &mut bytes);
        if read.map_err(|error| at_line(unreadable(&error)))? == 0 {
            return parser.finish().map_err(at_line);
        }
        if 2 * LINES_MAX as u64 <= number {
            return Err(at_line(LoadProblem::TooManyLines));
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        if LINE_BYTES_MAX < text.len() {
            return Err(at_line(LoadProblem::LineTooLong));
        }
        let text = std::str::from_utf8(text).map_err(|_| at_line(LoadProblem::NotText))?;
        parser.line(text).map_err(at_line)?;
    }
}

fn unreadable(error: &io::Error) -> LoadProblem {
    LoadProblem::Unreadable(error.to_string())
}

/// A parser of load files, with what the lines so far have opened.
#[derive(Debug, Default)]
struct Parser {
    lines: Vec<LoadLine>,
    texts: HashMap<Box<str>, u32>,
    n_skipped: u64,
    /// Open handles, by their numbers in the file.
    slots: HashMap<i64, u8>,
    /// The number of times that the next line is repeated.
    repeat: Option<u64>,
    /// Loops that have begun: the first line and the number of times.
    loops: Vec<(usize, u64)>,
}

impl Parser {
    fn line(&mut self, text: &str) -> Result<(), LoadProblem> {
        match line::parts(text)? {
            Line::Nothing => {}
            Line::Skipped => self.n_skipped += 1,
            Line::Repeat(count) => self.repeat = Some(count),
            Line::Loop(_) if self.loops.len() == LOOPS_MAX => return Err(LoadProblem::Loops),
            Line::Loop(count) => self.loops.push((self.lines.len(), count)),
            Line::LoopEnd => self.end_loop()?,
            Line::Sleep(time) => {
                let count = self.repeat.take().unwrap_or(1);
                self.add(LoadLine::pause(LoadAction::Sleep(time)), count)?;
            }
            Line::Operation(operation) => {
                let action = self.action(&operation)?;
                // The time is not repeated with its operation.
                if let Some(at) = operation.at {
                    self.add(LoadLine::pause(LoadAction::NotBefore(at)), 1)?;
                }
                let count = self.repeat.take().unwrap_or(1);
                self.add(LoadLine { action, expected: operation.expected }, count)?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<LoadFile, LoadProblem> {
        if !self.loops.is_empty() {
            return Err(LoadProblem::Loops);
        }
        if self.lines.iter().all(|line| line.operation(0).is_none()) {
            return Err(LoadProblem::NoOperations);
        }
        let mut texts: Vec<(u32, Box<str>)> =
            self.texts.into_iter().map(|(text, index)| (index, text)).collect();
        texts.sort_unstable_by_key(|(index, _)| *index);
        let mut lines = self.lines;
        lines.shrink_to_fit();
        let texts: Vec<Box<str>> = texts.into_iter().map(|(_, text)| text).collect();
        let are_shared = texts.iter().map(|text| !text.contains(CLIENT)).collect();
        Ok(LoadFile { lines, texts, are_shared, n_skipped: self.n_skipped })
    }

    /// Adds a line, so many times.
    fn add(&mut self, line: LoadLine, count: u64) -> Result<(), LoadProblem> {
        let first = self.lines.len();
        self.lines.push(line);
        self.turn_again(first, count)
    }

    fn end_loop(&mut self) -> Result<(), LoadProblem> {
        let (first, count) = self.loops.pop().ok_or(LoadProblem::Loops)?;
        self.turn_again(first, count)
    }

    /// Writes the lines from the first on out, so that they are there so many times.
    fn turn_again(&mut self, first: usize, count: u64) -> Result<(), LoadProblem> {
        let turn = first..self.lines.len();
        let n_lines = count.saturating_mul(turn.len() as u64);
        if ((LINES_MAX - first) as u64) < n_lines {
            return Err(LoadProblem::TooManyLines);
        }
        if 1 < count && !self.can_turn_again(first) {
            return Err(LoadProblem::ClosedInLoop);
        }
        while self.lines.len() - first < n_lines as usize {
            self.lines.extend_from_within(turn.clone());
        }
        Ok(())
    }

    /// Returns whether the lines from the first on can be performed once more: each handle that they use is open. What
    /// holds for the second turn holds for all after it.
    fn can_turn_again(&self, first: usize) -> bool {
        let mut open = OpenSlots::new();
        self.slots.values().for_each(|slot| open.set(Handle((*slot).into()), true));
        self.lines[first..].iter().filter_map(|line| line.operation(0)).all(|operation| {
            let is_right = operation.uses().is_none_or(|handle| open.contains(handle));
            open.follow(&operation);
            is_right
        })
    }

    fn action(&mut self, line: &OperationLine) -> Result<LoadAction, LoadProblem> {
        let arguments = &line.arguments;
        Ok(match line.operation {
            OperationName::Create => {
                let text = self.text(arguments[0])?;
                let options = u32_of(arguments[1])?;
                let disposition = line::below(arguments[2], 5)? as u8;
                let slot = self.opened(line::number(arguments[3])?, line.expected)?;
                LoadAction::Create { text, options, disposition, slot }
            }
            OperationName::Close => {
                let handle = line::number(arguments[0])?;
                let slot = self.slot(arguments[0])?;
                self.slots.remove(&handle);
                LoadAction::Close(slot)
            }
            OperationName::Read => {
                let range = range(arguments, REQUEST_BYTES_MAX)?;
                let slot = self.slot(arguments[0])?;
                line::below(arguments[3], REQUEST_BYTES_MAX)?;
                LoadAction::Read(slot, range)
            }
            OperationName::Write => {
                let range = range(arguments, REQUEST_BYTES_MAX)?;
                let slot = self.slot(arguments[0])?;
                let found = line::below(arguments[3], REQUEST_BYTES_MAX)?;
                if found != range.length && line.expected == Expectation::Success {
                    return Err(LoadProblem::PartialWrite { expected: range.length, found });
                }
                LoadAction::Write(slot, range)
            }
            OperationName::Rename => LoadAction::Rename(self.text(arguments[0])?, self.text(arguments[1])?),
            OperationName::Unlink => {
                LoadAction::Unlink { text: self.text(arguments[0])?, attribute: u32_of(arguments[1])? }
            }
            OperationName::RemoveTree => LoadAction::RemoveTree(self.text(arguments[0])?),
            OperationName::MakeFolder => LoadAction::MakeFolder(self.text(arguments[0])?),
            OperationName::RemoveFolder => LoadAction::RemoveFolder(self.text(arguments[0])?),
            OperationName::PathQuery => LoadAction::PathQuery(self.text(arguments[0])?, level(arguments[1])?),
            OperationName::FileQuery => LoadAction::FileQuery(self.slot(arguments[0])?, level(arguments[1])?),
            OperationName::VolumeQuery => LoadAction::VolumeQuery(level(arguments[0])?),
            OperationName::Set => LoadAction::Set(self.slot(arguments[0])?, level(arguments[1])?),
            OperationName::Find => LoadAction::Find {
                text: self.text(arguments[0])?,
                level: level(arguments[1])?,
                wanted: u32_of(arguments[2])?,
                found: u32_of(arguments[3])?,
            },
            OperationName::Flush => LoadAction::Flush(self.slot(arguments[0])?),
            OperationName::Lock => LoadAction::Lock(self.slot(arguments[0])?, range(arguments, OFFSET_MAX)?),
            OperationName::Unlock => {
                LoadAction::Unlock(self.slot(arguments[0])?, range(arguments, OFFSET_MAX)?)
            }
            OperationName::Sleep => LoadAction::Sleep(line::micros(arguments[0])?),
        })
    }

    /// Returns the index of a path.
    fn text(&mut self, argument: &str) -> Result<u32, LoadProblem> {
        let text = line::path(argument)?;
        if let Some(index) = self.texts.get(text.as_str()) {
            return Ok(*index);
        }
        if self.texts.len() == PATHS_MAX {
            return Err(LoadProblem::TooManyPaths);
        }
        let index = self.texts.len() as u32;
        self.texts.insert(text.into(), index);
        Ok(index)
    }

    /// Returns the slot that a handle is opened into: its own, if it is open, else the first that is free. What must
    /// fail opens none.
    fn opened(&mut self, handle: i64, expected: Expectation) -> Result<u8, LoadProblem> {
        if expected == Expectation::Failure {
            return Ok(0);
        }
        if let Some(slot) = self.slots.get(&handle) {
            return Ok(*slot);
        }
        let is_free = |slot: &u8| !self.slots.values().any(|used| used == slot);
        let slot = (0..HANDLES_MAX as u8).find(is_free).ok_or(LoadProblem::TooManyHandles)?;
        self.slots.insert(handle, slot);
        Ok(slot)
    }

    fn slot(&self, argument: &str) -> Result<u8, LoadProblem> {
        let handle = line::number(argument)?;
        self.slots.get(&handle).copied().ok_or(LoadProblem::HandleNotOpen(handle))
    }
}

fn u32_of(text: &str) -> Result<u32, LoadProblem> {
    Ok(line::below(text, u32::MAX.into())? as u32)
}

fn level(text: &str) -> Result<u16, LoadProblem> {
    Ok(line::below(text, u16::MAX.into())? as u16)
}

/// Returns the range of a read, a write or a lock, with at most so many bytes. It ends below 2⁶³.
fn range(arguments: &[&str], length_max: u64) -> Result<FileRange, LoadProblem> {
    let offset = line::below(arguments[1], OFFSET_MAX)?;
    let length = line::below(arguments[2], length_max)?;
    if OFFSET_MAX - offset < length {
        let most = OFFSET_MAX - length;
        return Err(LoadProblem::NumberOutside { found: arguments[1].to_owned(), most });
    }
    Ok(FileRange { offset, length })
}
