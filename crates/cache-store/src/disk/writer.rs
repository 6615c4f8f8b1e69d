//! The writer thread.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};

use super::counters::count;
use super::index::{LiveSegment, Location, ReplacedEntry};
use super::record::{
    BodyLocation, Checksum, DiskOffset, HEAD_BYTES_MAX, PREFIX_BYTES, RecordHead, RecordPrefix,
};
use super::segment::Segment;
use super::tier::TierState;
use crate::stored_response::StoredResponse;

/// The number of segments that the disk limit is divided into; the oldest one is deleted at once.
const SEGMENTS: u64 = 64;

/// The smallest and the largest length of a segment in bytes; a longer record gets a segment of its own.
const SEGMENT_BYTES: (u64, u64) = (1 << 20, 1 << 30);

/// The largest record: one part in this many of the disk limit.
const RECORD_SHARE: u64 = 4;

/// A job for the writer.
#[derive(Debug)]
pub(super) enum WriteJob {
    /// Write an object.
    Put(PutJob),
    /// Rewrite the log of removals.
    Compact,
    /// Compare all objects with the unkeyed purges.
    Sweep,
    /// Signal that everything before is done.
    Flush(SyncSender<()>),
}

/// An object to write.
#[derive(Debug)]
pub(super) struct PutJob {
    pub(super) object: Arc<StoredResponse>,
    pub(super) hash: u64,
    pub(super) sequence: u64,
    pub(super) replaced: ReplacedEntry,
}

/// The writer of segments.
#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<TierState>,
    directory: PathBuf,
    bytes_max: u64,
    /// The current segment, and its end.
    current: Option<(Arc<Segment>, u64)>,
    next_id: u32,
}

impl Writer {
    /// Makes a writer that begins a new segment.
    pub(super) fn new(shared: Arc<TierState>, directory: PathBuf, bytes_max: u64) -> Writer {
        let last = shared.index().segments.keys().next_back().copied();
        let next_id = last.map_or(1, |id| id.saturating_add(1));
        let mut writer = Writer { shared, directory, bytes_max, current: None, next_id };
        writer.make_room(0);
        writer
    }

    /// Runs jobs until all senders are gone.
    pub(super) fn run(mut self, jobs: &Receiver<WriteJob>) {
        for job in jobs {
            match job {
                WriteJob::Put(put) => self.put(put),
                WriteJob::Compact => {
                    let sequence_min = self.shared.index().sequence_min();
                    self.note_failure(self.shared.log.compact(sequence_min));
                }
                WriteJob::Sweep => self.sweep(),
                // The receiver may be gone.
                WriteJob::Flush(done) => {
                    done.send(()).ok();
                }
            }
        }
    }

    fn put(&mut self, put: PutJob) {
        self.shared.queued_bytes.fetch_sub(put.object.cost() as u64, Ordering::Relaxed);
        if !self.shared.index().holds(put.hash, put.sequence) {
            return;
        }
        match self.write(&put) {
            Ok(location) => {
                count(&self.shared.counters.written);
                let mut index = self.shared.index();
                index.settle(put.hash, put.sequence, location);
                let is_nearly_full = index.is_nearly_full();
                drop(index);
                if is_nearly_full {
                    self.drop_oldest();
                }
            }
            Err(error) => {
                self.note_failure(Err(error));
                self.shared.give_up(put.hash, put.sequence, put.object.key.as_str(), put.replaced);
            }
        }
    }

    /// Removes the objects that unkeyed purges match, so that these purges can be forgotten.
    fn sweep(&self) {
        let Some(newest) = self.shared.index().unkeyed_if_many() else {
            return;
        };
        let segments: Vec<Arc<Segment>> =
            self.shared.index().segments.values().map(|live| Arc::clone(&live.segment)).collect();
        for segment in segments {
            let written = self.shared.index().written_in(segment.id, newest);
            for (hash, sequence, location) in written {
                let head = segment.head_at(location.head.offset);
                let mut index = self.shared.index();
                if head.is_none_or(|(_, head)| index.is_purged(sequence, &head.key, &head.tags)) {
                    index.forget(hash, sequence);
                }
            }
        }
        self.shared.index().forget_unkeyed(newest);
    }

