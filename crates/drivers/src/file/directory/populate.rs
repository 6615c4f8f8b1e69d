//! The files and folders that are there before load: made, kept, checked and evicted.

use std::collections::HashMap;
use std::io::{self, IoSliceMut};
use std::ops::ControlFlow;

use files::{BLOCK_BYTES, FileContent, FileVersion, PopulatedFile, STAMP_BYTES};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Advice, FileType, OFlags, fadvise, fstat, syncfs};
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite};
use thiserror::Error;

use super::resolve::{CallCount, file_type};
use super::root::{FileRoot, MARKER_NAME};
use super::tree;
use crate::file::FileSetPlan;

/// The bytes that are written at a time.
const PIECE_BYTES: usize = 1 << 20;

/// The most pages of a file that are looked for in the page cache.
const PROBES_MAX: u64 = 8;

/// The result of a population.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PopulationSummary {
    /// The files that were written.
    pub n_made: u64,
    /// Their bytes.
    pub made_bytes: u64,
    /// The files that were there already: their content is that of an earlier load point.
    pub n_kept: u64,
    /// Their bytes.
    pub kept_bytes: u64,
    /// The files and folders that were removed, because they are none of the population.
    pub n_removed: u64,
}

/// A reason why a population was not made or checked.
#[derive(Debug, Error)]
pub enum FilePopulationError {
    /// It was to stop.
    #[error("the files were not made: the run was stopped")]
    Stopped,
    /// A file or folder cannot be made, read or removed.
    #[error("`{path}`: {source}")]
    File {
        /// Its path, relative to the folder of the run.
        path: String,
        /// The reason.
        source: io::Error,
    },
}

/// The state of a population.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PopulationCheck {
    /// All files are there with their lengths.
    Complete {
        /// The number of files.
        n_files: u64,
    },
    /// A file is not there.
    Missing {
        /// Its path, relative to the folder of the run.
        path: String,
    },
    /// A file has another length, or is no file.
    WrongLength {
        /// Its path, relative to the folder of the run.
        path: String,
        /// The length that it should have, in bytes.
        expected: u64,
        /// The length that it has, in bytes.
        found: u64,
    },
}

/// The result of an eviction from the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eviction {
    /// The size of the files, in bytes.
    pub bytes: u64,
    /// The bytes that are in memory still, an estimate from a few pages of each file; `None` if the file system does not
    /// say.
    pub cached_bytes: Option<u64>,
}

/// An entry that a population has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlannedEntry {
    Folder,
    File,
}

