//! Where everything that is recorded goes while a load point runs.

use analysis::audit::StatedRow;
use analysis::{Analyzer, LoadPointResult};
use drivers::web::HandshakeCounts;
use model::{Ending, Example, IntervalRecord, LoadPoint, Plan, SutUse};
use runfile::{RunFileError, Writer};
use testbed::{RunningSut, SutError};
use units::wall;

use crate::load::Collector;
use crate::run::{Event, FleetError, Observer};
use crate::stop::StopSwitch;

/// Where everything that is recorded goes: run file and analysis.
pub(crate) struct Record {
    writer: Writer,
    analyzer: Analyzer,
    /// What went wrong while records came in; ends the run.
    pub(crate) error: Option<FleetError>,
}

impl Record {
    pub(crate) fn new(writer: Writer, plan: &Plan) -> Record {
        Record { writer, analyzer: Analyzer::new(plan), error: None }
    }

    pub(crate) fn begin(&mut self, point: LoadPoint) -> Result<(), RunFileError> {
        self.analyzer.load_point(point);
        self.writer.load_point(point, wall())
    }

    /// Writes down the TLS handshakes of a load point, ramps and all.
    pub(crate) fn handshakes(
        &mut self,
        point: LoadPoint,
        handshakes: HandshakeCounts,
    ) -> Result<(), RunFileError> {
        let HandshakeCounts { full, resumed } = handshakes;
        let text =
            format!("load point {}: {full} full and {resumed} resumed TLS handshakes", point.index + 1);
        self.writer.event(wall(), &text)
    }

    /// Returns the result of a load point that is over.
    pub(crate) fn result(&mut self, index: u32) -> Option<LoadPointResult> {
        self.analyzer.result(index)
    }

    /// Stores an interval, then analyzes it: results may only come from what is in the file.
    fn interval(&mut self, mut record: IntervalRecord) -> Result<(), RunFileError> {
        self.writer.interval(record.clone())?;
        let detail = record.split_detail();
        self.analyzer.interval(&record);
        self.analyzer.detail(&detail);
        Ok(())
    }

    /// Stores an example, likewise.
    fn example(&mut self, example: Example) -> Result<(), RunFileError> {
        self.writer.example(&example)?;
        self.analyzer.example(example);
        Ok(())
    }

    /// Stores the results and closes the file.
    pub(crate) fn finish(mut self, ending: &Ending) -> Result<(), RunFileError> {
        let analysis = self.analyzer.finish(ending.clone());
        for point in &analysis.load_points {
            let row = StatedRow::of(point);
            self.writer.state(row.load_point, &row.cells);
        }
        self.writer.finish(wall(), ending)
    }
}

/// Adds what the server used to the records of a load point.
pub(crate) struct Watched<'a, O> {
    record: &'a mut Record,
    observer: &'a mut O,
    sut: Option<&'a mut RunningSut>,
    used: Option<SutUse>,
    stop: &'a StopSwitch<'a>,
}

impl<'a, O: Observer> Watched<'a, O> {
    pub(crate) fn new(
        record: &'a mut Record,
        observer: &'a mut O,
        sut: Option<&'a mut RunningSut>,
        stop: &'a StopSwitch<'a>,
    ) -> Watched<'a, O> {
        let used = sut.as_deref().and_then(RunningSut::usage);
        Watched { record, observer, sut, used, stop }
    }

    /// Returns what the server used since the last call.
    fn used_since(&mut self) -> Option<SutUse> {
        let now = self.sut.as_deref()?.usage()?;
        let before = self.used.replace(now)?;
        Some(SutUse {
            cpu: now.cpu.saturating_sub(before.cpu),
            throttled: now.throttled.saturating_sub(before.throttled),
        })
    }

    fn fail(&mut self, error: FleetError) {
        self.stop.fail();
        self.record.error.get_or_insert(error);
    }
}

impl<O: Observer + Send> Collector for Watched<'_, O> {
    fn interval(&mut self, mut record: IntervalRecord) {
        record.sut = self.used_since();
        self.observer.event(Event::Interval(&record));
        if self.record.error.is_none()
            && let Err(error) = self.record.interval(record)
        {
            self.fail(error.into());
        }
        if let Some(Err(died)) = self.sut.as_deref().map(RunningSut::check_alive) {
            self.fail(SutError::from(died).into());
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
}
