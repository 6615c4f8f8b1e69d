//! The threads that read objects from disk.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::index::Location;
use super::record::Head;
use super::segment::Segment;
use super::tier::Shared;
use super::usage::count;

/// How many threads read: as many requests wait for the disk at the same time.
pub(super) const READERS: usize = 4;

/// An object to be read.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) sequence: u64,
    pub(super) location: Location,
    pub(super) head: Arc<Segment>,
    pub(super) body: Arc<Segment>,
}

/// An object that was read, and is what was written.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) head: Head,
    pub(super) body: Bytes,
}

/// Several objects under one key, to be read for one request.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) hash: u64,
    pub(super) wanted: Vec<Wanted>,
    pub(super) reply: oneshot::Sender<Vec<Whole>>,
}

/// Reads what is wanted until nobody is left who could want something.
pub(super) fn run(shared: &Shared, reads: &Mutex<Receiver<Read>>) {
    loop {
        let next = reads.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Read { hash, wanted, reply }) = next else {
            return;
        };
        let wholes = wanted.iter().filter_map(|wanted| read(shared, hash, wanted)).collect();
        // Perhaps nobody waits any more.
        reply.send(wholes).ok();
    }
}

fn read(shared: &Shared, hash: u64, wanted: &Wanted) -> Option<Whole> {
    let whole = read_whole(shared, wanted);
    match whole {
        Some(_) => count(&shared.counters.read),
        None => {
            count(&shared.counters.torn);
            shared.index().forget(hash, wanted.sequence);
        }
    }
    whole
}

/// Reads head and body and compares both with their checksums.
fn read_whole(shared: &Shared, wanted: &Wanted) -> Option<Whole> {
    let Wanted { sequence, location, head, body } = wanted;
    let (_, head) = head.head_at(location.head.offset)?;
    if head.sequence != *sequence || head.body.place != location.body {
        return None;
    }
    let length = usize::try_from(head.body.length).ok()?;
    let body = shared.packer.read(length, |room| body.read_at(room, location.body.offset)).ok()?;
    (blake3::hash(&body) == head.body.sum).then_some(Whole { head, body })
}
