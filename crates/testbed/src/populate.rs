//! Creation of file sets on disk.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::available_parallelism;
use std::time::{Duration, SystemTime};

use model::{Content, FileSet, SetFile};

/// Name of the file that identifies the file set of a directory.
const MARKER: &str = ".plimsoll-dataset";

/// The modification time of every file, so that conditional requests have known answers: 2000-01-01 00:00:00 UTC, in
/// seconds of Unix time.
pub const MODIFIED_UNIX_S: u64 = 946_684_800;

/// Maximum number of writer threads: more than a disk can use.
const THREADS_MAX: usize = 4;

/// Bytes that are generated and written at once.
const BUFFER_BYTES: usize = 1024 * 1024;

/// A file set on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopulatedFiles {
    /// Its directory.
    pub directory: PathBuf,
    /// Number of files.
    pub files: u64,
    /// Total size of the files.
    pub bytes: u64,
    /// Whether it already existed completely.
    pub reused: bool,
}

/// A file set that could not be created.
#[derive(Debug, thiserror::Error)]
pub enum PopulateError {
    /// The directory contains files that Plimsoll did not create.
    #[error(
        "directory `{directory}` contains other files (`{found}`), so the file set is not written there\n\
         hint: choose a directory that is empty or does not exist"
    )]
    Occupied {
        /// The directory.
        directory: PathBuf,
        /// One of the files.
        found: String,
    },
    /// The path of an object leads out of the directory.
    #[error("object path `{0}` is not a plain path below `/`")]
    UnsafePath(String),
    /// No space is left.
    #[error(
        "no space left for the file set: `{path}` ({needed} bytes in total): {source}\n\
             hint: choose a directory on another file system, or free some space"
    )]
    Full {
        /// The file that did not fit.
        path: PathBuf,
        /// Size of the whole set.
        needed: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The user interrupted the run.
    #[error("interrupted before the file set was complete")]
    Stopped,
    /// A file cannot be written.
    #[error("`{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Creates `files` below `directory`, which is created if needed.
///
/// A directory that contains the same set is used as it is. One that contains another set, such as that of a
/// smaller load, keeps the files that both have. `progress` receives the number of bytes in place so far, at
/// least once per MiB written.
///
/// # Errors
/// The directory contains files that Plimsoll did not create, a path leads out of it, or a file cannot be
/// written.
pub fn populate(
    directory: &Path,
    files: &FileSet,
    progress: impl FnMut(u64),
) -> Result<PopulatedFiles, PopulateError> {
    populate_unless(directory, files, &AtomicBool::new(false), progress)
}

/// Creates `files` in the same way, but returns an error when `stop` is set. An incomplete set is not taken
/// for complete later.
///
/// # Errors
/// As for [`populate`], and [`PopulateError::Stopped`].
pub fn populate_unless(
    directory: &Path,
    files: &FileSet,
    stop: &AtomicBool,
    mut progress: impl FnMut(u64),
) -> Result<PopulatedFiles, PopulateError> {
    let paths: Vec<PathBuf> =
        files.files.iter().map(|file| below(directory, &file.path)).collect::<Result<_, _>>()?;
    let marker = directory.join(MARKER);
    let found = fs::read_to_string(&marker);
    let is_ours = found.is_ok();
    if !is_ours {
        refuse_other_files(directory)?;
    }
    let found = found.unwrap_or_default();
    let head = head(files);
    let known: HashSet<&str> = match found.strip_prefix(&head) {
        Some(lines) => lines.lines().collect(),
        None => HashSet::new(),
    };
    let is_in_place =
        |(file, path): &(&SetFile, &PathBuf)| known.contains(line(file).as_str()) && is_right(path, file);
    let missing: Vec<(&SetFile, &PathBuf)> =
        files.files.iter().zip(&paths).filter(|file| !is_in_place(file)).collect();
    let bytes = files.bytes();
    let reused = is_ours && missing.is_empty() && known.len() == files.files.len();
    let populated =
        PopulatedFiles { directory: directory.to_owned(), files: files.files.len() as u64, bytes, reused };
    if reused {
        return Ok(populated);
    }
    // The marker is written first, without the list: it identifies an interrupted set as ours, and as
    // incomplete.
    create_parents(&marker)?;
    write(&marker, bytes, |file| file.write_all(b"incomplete\n"))?;
    let in_place = bytes - missing.iter().map(|(file, _)| file.bytes).sum::<u64>();
    let work = PopulateJob { content: Content::new(files.content_seed), needed: bytes, stop };
    write_all(&missing, &work, in_place, &mut progress)?;
    let lines = files.files.iter().map(|file| line(file) + "\n");
    write(&marker, bytes, |file| file.write_all((head + &lines.collect::<String>()).as_bytes()))?;
    Ok(populated)
}

/// The state shared by all writer threads.
struct PopulateJob<'a> {
    content: Content,
    /// Size of the whole set in bytes.
    needed: u64,
    stop: &'a AtomicBool,
}