impl FileRoot {
    /// Makes what is missing of a population, and removes what is no part of it: what a cycle that was cut off has left.
    /// Files that are right are kept. `progress` is told the bytes done and the bytes of all files, and may stop.
    ///
    /// # Errors
    ///
    /// A file or folder cannot be made or removed, or `progress` stops.
    pub fn populate(
        &self,
        files: &FileSetPlan,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<PopulationSummary, FilePopulationError> {
        let mut summary = PopulationSummary::default();
        let in_root = |source: io::Error| FilePopulationError::File { path: ".".to_owned(), source };
        if !self.has_content(&files.content()).map_err(in_root)? {
            // No file can be right whose bytes are those of another seed.
            self.mark_content(None).map_err(in_root)?;
            let (resolution, calls) = (self.resolution(), &mut CallCount::default());
            let removed = tree::remove_content(resolution, self.folder(), Some(MARKER_NAME), calls);
            summary.n_removed += removed.map_err(|error| in_root(error.into()))?;
            self.mark_content(Some(&files.content())).map_err(in_root)?;
        }
        let folders = files.folders();
        let mut wanted: HashMap<String, PlannedEntry> =
            folders.iter().map(|folder| (folder.clone(), PlannedEntry::Folder)).collect();
        let mut text = files.path_text();
        wanted.extend(files.files().map(|file| (text.write(file.path).to_owned(), PlannedEntry::File)));
        summary.n_removed += self.sweep(self.folder(), &mut String::new(), &wanted)?;
        drop(wanted);
        for folder in &folders {
            match self.resolution().make_folder(self.folder(), folder, &mut CallCount::default()) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(folder, error)),
            }
        }
        let total = files.bytes();
        let mut done = 0;
        let mut writer = FileWriter { root: self, content: files.content(), buffer: Vec::new() };
        for file in files.files() {
            let path = text.write(file.path);
            if writer.is_right(&file, path)? {
                summary.n_kept += 1;
                summary.kept_bytes += file.bytes;
            } else {
                writer.write(&file, path, &mut |piece| progress(done + piece, total))?;
                summary.n_made += 1;
                summary.made_bytes += file.bytes;
            }
            done += file.bytes;
            if progress(done, total).is_break() {
                return Err(FilePopulationError::Stopped);
            }
        }
        Ok(summary)
    }

    /// Checks that every file of a population is there with its length, and finds the first that is not.
    ///
    /// # Errors
    ///
    /// A file cannot be asked about.
    pub fn check(&self, files: &FileSetPlan) -> Result<PopulationCheck, FilePopulationError> {
        let calls = &mut CallCount::default();
        let mut text = files.path_text();
        let mut n_files = 0;
        for file in files.files() {
            let path = text.write(file.path);
            match self.resolution().stat(self.folder(), path, calls) {
                Ok(stat) => {
                    let found = stat.st_size.unsigned_abs();
                    if file_type(&stat) != FileType::RegularFile || found != file.bytes {
                        let (path, expected) = (path.to_owned(), file.bytes);
                        return Ok(PopulationCheck::WrongLength { path, expected, found });
                    }
                }
                Err(Errno::NOENT | Errno::NOTDIR) => {
                    return Ok(PopulationCheck::Missing { path: path.to_owned() });
                }
                Err(error) => return Err(failed(path, error)),
            }
            n_files += 1;
        }
        Ok(PopulationCheck::Complete { n_files })
    }

    /// Writes the files of a population to the disk and evicts them from the page cache, so that what reads them later
    /// has to read the disk. All other files of the same file system are written to the disk, too.
    ///
    /// # Errors
    ///
    /// The file system cannot be written to the disk, or a file cannot be opened.
    pub fn evict(&self, files: &FileSetPlan) -> Result<Eviction, FilePopulationError> {
        // Once for all: dirty pages would stay, and to wait for each file by itself takes far longer.
        syncfs(self.folder()).map_err(|error| failed(".", error))?;
        let calls = &mut CallCount::default();
        let mut text = files.path_text();
        let mut eviction = Eviction { bytes: 0, cached_bytes: Some(0) };
        for file in files.files() {
            let path = text.write(file.path);
            let opened = self.resolution().open(self.folder(), path, OFlags::RDONLY, calls);
            let opened = opened.map_err(|error| failed(path, error))?;
            let cached = evict_file(opened.as_fd(), file.bytes).map_err(|error| failed(path, error))?;
            eviction.bytes += file.bytes;
            eviction.cached_bytes = eviction.cached_bytes.zip(cached).map(|(sum, more)| sum + more);
        }
        Ok(eviction)
    }

    /// Reads every file of a population once, so that it is in the page cache; returns the number of bytes. `progress` is told
    /// the bytes done and the bytes of all files, and may stop.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or `progress` stops.
    pub fn read_all(
        &self,
        files: &FileSetPlan,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<u64, FilePopulationError> {
        let calls = &mut CallCount::default();
        let mut text = files.path_text();
        let mut buffer = vec![0; PIECE_BYTES];
        let total = files.bytes();
        let mut done = 0;
        for file in files.files() {
            let path = text.write(file.path);
            let opened = self.resolution().open(self.folder(), path, OFlags::RDONLY, calls);
            let opened = opened.map_err(|error| failed(path, error))?;
            let mut offset = 0;
            while offset < file.bytes {
                match pread(&opened, &mut buffer, offset) {
                    Ok(0) => break,
                    Ok(n) => offset += n as u64,
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(failed(path, error)),
                }
                if progress(done + offset, total).is_break() {
                    return Err(FilePopulationError::Stopped);
                }
            }
            done += offset;
        }
        Ok(done)
    }

    /// Removes what is in a folder and is not wanted, or is of another type. Returns the number of files and folders.
    fn sweep(
        &self,
        folder: BorrowedFd,
        path: &mut String,
        wanted: &HashMap<String, PlannedEntry>,
    ) -> Result<u64, FilePopulationError> {
        let (resolution, calls) = (self.resolution(), &mut CallCount::default());
        let listed =
            tree::open_folder(resolution, folder, ".", calls).map_err(|error| failed(path, error))?;
        let entries = tree::entries(listed.as_fd(), calls).map_err(|error| failed(path, error))?;
        let mut n_removed = 0;
        let n_path = path.len();
        for entry in entries {
            if path.is_empty() && entry.name.as_c_str() == MARKER_NAME {
                continue;
            }
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(&entry.name.to_string_lossy());
            match (wanted.get(path.as_str()), entry.file_type) {
                (Some(PlannedEntry::File), FileType::RegularFile) => {}
                (Some(PlannedEntry::Folder), FileType::Directory) => {
                    let below = resolution.open_entry(listed.as_fd(), &entry.name, calls);
                    let below = below.map_err(|error| failed(path, error))?;
                    n_removed += self.sweep(below.as_fd(), path, wanted)?;
                }
                _ => {
                    let removed = tree::remove_whole_entry(resolution, listed.as_fd(), &entry, calls);
                    n_removed += removed.map_err(|error| failed(path, error))?;
                }
            }
            path.truncate(n_path);
        }
        Ok(n_removed)
    }
}

