//! Opening a run file without changing it.
//!
//! A finished file is opened in place, as immutable: that works in a read-only directory and on a
//! full disk, and leaves nothing behind. An unfinished file (its format bytes say that a `-wal` file
//! may belong to it) is read into memory, the committed pages of the `-wal` file are applied to it,
//! and SQLite opens the result: the same recovery as SQLite's, but without writing to the file or
//! the disk. Source of the layouts: SQLite's "Database File Format", sections 1.3 and 4.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rusqlite::{Connection, MAIN_DB, OpenFlags};

use crate::RunFileError;
use crate::schema::{APPLICATION_ID, FORMAT};
use crate::side_files::{WAL, beside};

/// The most attempts to read a file that is being recorded into: it changes once a second.
const TRIES: u32 = 5;

/// The most bytes that a file's header may claim beyond the end of the file: more than any checkpoint moves.
const MISSING_MAX: usize = 256 * 1024 * 1024;

/// Opens a run file for reading.
pub(crate) fn open(path: &Path) -> Result<Connection, RunFileError> {
    let finished = is_finished(path)?;
    let opened = if finished { in_place(path) } else { in_memory(path, read_with_wal(path)?) };
    let database = opened?;
    // Also makes SQLite look at the file, so that damage to the schema is found here.
    let schema = database.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    schema.map_err(|why| RunFileError::database(path, "opening", why))?;
    Ok(database)
}

/// Checks the kind of the file by its first bytes, and returns whether it was finished.
pub(crate) fn is_finished(path: &Path) -> Result<bool, RunFileError> {
    let not = |found: &str| RunFileError::NotARunFile { path: path.to_owned(), found: found.to_owned() };
    let io = |why| RunFileError::io(path, "opening", why);
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.is_dir() {
        return Err(not("it is a directory"));
    }
    let mut head = Vec::new();
    file.take(FileHead::BYTES as u64).read_to_end(&mut head).map_err(io)?;
    if head.is_empty() {
        return Err(not("it is empty"));
    }
    let Some(head) = FileHead::of(&head) else {
        return Err(if has_traces(&head) {
            RunFileError::Damaged {
                path: path.to_owned(),
                place: "its header".to_owned(),
                why: "it is no longer that of an SQLite database".to_owned(),
            }
        } else {
            not("it is not an SQLite database")
        });
    };
    if head.application_id != APPLICATION_ID {
        return Err(not(&format!(
            "it is an SQLite database with application id {:#010x}, expected {APPLICATION_ID:#010x}",
            head.application_id
        )));
    }
    if head.user_version != FORMAT {
        return Err(RunFileError::OtherFormat {
            path: path.to_owned(),
            found: head.user_version,
            known: FORMAT,
        });
    }
    Ok(!head.may_have_wal)
}

/// Returns whether an unreadable header was one of a run file: truncated, or overwritten in part.
fn has_traces(head: &[u8]) -> bool {
    let is_cut = head.len() < FileHead::BYTES && head.starts_with(b"SQLite format 3\0");
    is_cut || number_at(head, 68) == Some(APPLICATION_ID)
}

/// The fields of a database's first hundred bytes.
struct FileHead {
    page_bytes: usize,
    may_have_wal: bool,
    n_pages: usize,
    user_version: u32,
    application_id: u32,
}

impl FileHead {
    const BYTES: usize = 100;

    fn of(bytes: &[u8]) -> Option<FileHead> {
        let head = bytes.first_chunk::<{ FileHead::BYTES }>()?;
        let page_bytes = match u16::from_be_bytes([head[16], head[17]]) {
            1 => 65_536,
            other => usize::from(other),
        };
        let valid =
            head.starts_with(b"SQLite format 3\0") && page_bytes.is_power_of_two() && 512 <= page_bytes;
        valid.then_some(FileHead {
            page_bytes,
            may_have_wal: head[18] == 2 || head[19] == 2,
            n_pages: number_at(head, 28)? as usize,
            user_version: number_at(head, 60)?,
            application_id: number_at(head, 68)?,
        })
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_be_bytes(*four))
}

/// Opens a finished file in place.
fn in_place(path: &Path) -> Result<Connection, RunFileError> {
    // An absolute path, so that no part of it can be taken for a host name.
    let absolute = fs::canonicalize(path).map_err(|why| RunFileError::io(path, "opening", why))?;
    let mut uri = "file:".to_owned();
    for byte in absolute.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(*byte))
            }
            other => write!(uri, "%{other:02x}").expect("writing to a String cannot fail"),
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(uri, flags).map_err(|why| RunFileError::database(path, "opening", why))
}

/// Opens the bytes of a database in SQLite.
fn in_memory(path: &Path, image: Vec<u8>) -> Result<Connection, RunFileError> {
    let opened = Connection::open_in_memory().and_then(|mut database| {
        database.deserialize_read_exact(MAIN_DB, image.as_slice(), image.len(), true)?;
        Ok(database)
    });
    opened.map_err(|why| RunFileError::database(path, "opening", why))
}

