//! The load side of a run whose load agents are processes of their own: what [`LoadSide`] says to load threads, said to them.
//!
//! | state of a part | event | next |
//! |---|---|---|
//! | idle | asked to set up, probe or prepare | asked |
//! | asked | `Done`, `Ready` | idle, ready |
//! | ready | told to go | running |
//! | ready | told that the load point does not begin; `Over` | idle |
//! | running | `Record`, `Example` that are in order | running |
//! | running | `Over` | idle |
//! | any | `Failed`, a record that cannot be, the end of the link, silence | failed, for good |
//!
//! A part that fails while load runs ends the load point for the others: a result without its load would be another one. What
//! was recorded until then stays, and the records that are missing are named.

use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use engine::{OpenedSessions, StopRequest};
use languages::foreign_text;
use model::{IntervalRecord, LoadPoint, Plan, RecordSource, Secrets};
use runfile::{CodecError, wire};
use thiserror::Error;
use units::{Clock, Nanos, RealClock};

use super::clock::{ClockOffset, Exchange};
use super::connection::{AgentFleet, ConnectedAgent};
use super::message::{AgentFailureKind, FromAgent, ToAgent};
use super::part_check::{AgentRecordError, PartCheck};
use super::serve::SILENCE_MAX;
use crate::error::LoadError;
use crate::family::{ResolvedTarget, ServerForm};
use crate::family_counts::FamilyCounts;
use crate::load::{LoadSide, lead};
use crate::thread::Message;

/// The period at which the controller looks for a request to stop.
const STOP_STEP: Duration = Duration::from_millis(20);

/// The period at which agents are asked for their time while something is awaited of them.
const PING_PERIOD: Nanos = Nanos::from_secs(1);

/// The number of exchanges by which a clock is read.
const EXCHANGES: usize = 8;

/// The longest wait for them.
const EXCHANGE_MAX: Nanos = Nanos::from_secs(2);

/// The most exchanges with an agent that are kept, and pings that it has not answered: the latest.
const KEPT_MAX: usize = 128;

/// The longest wait for the end of load that was asked to stop.
const STOP_MAX: Nanos = Nanos::from_secs(10);

/// The largest difference between the starts of load agents that is no finding.
const START_SKEW_MAX: Nanos = Nanos::from_millis(5);

/// The name of the check of the starts.
const STARTS: &str = "load agents start together";

/// A failure of a load agent; `agent` is its name.
#[derive(Debug, Error)]
pub enum AgentError {
    /// It has ended, or the way to it.
    #[error("load agent {agent} was lost: {why}")]
    Lost {
        /// The agent.
        agent: String,
        /// The reason, as far as it is known.
        why: String,
    },
    /// It has not said anything for too long.
    #[error("load agent {agent} was lost: it has been silent for {} s", .silence.0 / 1_000_000_000)]
    Silent {
        /// The agent.
        agent: String,
        /// The time since its last message.
        silence: Nanos,
    },
    /// It cannot do what it was asked for.
    #[error("load agent {agent}: {text}")]
    Failed {
        /// The agent.
        agent: String,
        /// The kind of failure.
        kind: AgentFailureKind,
        /// The reason, as it says.
        text: String,
    },
    /// What it says to have recorded cannot be.
    #[error("the records of load agent {agent} cannot be used: {why}")]
    Record {
        /// The agent.
        agent: String,
        /// The fault.
        why: Box<AgentRecordError>,
    },
    /// Its record is no record.
    #[error("the records of load agent {agent} cannot be read: {why}")]
    Codec {
        /// The agent.
        agent: String,
        /// The fault.
        why: CodecError,
    },
    /// It has said something at the wrong time.
    #[error("load agent {agent} has answered something that it was not asked")]
    Unexpected {
        /// The agent.
        agent: String,
    },
    /// Several failures, one a line.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<AgentError>),
    /// The target is one of the controller's process.
    #[error("{target} cannot be loaded by load agents: {why}")]
    OnlyHere {
        /// The target.
        target: String,
        /// The reason.
        why: &'static str,
    },
}

/// A target that load agents are told of.
pub(super) trait NamedTarget {
    /// Returns the server by name.
    ///
    /// # Errors
    /// It is one of this process.
    fn server(&self) -> Result<ServerForm, AgentError>;
}

impl NamedTarget for ResolvedTarget {
    fn server(&self) -> Result<ServerForm, AgentError> {
        self.external().ok_or_else(|| AgentError::OnlyHere {
            target: self.name(),
            why: "it is within this process, or its files are held by it",
        })
    }
}

