//! The ledger of a client: which generation each part of its files has, so that what it reads can be verified.
//!
//! Memory is bounded: [`FILES_MAX`] files of [`EXTENTS_MAX`] extents, together below 1 MB; a client of the Disk Mix
//! needs 1 to 3 KB. What does not fit is not verified any more, and never wrongly.

use std::collections::HashMap;

use crate::content::{BLOCK_BYTES, FileContent, FileVersion, GENERATION_BYTES, STAMP_BYTES};
use crate::{FileId, FilePath, FileRange};

/// The most files of which a client knows what was written.
pub const FILES_MAX: usize = 1024;

/// The most extents of a file.
pub const EXTENTS_MAX: usize = 32;

/// The depth to which read bytes are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// Not at all.
    Off,
    /// The stamps of blocks.
    Stamp,
    /// Every byte.
    Full,
}

/// The content of files of which the client has written nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Generation 0, as they were populated.
    Populated,
    /// Blocks with stamps of any generation: of an earlier load point.
    Stamped,
    /// Bytes of any origin.
    Unknown,
}

/// A byte that is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongByte {
    /// Its offset in the file.
    pub offset: u64,
    /// The byte that was written.
    pub expected: u8,
    /// The byte that was read.
    pub found: u8,
}

/// A ledger of what a client has written.
///
/// A generation is a run of writes of which each begins where the last one ended. The content of files that all
/// clients write is known but for its generation, so that only their stamps are verified.
#[derive(Debug, Clone)]
pub struct ContentLedger {
    content: FileContent,
    verify: Verify,
    baseline: Baseline,
    files: HashMap<FileId, WrittenFile>,
    /// Whether a file had no room: then nothing is known about those that are missing here.
    is_full: bool,
    last_generation: u32,
}

/// A file that the client has written.
#[derive(Debug, Clone)]
struct WrittenFile {
    /// The identity with which its bytes are made: that of its first name.
    origin: FileId,
    /// From the beginning of the file, without gaps, in the order of their ends; neighbors have different sources.
    extents: Vec<Extent>,
    /// The end of the last write, and its generation.
    run: Option<(u64, u32)>,
}

/// A part of a file that ends at an offset and begins where the one before ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extent {
    end: u64,
    source: Source,
}

/// The origin of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A hole.
    Zeros,
    /// A generation.
    Generation(u32),
    /// A generation that is not known.
    AnyGeneration,
    /// Bytes of which nothing is known, such as those of a failed write.
    Unknown,
}

impl ContentLedger {
    /// Makes a ledger. Generations are counted from the one after `last_generation`.
    pub fn new(
        content: FileContent,
        verify: Verify,
        baseline: Baseline,
        last_generation: u32,
    ) -> ContentLedger {
        ContentLedger { content, verify, baseline, files: HashMap::new(), is_full: false, last_generation }
    }

    /// Notes that a file has been created or cut to no bytes.
    pub fn created(&mut self, path: FilePath) {
        if self.follows(path) {
            let file = path.file_id();
            self.put(file, WrittenFile { origin: file, extents: Vec::new(), run: None });
        }
    }

    /// Writes into the buffer what is to be written there, and notes that the range is unknown until [`Self::written`]
    /// says that it was. Returns the generation.
    pub fn fill(&mut self, path: FilePath, offset: u64, buffer: &mut [u8]) -> u32 {
        let known = self.files.get(&path.file_id());
        let file = known.map_or_else(|| path.file_id(), |written| written.origin);
        let run = known.and_then(|written| written.run);
        let generation = self.next_generation(run, offset);
        self.content.fill(FileVersion { file, generation }, offset, buffer);
        self.note(path, FileRange { offset, length: buffer.len() as u64 }, Source::Unknown, None);
        generation
    }

    /// Notes that the range was written with this generation.
    pub fn written(&mut self, path: FilePath, range: FileRange, generation: u32) {
        self.note(path, range, Source::Generation(generation), Some((range.end(), generation)));
    }

    /// Notes that a file has been deleted.
    pub fn deleted(&mut self, path: FilePath) {
        self.files.remove(&path.file_id());
    }

    /// Notes that a file has another path.
    pub fn renamed(&mut self, from: FilePath, to: FilePath) {
        let file = to.file_id();
        if from.file_id() == file {
            return;
        }
        let moved = self.files.remove(&from.file_id());
        if self.follows(to) {
            // A file of which nothing is known here takes the place of one of which something was.
            self.put(file, moved.unwrap_or_else(|| WrittenFile::of(file, Source::Unknown)));
        }
    }

