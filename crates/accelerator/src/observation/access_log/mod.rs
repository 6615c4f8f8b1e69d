//! The access log: each worker writes lines into a buffer of its own, and one thread writes the buffers to the file.
//!
//! A worker never waits for a disk: a line that does not fit the buffer is dropped, counted and reported.
//!
//! - `entry`: a line in each of the three formats
//! - `time`: timestamps
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

pub use entry::{LogEntry, LogFormat};
pub(crate) use time::TimestampCache;

use crate::observation::notice::Notices;

/// The most bytes that one worker's lines may take before they are written.
const BUFFER_BYTES_MAX: usize = 1 << 20;

/// The bytes in a buffer that wake the thread before its next regular write.
const BUFFER_BYTES_WAKE: usize = 256 << 10;

/// The most commands that may wait for the thread; further wake-ups are redundant.
const COMMANDS_MAX: usize = 16;

/// The settings of the access log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// The file, which is appended to.
    pub file: PathBuf,
    /// Its format.
    pub form: LogFormat,
}

/// The access log: writes to its file, switches to another one on request, and ends in order.
#[derive(Debug)]
pub struct AccessLog {
    shared: Arc<Shared>,
    commands: SyncSender<LogCommand>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The open file of an access log.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    form: LogFormat,
}

impl LogFile {
    /// Opens the file, creating it if needed.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(settings: &LogSettings) -> io::Result<LogFile> {
        let file = OpenOptions::new().append(true).create(true).open(&settings.file)?;
        Ok(LogFile { path: settings.file.clone(), file, form: settings.form })
    }
}

/// The writer of one worker.
///
/// Meant for one thread: several would work, but wait for each other.
#[derive(Debug)]
pub struct LogWriter {
    shared: Arc<Shared>,
    buffer: Arc<Buffer>,
    commands: SyncSender<LogCommand>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The format, encoded by [`code`].
    form: AtomicU8,
    /// Lines that did not fit, or could not be written.
    dropped: AtomicU64,
    buffers: Mutex<Vec<Arc<Buffer>>>,
}

#[derive(Debug, Default)]
struct Buffer(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    stamp: TimestampCache,
}

/// A command to the thread.
#[derive(Debug)]
enum LogCommand {
    /// Write the buffers now, without waiting for the next regular write.
    Write,
    /// Write to this file from now on, or to none.
    Use(Option<LogFile>),
    /// Write the buffers and end.
    Stop,
}

impl AccessLog {
    /// Starts the log; without a file it writes nothing until it gets one.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(file: Option<LogFile>, notices: Notices) -> io::Result<AccessLog> {
        let (commands, received) = sync_channel(COMMANDS_MAX);
        let shared = Arc::<Shared>::default();
        let thread_shared = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("access-log".to_owned())
            .spawn(move || writer::run(&thread_shared, &received, &notices))?;
        let log = AccessLog { shared, commands, thread: Mutex::new(Some(thread)) };
        log.switch_to(file);
        Ok(log)
    }

    /// Switches to another file, to the same one reopened, or to none. No line is lost.
    pub fn switch_to(&self, file: Option<LogFile>) {
        let form = file.as_ref().map(|file| file.form);
        // The thread lives as long as this value.
        let _ = self.commands.send(LogCommand::Use(file));
        self.shared.form.store(code(form), Ordering::Relaxed);
    }

    /// Makes a writer for a worker.
    pub fn writer(&self) -> LogWriter {
        let buffer = Arc::<Buffer>::default();
        lock(&self.shared.buffers).push(Arc::clone(&buffer));
        LogWriter { shared: Arc::clone(&self.shared), buffer, commands: self.commands.clone() }
    }

    /// Returns the number of dropped lines: they did not fit, or could not be written.
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Relaxed)
    }

    /// Writes the buffers and ends; later lines are discarded.
    pub fn stop(&self) {
        let Some(thread) = lock(&self.thread).take() else { return };
        let _ = self.commands.send(LogCommand::Stop);
        // A panic of the thread is a bug here, and has been reported by the panic itself.
        let _ = thread.join();
        self.shared.form.store(code(None), Ordering::Relaxed);
    }
}

impl LogWriter {
    /// Returns whether lines are written; if not, their fields need not be collected.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.shared.form.load(Ordering::Relaxed) != 0
    }

    /// Writes a line, if the log is on.
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
            // A full channel means that the thread is awake.
            let _ = self.commands.try_send(LogCommand::Write);
        }
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        // What is still in the buffer is written; then no writer holds it any more.
        let _ = self.commands.try_send(LogCommand::Write);
    }
}

