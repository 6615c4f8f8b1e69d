//! The operations of a client on the files of a directory.

use std::sync::Arc;

use engine::BlockingDriver;
use files::{ExistingFile, Expectation, FileAction, FileOperation, FilePath, FileRange, FindSize, Handle};
use model::{Outcome, Reply};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, OFlags, Timespec, Timestamps, fstat, fstatvfs, fsync, futimens, renameat};
use rustix::io::{Errno, pread, pwrite};
use units::{Clock, Nanos, RealClock};

use super::descriptor::{self, LockChange};
use super::errno::{errno_name, failure};
use super::resolve::{CallCount, Resolution};
use super::root::FileRoot;
use super::tree;
use crate::file::content::ClientContent;
use crate::file::failure::{FileFailure, PerformedAction, Refusal, reply};
use crate::file::first_data::FirstDataTimer;
use crate::file::found_names::FoundNames;
use crate::file::handle_table::{HandleTable, OpenFile};
use crate::file::name_pattern::NamePattern;
use crate::file::path_text::{CAPTURED_FOLDER, PathText, split};
use crate::file::{Durability, FileClientOptions};

/// The time that a client sets first: 2001-09-09 01:46:40 UTC. Each further one is a second later.
const FIRST_TIME: i64 = 1_000_000_000;

/// A driver of one client, whose calls perform its operations.
#[derive(Debug)]
pub struct DirectoryDriver {
    root: Arc<FileRoot>,
    client: u32,
    clock: RealClock,
    durability: Durability,
    handles: HandleTable<OwnedFd>,
    content: ClientContent,
    first_data: FirstDataTimer,
    path: PathText,
    /// The new path of a rename.
    other_path: PathText,
    /// The bytes of the read or write.
    buffer: Vec<u8>,
    /// The number of times that were set.
    n_times: i64,
}

/// The part of an action that is known when its calls have returned, for what is noted and verified after its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Acted {
    /// Nothing is left to do.
    Done,
    /// A file that had nothing in it was opened, created or cut.
    Empty(FilePath),
    /// So many bytes of a range were read into the buffer.
    Read(FilePath, FileRange, usize),
    /// A range was written in a generation.
    Written(FilePath, FileRange, u32),
    /// A search found so many names.
    Found(FilePath, FindSize, u32),
}

/// The failure of an action, before its meaning is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ActFailure {
    Call(Errno),
    Other(FileFailure),
}

type ActResult = Result<Acted, ActFailure>;

impl From<Errno> for ActFailure {
    fn from(error: Errno) -> ActFailure {
        ActFailure::Call(error)
    }
}

impl From<ActFailure> for FileFailure {
    fn from(act_failure: ActFailure) -> FileFailure {
        match act_failure {
            ActFailure::Call(error) => failure(error),
            ActFailure::Other(other) => other,
        }
    }
}

impl DirectoryDriver {
    /// Creates the driver of the client of this number.
    pub fn new(
        root: Arc<FileRoot>,
        client: u32,
        options: &FileClientOptions,
        clock: RealClock,
    ) -> DirectoryDriver {
        DirectoryDriver {
            root,
            client,
            clock,
            durability: options.durability,
            handles: HandleTable::new(),
            content: ClientContent::new(options),
            first_data: FirstDataTimer::new(options.times_first_data),
            path: PathText::new(options.loadfile.clone()),
            other_path: PathText::new(options.loadfile.clone()),
            buffer: Vec::new(),
            n_times: 0,
        }
    }