    /// Compares bytes that were read from an offset on with those that are known to have been written.
    ///
    /// # Errors
    ///
    /// When one is another than was written: the first such byte.
    pub fn verify(&self, path: FilePath, offset: u64, bytes: &[u8]) -> Result<(), WrongByte> {
        if self.verify == Verify::Off {
            return Ok(());
        }
        let written = self.files.get(&path.file_id()).filter(|_| !path.is_shared());
        let origin = written.map_or_else(|| path.file_id(), |written| written.origin);
        let whole = [Extent { end: u64::MAX, source: self.unwritten(path) }];
        let mut start = 0;
        for extent in written.map_or(&whole[..], |written| &written.extents) {
            let from = start.max(offset);
            let to = extent.end.min(offset.saturating_add(bytes.len() as u64));
            if from < to {
                let piece = &bytes[(from - offset) as usize..(to - offset) as usize];
                self.verify_piece(origin, extent.source, from, piece)?;
            }
            start = extent.end;
        }
        Ok(())
    }

    /// Returns the number of extents that are kept, of all files.
    pub fn n_extents(&self) -> usize {
        self.files.values().map(|file| file.extents.len()).sum()
    }

    fn next_generation(&mut self, run: Option<(u64, u32)>, offset: u64) -> u32 {
        if let Some((end, generation)) = run
            && end == offset
        {
            return generation;
        }
        self.last_generation = self.last_generation.wrapping_add(1);
        self.last_generation
    }

    /// Returns whether the client is the only one to write the file, and reads are verified at all.
    fn follows(&self, path: FilePath) -> bool {
        self.verify != Verify::Off && !path.is_shared()
    }

    fn note(&mut self, path: FilePath, range: FileRange, source: Source, run: Option<(u64, u32)>) {
        if !self.follows(path) || range.length == 0 {
            return;
        }
        let file = path.file_id();
        let mut written =
            self.files.remove(&file).unwrap_or_else(|| WrittenFile::of(file, self.unwritten(path)));
        written.put(range, source);
        written.run = run;
        self.put(file, written);
    }

    fn put(&mut self, file: FileId, written: WrittenFile) {
        if self.files.len() < FILES_MAX || self.files.contains_key(&file) {
            self.files.insert(file, written);
        } else {
            self.is_full = true;
        }
    }

    /// Returns the source of a file that is not in the ledger.
    fn unwritten(&self, path: FilePath) -> Source {
        if self.is_full && !path.is_shared() {
            return Source::Unknown;
        }
        match self.baseline {
            Baseline::Populated if !path.is_shared() => Source::Generation(0),
            Baseline::Populated | Baseline::Stamped => Source::AnyGeneration,
            Baseline::Unknown => Source::Unknown,
        }
    }

    /// Verifies bytes of one source.
    fn verify_piece(&self, file: FileId, source: Source, offset: u64, bytes: &[u8]) -> Result<(), WrongByte> {
        if source == Source::Unknown {
            return Ok(());
        }
        let mut at = offset;
        let mut rest = bytes;
        while !rest.is_empty() {
            let within = (at % BLOCK_BYTES as u64) as usize;
            let (piece, behind) = rest.split_at(rest.len().min(BLOCK_BYTES - within));
            self.verify_block(file, source, at, piece)?;
            at += piece.len() as u64;
            rest = behind;
        }
        Ok(())
    }

    /// Verifies bytes of one block.
    fn verify_block(&self, file: FileId, source: Source, offset: u64, bytes: &[u8]) -> Result<(), WrongByte> {
        let within = (offset % BLOCK_BYTES as u64) as usize;
        let has_stamp_only = self.verify == Verify::Stamp || source == Source::AnyGeneration;
        let n_known = if has_stamp_only { STAMP_BYTES.saturating_sub(within) } else { BLOCK_BYTES };
        let n_verified = n_known.min(bytes.len());
        let (mut stamp, mut block);
        // To clear a block costs more than to compare a stamp.
        let expected: &mut [u8] = if has_stamp_only {
            stamp = [0; STAMP_BYTES];
            &mut stamp[..n_verified]
        } else {
            block = [0; BLOCK_BYTES];
            &mut block[..n_verified]
        };
        if let Source::Generation(generation) = source {
            self.content.fill(FileVersion { file, generation }, offset, expected);
        } else if source == Source::AnyGeneration {
            self.content.fill(FileVersion { file, generation: 0 }, offset, expected);
        }
        let found = &bytes[..n_verified];
        if expected == found {
            return Ok(());
        }
        let is_compared =
            |index: usize| source != Source::AnyGeneration || !GENERATION_BYTES.contains(&(within + index));
        let differs = |index: &usize| expected[*index] != found[*index] && is_compared(*index);
        match (0..n_verified).find(differs) {
            None => Ok(()),
            Some(index) => Err(WrongByte {
                offset: offset + index as u64,
                expected: expected[index],
                found: found[index],
            }),
        }
    }
}

