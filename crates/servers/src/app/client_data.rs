//! The files of a client: one whose blocks are read and written, and one that is appended to.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use frame::app::{AppStatus, BLOCK_BYTES, DataSettings, FileIo, SEQUENTIAL_BLOCKS, block_number, fill_block};
use rustix::fs::{Advice, OFlags, fadvise};

use crate::framed::DataDirectory;

/// Length of the longest transfer, in bytes.
const TRANSFER_BYTES: usize = SEQUENTIAL_BLOCKS as usize * BLOCK_BYTES;

/// Bytes that are written at once when a file is made.
const WRITE_BYTES: usize = 1 << 20;

/// The files of one client, as far as they are made.
#[derive(Debug)]
pub(super) struct ClientData {
    client: u32,
    /// Length at which the file that is appended to begins anew, in bytes.
    append_bytes_max: u64,
    files: Option<ClientFiles>,
}

#[derive(Debug)]
struct ClientFiles {
    settings: DataSettings,
    blocks: File,
    appended: File,
    appended_bytes: u64,
}

/// A buffer for transfers, in memory as direct transfers need it: from the start of a page on.
#[derive(Debug)]
pub(super) struct TransferBuffer {
    memory: Vec<u8>,
    start: usize,
}

impl TransferBuffer {
    pub(super) fn new() -> TransferBuffer {
        let memory = vec![0; TRANSFER_BYTES + BLOCK_BYTES];
        let start = memory.as_ptr().align_offset(BLOCK_BYTES);
        TransferBuffer { memory, start }
    }

    fn blocks(&mut self, n: u64) -> &mut [u8] {
        &mut self.memory[self.start..][..n as usize * BLOCK_BYTES]
    }
}

impl ClientData {
    /// Creates the data of a client without files.
    pub(super) fn new(client: u32, append_bytes_max: u64) -> ClientData {
        ClientData { client, append_bytes_max, files: None }
    }

    /// Makes the files, unless they are there with these settings, and brings the range into the state that the settings
    /// ask for.
    pub(super) fn prepare(
        &mut self,
        settings: DataSettings,
        directory: &DataDirectory,
        buffer: &mut TransferBuffer,
    ) -> Result<(), AppStatus> {
        if self.files.as_ref().is_none_or(|files| files.settings != settings) {
            self.files = None;
            self.files = Some(self.make(settings, directory)?);
        }
        let files = self.files.as_mut().ok_or(AppStatus::StorageFailed)?;
        files.settle(buffer).map_err(status)
    }

    /// Reads so many blocks, and returns the number that the first has.
    pub(super) fn read(&self, first: u64, n: u64, buffer: &mut TransferBuffer) -> Result<u64, AppStatus> {
        let files = self.files_for(first, n)?;
        let blocks = buffer.blocks(n);
        files.blocks.read_exact_at(blocks, first * BLOCK_BYTES as u64).map_err(status)?;
        let (blocks, _) = blocks.as_chunks::<BLOCK_BYTES>();
        if blocks.iter().zip(first..).all(|(block, number)| block_number(block) == number) {
            Ok(first)
        } else {
            Err(AppStatus::WrongBlock)
        }
    }

    /// Writes so many blocks; returns the number of the first.
    pub(super) fn write(&self, first: u64, n: u64, buffer: &mut TransferBuffer) -> Result<u64, AppStatus> {
        let files = self.files_for(first, n)?;
        let blocks = buffer.blocks(n);
        let (chunks, _) = blocks.as_chunks_mut::<BLOCK_BYTES>();
        chunks.iter_mut().zip(first..).for_each(|(block, number)| fill_block(self.client, number, block));
        files.blocks.write_all_at(blocks, first * BLOCK_BYTES as u64).map_err(status)?;
        Ok(first)
    }

    /// Appends a block; returns the length of the file, which begins anew when it is full.
    pub(super) fn append(&mut self, buffer: &mut TransferBuffer) -> Result<u64, AppStatus> {
        let files = self.files.as_mut().ok_or(AppStatus::OutOfPhase)?;
        // Its length is never above the bound, also where that is no multiple of a block.
        if self.append_bytes_max < files.appended_bytes + BLOCK_BYTES as u64 {
            files.appended.set_len(0).map_err(status)?;
            files.appended_bytes = 0;
        }
        let block = buffer.blocks(1);
        let number = files.appended_bytes / BLOCK_BYTES as u64;
        let (chunks, _) = block.as_chunks_mut::<BLOCK_BYTES>();
        chunks.iter_mut().for_each(|chunk| fill_block(self.client, number, chunk));
        files.appended.write_all_at(block, files.appended_bytes).map_err(status)?;
        files.appended_bytes += BLOCK_BYTES as u64;
        Ok(files.appended_bytes)
    }

