//! Segments: files of records.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::record::{PREFIX_BYTES, RecordHead, RecordPrefix};

/// The suffix of segment file names.
const SUFFIX: &str = ".segment";

/// A file of records, one after the other.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) id: u32,
    path: PathBuf,
    file: File,
}

impl Segment {
    /// Creates an empty segment.
    pub(super) fn create(directory: &Path, id: u32) -> io::Result<Segment> {
        let path = directory.join(format!("{id:08}{SUFFIX}"));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        Ok(Segment { id, path, file })
    }

    /// Opens a segment; `None` if the file name is not that of a segment.
    pub(super) fn open(path: &Path) -> io::Result<Option<Segment>> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(id) = name.strip_suffix(SUFFIX).and_then(|id| id.parse().ok()) else {
            return Ok(None);
        };
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Some(Segment { id, path: path.to_owned(), file }))
    }

    /// Returns the length of the file in bytes.
    pub(super) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Reads a head; `None` if it is not complete.
    pub(super) fn head_at(&self, offset: u32) -> Option<(RecordPrefix, RecordHead)> {
        let mut prefix = [0; PREFIX_BYTES];
        self.read_at(&mut prefix, offset).ok()?;
        let prefix = RecordPrefix::decode(&prefix)?;
        let mut bytes = vec![0; prefix.head_length as usize];
        let start = offset.checked_add(PREFIX_BYTES as u32)?;
        self.read_at(&mut bytes, start).ok()?;
        if !prefix.is_of(&bytes) {
            return None;
        }
        let mut head = RecordHead::decode(&bytes)?;
        if 0 < prefix.body_length || head.body.length == 0 {
            head.body.place.segment = self.id;
            head.body.place.offset = start.checked_add(prefix.head_length)?;
        }
        Some((prefix, head))
    }

    /// Fills the buffer.
    pub(super) fn read_at(&self, room: &mut [u8], offset: u32) -> io::Result<()> {
        self.file.read_exact_at(room, u64::from(offset))
    }

    /// Writes all bytes.
    pub(super) fn write_at(&self, bytes: &[u8], offset: u32) -> io::Result<()> {
        self.file.write_all_at(bytes, u64::from(offset))
    }

    /// Truncates the file.
    pub(super) fn cut(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Deletes the file; readers that have it open can still read it.
    pub(super) fn delete(&self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}
