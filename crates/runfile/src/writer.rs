//! The writer of a run file.
//!
//! States of the file, in order; after a kill in any of them the file can still be opened:
//!
//! | state | file alone | beside it |
//! |---|---|---|
//! | being made | absent; the new file has another name | |
//! | recording | all until the last checkpoint, at most [`CHECKPOINT_EVERY`] ago | `-wal` with the rest |
//! | finished | everything | nothing |
//!
//! A write error ends the recording: no further record is accepted, and [`Writer::finish`] still closes
//! the file as well as the disk allows.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use blake3::Hash;
use model::{
    ConsistencyCheck, Example, IntervalRecord, KindHistograms, LimitInForce, Load, LoadPoint,
    MonitoredSource, NamedCount, ResourceRecord, RunEnding, Series,
};
use rusqlite::{Connection, OpenFlags, Transaction, params};
use units::{Nanos, WallTime};

use crate::chain::table_hash;
use crate::codec::{LastReadings, encode_detail, encode_interval, encode_resource};
use crate::detail_batch::DetailBatch;
use crate::rows::{
    DetailRow, HeaderRow, IntervalRow, RecordKey, figures, insert_check, insert_count, insert_ending,
    insert_example, insert_facts, insert_limit, insert_machine, insert_resource, insert_series,
};
use crate::schema::{APPLICATION_ID, CREATE, FORMAT, HASHED_TABLES};
use crate::side_files::with_side_files;
use crate::{Header, RunFileError};

/// The longest recorded time that is not yet in the file itself.
const CHECKPOINT_EVERY: Nanos = Nanos::from_secs(5);

/// Size of a database page. The smallest pages that SQLite has waste least: a row fills whole pages of its own, and
/// only the rest of it shares one. A row that fits a page is never divided: of pages from 1 KB to 16 KB a sixth
/// stayed empty, of these a thirtieth.
const PAGE_BYTES: u32 = 512;

/// The longest wait for the lock of another process.
const LOCK_WAIT: Duration = Duration::from_millis(200);

/// A writer that records one run into one file.
pub struct Writer {
    path: PathBuf,
    database: Connection,
    /// Hash of the last interval, or of the header.
    chain: Hash,
    /// The measures whose sum is what operations transfer.
    transferred: Vec<usize>,
    /// The open batch of detail of each agent.
    batches: BTreeMap<u32, DetailBatch>,
    /// The last readings of each machine.
    last_readings: LastReadings,
    /// Load point and time up to which the file itself holds everything.
    checkpoint: (u32, Nanos),
    /// The stated results: load point, name, value.
    results: Vec<(u32, String, f64)>,
    /// Set by the first error.
    closed: bool,
}

impl Writer {
    /// Makes the run file; when this returns, the file alone holds the header.
    ///
    /// # Errors
    ///
    /// A file of this name exists, the file cannot be made, or the disk is full.
    pub fn create(path: &Path, header: &Header) -> Result<Writer, RunFileError> {
        Writer::check_unused(path)?;
        let new = path.with_added_extension("new");
        let made = make(&new, header);
        let published = made
            .map_err(|why| RunFileError::database(path, "creating", why))
            .and_then(|hash| publish(&new, path).map(|()| hash));
        let chain = published.inspect_err(|_| drop(fs::remove_file(&new)))?;
        let database = record_into(path).map_err(|why| RunFileError::database(path, "opening", why))?;
        Ok(Writer {
            path: path.to_owned(),
            database,
            chain,
            transferred: header.plan.catalog.transferred.clone(),
            batches: BTreeMap::new(),
            last_readings: LastReadings::default(),
            checkpoint: (0, Nanos::ZERO),
            results: Vec::new(),
            closed: false,
        })
    }

    /// Checks that a name is not taken: by a file, or by what is left of a run whose file is gone. The database would take a
    /// `-wal` or `-journal` file for a part of the new run.
    ///
    /// # Errors
    /// [`RunFileError::Exists`] with the file that is there.
    pub fn check_unused(path: &Path) -> Result<(), RunFileError> {
        match with_side_files(path).into_iter().find(|file| fs::symlink_metadata(file).is_ok()) {
            Some(path) => Err(RunFileError::Exists { path }),
            None => Ok(()),
        }
    }