impl WrittenFile {
    /// Makes a file whose bytes all have one source.
    fn of(origin: FileId, source: Source) -> WrittenFile {
        WrittenFile { origin, extents: vec![Extent { end: u64::MAX, source }], run: None }
    }

    /// Gives a range another source.
    fn put(&mut self, range: FileRange, source: Source) {
        let length = self.extents.last().map_or(0, |last| last.end);
        if length < range.offset {
            self.extents.push(Extent { end: range.offset, source: Source::Zeros });
        }
        self.split(range.offset);
        self.split(range.end());
        let first = self.extents.partition_point(|extent| extent.end <= range.offset);
        let behind = self.extents.partition_point(|extent| extent.end <= range.end());
        self.extents.splice(first..behind, [Extent { end: range.end(), source }]);
        self.join_equal();
        while EXTENTS_MAX < self.extents.len() {
            self.forget_smallest();
        }
    }

    /// Splits the extent that has bytes on both sides of an offset.
    fn split(&mut self, at: u64) {
        let index = self.extents.partition_point(|extent| extent.end <= at);
        let start = self.start(index);
        if let Some(extent) = self.extents.get(index).filter(|_| start < at) {
            let source = extent.source;
            self.extents.insert(index, Extent { end: at, source });
        }
    }

    /// Returns where an extent begins.
    fn start(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(0, |before| self.extents[before].end)
    }

    fn join_equal(&mut self) {
        self.extents.dedup_by(|extent, before| {
            let is_equal = extent.source == before.source;
            if is_equal {
                before.end = extent.end;
            }
            is_equal
        });
    }

