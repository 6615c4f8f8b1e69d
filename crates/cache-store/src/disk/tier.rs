//! The disk tier, as the store uses it.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::RandomState;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use cache_policy::{Key, Settings};
use tokio::sync::oneshot;

use super::counters::{Counters, count};
use super::error::DiskError;
use super::index::{Entry, EntryState, Index, ReplacedEntry, VariantFingerprint};
use super::reader::{self, READERS, ReadItem, ReadJob, ReadResponse};
use super::removals::RemovalLog;
use super::scan::scan;
use super::settings::DiskSettings;
use super::writer::{PutJob, WriteJob, Writer};
use crate::body::Packer;
use crate::purge::Purge;
use crate::shards::Shards;
use crate::stored_response::StoredResponse;
use crate::usage::DiskUsage;

/// The share of the store's memory that the index takes: one part in this many.
const INDEX_SHARE: u64 = 8;

/// The share of the store's memory that objects waiting to be written may hold: one part in this many.
const QUEUE_SHARE: u64 = 16;

/// The most objects that may wait to be written, and the most requests that may wait to be read.
const QUEUE_MAX: usize = 1024;

/// The state that all threads of the tier share.
#[derive(Debug)]
pub(super) struct TierState {
    index: Mutex<Index>,
    pub(super) log: RemovalLog,
    pub(super) packer: Packer,
    pub(super) counters: Counters,
    /// The cost of the objects that wait to be written.
    pub(super) queued_bytes: AtomicU64,
}

impl TierState {
    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up an object that could not be written, and those it has superseded: they must not come back.
    pub(super) fn give_up(&self, hash: u64, sequence: u64, key: &str, replaced: ReplacedEntry) {
        self.index().forget(hash, sequence);
        if replaced.is_some {
            self.log(sequence, &Purge::Key(key.to_owned()));
        }
    }

    /// Logs a removal; returns whether the log should be rewritten.
    fn log(&self, sequence: u64, what: &Purge) -> bool {
        self.log.append(sequence, what).unwrap_or_else(|_| {
            count(&self.counters.failed);
            false
        })
    }
}

/// The disk tier.
#[derive(Debug)]
pub(crate) struct Disk {
    shared: Arc<TierState>,
    hasher: RandomState,
    bytes_max: u64,
    queue_bytes_max: u64,
    jobs: Option<SyncSender<WriteJob>>,
    reads: Option<SyncSender<ReadJob>>,
    threads: Vec<JoinHandle<()>>,
    /// Held as long as the directory is in use.
    _lock: File,
}

impl Disk {
    /// Opens a directory, scans its content, and starts the threads.
    ///
    /// `memory_bytes` is the store's limit, `hasher` the hasher of keys.
    pub(crate) fn open(
        settings: &DiskSettings,
        memory_bytes: u64,
        hasher: &RandomState,
        packer: Packer,
    ) -> Result<Disk, DiskError> {
        let DiskSettings { directory, bytes } = settings;
        if *bytes < DiskSettings::BYTES_MIN {
            return Err(DiskError::TooSmall { found: *bytes, least: DiskSettings::BYTES_MIN });
        }
        std::fs::create_dir_all(directory).map_err(DiskError::at(directory))?;
        let lock = lock(settings)?;
        let (log, removed) = RemovalLog::open(directory).map_err(DiskError::at(directory))?;
        let mut index = Index::new(memory_bytes / INDEX_SHARE);
        scan(directory, &mut index, &removed, hasher).map_err(DiskError::at(directory))?;
        let counters = Counters::default();
        let queued_bytes = AtomicU64::new(0);
        let shared = Arc::new(TierState { index: Mutex::new(index), log, packer, counters, queued_bytes });
        let (jobs, jobs_to_do) = sync_channel(QUEUE_MAX);
        let (reads, reads_to_do) = sync_channel(QUEUE_MAX);
        let writer = Writer::new(Arc::clone(&shared), directory.clone(), *bytes);
        let threads = start(writer, jobs_to_do, &shared, reads_to_do).map_err(DiskError::at(directory))?;
        Ok(Disk {
            shared,
            hasher: hasher.clone(),
            bytes_max: *bytes,
            queue_bytes_max: memory_bytes / QUEUE_SHARE,
            jobs: Some(jobs),
            reads: Some(reads),
            threads,
            _lock: lock,
        })
    }