    /// Returns the path of the run file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Closes and removes the run file, of a run that did not come to its first load point.
    pub fn discard(self) {
        let Writer { path, database, .. } = self;
        drop(database);
        // What cannot be removed is a run file without load points.
        for file in with_side_files(&path) {
            drop(fs::remove_file(file));
        }
    }

    /// Limits the size of the run file in bytes: what does not fit is refused as on a disk that is full. What is there
    /// already stays.
    ///
    /// # Errors
    /// If the file cannot be used.
    pub fn limit_bytes(&mut self, bytes_max: u64) -> Result<(), RunFileError> {
        let pages = u32::try_from(bytes_max / u64::from(PAGE_BYTES)).unwrap_or(u32::MAX);
        self.database
            .pragma_update(None, "max_page_count", pages)
            .map_err(|why| RunFileError::database(&self.path, "limiting", why))
    }

    /// Records one interval with its detail.
    ///
    /// Up to two synchronous writes to the disk every five recorded seconds.
    ///
    /// # Errors
    ///
    /// The disk is full, or the interval was recorded before; [`RunFileError::Closed`] after any error.
    pub fn interval(&mut self, record: &IntervalRecord) -> Result<(), RunFileError> {
        let key = RecordKey::of(record);
        let index = record.index;
        let bytes = encode_interval(record);
        let hash = key.link(&self.chain, index, &bytes);
        let figures = figures(record, &self.transferred);
        let row = IntervalRow { key, index, figures, record: bytes, hash };
        let ended = self.batches.remove(&key.agent);
        let batch = self.write("recording an interval in", |transaction| {
            row.insert(transaction)?;
            let empty = KindHistograms::default();
            add_detail(transaction, ended, key, record.detail.as_ref().unwrap_or(&empty), index)
        })?;
        self.batches.insert(key.agent, batch);
        self.chain = hash;
        self.checkpoint_if_due(key.load_point, key.end)
    }

