//! The sizes of a client's files in the course of a load file, if every operation has the result that it must have.

use super::HANDLES_MAX;
use crate::{CapturedPath, ExistingFile, Expectation, FileAction, FileOperation, FilePath, Handle};

/// The sizes of files by the indexes of their paths, and the most that they had together.
pub(super) struct FileSizes<'a> {
    texts: &'a [Box<str>],
    /// The size of the file at each path, 0 where there is none.
    sizes: Vec<u64>,
    /// The path of what is open in each slot.
    open: [Option<usize>; HANDLES_MAX],
    sum: u64,
    pub(super) most: u64,
}

impl FileSizes<'_> {
    /// Makes the sizes of no files at these paths.
    pub(super) fn new(texts: &[Box<str>]) -> FileSizes<'_> {
        FileSizes { texts, sizes: vec![0; texts.len()], open: [None; HANDLES_MAX], sum: 0, most: 0 }
    }

    /// Follows an operation.
    pub(super) fn follow(&mut self, operation: &FileOperation) {
        if operation.expected == Expectation::Failure {
            return;
        }
        if let (Some(Handle(slot)), [Some(path), _]) = (operation.opens(), operation.paths()) {
            self.open[usize::from(slot)] = index(path);
        }
        match operation.action {
            FileAction::Create(_, path, ExistingFile::Truncate) => self.set(index(path), 0),
            FileAction::Write(Handle(slot), range) => {
                let at = self.open[usize::from(slot)];
                let end = range.offset.saturating_add(range.length);
                self.set(at, at.map_or(0, |at| self.sizes[at].max(end)));
            }
            FileAction::Unlink(path) => self.set(index(path), 0),
            FileAction::Rename(from, to) => {
                let size = index(from).map_or(0, |at| self.sizes[at]);
                self.set(index(from), 0);
                self.set(index(to), size);
                for open in self.open.iter_mut().filter(|open| open.is_some() && **open == index(from)) {
                    *open = index(to);
                }
            }
            FileAction::RemoveTree(path) => self.remove_tree(path),
            _ => {}
        }
    }

    /// Gives the file at a path a size.
    fn set(&mut self, at: Option<usize>, size: u64) {
        let Some(at) = at else { return };
        let before = std::mem::replace(&mut self.sizes[at], size);
        self.sum = self.sum.saturating_sub(before).saturating_add(size);
        self.most = self.most.max(self.sum);
    }

    fn remove_tree(&mut self, path: FilePath) {
        let Some(at) = index(path) else { return };
        let folder = &self.texts[at];
        let is_below = |text: &str| {
            text.strip_prefix(&**folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/'))
        };
        for at in (0..self.texts.len()).filter(|at| is_below(&self.texts[*at])).collect::<Vec<_>>() {
            self.set(Some(at), 0);
        }
    }
}

/// Returns the index of a captured path.
fn index(path: FilePath) -> Option<usize> {
    match path {
        FilePath::Captured(CapturedPath { text, .. }) => usize::try_from(text).ok(),
        FilePath::Populated(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::LoadFile;

    /// By hand: files of 100 and 200 bytes, both there together unless the first is gone before the second is made.
    #[test]
    fn the_most_that_files_have_together_is_followed() {
        let of = |lines: &[&str]| {
            let text: String = lines.iter().map(|line| format!("{line} NT_STATUS_OK\n")).collect();
            LoadFile::read(text.as_bytes()).unwrap().summary().file_bytes_max
        };
        let write = [r#"NTCreateX "\a\one" 0x40 2 1"#, "WriteX 1 90 10 10", "Close 1"];
        let other = [r#"NTCreateX "\a\two" 0x40 5 1"#, "WriteX 1 0 200 200", "Close 1"];
        assert_eq!(of(&write), 100);
        assert_eq!(of(&[&write[..], &other].concat()), 300);
        assert_eq!(of(&[&other[..], &other].concat()), 200, "it was cut");
        assert_eq!(of(&[&write[..], &[r#"Unlink "\a\one" 0"#], &other].concat()), 200);
        assert_eq!(of(&[&write[..], &[r#"Rename "\a\one" "\a\two""#], &other].concat()), 200);
        assert_eq!(of(&[&write[..], &[r#"Deltree "\a""#], &other].concat()), 200);
        assert_eq!(of(&[&write[..], &[r#"Deltree "\a\on""#], &other].concat()), 300);
    }
}
