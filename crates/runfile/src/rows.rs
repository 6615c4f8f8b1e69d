//! Rows of the tables as values, in both directions.

use blake3::Hash;
use languages::NamedValues;
use model::{
    CheckMoment, ConsistencyCheck, Counter, Example, Fact, FactSection, FactState, IntervalRecord,
    LimitInForce, LoadPoint, MachineRole, MonitoredSource, NamedCount, Outcome, Phase, Plan, ResourceRecord,
    RunEnding, Series, ServerLimit, Testbed,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use units::{Nanos, WallTime};

use crate::Header;
use crate::chain::Digest;

/// The key columns of a record, which its blob does not repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordKey {
    pub(crate) load_point: u32,
    pub(crate) agent: u32,
    pub(crate) phase: Phase,
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
}

impl RecordKey {
    pub(crate) fn of(record: &IntervalRecord) -> RecordKey {
        RecordKey {
            load_point: record.load_point,
            agent: record.agent,
            phase: record.phase,
            start: record.start,
            end: record.end,
        }
    }

    /// Returns the hash of an interval from that of the one before, its key and its record.
    pub(crate) fn link(&self, previous: &Hash, index: u32, record: &[u8]) -> Hash {
        let mut digest = Digest::new("plimsoll interval");
        digest.field(previous.as_bytes());
        for number in [self.load_point, self.agent, index, self.phase as u32] {
            digest.number(number.into());
        }
        digest.number(self.start.0);
        digest.number(self.end.0);
        digest.field(record);
        digest.finish()
    }
}

/// Returns a number as SQLite keeps it, at most 2⁶³ − 1.
pub(crate) fn stored(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A row of `header`. The columns after `plan_json` repeat parts of the plan for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderRow {
    pub(crate) program: String,
    pub(crate) created_unix_ms: i64,
    pub(crate) command_line: String,
    pub(crate) plan_json: String,
    pub(crate) benchmark: String,
    pub(crate) benchmark_version: u32,
    pub(crate) n_modifications: i64,
}

impl HeaderRow {
    pub(crate) fn of(header: &Header) -> HeaderRow {
        // Keys are strings and numbers are finite, so JSON can hold all of it.
        let plan_json = serde_json::to_string(&header.plan).expect("a plan has a JSON form");
        HeaderRow {
            program: header.program.clone(),
            created_unix_ms: header.created.0,
            command_line: header.command_line.clone(),
            plan_json,
            benchmark: header.plan.benchmark.id.clone(),
            benchmark_version: header.plan.benchmark.version,
            n_modifications: stored(header.plan.modifications.len()),
        }
    }

    /// Returns the hash of the header, from which the chain begins.
    pub(crate) fn hash(&self) -> Hash {
        let mut digest = Digest::new("plimsoll header");
        digest.field(self.program.as_bytes());
        digest.field(&self.created_unix_ms.to_le_bytes());
        digest.field(self.command_line.as_bytes());
        digest.field(self.plan_json.as_bytes());
        digest.finish()
    }

    /// Writes the row and returns its hash.
    pub(crate) fn insert(&self, database: &Connection) -> rusqlite::Result<Hash> {
        let hash = self.hash();
        database.execute(
            "INSERT INTO header VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                self.program,
                self.created_unix_ms,
                self.command_line,
                self.benchmark,
                self.benchmark_version,
                self.n_modifications,
                self.plan_json,
                hash.as_bytes()
            ],
        )?;
        Ok(hash)
    }

    /// Reads the row with its hash.
    pub(crate) fn read(database: &Connection) -> rusqlite::Result<(HeaderRow, Hash)> {
        database.query_row("SELECT * FROM header", [], |row| {
            let header = HeaderRow {
                program: row.get("program")?,
                created_unix_ms: row.get("created_unix_ms")?,
                command_line: row.get("command_line")?,
                plan_json: row.get("plan_json")?,
                benchmark: row.get("benchmark")?,
                benchmark_version: row.get("benchmark_version")?,
                n_modifications: row.get("n_modifications")?,
            };
            Ok((header, hash_of(row)?))
        })
    }

    /// Returns the format of the plan in the JSON text, whatever else is in it.
    pub(crate) fn plan_format(&self) -> Option<u32> {
        let plan: serde_json::Value = serde_json::from_str(&self.plan_json).ok()?;
        plan.get("format")?.as_u64()?.try_into().ok()
    }

    /// Returns the plan in the JSON text.
    pub(crate) fn plan(&self) -> Result<Plan, serde_json::Error> {
        serde_json::from_str(&self.plan_json)
    }
}

