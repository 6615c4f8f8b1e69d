//! The folder of a run in an export: made, marked, held against other runs, filled, checked and removed.
//!
//! With version 4.1 the marker is kept open, and the server lets nobody else open it, until it has heard nothing from this
//! process for its lease. Version 3 knows no open files: a file beside the marker says that a run is on, whose time is set
//! again and again; a run whose time is old by the server's own clock has ended.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use files::{ExistingFile, FileContent, FileRange, FileVersion, PopulatedFile, STAMP_BYTES};
use thiserror::Error;
use units::Nanos;

use super::actions::remove_content;
use super::client::{Dialect, NfsClient};
use super::error::NfsSessionError;
use super::failure::NfsFailure;
use super::places::{self, FolderHandles};
use super::procedure::{FileAttributes, FileSharing, FoundEntry, NfsFile, Procedure};
use super::status::NfsStatus;
use super::target::{NfsTarget, NfsVersion};
use super::xdr::FileHandle;
use crate::file::directory::FOLDER_NAME;
use crate::file::frame_buffer::BufferPool;
use crate::file::marker::{MARKER_BYTES_MAX, MARKER_NAME, marker_text};
use crate::file::path_text::split;
use crate::file::run_folder::{PIECE_BYTES, REQUEST_MAX, RunFolder};
use crate::net::{SourceAddressError, TargetEndpoint, TargetPolicy};

/// The name of the file that says, with version 3, that a run is on.
const IN_USE_NAME: &str = ".plimsoll-in-use";

/// The time between two settings of the time of that file, and the age at which its run has ended.
const IN_USE_SECONDS: u64 = 10;
const IN_USE_SECONDS_MAX: u64 = 60;

/// Returns the path of the folder of a run.
pub(super) fn run_folder(target: &NfsTarget) -> String {
    let mut path: String = target.parts().flat_map(|part| [part, "/"]).collect();
    path.push_str(FOLDER_NAME);
    path
}

/// A reason why an export cannot be used, or its files are not made.
#[derive(Debug, Error)]
pub enum NfsShareError {
    /// Connections cannot be made from a source address.
    #[error(transparent)]
    Source(#[from] SourceAddressError),
    /// There is no session.
    #[error(transparent)]
    Session(#[from] NfsSessionError),
    /// The folder is there, but no run has made it.
    #[error("`{0}` is there already, and no run of Plimsoll has made it")]
    NotOurs(String),
    /// Another run uses the folder.
    #[error("another run uses `{folder}`, or was killed less than {seconds} s ago")]
    InUse {
        /// The folder, in the export.
        folder: String,
        /// The time after which a run that was killed is forgotten, in seconds.
        seconds: u64,
    },
    /// It was to stop.
    #[error("the files were not made: the run was stopped")]
    Stopped,
    /// A file or folder cannot be made, read or removed.
    #[error("`{path}`: {text}")]
    File {
        /// Its path, in the folder of the run.
        path: String,
        /// The reason.
        text: String,
        /// The server's code, or that of what was wrong with its reply; 0 without one.
        code: u32,
    },
    /// The server did not answer.
    #[error("`{path}`: no answer within {waited}")]
    Slow {
        /// The path, in the folder of the run.
        path: String,
        /// The time waited.
        waited: Nanos,
    },
}

/// The server and the session, as they were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NfsServerFacts {
    /// The version.
    pub version: NfsVersion,
    /// The name that the server gives its program; empty if it gives none.
    pub server: String,
    /// The time after which the server forgets a client from whom it hears nothing, in seconds; `None` if it never does.
    pub lease_seconds: Option<u32>,
    /// The most bytes of a read.
    pub read_bytes_max: u32,
    /// The most bytes of a write.
    pub write_bytes_max: u32,
}

impl NfsServerFacts {
    /// Opens a session in the target's folder, and ends it.
    ///
    /// # Errors
    /// There is no session, or no such folder.
    pub async fn find(
        target: &NfsTarget,
        source_addresses: &[IpAddr],
        limit: Duration,
    ) -> Result<NfsServerFacts, NfsShareError> {
        let endpoint = TargetEndpoint::new(target.address, TargetPolicy, source_addresses)?;
        let target = Arc::new(target.clone());
        let pool = BufferPool::default();
        let opening = tokio::time::timeout(limit, NfsClient::open(&endpoint, &target, 1, &pool));
        let (client, _) = opening.await.map_err(|_| slow(limit))??;
        Ok(NfsServerFacts::of(&client))
    }

