//! The folder of a run on a file server: filled, checked and read in the same steps over every protocol.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use files::{FileContent, PopulatedFile};

use super::FileSetPlan;
use super::directory::{PopulationCheck, PopulationSummary};

/// The bytes that are read and written at a time beside the clients.
pub(crate) const PIECE_BYTES: u64 = 1 << 20;

/// The most time that one request beside the clients takes: a listing, or the last piece of a file.
pub(crate) const REQUEST_MAX: Duration = Duration::from_secs(60);

/// The most folders within each other that are removed.
pub(crate) const DEPTH_MAX: usize = 64;

/// The folder of a run on a file server, held by a session of its own. Paths are below it, with `/`; `.` is
/// the folder itself.
///
/// A protocol states the requests, none of which waits forever; their errors are that the server refuses, or does not answer.
#[expect(async_fn_in_trait, reason = "not implemented outside this crate, and futures stay on their thread")]
pub trait RunFolder: fmt::Debug + Send + 'static {
    /// A reason why files are not made, checked, read or removed.
    type Error: fmt::Display;

    /// The names in the folder that are the run's own, beside the files of clients.
    const OWN_NAMES: &[&str];

    /// Returns the error of a population that was to stop.
    fn stopped() -> Self::Error;

    /// Forgets what was known of folders: under load another may have come in the place of one.
    fn forget_folders(&mut self) {}

    /// Returns whether the marker says that all files in the folder have this content.
    async fn has_content(&mut self, content: &FileContent) -> Result<bool, Self::Error>;

    /// Writes into the marker which content all files in the folder have; `None` while they have several.
    async fn mark_content(&mut self, content: Option<&FileContent>) -> Result<(), Self::Error>;

    /// Returns the names in a folder, and which are folders.
    async fn entries(&mut self, folder: &str) -> Result<Vec<(String, bool)>, Self::Error>;

    /// Makes a folder if there is none.
    async fn make_folder(&mut self, path: &str) -> Result<(), Self::Error>;

    /// Removes a folder with all that is in it.
    async fn remove_folder(&mut self, path: &str) -> Result<(), Self::Error>;

    /// Removes a file.
    async fn remove_file(&mut self, path: &str) -> Result<(), Self::Error>;

    /// Returns the length of a file; `None` if there is none.
    async fn length(&mut self, path: &str) -> Result<Option<u64>, Self::Error>;

    /// Returns whether a file has its length, and its first block the stamp of its content, of any generation.
    async fn is_right(
        &mut self,
        file: &PopulatedFile,
        path: &str,
        content: &FileContent,
    ) -> Result<bool, Self::Error>;

    /// Writes a file of generation 0. `progress` is told the bytes done, and may stop.
    async fn write(
        &mut self,
        file: &PopulatedFile,
        path: &str,
        content: &FileContent,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;

    /// Reads a file of so many bytes.
    async fn read_file(&mut self, path: &str, n_bytes: u64) -> Result<(), Self::Error>;

    /// Removes the folder with all that is in it. What cannot be removed is left in a folder with its marker.
    async fn remove(self) -> Result<(), Self::Error>;

    /// Returns how often the server must hear of the session, so that the folder stays held; `None` if it need not.
    fn renewal_interval(&self) -> Option<Duration> {
        None
    }

    /// Lets the server hear of the session.
    async fn renew(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Makes what is missing of a population, and removes what is no part of it: what a cycle that was cut off has left.
    /// Files that are right are kept. `progress` is told the bytes done and the bytes of all files, and may stop.
    ///
    /// # Errors
    /// A file or folder cannot be made or removed, or `progress` stops.
    async fn populate(
        &mut self,
        files: &FileSetPlan,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<PopulationSummary, Self::Error> {
        self.forget_folders();
        let mut summary = PopulationSummary::default();
        let content = files.content();
        let folders = files.folders();
        let mut text = files.path_text();
        if self.has_content(&content).await? {
            let of_files = files.files().map(|file| text.write(file.path).to_owned());
            let wanted = folders.iter().cloned().chain(of_files).collect();
            summary.n_removed = self.sweep(&wanted).await?;
        } else {
            // No file can be right whose bytes are those of another seed.
            self.mark_content(None).await?;
            summary.n_removed = self.sweep(&folders).await?;
            self.mark_content(Some(&content)).await?;
        }
        for folder in &folders {
            self.make_folder(folder).await?;
        }
        let total = files.bytes();
        let mut done = 0;
        for file in files.files() {
            let path = text.write(file.path);
            if self.is_right(&file, path, &content).await? {
                summary.n_kept += 1;
                summary.kept_bytes += file.bytes;
            } else {
                self.write(&file, path, &content, &mut |piece| progress(done + piece, total)).await?;
                summary.n_made += 1;
                summary.made_bytes += file.bytes;
            }
            done += file.bytes;
            if progress(done, total).is_break() {
                return Err(Self::stopped());
            }
        }
        Ok(summary)
    }

    /// Removes all files and folders that are not wanted, but for the run's own; returns their number.
    async fn sweep(&mut self, wanted: &BTreeSet<String>) -> Result<u64, Self::Error> {
        let mut n_removed = 0;
        let mut left = vec![".".to_owned()];
        while let Some(folder) = left.pop() {
            for (name, is_folder) in self.entries(&folder).await? {
                let path = if folder == "." { name } else { format!("{folder}/{name}") };
                match (wanted.contains(&path), is_folder) {
                    _ if Self::OWN_NAMES.contains(&path.as_str()) => {}
                    (true, true) => left.push(path),
                    (true, false) => {}
                    (false, true) => {
                        n_removed += 1;
                        self.remove_folder(&path).await?;
                    }
                    (false, false) => {
                        n_removed += 1;
                        self.remove_file(&path).await?;
                    }
                }
            }
        }
        Ok(n_removed)
    }

    /// Checks that every file of a population is there with its length.
    ///
    /// # Errors
    /// The server does not answer, or refuses for another reason than that a file is missing.
    async fn check(&mut self, files: &FileSetPlan) -> Result<PopulationCheck, Self::Error> {
        self.forget_folders();
        let mut text = files.path_text();
        let mut n_files = 0;
        for file in files.files() {
            let path = text.write(file.path);
            match self.length(path).await? {
                Some(found) if found == file.bytes => n_files += 1,
                Some(found) => {
                    let path = path.to_owned();
                    return Ok(PopulationCheck::WrongLength { path, expected: file.bytes, found });
                }
                None => return Ok(PopulationCheck::Missing { path: path.to_owned() }),
            }
        }
        Ok(PopulationCheck::Complete { n_files })
    }

    /// Reads files of a population, after so many, until they have this size together; returns their number.
    ///
    /// # Errors
    /// A file cannot be read.
    async fn read(
        &mut self,
        files: &FileSetPlan,
        n_skipped: u64,
        least_bytes: u64,
    ) -> Result<u64, Self::Error> {
        let mut text = files.path_text();
        let (mut n_files, mut n_bytes) = (0, 0);
        for file in files.files().skip(usize::try_from(n_skipped).unwrap_or(usize::MAX)) {
            self.read_file(text.write(file.path), file.bytes).await?;
            (n_files, n_bytes) = (n_files + 1, n_bytes + file.bytes);
            if least_bytes <= n_bytes {
                break;
            }
        }
        Ok(n_files)
    }
}