/// A row of `interval`. The columns in `figures` repeat parts of the record for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IntervalRow {
    pub(crate) key: RecordKey,
    pub(crate) index: u32,
    pub(crate) figures: [i64; FIGURES.len()],
    pub(crate) record: Vec<u8>,
    pub(crate) hash: Hash,
}

/// The names of [`IntervalRow`]'s figures.
pub(crate) const FIGURES: [&str; 8] = [
    "started",
    "ok",
    "failed",
    "timed_out",
    "in_flight_at_end",
    "transferred_bytes",
    "response_sum_ns",
    "response_max_ns",
];

/// Returns the figures of a record, in the order of [`FIGURES`]; `transferred` are the measures of which the catalog
/// says so.
pub(crate) fn figures(record: &IntervalRecord, transferred: &[usize]) -> [i64; FIGURES.len()] {
    let flow = &record.flow;
    let sums =
        record.kinds.iter().flat_map(|kind| transferred.iter().map(|measure| kind.measure(*measure).sum));
    let transferred_bytes = sums.fold(0u128, u128::saturating_add);
    [
        stored(flow.started),
        stored(flow.ok),
        stored(flow.failed),
        stored(flow.timed_out),
        stored(flow.in_flight_at_end),
        stored(transferred_bytes),
        stored(record.response.sum()),
        stored(record.response.max().unwrap_or(Nanos::ZERO).0),
    ]
}

impl IntervalRow {
    pub(crate) const SELECT: &str = "SELECT * FROM interval";

    pub(crate) fn insert(&self, database: &Connection) -> rusqlite::Result<()> {
        let [started, ok, failed, timed_out, in_flight, transferred, response_sum, response_max] =
            self.figures;
        let RecordKey { load_point, agent, phase, start, end } = self.key;
        let sql = "INSERT INTO interval VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let index = self.index;
        let record = &self.record;
        let hash = self.hash.as_bytes();
        let start = stored(start.0);
        let end = stored(end.0);
        let values = params![
            load_point,
            agent,
            index,
            phase.name(),
            start,
            end,
            started,
            ok,
            failed,
            timed_out,
            in_flight,
            transferred,
            response_sum,
            response_max,
            record,
            hash
        ];
        database.execute(sql, values).map(drop)
    }

    pub(crate) fn of(row: &Row) -> rusqlite::Result<IntervalRow> {
        let mut figures = [0; FIGURES.len()];
        for (figure, name) in figures.iter_mut().zip(FIGURES) {
            *figure = row.get(name)?;
        }
        Ok(IntervalRow {
            key: key_of(row)?,
            index: row.get("interval_index")?,
            figures,
            record: row.get("record")?,
            hash: hash_of(row)?,
        })
    }
}

/// A row of `detail`: one interval, or a batch of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetailRow {
    pub(crate) key: RecordKey,
    pub(crate) first_interval: u32,
    pub(crate) last_interval: u32,
    pub(crate) record: Vec<u8>,
}

impl DetailRow {
    pub(crate) const SELECT: &str = "SELECT * FROM detail";

    /// Writes the row under an id, or a new one, and returns the id.
    pub(crate) fn insert(&self, id: Option<i64>, database: &Connection) -> rusqlite::Result<i64> {
        let RecordKey { load_point, agent, phase, start, end } = self.key;
        let first = self.first_interval;
        let last = self.last_interval;
        let record = &self.record;
        let start = stored(start.0);
        let end = stored(end.0);
        let values = params![id, load_point, agent, first, last, phase.name(), start, end, record];
        database.execute("INSERT INTO detail VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)?;
        Ok(database.last_insert_rowid())
    }

    pub(crate) fn of(row: &Row) -> rusqlite::Result<DetailRow> {
        Ok(DetailRow {
            key: key_of(row)?,
            first_interval: row.get("first_interval")?,
            last_interval: row.get("last_interval")?,
            record: row.get("record")?,
        })
    }
}

fn key_of(row: &Row) -> rusqlite::Result<RecordKey> {
    let name: String = row.get("phase")?;
    let phase = Phase::ALL.into_iter().find(|phase| phase.name() == name);
    Ok(RecordKey {
        load_point: row.get("load_point")?,
        agent: row.get("agent")?,
        phase: phase.ok_or_else(|| unknown("phase", &name))?,
        start: nanos_of(row, "start_ns")?,
        end: nanos_of(row, "end_ns")?,
    })
}

fn nanos_of(row: &Row, column: &str) -> rusqlite::Result<Nanos> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map(Nanos).map_err(|_| unknown(column, &number.to_string()))
}

fn hash_of(row: &Row) -> rusqlite::Result<Hash> {
    Ok(Hash::from_bytes(row.get("blake3")?))
}

/// Makes the error for a cell with an unknown text.
fn unknown(column: &str, found: &str) -> rusqlite::Error {
    let why = format!("column `{column}` holds `{found}`");
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, why.into())
}