/// An answer to a request.
#[derive(Debug)]
enum Answer {
    Done,
    Ready(OpenedSessions),
}

/// Adds an item to a list that keeps the latest.
fn keep<T>(list: &mut Vec<T>, item: T) {
    if KEPT_MAX <= list.len() {
        list.remove(0);
    }
    list.push(item);
}

/// What the controller knows of an agent in this run.
#[derive(Debug, Default)]
struct Part {
    answer: Option<Answer>,
    /// Exchanges of messages since the clock was last read.
    exchanges: Vec<Exchange>,
    /// Pings that were not answered, with their times.
    pings: Vec<(u32, Nanos)>,
    heard: Nanos,
    check: Option<PartCheck>,
    /// The offset of its clock when it was told to go.
    offset: Option<ClockOffset>,
    /// The time by which the start had passed when it was told of it.
    late: Option<Nanos>,
    over: Option<FamilyCounts>,
    totals: PartTotals,
    failure: Option<AgentError>,
}

/// Sums of the records of an agent at a load point.
#[derive(Debug, Clone, Copy, Default)]
struct PartTotals {
    started: u64,
    cpu: Nanos,
    run_queue: Nanos,
    latest: Nanos,
}

impl PartTotals {
    fn add(&mut self, record: &IntervalRecord) {
        self.started = self.started.saturating_add(record.flow.started);
        self.cpu = self.cpu.saturating_add(record.health.cpu);
        self.run_queue = self.run_queue.saturating_add(record.health.run_queue);
        self.latest = self.latest.max(record.lateness.max().unwrap_or_default());
    }

    /// Returns what is recorded of it, by name.
    fn named(&self, agent: usize) -> [(String, u64); 4] {
        [
            (format!("load agent {agent}, operations started"), self.started),
            (format!("load agent {agent}, CPU time in ms"), self.cpu.0 / 1_000_000),
            (format!("load agent {agent}, wait for a CPU in ms"), self.run_queue.0 / 1_000_000),
            (format!("load agent {agent}, greatest lateness in µs"), self.latest.0 / 1_000),
        ]
    }
}

/// The load agents as the load side of a run.
pub(crate) struct RemoteLoad<T> {
    fleet: Arc<AgentFleet>,
    plan: Arc<Plan>,
    secrets: Secrets,
    /// The clock of the run.
    clock: RealClock,
    /// The number of the run among those of the fleet, once the agents know it.
    run: Option<u32>,
    parts: Vec<Part>,
    /// The load point that was prepared, and the way for its records.
    records: Option<Sender<Message>>,
    n_users: u32,
    origin: Nanos,
    last_ping: Nanos,
    n_pings: u32,
    /// Whether agents have time that passes.
    is_real_time: bool,
    target: std::marker::PhantomData<fn(&T)>,
}

impl<T> RemoteLoad<T> {
    /// Makes the load side of a plan whose agents are those of a fleet, on its clock.
    pub(crate) fn new(fleet: &Arc<AgentFleet>, plan: Arc<Plan>, secrets: Secrets) -> RemoteLoad<T> {
        RemoteLoad {
            clock: fleet.clock(),
            parts: fleet.agents().iter().map(|_| Part::default()).collect(),
            fleet: Arc::clone(fleet),
            plan,
            secrets,
            run: None,
            records: None,
            n_users: 0,
            origin: Nanos::ZERO,
            last_ping: Nanos::ZERO,
            n_pings: 0,
            is_real_time: true,
            target: std::marker::PhantomData,
        }
    }

    /// Makes one for agents whose load is simulated, which takes no time.
    #[cfg(test)]
    pub(super) fn simulated(fleet: &Arc<AgentFleet>, plan: Arc<Plan>) -> RemoteLoad<T> {
        RemoteLoad { is_real_time: false, ..RemoteLoad::new(fleet, plan, Secrets::default()) }
    }

    fn agent(&self, index: usize) -> &ConnectedAgent {
        &self.fleet.agents()[index]
    }

    fn send(&self, index: usize, message: ToAgent) {
        self.agent(index).send(message);
    }

    fn fail(&mut self, index: usize, failure: AgentError) {
        if self.parts[index].failure.is_some() {
            return;
        }
        if !matches!(failure, AgentError::Failed { .. }) {
            // Nothing that it says later is believed.
            self.agent(index).hang_up();
        }
        let part = &mut self.parts[index];
        part.check = None;
        part.failure = Some(failure);
    }

