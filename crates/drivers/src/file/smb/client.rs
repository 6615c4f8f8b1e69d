//! The actions of a client, each as the requests that it takes.
//!
//! | action | requests | exchanges |
//! |---|---|---|
//! | open, create | `CREATE` | 1 |
//! | close | `CLOSE` | 1 |
//! | read, write | `READ`, `WRITE`, of at most what the server allows | 1 each |
//! | flush | `FLUSH`, unless durability is relaxed | 1 |
//! | lock, unlock | `LOCK` | 1 |
//! | path query | `CREATE`, `QUERY_INFO`, `CLOSE` in a chain | 1 |
//! | file query, set, volume query | `QUERY_INFO`, `SET_INFO`; of the volume on the handle of the folder | 1 |
//! | find | `CREATE`, `QUERY_DIRECTORY`, `CLOSE` in a chain; of many names, a `QUERY_DIRECTORY` for each page | 1 and more |
//! | rename, unlink, remove folder | `CREATE`, `SET_INFO`, `CLOSE` in a chain | 1 |
//! | make folder | `CREATE`, `CLOSE` in a chain | 1 |
//!
//! Source: specification of the file family, section 5.1.

use files::{
    ExistingFile, Expectation, FileAction, FileOperation, FilePath, FileRange, FindSize, Handle, InfoLevel,
};
use smb2::types::FileId;

use super::SmbContext;
use super::connection::SmbConnection;
use super::failure::{SmbFailure, Violation};
use super::frame::{BufferPool, FrameBuffer};
use super::status::NtStatus;
use super::wire::{InfoClass, LockUse, OpenMode, OpenedFile, Request, SAME_FILE, SmbReply};
use crate::file::Durability;
use crate::file::content::ClientContent;
use crate::file::found_names::FoundNames;
use crate::file::handle_table::{HandleTable, OpenFile};
use crate::file::run_folder::DEPTH_MAX;

/// The most names that a listing has when it is asked for in one chain: those of 255 characters fit a page of 64 KiB.
const CHAINED_NAMES_MAX: u32 = 100;

/// The most names of a listing.
const LISTED_MAX: u64 = 1 << 20;

/// The most pages of a listing: a server may return one name at a time, but not forever.
const PAGES_MAX: u32 = 1 << 16;

/// The time from which the times are counted that clients set, 2020-01-01 00:00 UTC, and the second between them, in units of
/// 100 ns since 1601: (11,644,473,600 + 1,577,836,800) · 10⁷.
const FIRST_TIME: u64 = 132_223_104_000_000_000;
const TIME_STEP: u64 = 10_000_000;

/// A session of a client, with its open files.
#[derive(Debug)]
pub(super) struct SmbClient {
    pub(super) connection: SmbConnection,
    /// The folder of the run, which is asked about the volume.
    root: FileId,
    pub(super) handles: HandleTable<FileId>,
    /// The number of times that were set.
    n_times: u64,
}

/// The things that a client works with besides its session.
pub(super) struct ActionContext<'a> {
    pub(super) shared: &'a SmbContext,
    pub(super) content: &'a mut ClientContent,
}

/// The names that a listing has had so far, without the folder itself and the one that it is in.
#[derive(Debug, Clone, Copy, Default)]
struct NameCount {
    n_names: u64,
}

impl NameCount {
    fn add_page(&mut self, reply: SmbReply<'_>) -> Result<(), SmbFailure> {
        for entry in reply.entries()? {
            self.n_names += u64::from(!entry?.is_dot());
        }
        if LISTED_MAX < self.n_names {
            return Err(SmbFailure::violation(Violation::EndlessListing, self.n_names));
        }
        Ok(())
    }

