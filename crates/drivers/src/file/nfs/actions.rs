//! The actions of a client, each as the requests that it takes.
//!
//! | action | version 4.1 | version 3 | exchanges |
//! |---|---|---|---|
//! | open, create | `OPEN` with `GETFH` and `GETATTR` | `LOOKUP`, `CREATE` | 1 |
//! | close | `CLOSE` | none: nothing is open | 1, 0 |
//! | read, write | `READ`, `WRITE`, of at most what the server allows | the same | 1 each |
//! | flush | `COMMIT`, unless durability is relaxed | the same | 1 |
//! | lock, unlock | `LOCK`, `LOCKU` | left out | 1, 0 |
//! | path query | `LOOKUP` with `GETATTR` | `LOOKUP`, whose reply has the attributes | 1 |
//! | file query, set | `GETATTR`, `SETATTR` | the same | 1 |
//! | volume query | `GETATTR` of the space | `FSSTAT` | 1 |
//! | find | `READDIR` for each page | `READDIRPLUS` | 1 and more |
//! | rename, unlink, make and remove a folder | `RENAME`, `REMOVE`, `CREATE` | `RENAME`, `REMOVE`, `MKDIR`, `RMDIR` | 1 |
//!
//! Each is about a name in a folder, whose handle is known from its first use on; to look it up takes an exchange for each
//! part of its path. Names are compared with the pattern of a search here. A close makes nothing durable, as elsewhere.
//!
//! Source: specification of the file family, section 5.1.

use std::cell::RefCell;
use std::ops::Deref;

use files::{ExistingFile, Expectation, FileAction, FileOperation, FilePath, FileRange, FindSize, Handle};

use super::NfsContext;
use super::client::NfsClient;
use super::failure::{NfsFailure, Violation};
use super::places;
use super::procedure::{EntryPath, FileSharing, ListEntry, NfsFile, Procedure, StateId, Verifier, Written};
use super::status::NfsStatus;
use super::xdr::FileHandle;
use crate::file::Durability;
use crate::file::content::ClientContent;
use crate::file::found_names::FoundNames;
use crate::file::frame_buffer::BufferPool;
use crate::file::handle_table::{HandleTable, OpenFile};
use crate::file::name_pattern::NamePattern;
use crate::file::path_text::{CAPTURED_FOLDER, split};
use crate::file::run_folder::DEPTH_MAX;

/// The time from which the times are counted that clients set, 2020-01-01 00:00 UTC, in seconds since 1970.
const FIRST_TIME: u64 = 1_577_836_800;

/// A session of a client in the folder of a run, with its open files.
#[derive(Debug)]
pub(super) struct WorkingClient {
    pub(super) client: NfsClient,
    /// The folder of the run.
    root: FileHandle,
    handles: HandleTable<WrittenFile>,
    /// The number of times that were set.
    n_times: u64,
}

/// An open file, and what is known of the bytes written to it that the server has not made durable.
#[derive(Debug, Clone, Copy)]
struct WrittenFile {
    file: NfsFile,
    /// The number by which the server told at the first of these writes whether it was restarted.
    unstable: Option<Verifier>,
    /// Whether it was restarted since then.
    is_lost: bool,
}

/// The things that a client works with besides its session.
pub(super) struct ActionContext<'a> {
    pub(super) shared: &'a NfsContext,
    pub(super) content: &'a mut ClientContent,
}

impl<'a> ActionContext<'a> {
    /// Returns the text of a path.
    fn path(&self, path: FilePath) -> PooledText<'a> {
        let mut text = self.shared.texts.borrow_mut().pop().unwrap_or_default();
        text.clear();
        text.push_str(self.shared.paths.borrow_mut().write(path));
        PooledText { text, pool: &self.shared.texts }
    }
}

/// A text in a buffer of its load thread, to which it goes back.
struct PooledText<'a> {
    text: String,
    pool: &'a RefCell<Vec<String>>,
}

impl Deref for PooledText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Drop for PooledText<'_> {
    fn drop(&mut self) {
        self.pool.borrow_mut().push(std::mem::take(&mut self.text));
    }
}

impl WorkingClient {
    /// Begins to work in the folder of a run.
    pub(super) fn new(client: NfsClient, root: FileHandle) -> WorkingClient {
        WorkingClient { client, root, handles: HandleTable::new(), n_times: 0 }
    }