    /// Makes the calls of an action.
    fn act(&mut self, operation: &FileOperation, calls: &mut CallCount) -> ActResult {
        let keeps_open = operation.expected != Expectation::Failure;
        match operation.action {
            FileAction::Open(handle, path) => {
                let opened = self.open_path(path, OFlags::empty(), calls)?;
                self.keep(handle, path, opened, keeps_open, calls);
                Ok(Acted::Done)
            }
            FileAction::Create(handle, path, existing) => {
                self.create(handle, path, existing, keeps_open, calls)
            }
            FileAction::CreateFolder(handle, path) => {
                match self.make_folder(path, calls) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                let opened = self.open_folder(path, calls)?;
                self.keep(handle, path, opened, keeps_open, calls);
                Ok(Acted::Done)
            }
            FileAction::Close(handle) => {
                let open = self.handles.remove(handle).ok_or(NOT_OPEN)?;
                calls.call(|| descriptor::close(open.file))?;
                Ok(Acted::Done)
            }
            FileAction::Read(handle, range) => self.read(handle, range, calls),
            FileAction::Write(handle, range) => self.write(handle, range, calls),
            FileAction::Flush(handle) => {
                let open = self.handles.get(handle).ok_or(NOT_OPEN)?;
                if self.durability != Durability::Relaxed {
                    calls.call(|| fsync(&open.file))?;
                }
                Ok(Acted::Done)
            }
            FileAction::PathQuery(path, _) => {
                let text = self.path.write(path);
                self.root.resolution().stat(self.root.folder(), text, calls)?;
                Ok(Acted::Done)
            }
            FileAction::FileQuery(handle, _) => {
                let open = self.handles.get(handle).ok_or(NOT_OPEN)?;
                calls.call(|| fstat(&open.file))?;
                Ok(Acted::Done)
            }
            FileAction::Set(handle, _) => self.set_times(handle, calls),
            FileAction::VolumeQuery(_) => {
                calls.call(|| fstatvfs(self.root.folder()))?;
                Ok(Acted::Done)
            }
            FileAction::Find(path, size) => self.find(path, size, calls),
            FileAction::Rename(from, to) => self.rename(from, to, calls),
            FileAction::Unlink(path) => {
                let text = self.path.write(path);
                self.root.resolution().remove(self.root.folder(), text, AtFlags::empty(), calls)?;
                Ok(Acted::Done)
            }
            FileAction::MakeFolder(path) => match self.make_folder(path, calls) {
                // Whoever captured the mix had no folder there, or did not mind.
                Err(Errno::EXIST) if matches!(path, FilePath::Captured(_)) => Ok(Acted::Done),
                made => made.map(|()| Acted::Done).map_err(ActFailure::from),
            },
            FileAction::RemoveFolder(path) => {
                let text = self.path.write(path);
                self.root.resolution().remove(self.root.folder(), text, AtFlags::REMOVEDIR, calls)?;
                Ok(Acted::Done)
            }
            FileAction::RemoveTree(path) => self.remove_tree(path, calls),
            FileAction::Lock(handle, range) => self.lock(handle, range, LockChange::Lock, calls),
            FileAction::Unlock(handle, range) => self.lock(handle, range, LockChange::Unlock, calls),
        }
    }

    /// Notes and verifies an action whose calls have succeeded.
    fn settle(&mut self, operation: &FileOperation, acted: Acted) -> Result<(), FileFailure> {
        match acted {
            Acted::Done => {}
            Acted::Empty(path) => self.content.created(path),
            Acted::Read(path, range, n_bytes) => {
                return self.content.verify(path, range, &self.buffer[..n_bytes]);
            }
            Acted::Written(path, range, generation) => self.content.written(path, range, generation),
            Acted::Found(path, size, n_found) => return found(operation.expected, path, size, n_found),
        }
        match operation.action {
            FileAction::Rename(from, to) => {
                self.content.renamed(from, to);
                self.handles.renamed(from, to);
            }
            FileAction::Unlink(path) => self.content.deleted(path),
            _ => {}
        }
        Ok(())
    }

    fn open_path(&mut self, path: FilePath, flags: OFlags, calls: &mut CallCount) -> Result<OwnedFd, Errno> {
        let durable = if self.durability == Durability::Write { OFlags::DSYNC } else { OFlags::empty() };
        let text = self.path.write(path);
        let (resolution, folder) = (self.root.resolution(), self.root.folder());
        match resolution.open(folder, text, OFlags::RDWR | durable | flags, calls) {
            Err(Errno::ISDIR) => tree::open_folder(resolution, folder, text, calls),
            opened => opened,
        }
    }

    fn open_folder(&mut self, path: FilePath, calls: &mut CallCount) -> Result<OwnedFd, Errno> {
        let text = self.path.write(path);
        tree::open_folder(self.root.resolution(), self.root.folder(), text, calls)
    }

    fn make_folder(&mut self, path: FilePath, calls: &mut CallCount) -> Result<(), Errno> {
        let text = self.path.write(path);
        self.root.resolution().make_folder(self.root.folder(), text, calls)
    }