    fn of(client: &NfsClient) -> NfsServerFacts {
        let (read_bytes_max, write_bytes_max) = client.io_bytes_max();
        let server = match client.dialect() {
            Dialect::V3(_) => String::new(),
            Dialect::V4(session) => session.limits.server.clone(),
        };
        let (version, lease_seconds) = (client.version(), client.lease_seconds());
        NfsServerFacts { version, server, lease_seconds, read_bytes_max, write_bytes_max }
    }
}

/// The folder of a run in an export, held by a session of its own.
#[derive(Debug)]
pub struct NfsShare {
    client: NfsClient,
    pool: BufferPool,
    root: FileHandle,
    /// The folder that it is in.
    parent: FileHandle,
    folders: RefCell<FolderHandles>,
    marker: NfsFile,
    /// The file that says with version 3 that a run is on.
    in_use: Option<FileHandle>,
}

impl NfsShare {
    /// Opens a session, and makes the folder `plimsoll-files` in the target's, or takes it over from an earlier run.
    ///
    /// # Errors
    /// There is no session, the folder there is not one of ours, or another run uses it.
    pub async fn open(
        target: &NfsTarget,
        source_addresses: &[IpAddr],
        limit: Duration,
    ) -> Result<NfsShare, NfsShareError> {
        let endpoint = TargetEndpoint::new(target.address, TargetPolicy, source_addresses)?;
        let opening = tokio::time::timeout(limit, NfsShare::open_folder(&endpoint, target));
        opening.await.map_err(|_| slow(limit))?
    }

    async fn open_folder(endpoint: &TargetEndpoint, target: &NfsTarget) -> Result<NfsShare, NfsShareError> {
        let pool = BufferPool::default();
        let (mut client, parent) = NfsClient::open(endpoint, &Arc::new(target.clone()), 1, &pool).await?;
        let folder = run_folder(target);
        let place = (&parent, FOLDER_NAME);
        make_folder(&mut client, place, &pool).await.map_err(|failure| client.of_folder(failure, &folder))?;
        let found = client.lookup(place, &pool).await;
        let root = found.map_err(|failure| client.of_folder(failure, &folder))?.file.handle;
        let mut holder = Holder { client: &mut client, root: &root, folder: &folder, pool: &pool };
        let marker = holder.hold_marker().await?;
        let in_use = match target.version {
            NfsVersion::V4_1 => None,
            NfsVersion::V3 => Some(holder.hold_in_use(&marker).await?),
        };
        Ok(NfsShare { client, pool, root, parent, folders: RefCell::default(), marker, in_use })
    }

    /// Returns what was found of the server.
    pub fn facts(&self) -> NfsServerFacts {
        NfsServerFacts::of(&self.client)
    }

    fn version(&self) -> NfsVersion {
        self.client.version()
    }

    async fn folder(&mut self, path: &str) -> Result<FileHandle, NfsShareError> {
        let version = self.version();
        let found = places::look_up(&mut self.client, &self.root, path, &self.folders, &self.pool);
        within(version, path, found).await
    }

