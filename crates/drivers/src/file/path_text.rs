//! Paths as text.

use std::fmt::Write;
use std::sync::Arc;

use files::{FilePath, LoadFile};

/// The folder of the files of captured mixes, whose paths may begin with any name.
pub(crate) const CAPTURED_FOLDER: &str = "captured";

/// A writer of paths as text: relative to the folder of the run, with `/` between their parts. The text is kept until the
/// next one, in a buffer that is used again.
#[derive(Debug)]
pub(crate) struct PathText {
    load: Option<Arc<LoadFile>>,
    text: String,
}

impl PathText {
    /// Makes a writer of the paths of a population, and of those of a captured mix.
    pub(crate) fn new(load: Option<Arc<LoadFile>>) -> PathText {
        PathText { load, text: String::new() }
    }

    /// Writes a path and returns its text. A captured path without its mix is the folder of all captured paths.
    pub(crate) fn write(&mut self, path: FilePath) -> &str {
        self.text.clear();
        match (path, &self.load) {
            (FilePath::Captured(captured), load) => {
                self.text.push_str(CAPTURED_FOLDER);
                if let Some(load) = load {
                    self.text.push('/');
                    load.path(captured, &mut self.text);
                    if self.text.ends_with('/') {
                        self.text.pop();
                    }
                }
            }
            (FilePath::Populated(populated), _) => {
                // A text grows without an error.
                let _ = write!(self.text, "{populated}");
            }
        }
        &self.text
    }

    /// Returns the text of a path, for people.
    pub(crate) fn text_of(&self, path: FilePath) -> String {
        let mut other = PathText::new(self.load.clone());
        other.write(path);
        other.text
    }
}

/// Splits a path at its last part. The folder of one that has only one part is `.`.
pub(crate) fn split(text: &str) -> (&str, &str) {
    text.rsplit_once('/').unwrap_or((".", text))
}

#[cfg(test)]
mod tests {
    use files::{CapturedPath, Entry, Folder, Owner};

    use super::*;

    #[test]
    fn populated_and_captured_paths_are_in_folders_of_their_own() {
        let load =
            "NTCreateX \"\\clients\\client1\\a b\" 0x40 2 1 NT_STATUS_OK\nDeltree \"\\\" NT_STATUS_OK\n";
        let load = Arc::new(LoadFile::read(load.as_bytes()).unwrap());
        let mut text = PathText::new(Some(load));
        let captured = |text| FilePath::Captured(CapturedPath { client: 12, text });
        assert_eq!(text.write(captured(0)), "captured/clients/client12/a b");
        assert_eq!(text.write(captured(1)), "captured");
        let populated = FilePath::new(Owner::Client(3), Folder::Bulk, Entry::File(1));
        assert_eq!(text.write(populated), "private/c3/bulk/f00001.bin");
        assert_eq!(split(text.write(populated)), ("private/c3/bulk", "f00001.bin"));
        assert_eq!(split("shared"), (".", "shared"));
        assert_eq!(PathText::new(None).write(captured(0)), "captured");
    }
}
