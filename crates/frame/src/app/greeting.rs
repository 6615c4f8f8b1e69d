//! The payload of `HELLO`: the data that the client's operations need.
//!
//! | bytes | |
//! |---|---|
//! | 0..8 | length of the data file |
//! | 8..16 | length of its range: operations stay in the first so many bytes |
//! | 16 | how the file is read and written |
//! | 17 | 1: the range begins outside the page cache; 0: in it |
//! | 18..24 | 0 |
//!
//! A client whose operations need no data sends no payload.

use thiserror::Error;

use super::{BLOCK_BYTES, SEQUENTIAL_BLOCKS};
use crate::header::part;

/// Length of the settings on the wire.
pub const DATA_SETTINGS_BYTES: usize = 24;

/// The shortest range, in bytes: that of one sequential operation.
pub const RANGE_BYTES_MIN: u64 = SEQUENTIAL_BLOCKS * BLOCK_BYTES as u64;

/// The data of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSettings {
    /// Length of the data file, in bytes: whole blocks.
    pub file_bytes: u64,
    /// Length of the part that operations use, in bytes: whole blocks, at least [`RANGE_BYTES_MIN`].
    pub range_bytes: u64,
    /// The way in which the file is read and written.
    pub io: FileIo,
    /// Whether the range begins outside the page cache.
    pub is_cold: bool,
}

/// The way in which data files are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum FileIo {
    /// Through the page cache; writes reach the disk later.
    Buffered = 0,
    /// Past the page cache (`O_DIRECT`).
    Direct = 1,
    /// Through the page cache; a write ends when it is on the disk (`O_DSYNC`).
    Durable = 2,
}

impl FileIo {
    /// Returns the name: `buffered`.
    pub fn name(self) -> &'static str {
        match self {
            FileIo::Buffered => "buffered",
            FileIo::Direct => "direct",
            FileIo::Durable => "durable",
        }
    }
}

/// A reason why a payload states no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DataSettingsError {
    /// It has another length.
    #[error("expected {DATA_SETTINGS_BYTES} bytes, found {0}")]
    Length(usize),
    /// A length is not one of whole blocks, or the range is too short or longer than the file.
    #[error("a range of {range_bytes} bytes in a file of {file_bytes} bytes")]
    Range {
        /// Length of the file.
        file_bytes: u64,
        /// Length of the range.
        range_bytes: u64,
    },
    /// A byte has no meaning.
    #[error("byte {0} has a value without a meaning")]
    Byte(usize),
}

impl DataSettings {
    /// Returns the number of blocks in the range.
    pub fn range_blocks(&self) -> u64 {
        self.range_bytes / BLOCK_BYTES as u64
    }

    /// Checks that file and range are whole blocks, and that the range fits.
    ///
    /// # Errors
    /// They are not, or it does not.
    pub fn check(self) -> Result<DataSettings, DataSettingsError> {
        let &DataSettings { file_bytes, range_bytes, .. } = &self;
        let is_whole = |bytes: u64| bytes.is_multiple_of(BLOCK_BYTES as u64);
        let fits = RANGE_BYTES_MIN <= range_bytes && range_bytes <= file_bytes;
        if fits && is_whole(file_bytes) && is_whole(range_bytes) {
            Ok(self)
        } else {
            Err(DataSettingsError::Range { file_bytes, range_bytes })
        }
    }

    /// Writes the settings.
    pub fn to_bytes(&self) -> [u8; DATA_SETTINGS_BYTES] {
        let mut bytes = [0; DATA_SETTINGS_BYTES];
        bytes[..8].copy_from_slice(&self.file_bytes.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.range_bytes.to_le_bytes());
        bytes[16] = self.io as u8;
        bytes[17] = u8::from(self.is_cold);
        bytes
    }

    /// Reads the settings; they pass [`DataSettings::check`].
    ///
    /// # Errors
    /// The payload does not state data.
    pub fn read(payload: &[u8]) -> Result<DataSettings, DataSettingsError> {
        let bytes: &[u8; DATA_SETTINGS_BYTES] =
            payload.try_into().map_err(|_| DataSettingsError::Length(payload.len()))?;
        let number = |at| u64::from_le_bytes(part(bytes, at));
        let io = match bytes[16] {
            0 => FileIo::Buffered,
            1 => FileIo::Direct,
            2 => FileIo::Durable,
            _ => return Err(DataSettingsError::Byte(16)),
        };
        if 1 < bytes[17] {
            return Err(DataSettingsError::Byte(17));
        }
        if let Some(at) = (18..DATA_SETTINGS_BYTES).find(|at| bytes[*at] != 0) {
            return Err(DataSettingsError::Byte(at));
        }
        DataSettings { file_bytes: number(0), range_bytes: number(8), io, is_cold: bytes[17] == 1 }.check()
    }
}
