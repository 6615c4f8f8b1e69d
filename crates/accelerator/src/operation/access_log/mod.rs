//! The access log: each worker writes lines into a buffer of its own, one thread brings the buffers to the file.
//!
//! A worker never waits for a disk: what does not fit its buffer is dropped, counted and told.
//!
//! - `entry`: a line in the three forms
//! - `time`: times as logs have them
//! - `writer`: the thread

mod entry;
mod time;
mod writer;

use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

pub use entry::{LogEntry, LogForm};
pub(crate) use time::Stamp;

use super::notice::Notices;

/// The most bytes that one worker's lines may take before they are written.
const BUFFER_BYTES_MAX: usize = 1 << 20;

/// So many bytes are written at once, and not when the time has come.
const BUFFER_BYTES_WAKE: usize = 256 << 10;

/// How many orders the thread may have before it; what wakes it need not be said more often.
const ORDERS_MAX: usize = 16;

/// Where the access log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// The file, which is appended to.
    pub file: PathBuf,
    /// Its form.
    pub form: LogForm,
}

/// The access log: writes to its file, or another one if asked, and ends in order.
#[derive(Debug)]
pub struct AccessLog {
    shared: Arc<Shared>,
    orders: SyncSender<Order>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The file of an access log, open.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    form: LogForm,
}

impl LogFile {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(settings: &LogSettings) -> io::Result<LogFile> {
        let file = OpenOptions::new().append(true).create(true).open(&settings.file)?;
        Ok(LogFile { path: settings.file.clone(), file, form: settings.form })
    }
}

/// What a worker writes lines with.
///
/// One per thread: it would work from several, which would wait for each other.
#[derive(Debug)]
pub struct LogWriter {
    shared: Arc<Shared>,
    buffer: Arc<Buffer>,
    orders: SyncSender<Order>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The form, as [`code`] has it.
    form: AtomicU8,
    /// Lines that found no room, or were not written.
    dropped: AtomicU64,
    buffers: Mutex<Vec<Arc<Buffer>>>,
}

#[derive(Debug, Default)]
struct Buffer(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    stamp: Stamp,
}

/// What the thread is told.
#[derive(Debug)]
enum Order {
    /// Write what is there, without waiting for the time.
    Write,
    /// From now on write to this file, or nowhere.
    Use(Option<LogFile>),
    /// Write what is there and end.
    Stop,
}

impl AccessLog {
    /// Starts the log; without a file it writes nothing until it is told otherwise.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(file: Option<LogFile>, notices: Notices) -> io::Result<AccessLog> {
        let (orders, received) = sync_channel(ORDERS_MAX);
        let shared = Arc::<Shared>::default();
        let thread_shared = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("access-log".to_owned())
            .spawn(move || writer::run(&thread_shared, &received, &notices))?;
        let log = AccessLog { shared, orders, thread: Mutex::new(Some(thread)) };
        log.turn_to(file);
        Ok(log)
    }

    /// Writes to another file from now on, or to the same one opened anew, or to none. Nothing is lost.
    pub fn turn_to(&self, file: Option<LogFile>) {
        let form = file.as_ref().map(|file| file.form);
        // The thread lives as long as this does.
        let _ = self.orders.send(Order::Use(file));
        self.shared.form.store(code(form), Ordering::Relaxed);
    }

    /// Makes what a worker writes lines with.
    pub fn writer(&self) -> LogWriter {
        let buffer = Arc::<Buffer>::default();
        lock(&self.shared.buffers).push(Arc::clone(&buffer));
        LogWriter { shared: Arc::clone(&self.shared), buffer, orders: self.orders.clone() }
    }

    /// Returns how many lines have been dropped: they found no room, or could not be written.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// Writes what is there, and ends; lines that come later go nowhere.
    pub fn stop(&self) {
        let Some(thread) = lock(&self.thread).take() else { return };
        let _ = self.orders.send(Order::Stop);
        // It is our own mistake if it panicked; the panic has told itself.
        let _ = thread.join();
        self.shared.form.store(code(None), Ordering::Relaxed);
    }
}

impl LogWriter {
    /// Tells whether lines are wanted: what costs time to find out need not be found out otherwise.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.shared.form.load(Ordering::Relaxed) != 0
    }

    /// Writes a line, if lines are wanted.
    pub fn line(&self, entry: &LogEntry<'_>) {
        let Some(form) = form(self.shared.form.load(Ordering::Relaxed)) else { return };
        let mut lines = lock(&self.buffer.0);
        let Lines { bytes, stamp } = &mut *lines;
        let before = bytes.len();
        entry.write(form, stamp, bytes);
        if BUFFER_BYTES_MAX < bytes.len() {
            bytes.truncate(before);
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
        } else if before < BUFFER_BYTES_WAKE && BUFFER_BYTES_WAKE <= bytes.len() {
            // Full of orders: then it is awake.
            let _ = self.orders.try_send(Order::Write);
        }
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        // What is still in the buffer is written; then nobody holds it any more.
        let _ = self.orders.try_send(Order::Write);
    }
}

fn code(form: Option<LogForm>) -> u8 {
    match form {
        None => 0,
        Some(LogForm::Common) => 1,
        Some(LogForm::Combined) => 2,
        Some(LogForm::Json) => 3,
    }
}