    fn files_for(&self, first: u64, n: u64) -> Result<&ClientFiles, AppStatus> {
        let files = self.files.as_ref().ok_or(AppStatus::OutOfPhase)?;
        let is_within = first.checked_add(n).is_some_and(|end| end <= files.settings.range_blocks());
        is_within.then_some(files).ok_or(AppStatus::BadRequest)
    }

    fn make(&self, settings: DataSettings, directory: &DataDirectory) -> Result<ClientFiles, AppStatus> {
        if !directory.has_room(settings.file_bytes).map_err(status)? {
            return Err(AppStatus::StorageFull);
        }
        let [blocks, appended] =
            ["dat", "log"].map(|kind| directory.file(&format!("client_{}.{kind}", self.client)));
        let written =
            File::create(&blocks).and_then(|file| self.fill(file, settings.file_bytes / BLOCK_BYTES as u64));
        written.map_err(status)?;
        let flags = match settings.io {
            FileIo::Buffered => OFlags::empty(),
            FileIo::Direct => OFlags::DIRECT,
            FileIo::Durable => OFlags::DSYNC,
        };
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).write(true).custom_flags(flags.bits().cast_signed());
            let blocks = options.open(&blocks)?;
            let appended = options.create(true).truncate(true).open(&appended)?;
            Ok(ClientFiles { settings, blocks, appended, appended_bytes: 0 })
        };
        open().map_err(status)
    }

    /// Writes all blocks of a file to the disk.
    fn fill(&self, file: File, n_blocks: u64) -> io::Result<()> {
        let mut writer = BufWriter::with_capacity(WRITE_BYTES, file);
        let mut block = [0; BLOCK_BYTES];
        for number in 0..n_blocks {
            fill_block(self.client, number, &mut block);
            writer.write_all(&block)?;
        }
        writer.into_inner()?.sync_all()
    }
}

impl ClientFiles {
    /// Takes the file out of the page cache, reads the range back into it unless it is to be cold, and empties the file
    /// that is appended to.
    fn settle(&mut self, buffer: &mut TransferBuffer) -> io::Result<()> {
        self.blocks.sync_all()?;
        fadvise(&self.blocks, 0, None, Advice::DontNeed)?;
        self.appended.set_len(0)?;
        self.appended_bytes = 0;
        if self.settings.is_cold || self.settings.io == FileIo::Direct {
            return Ok(());
        }
        let n_blocks = self.settings.range_blocks();
        for first in (0..n_blocks).step_by(SEQUENTIAL_BLOCKS as usize) {
            let blocks = buffer.blocks(SEQUENTIAL_BLOCKS.min(n_blocks - first));
            self.blocks.read_exact_at(blocks, first * BLOCK_BYTES as u64)?;
        }
        Ok(())
    }
}

