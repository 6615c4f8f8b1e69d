//! The tier as the store sees it.

use std::fs::{File, OpenOptions, TryLockError};
use std::hash::RandomState;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use tokio::sync::oneshot;

use super::super::body::Packer;
use super::super::object::Object;
use super::super::purge::Purge;
use super::error::DiskError;
use super::index::{At, Entry, Former, Index, VariantPrint};
use super::reader::{self, READERS, Read, Wanted, Whole};
use super::removals::Log;
use super::scan::scan;
use super::settings::DiskSettings;
use super::usage::{Counters, DiskUsage, count};
use super::writer::{Job, Put, Writer};
use crate::policy::{Key, Settings};

/// One part in so many of the store's memory goes into finding objects on disk.
const INDEX_SHARE: u64 = 8;

/// One part in so many of the store's memory may be held by objects that wait to be written.
const QUEUE_SHARE: u64 = 16;

/// How many objects may wait to be written, and how many requests to be read.
const QUEUE_MAX: usize = 1024;

/// What all threads of the tier share.
#[derive(Debug)]
pub(super) struct Shared {
    index: Mutex<Index>,
    pub(super) log: Log,
    pub(super) packer: Packer,
    pub(super) counters: Counters,
    /// The cost of the objects that wait to be written.
    pub(super) queued_bytes: AtomicU64,
}

impl Shared {
    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of an object that could not be written, and of what it has superseded: that must not come back.
    pub(super) fn give_up(&self, hash: u64, sequence: u64, key: &str, former: Former) {
        self.index().forget(hash, sequence);
        if former.is_some {
            self.log(sequence, &Purge::Key(key.to_owned()));
        }
    }

    /// Writes down a removal; returns whether the log should be written anew.
    fn log(&self, sequence: u64, what: &Purge) -> bool {
        self.log.append(sequence, what).unwrap_or_else(|_| {
            count(&self.counters.failed);
            false
        })
    }
}

/// Objects on disk.
#[derive(Debug)]
pub(in crate::store) struct Disk {
    shared: Arc<Shared>,
    hasher: RandomState,
    bytes_max: u64,
    queue_bytes_max: u64,
    jobs: Option<SyncSender<Job>>,
    reads: Option<SyncSender<Read>>,
    threads: Vec<JoinHandle<()>>,
    /// Held as long as the directory is ours.
    _lock: File,
}