    /// Holds the number of names against the one that the search must find.
    fn check(&self, operation: &FileOperation, pattern: FilePath, size: FindSize) -> Result<(), SmbFailure> {
        let n_wanted = self.n_names.min(size.wanted.into());
        match FoundNames::of(n_wanted, operation.expected, pattern, size) {
            FoundNames::Right => Ok(()),
            FoundNames::Missing => Err(SmbFailure::status(NtStatus::NO_SUCH_FILE)),
            FoundNames::Wrong => Err(SmbFailure::violation(Violation::OtherListing, self.n_names)),
        }
    }
}

impl SmbClient {
    /// Begins to work in the folder of a run, with a session that is open.
    ///
    /// # Errors
    /// There is no such folder, or it cannot be listed.
    pub(super) async fn new(
        connection: SmbConnection,
        folder: &str,
        pool: &BufferPool,
    ) -> Result<SmbClient, SmbFailure> {
        let nothing = FileId { persistent: 0, volatile: 0 };
        let mut client = SmbClient { connection, root: nothing, handles: HandleTable::new(), n_times: 0 };
        client.root = client.create(folder, OpenMode::LISTING, pool).await?.id;
        Ok(client)
    }

    /// Performs the action of an operation.
    ///
    /// # Errors
    /// The server does not do it, or the session ended.
    pub(super) async fn act(
        &mut self,
        operation: &FileOperation,
        context: &mut ActionContext<'_>,
    ) -> Result<(), SmbFailure> {
        let pool = &context.shared.pool;
        match operation.action {
            FileAction::Open(handle, path) => {
                self.open(operation, (handle, path), OpenMode::EXISTING, context).await
            }
            FileAction::Create(handle, path, existing) => {
                let opening = match existing {
                    ExistingFile::Refuse => OpenMode::NEW,
                    ExistingFile::Keep => OpenMode::NEW_OR_EXISTING,
                    ExistingFile::Truncate => OpenMode::NEW_OR_EMPTY,
                };
                self.open(operation, (handle, path), opening, context).await
            }
            FileAction::CreateFolder(handle, path) => {
                self.open(operation, (handle, path), OpenMode::FOLDER, context).await
            }
            FileAction::Close(handle) => {
                let open = self.handles.remove(handle).ok_or_else(not_open)?;
                self.single(Request::Close(open.file), pool).await
            }
            FileAction::Read(handle, range) => self.read(handle, range, context).await,
            FileAction::Write(handle, range) => self.write(handle, range, context).await,
            FileAction::Flush(handle) => {
                let (file, _) = self.file(handle)?;
                if context.shared.clients.durability == Durability::Relaxed {
                    return Ok(());
                }
                self.single(Request::Flush(file), pool).await
            }
            FileAction::PathQuery(path, level) => {
                self.chain(path, OpenMode::QUERY, Some(Request::Query(SAME_FILE, file_class(level))), context)
                    .await
            }
            FileAction::FileQuery(handle, level) => {
                self.single(Request::Query(self.file(handle)?.0, file_class(level)), pool).await
            }
            FileAction::Set(handle, _) => {
                let (file, _) = self.file(handle)?;
                self.n_times += 1;
                self.single(Request::SetTimes(file, FIRST_TIME + self.n_times * TIME_STEP), pool).await
            }
            FileAction::VolumeQuery(level) => {
                self.single(Request::Query(self.root, volume_class(level)), pool).await
            }
            FileAction::Find(pattern, size) => self.find(operation, pattern, size, context).await,
            FileAction::Rename(from, to) => self.rename(from, to, context).await,
            FileAction::Unlink(path) => {
                let delete = Request::DeleteOnClose(SAME_FILE);
                self.chain(path, OpenMode::DELETION, Some(delete), context).await?;
                context.content.deleted(path);
                Ok(())
            }
            FileAction::MakeFolder(path) => {
                match self.chain(path, OpenMode::NEW_FOLDER, None, context).await {
                    // Whoever captured the mix had no folder there, or did not mind.
                    Err(failure)
                        if failure.code == NtStatus::OBJECT_NAME_COLLISION.0
                            && matches!(path, FilePath::Captured(_)) =>
                    {
                        Ok(())
                    }
                    made => made,
                }
            }
            FileAction::RemoveFolder(path) => {
                let delete = Request::DeleteOnClose(SAME_FILE);
                self.chain(path, OpenMode::FOLDER_DELETION, Some(delete), context).await
            }
            FileAction::RemoveTree(path) => {
                let (folder, is_kept) = {
                    let mut paths = context.shared.paths.borrow_mut();
                    (paths.of_server(path).to_owned(), paths.is_all_captured(path))
                };
                match self.remove_tree(&folder, is_kept, pool).await {
                    // One that is not there is as it should be.
                    Err(failure) if NtStatus(failure.code).is_missing() => Ok(()),
                    removed => removed,
                }
            }
            FileAction::Lock(handle, FileRange { offset, length }) => {
                self.single(Request::Lock(self.file(handle)?.0, offset, length, LockUse::Lock), pool).await
            }
            FileAction::Unlock(handle, FileRange { offset, length }) => {
                self.single(Request::Lock(self.file(handle)?.0, offset, length, LockUse::Unlock), pool).await
            }
        }
    }