    /// Returns the bytes of memory of the index; they are allocated from the start.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.shared.index().bytes()
    }

    /// Returns whether there may be objects under a key.
    pub(crate) fn has(&self, hash: u64) -> bool {
        self.shared.index().has(hash)
    }

    /// Queues an object to be written; if the queue is full, it is dropped.
    pub(crate) fn put(&self, object: &Arc<StoredResponse>, hash: u64) {
        let variant =
            VariantFingerprint::of(&object.stored.response.vary, &object.stored.variant, &self.hasher);
        let cost = object.cost() as u64;
        let queued = self.shared.queued_bytes.fetch_add(cost, Ordering::Relaxed) + cost;
        let mut index = self.shared.index();
        let sequence = index.next_sequence();
        let added = index.add(Entry { hash, sequence, variant, at: EntryState::Queued(Arc::clone(object)) });
        drop(index);
        let replaced = added.unwrap_or_default();
        let put = PutJob { object: Arc::clone(object), hash, sequence, replaced };
        let is_queued = added.is_some() && queued <= self.queue_bytes_max && self.try_job(WriteJob::Put(put));
        if !is_queued {
            self.shared.queued_bytes.fetch_sub(cost, Ordering::Relaxed);
            count(&self.shared.counters.dropped);
            self.shared.give_up(hash, sequence, object.key.as_str(), replaced);
        }
    }

    fn try_job(&self, job: WriteJob) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.try_send(job).is_ok())
    }

    /// Removes what the purge matches; when this returns, it stays removed. `hash` is that of the key if one is
    /// named.
    pub(crate) fn remove(&self, what: &Purge, hash: Option<u64>) {
        let mut index = self.shared.index();
        let sequence = index.next_sequence();
        let logged = match hash {
            // What is not found was removed, and logged, before.
            Some(hash) => index.remove_key(hash).then(|| what.clone()),
            None => Some(index.remove_unkeyed(sequence, what)),
        };
        let are_many = index.unkeyed_if_many().is_some();
        drop(index);
        if are_many {
            self.try_job(WriteJob::Sweep);
        }
        if logged.is_some_and(|what| self.shared.log(sequence, &what)) {
            self.try_job(WriteJob::Compact);
        }
    }

    /// Returns the objects under a key, oldest first.
    pub(crate) async fn fetch(
        &self,
        hash: u64,
        key: &Key,
        settings: &Settings,
        shards: &Arc<Shards>,
    ) -> Vec<Arc<StoredResponse>> {
        let (mut found, items) = self.find(hash);
        found.extend(
            self.read(hash, items, shards)
                .await
                .into_iter()
                .filter(|whole| whole.head.key == key.as_str())
                .map(|ReadResponse { head, body }| {
                    let sequence = head.sequence;
                    (sequence, Arc::new(head.into_object(key, body, settings)))
                }),
        );
        // Objects removed meanwhile must not be used.
        let index = self.shared.index();
        found.retain(|(sequence, object)| {
            let is_purged = || index.is_purged(*sequence, object.key.as_str(), &object.tags);
            object.key == *key && index.holds(hash, *sequence) && !is_purged()
        });
        drop(index);
        found.sort_unstable_by_key(|(sequence, _)| *sequence);
        found.into_iter().map(|(_, object)| object).collect()
    }

    /// Returns the objects under a hash that are still in memory, and those to read.
    fn find(&self, hash: u64) -> (Vec<(u64, Arc<StoredResponse>)>, Vec<ReadItem>) {
        let index = self.shared.index();
        let segment = |id: u32| index.segments.get(&id).map(|live| Arc::clone(&live.segment));
        let mut found = Vec::new();
        let mut items = Vec::new();
        for Entry { sequence, at, .. } in index.find(hash) {
            match at {
                EntryState::Queued(object) => found.push((sequence, object)),
                EntryState::Written(location) => {
                    let segments = segment(location.head.segment).zip(segment(location.body.segment));
                    items.extend(segments.map(|(head, body)| ReadItem { sequence, location, head, body }));
                }
            }
        }
        (found, items)
    }

    async fn read(&self, hash: u64, items: Vec<ReadItem>, shards: &Arc<Shards>) -> Vec<ReadResponse> {
        if items.is_empty() {
            return Vec::new();
        }
        let (reply, wholes) = oneshot::channel();
        let read = ReadJob { hash, items, shards: Arc::clone(shards), reply };
        if self.reads.as_ref().is_none_or(|reads| reads.try_send(read).is_err()) {
            count(&self.shared.counters.skipped);
            return Vec::new();
        }
        wholes.await.unwrap_or_default()
    }

    pub(crate) fn usage(&self) -> DiskUsage {
        let index = self.shared.index();
        DiskUsage {
            objects: index.len() as u64,
            bytes: index.segments_bytes() + self.shared.log.length(),
            bytes_max: self.bytes_max,
            index_bytes: index.bytes(),
            ..self.shared.counters.usage()
        }
    }

    /// Waits until everything queued is written.
    pub(crate) fn flush(&self) {
        let (done, wait) = sync_channel(1);
        let is_asked = self.jobs.as_ref().is_some_and(|jobs| jobs.send(WriteJob::Flush(done)).is_ok());
        if is_asked {
            // An error means that the writer has ended: then there is nothing left to wait for.
            wait.recv().ok();
        }
    }
}

impl Drop for Disk {
    /// Lets the threads finish their queues.
    fn drop(&mut self) {
        (self.jobs, self.reads) = (None, None);
        for thread in self.threads.drain(..) {
            // A thread that panicked has left records that count only if they are complete.
            thread.join().ok();
        }
    }
}

/// Locks the directory against other processes.
fn lock(settings: &DiskSettings) -> Result<File, DiskError> {
    let path = settings.directory.join("lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(DiskError::at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(DiskError::InUse(settings.directory.clone())),
        Err(TryLockError::Error(error)) => Err(DiskError::at(&path)(error)),
    }
}

/// Starts the threads.
fn start(
    writer: Writer,
    jobs: Receiver<WriteJob>,
    shared: &Arc<TierState>,
    reads: Receiver<ReadJob>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let reads = Arc::new(Mutex::new(reads));
    let mut threads = vec![Builder::new().name("disk-writer".into()).spawn(move || writer.run(&jobs))?];
    for _ in 0..READERS {
        let shared = Arc::clone(shared);
        let reads = Arc::clone(&reads);
        let reader = Builder::new().name("disk-reader".into());
        threads.push(reader.spawn(move || reader::run(&shared, &reads))?);
    }
    Ok(threads)
}
