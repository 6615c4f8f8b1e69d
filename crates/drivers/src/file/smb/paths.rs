//! Paths as the server reads them: from the share on, with `\` between their parts.

use files::FilePath;

use crate::file::path_text::{CAPTURED_FOLDER, PathText, split};

/// A writer of paths below the folder of a run. Texts are kept until the next ones, in buffers that are used again.
#[derive(Debug)]
pub(super) struct SmbPaths {
    relative: PathText,
    /// The folder of the run; empty if that is the share.
    folder: String,
    first: String,
    second: String,
}

impl SmbPaths {
    /// Makes a writer of paths below a folder.
    pub(super) fn new(relative: PathText, folder: String) -> SmbPaths {
        SmbPaths { relative, folder, first: String::new(), second: String::new() }
    }

    /// Returns the folder of the run.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// Writes a path.
    pub(super) fn of_server(&mut self, path: FilePath) -> &str {
        write(&self.folder, self.relative.write(path), &mut self.first);
        &self.first
    }

    /// Returns whether a path is the folder of all captured paths, which is the share of their mix.
    pub(super) fn is_all_captured(&mut self, path: FilePath) -> bool {
        self.relative.write(path) == CAPTURED_FOLDER
    }

    /// Writes two paths.
    pub(super) fn two_of_server(&mut self, one: FilePath, other: FilePath) -> (&str, &str) {
        write(&self.folder, self.relative.write(one), &mut self.first);
        write(&self.folder, self.relative.write(other), &mut self.second);
        (&self.first, &self.second)
    }

    /// Writes the folder of a search, and the pattern, which is the last part of the path.
    pub(super) fn folder_and_pattern(&mut self, path: FilePath) -> (&str, &str) {
        let (folder, pattern) = split(self.relative.write(path));
        write(&self.folder, folder, &mut self.first);
        self.second.clear();
        self.second.push_str(pattern);
        (&self.first, &self.second)
    }
}

/// Writes a path with `/` between its parts below a folder; `.` is the folder itself.
pub(super) fn write(folder: &str, path: &str, text: &mut String) {
    text.clear();
    text.push_str(folder);
    if path == "." || path.is_empty() {
        return;
    }
    if !folder.is_empty() {
        text.push('\\');
    }
    text.extend(path.chars().map(|c| if c == '/' { '\\' } else { c }));
}

#[cfg(test)]
mod tests {
    use files::{Entry, Folder, Owner};

    use super::*;

    #[test]
    fn paths_are_below_the_folder_of_the_run() {
        let path = |entry| FilePath::new(Owner::Client(7), Folder::Bulk, entry);
        for (folder, before) in [("", ""), (r"a\b", r"a\b\")] {
            let mut paths = SmbPaths::new(PathText::new(None), folder.to_owned());
            let file = format!(r"{before}private\c7\bulk\f00002.bin");
            assert_eq!(paths.of_server(path(Entry::File(2))), file);
            let renamed = format!(r"{before}private\c7\bulk\f00002.old");
            let two = paths.two_of_server(path(Entry::File(2)), path(Entry::Renamed(2)));
            assert_eq!(two, (file.as_str(), renamed.as_str()));
            let searched = format!(r"{before}private\c7\bulk");
            assert_eq!(paths.folder_and_pattern(path(Entry::NoFile)), (searched.as_str(), "*.jnk"));
        }
        let mut text = String::new();
        write("a", ".", &mut text);
        assert_eq!(text, "a");
    }
}