    /// Records a limit of the server that is not in force as planned.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn limit_in_force(&mut self, limit: &LimitInForce) -> Result<(), RunFileError> {
        self.write("recording a limit in", |transaction| insert_limit(transaction, limit))
    }

    /// Records that a load point begins.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn load_point(&mut self, point: LoadPoint, started: WallTime) -> Result<(), RunFileError> {
        let load = serde_json::to_string(&point.load).expect("a load can be written as JSON");
        self.write("recording a load point in", |transaction| {
            let values = params![point.index, offered(point.load), started.0, load];
            transaction.execute("INSERT INTO load_point VALUES (?, ?, ?, ?)", values).map(drop)
        })
    }

    /// Records that a machine is monitored, under its number.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn machine(&mut self, number: u32, machine: &MonitoredSource) -> Result<(), RunFileError> {
        self.write("recording a machine in", |transaction| insert_machine(transaction, number, machine))
    }

    /// Records the counter and instance of a series, under its number.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn series(&mut self, number: u32, series: &Series) -> Result<(), RunFileError> {
        self.write("recording a counter in", |transaction| insert_series(transaction, number, series))
    }

    /// Records the readings of a machine.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn resource(&mut self, record: &ResourceRecord) -> Result<(), RunFileError> {
        let bytes = encode_resource(&mut self.last_readings, record);
        self.write("recording counters in", |transaction| insert_resource(transaction, record, &bytes))
    }

    /// Records the first operation that ended in a certain way.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn example(&mut self, example: &Example) -> Result<(), RunFileError> {
        self.write("recording an example in", |transaction| insert_example(transaction, example))
    }

    /// Records a check of the system under test.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn check(&mut self, check: &ConsistencyCheck) -> Result<(), RunFileError> {
        self.write("recording a check in", |transaction| insert_check(transaction, check))
    }

    /// Records a count of a load point; each name once.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn count(&mut self, count: &NamedCount) -> Result<(), RunFileError> {
        self.write("recording a count in", |transaction| insert_count(transaction, count))
    }

    /// Records an event: a sentence.
    ///
    /// # Errors
    ///
    /// As for [`Writer::interval`].
    pub fn event(&mut self, at: WallTime, text: &str) -> Result<(), RunFileError> {
        self.write("recording an event in", |transaction| {
            transaction.execute("INSERT INTO event VALUES (NULL, ?, ?)", params![at.0, text]).map(drop)
        })
    }

    /// Adds results of a load point, to be stored when the run ends: values by name, unit last.
    ///
    /// All of them follow from the records; they are stored so that an audit can compare.
    pub fn add_result(&mut self, load_point: u32, cells: &BTreeMap<String, f64>) {
        self.results.extend(cells.iter().map(|(name, value)| (load_point, name.clone(), *value)));
    }

    /// Records how the run ended and leaves one plain file.
    ///
    /// Always call it, also after an error: it then writes as much as the disk still accepts. Without a row for its
    /// ending the file reads as [`RunEnding::Missing`].
    ///
    /// # Errors
    ///
    /// The disk is full, or the file cannot be written for another reason.
    pub fn finish(mut self, at: WallTime, ending: &RunEnding) -> Result<(), RunFileError> {
        // Records written now might not continue those refused before.
        let batches = if self.closed { BTreeMap::new() } else { std::mem::take(&mut self.batches) };
        self.closed = false;
        let chain = self.chain;
        let results = std::mem::take(&mut self.results);
        self.write("finishing", |transaction| {
            insert_results(transaction, &results)?;
            batches.into_values().try_for_each(|batch| join(transaction, &batch))?;
            insert_ending(transaction, at, ending)?;
            insert_inventory(transaction, chain)
        })?;
        let closed = self.database.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0));
        let closed = closed.and_then(|_: String| self.database.close().map_err(|(_, why)| why));
        closed.map_err(|why| RunFileError::database(&self.path, "finishing", why))
    }

    /// Writes in one transaction; the first error closes the writer.
    fn write<T>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&Transaction) -> rusqlite::Result<T>,
    ) -> Result<T, RunFileError> {
        if self.closed {
            return Err(RunFileError::Closed { path: self.path.clone() });
        }
        let written = self.database.transaction().and_then(|transaction| {
            let answer = work(&transaction)?;
            transaction.commit()?;
            Ok(answer)
        });
        self.closed = written.is_err();
        written.map_err(|why| RunFileError::database(&self.path, doing, why))
    }

    /// Moves all that was recorded into the file itself, every few recorded seconds.
    fn checkpoint_if_due(&mut self, load_point: u32, end: Nanos) -> Result<(), RunFileError> {
        let (last_load_point, last) = self.checkpoint;
        if load_point == last_load_point && end.saturating_sub(last) < CHECKPOINT_EVERY {
            return Ok(());
        }
        let done = checkpoint(&self.database);
        self.closed = done.is_err();
        self.checkpoint = (load_point, end);
        done.map_err(|why| RunFileError::database(&self.path, "recording in", why))
    }
}

/// Makes a complete file with tables and header, and closes it.
fn make(new: &Path, header: &Header) -> rusqlite::Result<Hash> {
    // Left by a run that was killed in this function; nothing else uses the name.
    drop(fs::remove_file(new));
    let mut database = Connection::open(new)?;
    database.pragma_update(None, "page_size", PAGE_BYTES)?;
    database.pragma_update(None, "application_id", APPLICATION_ID)?;
    let transaction = database.transaction()?;
    transaction.execute_batch(CREATE)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    let hash = HeaderRow::of(header).insert(&transaction)?;
    header.testbed.sections.iter().try_for_each(|section| insert_facts(&transaction, section))?;
    transaction.commit()?;
    database.close().map_err(|(_, why)| why)?;
    Ok(hash)
}

/// Gives a finished file its name, unless the name is taken.
fn publish(new: &Path, path: &Path) -> Result<(), RunFileError> {
    match fs::hard_link(new, path) {
        Ok(()) => drop(fs::remove_file(new)),
        Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(RunFileError::Exists { path: path.to_owned() });
        }
        // Some file systems have no hard links.
        Err(_) => fs::rename(new, path).map_err(|why| RunFileError::io(path, "creating", why))?,
    }
    Ok(())
}

/// Opens a new file for recording.
fn record_into(path: &Path) -> rusqlite::Result<Connection> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    database.busy_timeout(LOCK_WAIT)?;
    // No other process may write, and no reader's lock can stop the recording.
    database.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    database.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    database.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(database)
}