fn failed(path: &str, error: Errno) -> FilePopulationError {
    FilePopulationError::File { path: path.to_owned(), source: error.into() }
}

/// A writer of the files of a population.
struct FileWriter<'a> {
    root: &'a FileRoot,
    content: FileContent,
    buffer: Vec<u8>,
}

impl FileWriter<'_> {
    /// Returns whether a file is there with its length, and with the stamps that its first and its last block have in any
    /// generation. A file is written from its beginning to its end, so that one that was cut off is too short.
    fn is_right(&self, file: &PopulatedFile, path: &str) -> Result<bool, FilePopulationError> {
        let opened = match self.open(path, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(failed(path, error)),
        };
        let stat = fstat(&opened).map_err(|error| failed(path, error))?;
        if file_type(&stat) != FileType::RegularFile || stat.st_size.unsigned_abs() != file.bytes {
            return Ok(false);
        }
        let last = file.bytes.saturating_sub(1) / BLOCK_BYTES as u64;
        for block in [0, last] {
            if !self.has_stamp(&opened, file, block).map_err(|error| failed(path, error))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_stamp(&self, opened: &OwnedFd, file: &PopulatedFile, block: u64) -> rustix::io::Result<bool> {
        let mut found = [0; STAMP_BYTES];
        let n_read = pread(opened, &mut found, block * BLOCK_BYTES as u64)?;
        Ok(self.content.is_of_block(file.path.file_id(), block, &found[..n_read]))
    }

    /// Writes a file. `progress` is told the bytes done, and may stop.
    fn write(
        &mut self,
        file: &PopulatedFile,
        path: &str,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), FilePopulationError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let opened = self.open(path, flags).map_err(|error| failed(path, error))?;
        let version = FileVersion { file: file.path.file_id(), generation: 0 };
        let mut offset = 0;
        while offset < file.bytes {
            let n_piece = (file.bytes - offset).min(PIECE_BYTES as u64);
            self.buffer.resize(n_piece as usize, 0);
            self.content.fill(version, offset, &mut self.buffer);
            write_all(opened.as_fd(), &self.buffer, offset).map_err(|error| failed(path, error))?;
            offset += n_piece;
            if progress(offset).is_break() {
                return Err(FilePopulationError::Stopped);
            }
        }
        super::descriptor::close(opened).map_err(|error| failed(path, error))
    }

    fn open(&self, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        self.root.resolution().open(self.root.folder(), path, flags, &mut CallCount::default())
    }
}

