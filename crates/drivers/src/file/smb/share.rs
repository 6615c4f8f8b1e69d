//! The folder of a run in a share: made, marked, held against other runs, filled, checked and removed.
//!
//! The marker is kept open without sharing it: the server refuses it to a second run, and lets it go when the session ends,
//! whatever ends that.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use files::{FileContent, FileVersion, PopulatedFile, STAMP_BYTES};
use smb2::types::FileId;
use thiserror::Error;
use units::Nanos;

use super::client::{SmbClient, join};
use super::connection::SmbConnection;
use super::error::SmbSessionError;
use super::failure::SmbFailure;
use super::frame::BufferPool;
use super::paths;
use super::status::NtStatus;
use super::target::{SmbDialect, SmbTarget};
use super::wire::{OpenMode, Request, SmbReply};
use crate::file::directory::FOLDER_NAME;
use crate::file::marker::{MARKER_BYTES_MAX, MARKER_NAME, marker_text};
use crate::file::run_folder::{PIECE_BYTES, REQUEST_MAX, RunFolder};
use crate::net::{SourceAddressError, TargetEndpoint, TargetPolicy};

/// The attempt to work in the folder, as errors name it.
const OPENING_FOLDER: &str = "opening the folder";

/// Returns the folder of a run, as the server reads it.
pub(super) fn run_folder(target: &SmbTarget) -> String {
    join(&target.folder_path(), FOLDER_NAME)
}

/// Returns the error of a folder that cannot be opened.
pub(super) fn of_folder(failure: SmbFailure, folder: &str) -> SmbSessionError {
    if NtStatus(failure.code).is_missing() {
        return SmbSessionError::NoFolder(folder.replace('\\', "/"));
    }
    SmbSessionError::of(OPENING_FOLDER)(failure)
}

/// A reason why a share cannot be used, or its files are not made.
#[derive(Debug, Error)]
pub enum SmbShareError {
    /// Connections cannot be made from a source address.
    #[error(transparent)]
    Source(#[from] SourceAddressError),
    /// There is no session.
    #[error(transparent)]
    Session(#[from] SmbSessionError),
    /// The folder is there, but no run has made it.
    #[error("`{0}` is there already, and no run of Plimsoll has made it")]
    NotOurs(String),
    /// Another run uses the folder.
    #[error("another run uses `{0}`")]
    InUse(String),
    /// It was to stop.
    #[error("the files were not made: the run was stopped")]
    Stopped,
    /// A file or folder cannot be made, read or removed.
    #[error("`{path}`: {text}")]
    File {
        /// Its path, in the share.
        path: String,
        /// The reason.
        text: String,
        /// The server's code, or that of what was wrong with its reply; 0 without one.
        code: u32,
    },
    /// The server did not answer.
    #[error("`{path}`: no answer within {waited}")]
    Slow {
        /// The path, in the share.
        path: String,
        /// The time waited.
        waited: Nanos,
    },
}

/// The server and the session, as they were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmbServerFacts {
    /// The dialect.
    pub dialect: SmbDialect,
    /// The algorithm of signatures; `None` without them.
    pub signing: Option<&'static str>,
    /// The algorithm of encryption; `None` without it.
    pub encryption: Option<&'static str>,
    /// The most bytes of a read.
    pub read_bytes_max: u32,
    /// The most bytes of a write.
    pub write_bytes_max: u32,
}

impl SmbServerFacts {
    /// Opens a session with a share, and ends it again.
    ///
    /// # Errors
    /// There is no session with these options, or no such folder.
    pub async fn find(
        target: &SmbTarget,
        source_addresses: &[IpAddr],
        limit: Duration,
    ) -> Result<SmbServerFacts, SmbShareError> {
        let finding = async |endpoint: TargetEndpoint| {
            Ok(open_client(&endpoint, target, &BufferPool::default()).await?.1)
        };
        within_limit(target, source_addresses, limit, finding).await
    }
}

/// The folder of a run in a share, held by a session of its own.
#[derive(Debug)]
pub struct SmbShare {
    client: SmbClient,
    pool: BufferPool,
    /// The folder of the run, as the server reads it.
    folder: String,
    marker: FileId,
    facts: SmbServerFacts,
}

impl SmbShare {
    /// Opens a session, and makes the folder `plimsoll-files` in the target's, or takes it over from an earlier run.
    ///
    /// # Errors
    /// There is no session with these options, the folder there is not one of ours, or another run uses it.
    pub async fn open(
        target: &SmbTarget,
        source_addresses: &[IpAddr],
        limit: Duration,
    ) -> Result<SmbShare, SmbShareError> {
        let opening = async |endpoint: TargetEndpoint| SmbShare::open_folder(&endpoint, target).await;
        within_limit(target, source_addresses, limit, opening).await
    }