    /// Returns a file with its attributes; `None` if there is none.
    async fn find(&mut self, path: &str) -> Result<Option<(NfsFile, FileAttributes)>, NfsShareError> {
        let version = self.version();
        let (folder, name) = split(path);
        let found = async {
            let folder =
                places::look_up(&mut self.client, &self.root, folder, &self.folders, &self.pool).await?;
            let found = self.client.lookup((&folder, name), &self.pool).await?;
            let attributes = self.client.attributes(&found, &self.pool).await?;
            Ok((found.file, attributes))
        };
        match within(version, path, found).await {
            Ok(found) => Ok(Some(found)),
            Err(NfsShareError::File { code, .. }) if code == NfsStatus::NOENT.0 => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl RunFolder for NfsShare {
    type Error = NfsShareError;

    const OWN_NAMES: &[&str] = &[MARKER_NAME, IN_USE_NAME];

    fn stopped() -> NfsShareError {
        NfsShareError::Stopped
    }

    fn forget_folders(&mut self) {
        self.folders = RefCell::default();
    }

    async fn has_content(&mut self, content: &FileContent) -> Result<bool, NfsShareError> {
        let version = self.version();
        let wanted = marker_text(Some(content));
        let is_same = |bytes: &[u8], _: bool| bytes == wanted.as_bytes();
        let read = self.client.read(&self.marker, 0, MARKER_BYTES_MAX.into(), &self.pool, is_same);
        within(version, MARKER_NAME, read).await
    }

    async fn mark_content(&mut self, content: Option<&FileContent>) -> Result<(), NfsShareError> {
        let version = self.version();
        let write = write_marker(&mut self.client, &self.marker, content, &self.pool);
        within(version, MARKER_NAME, write).await
    }

    async fn entries(&mut self, folder: &str) -> Result<Vec<(String, bool)>, NfsShareError> {
        let handle = self.folder(folder).await?;
        within(self.version(), folder, self.client.entries(&handle, &self.pool)).await
    }

    async fn make_folder(&mut self, path: &str) -> Result<(), NfsShareError> {
        let (folder, name) = split(path);
        let folder = self.folder(folder).await?;
        let version = self.version();
        within(version, path, make_folder(&mut self.client, (&folder, name), &self.pool)).await
    }

    async fn remove_folder(&mut self, path: &str) -> Result<(), NfsShareError> {
        let (folder, name) = split(path);
        let folder = self.folder(folder).await?;
        let version = self.version();
        within(version, path, remove_folder(&mut self.client, (&folder, name), &self.pool)).await
    }

    async fn remove_file(&mut self, path: &str) -> Result<(), NfsShareError> {
        let (folder, name) = split(path);
        let folder = self.folder(folder).await?;
        let version = self.version();
        within(version, path, self.client.done(Procedure::Remove((&folder, name)), &self.pool)).await
    }

    async fn length(&mut self, path: &str) -> Result<Option<u64>, NfsShareError> {
        let found = self.find(path).await?.map(|(_, attributes)| attributes);
        Ok(found.filter(|attributes| !attributes.is_folder).map(|attributes| attributes.n_bytes))
    }

    async fn is_right(
        &mut self,
        file: &PopulatedFile,
        path: &str,
        content: &FileContent,
    ) -> Result<bool, NfsShareError> {
        let Some((found, attributes)) = self.find(path).await? else { return Ok(false) };
        if attributes.is_folder || attributes.n_bytes != file.bytes {
            return Ok(false);
        }
        if file.bytes < STAMP_BYTES as u64 {
            return Ok(true);
        }
        // The state of whoever has nothing open does for a read.
        let stamp = |bytes: &[u8], _: bool| bytes.first_chunk::<STAMP_BYTES>().copied();
        let version = self.version();
        let read = self.client.read(&found, 0, STAMP_BYTES as u64, &self.pool, stamp);
        let found = within(version, path, read).await?;
        Ok(found.is_some_and(|found| content.is_of_block(file.path.file_id(), 0, &found)))
    }

    async fn write(
        &mut self,
        file: &PopulatedFile,
        path: &str,
        content: &FileContent,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), NfsShareError> {
        let version = self.version();
        let (folder, name) = split(path);
        let folder = self.folder(folder).await?;
        let place = (&folder, name);
        let create = Procedure::Create(place, ExistingFile::Truncate, FileSharing::All);
        let opened = within(version, path, self.client.open_file(create, place, &self.pool)).await?.file;
        let of_file = FileVersion { file: file.path.file_id(), generation: 0 };
        let mut offset = 0;
        while offset < file.bytes {
            let range = FileRange { offset, length: (file.bytes - offset).min(PIECE_BYTES) };
            let fill = &mut |at: u64, bytes: &mut [u8]| content.fill(of_file, at, bytes);
            let written = self.client.write(&opened, range, false, fill, &self.pool);
            offset += u64::from(within(version, path, written).await?.n_bytes);
            if progress(offset).is_break() {
                return Err(NfsShareError::Stopped);
            }
        }
        within(version, path, self.client.close(&opened, &self.pool)).await
    }

    async fn read_file(&mut self, path: &str, n_bytes: u64) -> Result<(), NfsShareError> {
        let version = self.version();
        let (folder, name) = split(path);
        let folder = self.folder(folder).await?;
        let opened = within(version, path, self.client.lookup((&folder, name), &self.pool)).await?.file;
        let mut offset = 0;
        while offset < n_bytes {
            let length = (n_bytes - offset).min(PIECE_BYTES);
            let count = |bytes: &[u8], _: bool| bytes.len() as u64;
            let read = self.client.read(&opened, offset, length, &self.pool, count);
            match within(version, path, read).await? {
                // Shorter than it was made.
                0 => break,
                n_read => offset += n_read,
            }
        }
        Ok(())
    }

    async fn remove(mut self) -> Result<(), NfsShareError> {
        self.forget_folders();
        self.sweep(&BTreeSet::new()).await?;
        let version = self.version();
        let NfsShare { client, pool, root, parent, marker, in_use, .. } = &mut self;
        if in_use.is_some() {
            let remove = client.done(Procedure::Remove((root, IN_USE_NAME)), pool);
            within(version, IN_USE_NAME, remove).await?;
        }
        within(version, MARKER_NAME, client.close(marker, pool)).await?;
        within(version, MARKER_NAME, client.done(Procedure::Remove((root, MARKER_NAME)), pool)).await?;
        within(version, FOLDER_NAME, client.done(Procedure::RemoveFolder((parent, FOLDER_NAME)), pool)).await
    }

    /// Three times in a lease, and before another run takes this one for ended.
    fn renewal_interval(&self) -> Option<Duration> {
        let lease = self.client.lease_seconds().map(|lease| u64::from(lease) * 1000 / 3);
        Some(Duration::from_millis(lease.unwrap_or(IN_USE_SECONDS * 1000).max(1000)))
    }

    async fn renew(&mut self) -> Result<(), NfsShareError> {
        let version = self.client.version();
        match self.in_use {
            Some(in_use) => {
                let set = self.client.done(Procedure::SetTimes(&in_use, None), &self.pool);
                within(version, IN_USE_NAME, set).await
            }
            None => within(version, MARKER_NAME, self.client.renew(&self.pool)).await,
        }
    }
}

fn slow(limit: Duration) -> NfsSessionError {
    NfsSessionError::Slow(Nanos(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)))
}

/// A client that takes the folder of a run for itself.
struct Holder<'a> {
    client: &'a mut NfsClient,
    root: &'a FileHandle,
    folder: &'a str,
    pool: &'a BufferPool,
}

impl Holder<'_> {
    /// Opens the marker of the folder, with version 4.1 so that no other run can, and makes it in an empty folder.
    async fn hold_marker(&mut self) -> Result<NfsFile, NfsShareError> {
        let version = self.client.version();
        let place = (self.root, MARKER_NAME);
        match self.open(Procedure::Open(place, FileSharing::None)).await {
            Ok(found) => return Ok(found.file),
            Err(failure) if failure.is_status(NfsStatus::NOENT) => {}
            Err(failure) => return Err(self.of_marker(failure)),
        }
        let entries = within(version, self.folder, self.client.entries(self.root, self.pool)).await?;
        if !entries.is_empty() {
            return Err(NfsShareError::NotOurs(self.folder.to_owned()));
        }
        let create = Procedure::Create(place, ExistingFile::Refuse, FileSharing::None);
        let marker = match self.open(create).await {
            Ok(found) => found.file,
            // Of two runs that make it at once.
            Err(failure) if failure.is_status(NfsStatus::EXIST) => return Err(self.in_use()),
            Err(failure) => return Err(self.of_marker(failure)),
        };
        within(version, MARKER_NAME, write_marker(self.client, &marker, None, self.pool)).await?;
        Ok(marker)
    }