    /// Opens a file, and puts it into a slot. One that must not be there is closed again.
    async fn open(
        &mut self,
        operation: &FileOperation,
        (handle, path): (Handle, FilePath),
        opening: OpenMode,
        context: &mut ActionContext<'_>,
    ) -> Result<(), SmbFailure> {
        let pool = &context.shared.pool;
        let is_durable = context.shared.clients.durability == Durability::Write;
        let opening = if is_durable { opening.durable() } else { opening };
        let frame = {
            let mut paths = context.shared.paths.borrow_mut();
            self.connection.compose(&[Request::Create(paths.of_server(path), opening)], pool)?
        };
        let opened = self.opened(frame, pool).await?;
        if operation.expected == Expectation::Failure {
            return self.single(Request::Close(opened.id), pool).await;
        }
        if opened.is_new && matches!(operation.action, FileAction::Create(..)) {
            context.content.created(path);
        }
        match self.handles.insert(handle, OpenFile { path, file: opened.id }) {
            Some(before) => self.single(Request::Close(before.file), pool).await,
            None => Ok(()),
        }
    }

    async fn read(
        &mut self,
        handle: Handle,
        range: FileRange,
        context: &mut ActionContext<'_>,
    ) -> Result<(), SmbFailure> {
        let (file, path) = self.file(handle)?;
        let mut offset = range.offset;
        loop {
            let n_bytes = self.connection.session.read_piece(range.end() - offset);
            let piece = FileRange { offset, length: n_bytes.into() };
            let content = &*context.content;
            let mut verified = Ok(());
            let verify = &mut |reply: SmbReply<'_>| {
                verified = content.verify(path, piece, reply.data(n_bytes)?);
                Ok(())
            };
            self.asked(Request::Read(file, offset, n_bytes), &context.shared.pool, verify).await?;
            let failed = |failure| SmbFailure::of_content(failure).behind(offset - range.offset);
            verified.map_err(failed)?;
            offset += u64::from(n_bytes);
            if range.end() <= offset {
                return Ok(());
            }
        }
    }

    async fn write(
        &mut self,
        handle: Handle,
        range: FileRange,
        context: &mut ActionContext<'_>,
    ) -> Result<(), SmbFailure> {
        let (file, path) = self.file(handle)?;
        let pool = &context.shared.pool;
        let mut offset = range.offset;
        loop {
            let mut generation = 0;
            let content = &mut *context.content;
            let fill = &mut |at: u64, bytes: &mut [u8]| generation = content.fill(path, at, bytes);
            let written = self.write_piece(file, offset, range.end() - offset, fill, pool).await;
            let n_bytes = written.map_err(|failure| failure.behind(offset - range.offset))?;
            context.content.written(path, FileRange { offset, length: n_bytes.into() }, generation);
            offset += u64::from(n_bytes);
            if range.end() <= offset {
                return Ok(());
            }
        }
    }

    /// Reads as many of so many bytes as are read at a time; returns their number.
    pub(super) async fn read_piece(
        &mut self,
        file: FileId,
        offset: u64,
        length: u64,
        pool: &BufferPool,
    ) -> Result<u32, SmbFailure> {
        let n_bytes = self.connection.session.read_piece(length);
        let take = &mut |reply: SmbReply<'_>| {
            let n_read = reply.data(n_bytes)?.len();
            if n_read < n_bytes as usize {
                return Err(SmbFailure::violation(Violation::Short, n_read as u64));
            }
            Ok(())
        };
        self.asked(Request::Read(file, offset, n_bytes), pool, take).await?;
        Ok(n_bytes)
    }

    /// Writes as many of so many bytes as are written at a time; returns their number.
    pub(super) async fn write_piece(
        &mut self,
        file: FileId,
        offset: u64,
        length: u64,
        fill: &mut dyn FnMut(u64, &mut [u8]),
        pool: &BufferPool,
    ) -> Result<u32, SmbFailure> {
        let n_bytes = self.connection.session.write_piece(length);
        let mut frame = self.connection.begin(pool);
        let session = &mut self.connection.session;
        session.add(&Request::Write(file, offset, n_bytes), &mut frame)?;
        fill(offset, frame.claim(n_bytes as usize));
        session.seal(&mut frame)?;
        let mut n_written = 0;
        let count = &mut |reply: SmbReply<'_>| {
            n_written = reply.n_written(n_bytes)?;
            Ok(())
        };
        self.answered(frame, pool, count).await?;
        if n_written < n_bytes {
            return Err(SmbFailure::violation(Violation::Short, n_written.into()));
        }
        Ok(n_bytes)
    }

    /// Searches a folder: of few names in one chain, of many page by page.
    async fn find(
        &mut self,
        operation: &FileOperation,
        path: FilePath,
        size: FindSize,
        context: &mut ActionContext<'_>,
    ) -> Result<(), SmbFailure> {
        let pool = &context.shared.pool;
        let n_most = size.wanted.min(size.found.unwrap_or(u32::MAX));
        let is_short = n_most <= CHAINED_NAMES_MAX;
        let (frame, pattern) = {
            let mut paths = context.shared.paths.borrow_mut();
            let (folder, pattern) = paths.folder_and_pattern(path);
            let requests = [
                Request::Create(folder, OpenMode::LISTING),
                Request::Search(SAME_FILE, pattern, true),
                Request::Close(SAME_FILE),
            ];
            let used = if is_short { &requests[..] } else { &requests[..2] };
            let frame = self.connection.compose(used, pool)?;
            // Only the pages that follow need it again.
            (frame, if is_short { String::new() } else { pattern.to_owned() })
        };
        let mut count = NameCount::default();
        let add_page = &mut |index: usize, reply: SmbReply<'_>| {
            if index == 1 { count.add_page(reply) } else { Ok(()) }
        };
        match self.chained(frame, pool, is_short, add_page).await {
            Ok(_) if is_short => {}
            Ok(opened) => {
                let listed = self.next_pages(opened.id, &pattern, size, &mut count, pool).await;
                if listed.is_err_and(|failure| failure.ends_session) {
                    return listed;
                }
                self.single(Request::Close(opened.id), pool).await?;
                listed?;
            }
            Err(failure) if failure.code == NtStatus::NO_SUCH_FILE.0 => {}
            // That there is no match is right only where there is the folder.
            Err(failure) if matches!(path, FilePath::Populated(_)) => {
                return Err(SmbFailure { is_fault: true, ..failure });
            }
            Err(failure) => return Err(failure),
        }
        count.check(operation, path, size)
    }

    /// Counts the names of the pages after the first one, until there are enough.
    async fn next_pages(
        &mut self,
        folder: FileId,
        pattern: &str,
        size: FindSize,
        count: &mut NameCount,
        pool: &BufferPool,
    ) -> Result<(), SmbFailure> {
        for _ in 0..PAGES_MAX {
            if u64::from(size.wanted) <= count.n_names {
                return Ok(());
            }
            let search = Request::Search(folder, pattern, false);
            let page = self.asked(search, pool, &mut |reply| count.add_page(reply)).await;
            match page {
                Ok(()) => {}
                Err(failure) if failure.code == NtStatus::NO_MORE_FILES.0 => return Ok(()),
                Err(failure) => return Err(failure),
            }
        }
        Err(SmbFailure::violation(Violation::EndlessListing, count.n_names))
    }

    async fn rename(
        &mut self,
        from: FilePath,
        to: FilePath,
        context: &mut ActionContext<'_>,
    ) -> Result<(), SmbFailure> {
        let pool = &context.shared.pool;
        let frame = {
            let mut paths = context.shared.paths.borrow_mut();
            let (from, to) = paths.two_of_server(from, to);
            let rename = Request::Rename(SAME_FILE, to);
            let requests = [Request::Create(from, OpenMode::RENAMING), rename, Request::Close(SAME_FILE)];
            self.connection.compose(&requests, pool)?
        };
        self.chained(frame, pool, true, &mut |_, _| Ok(())).await?;
        context.content.renamed(from, to);
        self.handles.renamed(from, to);
        Ok(())
    }

    /// Opens a path, makes a request of it, and closes it, in a chain.
    async fn chain(
        &mut self,
        path: FilePath,
        opening: OpenMode,
        request: Option<Request<'_>>,
        context: &ActionContext<'_>,
    ) -> Result<(), SmbFailure> {
        let frame = {
            let mut paths = context.shared.paths.borrow_mut();
            let path = paths.of_server(path);
            self.compose_chain(path, opening, request, &context.shared.pool)?
        };
        self.chained(frame, &context.shared.pool, true, &mut |_, _| Ok(())).await?;
        Ok(())
    }

    fn compose_chain(
        &mut self,
        path: &str,
        opening: OpenMode,
        request: Option<Request<'_>>,
        pool: &BufferPool,
    ) -> Result<FrameBuffer, SmbFailure> {
        let create = Request::Create(path, opening);
        let close = Request::Close(SAME_FILE);
        match request {
            Some(request) => self.connection.compose(&[create, request, close], pool),
            None => self.connection.compose(&[create, close], pool),
        }
    }

    /// Sends a chain that opens a file first, and closes it last if it says so; passes each successful reply with its index.
    /// The first failure is that of the chain. A file that the server did not close is closed.
    async fn chained(
        &mut self,
        frame: FrameBuffer,
        pool: &BufferPool,
        closes: bool,
        each: &mut dyn FnMut(usize, SmbReply<'_>) -> Result<(), SmbFailure>,
    ) -> Result<OpenedFile, SmbFailure> {
        let n_requests = self.connection.session.n_requests();
        let (mut opened, mut first_failure, mut is_closed) = (None, None, false);
        let take = &mut |index: usize, reply: SmbReply<'_>| {
            if !reply.status.is_success() {
                first_failure.get_or_insert(reply.status);
                return Ok(());
            }
            if index == 0 {
                opened = Some(reply.opened()?);
            }
            is_closed |= closes && index + 1 == n_requests;
            each(index, reply)
        };
        self.connection.exchange(frame, pool, take).await?;
        match (first_failure, opened) {
            (None, Some(opened)) => Ok(opened),
            (Some(status), Some(opened)) if !is_closed => {
                self.single(Request::Close(opened.id), pool).await?;
                Err(SmbFailure::status(status))
            }
            (Some(status), _) => Err(SmbFailure::status(status)),
            (None, None) => Err(SmbFailure::violation(Violation::OtherMessage, 0)),
        }
    }

    /// Opens a path of the server.
    pub(super) async fn create(
        &mut self,
        path: &str,
        opening: OpenMode,
        pool: &BufferPool,
    ) -> Result<OpenedFile, SmbFailure> {
        let frame = self.connection.compose(&[Request::Create(path, opening)], pool)?;
        self.opened(frame, pool).await
    }

    /// Removes a folder with all that is in it, or only what is in it.
    pub(super) async fn remove_tree(
        &mut self,
        folder: &str,
        is_kept: bool,
        pool: &BufferPool,
    ) -> Result<(), SmbFailure> {
        // The folders that are being removed, each in the one before.
        let mut within = vec![folder.to_owned()];
        let mut n_pages = 0;
        while let Some(path) = within.last().cloned() {
            n_pages += 1;
            if PAGES_MAX < n_pages {
                return Err(SmbFailure::violation(Violation::EndlessListing, n_pages.into()));
            }
            let entries = self.page_of(&path, pool).await?;
            let inner = entries.iter().find(|(_, is_folder)| *is_folder);
            for (name, _) in entries.iter().filter(|(_, is_folder)| !is_folder) {
                self.remove(&join(&path, name), OpenMode::DELETION, pool).await?;
            }
            match inner {
                Some(_) if DEPTH_MAX <= within.len() => {
                    return Err(SmbFailure::violation(Violation::EndlessListing, DEPTH_MAX as u64));
                }
                Some((name, _)) => within.push(join(&path, name)),
                None if entries.is_empty() => {
                    within.pop();
                    if !(is_kept && within.is_empty()) {
                        self.remove(&path, OpenMode::FOLDER_DELETION, pool).await?;
                    }
                }
                // The next page, now that these are gone.
                None => {}
            }
        }
        Ok(())
    }

    /// Returns the names of the first page of a folder that are not the folder itself, and which are folders.
    pub(super) async fn page_of(
        &mut self,
        folder: &str,
        pool: &BufferPool,
    ) -> Result<Vec<(String, bool)>, SmbFailure> {
        let requests = [
            Request::Create(folder, OpenMode::LISTING),
            Request::Search(SAME_FILE, "*", true),
            Request::Close(SAME_FILE),
        ];
        let frame = self.connection.compose(&requests, pool)?;
        let mut found = Vec::new();
        let add_page = &mut |index: usize, reply: SmbReply<'_>| {
            if index == 1 { add_entries(reply, &mut found) } else { Ok(()) }
        };
        match self.chained(frame, pool, true, add_page).await {
            Ok(_) => Ok(found),
            Err(failure) if failure.code == NtStatus::NO_SUCH_FILE.0 => Ok(Vec::new()),
            Err(failure) => Err(failure),
        }
    }

    /// Returns all names of a folder that are not the folder itself, and which are folders.
    pub(super) async fn entries(
        &mut self,
        folder: &str,
        pool: &BufferPool,
    ) -> Result<Vec<(String, bool)>, SmbFailure> {
        let opened = self.create(folder, OpenMode::LISTING, pool).await?;
        let mut found = Vec::new();
        for n_page in 0..PAGES_MAX {
            let search = Request::Search(opened.id, "*", n_page == 0);
            match self.asked(search, pool, &mut |reply| add_entries(reply, &mut found)).await {
                Ok(()) if found.len() as u64 <= LISTED_MAX => {}
                Ok(()) => break,
                Err(failure) if NtStatus(failure.code).is_missing() => {
                    self.single(Request::Close(opened.id), pool).await?;
                    return Ok(found);
                }
                Err(failure) => return Err(failure),
            }
        }
        Err(SmbFailure::violation(Violation::EndlessListing, found.len() as u64))
    }

    /// Deletes a file or an empty folder at a path of the server.
    pub(super) async fn remove(
        &mut self,
        path: &str,
        opening: OpenMode,
        pool: &BufferPool,
    ) -> Result<(), SmbFailure> {
        let frame = self.compose_chain(path, opening, Some(Request::DeleteOnClose(SAME_FILE)), pool)?;
        self.chained(frame, pool, true, &mut |_, _| Ok(())).await?;
        Ok(())
    }

    /// Makes a request of whose reply only the status counts.
    pub(super) async fn single(&mut self, request: Request<'_>, pool: &BufferPool) -> Result<(), SmbFailure> {
        self.asked(request, pool, &mut |_| Ok(())).await
    }

    async fn opened(&mut self, frame: FrameBuffer, pool: &BufferPool) -> Result<OpenedFile, SmbFailure> {
        let mut opened = None;
        let take = &mut |reply: SmbReply<'_>| {
            opened = Some(reply.opened()?);
            Ok(())
        };
        self.answered(frame, pool, take).await?;
        opened.ok_or_else(|| SmbFailure::violation(Violation::OtherMessage, 0))
    }

    /// Makes a request that writes no data, and passes its reply if it is a success.
    pub(super) async fn asked(
        &mut self,
        request: Request<'_>,
        pool: &BufferPool,
        take: &mut dyn FnMut(SmbReply<'_>) -> Result<(), SmbFailure>,
    ) -> Result<(), SmbFailure> {
        let frame = self.connection.compose(&[request], pool)?;
        self.answered(frame, pool, take).await
    }

    /// Sends one request, and passes its reply if it is a success.
    pub(super) async fn answered(
        &mut self,
        frame: FrameBuffer,
        pool: &BufferPool,
        take: &mut dyn FnMut(SmbReply<'_>) -> Result<(), SmbFailure>,
    ) -> Result<(), SmbFailure> {
        let mut refused = None;
        let each = &mut |_: usize, reply: SmbReply<'_>| {
            if reply.status.is_success() {
                return take(reply);
            }
            refused = Some(reply.status);
            Ok(())
        };
        self.connection.exchange(frame, pool, each).await?;
        refused.map_or(Ok(()), |status| Err(SmbFailure::status(status)))
    }

    /// Returns the file in a slot, with its path.
    fn file(&self, handle: Handle) -> Result<(FileId, FilePath), SmbFailure> {
        let open = self.handles.get(handle).ok_or_else(not_open)?;
        Ok((open.file, open.path))
    }
}