fn write_all(file: BorrowedFd, bytes: &[u8], offset: u64) -> rustix::io::Result<()> {
    let mut n_written = 0;
    while n_written < bytes.len() {
        match pwrite(file, &bytes[n_written..], offset + n_written as u64) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(n) => n_written += n,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Evicts a file that has no dirty pages. Returns the bytes of it that are in memory still, as far as can be told.
fn evict_file(file: BorrowedFd, bytes: u64) -> rustix::io::Result<Option<u64>> {
    if bytes == 0 {
        return Ok(Some(0));
    }
    fadvise(file, 0, None, Advice::DontNeed)?;
    // Without it, the first page that is looked for would bring its neighbors.
    fadvise(file, 0, None, Advice::Random)?;
    let n_probes = bytes.div_ceil(BLOCK_BYTES as u64).min(PROBES_MAX);
    let mut n_cached = 0;
    for probe in 0..n_probes {
        match is_cached(file, bytes / n_probes * probe) {
            Some(is_cached) => n_cached += u64::from(is_cached),
            None => return Ok(None),
        }
    }
    // A page that was not there is being read because it was looked for.
    fadvise(file, 0, None, Advice::DontNeed)?;
    Ok(Some((u128::from(bytes) * u128::from(n_cached) / u128::from(n_probes)) as u64))
}

/// Returns whether the page at an offset of a file is in memory; `None` if the file system does not say.
fn is_cached(file: BorrowedFd, offset: u64) -> Option<bool> {
    let mut byte = [0];
    match preadv2(file, &mut [IoSliceMut::new(&mut byte)], offset, ReadWriteFlags::NOWAIT) {
        Ok(_) => Some(true),
        Err(Errno::AGAIN) => Some(false),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use files::{FilePopulation, MicroSettings, MicroTest, Workspace};

    use super::*;
    use crate::file::WorkloadFiles;

    fn disk_mix(seed: u64, n_clients: u32) -> FileSetPlan {
        let population = FilePopulation { workspace: Workspace::new(15).unwrap(), n_clients };
        FileSetPlan::new(WorkloadFiles::DiskMix(population), FileContent::new(seed, 50))
    }

    fn go_on(_: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn populate(root: &FileRoot, plan: &FileSetPlan) -> PopulationSummary {
        root.populate(plan, &mut go_on).unwrap()
    }

    /// Goal: a second population does nothing, and one after a cycle that was cut off only what is needed.
    #[test]
    fn right_files_are_kept_others_are_made_again_and_the_rest_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        let plan = disk_mix(1, 1);
        let mut steps = Vec::new();
        let first = root
            .populate(&plan, &mut |done, total| {
                steps.push((done, total));
                ControlFlow::Continue(())
            })
            .unwrap();
        let (n_files, bytes) = (59 + 51, 12_529_664 + (15 << 20));
        assert_eq!(first, PopulationSummary { n_made: n_files, made_bytes: bytes, ..Default::default() });
        assert!(steps.is_sorted() && steps.last() == Some(&(bytes, bytes)));
        assert_eq!(root.check(&plan).unwrap(), PopulationCheck::Complete { n_files });
        let kept = PopulationSummary { n_kept: n_files, kept_bytes: bytes, ..Default::default() };
        assert_eq!(populate(&root, &plan), kept);

        // A file is missing, one is short, one has bytes of another, one is a folder, and one a link.
        let path = |name: &str| root.path().join(name);
        fs::remove_file(path("private/c0/bulk/f00000.bin")).unwrap();
        fs::File::options()
            .write(true)
            .open(path("shared/listed/f00003.bin"))
            .unwrap()
            .set_len(4095)
            .unwrap();
        fs::copy(path("shared/listed/f00004.bin"), path("shared/listed/f00005.bin")).unwrap();
        fs::remove_file(path("shared/listed/f00006.bin")).unwrap();
        fs::create_dir(path("shared/listed/f00006.bin")).unwrap();
        fs::remove_file(path("shared/listed/f00007.bin")).unwrap();
        symlink("f00008.bin", path("shared/listed/f00007.bin")).unwrap();
        // The cycle has left two files, and there is a client too many.
        fs::write(path("private/c0/new/f00012.bin"), "x").unwrap();
        fs::write(path("private/c0/new/f00013.old"), "").unwrap();
        fs::create_dir_all(path("private/c1/bulk")).unwrap();
        fs::remove_dir_all(path("private/c0/pad")).unwrap();
        let expected = PopulationSummary {
            n_made: 5,
            made_bytes: 327_680 + 4 * 4096,
            n_kept: n_files - 5,
            kept_bytes: bytes - 327_680 - 4 * 4096,
            n_removed: 6,
        };
        assert_eq!(populate(&root, &plan), expected);
        assert_eq!(populate(&root, &plan), kept);
        assert!(path("private/c0/pad").is_dir(), "an empty folder is made again, too");
        root.remove().unwrap();
    }

    /// Bytes of another seed, and files that earlier load points have written.
    #[test]
    fn files_are_right_in_any_generation_but_of_one_content() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        let micro =
            MicroSettings { n_files: 3, small_file_bytes: 5000, ..MicroSettings::new(MicroTest::Stat, 1) };
        let plan = |seed| FileSetPlan::new(WorkloadFiles::Micro(micro, 1), FileContent::new(seed, 50));
        populate(&root, &plan(1));
        let file = plan(1).files().next().unwrap();
        let mut written = [0; 5000];
        FileContent::new(1, 50).fill(
            FileVersion { file: file.path.file_id(), generation: 0x0102_0304 },
            0,
            &mut written,
        );
        fs::write(root.path().join("private/c0/small0/f00000.bin"), written).unwrap();
        assert_eq!(populate(&root, &plan(1)).n_kept, 3);
        let other = populate(&root, &plan(2));
        assert_eq!((other.n_kept, other.n_made), (0, 3));
        assert_eq!(other.n_removed, 6, "three files in three folders");
    }

    #[test]
    fn a_population_that_is_stopped_is_completed_later() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        let plan = disk_mix(1, 1);
        let half = plan.bytes() / 2;
        let stopped = root.populate(&plan, &mut |done, _| {
            if done < half { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert!(matches!(stopped, Err(FilePopulationError::Stopped)));
        let check = root.check(&plan).unwrap();
        assert!(!matches!(check, PopulationCheck::Complete { .. }), "{check:?}");
        let summary = populate(&root, &plan);
        assert!(0 < summary.n_kept && 0 < summary.n_made, "{summary:?}");
        assert_eq!(root.check(&plan).unwrap(), PopulationCheck::Complete { n_files: 110 });
    }

    #[test]
    fn the_first_file_that_is_not_right_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        let plan = disk_mix(1, 1);
        let first = "shared/presentation/f00000.bin";
        assert_eq!(root.check(&plan).unwrap(), PopulationCheck::Missing { path: first.to_owned() });
        populate(&root, &plan);
        let last = "private/c0/bulk/f00002.bin";
        fs::write(root.path().join(last), "short").unwrap();
        let wrong = PopulationCheck::WrongLength { path: last.to_owned(), expected: 1_867_776, found: 5 };
        assert_eq!(root.check(&plan).unwrap(), wrong);
    }

    /// Files in memory cannot be evicted; those on a disk can.
    #[test]
    fn files_are_evicted_as_far_as_their_file_system_allows() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        let plan = disk_mix(1, 1);
        populate(&root, &plan);
        let file = fs::File::open(root.path().join("shared/listed/f00000.bin")).unwrap();
        // It has just been written.
        let before = is_cached(file.as_fd(), 0);
        assert_ne!(before, Some(false));
        let eviction = root.evict(&plan).unwrap();
        assert_eq!(eviction.cached_bytes.is_some(), before.is_some(), "{eviction:?}");
        assert_eq!(eviction.bytes, plan.bytes());
        assert!(eviction.cached_bytes.is_none_or(|cached| cached <= eviction.bytes), "{eviction:?}");
        assert_eq!(root.check(&plan).unwrap(), PopulationCheck::Complete { n_files: 110 });
    }
}
