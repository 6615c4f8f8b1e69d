//! The scan of the files of an earlier process.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::index::{Entry, EntryState, Index, LiveSegment, Location};
use super::record::{DiskOffset, PREFIX_BYTES, RecordHead};
use super::removals::{RemovalFilter, RemovalList};
use super::segment::Segment;

/// Finds all objects in a directory that have not been removed; torn ends are cut off.
pub(super) fn scan(
    directory: &Path,
    index: &mut Index,
    removed: &RemovalList,
    hasher: &RandomState,
) -> io::Result<()> {
    let mut segments = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        segments.extend(Segment::open(&entry?.path())?);
    }
    segments.sort_unstable_by_key(|segment| segment.id);
    index.note_sequence(removed.sequence_max());
    let filter = removed.filter();
    for segment in segments {
        scan_segment(segment, index, &filter, hasher)?;
        // The memory limit may be lower than before.
        if index.is_nearly_full()
            && let Some(oldest) = index.drop_oldest_segment()
        {
            oldest.delete()?;
        }
    }
    index.drop_without_body();
    Ok(())
}

/// Adds the objects of one segment; a segment without a record is deleted.
fn scan_segment(
    segment: Segment,
    index: &mut Index,
    filter: &RemovalFilter,
    hasher: &RandomState,
) -> io::Result<()> {
    let length = segment.length()?;
    let mut end = 0u64;
    let mut sequence_min = u64::MAX;
    while let Some((next, head, location)) = record_at(&segment, end, length) {
        end = next;
        let sequence = head.sequence;
        sequence_min = sequence_min.min(sequence);
        index.note_sequence(sequence);
        let hash = hasher.hash_one(head.key.as_str());
        let variant = head.variant_fingerprint(hasher);
        index.add(Entry { hash, sequence, variant, at: EntryState::Written(location) });
        // Objects that it superseded stay removed as well, though the removal may not match them.
        if filter.is_removed(sequence, &head.key, &head.tags) {
            index.forget(hash, sequence);
        }
    }
    if end == 0 {
        return segment.delete();
    }
    if end < length {
        segment.cut(end)?;
    }
    index.segments.insert(segment.id, LiveSegment { segment: Arc::new(segment), length: end, sequence_min });
    Ok(())
}

/// Reads the head of a record and returns its end; `None` if it is not complete.
fn record_at(segment: &Segment, offset: u64, length: u64) -> Option<(u64, RecordHead, Location)> {
    let offset = u32::try_from(offset).ok()?;
    let (prefix, head) = segment.head_at(offset)?;
    let end = u64::from(offset)
        + PREFIX_BYTES as u64
        + u64::from(prefix.head_length)
        + u64::from(prefix.body_length);
    let location = Location::of(DiskOffset { segment: segment.id, offset }, &head);
    (end <= length).then_some((end, head, location))
}
