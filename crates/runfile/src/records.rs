//! Reading records one by one, because a whole run does not fit into memory.

use model::{DetailRecord, IntervalRecord, ResourceRecord, RunEnding};
use rusqlite::Rows;

use crate::codec::{LastReadings, decode_detail, decode_interval, decode_resource};
use crate::rows::{DetailRow, IntervalRow, ResourceRow};
use crate::{Run, RunFileError};

/// One record of a run file.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one exists at a time, on its way to a visitor")]
pub enum Record {
    /// An interval, without its detail.
    Interval(IntervalRecord),
    /// Detail of one or several intervals of one load point, agent and phase.
    Detail(DetailRecord),
    /// Readings of a machine.
    Resource(ResourceRecord),
}

/// The extent to which a run file could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ReadExtent {
    /// The whole file.
    All,
    /// All before the first row that cannot be read, in a file of a run that was killed: it was truncated there.
    Until(String),
}

impl Run {
    /// Visits all records in the order in which they were recorded: of each load point first the intervals,
    /// then the details; at the end the readings of machines. Holds one record at a time; no (load point, agent,
    /// index) comes twice.
    ///
    /// # Errors
    ///
    /// A row of a finished file cannot be read. What was visited before stays visited.
    pub fn records(&self, mut visit: impl FnMut(Record)) -> Result<ReadExtent, RunFileError> {
        match self.visit_all(&mut visit) {
            Ok(()) => Ok(ReadExtent::All),
            Err(RunFileError::Damaged { place, why, .. }) if self.ending() == &RunEnding::Missing => {
                Ok(ReadExtent::Until(format!("{place}: {why}")))
            }
            Err(why) => Err(why),
        }
    }

    fn visit_all(&self, visit: &mut impl FnMut(Record)) -> Result<(), RunFileError> {
        let failed = |why| self.damaged("interval", why);
        let sql = format!("{} ORDER BY id", DetailRow::SELECT);
        let mut statement = self.database.prepare(&sql).map_err(|why| self.damaged("detail", why))?;
        let mut details = Details { run: self, rows: statement.query([]).map_err(failed)?, next: None };
        details.advance()?;
        let mut load_point = None;
        self.each_interval(|row| {
            if load_point.replace(row.key.load_point).is_some_and(|last| last != row.key.load_point) {
                details.visit_before(Some(row.key.load_point), visit)?;
            }
            visit(Record::Interval(self.interval_of(&row)?));
            Ok(())
        })?;
        details.visit_before(None, visit)?;
        self.visit_resources(visit)
    }

    fn visit_resources(&self, visit: &mut impl FnMut(Record)) -> Result<(), RunFileError> {
        let failed = |why| self.damaged("resource", why);
        let mut statement = self.database.prepare(ResourceRow::SELECT).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut last_readings = LastReadings::default();
        while let Some(row) = rows.next().map_err(failed)? {
            let ResourceRow { load_point, machine, at, record } = ResourceRow::of(row).map_err(failed)?;
            let values = decode_resource(&mut last_readings, load_point, machine, &record)
                .map_err(|why| self.damaged(&format!("counters at {at} of load point {load_point}"), why))?;
            visit(Record::Resource(ResourceRecord { load_point, machine, at, values }));
        }
        Ok(())
    }

    /// Visits the rows of `interval` in the order in which they were recorded.
    ///
    /// Goes by id and not through an index: in a truncated file, the rows may be whole where the index is not.
    pub(crate) fn each_interval(
        &self,
        mut visit: impl FnMut(IntervalRow) -> Result<(), RunFileError>,
    ) -> Result<(), RunFileError> {
        let sql = format!("{} ORDER BY id", IntervalRow::SELECT);
        let mut last = "before the first row".to_owned();
        let mut statement = self.database.prepare(&sql).map_err(|why| self.damaged("interval", why))?;
        let mut rows = statement.query([]).map_err(|why| self.damaged("interval", why))?;
        loop {
            let failed = |why| self.damaged(&format!("interval, {last}"), why);
            let Some(row) = rows.next().map_err(failed)? else { return Ok(()) };
            let row = IntervalRow::of(row).map_err(failed)?;
            last = format!("after second {} of load point {}", row.index, row.key.load_point);
            visit(row)?;
        }
    }

    pub(crate) fn interval_of(&self, row: &IntervalRow) -> Result<IntervalRecord, RunFileError> {
        decode_interval(&row.key, row.index, &row.record).map_err(|why| {
            let place = format!("interval {} of load point {}", row.index, row.key.load_point);
            self.damaged(&place, why)
        })
    }

    pub(crate) fn detail_of(&self, row: &DetailRow) -> Result<DetailRecord, RunFileError> {
        decode_detail(&row.key, &row.record).map_err(|why| {
            let place =
                format!("detail from interval {} of load point {}", row.first_interval, row.key.load_point);
            self.damaged(&place, why)
        })
    }
}

/// A cursor over the details that were not visited yet.
struct Details<'a> {
    run: &'a Run,
    rows: Rows<'a>,
    next: Option<DetailRow>,
}

impl Details<'_> {
    /// Visits details up to the first one of a load point, or all.
    fn visit_before(
        &mut self,
        load_point: Option<u32>,
        visit: &mut impl FnMut(Record),
    ) -> Result<(), RunFileError> {
        while let Some(row) = self.next.take_if(|next| load_point != Some(next.key.load_point)) {
            visit(Record::Detail(self.run.detail_of(&row)?));
            self.advance()?;
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), RunFileError> {
        let failed = |why| self.run.damaged("detail", why);
        self.next = self.rows.next().map_err(failed)?.map(DetailRow::of).transpose().map_err(failed)?;
        Ok(())
    }
}
