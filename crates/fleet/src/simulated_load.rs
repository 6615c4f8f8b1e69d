//! A load side whose load is simulated: its records take the way of those of load threads, at once, and as bytes, as between
//! machines.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use engine::{OpenedSessions, StopRequest};
use model::{IntervalRecord, LoadPoint, Plan, RecordSource};
use runfile::wire;
use testkit::{ServiceTimeDistribution, SimServer, Simulation};
use units::Nanos;

use crate::error::LoadError;
use crate::family_counts::FamilyCounts;
use crate::load::LoadSide;
use crate::thread::{Message, SpareRecords};

/// The period at which it looks for a request to stop.
const STOP_STEP: Duration = Duration::from_millis(1);

/// A fault of the records of a load point: what is done to them before they are sent.
pub(crate) type RecordFault = fn(&mut Vec<IntervalRecord>);

/// The simulated load side.
pub(crate) struct SimulatedLoad {
    plan: Plan,
    /// The agent whose load threads take part; `None`: all.
    agent: Option<u32>,
    server: SimServer,
    /// A fault, and its load point.
    fault: Option<(u32, RecordFault)>,
    prepared: Option<PreparedLoad>,
    spares: SpareRecords,
}

struct PreparedLoad {
    point: LoadPoint,
    records: Sender<Message>,
    /// The ways by which read records come back, one for each thread.
    returned: Vec<Receiver<IntervalRecord>>,
}

impl SimulatedLoad {
    pub(crate) fn new(plan: Plan, fault: Option<(u32, RecordFault)>) -> SimulatedLoad {
        let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(10)), Some(4));
        SimulatedLoad { plan, agent: None, server, fault, prepared: None, spares: SpareRecords::default() }
    }

    /// Makes the load side of one agent, on a server of its own.
    pub(crate) fn of_agent(plan: Plan, agent: u32, server: SimServer) -> SimulatedLoad {
        SimulatedLoad { agent: Some(agent), server, ..SimulatedLoad::new(plan, None) }
    }

    /// Returns the indexes of the load threads that take part.
    fn threads(&self) -> Range<u32> {
        self.agent.map_or(0..self.plan.load_threads(), |agent| self.plan.agents[agent as usize].shares())
    }

    /// Returns the records of a load point, with the fault if it has one.
    fn records(&self, point: LoadPoint) -> Vec<IntervalRecord> {
        let plan = Plan { load_points: vec![point], ..self.plan.clone() };
        let simulation = Simulation { agent: self.agent, ..Simulation::new(plan, self.server) };
        let mut records = simulation.record().intervals;
        if let Some((load_point, fault)) = self.fault
            && load_point == point.index
        {
            fault(&mut records);
        }
        records
    }
}

impl LoadSide for SimulatedLoad {
    type Target = ();

    fn sources(&self) -> Vec<RecordSource> {
        let agent = self.agent.unwrap_or(0);
        self.threads().map(|thread| RecordSource { agent, thread: Some(thread) }).collect()
    }

    fn prepare(
        &mut self,
        (): &(),
        point: LoadPoint,
        records: Sender<Message>,
        _: &AtomicBool,
    ) -> Result<OpenedSessions, LoadError> {
        let (back, returned): (Vec<_>, Vec<_>) = self.threads().map(|_| channel()).unzip();
        self.spares = SpareRecords::new(self.threads().start, back);
        self.prepared = Some(PreparedLoad { point, records, returned });
        Ok(OpenedSessions::default())
    }

    fn lead(&mut self) -> Nanos {
        Nanos::ZERO
    }

    fn go(&mut self, _: Nanos) {}

    fn abandon(&mut self) {
        self.prepared = None;
    }

    fn take_spares(&mut self) -> SpareRecords {
        std::mem::take(&mut self.spares)
    }

    /// Sends second after second, each when the one before it was read: a stop is obeyed before the next one.
    fn collect(&mut self, stop: &impl StopRequest) -> Result<FamilyCounts, LoadError> {
        let PreparedLoad { point, records, returned } = self.prepared.take().expect("prepared");
        for second in self.records(point).chunk_by(|one, other| one.index == other.index) {
            if stop.is_requested() {
                break;
            }
            for record in second {
                let record = wire::decode(&wire::encode(record)).expect("a record is read back");
                let _ = records.send(Message::Interval(Box::new(record)));
            }
            // A second that is not of all threads is read when the load point is over.
            if second.len() == returned.len() {
                returned.iter().for_each(|returned| wait_until_read(returned, stop));
            }
        }
        Ok(FamilyCounts::default())
    }
}

/// Waits for a record that was read; one that is refused does not come back, and ends the load.
fn wait_until_read(returned: &Receiver<IntervalRecord>, stop: &impl StopRequest) {
    while let Err(RecvTimeoutError::Timeout) = returned.recv_timeout(STOP_STEP) {
        if stop.is_requested() {
            return;
        }
    }
}