    /// Returns whether no file is open, so that nothing is lost with the session.
    pub(super) fn has_no_files(&self) -> bool {
        self.handles.is_empty()
    }

    /// Performs the action of an operation.
    ///
    /// # Errors
    /// The server does not do it, or the session ended.
    pub(super) async fn act(
        &mut self,
        operation: &FileOperation,
        context: &mut ActionContext<'_>,
    ) -> Result<(), NfsFailure> {
        let pool = &context.shared.pool;
        match operation.action {
            FileAction::Open(handle, path) => self.open(operation, (handle, path), None, context).await,
            FileAction::Create(handle, path, existing) => {
                self.open(operation, (handle, path), Some(existing), context).await
            }
            FileAction::CreateFolder(handle, path) => self.create_folder((handle, path), context).await,
            FileAction::Close(handle) => {
                let open = self.handles.remove(handle).ok_or_else(not_open)?;
                self.client.close(&open.file.file, pool).await
            }
            FileAction::Read(handle, range) => self.read(handle, range, context).await,
            FileAction::Write(handle, range) => self.write(handle, range, context).await,
            FileAction::Flush(handle) => self.flush(handle, context).await,
            FileAction::PathQuery(path, _) => {
                let path = context.path(path);
                let (folder, name) = split(&path);
                let folder_handle = self.folder(folder, context).await?;
                let found = self.client.lookup((&folder_handle, name), pool).await;
                let found = forget_stale(found, folder, context)?;
                self.client.attributes(&found, pool).await.map(drop)
            }
            FileAction::FileQuery(handle, _) => {
                let file = self.file(handle)?.file;
                self.client.query(&file.handle, pool).await.map(drop)
            }
            FileAction::Set(handle, _) => {
                let file = self.file(handle)?.file;
                self.n_times += 1;
                let time = Some(FIRST_TIME + self.n_times);
                self.client.done(Procedure::SetTimes(&file.handle, time), pool).await
            }
            FileAction::VolumeQuery(_) => self.client.done(Procedure::Volume(&self.root), pool).await,
            FileAction::Find(pattern, size) => self.find(operation, pattern, size, context).await,
            FileAction::Rename(from, to) => self.rename(from, to, context).await,
            FileAction::Unlink(path) => {
                self.at_place(&context.path(path), context, |place| Procedure::Remove(place)).await?;
                context.content.deleted(path);
                Ok(())
            }
            FileAction::MakeFolder(path) => {
                let text = context.path(path);
                match self.at_place(&text, context, |place| Procedure::MakeFolder(place)).await {
                    // Whoever captured the mix had no folder there, or did not mind.
                    Err(failure)
                        if failure.is_status(NfsStatus::EXIST) && matches!(path, FilePath::Captured(_)) =>
                    {
                        Ok(())
                    }
                    made => made,
                }
            }
            FileAction::RemoveFolder(path) => {
                let path = context.path(path);
                self.at_place(&path, context, |place| Procedure::RemoveFolder(place)).await?;
                context.shared.folders.borrow_mut().forget(&path);
                Ok(())
            }
            FileAction::RemoveTree(path) => self.remove_tree(&context.path(path), context).await,
            FileAction::Lock(handle, range) => {
                let open = self.file(handle)?.file;
                if open.open.is_none() {
                    return Err(not_open());
                }
                let locks = self.client.lock(Procedure::Lock(&open, range), pool).await?;
                self.set_locks(handle, locks)
            }
            FileAction::Unlock(handle, range) => {
                let open = self.file(handle)?.file;
                if open.locks.is_none() {
                    return Err(NfsFailure::violation(Violation::NotLocked, 0));
                }
                let locks = self.client.lock(Procedure::Unlock(&open, range), pool).await?;
                self.set_locks(handle, locks)
            }
        }
    }

    /// Returns the handle of a folder, and looks it up where it is not known.
    async fn folder(&mut self, path: &str, context: &ActionContext<'_>) -> Result<FileHandle, NfsFailure> {
        let shared = context.shared;
        places::look_up(&mut self.client, &self.root, path, &shared.folders, &shared.pool).await
    }