    /// Makes one unknown extent of the two neighbors that have the fewest bytes.
    fn forget_smallest(&mut self) {
        let size = |index: &usize| self.extents[*index + 1].end - self.start(*index);
        if let Some(index) = (0..self.extents.len() - 1).min_by_key(size) {
            self.extents.remove(index);
            self.extents[index].source = Source::Unknown;
            self.join_equal();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Entry, Folder, Owner};

    fn private(number: u32) -> FilePath {
        FilePath::new(Owner::Client(1), Folder::Bulk, Entry::File(number))
    }

    fn ledger(verify: Verify, baseline: Baseline) -> ContentLedger {
        ContentLedger::new(FileContent::new(5, 50), verify, baseline, 0)
    }

    /// A file on a server that does what it is told.
    fn write(ledger: &mut ContentLedger, file: &mut Vec<u8>, path: FilePath, offset: usize, length: usize) {
        let mut buffer = vec![0; length];
        let generation = ledger.fill(path, offset as u64, &mut buffer);
        if file.len() < offset + length {
            file.resize(offset + length, 0);
        }
        file[offset..offset + length].copy_from_slice(&buffer);
        ledger.written(path, FileRange { offset: offset as u64, length: length as u64 }, generation);
    }

    fn populated(path: FilePath, length: usize) -> Vec<u8> {
        let mut file = vec![0; length];
        FileContent::new(5, 50).fill(FileVersion { file: path.file_id(), generation: 0 }, 0, &mut file);
        file
    }

    /// Golden check 20, the part without a server: one flipped byte is found, with its offset and both values.
    #[test]
    fn a_flipped_byte_is_found() {
        let path = private(0);
        let mut file = populated(path, 20_000);
        let full = ledger(Verify::Full, Baseline::Populated);
        assert_eq!(full.verify(path, 0, &file), Ok(()));
        assert_eq!(full.verify(path, 4097, &file[4097..9000]), Ok(()));
        let expected = file[8200];
        file[8200] ^= 1;
        let wrong = WrongByte { offset: 8200, expected, found: expected ^ 1 };
        assert_eq!(full.verify(path, 0, &file), Err(wrong));
        assert_eq!(full.verify(path, 8200, &file[8200..8201]), Err(wrong));
        // The stamp of the block, 8,192 to 8,207, has the byte; that of the next does not.
        assert_eq!(ledger(Verify::Stamp, Baseline::Populated).verify(path, 0, &file), Err(wrong));
        file[8200] ^= 1;
        file[9000] ^= 1;
        assert_eq!(ledger(Verify::Stamp, Baseline::Populated).verify(path, 0, &file), Ok(()));
        assert_eq!(ledger(Verify::Off, Baseline::Populated).verify(path, 0, &[9; 100]), Ok(()));
        assert!(full.verify(private(1), 0, &file).is_err());
    }

    /// A hole, then data, as the extend rule leaves them.
    #[test]
    fn holes_are_zeros_and_a_lost_write_is_found() {
        let path = private(0);
        let mut ledger = ledger(Verify::Full, Baseline::Populated);
        let mut file = Vec::new();
        ledger.created(path);
        write(&mut ledger, &mut file, path, 9999, 1);
        assert_eq!(ledger.verify(path, 0, &file), Ok(()));
        let before = file.clone();
        write(&mut ledger, &mut file, path, 0, 6000);
        assert_eq!(ledger.verify(path, 0, &file), Ok(()));
        assert_eq!(ledger.verify(path, 0, &before).map_err(|wrong| wrong.offset), Err(0));
    }

    #[test]
    fn a_run_of_writes_is_one_generation() {
        let path = private(0);
        let mut ledger = ledger(Verify::Full, Baseline::Populated);
        let mut file = Vec::new();
        ledger.created(path);
        for piece in 0..20 {
            write(&mut ledger, &mut file, path, piece * 65_536, 65_536);
        }
        assert_eq!((ledger.n_extents(), ledger.last_generation), (1, 1));
        write(&mut ledger, &mut file, path, 0, 4096);
        assert_eq!((ledger.n_extents(), ledger.last_generation), (2, 2));
        assert_eq!(ledger.verify(path, 0, &file), Ok(()));
    }

    #[test]
    fn of_a_write_that_failed_nothing_is_known() {
        let path = private(0);
        let mut ledger = ledger(Verify::Full, Baseline::Populated);
        let mut file = populated(path, 10_000);
        ledger.fill(path, 100, &mut [0; 50]);
        file[100..150].fill(9);
        assert_eq!(ledger.verify(path, 0, &file), Ok(()));
        file[150] ^= 1;
        assert!(ledger.verify(path, 0, &file).is_err());
    }

    #[test]
    fn of_earlier_load_points_and_other_clients_stamps_are_known_but_their_generation() {
        let shared = FilePath::new(Owner::Shared, Folder::Listed, Entry::File(0));
        for (path, baseline) in [(private(0), Baseline::Stamped), (shared, Baseline::Populated)] {
            let ledger = ledger(Verify::Full, baseline);
            let mut file = vec![0; 8192];
            // Of two generations, the second ends within a stamp.
            FileContent::new(5, 50).fill(
                FileVersion { file: path.file_id(), generation: 0x0101_0101 },
                0,
                &mut file,
            );
            FileContent::new(5, 50).fill(
                FileVersion { file: path.file_id(), generation: 77 },
                0,
                &mut file[..4096 + 10],
            );
            file[5000] ^= 1;
            assert_eq!(ledger.verify(path, 0, &file), Ok(()));
            file[4096] ^= 1;
            assert_eq!(ledger.verify(path, 0, &file).map_err(|wrong| wrong.offset), Err(4096));
        }
        assert_eq!(ledger(Verify::Full, Baseline::Unknown).verify(private(0), 0, &[1; 9000]), Ok(()));
    }

    #[test]
    fn a_deleted_file_is_forgotten_and_a_renamed_one_keeps_its_content() {
        let from = private(0);
        let to = private(1);
        let mut ledger = ledger(Verify::Full, Baseline::Unknown);
        let mut file = Vec::new();
        write(&mut ledger, &mut file, from, 0, 5000);
        // In a captured mix the name is the identity: the bytes are still those of the first name.
        ledger.renamed(from, to);
        assert_eq!((ledger.files.len(), ledger.n_extents()), (1, 2));
        assert_eq!(ledger.verify(to, 0, &file), Ok(()));
        file[1] ^= 1;
        assert_eq!(ledger.verify(to, 0, &file).map_err(|wrong| wrong.offset), Err(1));
        ledger.deleted(to);
        assert_eq!(ledger.files.len(), 0);
    }

    #[test]
    fn memory_is_bounded() {
        let mut ledger = ledger(Verify::Full, Baseline::Populated);
        for number in 0..2 * FILES_MAX as u32 {
            let path = private(number);
            ledger.fill(path, 5, &mut [0; 10]);
        }
        assert_eq!(ledger.files.len(), FILES_MAX);
        // Of a file without room nothing is known, so that nothing is called wrong.
        assert_eq!(ledger.verify(private(2000), 0, &[9; 100]), Ok(()));
    }

    proptest! {
        /// Replies of a right server are right after any writes in any order, and the extents stay few.
        #[test]
        fn what_was_written_is_verified(writes in prop::collection::vec((0_usize..60_000, 1_usize..9_000), 1..80)) {
            let path = private(0);
            let mut ledger = ledger(Verify::Full, Baseline::Populated);
            let mut file = populated(path, 70_000);
            for (offset, length) in writes {
                write(&mut ledger, &mut file, path, offset, length);
                prop_assert_eq!(ledger.verify(path, 0, &file), Ok(()));
                prop_assert!(ledger.n_extents() <= EXTENTS_MAX);
            }
        }
    }
}