fn not_open() -> SmbFailure {
    SmbFailure::violation(Violation::NotOpen, 0)
}

/// Adds the names of a page that are not the folder itself.
fn add_entries(reply: SmbReply<'_>, found: &mut Vec<(String, bool)>) -> Result<(), SmbFailure> {
    for entry in reply.entries()? {
        let entry = entry?;
        if entry.is_dot() {
            continue;
        }
        let name = entry.text();
        if name.is_empty() || name.contains(['\\', '/']) {
            return Err(SmbFailure::violation(Violation::LyingLength, name.len() as u64));
        }
        found.push((name, entry.is_folder));
    }
    Ok(())
}

/// Returns the path of a name in a folder, as the server reads it.
pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}\\{name}") }
}

/// Returns the class of information about a file for a level, as SMB 1 numbers them: from 1000 on, the class itself.
fn file_class(InfoLevel(level): InfoLevel) -> InfoClass {
    match level {
        0x102 => InfoClass::File(5),
        0x103 => InfoClass::File(7),
        0x104 | 0x109 => InfoClass::File(9),
        0x107 => InfoClass::File(18),
        0x108 => InfoClass::File(21),
        0x10B => InfoClass::File(28),
        1004..=1255 => InfoClass::File((level - 1000) as u8),
        _ => InfoClass::BASIC,
    }
}

/// Returns the class of information about the volume for a level.
fn volume_class(InfoLevel(level): InfoLevel) -> InfoClass {
    match level {
        0x102 => InfoClass::Volume(1),
        0x104 => InfoClass::Volume(4),
        0x105 => InfoClass::Volume(5),
        1001..=1255 => InfoClass::Volume((level - 1000) as u8),
        // 0x103 among them.
        _ => InfoClass::Volume(3),
    }
}