/// Writes files on several threads, each a part of the list; `progress` receives the bytes in place so far.
fn write_all(
    files: &[(&SetFile, &PathBuf)],
    work: &PopulateJob<'_>,
    mut in_place: u64,
    progress: &mut impl FnMut(u64),
) -> Result<(), PopulateError> {
    let n_threads = available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX);
    let (sender, written) = channel();
    std::thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(n_threads).max(1));
        let threads: Vec<_> = parts
            .map(|part| {
                let sender = sender.clone();
                scope.spawn(move || write_part(part, work, &sender))
            })
            .collect();
        drop(sender);
        for bytes in written {
            in_place += bytes;
            progress(in_place);
        }
        threads.into_iter().try_for_each(|thread| thread.join().expect("writing a file does not panic"))
    })
}

/// Writes some of the files, one after another; `written` receives the number of bytes.
fn write_part(
    files: &[(&SetFile, &PathBuf)],
    work: &PopulateJob<'_>,
    written: &Sender<u64>,
) -> Result<(), PopulateError> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut parent = None;
    for (set_file, path) in files {
        if work.stop.load(Ordering::Relaxed) {
            return Err(PopulateError::Stopped);
        }
        // Files of one directory are mostly adjacent.
        if parent != path.parent() {
            create_parents(path)?;
            parent = path.parent();
        }
        write(path, work.needed, |file| {
            write_object(file, &work.content, set_file.object, set_file.bytes, &mut buffer, |bytes| {
                // The receiver lives until all threads have ended.
                let _ = written.send(bytes);
            })?;
            file.set_modified(modified())
        })?;
    }
    Ok(())
}

fn write_object(
    file: &mut File,
    content: &Content,
    object: u32,
    bytes: u64,
    buffer: &mut [u8],
    mut progress: impl FnMut(u64),
) -> io::Result<()> {
    let mut offset = 0;
    while offset < bytes {
        let length = (bytes - offset).min(buffer.len() as u64);
        let piece = &mut buffer[..length as usize];
        content.fill(object, offset, piece);
        file.write_all(piece)?;
        offset += length;
        progress(length);
    }
    Ok(())
}

fn modified() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(MODIFIED_UNIX_S)
}

/// Returns the common properties of all files of a set. Together with [`line()`] the complete identity of a
/// set is text rather than a hash, so that differences can be inspected.
fn head(files: &FileSet) -> String {
    format!("plimsoll file set, form 2\ncontent seed {}\n", files.content_seed)
}

fn line(file: &SetFile) -> String {
    format!("{} {} {}", file.object, file.bytes, file.path)
}

fn is_right(path: &Path, file: &SetFile) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        let is_ours = found.modified().is_ok_and(|time| time == modified());
        found.is_file() && found.len() == file.bytes && is_ours
    })
}

/// Returns the path of an object's file. Only plain names below the root are accepted, because paths come
/// from file lists of any origin.
fn below(directory: &Path, path: &str) -> Result<PathBuf, PopulateError> {
    let refused = || PopulateError::UnsafePath(path.to_owned());
    let relative = path.strip_prefix('/').ok_or_else(refused)?;
    let plain = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
    if !plain || relative.is_empty() || relative.ends_with('/') || path.contains('\0') || relative == MARKER {
        return Err(refused());
    }
    Ok(directory.join(relative))
}

fn refuse_other_files(directory: &Path) -> Result<(), PopulateError> {
    let Some(Ok(entry)) = fs::read_dir(directory).ok().and_then(|mut entries| entries.next()) else {
        return Ok(());
    };
    let found = entry.file_name().to_string_lossy().into_owned();
    Err(PopulateError::Occupied { directory: directory.to_owned(), found })
}

fn create_parents(path: &Path) -> Result<(), PopulateError> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|source| PopulateError::File { path: parent.to_owned(), source })
}