/// Moves everything from the `-wal` file into the file itself.
fn checkpoint(database: &Connection) -> rusqlite::Result<()> {
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Writes an interval's detail, joins the batch before it if that is complete, and returns the open one.
fn add_detail(
    transaction: &Transaction,
    open: Option<DetailBatch>,
    key: RecordKey,
    detail: &KindHistograms,
    interval: u32,
) -> rusqlite::Result<DetailBatch> {
    let record = encode_detail(detail);
    let row = DetailRow { key, first_interval: interval, last_interval: interval, record };
    let row = row.insert(None, transaction)?;
    if let Some(mut batch) = open {
        if batch.add(&key, detail, interval, row) {
            return Ok(batch);
        }
        join(transaction, &batch)?;
    }
    Ok(DetailBatch::new(key, detail.clone(), interval, row))
}

/// Replaces the rows of a batch by one row with the first one's id, so that rows stay in order.
fn join(transaction: &Transaction, batch: &DetailBatch) -> rusqlite::Result<()> {
    let [first, .., last] = batch.rows[..] else { return Ok(()) };
    let row = batch.row();
    let agent = row.key.agent;
    // Rows of other agents may lie between them.
    transaction
        .execute("DELETE FROM detail WHERE id BETWEEN ? AND ? AND agent = ?", params![first, last, agent])?;
    row.insert(Some(first), transaction).map(drop)
}

fn insert_results(transaction: &Transaction, results: &[(u32, String, f64)]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO result VALUES (NULL, ?, ?, ?)")?;
    results
        .iter()
        .try_for_each(|(load_point, name, value)| insert.execute(params![load_point, name, value]).map(drop))
}

/// Writes the inventory: numbers of rows and hashes of tables.
fn insert_inventory(transaction: &Transaction, chain: Hash) -> rusqlite::Result<()> {
    let n_intervals: i64 = transaction.query_row("SELECT count(*) FROM interval", [], |row| row.get(0))?;
    let mut insert = transaction.prepare("INSERT INTO inventory VALUES (?, ?, ?)")?;
    insert.execute(params!["interval", n_intervals, chain.as_bytes()])?;
    for table in HASHED_TABLES {
        let (n_rows, hash) = table_hash(transaction, table)?;
        insert.execute(params![table, crate::rows::stored(n_rows), hash.as_bytes()])?;
    }
    Ok(())
}

/// Returns the offered load for people.
fn offered(load: Load) -> String {
    match load {
        Load::Users(users) => format!("{users} users"),
        Load::Rate { per_second, .. } => format!("{per_second} operations per second"),
    }
}

#[cfg(test)]
mod tests {
    use model::{
        AgentPlan, BenchmarkId, ConnectionLifetime as Kept, Flow, PLAN_FORMAT, Phase, Phases, Plan, Rules,
        SutPlan, Testbed, ThinkTime, WebProtocol, WebWorkload,
    };

    use super::*;
    use crate::Run;

    /// The smallest possible plan; the writer reads only its load points.
    fn header() -> Header {
        let zero = Nanos::ZERO;
        let text = String::new;
        let workload = WebWorkload {
            content_seed: 0,
            requests: vec![],
            pages: vec![],
            counts_pages: false,
            think: ThinkTime::None,
            cookies: model::Cookies::None,
            data: Vec::new(),
            protocol: WebProtocol::plain(Kept::PerRequest),
        };
        let plan = Plan {
            format: PLAN_FORMAT,
            benchmark: BenchmarkId { id: text(), version: 1, title: text() },
            seed: 0,
            catalog: workload.catalog(),
            workload: workload.into(),
            time_limit: zero,
            load_points: vec![],
            phases: Phases {
                quiet: zero,
                ramp_up: zero,
                settle: zero,
                steady: zero,
                ramp_down: zero,
                drain: zero,
            },
            rules: Rules::default(),
            modifications: vec![],
            sut: SutPlan::of(""),
            agents: vec![AgentPlan::only(1)],
            arrival_lanes: std::num::NonZeroU16::MIN,
            shape: None,
            source_addresses: vec![],
            search: None,
            refinement: None,
            operations: None,
            limits: Vec::new(),
        };
        let testbed = Testbed::default();
        Header { program: text(), created: WallTime(0), command_line: text(), plan, testbed }
    }

    fn second(index: u32) -> IntervalRecord {
        let start = Nanos::from_secs(u64::from(index));
        IntervalRecord {
            index,
            phase: Phase::Steady,
            start,
            end: start + Nanos::from_secs(1),
            flow: Flow { ok: u64::from(index), ..Flow::default() },
            // A web workload has one spread.
            detail: Some(KindHistograms::new(0, 1, 0)),
            ..IntervalRecord::empty(0, 0)
        }
    }

    fn n_intervals(path: &Path) -> u32 {
        let run = Run::open(path).unwrap();
        assert_eq!(run.verify(), []);
        let mut n = 0;
        let extent = run.records(|record| n += u32::from(matches!(record, crate::Record::Interval(_))));
        assert_eq!(extent.unwrap(), crate::ReadExtent::All);
        n
    }

    /// Records until the disk is full, and returns the number of seconds accepted.
    fn fill(writer: &mut Writer) -> u32 {
        let pages: u32 = writer.database.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        writer.database.pragma_update(None, "max_page_count", pages + 6).unwrap();
        for index in 0.. {
            match writer.interval(&second(index)) {
                Ok(()) => {}
                Err(RunFileError::DiskFull { .. }) => return index,
                Err(other) => panic!("second {index}: {other}"),
            }
        }
        unreachable!("the disk was never full")
    }

    #[test]
    fn a_full_disk_is_named_and_ends_the_recording_with_every_second_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.plim");
        let mut writer = Writer::create(&path, &header()).unwrap();
        let taken = fill(&mut writer);
        assert!(CHECKPOINT_EVERY < Nanos::from_secs(taken.into()), "{taken}");
        assert!(matches!(writer.interval(&second(taken + 1)), Err(RunFileError::Closed { .. })));
        assert_eq!(n_intervals(&path), taken);
        drop(writer.finish(WallTime(0), &RunEnding::Stopped("the disk is full".to_owned())));
        assert_eq!(n_intervals(&path), taken);
    }

    #[test]
    fn a_run_can_finish_after_space_was_freed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.plim");
        let mut writer = Writer::create(&path, &header()).unwrap();
        let taken = fill(&mut writer);
        writer.database.pragma_update(None, "max_page_count", 100_000).unwrap();
        let ending = RunEnding::Stopped("the disk was full".to_owned());
        writer.finish(WallTime(0), &ending).unwrap();
        assert_eq!((n_intervals(&path), Run::open(&path).unwrap().ending()), (taken, &ending));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// Goal: a kill in the middle of a checkpoint. Method: SQLite writes the pages of a checkpoint in their order,
    /// so after a kill the file has the new ones up to some page, and the old ones behind it.
    #[test]
    fn a_checkpoint_cut_after_any_page_loses_nothing_with_its_wal_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.plim");
        let cut = folder.path().join("cut.plim");
        let mut writer = Writer::create(&path, &header()).unwrap();
        (0..15).for_each(|index| writer.interval(&second(index)).unwrap());
        writer.checkpoint = (0, Nanos::MAX);
        (15..27).for_each(|index| writer.interval(&second(index)).unwrap());
        let old = fs::read(&path).unwrap();
        fs::copy(folder.path().join("run.plim-wal"), folder.path().join("cut.plim-wal")).unwrap();
        checkpoint(&writer.database).unwrap();
        let new = fs::read(&path).unwrap();
        assert!(old.len() < new.len());
        let mut n_damaged = 0;
        for n_bytes in (0..=new.len()).step_by(PAGE_BYTES as usize) {
            let rest = old.get(n_bytes..).unwrap_or_default();
            fs::write(&cut, [&new[..n_bytes], rest].concat()).unwrap();
            assert_eq!(n_intervals(&cut), 27, "{n_bytes} bytes");
            let alone = folder.path().join("alone.plim");
            fs::copy(&cut, &alone).unwrap();
            n_damaged += u32::from(check_alone(&alone) != 27);
        }
        // Otherwise this test would have tested nothing.
        assert!(0 < n_damaged);
    }

    /// Returns the number of seconds of a file without its `-wal` file; those must be the first ones.
    fn check_alone(path: &Path) -> u32 {
        let run = Run::open(path).unwrap();
        let mut n = 0;
        let _ = run
            .records(|record| {
                if let crate::Record::Interval(interval) = record {
                    assert_eq!(interval.index, n);
                    n += 1;
                }
            })
            .unwrap();
        n
    }
}