fn form(code: u8) -> Option<LogForm> {
    [LogForm::Common, LogForm::Combined, LogForm::Json]
        .into_iter()
        .find(|form| self::code(Some(*form)) == code)
}

/// Takes a lock; what a thread left behind that panicked is whole, because lines are added at the end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use units::{Nanos, WallTime};

    use super::*;
    use crate::message::{ClientVersion, Handling, HitPath};

    fn entry(target: &[u8]) -> LogEntry<'_> {
        LogEntry {
            client: "192.0.2.7:4711".parse().unwrap(),
            time: WallTime(784_111_777_123),
            method: b"GET",
            authority: b"example.com",
            target,
            version: ClientVersion::Http11,
            referer: None,
            user_agent: None,
            status: 200,
            body_bytes: 5,
            duration: Nanos(1),
            handling: Handling { path: HitPath::Memory, reason: "fresh", origin_time: None },
        }
    }

    fn open(path: &Path) -> Option<LogFile> {
        Some(LogFile::open(&LogSettings { file: path.to_owned(), form: LogForm::Common }).unwrap())
    }

    fn targets(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| line.split(' ').nth(6).unwrap().to_owned()).collect()
    }

    #[test]
    fn every_line_of_every_worker_is_there_when_it_has_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let log = AccessLog::start(open(&path), Notices::default()).unwrap();
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let writer = log.writer();
                scope.spawn(move || {
                    for k in 0..1_000 {
                        writer.line(&entry(format!("/{worker}/{k}").as_bytes()));
                    }
                });
            }
        });
        log.stop();
        let targets = targets(&path);
        assert_eq!((targets.len(), log.dropped()), (4_000, 0));
        for worker in 0..4 {
            let own = targets.iter().filter(|target| target.starts_with(&format!("/{worker}/")));
            assert!(own.enumerate().all(|(k, target)| *target == format!("/{worker}/{k}")), "in order");
        }
    }

    #[test]
    fn nothing_is_lost_when_the_file_is_moved_away_and_opened_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("access.log"), folder.path().join("access.log.1"));
        let log = AccessLog::start(open(&path), Notices::default()).unwrap();
        let writer = log.writer();
        writer.line(&entry(b"/before"));
        std::fs::rename(&path, &old).unwrap();
        log.turn_to(open(&path));
        writer.line(&entry(b"/after"));
        log.stop();
        // The second line is in the new file, or in the old one if it was quicker than the thread.
        assert_eq!(targets(&old)[0], "/before");
        assert_eq!([targets(&old), targets(&path)].concat(), ["/before", "/after"]);
    }

    #[test]
    fn without_a_file_nothing_is_formatted_and_it_can_be_turned_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let log = AccessLog::start(None, Notices::default()).unwrap();
        let writer = log.writer();
        writer.line(&entry(b"/lost"));
        assert!(!writer.is_on() && lock(&writer.buffer.0).bytes.is_empty());
        log.turn_to(open(&path));
        assert!(writer.is_on());
        writer.line(&entry(b"/kept"));
        log.stop();
        assert_eq!(targets(&path), ["/kept"]);
        assert!(!writer.is_on());
    }

    #[test]
    fn what_finds_no_room_is_dropped_and_counted_and_nobody_waits() {
        let shared = Arc::<Shared>::default();
        shared.form.store(code(Some(LogForm::Common)), Ordering::Relaxed);
        // No thread takes anything away, and its orders are never read.
        let (orders, _received) = sync_channel(1);
        let writer = LogWriter { shared: Arc::clone(&shared), buffer: Arc::default(), orders };
        let long = vec![b'x'; 10_000];
        (0..200).for_each(|_| writer.line(&entry(&long)));
        let kept = lock(&writer.buffer.0).bytes.clone();
        assert!(kept.len() <= BUFFER_BYTES_MAX && kept.ends_with(b" 200 5\n"));
        let lines = kept.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(lines + shared.dropped.load(Ordering::Relaxed), 200);
    }

    #[test]
    fn a_log_that_cannot_be_written_is_told_once() {
        let (notices, heard) = Notices::new();
        // Every write to it fails: there is no space.
        let log = AccessLog::start(open(Path::new("/dev/full")), notices).unwrap();
        let writer = log.writer();
        writer.line(&entry(b"/1"));
        log.turn_to(open(Path::new("/dev/full")));
        writer.line(&entry(b"/2"));
        log.stop();
        let told: Vec<String> = heard.try_iter().map(|notice| notice.text).collect();
        assert_eq!(told.iter().filter(|text| text.contains("cannot be written")).count(), 1, "{told:?}");
        assert_eq!(log.dropped(), 2);
    }

    #[test]
    fn buffers_of_workers_that_are_gone_are_forgotten() {
        let log = AccessLog::start(open(Path::new("/dev/null")), Notices::default()).unwrap();
        let kept = log.writer();
        (0..100).for_each(|_| log.writer().line(&entry(b"/")));
        log.stop();
        assert_eq!(lock(&log.shared.buffers).len(), 1);
        drop(kept);
    }
}