    /// Takes the first failure of an agent.
    fn take_failure(&mut self) -> Option<AgentError> {
        self.parts.iter_mut().find_map(|part| part.failure.take())
    }

    fn has_failed(&self) -> bool {
        self.parts.iter().any(|part| part.failure.is_some())
    }

    /// Takes an event if one comes within a time, and asks for the time now and then; names who is silent.
    fn pump(&mut self, wait: Duration) {
        if let Some(event) = self.fleet.next_event(wait) {
            let (index, at) = (event.agent, event.at);
            self.parts[index].heard = at;
            match event.message {
                Ok(message) => self.take(index, at, message),
                Err(error) => {
                    let why = self.agent(index).why_ended(&error);
                    let agent = self.agent(index).name.clone();
                    self.fail(index, AgentError::Lost { agent, why });
                }
            }
        }
        let now = self.clock.now();
        if PING_PERIOD <= now.saturating_sub(self.last_ping) {
            self.ping(now);
        }
        for index in 0..self.parts.len() {
            let silence = now.saturating_sub(self.parts[index].heard);
            if SILENCE_MAX < silence {
                let agent = self.agent(index).name.clone();
                self.fail(index, AgentError::Silent { agent, silence });
            }
        }
    }

    fn ping(&mut self, now: Nanos) {
        self.last_ping = now;
        for index in 0..self.parts.len() {
            self.n_pings = self.n_pings.wrapping_add(1);
            let number = self.n_pings;
            let now = self.clock.now();
            keep(&mut self.parts[index].pings, (number, now));
            self.send(index, ToAgent::Ping { number });
        }
    }

    /// Takes a message of an agent.
    fn take(&mut self, index: usize, at: Nanos, message: FromAgent) {
        let agent = || self.fleet.agents()[index].name.clone();
        let passed = self.is_real_time.then(|| at.saturating_sub(self.origin));
        let part = &mut self.parts[index];
        let failure = match message {
            FromAgent::Pong { number, at: agent } => {
                let pinged = part.pings.iter().position(|(known, _)| *known == number);
                if let Some(place) = pinged {
                    let (_, sent) = part.pings.swap_remove(place);
                    keep(&mut part.exchanges, Exchange { sent, received: at, agent });
                }
                return;
            }
            FromAgent::Done => {
                part.answer = Some(Answer::Done);
                return;
            }
            FromAgent::Ready(sessions) => {
                part.answer = Some(Answer::Ready(sessions));
                return;
            }
            FromAgent::Begun { late } => {
                part.late = Some(late);
                return;
            }
            FromAgent::Record { number, record } => {
                let Some(check) = &mut part.check else { return };
                match wire::decode(&record) {
                    Err(why) => AgentError::Codec { agent: agent(), why },
                    Ok(record) => match check.take(number, &record, passed) {
                        Err(why) => AgentError::Record { agent: agent(), why: Box::new(why) },
                        Ok(()) => {
                            part.totals.add(&record);
                            // Of a part that has failed nothing more is recorded.
                            if let Some(records) = self.records.as_ref().filter(|_| part.failure.is_none()) {
                                let _ = records.send(Message::Interval(Box::new(record)));
                            }
                            return;
                        }
                    },
                }
            }
            FromAgent::Example(mut example) => {
                let is_known = usize::from(example.kind) < self.plan.catalog.kinds.len();
                example.text = foreign_text(&example.text);
                if let Some(records) = self.records.as_ref().filter(|_| is_known && part.check.is_some()) {
                    let _ = records.send(Message::Example(example));
                }
                return;
            }
            FromAgent::Over { records, counts } => {
                let Some(check) = part.check.take() else { return };
                // One that was told to abandon the load point has recorded nothing.
                match check.finish(records) {
                    Err(why) => AgentError::Record { agent: agent(), why: Box::new(why) },
                    Ok(()) => {
                        part.over = Some(counts);
                        return;
                    }
                }
            }
            FromAgent::Failed { kind, text } => {
                AgentError::Failed { agent: agent(), kind, text: foreign_text(&text) }
            }
            FromAgent::Hello(_) => AgentError::Unexpected { agent: agent() },
        };
        self.fail(index, failure);
    }

    /// Waits until all of these parts have answered; returns the answers.
    fn answers(&mut self, awaited: &[usize], stop: &impl StopRequest) -> Result<Vec<Answer>, LoadError> {
        let mut is_stopped = false;
        loop {
            if awaited.iter().all(|index| self.parts[*index].answer.is_some()) {
                return Ok(awaited.iter().filter_map(|index| self.parts[*index].answer.take()).collect());
            }
            if let Some(failure) = self.take_failure() {
                return Err(failure.into());
            }
            if stop.is_requested() && !is_stopped {
                is_stopped = true;
                awaited.iter().for_each(|index| self.send(*index, ToAgent::Stop));
            }
            self.pump(STOP_STEP);
        }
    }

