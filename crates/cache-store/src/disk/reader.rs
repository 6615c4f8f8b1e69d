//! The reader threads.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::counters::count;
use super::index::Location;
use super::record::RecordHead;
use super::segment::Segment;
use super::tier::TierState;
use crate::shards::Shards;

/// The number of reader threads, and of requests that can wait for the disk at the same time.
pub(super) const READERS: usize = 4;

/// An object to read.
#[derive(Debug)]
pub(super) struct ReadItem {
    pub(super) sequence: u64,
    pub(super) location: Location,
    pub(super) head: Arc<Segment>,
    pub(super) body: Arc<Segment>,
}

/// An object that was read and verified.
#[derive(Debug)]
pub(super) struct ReadResponse {
    pub(super) head: RecordHead,
    pub(super) body: Bytes,
}

/// A read job: several objects under one key, for one request.
#[derive(Debug)]
pub(super) struct ReadJob {
    pub(super) hash: u64,
    pub(super) items: Vec<ReadItem>,
    /// The memory in which the bodies need room.
    pub(super) shards: Arc<Shards>,
    pub(super) reply: oneshot::Sender<Vec<ReadResponse>>,
}

/// Reads until all senders are gone.
pub(super) fn run(shared: &TierState, reads: &Mutex<Receiver<ReadJob>>) {
    loop {
        let next = reads.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(ReadJob { hash, items, shards, reply }) = next else {
            return;
        };
        let wholes = items.iter().filter_map(|item| read_if_room(shared, &shards, hash, item)).collect();
        // The receiver may be gone.
        reply.send(wholes).ok();
    }
}

/// Reads an object unless others that are held leave no room for its body.
fn read_if_room(shared: &TierState, shards: &Shards, hash: u64, item: &ReadItem) -> Option<ReadResponse> {
    if !shards.make_room(hash, item.location.body_length as usize) {
        count(&shared.counters.skipped);
        return None;
    }
    read(shared, hash, item)
}

fn read(shared: &TierState, hash: u64, items: &ReadItem) -> Option<ReadResponse> {
    let whole = read_whole(shared, hash, items);
    match whole {
        Some(_) => count(&shared.counters.read),
        None => {
            count(&shared.counters.torn);
            shared.index().forget(hash, items.sequence);
        }
    }
    whole
}

/// Reads head and body and verifies both checksums.
fn read_whole(shared: &TierState, hash: u64, items: &ReadItem) -> Option<ReadResponse> {
    let ReadItem { sequence, location, head, body } = items;
    let (_, head) = head.head_at(location.head.offset)?;
    if head.sequence != *sequence || head.body.place != location.body {
        return None;
    }
    let length = usize::try_from(head.body.length).ok()?;
    let body = shared.packer.read(hash, length, |room| body.read_at(room, location.body.offset)).ok()?;
    (blake3::hash(&body) == head.body.sum).then_some(ReadResponse { head, body })
}
