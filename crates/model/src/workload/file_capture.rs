//! A captured mix of a file-server workload: the load file that clients replay.
//!
//! A plan has the name of the file, its hash and what it counts. Its operations, of which there may be millions, are beside
//! the plan in a [`LoadFile`], which is not written down.

use std::sync::Arc;

use files::{FileKind, LoadFile, LoadSummary};
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::file::FileSettingsError;

/// A load file that clients replay, as a plan has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileCapture {
    /// The file as the run or the definition names it.
    pub file: String,
    /// Hash of the file's bytes (BLAKE3, hexadecimal).
    pub hash: String,
    /// The number of operations of each kind in a loop, in the order of [`FileKind::ALL`].
    pub operations: [u64; FileKind::COUNT],
    /// The operations of a loop that must fail.
    pub expected_failures: u64,
    /// The lines without a status, which are skipped.
    pub skipped_lines: u64,
    /// The bytes that a loop reads.
    pub read_bytes: u64,
    /// The bytes that a loop writes.
    pub written_bytes: u64,
    /// The most bytes that the files of a client have together.
    pub file_bytes_max: u64,
    /// Whether clients pause, or wait for the times of operations.
    pub has_pauses: bool,
    #[serde(skip)]
    content: CapturedContent,
}

/// The operations of a load file; none where a plan was read from a record. The hash beside them says which they are.
#[derive(Debug, Clone, Default)]
struct CapturedContent(Option<Arc<LoadFile>>);

impl PartialEq for CapturedContent {
    fn eq(&self, _: &CapturedContent) -> bool {
        true
    }
}

impl FileCapture {
    /// Makes the captured mix of a load file with its name and the hash of its bytes.
    pub fn new(file: String, hash: String, load: Arc<LoadFile>) -> FileCapture {
        let LoadSummary {
            counts,
            n_expected_failures,
            read_bytes,
            written_bytes,
            file_bytes_max,
            has_pauses,
            open_max: _,
        } = load.summary();
        FileCapture {
            file,
            hash,
            operations: counts,
            expected_failures: n_expected_failures,
            skipped_lines: load.n_skipped(),
            read_bytes,
            written_bytes,
            file_bytes_max,
            has_pauses,
            content: CapturedContent(Some(load)),
        }
    }

    /// Returns the operations of the load file.
    ///
    /// # Errors
    /// They are not there: the plan comes from a record.
    pub fn load(&self) -> Result<&Arc<LoadFile>, FileSettingsError> {
        self.content.0.as_ref().ok_or_else(|| FileSettingsError::NoLoadFile(self.file.clone()))
    }

    /// Returns the part of each kind in the operations of a loop, from 0 to 1, without locks if clients leave them out.
    pub(super) fn shares(&self, has_locks: bool) -> [f64; FileKind::COUNT] {
        let mut operations = self.operations;
        if !has_locks {
            operations[FileKind::Lock as usize] = 0;
            operations[FileKind::Unlock as usize] = 0;
        }
        let total = operations.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)).max(1) as f64;
        operations.map(|n| n as f64 / total)
    }

    /// Returns the number of operations of a loop.
    fn n_operations(&self) -> u64 {
        self.operations.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Describes the file and what clients make of it.
    pub(super) fn text(&self) -> String {
        let FileCapture { file, hash, expected_failures, skipped_lines, file_bytes_max, .. } = self;
        let n_operations = self.n_operations();
        let file = languages::foreign_text(file);
        let skipped = match skipped_lines {
            0 => String::new(),
            1 => "; 1 line without a status is skipped".to_owned(),
            n => format!("; {n} lines without a status are skipped"),
        };
        let bytes = Bytes(*file_bytes_max);
        format!(
            "the load file `{file}` (BLAKE3 {hash}), of which each client replays {n_operations} operations in a loop, \
             {expected_failures} of which must fail{skipped}; up to {bytes} of files for each client"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: &str = "Mkdir \"\\clients\\client1\" NT_STATUS_OK\n\
        NTCreateX \"\\clients\\client1\\a\" 0x40 2 1 NT_STATUS_OK\nWriteX 1 0 4096 4096 NT_STATUS_OK\nClose 1\n\
        Close 1 NT_STATUS_OK\nNTCreateX \"\\clients\\client1\\b\" 0x40 1 2 NT_STATUS_OBJECT_NAME_NOT_FOUND\n";

    fn capture() -> FileCapture {
        let load = Arc::new(LoadFile::read(LOAD.as_bytes()).unwrap());
        FileCapture::new("my.txt".to_owned(), "ab12".to_owned(), load)
    }

    #[test]
    fn a_plan_has_what_a_load_file_counts_but_not_its_operations() {
        let capture = capture();
        assert_eq!(capture.load().unwrap().n_lines(), 5);
        let stored = serde_json::to_value(&capture).unwrap();
        assert!(!stored.to_string().contains("clients"), "{stored}");
        let read: FileCapture = serde_json::from_value(stored).unwrap();
        assert_eq!(read, capture);
        assert_eq!(
            read.load().unwrap_err().to_string(),
            "the operations of the load file `my.txt` are not here"
        );
        assert_ne!(read, FileCapture { hash: "ab13".to_owned(), ..capture });
    }

    #[test]
    fn a_capture_is_described_with_its_hash_and_what_is_left_out() {
        insta::assert_snapshot!(capture().text(), @"the load file `my.txt` (BLAKE3 ab12), of which each client replays 5 operations in a loop, 1 of which must fail; 1 line without a status is skipped; up to 4.0 KiB of files for each client");
        let shares = capture().shares(true);
        let of = |kind: FileKind| shares[kind.index()];
        assert_eq!((of(FileKind::Create), of(FileKind::OpenMissing), of(FileKind::Read)), (0.2, 0.2, 0.0));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