/// Returns the status that says what the system's error means.
fn status(error: io::Error) -> AppStatus {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => AppStatus::StorageFull,
        _ => AppStatus::StorageFailed,
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const SETTINGS: DataSettings =
        DataSettings { file_bytes: 8 * 4096, range_bytes: 5 * 4096, io: FileIo::Buffered, is_cold: false };

    /// The bound of the file that is appended to.
    const APPEND_BYTES_MAX: u64 = 3 * 4096 + 2048;

    /// Makes the files of client 7, and does something with them.
    fn with_files(
        settings: DataSettings,
        test: impl FnOnce(&mut ClientData, &DataDirectory, &mut TransferBuffer),
    ) {
        let parent = tempfile::tempdir_in("/var/tmp").unwrap();
        let directory = DataDirectory::create(parent.path(), "app-server-").unwrap();
        let mut data = ClientData::new(7, APPEND_BYTES_MAX);
        let mut buffer = TransferBuffer::new();
        data.prepare(settings, &directory, &mut buffer).unwrap();
        test(&mut data, &directory, &mut buffer);
    }

    #[test]
    fn blocks_are_read_and_written_in_every_mode() {
        for io in [FileIo::Buffered, FileIo::Direct, FileIo::Durable] {
            for is_cold in [false, true] {
                with_files(DataSettings { io, is_cold, ..SETTINGS }, |data, directory, buffer| {
                    assert_eq!(std::fs::metadata(directory.file("client_7.dat")).unwrap().len(), 8 * 4096);
                    assert_eq!(data.read(4, 1, buffer), Ok(4), "{io:?}");
                    assert_eq!(data.write(1, 4, buffer), Ok(1), "{io:?}");
                    assert_eq!(data.read(1, 4, buffer), Ok(1), "{io:?}");
                    assert_eq!(data.append(buffer), Ok(4096), "{io:?}");
                });
            }
        }
    }

    /// `TMPFS_MAGIC`.
    const TMPFS: i64 = 0x0102_1994;

    /// Blocks of the range for tests of the page cache.
    const CACHED_BLOCKS: u64 = 64;

    /// Returns how many blocks of the file of client 7 are in the page cache. `None` on a file system that is nowhere else.
    fn cached_blocks(directory: &DataDirectory) -> Option<u64> {
        let path = directory.file("client_7.dat");
        if rustix::fs::statfs(&path).unwrap().f_type == TMPFS {
            return None;
        }
        let output = Command::new("fincore").args(["--noheadings", "--output", "PAGES"]).arg(path).output();
        let output = output.expect("install fincore with `apt-get install util-linux`");
        Some(String::from_utf8(output.stdout).unwrap().trim().parse().unwrap())
    }

    #[test]
    fn a_warm_range_is_in_the_page_cache_and_a_cold_one_is_not() {
        let file_bytes = 2 * CACHED_BLOCKS * 4096;
        let range_bytes = CACHED_BLOCKS * 4096;
        for (io, is_cold, is_cached) in [
            (FileIo::Buffered, false, true),
            (FileIo::Buffered, true, false),
            (FileIo::Durable, false, true),
            (FileIo::Durable, true, false),
            (FileIo::Direct, false, false),
            (FileIo::Direct, true, false),
        ] {
            let settings = DataSettings { file_bytes, range_bytes, io, is_cold };
            with_files(settings, |data, directory, buffer| {
                // Once after the file was made, and once after a load point that used all of it.
                for round in 0..2 {
                    let Some(n) = cached_blocks(directory) else { return };
                    // Blocks behind the range may be read ahead.
                    let expected = if is_cached { CACHED_BLOCKS..=2 * CACHED_BLOCKS } else { 0..=0 };
                    assert!(expected.contains(&n), "{n} blocks, {io:?}, cold: {is_cold}, round {round}");
                    for block in 0..CACHED_BLOCKS {
                        assert_eq!(data.write(block, 1, buffer), Ok(block));
                        assert_eq!(data.read(block, 1, buffer), Ok(block));
                    }
                    data.prepare(settings, directory, buffer).unwrap();
                }
            });
        }
    }

    #[test]
    fn operations_stay_within_the_range() {
        with_files(SETTINGS, |data, _, buffer| {
            for (first, n) in [(5, 1), (2, 4), (u64::MAX, 1), (u64::MAX - 1, 4)] {
                assert_eq!(data.read(first, n, buffer), Err(AppStatus::BadRequest), "{first}");
                assert_eq!(data.write(first, n, buffer), Err(AppStatus::BadRequest), "{first}");
            }
        });
    }

    #[test]
    fn a_block_with_another_number_is_found() {
        with_files(SETTINGS, |data, directory, buffer| {
            let file = OpenOptions::new().write(true).open(directory.file("client_7.dat")).unwrap();
            file.write_all_at(&[9], 2 * 4096).unwrap();
            assert_eq!(data.read(2, 1, buffer), Err(AppStatus::WrongBlock));
            assert_eq!(data.read(0, 4, buffer), Err(AppStatus::WrongBlock));
            assert_eq!(data.read(3, 1, buffer), Ok(3));
        });
    }

    /// By hand: three blocks and a half.
    #[test]
    fn the_appended_file_begins_anew_when_it_is_full() {
        with_files(SETTINGS, |data, directory, buffer| {
            let lengths: Vec<u64> = (0..7).map(|_| data.append(buffer).unwrap()).collect();
            assert_eq!(lengths, [1, 2, 3, 1, 2, 3, 1].map(|blocks| 4096 * blocks));
            assert_eq!(std::fs::metadata(directory.file("client_7.log")).unwrap().len(), 4096);
        });
    }

    #[test]
    fn there_are_no_operations_before_the_files() {
        let mut data = ClientData::new(1, APPEND_BYTES_MAX);
        let mut buffer = TransferBuffer::new();
        assert_eq!(data.read(0, 1, &mut buffer), Err(AppStatus::OutOfPhase));
        assert_eq!(data.append(&mut buffer), Err(AppStatus::OutOfPhase));
    }
}
