//! What an earlier process has left.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::index::{At, Entry, Index, Live, Location};
use super::record::{Head, PREFIX_BYTES, Place};
use super::removals::{Removed, Sieve};
use super::segment::Segment;

/// Finds all objects in a directory that have not been removed; what is torn is cut off.
pub(super) fn scan(
    directory: &Path,
    index: &mut Index,
    removed: &Removed,
    hasher: &RandomState,
) -> io::Result<()> {
    let mut segments = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        segments.extend(Segment::open(&entry?.path())?);
    }
    segments.sort_unstable_by_key(|segment| segment.id);
    index.note_sequence(removed.sequence_max());
    let sieve = removed.sieve();
    for segment in segments {
        scan_segment(segment, index, &sieve, hasher)?;
        // There may be less memory than before.
        if index.is_crowded()
            && let Some(oldest) = index.drop_oldest_segment()
        {
            oldest.delete()?;
        }
    }
    index.drop_bodiless();
    Ok(())
}

/// Adds what one segment holds; a segment without a record is removed.
fn scan_segment(segment: Segment, index: &mut Index, sieve: &Sieve, hasher: &RandomState) -> io::Result<()> {
    let length = segment.length()?;
    let (mut end, mut sequence_min) = (0u64, u64::MAX);
    while let Some((next, head, location)) = record_at(&segment, end, length) {
        end = next;
        let sequence = head.sequence;
        sequence_min = sequence_min.min(sequence);
        index.note_sequence(sequence);
        let hash = hasher.hash_one(head.key.as_str());
        let variant = head.variant_print(hasher);
        index.add(Entry { hash, sequence, variant, at: At::Written(location) });
        // What it has superseded stays gone as well, though the removal may not mean that.
        if sieve.holds_back(sequence, &head.key, &head.tags) {
            index.forget(hash, sequence);
        }
    }
    if end == 0 {
        return segment.delete();
    }
    if end < length {
        segment.cut(end)?;
    }
    index.segments.insert(segment.id, Live { segment: Arc::new(segment), length: end, sequence_min });
    Ok(())
}

/// Reads the head of a record and tells where the record ends; `None` if it is not there in full length.
fn record_at(segment: &Segment, offset: u64, length: u64) -> Option<(u64, Head, Location)> {
    let offset = u32::try_from(offset).ok()?;
    let (prefix, head) = segment.head_at(offset)?;
    let end = u64::from(offset)
        + PREFIX_BYTES as u64
        + u64::from(prefix.head_length)
        + u64::from(prefix.body_length);
    let location = Location::of(Place { segment: segment.id, offset }, &head);
    (end <= length).then_some((end, head, location))
}