/// Writes a new file, replacing an existing one; a link is replaced, not followed.
fn write(
    path: &Path,
    needed: u64,
    content: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), PopulateError> {
    let create = || {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        File::create_new(path)
    };
    create().and_then(|mut file| content(&mut file)).map_err(|source| {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                PopulateError::Full { path, needed, source }
            }
            _ => PopulateError::File { path, source },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(content_seed: u64, files: &[(&str, u64)]) -> FileSet {
        let file = |(object, (path, bytes)): (u32, &(&str, u64))| SetFile {
            object,
            path: (*path).to_owned(),
            bytes: *bytes,
        };
        FileSet { content_seed, files: (0..).zip(files).map(file).collect() }
    }

    fn set() -> FileSet {
        files(7, &[("/a.html", 500), ("/deep/er/b.bin", 2_500_000), ("/empty", 0)])
    }

    #[test]
    fn files_contain_their_objects_and_progress_adds_up() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("new/root");
        let mut heard = Vec::new();
        let populated = populate(&directory, &set(), |bytes| heard.push(bytes)).unwrap();
        assert_eq!((populated.files, populated.bytes, populated.reused), (3, 2_500_500, false));
        // Threads interleave in any order; their progress adds up.
        assert_eq!(heard.len(), 4);
        assert!(heard.is_sorted() && heard.last() == Some(&2_500_500), "{heard:?}");
        let content = Content::new(7);
        assert!(content.matches(0, 0, &fs::read(directory.join("a.html")).unwrap()));
        let second = fs::read(directory.join("deep/er/b.bin")).unwrap();
        assert!(second.len() == 2_500_000 && content.matches(1, 0, &second));
        assert_eq!(fs::metadata(directory.join("empty")).unwrap().len(), 0);
    }

    #[test]
    fn an_equal_set_is_reused_and_a_damaged_or_different_one_is_rewritten() {
        let base = tempfile::tempdir().unwrap();
        let again = |files: &FileSet| populate(base.path(), files, |_| {}).unwrap().reused;
        assert!(!again(&set()));
        assert!(again(&set()));
        fs::write(base.path().join("a.html"), "short").unwrap();
        assert!(!again(&set()));
        assert!(again(&set()));
        let other = FileSet { content_seed: 8, ..set() };
        assert!(!again(&other));
        assert!(Content::new(8).matches(0, 0, &fs::read(base.path().join("a.html")).unwrap()));
    }

    /// A server without files still needs the directory.
    #[test]
    fn an_empty_set_is_a_directory_with_only_its_marker() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("root");
        assert!(!populate(&directory, &files(1, &[]), |_| {}).unwrap().reused);
        assert!(populate(&directory, &files(1, &[]), |_| {}).unwrap().reused);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[test]
    fn a_stopped_set_is_not_taken_for_complete() {
        let base = tempfile::tempdir().unwrap();
        let stopped = populate_unless(base.path(), &set(), &AtomicBool::new(true), |_| {});
        assert!(matches!(stopped, Err(PopulateError::Stopped)));
        assert!(!populate(base.path(), &set(), |_| {}).unwrap().reused);
    }

    /// Goal: a larger load needs additional files, not the same ones again.
    #[test]
    fn a_larger_set_keeps_the_files_of_a_smaller_one() {
        let base = tempfile::tempdir().unwrap();
        populate(base.path(), &set(), |_| {}).unwrap();
        let mut larger = set();
        larger.files.push(SetFile { object: 3, path: "/more".to_owned(), bytes: 10 });
        let mut heard = Vec::new();
        let populated = populate(base.path(), &larger, |bytes| heard.push(bytes)).unwrap();
        assert_eq!((heard, populated.reused), (vec![2_500_510], false));
        assert!(populate(base.path(), &larger, |_| {}).unwrap().reused);
    }

    #[test]
    fn all_files_have_the_same_time_so_that_conditional_requests_have_known_answers() {
        let base = tempfile::tempdir().unwrap();
        populate(base.path(), &set(), |_| {}).unwrap();
        let modified = fs::metadata(base.path().join("a.html")).unwrap().modified().unwrap();
        assert_eq!(modified.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs(), MODIFIED_UNIX_S);
    }

    #[test]
    fn an_interrupted_set_is_not_taken_for_complete() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join(MARKER), "incomplete\n").unwrap();
        fs::write(base.path().join("a.html"), vec![b'x'; 500]).unwrap();
        assert!(!populate(base.path(), &set(), |_| {}).unwrap().reused);
    }

    #[test]
    fn a_directory_with_other_files_is_refused() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join("thesis.tex"), "x").unwrap();
        let error = populate(base.path(), &set(), |_| {}).unwrap_err();
        assert!(matches!(&error, PopulateError::Occupied { found, .. } if found == "thesis.tex"), "{error}");
        assert!(!base.path().join("a.html").exists());
    }

    #[test]
    fn paths_that_lead_out_are_refused_before_anything_is_written() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("root");
        for path in ["/../x", "/a/../../x", "x", "//etc/x", "/", "/a/", "/./x/..", "", "/.plimsoll-dataset"] {
            let error = populate(&directory, &files(1, &[("/ok", 1), (path, 1)]), |_| {}).unwrap_err();
            assert!(matches!(error, PopulateError::UnsafePath(_)), "{path}: {error}");
        }
        assert!(!directory.exists());
    }

    #[test]
    fn a_link_in_the_set_is_replaced_and_not_followed() {
        let base = tempfile::tempdir().unwrap();
        let outside = base.path().join("outside");
        fs::write(&outside, "mine").unwrap();
        let directory = base.path().join("root");
        populate(&directory, &set(), |_| {}).unwrap();
        fs::remove_file(directory.join("a.html")).unwrap();
        std::os::unix::fs::symlink(&outside, directory.join("a.html")).unwrap();
        populate(&directory, &set(), |_| {}).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
    }

    /// Goal: a full disk is reported. `/dev/full` answers every write with this error.
    #[test]
    fn a_full_disk_is_reported() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("x");
        let error = write(&path, 10, |_| (&full).write_all(b"x")).unwrap_err();
        assert!(matches!(error, PopulateError::Full { needed: 10, .. }), "{error}");
    }
}
