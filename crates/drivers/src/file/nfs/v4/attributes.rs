//! Attributes of files: sets of them as bits, and their values one behind another, in the order of the bits.
//!
//! Source: RFC 8881 section 5.

use crate::file::nfs::failure::{NfsFailure, Violation};
use crate::file::nfs::procedure::FileAttributes;
use crate::file::nfs::xdr::XdrReader;

/// A set of attributes: bit n of word m is attribute 32 m + n.
pub(super) type AttributeSet = [u32; 2];

const TYPE: u32 = 1;
const CHANGE: u32 = 3;
const SIZE: u32 = 4;
const LEASE_TIME: u32 = 10;
const FILE_ID: u32 = 20;
const MAX_READ: u32 = 30;
const MAX_WRITE: u32 = 31;
const MODE: u32 = 33;
const N_LINKS: u32 = 35;
const SPACE_AVAILABLE: u32 = 42;
const SPACE_FREE: u32 = 43;
const SPACE_TOTAL: u32 = 44;
const SPACE_USED: u32 = 45;
const TIME_ACCESS: u32 = 47;
const TIME_ACCESS_SET: u32 = 48;
const TIME_METADATA: u32 = 52;
const TIME_MODIFY: u32 = 53;
const TIME_MODIFY_SET: u32 = 54;

/// The attributes that are asked for, with the sizes of their values, in the order of their bits.
const VALUE_BYTES: [(u32, usize); 16] = [
    (TYPE, 4),
    (CHANGE, 8),
    (SIZE, 8),
    (LEASE_TIME, 4),
    (FILE_ID, 8),
    (MAX_READ, 8),
    (MAX_WRITE, 8),
    (MODE, 4),
    (N_LINKS, 4),
    (SPACE_AVAILABLE, 8),
    (SPACE_FREE, 8),
    (SPACE_TOTAL, 8),
    (SPACE_USED, 8),
    (TIME_ACCESS, 12),
    (TIME_METADATA, 12),
    (TIME_MODIFY, 12),
];

/// The attributes that clients of NFS ask for, without the names of owner and group.
pub(super) const OF_FILE: AttributeSet =
    set(&[TYPE, CHANGE, SIZE, FILE_ID, MODE, N_LINKS, SPACE_USED, TIME_ACCESS, TIME_METADATA, TIME_MODIFY]);

/// Those that a client must know of a file that it opens.
pub(super) const OF_OPENED: AttributeSet = set(&[TYPE, CHANGE, SIZE]);

/// Those that a listing has of each name.
pub(super) const OF_LISTED: AttributeSet = set(&[TYPE, SIZE, FILE_ID, TIME_MODIFY]);

/// The space of a volume.
pub(super) const OF_VOLUME: AttributeSet = set(&[SPACE_AVAILABLE, SPACE_FREE, SPACE_TOTAL]);

/// The limits of a server.
pub(super) const OF_SERVER: AttributeSet = set(&[LEASE_TIME, MAX_READ, MAX_WRITE]);

/// The rights of a file.
pub(super) const RIGHTS: AttributeSet = set(&[MODE]);

/// The length of a file, and its rights.
pub(super) const LENGTH_AND_RIGHTS: AttributeSet = set(&[SIZE, MODE]);

/// The times of a file, to be set.
pub(super) const TIMES: AttributeSet = set(&[TIME_ACCESS_SET, TIME_MODIFY_SET]);

/// The type of a folder.
const FOLDER: u32 = 2;

/// The most words of a set: servers know attributes that are not asked for.
const WORDS_MAX: usize = 8;

const fn set(attributes: &[u32]) -> AttributeSet {
    let mut set = [0; 2];
    let mut index = 0;
    while index < attributes.len() {
        set[attributes[index] as usize / 32] |= 1 << (attributes[index] % 32);
        index += 1;
    }
    set
}