    /// Keeps what was opened in a slot, whose file is closed before. What should not have opened is closed.
    fn keep(
        &mut self,
        handle: Handle,
        path: FilePath,
        opened: OwnedFd,
        keeps_open: bool,
        calls: &mut CallCount,
    ) {
        let left = if keeps_open {
            self.handles.insert(handle, OpenFile { path, file: opened }).map(|before| before.file)
        } else {
            Some(opened)
        };
        if let Some(left) = left {
            calls.close(left);
        }
    }

    fn create(
        &mut self,
        handle: Handle,
        path: FilePath,
        existing: ExistingFile,
        keeps_open: bool,
        calls: &mut CallCount,
    ) -> ActResult {
        let flags = match existing {
            ExistingFile::Refuse => OFlags::CREATE | OFlags::EXCL,
            ExistingFile::Keep => OFlags::CREATE,
            ExistingFile::Truncate => OFlags::CREATE | OFlags::TRUNC,
        };
        let opened = self.open_path(path, flags, calls)?;
        // The system does not say whether the file was there.
        let is_empty = existing != ExistingFile::Keep
            || calls.call(|| fstat(&opened)).is_ok_and(|stat| stat.st_size == 0);
        self.keep(handle, path, opened, keeps_open, calls);
        Ok(if is_empty { Acted::Empty(path) } else { Acted::Done })
    }