    async fn open_folder(endpoint: &TargetEndpoint, target: &SmbTarget) -> Result<SmbShare, SmbShareError> {
        let pool = BufferPool::default();
        let (mut client, facts) = open_client(endpoint, target, &pool).await?;
        let folder = run_folder(target);
        let failed = |failure: SmbFailure| of_file(&folder, failure);
        let made = client.create(&folder, OpenMode::FOLDER, &pool).await.map_err(failed)?;
        client.single(Request::Close(made.id), &pool).await.map_err(failed)?;
        let marker = hold_marker(&mut client, &folder, &pool).await?;
        Ok(SmbShare { client, pool, folder, marker, facts })
    }

    /// Returns what was found of the server.
    pub fn facts(&self) -> &SmbServerFacts {
        &self.facts
    }

    /// Returns a path below the folder, as the server reads it.
    fn path(&self, relative: &str) -> String {
        let mut path = String::new();
        paths::write(&self.folder, relative, &mut path);
        path
    }
}

impl RunFolder for SmbShare {
    type Error = SmbShareError;

    const OWN_NAMES: &[&str] = &[MARKER_NAME];

    fn stopped() -> SmbShareError {
        SmbShareError::Stopped
    }

    async fn has_content(&mut self, content: &FileContent) -> Result<bool, SmbShareError> {
        let mut text = Vec::new();
        let read = Request::Read(self.marker, 0, MARKER_BYTES_MAX);
        let take = &mut |reply: SmbReply<'_>| {
            text.extend_from_slice(reply.data(MARKER_BYTES_MAX)?);
            Ok(())
        };
        within(&self.folder, self.client.asked(read, &self.pool, take)).await?;
        Ok(text == marker_text(Some(content)).into_bytes())
    }

    async fn mark_content(&mut self, content: Option<&FileContent>) -> Result<(), SmbShareError> {
        write_marker(&mut self.client, self.marker, content, &self.folder, &self.pool).await
    }

    async fn entries(&mut self, folder: &str) -> Result<Vec<(String, bool)>, SmbShareError> {
        let folder = self.path(folder);
        within(&folder, self.client.entries(&folder, &self.pool)).await
    }

    async fn make_folder(&mut self, path: &str) -> Result<(), SmbShareError> {
        let path = self.path(path);
        let made = within(&path, self.client.create(&path, OpenMode::FOLDER, &self.pool)).await?;
        within(&path, self.client.single(Request::Close(made.id), &self.pool)).await
    }

    async fn remove_folder(&mut self, path: &str) -> Result<(), SmbShareError> {
        let path = self.path(path);
        within(&path, self.client.remove_tree(&path, false, &self.pool)).await
    }

    async fn remove_file(&mut self, path: &str) -> Result<(), SmbShareError> {
        let path = self.path(path);
        within(&path, self.client.remove(&path, OpenMode::DELETION, &self.pool)).await
    }

    async fn length(&mut self, path: &str) -> Result<Option<u64>, SmbShareError> {
        let path = self.path(path);
        let opened = match within(&path, self.client.create(&path, OpenMode::QUERY, &self.pool)).await {
            Ok(opened) => opened,
            Err(SmbShareError::File { code, .. }) if NtStatus(code).is_missing() => return Ok(None),
            Err(error) => return Err(error),
        };
        within(&path, self.client.single(Request::Close(opened.id), &self.pool)).await?;
        Ok((!opened.is_folder).then_some(opened.length))
    }

    async fn is_right(
        &mut self,
        file: &PopulatedFile,
        path: &str,
        content: &FileContent,
    ) -> Result<bool, SmbShareError> {
        if self.length(path).await? != Some(file.bytes) {
            return Ok(false);
        }
        if file.bytes < STAMP_BYTES as u64 {
            return Ok(true);
        }
        let path = self.path(path);
        let opened = within(&path, self.client.create(&path, OpenMode::EXISTING, &self.pool)).await?;
        let mut found = [0; STAMP_BYTES];
        let read = Request::Read(opened.id, 0, STAMP_BYTES as u32);
        let take = &mut |reply: SmbReply<'_>| {
            let data = reply.data(STAMP_BYTES as u32)?;
            found[..data.len()].copy_from_slice(data);
            Ok(())
        };
        within(&path, self.client.asked(read, &self.pool, take)).await?;
        within(&path, self.client.single(Request::Close(opened.id), &self.pool)).await?;
        Ok(content.is_of_block(file.path.file_id(), 0, &found))
    }

    async fn write(
        &mut self,
        file: &PopulatedFile,
        path: &str,
        content: &FileContent,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), SmbShareError> {
        let path = self.path(path);
        let opened = within(&path, self.client.create(&path, OpenMode::NEW_OR_EMPTY, &self.pool)).await?;
        let version = FileVersion { file: file.path.file_id(), generation: 0 };
        let mut offset = 0;
        while offset < file.bytes {
            let length = (file.bytes - offset).min(PIECE_BYTES);
            let fill = &mut |at: u64, bytes: &mut [u8]| content.fill(version, at, bytes);
            let written = self.client.write_piece(opened.id, offset, length, fill, &self.pool);
            offset += u64::from(within(&path, written).await?);
            if progress(offset).is_break() {
                return Err(SmbShareError::Stopped);
            }
        }
        within(&path, self.client.single(Request::Close(opened.id), &self.pool)).await
    }

    async fn read_file(&mut self, path: &str, n_bytes: u64) -> Result<(), SmbShareError> {
        let path = self.path(path);
        let opened = within(&path, self.client.create(&path, OpenMode::EXISTING, &self.pool)).await?;
        let mut offset = 0;
        while offset < n_bytes {
            let length = (n_bytes - offset).min(PIECE_BYTES);
            let read = self.client.read_piece(opened.id, offset, length, &self.pool);
            offset += u64::from(within(&path, read).await?);
        }
        within(&path, self.client.single(Request::Close(opened.id), &self.pool)).await
    }

    async fn remove(mut self) -> Result<(), SmbShareError> {
        self.sweep(&BTreeSet::new()).await?;
        let SmbShare { client, pool, folder, marker, .. } = &mut self;
        within(folder, client.single(Request::DeleteOnClose(*marker), pool)).await?;
        within(folder, client.single(Request::Close(*marker), pool)).await?;
        within(folder, client.remove(folder, OpenMode::FOLDER_DELETION, pool)).await
    }
}