fn code(form: Option<LogFormat>) -> u8 {
    match form {
        None => 0,
        Some(LogFormat::Common) => 1,
        Some(LogFormat::Combined) => 2,
        Some(LogFormat::Json) => 3,
    }
}

fn form(code: u8) -> Option<LogFormat> {
    [LogFormat::Common, LogFormat::Combined, LogFormat::Json]
        .into_iter()
        .find(|form| self::code(Some(*form)) == code)
}

/// Takes a lock; data of a thread that panicked are intact, because lines are only appended.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use units::{Nanos, WallTime};

    use super::*;
    use crate::message::{ClientVersion, ProxyReason, RequestHandling, ResponsePath};

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
            handling: RequestHandling {
                path: ResponsePath::Memory,
                reason: ProxyReason::Fresh.into(),
                origin_time: None,
            },
        }
    }

    fn open(path: &Path) -> Option<LogFile> {
        Some(LogFile::open(&LogSettings { file: path.to_owned(), form: LogFormat::Common }).unwrap())
    }

    fn targets(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| line.split(' ').nth(6).unwrap().to_owned()).collect()
    }

    #[test]
    fn all_lines_are_written_before_stop_returns() {
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
    fn no_line_is_lost_when_the_file_is_rotated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let old = folder.path().join("access.log.1");
        let log = AccessLog::start(open(&path), Notices::default()).unwrap();
        let writer = log.writer();
        writer.line(&entry(b"/before"));
        std::fs::rename(&path, &old).unwrap();
        log.switch_to(open(&path));
        writer.line(&entry(b"/after"));
        log.stop();
        // The second line is in the new file, or in the old one if it was quicker than the thread.
        assert_eq!(targets(&old)[0], "/before");
        assert_eq!([targets(&old), targets(&path)].concat(), ["/before", "/after"]);
    }

    #[test]
    fn without_a_file_nothing_is_formatted_until_one_is_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let log = AccessLog::start(None, Notices::default()).unwrap();
        let writer = log.writer();
        writer.line(&entry(b"/lost"));
        assert!(!writer.is_on() && lock(&writer.buffer.0).bytes.is_empty());
        log.switch_to(open(&path));
        assert!(writer.is_on());
        writer.line(&entry(b"/kept"));
        log.stop();
        assert_eq!(targets(&path), ["/kept"]);
        assert!(!writer.is_on());
    }

    #[test]
    fn lines_beyond_the_buffer_are_dropped_and_counted() {
        let shared = Arc::<Shared>::default();
        shared.form.store(code(Some(LogFormat::Common)), Ordering::Relaxed);
        // No thread takes anything away, and its orders are never read.
        let (commands, _received) = sync_channel(1);
        let writer = LogWriter { shared: Arc::clone(&shared), buffer: Arc::default(), commands };
        let long = vec![b'x'; 10_000];
        (0..200).for_each(|_| writer.line(&entry(&long)));
        let kept = lock(&writer.buffer.0).bytes.clone();
        assert!(kept.len() <= BUFFER_BYTES_MAX && kept.ends_with(b" 200 5\n"));
        let lines = kept.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(lines + shared.dropped.load(Ordering::Relaxed), 200);
    }

    #[test]
    fn a_failing_log_is_reported_once() {
        let (notices, received) = Notices::new();
        // Every write to it fails: there is no space.
        let log = AccessLog::start(open(Path::new("/dev/full")), notices).unwrap();
        let writer = log.writer();
        writer.line(&entry(b"/1"));
        log.switch_to(open(Path::new("/dev/full")));
        writer.line(&entry(b"/2"));
        log.stop();
        let texts: Vec<String> = received.try_iter().map(|notice| notice.text).collect();
        assert_eq!(texts.iter().filter(|text| text.contains("cannot be written")).count(), 1, "{texts:?}");
        assert_eq!(log.dropped(), 2);
    }

    #[test]
    fn buffers_of_ended_workers_are_removed() {
        let log = AccessLog::start(open(Path::new("/dev/null")), Notices::default()).unwrap();
        let kept = log.writer();
        (0..100).for_each(|_| log.writer().line(&entry(b"/")));
        log.stop();
        assert_eq!(lock(&log.shared.buffers).len(), 1);
        drop(kept);
    }
}
