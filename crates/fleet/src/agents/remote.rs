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
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use engine::{OpenedSessions, StopRequest};
use languages::foreign_text;
use model::{LoadPoint, Plan, RecordSource, Secrets};
use runfile::wire;
use units::{Clock, Nanos, RealClock};

use super::clock::{ClockOffset, Exchange};
use super::part::{AgentStart, Answer, Part, PartTotals, START_SKEW_MAX, believed, keep, micros};
use super::part_check::PartCheck;
use super::serve::SILENCE_MAX;
use crate::agent_error::AgentError;
use crate::agent_link::{AgentFleet, ConnectedAgent, FromAgent, ToAgent};
use crate::error::LoadError;
use crate::family::{ResolvedTarget, ServerForm};
use crate::family_counts::FamilyCounts;
use crate::load::{LoadSide, lead};
use crate::seconds::WATERMARK;
use crate::thread::Message;

/// The period at which the controller looks for a request to stop.
const STOP_STEP: Duration = Duration::from_millis(20);

/// The period at which agents are asked for their time while something is awaited of them.
const PING_PERIOD: Nanos = Nanos::from_secs(1);

/// The number of exchanges by which a clock is read.
const EXCHANGES: usize = 8;

/// The longest wait for them: an interruption of the network that costs no record does not end a run between load points, either.
const EXCHANGE_MAX: Nanos = WATERMARK;

/// The longest wait for the end of load that was asked to stop.
const STOP_MAX: Nanos = Nanos::from_secs(10);

/// The name of the check of the starts.
const STARTS: &str = "load agents start together";

/// A target that load agents are told of.
pub(super) trait NamedTarget {
    /// Returns the server by name.
    ///
    /// # Errors
    /// It is one of this process.
    fn server(&self) -> Result<ServerForm, AgentError>;

    /// Returns its address as this machine reaches it, if it has one.
    fn reached_at(&self) -> Option<SocketAddr>;
}

impl NamedTarget for ResolvedTarget {
    fn server(&self) -> Result<ServerForm, AgentError> {
        self.external().ok_or_else(|| AgentError::OnlyHere {
            target: self.name(),
            why: "it is within this process, or its files are held by it",
        })
    }

    fn reached_at(&self) -> Option<SocketAddr> {
        self.address()
    }
}