    /// Forgets how long agents have been silent: nothing was asked of them.
    fn begin_waiting(&mut self) {
        let now = self.clock.now();
        for index in 0..self.parts.len() {
            if self.agent(index).is_over() {
                let agent = self.agent(index).name.clone();
                self.fail(index, AgentError::Lost { agent, why: "it was lost before".to_owned() });
            }
        }
        self.parts.iter_mut().for_each(|part| {
            part.heard = now;
            part.answer = None;
        });
    }

    /// Makes the run known to all agents, once.
    fn set_up(&mut self, stop: &AtomicBool) -> Result<u32, LoadError> {
        if let Some(run) = self.run {
            return Ok(run);
        }
        let run = self.fleet.next_run();
        let plan = wire::encode_plan(&self.plan);
        self.begin_waiting();
        for index in 0..self.parts.len() {
            let agent = u32::try_from(index).unwrap_or(u32::MAX);
            let secrets = self.secrets.clone();
            self.send(index, ToAgent::SetUp { run, agent, plan: plan.clone(), secrets });
        }
        let all: Vec<usize> = (0..self.parts.len()).collect();
        self.answers(&all, stop)?;
        self.run = Some(run);
        Ok(run)
    }

    /// Reads the clocks of all agents.
    fn read_clocks(&mut self) {
        self.parts.iter_mut().for_each(|part| {
            part.exchanges.clear();
            part.pings.clear();
        });
        let until = self.clock.now() + EXCHANGE_MAX;
        for round in 1..=EXCHANGES {
            let now = self.clock.now();
            self.ping(now);
            let is_read = |part: &Part| round <= part.exchanges.len() || part.failure.is_some();
            while !self.parts.iter().all(is_read) && self.clock.now() < until {
                self.pump(STOP_STEP);
            }
        }
    }

    /// Tells the agents that the load point which they may have prepared does not begin, and waits until they have ended it.
    fn abandon_point(&mut self) {
        let until = self.clock.now() + STOP_MAX;
        for index in 0..self.parts.len() {
            self.send(index, ToAgent::Abandon);
        }
        let is_over = |part: &Part| part.check.is_none() || part.failure.is_some();
        while !self.parts.iter().all(is_over) && self.clock.now() < until {
            self.pump(STOP_STEP);
        }
        self.records = None;
    }

    /// Returns what is recorded of the starts of a load point that is over; nothing where time is simulated.
    fn starts(&mut self) -> Option<(String, bool, String)> {
        if !self.is_real_time {
            return None;
        }
        self.read_clocks();
        let mut worst: Option<(Nanos, usize, String)> = None;
        for (index, part) in self.parts.iter().enumerate() {
            let offset = part.offset?;
            let late = part.late?;
            let moved = ClockOffset::of(&part.exchanges).map(|later| (offset.moved_to(&later), later.bound));
            let skew = late.saturating_add(offset.bound);
            let clock = moved.map_or_else(
                || "its clock could not be read afterwards".to_owned(),
                |(moved, bound)| format!("its clock moved by {moved} ± {} meanwhile", bound + offset.bound),
            );
            let text = format!(
                "load agent {index} began {late} late, its clock known to ± {}; {clock}",
                offset.bound
            );
            if worst.as_ref().is_none_or(|(most, ..)| *most < skew) {
                worst = Some((skew, index, text));
            }
        }
        let (skew, _, text) = worst?;
        let n = self.parts.len();
        let all = if n == 1 { text } else { format!("{text}; the others of {n} less") };
        Some((STARTS.to_owned(), skew <= START_SKEW_MAX, all))
    }
}

impl<T: NamedTarget> LoadSide for RemoteLoad<T> {
    type Target = T;

    fn sources(&self) -> Vec<RecordSource> {
        (0..self.parts.len() as u32).map(|agent| RecordSource { agent, thread: None }).collect()
    }

