//! The files that a server is given.

use super::{ReplyBody, Workload};

/// The most files of a file set.
pub const FILES_MAX: u64 = 10_000_000;

/// The files of a workload at one level of load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    /// Seed of their content.
    pub content_seed: u64,
    /// The files, by kind of request and number.
    pub files: Vec<SetFile>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetFile {
    /// The number by which its content is made.
    pub object: u32,
    /// Path on the server, beginning with `/`.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
}

impl FileSet {
    /// Returns the size of all files together in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

impl Workload {
    /// Returns the number of files at a level of load (users, or operations per second).
    pub fn n_files(&self, level: f64) -> u64 {
        let files = self.requests.iter().filter(|request| matches!(request.reply, ReplyBody::File(_)));
        files.fold(0, |sum: u64, request| sum.saturating_add(request.objects(level)))
    }

    /// Lists the files at a level of load: what the server must hold, largest load first to last the same files.
    ///
    /// A plan has at most [`FILES_MAX`] of them.
    pub fn file_set(&self, level: f64) -> FileSet {
        let mut files = Vec::new();
        for (kind, request) in (0..).zip(&self.requests) {
            let ReplyBody::File(_) = request.reply else { continue };
            files.extend((0..request.objects(level)).map(|number| SetFile {
                object: self.content_object(kind, number),
                path: request.path_of(number),
                bytes: request.body_bytes(number).unwrap_or(0),
            }));
        }
        FileSet { content_seed: self.content_seed, files }
    }
}
