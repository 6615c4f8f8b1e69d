//! The files that a client has created in a cycle, until they are deleted.

use units::Rng;

use super::tables::LASTING_OPERATIONS;
use crate::{Entry, FilePath, Folder, Owner};

/// A file that a client has created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CreatedFile {
    /// Its number among all that the client creates.
    pub(super) number: u32,
    pub(super) is_renamed: bool,
}

impl CreatedFile {
    pub(super) fn new(number: u32) -> CreatedFile {
        CreatedFile { number, is_renamed: false }
    }

    /// Returns its path now.
    pub(super) fn path(self, client: u32) -> FilePath {
        let entry = if self.is_renamed { Entry::Renamed(self.number) } else { Entry::File(self.number) };
        FilePath::new(Owner::Client(client), Folder::Created, entry)
    }

    /// Returns the same file under its other name.
    pub(super) fn renamed(self) -> CreatedFile {
        CreatedFile { is_renamed: !self.is_renamed, ..self }
    }
}

/// A file that lasts for some transactions.
#[derive(Debug, Clone, Copy)]
struct LastingFile {
    file: CreatedFile,
    /// Whether it is still to be filled; it is not deleted before.
    is_to_fill: bool,
    /// The operations of the cycle after which it is deleted.
    due: u32,
}

/// The files that last, in the order of their creation.
#[derive(Debug, Clone, Default)]
pub(super) struct LastingFiles {
    files: Vec<LastingFile>,
}

impl LastingFiles {
    /// Adds a file that was created when the cycle had so many operations.
    pub(super) fn add(&mut self, file: CreatedFile, is_to_fill: bool, n_operations: u32) {
        self.files.push(LastingFile { file, is_to_fill, due: n_operations + LASTING_OPERATIONS });
    }

    /// Returns whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns whether one is still to be filled.
    pub(super) fn has_one_to_fill(&self) -> bool {
        self.files.iter().any(|lasting| lasting.is_to_fill)
    }

    /// Takes the oldest of those that are still to be filled off their list, and returns it.
    pub(super) fn fill(&mut self) -> Option<CreatedFile> {
        let lasting = self.files.iter_mut().find(|lasting| lasting.is_to_fill)?;
        lasting.is_to_fill = false;
        Some(lasting.file)
    }

    /// Chooses a file.
    pub(super) fn choose(&self, rng: &mut Rng) -> Option<CreatedFile> {
        Some(self.files.get(rng.index(self.files.len()))?.file)
    }

    /// Notes that a file has its other name.
    pub(super) fn rename(&mut self, number: u32) {
        if let Some(lasting) = self.files.iter_mut().find(|lasting| lasting.file.number == number) {
            lasting.file = lasting.file.renamed();
        }
    }

    /// Removes a file that is due. If renames are still to come, the last one stays for them.
    pub(super) fn take_due(&mut self, n_operations: u32, has_renames_to_come: bool) -> Option<CreatedFile> {
        if self.files.len() == 1 && has_renames_to_come {
            return None;
        }
        let is_due = |lasting: &LastingFile| !lasting.is_to_fill && lasting.due <= n_operations;
        let index = self.files.iter().position(is_due)?;
        Some(self.files.remove(index).file)
    }

    /// Removes a file, at the end of the cycle.
    pub(super) fn take_any(&mut self) -> Option<CreatedFile> {
        Some(self.files.pop()?.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_deleted_when_due_but_not_before_they_are_filled() {
        let mut lasting = LastingFiles::default();
        lasting.add(CreatedFile::new(0), true, 10);
        lasting.add(CreatedFile::new(1), false, 20);
        assert_eq!(lasting.take_due(919, false), None);
        assert_eq!(lasting.take_due(920, false), Some(CreatedFile::new(1)));
        assert_eq!(lasting.take_due(2000, false), None);
        assert_eq!((lasting.fill(), lasting.fill()), (Some(CreatedFile::new(0)), None));
        assert_eq!(lasting.take_due(2000, true), None);
        lasting.rename(0);
        assert_eq!(lasting.take_due(2000, false), Some(CreatedFile { number: 0, is_renamed: true }));
        assert!(lasting.is_empty());
    }
}
