//! The folder of a run in a share: made, marked, held against other runs, filled, checked and removed.
//!
//! The marker is kept open without sharing it: the server refuses it to a second run, and lets it go when the session ends,
//! whatever ends that.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use files::{FileContent, FileId as ContentId, FileVersion, PopulatedFile, STAMP_BYTES};
use smb2::types::FileId;
use thiserror::Error;
use units::{Nanos, mix_bits};

use super::client::{SmbClient, join};
use super::connection::SmbConnection;
use super::error::SmbSessionError;
use super::failure::SmbFailure;
use super::frame::BufferPool;
use super::paths;
use super::status::NtStatus;
use super::target::{SmbDialect, SmbTarget};
use super::wire::{OpenMode, Request, SmbReply};
use crate::file::FileSetPlan;
use crate::file::directory::{FOLDER_NAME, PopulationCheck, PopulationSummary};
use crate::net::{SourceAddressError, TargetEndpoint, TargetPolicy};

/// The name of the file in the folder that says whose it is.
const MARKER_NAME: &str = ".plimsoll";

/// The beginning of the marker.
const MARKER_TEXT: &str = "\
Plimsoll keeps the files of a file server's clients in this folder, and removes them.
Do not keep anything else here.
content ";

/// The most bytes of a marker that are read.
const MARKER_BYTES_MAX: u32 = 1024;

/// The bytes that are written at a time.
const PIECE_BYTES: u64 = 1 << 20;