    /// Writes a record, with the body unless that is on disk already.
    fn write(&mut self, put: &PutJob) -> io::Result<Location> {
        let body = &put.object.body;
        let length = u32::try_from(body.len()).map_err(|_| too_large())?;
        let sum = *blake3::hash(body).as_bytes();
        let known = self.known_body(put.replaced, length, &sum);
        let nowhere = DiskOffset { segment: 0, offset: 0 };
        let place = known.unwrap_or(nowhere);
        let mut head = RecordHead::of(&put.object, put.sequence, BodyLocation { place, length, sum });
        let bytes = head.encode();
        let body: &[u8] = if known.is_some() { &[] } else { body };
        let record_bytes = (PREFIX_BYTES + bytes.len() + body.len()) as u64;
        if HEAD_BYTES_MAX < bytes.len() {
            return Err(too_large());
        }
        let (segment, offset) = self.room(record_bytes)?;
        let prefix = RecordPrefix::of(&bytes, body.len() as u32);
        let start = [&prefix.encode()[..], &bytes].concat();
        append(&segment, offset, &start, body)?;
        let body_offset = offset + start.len() as u32;
        self.advance(&segment, u64::from(offset) + record_bytes, put.sequence);
        if known.is_none() {
            head.body.place = DiskOffset { segment: segment.id, offset: body_offset };
        }
        Ok(Location::of(DiskOffset { segment: segment.id, offset }, &head))
    }

    /// Returns the location of the body if it is on disk already: in the record of the replaced object.
    fn known_body(&self, replaced: ReplacedEntry, length: u32, sum: &Checksum) -> Option<DiskOffset> {
        // An empty body always follows its head.
        let location = replaced.location.filter(|location| 0 < length && location.has_body(length, sum))?;
        self.shared.index().segments.contains_key(&location.body.segment).then_some(location.body)
    }

    /// Returns a segment with room for so many bytes, and their offset.
    fn room(&mut self, bytes: u64) -> io::Result<(Arc<Segment>, u32)> {
        if self.bytes_max / RECORD_SHARE < bytes {
            return Err(too_large());
        }
        let segment_bytes = (self.bytes_max / SEGMENTS).clamp(SEGMENT_BYTES.0, SEGMENT_BYTES.1);
        if self.current.as_ref().is_some_and(|(_, end)| 0 < *end && segment_bytes < end + bytes) {
            self.current = None;
        }
        self.make_room(bytes);
        if let Some((segment, end)) = &self.current {
            let offset = u32::try_from(*end).map_err(|_| too_large())?;
            return Ok((Arc::clone(segment), offset));
        }
        let segment = Arc::new(Segment::create(&self.directory, self.next_id)?);
        self.next_id = self.next_id.saturating_add(1);
        let live = LiveSegment { segment: Arc::clone(&segment), length: 0, sequence_min: u64::MAX };
        self.shared.index().segments.insert(segment.id, live);
        self.current = Some((Arc::clone(&segment), 0));
        Ok((segment, 0))
    }

    /// Notes that a record has been written up to this end.
    fn advance(&mut self, segment: &Arc<Segment>, end: u64, sequence: u64) {
        self.current = Some((Arc::clone(segment), end));
        if let Some(live) = self.shared.index().segments.get_mut(&segment.id) {
            live.length = end;
            live.sequence_min = live.sequence_min.min(sequence);
        }
    }

    /// Deletes the oldest segments until there is room for so many bytes.
    fn make_room(&mut self, bytes: u64) {
        while self.bytes_max < self.shared.index().segments_bytes() + self.shared.log.length() + bytes {
            if !self.drop_oldest() {
                return;
            }
        }
    }

    /// Deletes the oldest segment; `false` if there is none.
    fn drop_oldest(&mut self) -> bool {
        let Some(segment) = self.shared.index().drop_oldest_segment() else {
            return false;
        };
        if self.current.as_ref().is_some_and(|(current, _)| current.id == segment.id) {
            self.current = None;
        }
        self.note_failure(segment.delete());
        true
    }

    fn note_failure(&self, outcome: io::Result<()>) {
        if outcome.is_err() {
            count(&self.shared.counters.failed);
        }
    }
}

/// Appends a record; if that fails, the rest of it is cut off, because it could be taken for a record later.
fn append(segment: &Segment, offset: u32, start: &[u8], body: &[u8]) -> io::Result<()> {
    let written =
        segment.write_at(start, offset).and_then(|()| segment.write_at(body, offset + start.len() as u32));
    if written.is_err() {
        segment.cut(u64::from(offset))?;
    }
    written
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "the object is too large for the disk cache")
}
