//! The bytes that a client writes, and the verification of those that it reads.

use std::sync::Arc;

use files::{Baseline, ContentLedger, FilePath, FileRange, LoadFile};
use model::Outcome;

use super::FileClientOptions;
use super::failure::FileFailure;

/// The content of a client's files, as far as the client knows it.
///
/// A path of a captured mix that does not name the client is one that all clients share: its content is not followed.
#[derive(Debug)]
pub(crate) struct ClientContent {
    ledger: ContentLedger,
    load: Option<Arc<LoadFile>>,
}

impl ClientContent {
    /// Makes the content of a client that has written nothing.
    pub(crate) fn new(options: &FileClientOptions) -> ClientContent {
        let baseline = if options.loadfile.is_some() { Baseline::Unknown } else { options.baseline };
        let FileClientOptions { content, verify, last_generation, .. } = *options;
        ClientContent {
            ledger: ContentLedger::new(content, verify, baseline, last_generation),
            load: options.loadfile.clone(),
        }
    }

    /// Notes that a file has been created or cut to no bytes.
    pub(crate) fn created(&mut self, path: FilePath) {
        if self.follows(path) {
            self.ledger.created(path);
        }
    }

    /// Writes into the buffer what is to be written there. Returns the generation, for [`ClientContent::written`].
    pub(crate) fn fill(&mut self, path: FilePath, offset: u64, buffer: &mut [u8]) -> u32 {
        let generation = self.ledger.fill(path, offset, buffer);
        if !self.follows(path) {
            // The ledger takes it for the client's own.
            self.ledger.deleted(path);
        }
        generation
    }

    /// Notes that the range was written with this generation.
    pub(crate) fn written(&mut self, path: FilePath, range: FileRange, generation: u32) {
        if self.follows(path) {
            self.ledger.written(path, range, generation);
        }
    }

    /// Notes that a file has been deleted.
    pub(crate) fn deleted(&mut self, path: FilePath) {
        self.ledger.deleted(path);
    }

    /// Notes that a file has another path.
    pub(crate) fn renamed(&mut self, from: FilePath, to: FilePath) {
        if self.follows(from) && self.follows(to) {
            self.ledger.renamed(from, to);
        } else {
            self.ledger.deleted(from);
            self.ledger.deleted(to);
        }
    }

    /// Verifies what a read of a range has brought.
    ///
    /// # Errors
    ///
    /// It is shorter than the range, with the number of its bytes, or a byte is wrong, with its position.
    pub(crate) fn verify(&self, path: FilePath, range: FileRange, bytes: &[u8]) -> Result<(), FileFailure> {
        if self.follows(path) {
            let verified = self.ledger.verify(path, range.offset, bytes);
            verified.map_err(|wrong| FileFailure::found(Outcome::WrongBytes, wrong.offset))?;
        }
        let n_bytes = bytes.len() as u64;
        if n_bytes < range.length {
            return Err(FileFailure::found(Outcome::Truncated, n_bytes));
        }
        Ok(())
    }

    fn follows(&self, path: FilePath) -> bool {
        match (path, &self.load) {
            (FilePath::Captured(captured), Some(load)) => !load.is_shared(captured),
            (FilePath::Captured(_) | FilePath::Populated(_), _) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use files::{CapturedPath, Entry, FileContent, FileVersion, Folder, Owner, Verify};

    use super::*;
    use crate::file::Durability;

    fn options(loadfile: Option<Arc<LoadFile>>) -> FileClientOptions {
        FileClientOptions {
            content: FileContent::new(5, 50),
            verify: Verify::Full,
            baseline: Baseline::Populated,
            last_generation: 0,
            durability: Durability::Relaxed,
            times_first_data: false,
            loadfile,
        }
    }

    /// Golden check 20, at the client: the position of the byte is in the failure.
    #[test]
    fn a_wrong_byte_is_found_before_a_missing_one() {
        let path = FilePath::new(Owner::Client(1), Folder::Bulk, Entry::File(0));
        let content = ClientContent::new(&options(None));
        let range = FileRange { offset: 4096, length: 8192 };
        let mut bytes = vec![0; 8192];
        let version = FileVersion { file: path.file_id(), generation: 0 };
        FileContent::new(5, 50).fill(version, 4096, &mut bytes);
        assert_eq!(content.verify(path, range, &bytes), Ok(()));
        let truncated = FileFailure::found(Outcome::Truncated, 8191);
        assert_eq!(content.verify(path, range, &bytes[..8191]), Err(truncated));
        bytes[5000] ^= 1;
        let wrong = FileFailure::found(Outcome::WrongBytes, 9096);
        assert_eq!(content.verify(path, range, &bytes[..8191]), Err(wrong));
    }

    #[test]
    fn files_of_a_captured_mix_that_clients_share_are_not_followed() {
        let load = "NTCreateX \"\\a\" 0x40 2 1 NT_STATUS_OK\nNTCreateX \"\\client1\" 0x40 2 2 NT_STATUS_OK\n";
        let load = Arc::new(LoadFile::read(load.as_bytes()).unwrap());
        let mut content = ClientContent::new(&options(Some(load)));
        let path = |text| FilePath::Captured(CapturedPath { client: 3, text });
        let range = FileRange { offset: 0, length: 100 };
        let mut bytes = [0; 100];
        for (text, is_followed) in [(0, false), (1, true)] {
            assert_eq!(content.verify(path(text), range, &[9; 100]), Ok(()), "before it is written");
            content.created(path(text));
            let generation = content.fill(path(text), 0, &mut bytes);
            content.written(path(text), range, generation);
            assert_eq!(content.verify(path(text), range, &bytes), Ok(()));
            assert_eq!(content.verify(path(text), range, &[9; 100]).is_err(), is_followed);
        }
    }
}