/// The most time that one request beside the clients takes: a listing, or the last piece of a file.
const REQUEST_MAX: Duration = Duration::from_secs(60);

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

    /// Makes what is missing of a population, and removes what is no part of it: what a cycle that was cut off has left.
    /// Files that are right are kept. `progress` is told the bytes done and the bytes of all files, and may stop.
    ///
    /// # Errors
    /// A file or folder cannot be made or removed, or `progress` stops.
    pub async fn populate(
        &mut self,
        files: &FileSetPlan,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<PopulationSummary, SmbShareError> {
        let mut summary = PopulationSummary::default();
        let content = files.content();
        let folders: BTreeSet<String> = files.folders().iter().map(|folder| self.path(folder)).collect();
        let mut text = files.path_text();
        let mut wanted = folders.clone();
        let is_same = self.has_content(&content).await?;
        if is_same {
            wanted.extend(files.files().map(|file| self.path(text.write(file.path))));
        } else {
            // No file can be right whose bytes are those of another seed.
            self.mark_content(None).await?;
        }
        summary.n_removed = self.sweep(&wanted).await?;
        drop(wanted);
        if !is_same {
            self.mark_content(Some(&content)).await?;
        }
        for folder in &folders {
            let made = self.client.create(folder, OpenMode::FOLDER, &self.pool);
            let made = within(folder, made).await?;
            within(folder, self.client.single(Request::Close(made.id), &self.pool)).await?;
        }
        let total = files.bytes();
        let mut done = 0;
        for file in files.files() {
            let path = self.path(text.write(file.path));
            if self.is_right(&file, &path, &content).await? {
                summary.n_kept += 1;
                summary.kept_bytes += file.bytes;
            } else {
                self.write(&file, &path, &content, &mut |piece| progress(done + piece, total)).await?;
                summary.n_made += 1;
                summary.made_bytes += file.bytes;
            }
            done += file.bytes;
            if progress(done, total).is_break() {
                return Err(SmbShareError::Stopped);
            }
        }
        Ok(summary)
    }

    /// Checks that every file of a population is there with its length.
    ///
    /// # Errors
    /// The server does not answer, or refuses for another reason than that a file is missing.
    pub async fn check(&mut self, files: &FileSetPlan) -> Result<PopulationCheck, SmbShareError> {
        let mut text = files.path_text();
        let mut n_files = 0;
        for file in files.files() {
            let relative = text.write(file.path);
            let path = self.path(relative);
            match self.length(&path).await? {
                Some(found) if found == file.bytes => n_files += 1,
                Some(found) => {
                    let path = relative.to_owned();
                    return Ok(PopulationCheck::WrongLength { path, expected: file.bytes, found });
                }
                None => return Ok(PopulationCheck::Missing { path: relative.to_owned() }),
            }
        }
        Ok(PopulationCheck::Complete { n_files })
    }

    /// Reads files of a population, after so many, until they have this size together; returns their number.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn read(
        &mut self,
        files: &FileSetPlan,
        n_skipped: u64,
        least_bytes: u64,
    ) -> Result<u64, SmbShareError> {
        let mut text = files.path_text();
        let (mut n_files, mut n_bytes) = (0, 0);
        for file in files.files().skip(usize::try_from(n_skipped).unwrap_or(usize::MAX)) {
            let path = self.path(text.write(file.path));
            let opened = within(&path, self.client.create(&path, OpenMode::EXISTING, &self.pool)).await?;
            let mut offset = 0;
            while offset < file.bytes {
                let length = (file.bytes - offset).min(PIECE_BYTES);
                let read = self.client.read_piece(opened.id, offset, length, &self.pool);
                offset += u64::from(within(&path, read).await?);
            }
            within(&path, self.client.single(Request::Close(opened.id), &self.pool)).await?;
            (n_files, n_bytes) = (n_files + 1, n_bytes + file.bytes);
            if least_bytes <= n_bytes {
                break;
            }
        }
        Ok(n_files)
    }

    /// Removes the folder with all that is in it.
    ///
    /// # Errors
    /// A file or folder in it cannot be removed. The marker and the folder stay.
    pub async fn remove(mut self) -> Result<(), SmbShareError> {
        self.sweep(&BTreeSet::new()).await?;
        let folder = self.folder.clone();
        within(&folder, self.client.single(Request::DeleteOnClose(self.marker), &self.pool)).await?;
        within(&folder, self.client.single(Request::Close(self.marker), &self.pool)).await?;
        within(&folder, self.client.remove(&folder, OpenMode::FOLDER_DELETION, &self.pool)).await
    }

    /// Returns a path below the folder, as the server reads it.
    fn path(&self, relative: &str) -> String {
        let mut path = String::new();
        paths::write(&self.folder, relative, &mut path);
        path
    }

    /// Removes all files and folders that are not wanted, but for the marker; returns their number.
    async fn sweep(&mut self, wanted: &BTreeSet<String>) -> Result<u64, SmbShareError> {
        let marker = join(&self.folder, MARKER_NAME);
        let mut n_removed = 0;
        let mut left = vec![self.folder.clone()];
        while let Some(folder) = left.pop() {
            let entries = within(&folder, self.client.entries(&folder, &self.pool)).await?;
            for (name, is_folder) in entries {
                let path = join(&folder, &name);
                match (wanted.contains(&path), is_folder) {
                    _ if path == marker => {}
                    (true, true) => left.push(path),
                    (true, false) => {}
                    (false, true) => {
                        n_removed += 1;
                        within(&path, self.client.remove_tree(&path, false, &self.pool)).await?;
                    }
                    (false, false) => {
                        n_removed += 1;
                        within(&path, self.client.remove(&path, OpenMode::DELETION, &self.pool)).await?;
                    }
                }
            }
        }
        Ok(n_removed)
    }

    /// Returns the length of a file; `None` if there is none.
    async fn length(&mut self, path: &str) -> Result<Option<u64>, SmbShareError> {
        let opened = match within(path, self.client.create(path, OpenMode::QUERY, &self.pool)).await {
            Ok(opened) => opened,
            Err(SmbShareError::File { code, .. }) if NtStatus(code).is_missing() => return Ok(None),
            Err(error) => return Err(error),
        };
        within(path, self.client.single(Request::Close(opened.id), &self.pool)).await?;
        Ok((!opened.is_folder).then_some(opened.length))
    }

    /// Returns whether a file has its length, and its first block the stamp of its content, of any generation.
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
        let opened = within(path, self.client.create(path, OpenMode::EXISTING, &self.pool)).await?;
        let mut found = [0; STAMP_BYTES];
        let read = Request::Read(opened.id, 0, STAMP_BYTES as u32);
        let take = &mut |reply: SmbReply<'_>| {
            let data = reply.data(STAMP_BYTES as u32)?;
            found[..data.len()].copy_from_slice(data);
            Ok(())
        };
        within(path, self.client.asked(read, &self.pool, take)).await?;
        within(path, self.client.single(Request::Close(opened.id), &self.pool)).await?;
        let expected = content.stamp(FileVersion { file: file.path.file_id(), generation: 0 }, 0);
        // The third of four numbers is the generation.
        Ok(found[..8] == expected[..8] && found[12..] == expected[12..])
    }

    /// Writes a file of generation 0.
    async fn write(
        &mut self,
        file: &PopulatedFile,
        path: &str,
        content: &FileContent,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), SmbShareError> {
        let opened = within(path, self.client.create(path, OpenMode::NEW_OR_EMPTY, &self.pool)).await?;
        let version = FileVersion { file: file.path.file_id(), generation: 0 };
        let mut offset = 0;
        while offset < file.bytes {
            let length = (file.bytes - offset).min(PIECE_BYTES);
            let fill = &mut |at: u64, bytes: &mut [u8]| content.fill(version, at, bytes);
            let written = self.client.write_piece(opened.id, offset, length, fill, &self.pool);
            offset += u64::from(within(path, written).await?);
            if progress(offset).is_break() {
                return Err(SmbShareError::Stopped);
            }
        }
        within(path, self.client.single(Request::Close(opened.id), &self.pool)).await
    }

    /// Returns whether the marker says that all files in the folder have this content.
    async fn has_content(&mut self, content: &FileContent) -> Result<bool, SmbShareError> {
        let folder = self.folder.clone();
        let mut text = Vec::new();
        let read = Request::Read(self.marker, 0, MARKER_BYTES_MAX);
        let take = &mut |reply: SmbReply<'_>| {
            text.extend_from_slice(reply.data(MARKER_BYTES_MAX)?);
            Ok(())
        };
        within(&folder, self.client.asked(read, &self.pool, take)).await?;
        Ok(text == marker_text(Some(content)).into_bytes())
    }

    /// Writes into the marker which content all files in the folder have; `None` while they have several.
    async fn mark_content(&mut self, content: Option<&FileContent>) -> Result<(), SmbShareError> {
        let folder = self.folder.clone();
        write_marker(&mut self.client, self.marker, content, &folder, &self.pool).await
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

/// Returns the text of a marker. All of them are of one length, so that one is written over another.
fn marker_text(content: Option<&FileContent>) -> String {
    let number = content.map_or(0, content_number);
    format!("{MARKER_TEXT}{number:016x}\n")
}

/// Returns a number of a content, which depends on all of it.
fn content_number(content: &FileContent) -> u64 {
    let version = FileVersion { file: ContentId(0), generation: 0 };
    let mut block = [0; files::BLOCK_BYTES];
    content.fill(version, 0, &mut block);
    let words = block.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
    words.fold(1, |sum, word| mix_bits(sum ^ word))
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