/// The attributes that have a meaning here; `None` where the server did not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) is_folder: Option<bool>,
    pub(super) n_bytes: Option<u64>,
    pub(super) modified_seconds: Option<u64>,
    pub(super) lease_seconds: Option<u32>,
    pub(super) read_max: Option<u64>,
    pub(super) write_max: Option<u64>,
}

impl Attributes {
    /// Returns those of a file, if they are all there.
    pub(super) fn of_file(&self) -> Option<FileAttributes> {
        let modified_seconds = self.modified_seconds.unwrap_or(0);
        Some(FileAttributes { is_folder: self.is_folder?, n_bytes: self.n_bytes?, modified_seconds })
    }
}

/// Reads attributes, which may be fewer than were asked for, and none else.
///
/// # Errors
/// They are not those, or their values have another length.
pub(super) fn read(reader: &mut XdrReader<'_>, asked: AttributeSet) -> Result<Attributes, NfsFailure> {
    let n_words = reader.length(4)?;
    let mut found = [0; 2];
    for index in 0..n_words {
        let word = reader.number()?;
        let allowed = asked.get(index).copied().unwrap_or(0);
        if WORDS_MAX < n_words || word & !allowed != 0 {
            return Err(NfsFailure::violation(Violation::OtherReply, word.into()));
        }
        if let Some(found) = found.get_mut(index) {
            *found = word;
        }
    }
    let mut values = XdrReader::new(reader.opaque(usize::MAX)?);
    let mut attributes = Attributes::default();
    for (attribute, n_bytes) in VALUE_BYTES {
        if found[attribute as usize / 32] & 1 << (attribute % 32) == 0 {
            continue;
        }
        match attribute {
            TYPE => attributes.is_folder = Some(values.number()? == FOLDER),
            SIZE => attributes.n_bytes = Some(values.long()?),
            LEASE_TIME => attributes.lease_seconds = Some(values.number()?),
            MAX_READ => attributes.read_max = Some(values.long()?),
            MAX_WRITE => attributes.write_max = Some(values.long()?),
            TIME_MODIFY => {
                attributes.modified_seconds = Some(values.long()?);
                values.number()?;
            }
            _ => drop(values.bytes(n_bytes)?),
        }
    }
    match values.n_left() {
        0 => Ok(attributes),
        n_left => Err(NfsFailure::violation(Violation::LyingLength, n_left as u64)),
    }
}

/// Skips a set of attributes.
pub(super) fn skip_set(reader: &mut XdrReader<'_>) -> Result<(), NfsFailure> {
    let n_words = reader.length(4)?;
    reader.bytes(4 * n_words).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::frame_buffer::FrameBuffer;

    #[test]
    fn sets_have_the_bits_of_their_attributes() {
        assert_eq!(OF_OPENED, [1 << 1 | 1 << 3 | 1 << 4, 0]);
        assert_eq!(OF_VOLUME, [0, 1 << 10 | 1 << 11 | 1 << 12]);
        assert_eq!(TIMES, [0, 1 << 16 | 1 << 22]);
        assert!(VALUE_BYTES.is_sorted_by(|one, next| one.0 < next.0));
    }

    #[test]
    fn values_are_read_in_the_order_of_their_bits() {
        let mut frame = FrameBuffer::default();
        frame.numbers(&[2, 1 << 1 | 1 << 4 | 1 << 20, 1 << 21, 32]);
        frame.number(FOLDER);
        frame.long(4096);
        frame.long(77);
        frame.put_zeros(12);
        let found = read(&mut XdrReader::new(frame.filled()), OF_FILE).unwrap();
        assert_eq!((found.is_folder, found.n_bytes), (Some(true), Some(4096)));
        let other = read(&mut XdrReader::new(frame.filled()), OF_OPENED).unwrap_err();
        assert!(other.is(Violation::OtherReply), "more than was asked for");
        frame.filled_mut()[15] = 28;
        assert!(read(&mut XdrReader::new(frame.filled()), OF_FILE).unwrap_err().is(Violation::LyingLength));
    }
}