    fn read(&mut self, handle: Handle, range: FileRange, calls: &mut CallCount) -> ActResult {
        let open = self.handles.get(handle).ok_or(NOT_OPEN)?;
        let bytes = room(&mut self.buffer, range);
        let mut n_read = 0;
        while n_read < bytes.len() {
            let offset = range.offset.saturating_add(n_read as u64);
            match calls.call(|| pread(&open.file, &mut bytes[n_read..], offset)) {
                Ok(0) => break,
                Ok(n) => n_read += n,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Acted::Read(open.path, range, n_read))
    }

    fn write(&mut self, handle: Handle, range: FileRange, calls: &mut CallCount) -> ActResult {
        let open = self.handles.get(handle).ok_or(NOT_OPEN)?;
        let bytes = room(&mut self.buffer, range);
        let generation = self.content.fill(open.path, range.offset, bytes);
        let mut n_written = 0;
        while n_written < bytes.len() {
            let offset = range.offset.saturating_add(n_written as u64);
            match calls.call(|| pwrite(&open.file, &bytes[n_written..], offset)) {
                Ok(0) => return Err(Errno::NOSPC.into()),
                Ok(n) => n_written += n,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Acted::Written(open.path, range, generation))
    }

    fn set_times(&mut self, handle: Handle, calls: &mut CallCount) -> ActResult {
        let open = self.handles.get(handle).ok_or(NOT_OPEN)?;
        let time = Timespec { tv_sec: FIRST_TIME + self.n_times, tv_nsec: 0 };
        self.n_times += 1;
        calls.call(|| futimens(&open.file, &Timestamps { last_access: time, last_modification: time }))?;
        Ok(Acted::Done)
    }

    /// Searches a folder. Not part of the caller, because of the room that the entries take on the stack.
    #[inline(never)]
    fn find(&mut self, path: FilePath, size: FindSize, calls: &mut CallCount) -> ActResult {
        let text = self.path.write(path);
        let (folder, name) = split(text);
        let (resolution, root) = (self.root.resolution(), self.root.folder());
        if !NamePattern::is_pattern(name) {
            return match resolution.stat(root, text, calls) {
                Ok(_) => Ok(Acted::Found(path, size, 1)),
                Err(Errno::NOENT) => Ok(Acted::Found(path, size, 0)),
                Err(error) => Err(error.into()),
            };
        }
        // Whoever captured the mix asked a server that ignores the case of names.
        let pattern = NamePattern::new(name, matches!(path, FilePath::Captured(_)));
        let searched = match tree::open_folder(resolution, root, folder, calls) {
            Ok(searched) => searched,
            // That there is no match is right only where there is the folder.
            Err(error) if matches!(path, FilePath::Populated(_)) => {
                let refusal = Refusal::Fault;
                return Err(ActFailure::Other(FileFailure { refusal, ..failure(error) }));
            }
            Err(error) => return Err(error.into()),
        };
        let n_found = matching(searched.as_fd(), pattern, size.wanted, calls);
        calls.close(searched);
        Ok(Acted::Found(path, size, n_found?))
    }

    fn rename(&mut self, from: FilePath, to: FilePath, calls: &mut CallCount) -> ActResult {
        let (resolution, root) = (self.root.resolution(), self.root.folder());
        let (from, to) = (self.path.write(from), self.other_path.write(to));
        let (parent, name) = resolution.parent(root, from, calls)?;
        let renamed = if split(to).0 == split(from).0 {
            calls.call(|| renameat(&parent, name, &parent, split(to).1))
        } else {
            rename_to(resolution, root, &parent, name, to, calls)
        };
        calls.close(parent);
        renamed?;
        Ok(Acted::Done)
    }

    /// Removes a folder with all that is in it. One that is not there is as it should be.
    fn remove_tree(&mut self, path: FilePath, calls: &mut CallCount) -> ActResult {
        let text = self.path.write(path);
        let (resolution, root) = (self.root.resolution(), self.root.folder());
        let folder = match tree::open_folder(resolution, root, text, calls) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(Acted::Done),
            Err(error) => return Err(error.into()),
        };
        let removed = tree::remove_content(resolution, folder.as_fd(), None, calls);
        calls.close(folder);
        removed?;
        // The folder of all captured paths is the share itself.
        if text != CAPTURED_FOLDER {
            resolution.remove(root, text, AtFlags::REMOVEDIR, calls)?;
        }
        Ok(Acted::Done)
    }

    fn lock(&self, handle: Handle, range: FileRange, change: LockChange, calls: &mut CallCount) -> ActResult {
        let open = self.handles.get(handle).ok_or(NOT_OPEN)?;
        calls.call(|| descriptor::lock(&open.file, range, change))?;
        Ok(Acted::Done)
    }
}

/// The failure of an operation on a slot in which nothing is open.
const NOT_OPEN: ActFailure = ActFailure::Other(FileFailure {
    outcome: Outcome::ValueMissing,
    refusal: Refusal::Fault,
    code: 0,
    detail: 0,
});

/// Returns as many bytes of a buffer as a range has.
fn room(buffer: &mut Vec<u8>, range: FileRange) -> &mut [u8] {
    let length = range.length as usize;
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    &mut buffer[..length]
}

/// Returns the number of names in a folder that match a pattern, of at most so many.
fn matching(
    folder: BorrowedFd,
    pattern: NamePattern,
    wanted: u32,
    calls: &mut CallCount,
) -> Result<u32, Errno> {
    let mut n_found = 0;
    tree::for_each_entry(folder, calls, |entry| {
        n_found += u32::from(pattern.matches(entry.file_name().to_bytes()));
        Ok(n_found < wanted)
    })?;
    Ok(n_found)
}

/// Renames to a path in another folder.
fn rename_to(
    resolution: Resolution,
    root: BorrowedFd,
    parent: &OwnedFd,
    name: &str,
    to: &str,
    calls: &mut CallCount,
) -> Result<(), Errno> {
    let (other_parent, other_name) = resolution.parent(root, to, calls)?;
    let renamed = calls.call(|| renameat(parent, name, &other_parent, other_name));
    calls.close(other_parent);
    renamed
}

/// Holds the number of names that a search found against the one that it must find.
fn found(expected: Expectation, path: FilePath, size: FindSize, n_found: u32) -> Result<(), FileFailure> {
    match FoundNames::of(n_found.into(), expected, path, size) {
        FoundNames::Right => Ok(()),
        FoundNames::Missing => Err(FileFailure::no_match()),
        FoundNames::Wrong => Err(FileFailure::found(Outcome::WrongLength, n_found.into())),
    }
}

impl BlockingDriver for DirectoryDriver {
    type Operation = FileOperation;

    fn perform(&mut self, operation: &FileOperation, sent: Nanos) -> Reply {
        let mut calls = CallCount::default();
        let acted = self.act(operation, &mut calls);
        // From here on it is work of the client, not of the file system.
        let done = self.clock.now();
        let result = acted.map_err(FileFailure::from);
        let result = result.and_then(|acted| self.settle(operation, acted));
        let mut reply = reply(operation, sent, PerformedAction { done, n_exchanges: calls.get(), result });
        self.first_data.note(operation, &mut reply);
        reply
    }

