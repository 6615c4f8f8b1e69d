//! A laboratory that writes down what it is asked for: nothing is started, and load is simulated.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use engine::{OpenedSessions, StopRequest as _};
use model::{
    CheckMoment, ConsistencyCheck, Example, Family, IntervalRecord, LimitInForce, LoadPoint, MachineRole,
    MonitoredSource, Plan, Testbed,
};
use runfile::{Header, RunFileError, Writer};
use testbed::{SutDied, SutError};
use units::{Nanos, RealClock};

use crate::collect::{StartedLoadPoint, WatchedServer, collect_load_point};
use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::laboratory::{Collector, Laboratory};
use crate::load::LoadSide as _;
use crate::order::StepOrder;
use crate::reading::MonitorReading;
use crate::request::RunRequest;
use crate::seconds::MissingRecord;
use crate::simulated_load::{RecordFault, SimulatedLoad};
use crate::stop::StopSwitch;
use crate::testbed_disclosure::TestbedDisclosure;
use crate::thread::Message;
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
            Event::Adding(added) => {
                let load = added.load.level();
                let below = added.below.level();
                self.add(format!("  adding {load} between {below} and {}", added.saturated.level()));
            }
            Event::LoadPoint(point) => {
                self.add(format!("  load point {} at {}", point.index, point.load.level()));
            }
            Event::Ready { server, .. } => self.add(format!("  ready: {server}")),
            Event::Warning(text) => self.add(format!("  warning: {text}")),
            Event::Status(status) if status.is_over => self.add("  judged"),
            Event::Preparing(_)
            | Event::Probing(_)
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
#[derive(Debug, Clone, Copy)]
pub(crate) enum InjectedFault {
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
    /// The load side sends wrong records of this load point.
    WrongRecords(u32, RecordFault),
}

/// A laboratory of one run. Nothing is started; the records of its load side are collected as any are.
pub(crate) struct FakeLab {
    plan: Plan,
    trouble: Option<InjectedFault>,
    order: &'static StepOrder,
    transcript: Transcript,
    /// The switch by which the user ends everything.
    asked: &'static AtomicBool,
    load: SimulatedLoad,
    /// The index of the load point that was prepared, and the channel for its records.
    prepared: Option<(u32, Sender<Message>, Receiver<Message>)>,
    /// Number of times that the server was put into its first state.
    n_resets: u32,
    /// The files of users.
    pub(crate) disk_use: Option<DiskUse>,
}