/// Says that the name of the server means another address on a load machine. Addresses are not recorded.
fn other_address(agent: usize) -> String {
    format!(
        "load agent {agent} reaches the server at another address than this machine does: its name has several, or \
         means something else there"
    )
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
    /// Whether agents have time that passes.
    is_real_time: bool,
    /// The longest time without a record while load runs.
    idle_max: Nanos,
    /// The longest wait for the end of what was asked to stop.
    stop_max: Nanos,
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
            is_real_time: true,
            idle_max: SILENCE_MAX,
            stop_max: STOP_MAX,
            target: std::marker::PhantomData,
        }
    }

    /// Makes one for agents whose load is simulated, which takes no time of its own, but as long as a busy machine needs for it.
    #[cfg(test)]
    pub(super) fn simulated(fleet: &Arc<AgentFleet>, plan: Arc<Plan>) -> RemoteLoad<T> {
        let load = RemoteLoad::new(fleet, plan, Secrets::default());
        RemoteLoad { is_real_time: false, stop_max: SILENCE_MAX, ..load }
    }

    /// Waits for agents that do nothing for a few seconds only.
    #[cfg(test)]
    pub(super) fn impatient(self) -> RemoteLoad<T> {
        RemoteLoad { idle_max: Nanos::from_secs(3), stop_max: Nanos::from_secs(2), ..self }
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

    /// Fails the part of an agent that is lost.
    fn lose(&mut self, index: usize, why: String) {
        let agent = self.agent(index).name.clone();
        self.fail(index, AgentError::Lost { agent, why });
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
                    self.lose(index, why);
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
            let number = self.fleet.next_ping();
            let now = self.clock.now();
            let part = &mut self.parts[index];
            keep(&mut part.pings, (number, now));
            let acknowledged = part.acknowledged;
            self.send(index, ToAgent::Ping { number, acknowledged });
        }
    }

    /// Takes a message of an agent.
    fn take(&mut self, index: usize, at: Nanos, message: FromAgent) {
        let agent = || self.fleet.agents()[index].name.clone();
        let passed = self.is_real_time.then(|| at.saturating_sub(self.origin));
        let part = &mut self.parts[index];
        if !matches!(message, FromAgent::Pong { .. }) {
            part.progressed = at;
        }
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
            FromAgent::Reached { address } => {
                part.answer = Some(Answer::Reached(address));
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
                            part.acknowledged += 1;
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
                let is_kind = usize::from(example.kind) < self.plan.catalog.kinds.len();
                let is_of_point =
                    part.check.as_ref().is_some_and(|check| check.load_point() == example.load_point);
                example.text = foreign_text(&example.text);
                if let Some(records) = self.records.as_ref().filter(|_| is_kind && is_of_point) {
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
                        part.over = Some(believed(index, &counts));
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
        let mut stopped: Option<Nanos> = None;
        loop {
            if awaited.iter().all(|index| self.parts[*index].answer.is_some()) {
                return Ok(awaited.iter().filter_map(|index| self.parts[*index].answer.take()).collect());
            }
            if let Some(failure) = self.take_failure() {
                return Err(failure.into());
            }
            if stop.is_requested() && stopped.is_none() {
                stopped = Some(self.clock.now());
                awaited.iter().for_each(|index| self.send(*index, ToAgent::Stop));
            }
            self.fail_unstopped(stopped, |index, part| awaited.contains(&index) && part.answer.is_none());
            self.pump(STOP_STEP);
        }
    }

    /// Fails the parts that are not done, a while after all were told to stop.
    fn fail_unstopped(&mut self, stopped: Option<Nanos>, is_awaited: impl Fn(usize, &Part) -> bool) {
        if stopped.is_none_or(|since| self.clock.now() <= since + self.stop_max) {
            return;
        }
        for index in 0..self.parts.len() {
            if is_awaited(index, &self.parts[index]) {
                self.lose(index, "it does not stop".to_owned());
            }
        }
    }

    /// Fails the parts whose load point goes on, and which answer and do not record.
    fn fail_idle(&mut self) {
        let now = self.clock.now();
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            let silence = now.saturating_sub(part.progressed.max(self.origin));
            if part.check.is_some() && self.idle_max < silence {
                let agent = self.agent(index).name.clone();
                self.fail(index, AgentError::Idle { agent, silence });
            }
        }
    }

    /// Forgets how long agents have been silent: nothing was asked of them.
    fn begin_waiting(&mut self) {
        let now = self.clock.now();
        for index in 0..self.parts.len() {
            if self.agent(index).is_over() {
                self.lose(index, "it was lost before".to_owned());
            }
        }
        self.parts.iter_mut().for_each(|part| {
            part.heard = now;
            part.progressed = now;
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
        let until = self.clock.now() + self.stop_max;
        for index in 0..self.parts.len() {
            self.send(index, ToAgent::Abandon);
        }
        let is_over = |part: &Part| part.check.is_none() || part.failure.is_some();
        while !self.parts.iter().all(is_over) && self.clock.now() < until {
            self.pump(STOP_STEP);
        }
        self.records = None;
    }

    /// Notes how the agents started at a load point that is over, and what their clocks did meanwhile.
    fn note_starts(&self, counts: &mut FamilyCounts) {
        let parts = self.parts.iter().enumerate();
        let starts: Vec<_> = parts.filter_map(|(index, part)| Some((index, AgentStart::of(part)?))).collect();
        for (index, start) in &starts {
            for (figure, time) in start.figures() {
                counts.add_named(figure.count_name(*index).into(), micros(time));
            }
        }
        let worst = starts.iter().max_by_key(|(_, start)| start.skew());
        let Some((index, start)) = worst.filter(|_| starts.len() == self.parts.len()) else { return };
        let found = match starts.len() {
            1 => format!("load agent {index} {start}"),
            n => format!("load agent {index} {start}; the others of {n} less"),
        };
        counts.of_load.push((STARTS.to_owned(), start.skew() <= START_SKEW_MAX, found));
    }
}

impl<T: NamedTarget> LoadSide for RemoteLoad<T> {
    type Target = T;

    fn sources(&self) -> Vec<RecordSource> {
        (0..self.parts.len() as u32).map(|agent| RecordSource { agent, thread: None }).collect()
    }

    fn probe(&mut self, target: &T, stop: &AtomicBool) -> Result<Vec<String>, LoadError> {
        let server = target.server()?;
        let run = self.set_up(stop)?;
        // One after another: what they check may be changed by what others do.
        let (mut failures, mut remarks) = (Vec::new(), Vec::new());
        for index in 0..self.parts.len() {
            self.begin_waiting();
            self.send(index, ToAgent::Probe { run, server: server.clone() });
            match self.answers(&[index], stop) {
                Ok(answers) => {
                    let is_other =
                        |answer| matches!(answer, Answer::Reached(at) if at != target.reached_at());
                    remarks.extend(answers.into_iter().any(is_other).then(|| other_address(index)));
                }
                // All of them are named at once.
                Err(LoadError::Agent(failure)) if !stop.is_requested() => failures.push(failure),
                Err(error) => return Err(error),
            }
        }
        match failures.len() {
            0 => Ok(remarks),
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
            part.acknowledged = 0;
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
            // One whose clock cannot be read is not waited for: it is lost when the others begin.
            slowest = slowest.max(part.offset.map_or(Nanos::ZERO, |offset| offset.bound));
        }
        // The bound is half of a round trip; the message may take longer than the fastest one.
        lead(self.n_users) + Nanos(slowest.0.saturating_mul(4))
    }

    fn go(&mut self, origin: Nanos) {
        self.origin = origin;
        for index in 0..self.parts.len() {
            let Some(offset) = self.parts[index].offset else {
                self.lose(index, "its clock cannot be read".to_owned());
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
            self.fail_unstopped(stopped, |_, part| !is_over(part));
            self.fail_idle();
            self.pump(STOP_STEP);
        }
        // The collector ends when everybody has hung up.
        self.records = None;
        let mut counts = FamilyCounts::default();
        for (index, part) in self.parts.iter_mut().enumerate() {
            counts.add(&take(&mut part.over).unwrap_or_default());
            for (figure, n) in part.totals.figures() {
                counts.add_named(figure.count_name(index).into(), n);
            }
        }
        if let Some(failure) = self.take_failure() {
            return Err(failure.into());
        }
        if stopped.is_none() && self.is_real_time {
            self.read_clocks();
            self.note_starts(&mut counts);
        }
        Ok(counts)
    }
}