/// Reads all rows of a query.
pub(crate) fn all<T>(
    database: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    database.prepare(sql)?.query_map(values, |row| read(row))?.collect()
}

pub(crate) fn insert_facts(database: &Connection, section: &FactSection) -> rusqlite::Result<()> {
    for fact in &section.facts {
        let values = params![section.title, fact.name, fact.value, fact.source, fact.state.name()];
        database.execute("INSERT INTO testbed VALUES (NULL, ?, ?, ?, ?, ?)", values)?;
    }
    Ok(())
}

/// Reads the testbed; facts of sections with the same title are merged.
pub(crate) fn read_testbed(database: &Connection) -> rusqlite::Result<Testbed> {
    let facts = all(database, "SELECT * FROM testbed ORDER BY id", [], |row| {
        let section: String = row.get("section")?;
        Ok((section, read_fact(row)?))
    })?;
    let mut testbed = Testbed::default();
    for (title, fact) in facts {
        match testbed.sections.iter_mut().find(|section| section.title == title) {
            Some(section) => section.facts.push(fact),
            None => testbed.sections.push(FactSection { title, facts: vec![fact] }),
        }
    }
    Ok(testbed)
}

fn read_fact(row: &Row) -> rusqlite::Result<Fact> {
    let name: String = row.get("state")?;
    let state = FactState::named(&name).ok_or_else(|| unknown("state", &name))?;
    Ok(Fact { name: row.get("name")?, value: row.get("value")?, source: row.get("source")?, state })
}

pub(crate) fn insert_limit(database: &Connection, limit: &LimitInForce) -> rusqlite::Result<()> {
    let LimitInForce { limit, value, reason } = limit;
    let values = params![limit.name(), value, reason];
    database.execute("INSERT INTO limit_in_force VALUES (NULL, ?, ?, ?)", values).map(drop)
}

pub(crate) fn read_limits(database: &Connection) -> rusqlite::Result<Vec<LimitInForce>> {
    all(database, "SELECT name, value, reason FROM limit_in_force ORDER BY id", [], |row| {
        let name: String = row.get("name")?;
        let limit = ServerLimit::named(&name).ok_or_else(|| unknown("name", &name))?;
        Ok(LimitInForce { limit, value: row.get("value")?, reason: row.get("reason")? })
    })
}

pub(crate) fn insert_example(database: &Connection, example: &Example) -> rusqlite::Result<()> {
    let Example { load_point, at, kind, outcome, text } = example;
    let values = params![load_point, stored(at.0), kind, outcome.name(), text];
    database.execute("INSERT INTO example VALUES (NULL, ?, ?, ?, ?, ?)", values).map(drop)
}

pub(crate) fn insert_check(database: &Connection, check: &ConsistencyCheck) -> rusqlite::Result<()> {
    let ConsistencyCheck { load_point, moment, name, holds, found } = check;
    let values = params![load_point, moment.name(), name, holds, found];
    database.execute("INSERT INTO consistency_check VALUES (NULL, ?, ?, ?, ?, ?)", values).map(drop)
}

pub(crate) fn read_checks(database: &Connection) -> rusqlite::Result<Vec<ConsistencyCheck>> {
    all(database, "SELECT * FROM consistency_check ORDER BY id", [], |row| {
        let name: String = row.get("moment")?;
        let moment = CheckMoment::ALL.into_iter().find(|moment| moment.name() == name);
        Ok(ConsistencyCheck {
            load_point: row.get("load_point")?,
            moment: moment.ok_or_else(|| unknown("moment", &name))?,
            name: row.get("name")?,
            holds: row.get("holds")?,
            found: row.get("found")?,
        })
    })
}

pub(crate) fn insert_count(database: &Connection, count: &NamedCount) -> rusqlite::Result<()> {
    let values = params![count.load_point, count.name, stored(count.n)];
    database.execute("INSERT INTO named_count VALUES (NULL, ?, ?, ?)", values).map(drop)
}

pub(crate) fn read_counts(database: &Connection) -> rusqlite::Result<Vec<NamedCount>> {
    all(database, "SELECT * FROM named_count ORDER BY id", [], |row| {
        Ok(NamedCount {
            load_point: row.get("load_point")?,
            name: row.get("name")?,
            n: nanos_of(row, "n")?.0,
        })
    })
}

/// Reads the load points that began, in the order of their indexes: those that a run added to its plan are among them.
pub(crate) fn read_load_points(database: &Connection) -> rusqlite::Result<Vec<LoadPoint>> {
    let sql = "SELECT load_point, load FROM load_point ORDER BY load_point";
    all(database, sql, [], |row| {
        let load: String = row.get(1)?;
        let load = serde_json::from_str(&load)
            .map_err(|why| rusqlite::Error::FromSqlConversionFailure(1, Type::Text, why.into()))?;
        Ok(LoadPoint { index: row.get(0)?, load })
    })
}

