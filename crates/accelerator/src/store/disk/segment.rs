//! One file of records.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::record::{Head, PREFIX_BYTES, Prefix};

/// How the names of segments end.
const SUFFIX: &str = ".segment";

/// A file of records, one after the other.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) id: u32,
    path: PathBuf,
    file: File,
}

impl Segment {
    /// Makes an empty segment.
    pub(super) fn create(directory: &Path, id: u32) -> io::Result<Segment> {
        let path = directory.join(format!("{id:08}{SUFFIX}"));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        Ok(Segment { id, path, file })
    }

    /// Opens a segment; `None` if the file's name is not that of one.
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

    /// Reads a head; `None` if none stands there whole.
    pub(super) fn head_at(&self, offset: u32) -> Option<(Prefix, Head)> {
        let mut prefix = [0; PREFIX_BYTES];
        self.read_at(&mut prefix, offset).ok()?;
        let prefix = Prefix::decode(&prefix)?;
        let mut bytes = vec![0; prefix.head_length as usize];
        let start = offset.checked_add(PREFIX_BYTES as u32)?;
        self.read_at(&mut bytes, start).ok()?;
        if !prefix.is_of(&bytes) {
            return None;
        }
        let mut head = Head::decode(&bytes)?;
        if 0 < prefix.body_length || head.body.length == 0 {
            head.body.place.segment = self.id;
            head.body.place.offset = start.checked_add(prefix.head_length)?;
        }
        Some((prefix, head))
    }

    /// Reads as many bytes as there is room.
    pub(super) fn read_at(&self, room: &mut [u8], offset: u32) -> io::Result<()> {
        self.file.read_exact_at(room, u64::from(offset))
    }

    /// Writes all bytes.
    pub(super) fn write_at(&self, bytes: &[u8], offset: u32) -> io::Result<()> {
        self.file.write_all_at(bytes, u64::from(offset))
    }

    /// Cuts the file off.
    pub(super) fn cut(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Removes the file; who has it open still reads it.
    pub(super) fn delete(&self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}