    async fn open(&mut self, procedure: Procedure<'_>) -> Result<FoundEntry, NfsFailure> {
        self.client.open_file(procedure, (self.root, MARKER_NAME), self.pool).await
    }

    fn of_marker(&self, failure: NfsFailure) -> NfsShareError {
        if failure.is_status(NfsStatus::SHARE_DENIED) {
            return self.in_use();
        }
        of_file(self.client.version(), MARKER_NAME, failure)
    }

    fn in_use(&self) -> NfsShareError {
        let lease = self.client.lease_seconds().map(u64::from);
        NfsShareError::InUse { folder: self.folder.to_owned(), seconds: lease.unwrap_or(IN_USE_SECONDS_MAX) }
    }

    /// Makes the file that says that a run is on, or takes it over from a run that has ended.
    async fn hold_in_use(&mut self, marker: &NfsFile) -> Result<FileHandle, NfsShareError> {
        let version = self.client.version();
        let place = (self.root, IN_USE_NAME);
        let create = Procedure::Create(place, ExistingFile::Refuse, FileSharing::All);
        match self.client.open_file(create, place, self.pool).await {
            Ok(found) => return Ok(found.file.handle),
            Err(failure) if failure.is_status(NfsStatus::EXIST) => {}
            Err(failure) => return Err(of_file(version, IN_USE_NAME, failure)),
        }
        let found = within(version, IN_USE_NAME, self.client.lookup(place, self.pool)).await?.file.handle;
        let age = async {
            self.client.done(Procedure::SetTimes(&marker.handle, None), self.pool).await?;
            let now = self.client.query(&marker.handle, self.pool).await?.modified_seconds;
            let then = self.client.query(&found, self.pool).await?.modified_seconds;
            Ok(now.saturating_sub(then))
        };
        if within(version, IN_USE_NAME, age).await? < IN_USE_SECONDS_MAX {
            return Err(self.in_use());
        }
        let renewed = self.client.done(Procedure::SetTimes(&found, None), self.pool);
        within(version, IN_USE_NAME, renewed).await?;
        Ok(found)
    }
}

/// Makes a folder if there is none.
async fn make_folder(
    client: &mut NfsClient,
    place: (&FileHandle, &str),
    pool: &BufferPool,
) -> Result<(), NfsFailure> {
    match client.done(Procedure::MakeFolder(place), pool).await {
        Err(failure) if failure.is_status(NfsStatus::EXIST) => Ok(()),
        made => made,
    }
}

/// Removes a folder with all that is in it.
async fn remove_folder(
    client: &mut NfsClient,
    place: (&FileHandle, &str),
    pool: &BufferPool,
) -> Result<(), NfsFailure> {
    let folder = client.lookup(place, pool).await?.file.handle;
    remove_content(client, folder, pool).await?;
    client.done(Procedure::RemoveFolder(place), pool).await
}

async fn write_marker(
    client: &mut NfsClient,
    marker: &NfsFile,
    content: Option<&FileContent>,
    pool: &BufferPool,
) -> Result<(), NfsFailure> {
    let text = marker_text(content);
    let fill = &mut |_: u64, bytes: &mut [u8]| bytes.copy_from_slice(&text.as_bytes()[..bytes.len()]);
    let range = FileRange { offset: 0, length: text.len() as u64 };
    client.write(marker, range, true, fill, pool).await.map(drop)
}

/// Waits for a request beside the clients, not forever.
async fn within<T>(
    version: NfsVersion,
    path: &str,
    request: impl Future<Output = Result<T, NfsFailure>>,
) -> Result<T, NfsShareError> {
    match tokio::time::timeout(REQUEST_MAX, request).await {
        Ok(result) => result.map_err(|failure| of_file(version, path, failure)),
        Err(_) => {
            let waited = Nanos(REQUEST_MAX.as_nanos() as u64);
            Err(NfsShareError::Slow { path: path.to_owned(), waited })
        }
    }
}

fn of_file(version: NfsVersion, path: &str, failure: NfsFailure) -> NfsShareError {
    NfsShareError::File { path: path.to_owned(), text: failure.describe(version), code: failure.code }
}