pub(crate) fn read_examples(database: &Connection) -> rusqlite::Result<Vec<Example>> {
    all(database, "SELECT * FROM example ORDER BY id", [], |row| {
        let name: String = row.get("outcome")?;
        let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == name);
        Ok(Example {
            load_point: row.get("load_point")?,
            at: nanos_of(row, "at_ns")?,
            kind: row.get("kind")?,
            outcome: outcome.ok_or_else(|| unknown("outcome", &name))?,
            text: row.get("text")?,
        })
    })
}

pub(crate) fn insert_machine(
    database: &Connection,
    number: u32,
    machine: &MonitoredSource,
) -> rusqlite::Result<()> {
    let values = params![number, machine.name, machine.role.name()];
    database.execute("INSERT INTO machine VALUES (?, ?, ?)", values).map(drop)
}

/// Reads the machines that were monitored; their numbers are their indexes.
pub(crate) fn read_machines(database: &Connection) -> rusqlite::Result<Vec<MonitoredSource>> {
    all(database, "SELECT name, role FROM machine ORDER BY machine", [], |row| {
        let name: String = row.get("role")?;
        let role = MachineRole::ALL.into_iter().find(|role| role.name() == name);
        Ok(MonitoredSource { name: row.get("name")?, role: role.ok_or_else(|| unknown("role", &name))? })
    })
}

pub(crate) fn insert_series(database: &Connection, number: u32, series: &Series) -> rusqlite::Result<()> {
    let Series { machine, counter, instance } = series;
    let kind = counter.kind().name();
    let unit = counter.unit().name();
    let values = params![number, machine, counter.name(), instance, kind, unit];
    database.execute("INSERT INTO series VALUES (?, ?, ?, ?, ?, ?)", values).map(drop)
}

/// Reads the series; their numbers are their indexes.
pub(crate) fn read_series(database: &Connection) -> rusqlite::Result<Vec<Series>> {
    all(database, "SELECT machine, counter, instance FROM series ORDER BY series", [], |row| {
        let name: String = row.get("counter")?;
        Ok(Series {
            machine: row.get("machine")?,
            counter: Counter::from_name(&name).ok_or_else(|| unknown("counter", &name))?,
            instance: row.get("instance")?,
        })
    })
}

pub(crate) fn insert_resource(
    database: &Connection,
    record: &ResourceRecord,
    bytes: &[u8],
) -> rusqlite::Result<()> {
    let values = params![record.load_point, record.machine, stored(record.at.0), bytes];
    database.execute("INSERT INTO resource VALUES (NULL, ?, ?, ?, ?)", values).map(drop)
}

/// A row of `resource`, its values not decoded yet.
pub(crate) struct ResourceRow {
    pub(crate) load_point: u32,
    pub(crate) machine: u32,
    pub(crate) at: Nanos,
    pub(crate) record: Vec<u8>,
}

impl ResourceRow {
    pub(crate) const SELECT: &str = "SELECT * FROM resource ORDER BY id";

    pub(crate) fn of(row: &Row) -> rusqlite::Result<ResourceRow> {
        Ok(ResourceRow {
            load_point: row.get("load_point")?,
            machine: row.get("machine")?,
            at: nanos_of(row, "at_ns")?,
            record: row.get("record")?,
        })
    }
}

pub(crate) fn insert_ending(database: &Connection, at: WallTime, ending: &RunEnding) -> rusqlite::Result<()> {
    let (state, reason) = match ending {
        RunEnding::Complete => ("complete", ""),
        RunEnding::Stopped(reason) => ("stopped", reason.as_str()),
        RunEnding::Missing => return Ok(()),
    };
    database.execute("INSERT INTO ending VALUES (1, ?, ?, ?)", params![state, reason, at.0]).map(drop)
}

/// Reads the ending of the run and its time.
pub(crate) fn read_ending(database: &Connection) -> rusqlite::Result<(RunEnding, Option<WallTime>)> {
    let found = database
        .query_row("SELECT state, reason, at_unix_ms FROM ending", [], |row| {
            let (state, reason, at): (String, String, i64) = row.try_into()?;
            let ending = match state.as_str() {
                "complete" => RunEnding::Complete,
                "stopped" => RunEnding::Stopped(reason),
                _ => return Err(unknown("state", &state)),
            };
            Ok((ending, Some(WallTime(at))))
        })
        .optional()?;
    Ok(found.unwrap_or((RunEnding::Missing, None)))
}
