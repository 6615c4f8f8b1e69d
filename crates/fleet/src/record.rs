//! Storing and analyzing everything that is recorded while a load point runs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use analysis::audit::StatedRow;
use analysis::{Analyzer, LoadPointResult, LoadPointStatus};
use engine::OpenedSessions;
use model::{
    CheckMoment, ConsistencyCheck, Example, IntervalRecord, LimitInForce, LoadPoint, MonitoredSource,
    NamedCount, Plan, Reading, ResourceRecord, RunEnding, Series,
};
use runfile::{RunFileError, Writer};
use units::{Nanos, wall};

use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::laboratory::Collector;
use crate::reading::MonitorReading;
use crate::seconds::MissingRecord;
use crate::stop::StopSwitch;

/// The name of the check that all records of a load point came.
pub(crate) const RECORDS_COMPLETE: &str = "records complete";

/// The record of a run: its run file and its analysis.
pub(crate) struct RunRecord {
    writer: Writer,
    analyzer: Analyzer,
    n_machines: u32,
    /// The numbers of all series that were read so far.
    series: BTreeMap<Series, u32>,
    /// The error that occurred while records came in; ends the run.
    pub(crate) error: Option<FleetError>,
}

impl RunRecord {
    pub(crate) fn new(writer: Writer, plan: &Plan) -> RunRecord {
        RunRecord {
            writer,
            analyzer: Analyzer::new(plan),
            n_machines: 0,
            series: BTreeMap::new(),
            error: None,
        }
    }

    pub(crate) fn begin(&mut self, point: LoadPoint) -> Result<(), RunFileError> {
        self.analyzer.load_point(point);
        self.writer.load_point(point, wall())
    }

    /// Writes down a limit of the server that is not as planned.
    pub(crate) fn limit_in_force(&mut self, limit: &LimitInForce) -> Result<(), RunFileError> {
        self.writer.limit_in_force(limit)
    }

    /// Writes down something that happened now.
    pub(crate) fn event(&mut self, text: &str) -> Result<(), RunFileError> {
        self.writer.event(wall(), text)
    }

    /// Writes down whether the sessions of all users were opened.
    pub(crate) fn sessions(
        &mut self,
        point: LoadPoint,
        sessions: OpenedSessions,
    ) -> Result<(), RunFileError> {
        let OpenedSessions { n_open, n_failed, first_failure } = sessions;
        // A check is recorded only if a user has no session.
        let Some(failure) = first_failure else { return Ok(()) };
        self.check(ConsistencyCheck {
            load_point: point.index,
            moment: CheckMoment::Before,
            name: "sessions opened".to_owned(),
            holds: false,
            found: format!("{n_failed} of {} users have none: {failure}", n_open + n_failed),
        })
    }

    /// Stores a check of the system under test, then analyzes it.
    pub(crate) fn check(&mut self, check: ConsistencyCheck) -> Result<(), RunFileError> {
        self.writer.check(&check)?;
        self.analyzer.check(check);
        Ok(())
    }

    /// Stores what the family counted at a load point, ramps and all.
    pub(crate) fn counts(&mut self, point: LoadPoint, counts: &FamilyCounts) -> Result<(), RunFileError> {
        for (name, n) in counts.iter() {
            let count = NamedCount { load_point: point.index, name: name.to_owned(), n };
            self.writer.count(&count)?;
            self.analyzer.count(count);
        }
        Ok(())
    }

    /// Returns the result of a load point that is over.
    pub(crate) fn result(&mut self, index: u32) -> Option<LoadPointResult> {
        self.analyzer.result(index)
    }

    /// Returns the status of the load point that runs.
    pub(crate) fn status(&self, index: u32) -> Option<LoadPointStatus> {
        self.analyzer.status(index)
    }

    /// Returns the status of a load point that is over, or that was cut short.
    pub(crate) fn final_status(&mut self, index: u32, is_cut_short: bool) -> Option<LoadPointStatus> {
        self.analyzer.final_status(index, is_cut_short)
    }

    /// Stores an interval, then analyzes it: results may only come from what is in the file.
    fn interval(&mut self, record: &IntervalRecord) -> Result<(), RunFileError> {
        self.writer.interval(record)?;
        self.analyzer.interval(record);
        Ok(())
    }

    /// Stores an example, likewise.
    fn example(&mut self, example: Example) -> Result<(), RunFileError> {
        self.writer.example(&example)?;
        self.analyzer.example(example);
        Ok(())
    }

    /// Writes down a machine that is watched, under the next number.
    pub(crate) fn machine(&mut self, machine: &MonitoredSource) -> Result<(), RunFileError> {
        self.writer.machine(self.n_machines, machine)?;
        self.analyzer.machine(machine.clone());
        self.n_machines += 1;
        Ok(())
    }

    /// Stores the readings of a machine. Of a series that comes twice, the first value counts.
    fn readings(
        &mut self,
        load_point: u32,
        machine: u32,
        at: Nanos,
        readings: Vec<Reading>,
    ) -> Result<(), RunFileError> {
        let mut values = BTreeMap::new();
        for Reading { counter, instance, value } in readings {
            let number = self.number_of(Series { machine, counter, instance })?;
            values.entry(number).or_insert(value);
        }
        let record = ResourceRecord { load_point, machine, at, values: values.into_iter().collect() };
        self.writer.resource(&record)?;
        self.analyzer.resource(&record);
        Ok(())
    }