    /// Makes a request about a name in a folder of whose answer nothing is needed.
    async fn at_place(
        &mut self,
        path: &str,
        context: &ActionContext<'_>,
        procedure: impl for<'a> Fn(EntryPath<'a>) -> Procedure<'a>,
    ) -> Result<(), NfsFailure> {
        let (folder, name) = split(path);
        let handle = self.folder(folder, context).await?;
        let done = self.client.done(procedure((&handle, name)), &context.shared.pool).await;
        forget_stale(done, folder, context)
    }

    /// Opens or creates a file, and puts it into a slot. One that must not be there is closed again.
    async fn open(
        &mut self,
        operation: &FileOperation,
        (handle, path): (Handle, FilePath),
        create: Option<ExistingFile>,
        context: &mut ActionContext<'_>,
    ) -> Result<(), NfsFailure> {
        let pool = &context.shared.pool;
        let text = context.path(path);
        let (folder, name) = split(&text);
        let folder_handle = self.folder(folder, context).await?;
        let place = (&folder_handle, name);
        let procedure = match create {
            None => Procedure::Open(place, FileSharing::All),
            Some(existing) => Procedure::Create(place, existing, FileSharing::All),
        };
        let found = self.client.open_file(procedure, place, pool).await;
        let found = forget_stale(found, folder, context)?;
        if operation.expected == Expectation::Failure {
            return self.client.close(&found.file, pool).await;
        }
        let is_empty = found.attributes.is_some_and(|attributes| attributes.n_bytes == 0);
        let is_new = match create {
            None => false,
            Some(ExistingFile::Keep) => is_empty,
            Some(ExistingFile::Refuse | ExistingFile::Truncate) => true,
        };
        if is_new {
            context.content.created(path);
        }
        self.put(handle, path, found.file, context).await
    }

    /// Makes a folder if there is none, and puts it into a slot.
    async fn create_folder(
        &mut self,
        (handle, path): (Handle, FilePath),
        context: &ActionContext<'_>,
    ) -> Result<(), NfsFailure> {
        let text = context.path(path);
        match self.at_place(&text, context, |place| Procedure::MakeFolder(place)).await {
            Err(failure) if !failure.is_status(NfsStatus::EXIST) => return Err(failure),
            Ok(()) | Err(_) => {}
        }
        let found = self.folder(&text, context).await?;
        self.put(handle, path, NfsFile { handle: found, open: None, locks: None }, context).await
    }

    /// Puts a file into a slot, and closes what was there.
    async fn put(
        &mut self,
        handle: Handle,
        path: FilePath,
        file: NfsFile,
        context: &ActionContext<'_>,
    ) -> Result<(), NfsFailure> {
        let written = WrittenFile { file, unstable: None, is_lost: false };
        match self.handles.insert(handle, OpenFile { path, file: written }) {
            Some(before) => self.client.close(&before.file.file, &context.shared.pool).await,
            None => Ok(()),
        }
    }

    async fn read(
        &mut self,
        handle: Handle,
        range: FileRange,
        context: &mut ActionContext<'_>,
    ) -> Result<(), NfsFailure> {
        let OpenFile { path, file } = *self.opened(handle)?;
        let content = &*context.content;
        let mut offset = range.offset;
        loop {
            let wanted = range.end() - offset;
            let verify = |bytes: &[u8], is_end: bool| {
                let n_bytes = bytes.len() as u64;
                let piece = FileRange { offset, length: n_bytes };
                (n_bytes, is_end, content.verify(path, piece, bytes))
            };
            let read = self.client.read(&file.file, offset, wanted, &context.shared.pool, verify).await?;
            let (n_bytes, is_end, verified) = read;
            verified.map_err(NfsFailure::of_content)?;
            offset += n_bytes;
            if range.end() <= offset {
                return Ok(());
            }
            if is_end || n_bytes == 0 {
                return Err(NfsFailure::violation(Violation::Short, offset - range.offset));
            }
        }
    }

    async fn write(
        &mut self,
        handle: Handle,
        range: FileRange,
        context: &mut ActionContext<'_>,
    ) -> Result<(), NfsFailure> {
        let OpenFile { path, file } = *self.opened(handle)?;
        let pool = &context.shared.pool;
        let is_durable = context.shared.clients.durability == Durability::Write;
        let mut offset = range.offset;
        loop {
            let rest = FileRange { offset, length: range.end() - offset };
            let mut generation = 0;
            let content = &mut *context.content;
            let fill = &mut |at: u64, bytes: &mut [u8]| generation = content.fill(path, at, bytes);
            let written = self.client.write(&file.file, rest, is_durable, fill, pool).await?;
            let length = written.n_bytes.into();
            context.content.written(path, FileRange { offset, length }, generation);
            self.note_written(handle, &written);
            offset += length;
            if range.end() <= offset {
                return Ok(());
            }
        }
    }

    /// Notes what the server told with a write: what is not durable may be lost.
    pub(super) fn note_written(&mut self, handle: Handle, written: &Written) {
        if !written.is_durable
            && let Some(open) = self.handles.get_mut(handle)
        {
            let first = *open.file.unstable.get_or_insert(written.verifier);
            open.file.is_lost |= first != written.verifier;
        }
    }

    /// Makes what was written durable. A server that was restarted since then has lost it.
    async fn flush(&mut self, handle: Handle, context: &ActionContext<'_>) -> Result<(), NfsFailure> {
        let open = *self.file(handle)?;
        if context.shared.clients.durability == Durability::Relaxed {
            return Ok(());
        }
        let verifier = self.client.commit(&open.file.handle, &context.shared.pool).await?;
        if let Some(open) = self.handles.get_mut(handle) {
            (open.file.unstable, open.file.is_lost) = (None, false);
        }
        if open.is_lost || open.unstable.is_some_and(|first| first != verifier) {
            return Err(NfsFailure::violation(Violation::LostWrites, 0));
        }
        Ok(())
    }

    /// Searches a folder for names that match a pattern. Without one it is a question about the name.
    async fn find(
        &mut self,
        operation: &FileOperation,
        path: FilePath,
        size: FindSize,
        context: &ActionContext<'_>,
    ) -> Result<(), NfsFailure> {
        let text = context.path(path);
        let (folder, pattern) = split(&text);
        // That there is no match is right only where there is the folder.
        let of_folder = |failure: NfsFailure| {
            let is_fault = failure.is_fault || matches!(path, FilePath::Populated(_));
            NfsFailure { is_fault, ..failure }
        };
        let handle = self.folder(folder, context).await.map_err(of_folder)?;
        let pool = &context.shared.pool;
        if !NamePattern::is_pattern(pattern) {
            return match self.client.lookup((&handle, pattern), pool).await {
                Ok(_) => check_names(1, operation, path, size),
                Err(failure) if failure.is_status(NfsStatus::NOENT) => check_names(0, operation, path, size),
                Err(failure) => Err(failure),
            };
        }
        // Names of captured mixes are those of a server that does not tell apart upper and lower case.
        let pattern = NamePattern::new(pattern, matches!(path, FilePath::Captured(_)));
        let mut n_names: u64 = 0;
        let count = &mut |entry: &ListEntry<'_>| {
            n_names += u64::from(pattern.matches(entry.name));
            n_names < size.wanted.into()
        };
        let listed = self.client.list(&handle, pool, count).await;
        forget_stale(listed, folder, context).map_err(of_folder)?;
        check_names(n_names, operation, path, size)
    }

    async fn rename(
        &mut self,
        from: FilePath,
        to: FilePath,
        context: &mut ActionContext<'_>,
    ) -> Result<(), NfsFailure> {
        let (from_text, to_text) = (context.path(from), context.path(to));
        let ((from_folder, from_name), (to_folder, to_name)) = (split(&from_text), split(&to_text));
        let from_handle = self.folder(from_folder, context).await?;
        let to_handle = self.folder(to_folder, context).await?;
        let rename = Procedure::Rename((&from_handle, from_name), (&to_handle, to_name));
        let renamed = self.client.done(rename, &context.shared.pool).await;
        forget_stale(renamed, from_folder, context)?;
        {
            // It may have been a folder.
            let mut folders = context.shared.folders.borrow_mut();
            folders.forget(&from_text);
            folders.forget(&to_text);
        }
        context.content.renamed(from, to);
        self.handles.renamed(from, to);
        Ok(())
    }

    /// Removes a folder with all that is in it. One that is not there is as it should be; of the one of all captured paths,
    /// which is the share of their mix, only what is in it.
    async fn remove_tree(&mut self, path: &str, context: &ActionContext<'_>) -> Result<(), NfsFailure> {
        let pool = &context.shared.pool;
        let handle = match self.folder(path, context).await {
            Err(failure) if failure.is_status(NfsStatus::NOENT) => return Ok(()),
            found => found?,
        };
        context.shared.folders.borrow_mut().forget(path);
        remove_content(&mut self.client, handle, pool).await?;
        if path == CAPTURED_FOLDER {
            return Ok(());
        }
        self.at_place(path, context, |place| Procedure::RemoveFolder(place)).await
    }

    /// Returns the path and the file that are open in a slot.
    ///
    /// # Errors
    /// Nothing is.
    pub(super) fn opened_file(&self, handle: Handle) -> Result<(FilePath, NfsFile), NfsFailure> {
        self.opened(handle).map(|open| (open.path, open.file.file))
    }

    /// Returns what is open in a slot.
    fn opened(&self, handle: Handle) -> Result<&OpenFile<WrittenFile>, NfsFailure> {
        self.handles.get(handle).ok_or_else(not_open)
    }

    fn file(&self, handle: Handle) -> Result<&WrittenFile, NfsFailure> {
        self.opened(handle).map(|open| &open.file)
    }

    fn set_locks(&mut self, handle: Handle, locks: StateId) -> Result<(), NfsFailure> {
        self.handles.get_mut(handle).ok_or_else(not_open)?.file.file.locks = Some(locks);
        Ok(())
    }
}