impl FakeLab {
    pub(crate) fn start(
        request: &RunRequest<'_>,
        trouble: Option<InjectedFault>,
        order: &'static StepOrder,
        transcript: &Transcript,
        asked: &'static AtomicBool,
    ) -> FakeLab {
        transcript.add("  start");
        let fault = match trouble {
            Some(InjectedFault::WrongRecords(load_point, fault)) => Some((load_point, fault)),
            _ => None,
        };
        FakeLab {
            load: SimulatedLoad::new(request.plan.clone(), fault),
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
        _: &FamilyCounts,
        _: &AtomicBool,
    ) -> Result<Vec<ConsistencyCheck>, FleetError> {
        self.add(&format!("check {} {}", moment.name(), point.index));
        let name = format!("condition {}", moment.name());
        let here = (point.index, moment);
        let is_broken =
            |trouble| matches!(trouble, InjectedFault::Inconsistent(index, at) if (index, at) == here);
        let holds = !self.trouble.is_some_and(is_broken);
        Ok(vec![ConsistencyCheck {
            load_point: point.index,
            moment,
            name,
            holds,
            found: "by a fake".to_owned(),
        }])
    }

    fn probe(&mut self, _: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError> {
        self.add("probe");
        if stop.load(Ordering::Relaxed) {
            return Err(VerifyError::Interrupted.into());
        }
        match self.trouble {
            Some(InjectedFault::WrongObjects) => Err(VerifyError::Wrong {
                family: Family::Web,
                things: "objects",
                n_wrong: 1,
                n_objects: 1,
                named: Vec::new(),
            }
            .into()),
            _ => Ok(()),
        }
    }

    fn watch(
        &mut self,
        _: &RunRequest<'_>,
        _: &mut dyn Observer,
    ) -> Result<Vec<MonitoredSource>, FleetError> {
        self.add("watch");
        Ok(vec![MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both }])
    }

    fn disclose(&self, request: &RunRequest<'_>) -> TestbedDisclosure {
        TestbedDisclosure { command_line: request.command_line.clone(), testbed: Testbed::default() }
    }

    fn create(&self, path: &Path, header: &Header) -> Result<Writer, RunFileError> {
        let mut writer = Writer::create(path, header)?;
        if let Some(InjectedFault::DiskFull(room)) = self.trouble {
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
        if matches!(self.trouble, Some(InjectedFault::ResetFails(n)) if n == self.n_resets) {
            return Err(died().into());
        }
        Ok(())
    }

    fn rest(&mut self) -> bool {
        let is_alone = matches!(self.trouble, Some(InjectedFault::Alone));
        if is_alone {
            self.add("rest");
        }
        is_alone
    }

    fn prepare(&mut self, point: LoadPoint, stop: &AtomicBool) -> Result<OpenedSessions, FleetError> {
        self.add(&format!("prepare {}", point.index));
        let (sender, messages) = channel();
        let sessions = self.load.prepare(&(), point, sender.clone(), stop)?;
        self.prepared = Some((point.index, sender, messages));
        Ok(sessions)
    }

    fn go(&mut self) {
        self.add("go");
        self.load.go(Nanos::ZERO);
    }

    fn collect(
        &mut self,
        collector: &mut (dyn Collector + Send),
        stop: &StopSwitch<'_>,
    ) -> Result<FamilyCounts, FleetError> {
        let (index, sender, messages) = self.prepared.take().expect("prepared");
        let clock = RealClock::start();
        let may_end_early = self.plan.operations.is_some();
        let cpus = Vec::new();
        let origin = Nanos::ZERO;
        let begun = StartedLoadPoint { cpus, index, may_end_early, clock, origin, messages, sender };
        let server = WatchedServer { sut: None, meter: None };
        let trouble = self.trouble;
        let mut troubled =
            TroubledCollector { collector, trouble, load_point: index, asked: self.asked, n: 0 };
        let counts = collect_load_point(begun, &mut self.load, &mut [], server, &mut troubled, stop)?;
        let n = troubled.n;
        let asked = if stop.is_requested() { "asked to stop after " } else { "" };
        self.add(&format!("collect: {asked}{n} intervals"));
        Ok(counts)
    }

    fn stop(self) {}
}

/// A collector that has the trouble of a load point after an interval, and counts intervals.
struct TroubledCollector<'a> {
    collector: &'a mut (dyn Collector + Send),
    trouble: Option<InjectedFault>,
    load_point: u32,
    asked: &'static AtomicBool,
    n: usize,
}

impl Collector for TroubledCollector<'_> {
    fn interval(&mut self, record: &IntervalRecord) {
        self.collector.interval(record);
        self.n += 1;
        match self.trouble {
            Some(InjectedFault::Dies(index, after)) if (index, after) == (self.load_point, self.n) => {
                self.collector.failed(died().into());
            }
            Some(InjectedFault::Interrupt(index, after)) if (index, after) == (self.load_point, self.n) => {
                self.asked.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn example(&mut self, example: Example) {
        self.collector.example(example);
    }

    fn readings(&mut self, machine: u32, at: Nanos, reading: MonitorReading) {
        self.collector.readings(machine, at, reading);
    }

    fn missing(&mut self, records: &[MissingRecord]) {
        self.collector.missing(records);
    }

    fn failed(&mut self, error: FleetError) {
        self.collector.failed(error);
    }
}

fn died() -> SutError {
    SutDied { title: "a fake".to_owned(), status: "signal 9".to_owned(), log: String::new() }.into()
}
