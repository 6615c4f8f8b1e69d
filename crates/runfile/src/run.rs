//! Reading a run file.

use std::path::{Path, PathBuf};

use blake3::Hash;
use languages::without_credentials;
use model::{
    ConsistencyCheck, Example, FactSection, MonitoredSource, NamedCount, PLAN_FORMAT, Plan, RunEnding,
    Series, Testbed,
};
use rusqlite::Connection;
use units::WallTime;

use crate::codec::wire::check_plan;
use crate::rows::{self, HeaderRow};
use crate::{Header, RunFileError, image};

/// A run file opened for reading: of a finished run, of a killed one, or of one in progress.
///
/// Never changes the file or its directory. A run in progress is read as it was when it was opened.
#[derive(Debug)]
pub struct Run {
    pub(crate) path: PathBuf,
    pub(crate) database: Connection,
    pub(crate) header_row: HeaderRow,
    /// The hash stored in the header's row.
    pub(crate) header_hash: Hash,
    header: Header,
    ending: RunEnding,
    ended: Option<WallTime>,
}

/// An event of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEvent {
    /// The time of the event.
    pub at: WallTime,
    /// A sentence.
    pub text: String,
}

impl Run {
    /// Opens a run file.
    ///
    /// Works on finished files and on those of killed runs, with or without their `-wal` file, also in a
    /// read-only directory and on a full disk.
    ///
    /// # Errors
    ///
    /// The file is not there, is not a run file, has another format, has a plan of another format, or is damaged
    /// where the header is.
    pub fn open(path: &Path) -> Result<Run, RunFileError> {
        let database = image::open(path)?;
        let damaged = |place: &str, why: String| RunFileError::Damaged {
            path: path.to_owned(),
            place: place.to_owned(),
            why,
        };
        let in_table = |table: &'static str| move |why: rusqlite::Error| damaged(table, why.to_string());
        let (header_row, header_hash) = HeaderRow::read(&database).map_err(in_table("header"))?;
        if let Some(found) = header_row.plan_format().filter(|found| *found != PLAN_FORMAT) {
            return Err(RunFileError::OtherPlan { path: path.to_owned(), found, known: PLAN_FORMAT });
        }
        let mut plan = header_row.plan().map_err(|why| damaged("plan", why.to_string()))?;
        check_plan(&plan).map_err(|why| damaged("plan", why.to_string()))?;
        if plan.search.is_some() || plan.refinement.is_some() {
            let begun = rows::read_load_points(&database).map_err(in_table("load_point"))?;
            begun.into_iter().for_each(|point| plan.add_load_point(point));
        }
        let limits = rows::read_limits(&database).map_err(in_table("limit_in_force"))?;
        limits.iter().for_each(|limit| plan.sut.enforce(limit));
        // Plans of today have none; earlier programs stored them.
        plan.leave_out_credentials();
        let mut testbed = rows::read_testbed(&database).map_err(in_table("testbed"))?;
        testbed.sections.iter_mut().for_each(FactSection::leave_out_credentials);
        let (ending, ended) = rows::read_ending(&database).map_err(in_table("ending"))?;
        let header = Header {
            program: header_row.program.clone(),
            created: WallTime(header_row.created_unix_ms),
            command_line: without_credentials(&header_row.command_line),
            plan,
            testbed,
        };
        Ok(Run { path: path.to_owned(), database, header_row, header_hash, header, ending, ended })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the header, with all facts found since the run began.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the plan, with the load points that the run added and the limits that were in force.
    pub fn plan(&self) -> &Plan {
        &self.header.plan
    }

    /// Returns the testbed as found.
    pub fn testbed(&self) -> &Testbed {
        &self.header.testbed
    }

    /// Returns the ending of the run.
    pub fn ending(&self) -> &RunEnding {
        &self.ending
    }

    /// Returns the time at which the run ended; `None` if its end is missing.
    pub fn ended(&self) -> Option<WallTime> {
        self.ended
    }

    /// Returns the first operations that ended in certain ways, in the order in which they were recorded.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn examples(&self) -> Result<Vec<Example>, RunFileError> {
        rows::read_examples(&self.database).map_err(|why| self.damaged("example", why))
    }

    /// Returns the checks of the system under test, in the order in which they were made.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn checks(&self) -> Result<Vec<ConsistencyCheck>, RunFileError> {
        rows::read_checks(&self.database).map_err(|why| self.damaged("consistency_check", why))
    }

    /// Returns the named counts of the load points.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn counts(&self) -> Result<Vec<NamedCount>, RunFileError> {
        rows::read_counts(&self.database).map_err(|why| self.damaged("named_count", why))
    }

    /// Returns the machines that were monitored; a machine's number is its index.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn machines(&self) -> Result<Vec<MonitoredSource>, RunFileError> {
        rows::read_machines(&self.database).map_err(|why| self.damaged("machine", why))
    }

    /// Returns the series of values; a series' number is its index.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn series(&self) -> Result<Vec<Series>, RunFileError> {
        rows::read_series(&self.database).map_err(|why| self.damaged("series", why))
    }

    /// Returns the events, in order.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn events(&self) -> Result<Vec<RunEvent>, RunFileError> {
        let sql = "SELECT at_unix_ms, text FROM event ORDER BY id";
        rows::all(&self.database, sql, [], |row| {
            Ok(RunEvent { at: WallTime(row.get(0)?), text: row.get(1)? })
        })
        .map_err(|why| self.damaged("event", why))
    }

    /// Returns the results stated when the run ended: load point, name, value.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn results(&self) -> Result<Vec<(u32, String, f64)>, RunFileError> {
        let sql = "SELECT load_point, name, value FROM result ORDER BY id";
        rows::all(&self.database, sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .map_err(|why| self.damaged("result", why))
    }

    /// Returns the load points that began, by index, with their start times.
    ///
    /// # Errors
    ///
    /// The table is damaged.
    pub fn load_points(&self) -> Result<Vec<(u32, WallTime)>, RunFileError> {
        let sql = "SELECT load_point, started_unix_ms FROM load_point ORDER BY load_point";
        rows::all(&self.database, sql, [], |row| Ok((row.get(0)?, WallTime(row.get(1)?))))
            .map_err(|why| self.damaged("load_point", why))
    }

    pub(crate) fn damaged(&self, place: &str, why: impl ToString) -> RunFileError {
        RunFileError::Damaged { path: self.path.clone(), place: place.to_owned(), why: why.to_string() }
    }
}