/// Removes all that is in a folder.
///
/// # Errors
/// A file or folder in it cannot be removed, or more folders are within each other than are removed.
pub(super) async fn remove_content(
    client: &mut NfsClient,
    folder: FileHandle,
    pool: &BufferPool,
) -> Result<u64, NfsFailure> {
    /// A folder that is being emptied, and the names in it that are left.
    struct FolderLeft {
        handle: FileHandle,
        /// Its name in the one before.
        name: String,
        left: Vec<(String, bool)>,
    }
    let mut n_removed = 0;
    let left = client.entries(&folder, pool).await?;
    let mut within = vec![FolderLeft { handle: folder, name: String::new(), left }];
    while let Some(last) = within.last_mut() {
        let handle = last.handle;
        match last.left.pop() {
            Some((name, false)) => {
                client.done(Procedure::Remove((&handle, &name)), pool).await?;
                n_removed += 1;
            }
            Some((name, true)) => {
                if DEPTH_MAX <= within.len() {
                    return Err(NfsFailure::violation(Violation::EndlessListing, DEPTH_MAX as u64));
                }
                let handle = client.lookup((&handle, &name), pool).await?.file.handle;
                let left = client.entries(&handle, pool).await?;
                within.push(FolderLeft { handle, name, left });
            }
            None => {
                let Some(empty) = within.pop() else { break };
                if let Some(parent) = within.last() {
                    client.done(Procedure::RemoveFolder((&parent.handle, &empty.name)), pool).await?;
                    n_removed += 1;
                }
            }
        }
    }
    Ok(n_removed)
}

/// Holds the number of names that match against the one that the search must find.
fn check_names(
    n_names: u64,
    operation: &FileOperation,
    path: FilePath,
    size: FindSize,
) -> Result<(), NfsFailure> {
    match FoundNames::of(n_names, operation.expected, path, size) {
        FoundNames::Right => Ok(()),
        FoundNames::Missing => Err(NfsFailure::status(NfsStatus::NOENT)),
        FoundNames::Wrong => Err(NfsFailure::violation(Violation::OtherListing, n_names)),
    }
}

/// Forgets the handle of a folder that the server does not know any more, so that the next operation looks it up again.
fn forget_stale<T>(
    result: Result<T, NfsFailure>,
    folder: &str,
    context: &ActionContext<'_>,
) -> Result<T, NfsFailure> {
    if let Err(failure) = &result
        && NfsStatus(failure.code).is_stale()
    {
        context.shared.folders.borrow_mut().forget(folder);
    }
    result
}

fn not_open() -> NfsFailure {
    NfsFailure::violation(Violation::NotOpen, 0)
}
