//! The thread that writes objects to disk.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};

use super::super::object::Object;
use super::index::{Former, Live, Location};
use super::record::{BodyPlace, HEAD_BYTES_MAX, Head, PREFIX_BYTES, Place, Prefix, Sum};
use super::segment::Segment;
use super::tier::Shared;
use super::usage::count;

/// The disk is divided into so many segments, so that the oldest part of it goes at once.
const SEGMENTS: u64 = 64;

/// The least and the greatest length of a segment in bytes; a longer record has one for itself.
const SEGMENT_BYTES: (u64, u64) = (1 << 20, 1 << 30);

/// No record takes more than one part in so many of the disk.
const RECORD_SHARE: u64 = 4;

/// What the writer is asked to do.
#[derive(Debug)]
pub(super) enum Job {
    /// Write an object.
    Put(Put),
    /// Write the log of removals anew.
    Compact,
    /// Look at all objects for those that were purged without being named.
    Sweep,
    /// Say when everything before is done.
    Flush(SyncSender<()>),
}

/// An object to be written.
#[derive(Debug)]
pub(super) struct Put {
    pub(super) object: Arc<Object>,
    pub(super) hash: u64,
    pub(super) sequence: u64,
    pub(super) former: Former,
}

/// Writes segments.
#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<Shared>,
    directory: PathBuf,
    bytes_max: u64,
    /// The segment that is written to, and where it ends.
    current: Option<(Arc<Segment>, u64)>,
    next_id: u32,
}

impl Writer {
    /// Makes a writer that begins a new segment.
    pub(super) fn new(shared: Arc<Shared>, directory: PathBuf, bytes_max: u64) -> Writer {
        let last = shared.index().segments.keys().next_back().copied();
        let next_id = last.map_or(1, |id| id.saturating_add(1));
        let mut writer = Writer { shared, directory, bytes_max, current: None, next_id };
        writer.make_room(0);
        writer
    }

    /// Does what it is asked to until nobody is left who could ask.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        for job in jobs {
            match job {
                Job::Put(put) => self.put(put),
                Job::Compact => {
                    let sequence_min = self.shared.index().sequence_min();
                    self.note_failure(self.shared.log.compact(sequence_min));
                }
                Job::Sweep => self.sweep(),
                // Perhaps nobody waits any more.
                Job::Flush(done) => {
                    done.send(()).ok();
                }
            }
        }
    }

    fn put(&mut self, put: Put) {
        self.shared.queued_bytes.fetch_sub(put.object.cost() as u64, Ordering::Relaxed);
        if !self.shared.index().holds(put.hash, put.sequence) {
            return;
        }
        match self.write(&put) {
            Ok(location) => {
                count(&self.shared.counters.written);
                let mut index = self.shared.index();
                index.settle(put.hash, put.sequence, location);
                let is_crowded = index.is_crowded();
                drop(index);
                if is_crowded {
                    self.drop_oldest();
                }
            }
            Err(error) => {
                self.note_failure(Err(error));
                self.shared.give_up(put.hash, put.sequence, put.object.key.as_str(), put.former);
            }
        }
    }

    /// Takes out what purges mean that named no key, so that these can be forgotten.
    fn sweep(&self) {
        let Some(newest) = self.shared.index().wide_if_many() else {
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
        self.shared.index().forget_wide(newest);
    }

    /// Writes a record, with the body unless that is there already.
    fn write(&mut self, put: &Put) -> io::Result<Location> {
        let body = &put.object.body;
        let length = u32::try_from(body.len()).map_err(|_| too_large())?;
        let sum = *blake3::hash(body).as_bytes();
        let known = self.known_body(put.former, length, &sum);
        let nowhere = Place { segment: 0, offset: 0 };
        let place = known.unwrap_or(nowhere);
        let mut head = Head::of(&put.object, put.sequence, BodyPlace { place, length, sum });
        let bytes = head.encode();
        let body: &[u8] = if known.is_some() { &[] } else { body };
        let record_bytes = (PREFIX_BYTES + bytes.len() + body.len()) as u64;
        if HEAD_BYTES_MAX < bytes.len() {
            return Err(too_large());
        }
        let (segment, offset) = self.room(record_bytes)?;
        let prefix = Prefix::of(&bytes, body.len() as u32);
        let start = [&prefix.encode()[..], &bytes].concat();
        append(&segment, offset, &start, body)?;
        let body_offset = offset + start.len() as u32;
        self.advance(&segment, u64::from(offset) + record_bytes, put.sequence);
        if known.is_none() {
            head.body.place = Place { segment: segment.id, offset: body_offset };
        }
        Ok(Location::of(Place { segment: segment.id, offset }, &head))
    }

    /// Returns where the body stands already: in the record of the object whose place this one takes.
    fn known_body(&self, former: Former, length: u32, sum: &Sum) -> Option<Place> {
        // An empty body always stands after its head.
        let location = former.location.filter(|location| 0 < length && location.has_body(length, sum))?;
        self.shared.index().segments.contains_key(&location.body.segment).then_some(location.body)
    }

    /// Returns a segment with room for so many bytes, and where they go.
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
        let live = Live { segment: Arc::clone(&segment), length: 0, sequence_min: u64::MAX };
        self.shared.index().segments.insert(segment.id, live);
        self.current = Some((Arc::clone(&segment), 0));
        Ok((segment, 0))
    }

    /// Notes that a record has been written up to here.
    fn advance(&mut self, segment: &Arc<Segment>, end: u64, sequence: u64) {
        self.current = Some((Arc::clone(segment), end));
        if let Some(live) = self.shared.index().segments.get_mut(&segment.id) {
            live.length = end;
            live.sequence_min = live.sequence_min.min(sequence);
        }
    }

    /// Lets the oldest segments go until there is room for so many bytes.
    fn make_room(&mut self, bytes: u64) {
        while self.bytes_max < self.shared.index().segments_bytes() + self.shared.log.length() + bytes {
            if !self.drop_oldest() {
                return;
            }
        }
    }

    /// Lets the oldest segment go; `false` if there is none.
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

/// Appends a record; if that fails, nothing of it stays, since what is left could be taken for a record later.
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