/// Reads an unfinished file and applies its `-wal` file.
///
/// The run may still be in progress. Pages of the `-wal` file may already be in the file, but not the other way
/// round; so if the `-wal` file was the same before and after, nothing is missing and nothing is torn.
fn read_with_wal(path: &Path) -> Result<Vec<u8>, RunFileError> {
    let wal_path = beside(path, WAL);
    let io = |why| RunFileError::io(path, "opening", why);
    for _ in 0..TRIES {
        let wal = read_if_there(&wal_path).map_err(io)?;
        let image = fs::read(path).map_err(io)?;
        if read_if_there(&wal_path).map_err(io)? == wal {
            return Ok(recovered(image, &wal));
        }
    }
    Err(RunFileError::Busy { path: path.to_owned() })
}

fn read_if_there(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other,
    }
}

/// Applies the committed pages of a `-wal` file to a database, and makes it one that needs no `-wal` file.
fn recovered(mut image: Vec<u8>, wal: &[u8]) -> Vec<u8> {
    let Some(head) = FileHead::of(&image) else { return image };
    let most = image.len() + wal.len() + MISSING_MAX;
    if let Some((n_pages, pages)) = committed(wal, head.page_bytes) {
        image.resize(n_pages.saturating_mul(head.page_bytes).min(most), 0);
        for (number, page) in pages {
            // A later commit may have made the database shorter.
            if let Some(old) = image.chunks_exact_mut(head.page_bytes).nth(number - 1) {
                old.copy_from_slice(page);
            }
        }
    }
    fill_up(&mut image);
    image[18..20].fill(1);
    image
}

/// Fills a file up with zeros to the length in its header.
///
/// Without its `-wal` file, the file of a run that was killed in the middle of a checkpoint may end early. SQLite
/// would refuse all of it; with the zeros it refuses only the missing pages.
fn fill_up(image: &mut Vec<u8>) {
    let Some(head) = FileHead::of(image) else { return };
    let promised = head.n_pages.saturating_mul(head.page_bytes);
    if image.len() < promised && promised - image.len() <= MISSING_MAX {
        image.resize(promised, 0);
    }
}

/// Pages of a `-wal` file by number (from 1), in order; later ones replace earlier ones.
type Pages<'a> = Vec<(usize, &'a [u8])>;

/// Returns the number of pages of the database after the last commit of a `-wal` file, and the pages committed.
///
/// Frames count up to the last one that ends a transaction, as long as salts and running checksums are right.
/// `None` if nothing was committed.
fn committed(wal: &[u8], page_bytes: usize) -> Option<(usize, Pages<'_>)> {
    const HEAD: usize = 32;
    const FRAME_HEAD: usize = 24;
    let (head, frames) = wal.split_at_checked(HEAD)?;
    let big_endian = match number_at(head, 0)? {
        0x377f_0682 => false,
        0x377f_0683 => true,
        _ => return None,
    };
    let mut sum = checksum([0, 0], &head[..24], big_endian);
    if number_at(head, 8)? as usize != page_bytes || !sums_match(head, 24, sum) {
        return None;
    }
    let mut n_pages = 0;
    let mut pages = Vec::new();
    let mut n_committed = 0;
    for frame in frames.chunks_exact(FRAME_HEAD + page_bytes) {
        let (frame_head, page) = frame.split_at(FRAME_HEAD);
        sum = checksum(checksum(sum, &frame_head[..8], big_endian), page, big_endian);
        let number = number_at(frame_head, 0)? as usize;
        if frame_head[8..16] != head[16..24] || !sums_match(frame_head, 16, sum) || number == 0 {
            break;
        }
        pages.push((number, page));
        let size_after = number_at(frame_head, 4)? as usize;
        if 0 < size_after {
            (n_pages, n_committed) = (size_after, pages.len());
        }
    }
    pages.truncate(n_committed);
    (0 < n_pages).then_some((n_pages, pages))
}

fn sums_match(bytes: &[u8], at: usize, sum: [u32; 2]) -> bool {
    [number_at(bytes, at), number_at(bytes, at + 4)] == sum.map(Some)
}

/// Continues the checksum of a `-wal` file over a multiple of eight bytes.
fn checksum(mut sum: [u32; 2], bytes: &[u8], big_endian: bool) -> [u32; 2] {
    let word = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
    for eight in bytes.as_chunks::<8>().0 {
        let [a, b, c, d, e, f, g, h] = *eight;
        sum[0] = sum[0].wrapping_add(word([a, b, c, d])).wrapping_add(sum[1]);
        sum[1] = sum[1].wrapping_add(word([e, f, g, h])).wrapping_add(sum[0]);
    }
    sum
}