/// Does something with a server, not forever.
async fn within_limit<T>(
    target: &SmbTarget,
    source_addresses: &[IpAddr],
    limit: Duration,
    work: impl AsyncFnOnce(TargetEndpoint) -> Result<T, SmbShareError>,
) -> Result<T, SmbShareError> {
    let endpoint = TargetEndpoint::new(target.address, TargetPolicy, source_addresses)?;
    let waited = Nanos(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
    tokio::time::timeout(limit, work(endpoint)).await.map_err(|_| SmbSessionError::Slow(waited))?
}

/// Opens a session in the folder of a target; returns it with what was found of the server.
async fn open_client(
    endpoint: &TargetEndpoint,
    target: &SmbTarget,
    pool: &BufferPool,
) -> Result<(SmbClient, SmbServerFacts), SmbSessionError> {
    let connection = SmbConnection::open(endpoint, target, pool).await?;
    let facts = connection.session.facts(target.options.dialect());
    let parent = target.folder_path();
    let client = SmbClient::new(connection, &parent, pool);
    Ok((client.await.map_err(|failure| of_folder(failure, &parent))?, facts))
}

/// Opens the marker of a folder so that no other run can, and makes it in an empty folder.
async fn hold_marker(
    client: &mut SmbClient,
    folder: &str,
    pool: &BufferPool,
) -> Result<FileId, SmbShareError> {
    let path = join(folder, MARKER_NAME);
    let shown = || folder.replace('\\', "/");
    let is_conflict =
        |failure: &SmbFailure| SmbFailure::status(NtStatus(failure.code)).outcome == model::Outcome::Conflict;
    match client.create(&path, OpenMode::MARKER, pool).await {
        Ok(opened) => return Ok(opened.id),
        Err(failure) if is_conflict(&failure) => return Err(SmbShareError::InUse(shown())),
        Err(failure) if failure.code == NtStatus::OBJECT_NAME_NOT_FOUND.0 => {}
        Err(failure) => return Err(of_file(&path, failure)),
    }
    let entries = client.page_of(folder, pool).await.map_err(|failure| of_file(folder, failure))?;
    if !entries.is_empty() {
        return Err(SmbShareError::NotOurs(shown()));
    }
    match client.create(&path, OpenMode::NEW_MARKER, pool).await {
        Ok(opened) => {
            write_marker(client, opened.id, None, folder, pool).await?;
            Ok(opened.id)
        }
        Err(failure) if is_conflict(&failure) => Err(SmbShareError::InUse(shown())),
        Err(failure) => Err(of_file(&path, failure)),
    }
}

async fn write_marker(
    client: &mut SmbClient,
    marker: FileId,
    content: Option<&FileContent>,
    folder: &str,
    pool: &BufferPool,
) -> Result<(), SmbShareError> {
    let text = marker_text(content);
    let fill = &mut |_: u64, bytes: &mut [u8]| bytes.copy_from_slice(&text.as_bytes()[..bytes.len()]);
    within(folder, client.write_piece(marker, 0, text.len() as u64, fill, pool)).await?;
    Ok(())
}

/// Waits for a request beside the clients, not forever.
async fn within<T>(
    path: &str,
    request: impl Future<Output = Result<T, SmbFailure>>,
) -> Result<T, SmbShareError> {
    match tokio::time::timeout(REQUEST_MAX, request).await {
        Ok(result) => result.map_err(|failure| of_file(path, failure)),
        Err(_) => {
            let waited = Nanos(REQUEST_MAX.as_nanos() as u64);
            Err(SmbShareError::Slow { path: path.replace('\\', "/"), waited })
        }
    }
}

fn of_file(path: &str, failure: SmbFailure) -> SmbShareError {
    let text = failure.describe();
    SmbShareError::File { path: path.replace('\\', "/"), text, code: failure.code }
}
