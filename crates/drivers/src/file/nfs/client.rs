//! A session of a client, with its open files: the requests of actions, in either version.

use std::sync::Arc;

use files::FileRange;

use super::connection::NfsConnection;
use super::error::NfsSessionError;
use super::failure::{NfsFailure, Violation};
use super::opening;
use super::procedure::{
    Answer, EntryPath, FileAttributes, FoundEntry, ListEntry, ListPage, ListPosition, NfsFile, Procedure,
    StateId, Verifier, Written,
};
use super::rpc::ArrivingRecord;
use super::status::NfsStatus;
use super::target::{NfsTarget, NfsVersion};
use super::v3::V3Calls;
use super::v4::V4Session;
use super::xdr::FileHandle;
use crate::file::frame_buffer::{BufferPool, FrameBuffer};
use crate::net::TargetEndpoint;

/// The most names of a listing.
const LISTED_MAX: u64 = 1 << 20;

/// The most pages of a listing: a server may return one name at a time, but not forever.
const PAGES_MAX: u32 = 1 << 16;

/// The most bytes of a read or write that is not split.
const IO_BYTES_MAX: u32 = 8 << 20;

/// The version that a client speaks, with the state that it keeps for it.
#[derive(Debug)]
pub(super) enum Dialect {
    V3(V3Calls),
    V4(Box<V4Session>),
}

/// A session of a client in an export.
#[derive(Debug)]
pub(super) struct NfsClient {
    pub(super) connection: NfsConnection,
    target: Arc<NfsTarget>,
    dialect: Dialect,
}

/// A watch over the cookies of a listing, which finds a circle of any length (Brent's algorithm): a cookie is remembered, each
/// time twice as long.
#[derive(Debug, Default)]
struct CookieWatch {
    remembered: u64,
    n_until_next: u64,
    n_cookies: u64,
}

impl CookieWatch {
    /// Returns whether the cookie is one that came before.
    fn has_seen(&mut self, cookie: u64) -> bool {
        if cookie == self.remembered {
            return true;
        }
        self.n_cookies += 1;
        if self.n_until_next <= self.n_cookies {
            (self.remembered, self.n_until_next) = (cookie, 2 * self.n_cookies);
        }
        false
    }
}

impl NfsClient {
    /// Opens a session for so many requests in flight, and returns it with the handle of the folder that the target names.
    ///
    /// # Errors
    /// There is no connection, no session, or no such folder.
    pub(super) async fn open(
        endpoint: &TargetEndpoint,
        target: &Arc<NfsTarget>,
        n_slots: u32,
        pool: &BufferPool,
    ) -> Result<(NfsClient, FileHandle), NfsSessionError> {
        let (connection, dialect, mut folder) = opening::open(endpoint, target, n_slots, pool).await?;
        let mut client = NfsClient { connection, target: Arc::clone(target), dialect };
        if target.version == NfsVersion::V4_1 {
            for part in target.parts() {
                let found = client.lookup((&folder, part), pool).await;
                folder = found.map_err(|failure| client.of_folder(failure, &target.path))?.file.handle;
            }
        }
        Ok((client, folder))
    }

    /// Returns the error of a folder that cannot be opened.
    pub(super) fn of_folder(&self, failure: NfsFailure, path: &str) -> NfsSessionError {
        opening::of_folder(&self.target, failure, path)
    }

    /// Returns the version.
    pub(super) fn version(&self) -> NfsVersion {
        self.target.version
    }

    /// Returns the state of the version.
    pub(super) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Returns the time after which the server forgets the session, in seconds; `None` if it never does.
    pub(super) fn lease_seconds(&self) -> Option<u32> {
        match &self.dialect {
            Dialect::V3(_) => None,
            Dialect::V4(session) => Some(session.limits.lease_seconds).filter(|seconds| 0 < *seconds),
        }
    }

    /// Returns the most bytes of a read and of a write.
    pub(super) fn io_bytes_max(&self) -> (u32, u32) {
        let (read_max, write_max) = match &self.dialect {
            Dialect::V3(calls) => (calls.read_max, calls.write_max),
            Dialect::V4(session) => (session.limits.read_max, session.limits.write_max),
        };
        (read_max.min(IO_BYTES_MAX), write_max.min(IO_BYTES_MAX))
    }

    fn compose(&mut self, procedure: &Procedure<'_>, pool: &BufferPool) -> FrameBuffer {
        let mut frame = pool.take();
        match &mut self.dialect {
            Dialect::V3(calls) => calls.compose(procedure, &self.target.owner, &mut frame),
            Dialect::V4(session) => session.compose(procedure, &self.target.owner, &mut frame),
        }
        frame
    }