    fn describe(&self, operation: &FileOperation, reply: &Reply) -> String {
        let why = match reply.outcome {
            Outcome::WrongBytes => format!("the byte at {} is not the one that was written", reply.detail),
            Outcome::Truncated => format!("only {} bytes are there", reply.detail),
            Outcome::WrongLength => format!("{} names match", reply.detail),
            Outcome::ValueMissing => "the file is not open".to_owned(),
            Outcome::WrongStatus if reply.code == 0 => "should have failed".to_owned(),
            Outcome::TimedOut if reply.code == 0 => {
                format!("not done in time, but ended after {}", reply.done - reply.sent)
            }
            _ => error_text(reply.code, reply.outcome),
        };
        format!("client {}: {}: {why}", self.client, self.subject(operation))
    }
}

impl DirectoryDriver {
    /// Returns an operation in words, with the paths of handles and of captured mixes.
    fn subject(&self, operation: &FileOperation) -> String {
        let kind = operation.kind().name();
        let text = |path: FilePath| self.path.text_of(path);
        let of_handle = |handle| match self.handles.get(handle) {
            Some(open) => text(open.path),
            None => "a file that is not open".to_owned(),
        };
        match (operation.paths(), operation.uses()) {
            ([Some(from), Some(to)], _) => format!("{kind} `{}` to `{}`", text(from), text(to)),
            ([Some(path), None] | [None, Some(path)], _) => format!("{kind} `{}`", text(path)),
            ([None, None], Some(handle)) => match operation.action {
                FileAction::Read(_, range)
                | FileAction::Write(_, range)
                | FileAction::Lock(_, range)
                | FileAction::Unlock(_, range) => format!("{kind} `{}`, {range}", of_handle(handle)),
                _ => format!("{kind} `{}`", of_handle(handle)),
            },
            ([None, None], None) => kind.to_owned(),
        }
    }
}

/// Returns an error of the kernel in words, with its name.
fn error_text(code: u32, outcome: Outcome) -> String {
    let Ok(number @ 1..) = i32::try_from(code) else { return outcome.name().to_owned() };
    let error = std::io::Error::from_raw_os_error(number).to_string();
    let words = error.split(" (os error").next().unwrap_or(&error);
    match errno_name(code) {
        Some(name) => format!("{words} ({name})"),
        None => format!("{words} (error {code})"),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use files::{Baseline, DiskMix, FileAnswer, FileContent, FilePopulation, FileStep, Verify, Workspace};

    use super::*;
    use crate::file::{FileSetPlan, WorkloadFiles};

    /// Goal: a kernel without `openat2` gives the same results, with more calls.
    #[test]
    fn a_cycle_succeeds_where_paths_are_resolved_part_by_part() {
        let workspace = Workspace::new(Workspace::LEAST).unwrap();
        let content = FileContent::new(1, 50);
        let plan =
            FileSetPlan::new(WorkloadFiles::DiskMix(FilePopulation { workspace, n_clients: 1 }), content);
        let options = FileClientOptions {
            content,
            verify: Verify::Full,
            baseline: Baseline::Populated,
            last_generation: 0,
            durability: Durability::Relaxed,
            times_first_data: false,
            loadfile: None,
        };
        let n_calls = [Resolution::Bounded, Resolution::PartByPart].map(|resolution| {
            let directory = tempfile::tempdir().unwrap();
            let root = FileRoot::open(directory.path()).unwrap().resolving(resolution);
            root.populate(&plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
            let clock = RealClock::start();
            let mut driver = DirectoryDriver::new(Arc::new(root), 0, &options, clock);
            let mut client = DiskMix { workspace, ..DiskMix::new(1) }.client(0);
            let mut last = None;
            let mut n_calls = 0;
            while let FileStep::Perform(operation) = client.next(last.take()) {
                let reply = driver.perform(&operation, clock.now());
                assert_eq!(reply.outcome, Outcome::Ok, "{}", driver.describe(&operation, &reply));
                n_calls += reply.measured.get(model::file_measure::EXCHANGES).unwrap();
                last = Some(FileAnswer::from_u64(reply.answer));
            }
            n_calls
        });
        assert!(2 * n_calls[0] < n_calls[1], "{n_calls:?}");
    }
}
