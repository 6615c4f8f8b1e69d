//! A laboratory that writes down what it is asked for: nothing is started, and load is simulated.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use engine::{OpenedSessions, StopRequest as _};
use model::{
    CheckMoment, ConsistencyCheck, Family, LimitInForce, LoadPoint, Machine, MachineRole, Plan, Testbed,
};
use runfile::{Header, RunFileError, Writer};
use testbed::{SutDied, SutError};
use testkit::{Law, SimServer, Simulation};
use units::Nanos;

use crate::counts::Counts;
use crate::disclosed::Disclosed;
use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::laboratory::{Collector, Laboratory};
use crate::order::StepOrder;
use crate::request::RunRequest;
use crate::stop::StopSwitch;
use crate::verify::VerifyError;

/// Lines of a transcript, in the order in which things happened.
#[derive(Debug, Clone, Default)]
pub(crate) struct Transcript(Arc<Mutex<Vec<String>>>);

impl Transcript {
    pub(crate) fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    /// Returns the lines, each indented as a raw text in a test is.
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

impl Observer for Transcript {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Turn(index) => self.add(format!("turn of run {index}")),
            Event::LoadPoint(point) => {
                self.add(format!("  load point {} at {}", point.index, point.load.level()));
            }
            Event::Ready { server, .. } => self.add(format!("  ready: {server}")),
            Event::Warning(text) => self.add(format!("  warning: {text}")),
            Event::Status(status) if status.is_over => self.add("  judged"),
            Event::Preparing(_)
            | Event::Files { .. }
            | Event::Rows { .. }
            | Event::Interval(_)
            | Event::Status(_)
            | Event::Readings { .. }
            | Event::Example(_) => {}
        }
    }
}

/// A trouble at a place in a run: a failure, or a request of the user. Load points by index, intervals by count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The server serves something else.
    WrongObjects,
    /// The server does not come up again before this load point.
    ResetFails(u32),
    /// The server dies in this load point, after this interval.
    Dies(u32, usize),
    /// The disk has room for the header and so many bytes more.
    DiskFull(u64),
    /// The server must be alone on the machine.
    Alone,
    /// A condition on the server does not hold in this load point.
    Inconsistent(u32, CheckMoment),
    /// The user asks for the end in this load point, after this interval.
    Interrupt(u32, usize),
}

/// A laboratory of one run.
pub(crate) struct FakeLab {
    plan: Plan,
    trouble: Option<Trouble>,
    order: &'static StepOrder,
    transcript: Transcript,
    /// The switch by which the user ends everything.
    asked: &'static AtomicBool,
    prepared: Option<LoadPoint>,
    /// Number of times that the server was put into its first state.
    n_resets: u32,
    /// The files of users.
    pub(crate) disk_use: Option<DiskUse>,
}

impl FakeLab {
    pub(crate) fn start(
        request: &RunRequest<'_>,
        trouble: Option<Trouble>,
        order: &'static StepOrder,
        transcript: &Transcript,
        asked: &'static AtomicBool,
    ) -> FakeLab {
        transcript.add("  start");
        FakeLab {
            plan: request.plan.clone(),
            trouble,
            order,
            transcript: transcript.clone(),
            asked,
            prepared: None,
            n_resets: 0,
            disk_use: None,
        }
    }

    fn add(&self, line: &str) {
        self.transcript.add(format!("  {line}"));
    }
}

/// The server goes, however the run ended.
impl Drop for FakeLab {
    fn drop(&mut self) {
        self.add("stop");
    }
}

impl Laboratory for FakeLab {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn limits_in_force(&self) -> &[LimitInForce] {
        &[]
    }

    fn described(&self) -> (String, String) {
        ("http://fake/".to_owned(), "a fake".to_owned())
    }

    fn disk_use(&self) -> Option<&DiskUse> {
        self.disk_use.as_ref()
    }