impl Disk {
    /// Opens a directory, finds what is in it, and starts the threads.
    ///
    /// `memory_bytes` is the store's limit, `hasher` what the hashes of keys are made with.
    pub(in crate::store) fn open(
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
        let (log, removed) = Log::open(directory).map_err(DiskError::at(directory))?;
        let mut index = Index::new(memory_bytes / INDEX_SHARE);
        scan(directory, &mut index, &removed, hasher).map_err(DiskError::at(directory))?;
        let (counters, queued_bytes) = (Counters::default(), AtomicU64::new(0));
        let shared = Arc::new(Shared { index: Mutex::new(index), log, packer, counters, queued_bytes });
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

    /// Returns the bytes of memory that finding objects takes; they are taken from the start.
    pub(in crate::store) fn index_bytes(&self) -> u64 {
        self.shared.index().bytes()
    }

    /// Tells whether there may be something under a key.
    pub(in crate::store) fn has(&self, hash: u64) -> bool {
        self.shared.index().has(hash)
    }

    /// Has an object written, in time; if the disk cannot keep up, it is not.
    pub(in crate::store) fn put(&self, object: &Arc<Object>, hash: u64) {
        let variant = VariantPrint::of(&object.stored.response.vary, &object.stored.variant, &self.hasher);
        let cost = object.cost() as u64;
        let queued = self.shared.queued_bytes.fetch_add(cost, Ordering::Relaxed) + cost;
        let mut index = self.shared.index();
        let sequence = index.next_sequence();
        let added = index.add(Entry { hash, sequence, variant, at: At::Queued(Arc::clone(object)) });
        drop(index);
        let former = added.unwrap_or_default();
        let put = Put { object: Arc::clone(object), hash, sequence, former };
        let is_queued = added.is_some() && queued <= self.queue_bytes_max && self.try_job(Job::Put(put));
        if !is_queued {
            self.shared.queued_bytes.fetch_sub(cost, Ordering::Relaxed);
            count(&self.shared.counters.dropped);
            self.shared.give_up(hash, sequence, object.key.as_str(), former);
        }
    }

    fn try_job(&self, job: Job) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.try_send(job).is_ok())
    }

    /// Removes what is meant; what returns from here stays removed. `hash` is that of the key if one is meant.
    pub(in crate::store) fn remove(&self, what: &Purge, hash: Option<u64>) {
        let mut index = self.shared.index();
        let sequence = index.next_sequence();
        let logged = match hash {
            // What is not found was removed, and logged, before.
            Some(hash) => index.remove_key(hash).then(|| what.clone()),
            None => Some(index.remove_wide(sequence, what)),
        };
        let are_many = index.wide_if_many().is_some();
        drop(index);
        if are_many {
            self.try_job(Job::Sweep);
        }
        if logged.is_some_and(|what| self.shared.log(sequence, &what)) {
            self.try_job(Job::Compact);
        }
    }

    /// Returns what is under a key, the oldest first.
    pub(in crate::store) async fn fetch(
        &self,
        hash: u64,
        key: &Key,
        settings: &Settings,
    ) -> Vec<Arc<Object>> {
        let (mut found, wanted) = self.find(hash);
        found.extend(
            self.read(hash, wanted).await.into_iter().filter(|whole| whole.head.key == key.as_str()).map(
                |Whole { head, body }| {
                    let sequence = head.sequence;
                    (sequence, Arc::new(head.into_object(key, body, settings)))
                },
            ),
        );
        // What was removed meanwhile must not be used.
        let index = self.shared.index();
        found.retain(|(sequence, object)| {
            let is_purged = || index.is_purged(*sequence, object.key.as_str(), &object.tags);
            object.key == *key && index.holds(hash, *sequence) && !is_purged()
        });
        drop(index);
        found.sort_unstable_by_key(|(sequence, _)| *sequence);
        found.into_iter().map(|(_, object)| object).collect()
    }

    /// Returns what is still in memory under a hash, and what has to be read.
    fn find(&self, hash: u64) -> (Vec<(u64, Arc<Object>)>, Vec<Wanted>) {
        let index = self.shared.index();
        let segment = |id: u32| index.segments.get(&id).map(|live| Arc::clone(&live.segment));
        let (mut found, mut wanted) = (Vec::new(), Vec::new());
        for Entry { sequence, at, .. } in index.find(hash) {
            match at {
                At::Queued(object) => found.push((sequence, object)),
                At::Written(location) => {
                    let segments = segment(location.head.segment).zip(segment(location.body.segment));
                    wanted.extend(segments.map(|(head, body)| Wanted { sequence, location, head, body }));
                }
            }
        }
        (found, wanted)
    }

    async fn read(&self, hash: u64, wanted: Vec<Wanted>) -> Vec<Whole> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let (reply, wholes) = oneshot::channel();
        let read = Read { hash, wanted, reply };
        if self.reads.as_ref().is_none_or(|reads| reads.try_send(read).is_err()) {
            count(&self.shared.counters.skipped);
            return Vec::new();
        }
        wholes.await.unwrap_or_default()
    }

    pub(in crate::store) fn usage(&self) -> DiskUsage {
        let index = self.shared.index();
        DiskUsage {
            objects: index.len() as u64,
            bytes: index.segments_bytes() + self.shared.log.length(),
            bytes_max: self.bytes_max,
            index_bytes: index.bytes(),
            ..self.shared.counters.usage()
        }
    }

    /// Waits until everything that was put is written.
    pub(in crate::store) fn flush(&self) {
        let (done, wait) = sync_channel(1);
        let is_asked = self.jobs.as_ref().is_some_and(|jobs| jobs.send(Job::Flush(done)).is_ok());
        if is_asked {
            // An error says that the writer is gone: then there is nothing left to wait for.
            wait.recv().ok();
        }
    }
}

impl Drop for Disk {
    /// Lets the threads finish what they have been asked to do.
    fn drop(&mut self) {
        (self.jobs, self.reads) = (None, None);
        for thread in self.threads.drain(..) {
            // One that panicked has left records that count only if they are whole.
            thread.join().ok();
        }
    }
}

/// Makes sure that no other process uses the directory.
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
    jobs: Receiver<Job>,
    shared: &Arc<Shared>,
    reads: Receiver<Read>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let reads = Arc::new(Mutex::new(reads));
    let mut threads = vec![Builder::new().name("disk-writer".into()).spawn(move || writer.run(&jobs))?];
    for _ in 0..READERS {
        let (shared, reads) = (Arc::clone(shared), Arc::clone(&reads));
        let reader = Builder::new().name("disk-reader".into());
        threads.push(reader.spawn(move || reader::run(&shared, &reads))?);
    }
    Ok(threads)
}