    fn answer<'r>(
        &mut self,
        procedure: &Procedure<'_>,
        reply: &'r ArrivingRecord,
    ) -> Result<Answer<'r>, NfsFailure> {
        match &mut self.dialect {
            Dialect::V3(calls) => calls.answer(procedure, reply.bytes()),
            Dialect::V4(session) => session.answer(procedure, reply.bytes()),
        }
    }

    /// Returns the number of slots for requests in flight; `None` where there are none, and any number can be.
    pub(super) fn n_slots(&self) -> Option<usize> {
        match &self.dialect {
            Dialect::V3(_) => None,
            Dialect::V4(session) => Some(session.n_slots()),
        }
    }

    /// Writes a request in a free slot, whatever else is in flight; returns the number of its call.
    pub(super) fn compose_in(
        &mut self,
        slot: usize,
        procedure: &Procedure<'_>,
        frame: &mut FrameBuffer,
    ) -> u32 {
        match &mut self.dialect {
            Dialect::V3(calls) => {
                calls.compose(procedure, &self.target.owner, frame);
                calls.call_number()
            }
            Dialect::V4(session) => {
                session.compose_in(slot, procedure, &self.target.owner, frame);
                session.call_number()
            }
        }
    }

    /// Reads the reply to the call of this number, a request in a slot.
    ///
    /// # Errors
    /// The server refused, or it is no reply to the request.
    pub(super) fn answer_in<'r>(
        &mut self,
        slot: usize,
        call_number: u32,
        procedure: &Procedure<'_>,
        bytes: &'r [u8],
    ) -> Result<Answer<'r>, NfsFailure> {
        match &mut self.dialect {
            Dialect::V3(_) => V3Calls::answer_to(call_number, procedure, bytes),
            Dialect::V4(session) => session.answer_in(slot, call_number, procedure, bytes),
        }
    }

    /// Sends a request and takes its answer.
    ///
    /// # Errors
    /// The server refuses, or the session ended.
    pub(super) async fn call<T>(
        &mut self,
        procedure: Procedure<'_>,
        pool: &BufferPool,
        take: impl FnOnce(Answer<'_>) -> Option<T>,
    ) -> Result<T, NfsFailure> {
        self.take_owed(pool).await?;
        let frame = self.compose(&procedure, pool);
        self.sent(frame, procedure, pool, take).await
    }

    async fn sent<T>(
        &mut self,
        frame: FrameBuffer,
        procedure: Procedure<'_>,
        pool: &BufferPool,
        take: impl FnOnce(Answer<'_>) -> Option<T>,
    ) -> Result<T, NfsFailure> {
        self.connection.send(frame, procedure.answer_bytes_max(), pool).await?;
        let reply = self.connection.receive(pool).await?;
        let taken = self.answer(&procedure, &reply).map(take);
        pool.give(reply.buffer);
        taken?.ok_or_else(|| NfsFailure::violation(Violation::OtherReply, 0))
    }

    /// Takes the reply to a renewal that was not waited for.
    async fn take_owed(&mut self, pool: &BufferPool) -> Result<(), NfsFailure> {
        if self.connection.owes_reply() {
            self.take_renewal(pool).await?;
        }
        Ok(())
    }

    async fn take_renewal(&mut self, pool: &BufferPool) -> Result<(), NfsFailure> {
        let reply = self.connection.receive(pool).await?;
        let taken = self.answer(&Procedure::Renew, &reply).map(drop);
        pool.give(reply.buffer);
        taken
    }

    /// Keeps the session alive. Whoever waits for it may give up at any point, and go on with another request.
    ///
    /// # Errors
    /// The session ended.
    pub(super) async fn renew(&mut self, pool: &BufferPool) -> Result<(), NfsFailure> {
        if !self.connection.owes_reply() {
            let frame = self.compose(&Procedure::Renew, pool);
            self.connection.send(frame, Procedure::Renew.answer_bytes_max(), pool).await?;
        }
        self.take_renewal(pool).await
    }

    /// Makes a request of whose answer nothing is needed.
    pub(super) async fn done(
        &mut self,
        procedure: Procedure<'_>,
        pool: &BufferPool,
    ) -> Result<(), NfsFailure> {
        self.call(procedure, pool, |_| Some(())).await
    }

    /// Looks up a name in a folder.
    pub(super) async fn lookup(
        &mut self,
        place: EntryPath<'_>,
        pool: &BufferPool,
    ) -> Result<FoundEntry, NfsFailure> {
        self.call(Procedure::Lookup(place), pool, found).await
    }

    /// Opens or creates a file. What is a folder is found, and not opened. A server of version 3 that does not say what it has
    /// created is asked.
    pub(super) async fn open_file(
        &mut self,
        procedure: Procedure<'_>,
        place: EntryPath<'_>,
        pool: &BufferPool,
    ) -> Result<FoundEntry, NfsFailure> {
        let opened = self.call(procedure, pool, |answer| match answer {
            Answer::Found(found) => Some(Some(found)),
            Answer::Done => Some(None),
            _ => None,
        });
        match opened.await {
            Ok(Some(found)) => Ok(found),
            Ok(None) => self.lookup(place, pool).await,
            Err(failure)
                if failure.is_status(NfsStatus::ISDIR) && matches!(procedure, Procedure::Open(..)) =>
            {
                self.lookup(place, pool).await
            }
            Err(failure) => Err(failure),
        }
    }

    /// Closes a file, if the server knows that it is open.
    pub(super) async fn close(&mut self, file: &NfsFile, pool: &BufferPool) -> Result<(), NfsFailure> {
        match file.open {
            Some(_) => self.done(Procedure::Close(file), pool).await,
            None => Ok(()),
        }
    }

    /// Returns the attributes of what was found, and asks for them where the server has not said them.
    pub(super) async fn attributes(
        &mut self,
        found: &FoundEntry,
        pool: &BufferPool,
    ) -> Result<FileAttributes, NfsFailure> {
        match found.attributes {
            Some(attributes) => Ok(attributes),
            None => self.query(&found.file.handle, pool).await,
        }
    }

    /// Asks about a file.
    pub(super) async fn query(
        &mut self,
        handle: &FileHandle,
        pool: &BufferPool,
    ) -> Result<FileAttributes, NfsFailure> {
        let attributes = |answer: Answer<'_>| match answer {
            Answer::Attributes(attributes) => Some(attributes),
            _ => None,
        };
        self.call(Procedure::Query(handle), pool, attributes).await
    }

    /// Reads a piece of a file, and passes its bytes and whether the file ends behind them.
    pub(super) async fn read<T>(
        &mut self,
        file: &NfsFile,
        offset: u64,
        length: u64,
        pool: &BufferPool,
        take: impl FnOnce(&[u8], bool) -> T,
    ) -> Result<T, NfsFailure> {
        let n_bytes = piece(length, self.io_bytes_max().0);
        let take = |answer: Answer<'_>| match answer {
            Answer::Data(bytes, is_end) => Some(take(bytes, is_end)),
            _ => None,
        };
        self.call(Procedure::Read(file, offset, n_bytes), pool, take).await
    }

    /// Writes as many of so many bytes as are written at a time.
    ///
    /// # Errors
    /// The server refuses, writes none of them, or none durably although that was asked for.
    pub(super) async fn write(
        &mut self,
        file: &NfsFile,
        range: FileRange,
        is_durable: bool,
        fill: &mut dyn FnMut(u64, &mut [u8]),
        pool: &BufferPool,
    ) -> Result<Written, NfsFailure> {
        self.take_owed(pool).await?;
        let n_bytes = piece(range.length, self.io_bytes_max().1);
        let procedure = Procedure::Write(file, range.offset, n_bytes, is_durable);
        let mut frame = self.compose(&procedure, pool);
        fill(range.offset, frame.claim(n_bytes as usize));
        frame.pad(n_bytes as usize);
        let written = |answer: Answer<'_>| match answer {
            Answer::Written(written) => Some(written),
            _ => None,
        };
        let written = self.sent(frame, procedure, pool, written).await?;
        if written.n_bytes == 0 && 0 < n_bytes {
            return Err(NfsFailure::violation(Violation::Short, 0));
        }
        if is_durable && !written.is_durable {
            return Err(NfsFailure::violation(Violation::NotDurable, 0));
        }
        Ok(written)
    }

    /// Makes what was written to a file durable; returns the number by which the server tells whether it was restarted.
    pub(super) async fn commit(
        &mut self,
        handle: &FileHandle,
        pool: &BufferPool,
    ) -> Result<Verifier, NfsFailure> {
        let verifier = |answer: Answer<'_>| match answer {
            Answer::Committed(verifier) => Some(verifier),
            _ => None,
        };
        self.call(Procedure::Commit(handle), pool, verifier).await
    }

    /// Locks or unlocks a range; returns the state of the file's locks.
    pub(super) async fn lock(
        &mut self,
        procedure: Procedure<'_>,
        pool: &BufferPool,
    ) -> Result<StateId, NfsFailure> {
        let state = |answer: Answer<'_>| match answer {
            Answer::Locked(state) => Some(state),
            _ => None,
        };
        self.call(procedure, pool, state).await
    }

    /// Lists a folder, and passes each name but `.` and `..`, until `each` has had enough.
    ///
    /// # Errors
    /// The server refuses, or the listing does not end.
    pub(super) async fn list(
        &mut self,
        folder: &FileHandle,
        pool: &BufferPool,
        each: &mut dyn FnMut(&ListEntry<'_>) -> bool,
    ) -> Result<(), NfsFailure> {
        let mut position = ListPosition::default();
        let mut watch = CookieWatch::default();
        let mut n_names = 0;
        for _ in 0..PAGES_MAX {
            let page = Procedure::List(folder, position);
            let take = |answer: Answer<'_>| match answer {
                Answer::Page(page) => Some(take_page(page, &mut position, &mut watch, &mut n_names, each)),
                _ => None,
            };
            match self.call(page, pool, take).await?? {
                ListingState::Over => return Ok(()),
                ListingState::Goes => {}
                ListingState::Endless => break,
            }
        }
        Err(NfsFailure::violation(Violation::EndlessListing, n_names))
    }

    /// Returns the names of a folder, and which are folders.
    pub(super) async fn entries(
        &mut self,
        folder: &FileHandle,
        pool: &BufferPool,
    ) -> Result<Vec<(String, bool)>, NfsFailure> {
        let mut listed = Vec::new();
        let add = &mut |entry: &ListEntry<'_>| {
            listed.push((String::from_utf8_lossy(entry.name).into_owned(), entry.is_folder));
            true
        };
        self.list(folder, pool, add).await?;
        let mut entries = Vec::with_capacity(listed.len());
        for (name, is_folder) in listed {
            if name.is_empty() || name.contains('/') {
                return Err(NfsFailure::violation(Violation::LyingLength, name.len() as u64));
            }
            let is_folder = match is_folder {
                Some(is_folder) => is_folder,
                None => {
                    let found = self.lookup((folder, &name), pool).await?;
                    self.attributes(&found, pool).await?.is_folder
                }
            };
            entries.push((name, is_folder));
        }
        Ok(entries)
    }
}