    fn order(&self) -> &'static StepOrder {
        self.order
    }

    fn quiet(&mut self, _: &AtomicBool) {
        self.add("quiet");
    }

    fn check_golden(&mut self, _: &mut dyn Observer, _: &AtomicBool) -> Result<(), FleetError> {
        self.add("check golden");
        Ok(())
    }

    fn warm(&mut self, _: &mut dyn Observer, _: &AtomicBool) -> Result<(), FleetError> {
        self.add("warm");
        Ok(())
    }

    fn check(
        &mut self,
        point: LoadPoint,
        moment: CheckMoment,
        _: &Counts,
        _: &AtomicBool,
    ) -> Result<Vec<ConsistencyCheck>, FleetError> {
        self.add(&format!("check {} {}", moment.name(), point.index));
        let name = format!("condition {}", moment.name());
        let holds = self.trouble != Some(Trouble::Inconsistent(point.index, moment));
        Ok(vec![ConsistencyCheck {
            load_point: point.index,
            moment,
            name,
            holds,
            found: "by a fake".to_owned(),
        }])
    }

    fn probe(&mut self, stop: &AtomicBool) -> Result<(), FleetError> {
        self.add("probe");
        if stop.load(Ordering::Relaxed) {
            return Err(VerifyError::Interrupted.into());
        }
        match self.trouble {
            Some(Trouble::WrongObjects) => {
                Err(VerifyError::Wrong { family: Family::Web, n_wrong: 1, n_objects: 1, named: Vec::new() }
                    .into())
            }
            _ => Ok(()),
        }
    }

    fn watch(&mut self, _: &RunRequest<'_>, _: &mut dyn Observer) -> Result<Vec<Machine>, FleetError> {
        self.add("watch");
        Ok(vec![Machine { name: "this machine".to_owned(), role: MachineRole::Both }])
    }

    fn disclose(&self, request: &RunRequest<'_>) -> Disclosed {
        Disclosed { command_line: request.command_line.clone(), testbed: Testbed::default() }
    }

    fn create(&self, path: &Path, header: &Header) -> Result<Writer, RunFileError> {
        let mut writer = Writer::create(path, header)?;
        if let Some(Trouble::DiskFull(room)) = self.trouble {
            let header = std::fs::metadata(path).expect("a run file was made").len();
            writer.limit_bytes(header + room)?;
        }
        Ok(writer)
    }

    fn remarks(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn reset(&mut self, _: &mut dyn Observer, _: &AtomicBool) -> Result<(), FleetError> {
        self.n_resets += 1;
        self.add("reset");
        if self.trouble == Some(Trouble::ResetFails(self.n_resets)) {
            return Err(died().into());
        }
        Ok(())
    }

    fn rest(&mut self) -> bool {
        let is_alone = self.trouble == Some(Trouble::Alone);
        if is_alone {
            self.add("rest");
        }
        is_alone
    }

    fn prepare(&mut self, point: LoadPoint, _: &AtomicBool) -> Result<OpenedSessions, FleetError> {
        self.add(&format!("prepare {}", point.index));
        self.prepared = Some(point);
        Ok(OpenedSessions::default())
    }

    fn go(&mut self) {
        self.add("go");
    }

    fn collect(
        &mut self,
        collector: &mut (dyn Collector + Send),
        stop: &StopSwitch<'_>,
    ) -> Result<Counts, FleetError> {
        let point = self.prepared.take().expect("prepared");
        let plan = Plan { load_points: vec![point], ..self.plan.clone() };
        let server = SimServer::new(Law::Fixed(Nanos::from_millis(10)), Some(4));
        let intervals = Simulation::new(plan, server).record().intervals;
        let mut n = 0;
        for record in intervals {
            if stop.is_requested() {
                self.add(&format!("collect: asked to stop after {n} intervals"));
                return Ok(Counts::default());
            }
            collector.interval(&record);
            n += 1;
            match self.trouble {
                Some(Trouble::Dies(index, after)) if (index, after) == (point.index, n) => {
                    collector.failed(died().into());
                }
                Some(Trouble::Interrupt(index, after)) if (index, after) == (point.index, n) => {
                    self.asked.store(true, Ordering::Relaxed);
                }
                _ => {}
            }
        }
        self.add(&format!("collect: {n} intervals"));
        Ok(Counts::default())
    }

    fn stop(self) {}
}

fn died() -> SutError {
    SutDied { title: "a fake".to_owned(), status: "signal 9".to_owned(), log: String::new() }.into()
}