    fn probe(&mut self, target: &T, stop: &AtomicBool) -> Result<(), LoadError> {
        let server = target.server()?;
        let run = self.set_up(stop)?;
        // One after another: what they check may be changed by what others do.
        let mut failures = Vec::new();
        for index in 0..self.parts.len() {
            self.begin_waiting();
            self.send(index, ToAgent::Probe { run, server: server.clone() });
            match self.answers(&[index], stop) {
                Ok(_) => {}
                // All of them are named at once.
                Err(LoadError::Agent(failure)) if !stop.is_requested() => failures.push(failure),
                Err(error) => return Err(error),
            }
        }
        match failures.len() {
            0 => Ok(()),
            1 => Err(failures.remove(0).into()),
            _ => Err(AgentError::Several(failures).into()),
        }
    }

    fn prepare(
        &mut self,
        target: &T,
        point: LoadPoint,
        records: Sender<Message>,
        stop: &AtomicBool,
    ) -> Result<OpenedSessions, LoadError> {
        let server = target.server()?;
        let run = self.set_up(stop)?;
        self.n_users = point.load.in_flight_max();
        self.records = Some(records);
        self.begin_waiting();
        for index in 0..self.parts.len() {
            let agent = u32::try_from(index).unwrap_or(u32::MAX);
            let part = &mut self.parts[index];
            part.check = Some(PartCheck::new(&self.plan, agent, point));
            (part.offset, part.late, part.over) = (None, None, None);
            part.totals = PartTotals::default();
            self.send(index, ToAgent::Prepare { run, server: server.clone(), point });
        }
        let all: Vec<usize> = (0..self.parts.len()).collect();
        let answers = match self.answers(&all, stop) {
            Ok(answers) => answers,
            Err(error) => {
                self.abandon_point();
                return Err(error);
            }
        };
        let mut sessions = OpenedSessions::default();
        for (index, answer) in answers.into_iter().enumerate() {
            if let Answer::Ready(of_agent) = answer {
                let users = self.plan.users_of_agent(index, point.load);
                sessions.add(OpenedSessions {
                    n_open: of_agent.n_open.min(users),
                    n_failed: of_agent.n_failed.min(users),
                    first_failure: of_agent.first_failure.map(|text| foreign_text(&text)),
                });
            }
        }
        Ok(sessions)
    }

    /// Reads the clocks first, so that their offsets are of now.
    fn lead(&mut self) -> Nanos {
        self.begin_waiting();
        self.read_clocks();
        let mut slowest = Nanos::ZERO;
        for part in &mut self.parts {
            part.offset = ClockOffset::of(&part.exchanges);
            slowest = slowest.max(part.offset.map_or(EXCHANGE_MAX, |offset| offset.bound));
        }
        // The bound is half of a round trip; the message may take longer than the fastest one.
        lead(self.n_users) + Nanos(slowest.0.saturating_mul(4))
    }

    fn go(&mut self, origin: Nanos) {
        self.origin = origin;
        for index in 0..self.parts.len() {
            let Some(offset) = self.parts[index].offset else {
                let agent = self.agent(index).name.clone();
                let why = "its clock cannot be read".to_owned();
                self.fail(index, AgentError::Lost { agent, why });
                continue;
            };
            self.send(index, ToAgent::Go { origin: offset.on_agent(origin) });
        }
    }

    fn abandon(&mut self) {
        self.abandon_point();
    }

    fn collect(&mut self, stop: &impl StopRequest) -> Result<FamilyCounts, LoadError> {
        self.begin_waiting();
        let mut stopped: Option<Nanos> = None;
        loop {
            let is_over = |part: &Part| part.over.is_some() || part.failure.is_some();
            if self.parts.iter().all(is_over) {
                break;
            }
            if stopped.is_none() && (stop.is_requested() || self.has_failed()) {
                stopped = Some(self.clock.now());
                (0..self.parts.len()).for_each(|index| self.send(index, ToAgent::Stop));
            }
            if stopped.is_some_and(|since| since + STOP_MAX < self.clock.now()) {
                for index in 0..self.parts.len() {
                    if !is_over(&self.parts[index]) {
                        let agent = self.agent(index).name.clone();
                        let why = "it does not stop".to_owned();
                        self.fail(index, AgentError::Lost { agent, why });
                    }
                }
            }
            self.pump(STOP_STEP);
        }
        // The collector ends when everybody has hung up.
        self.records = None;
        let mut counts = FamilyCounts::default();
        for (index, part) in self.parts.iter_mut().enumerate() {
            counts.add(&take(&mut part.over).unwrap_or_default());
            part.totals.named(index).into_iter().for_each(|(name, n)| counts.add_named(name.into(), n));
        }
        if let Some(failure) = self.take_failure() {
            return Err(failure.into());
        }
        if stopped.is_none() {
            counts.of_load.extend(self.starts());
        }
        Ok(counts)
    }
}