    /// Returns the number of a series; a new one is written down.
    fn number_of(&mut self, series: Series) -> Result<u32, RunFileError> {
        let next = self.series.len() as u32;
        match self.series.entry(series) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(new) => {
                self.writer.series(next, new.key())?;
                self.analyzer.series(new.key().clone());
                Ok(*new.insert(next))
            }
        }
    }

    /// Removes the file of a run that did not come to its first load point.
    pub(crate) fn discard(self) {
        self.writer.discard();
    }

    /// Stores the results and closes the file.
    pub(crate) fn finish(mut self, ending: &RunEnding) -> Result<(), RunFileError> {
        let analysis = self.analyzer.finish(ending.clone());
        for point in &analysis.load_points {
            let row = StatedRow::of(point);
            self.writer.add_result(row.load_point, &row.cells);
        }
        self.writer.finish(wall(), ending)
    }
}

/// Records what comes of a load point, and tells the observer.
pub(crate) struct PointRecorder<'a, O> {
    load_point: u32,
    /// Machines that could not be read; told once.
    silent: Vec<u32>,
    record: &'a mut RunRecord,
    observer: &'a mut O,
    stop: &'a StopSwitch<'a>,
}

impl<'a, O: Observer> PointRecorder<'a, O> {
    pub(crate) fn new(
        load_point: u32,
        record: &'a mut RunRecord,
        observer: &'a mut O,
        stop: &'a StopSwitch<'a>,
    ) -> PointRecorder<'a, O> {
        PointRecorder { load_point, silent: Vec::new(), record, observer, stop }
    }

    fn fail(&mut self, error: FleetError) {
        self.stop.end();
        self.record.error.get_or_insert(error);
    }
}

impl<O: Observer + Send> Collector for PointRecorder<'_, O> {
    fn interval(&mut self, record: &IntervalRecord) {
        self.observer.event(Event::Interval(record));
        if self.record.error.is_some() {
            return;
        }
        match self.record.interval(record) {
            Ok(()) => {
                if let Some(status) = self.record.status(self.load_point) {
                    if status.broken.is_some() {
                        // As planned, and no failure: the run ends as complete, and the records tell why here.
                        self.stop.end();
                    }
                    self.observer.event(Event::Status(&status));
                }
            }
            Err(error) => self.fail(error.into()),
        }
    }

    fn example(&mut self, example: Example) {
        self.observer.event(Event::Example(&example));
        if self.record.error.is_none()
            && let Err(error) = self.record.example(example)
        {
            self.fail(error.into());
        }
    }

    fn readings(&mut self, machine: u32, at: Nanos, reading: MonitorReading) {
        match reading {
            Ok(_) if self.record.error.is_some() => {}
            Ok(readings) => {
                self.observer.event(Event::Readings { machine, at, readings: &readings });
                if let Err(error) = self.record.readings(self.load_point, machine, at, readings) {
                    self.fail(error.into());
                }
            }
            Err(error) if !self.silent.contains(&machine) => {
                self.silent.push(machine);
                self.observer.event(Event::Warning(format!("at {at} of this load point: {error}")));
            }
            Err(_) => {}
        }
    }

    fn missing(&mut self, records: &[MissingRecord]) {
        let found = missing_text(records);
        self.observer.event(Event::Warning(found.clone()));
        let check = ConsistencyCheck {
            load_point: self.load_point,
            moment: CheckMoment::After,
            name: RECORDS_COMPLETE.to_owned(),
            holds: false,
            found,
        };
        if self.record.error.is_none()
            && let Err(error) = self.record.check(check)
        {
            self.fail(error.into());
        }
    }

    fn failed(&mut self, error: FleetError) {
        self.fail(error);
    }
}

/// Names the first record that is missing, and the number of all.
pub(crate) fn missing_text(records: &[MissingRecord]) -> String {
    let Some(MissingRecord { of, index, start }) = records.first() else { return String::new() };
    let all = match records.len() {
        1 => String::new(),
        n => format!("; {n} records are missing"),
    };
    format!("{of} has sent no record of interval {index}, which began at {start}{all}")
}

#[cfg(test)]
mod tests {
    use model::RecordSource;

    use super::*;

    #[test]
    fn missing_records_are_named_by_agent_and_second() {
        let missing = |index, start| {
            let of = RecordSource { agent: 2, thread: None };
            MissingRecord { of, index, start: Nanos::from_secs(start) }
        };
        let text = missing_text(&[missing(3, 4)]);
        assert_eq!(text, "load agent 2 has sent no record of interval 3, which began at 4.00 s");
        let text = missing_text(&[missing(3, 4), missing(4, 5)]);
        assert_eq!(
            text,
            "load agent 2 has sent no record of interval 3, which began at 4.00 s; 2 records are missing"
        );
    }
}