/// The state of a listing behind a page.
enum ListingState {
    Over,
    Goes,
    Endless,
}

/// Takes the names of a page.
fn take_page(
    mut page: ListPage<'_>,
    position: &mut ListPosition,
    watch: &mut CookieWatch,
    n_names: &mut u64,
    each: &mut dyn FnMut(&ListEntry<'_>) -> bool,
) -> Result<ListingState, NfsFailure> {
    let before = *n_names;
    while let Some(entry) = page.next()? {
        *n_names += 1;
        if watch.has_seen(entry.cookie) || LISTED_MAX < *n_names {
            return Ok(ListingState::Endless);
        }
        *position = ListPosition { cookie: entry.cookie, verifier: page.verifier };
        if entry.name != b"." && entry.name != b".." && !each(&entry) {
            return Ok(ListingState::Over);
        }
    }
    Ok(match page.is_last()? {
        true => ListingState::Over,
        false if before < *n_names => ListingState::Goes,
        false => ListingState::Endless,
    })
}

/// Ends the session of version 4, so that the server need not keep it until it has heard nothing for a while.
impl Drop for NfsClient {
    fn drop(&mut self) {
        if let Dialect::V4(session) = &mut self.dialect {
            let [mut one, mut other] = [FrameBuffer::default(), FrameBuffer::default()];
            session.compose_end(&self.target.owner, [&mut one, &mut other]);
            self.connection.send_last([one, other]);
        }
    }
}

/// Returns how many of so many bytes are read or written at a time.
fn piece(length: u64, most: u32) -> u32 {
    u32::try_from(length).map_or(most, |length| length.min(most))
}

fn found(answer: Answer<'_>) -> Option<FoundEntry> {
    match answer {
        Answer::Found(found) => Some(found),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a circle of any length is found soon, and no listing without one is taken for one.
    #[test]
    fn circles_of_cookies_are_found() {
        for length in [1, 2, 3, 10, 1000] {
            let mut watch = CookieWatch::default();
            let n_until_found =
                (0..).map(|n| 1 + n % length).take_while(|cookie| !watch.has_seen(*cookie)).count();
            assert!(
                (length as usize..=4 * length as usize).contains(&n_until_found),
                "{length}: {n_until_found}"
            );
        }
        let mut watch = CookieWatch::default();
        assert!((1..10_000).all(|cookie| !watch.has_seen(cookie)));
        assert!(CookieWatch::default().has_seen(0), "the cookie of the beginning");
    }
}
