//! Captured mixes: reading a load file for a workload.

use std::io::{self, BufReader, Read};
use std::sync::Arc;

use files::{LoadFile, LoadFileError};
use model::{FileCapture, FileWork, FileWorkload};

/// A load file that cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// It cannot be read.
    #[error("cannot read the load file `{file}`: {source}")]
    Unreadable {
        /// Its name.
        file: String,
        /// The system's error.
        source: io::Error,
    },
    /// One of its lines is wrong.
    #[error("the load file `{file}`, {error}")]
    Line {
        /// Its name.
        file: String,
        /// The line and what is wrong with it.
        error: LoadFileError,
    },
}

impl CaptureError {
    /// Returns the remedy.
    pub fn hint(&self) -> String {
        match self {
            CaptureError::Unreadable { .. } => {
                "name a load file that you may read, such as `client.txt` of dbench".to_owned()
            }
            CaptureError::Line { error, .. } => error.problem.hint(),
        }
    }
}

/// Makes the captured mix of a load file with this name: text, perhaps compressed by gzip. It is read up to the first line
/// that is wrong.
///
/// # Errors
/// It cannot be opened or read, or has a line that cannot be replayed.
pub fn capture(file: &str, opened: io::Result<impl Read>) -> Result<FileCapture, CaptureError> {
    let source = opened.map_err(|source| CaptureError::Unreadable { file: file.to_owned(), source })?;
    let mut source = HashedReader { source, hasher: blake3::Hasher::new() };
    let load = LoadFile::read(BufReader::with_capacity(BUFFER_BYTES, &mut source))
        .map_err(|error| CaptureError::Line { file: file.to_owned(), error })?;
    let hash = source.hasher.finalize().to_hex().to_string();
    Ok(FileCapture::new(file.to_owned(), hash, Arc::new(load)))
}

/// The bytes that are read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// A reader that hashes what it reads.
struct HashedReader<R> {
    source: R,
    hasher: blake3::Hasher,
}

impl<R: Read> Read for HashedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        self.hasher.update(&buffer[..n]);
        Ok(n)
    }
}

/// Returns a workload with a captured mix as the work of its clients.
pub fn replaying(workload: &FileWorkload, capture: FileCapture) -> FileWorkload {
    FileWorkload { work: FileWork::Captured(Box::new(capture)), ..workload.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: &[u8] = b"Mkdir \"\\a\" NT_STATUS_OK\n";

    #[test]
    fn the_hash_is_that_of_the_whole_file() {
        let captured = capture("my.txt", Ok(LOAD)).unwrap();
        assert_eq!(captured.hash, blake3::hash(LOAD).to_hex().to_string());
        assert_eq!((captured.file.as_str(), captured.load().unwrap().n_lines()), ("my.txt", 1));
    }

    #[test]
    fn mistakes_name_the_file_and_the_line() {
        let error = capture("my.txt", Ok(&b"Frob 1 NT_STATUS_OK\n"[..])).unwrap_err();
        assert_eq!(error.to_string(), "the load file `my.txt`, line 1: unknown operation `Frob`");
        assert!(error.hint().starts_with("known operations: NTCreateX, "));
        let error = capture("my.txt", Err::<&[u8], _>(io::ErrorKind::NotFound.into())).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the load file `my.txt`: entity not found");
    }
}
