//! A load agent: takes the messages of a controller and runs its share of load points with the load side of its process.
//!
//! | thread | does | ends |
//! |---|---|---|
//! | reader | reads messages, answers pings, sets the flag that stops a load point | with the input |
//! | writer | writes what the others have to say | with them, or with the output |
//! | worker | resolves and probes targets, prepares load points, runs and collects them | with the reader, or with the contact |
//! | the caller's | sets the same flag when the input ends, or when the controller has been silent for [`SILENCE_MAX`] | then, when the worker has ended |
//!
//! An agent never outlives its controller: it ends with its input, and where a network that is interrupted keeps the end from it,
//! with the silence. One that lives is heard all the time, as it sends a heartbeat where it has nothing else to say.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use drivers::TargetPolicyError;
use engine::StopRequest;
use model::{Example, IntervalRecord, LoadPoint, Plan, Secrets};
use runfile::wire;
use thiserror::Error;
use units::{Clock, Nanos, RealClock};

use super::controller::{ControllerContact, ControllerWriter, UNACKNOWLEDGED_MAX};
use crate::agent_error::AgentFailureKind;
use crate::agent_link::{
    FromAgent, LinkError, TO_AGENT_BYTES_MAX, ToAgent, own_hello, program_text, read_frame,
};
use crate::collect::{StartedLoadPoint, WatchedServer, collect_load_point};
use crate::error::{FleetError, LoadError};
use crate::family::{ExternalServer, ResolvedTarget, ServerForm};
use crate::family_counts::FamilyCounts;
use crate::laboratory::Collector;
use crate::load::{LoadSide, LoadThreads};
use crate::reading::MonitorReading;
use crate::record::{RECORDS_COMPLETE, missing_text};
use crate::seconds::MissingRecord;
use crate::stop::StopSwitch;
use crate::verify::VerifyError;

/// The longest silence of either side: the controller says something every 5 s at least, and an agent answers.
pub(super) const SILENCE_MAX: Nanos = Nanos::from_secs(60);

/// The period at which an agent looks for the end of its controller, and a worker that waits.
const STEP: Duration = Duration::from_millis(100);

/// The longest wait for the load to end when the controller has gone.
const END_MAX: Duration = Duration::from_secs(10);

/// The most runs of one controller.
const RUNS_MAX: usize = 1024;

/// A reason why a load agent has ended otherwise than by its controller.
#[derive(Debug, Error)]
pub enum AgentEnd {
    /// The controller is another program.
    #[error(
        "expected a controller of the same build, {}; found {}",
        program_text(.own), program_text(.found)
    )]
    OtherBuild {
        /// Program and build of this agent.
        own: (String, String),
        /// Program and build of the controller.
        found: (String, String),
    },
    /// What it says is not understood.
    #[error("the controller cannot be understood: {0}")]
    Link(String),
    /// It says nothing.
    #[error("the controller has been silent for {} s", .silence.0 / 1_000_000_000)]
    Silent {
        /// The time since its last message.
        silence: Nanos,
    },
}

/// The program of a load agent, and its patience.
pub(super) struct ServeSettings {
    /// Program and build.
    pub(super) own: (String, String),
    /// The longest silence of the controller.
    pub(super) silence_max: Nanos,
}

impl ServeSettings {
    /// Makes those of a program and its build.
    pub(super) fn of(program: &str, build: &str) -> ServeSettings {
        ServeSettings { own: (program.to_owned(), build.to_owned()), silence_max: SILENCE_MAX }
    }
}

/// The load side of an agent, and what it is made of.
pub(super) trait AgentHost: Send + 'static {
    /// The load side.
    type Load: LoadSide<Target: Send> + Send;

    /// Makes the load side of an agent of a plan.
    fn load(&self, plan: Arc<Plan>, agent: u32, clock: RealClock) -> Self::Load;

    /// Resolves a server, as far as the policy of this machine allows it.
    fn resolve(
        &self,
        server: &ExternalServer,
        secrets: Secrets,
        clock: RealClock,
        stop: &AtomicBool,
    ) -> Result<<Self::Load as LoadSide>::Target, FleetError>;

    /// Returns the address of a target, if it has one.
    fn address(&self, target: &<Self::Load as LoadSide>::Target) -> Option<SocketAddr>;

    /// Checks operations of every kind.
    fn probe(
        &self,
        target: &<Self::Load as LoadSide>::Target,
        plan: &Plan,
        clock: RealClock,
        stop: &AtomicBool,
    ) -> Result<(), FleetError>;
}

/// Load threads of this process.
struct ThreadHost;

impl AgentHost for ThreadHost {
    type Load = LoadThreads;

    fn load(&self, plan: Arc<Plan>, agent: u32, clock: RealClock) -> LoadThreads {
        LoadThreads::new(plan, agent, clock)
    }

    fn resolve(
        &self,
        server: &ExternalServer,
        secrets: Secrets,
        clock: RealClock,
        stop: &AtomicBool,
    ) -> Result<ResolvedTarget, FleetError> {
        ResolvedTarget::resolve(server, secrets, clock, stop)
    }

    fn address(&self, target: &ResolvedTarget) -> Option<SocketAddr> {
        target.address()
    }

    fn probe(
        &self,
        target: &ResolvedTarget,
        plan: &Plan,
        clock: RealClock,
        stop: &AtomicBool,
    ) -> Result<(), FleetError> {
        Ok(target.probe(plan, clock, stop)?)
    }
}

/// Works as a load agent for the controller at the other end of two streams, until it hangs up.
///
/// # Errors
/// The controller is of another build, says nothing that is understood, or nothing at all.
pub fn serve_agent(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    program: &str,
    build: &str,
) -> Result<(), AgentEnd> {
    serve_with(ThreadHost, input, output, ServeSettings::of(program, build))
}

/// Does the same with a load side that a host makes.
pub(super) fn serve_with(
    host: impl AgentHost,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    settings: ServeSettings,
) -> Result<(), AgentEnd> {
    let ServeSettings { own, silence_max } = settings;
    let clock = RealClock::start();
    let stop = Arc::new(AtomicBool::new(false));
    let hello = FromAgent::Hello(own_hello(&own.0, &own.1));
    let writer = ControllerWriter::begin(output, &hello, Arc::clone(&stop));
    let contact = Arc::new(ControllerContact::new(clock));
    let (commands, taken) = channel();
    let worker = Worker {
        host,
        clock,
        runs: BTreeMap::new(),
        writer: writer.clone(),
        stop: Arc::clone(&stop),
        contact: Arc::clone(&contact),
        pending: None,
    };
    let (done, is_done) = channel::<()>();
    std::thread::spawn(move || {
        let _done = done;
        worker.work(&taken);
    });
    let reader =
        Reader { own, clock, writer, stop: Arc::clone(&stop), contact: Arc::clone(&contact), commands };
    let (ended, end) = channel();
    // In a thread of its own: the input of an agent whose controller is gone may never end.
    std::thread::spawn(move || ended.send(reader.read_all(input)));
    let end = loop {
        match end.recv_timeout(STEP) {
            Ok(end) => break end,
            // It has panicked; the message is on standard error.
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                let silence = contact.silence();
                if silence_max < silence {
                    break Err(AgentEnd::Silent { silence });
                }
            }
        }
    };
    contact.end();
    stop.store(true, Ordering::Relaxed);
    // The process ends anyway.
    let _ = is_done.recv_timeout(END_MAX);
    end
}

/// The reader of what the controller says.
struct Reader {
    own: (String, String),
    clock: RealClock,
    writer: ControllerWriter,
    stop: Arc<AtomicBool>,
    contact: Arc<ControllerContact>,
    commands: Sender<ToAgent>,
}

impl Reader {
    /// Takes messages until the controller hangs up.
    fn read_all(self, mut input: impl Read) -> Result<(), AgentEnd> {
        let mut is_known = false;
        loop {
            let message =
                read_frame(&mut input, TO_AGENT_BYTES_MAX).and_then(|bytes| Ok(ToAgent::decode(&bytes)?));
            let now = self.clock.now();
            self.contact.hear(now);
            match message {
                Err(LinkError::Closed | LinkError::Io(_)) => return Ok(()),
                Err(error) => return Err(AgentEnd::Link(error.to_string())),
                Ok(ToAgent::Hello { program, build }) => {
                    let found = (program, build);
                    if found != self.own {
                        return Err(AgentEnd::OtherBuild { own: self.own, found });
                    }
                    is_known = true;
                }
                Ok(_) if !is_known => return Err(AgentEnd::Link("it has not said who it is".to_owned())),
                Ok(ToAgent::Heartbeat) => {}
                Ok(ToAgent::Ping { number, acknowledged }) => {
                    self.contact.acknowledge(acknowledged);
                    // One for which there is no room is asked again.
                    self.writer.offer(&FromAgent::Pong { number, at: now });
                }
                Ok(ToAgent::Stop) => self.stop.store(true, Ordering::Relaxed),
                Ok(message) => {
                    if matches!(message, ToAgent::Prepare { .. } | ToAgent::Probe { .. }) {
                        // Here, so that a request to stop which follows is not forgotten.
                        self.stop.store(false, Ordering::Relaxed);
                        self.contact.acknowledge(0);
                    }
                    if self.commands.send(message).is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// A run as its agent knows it.
struct AgentRun<L: LoadSide> {
    plan: Arc<Plan>,
    agent: u32,
    secrets: Secrets,
    load: L,
    /// The target that was resolved last, with the form in which its server came.
    target: Option<(ServerForm, L::Target)>,
}

struct Worker<H: AgentHost> {
    host: H,
    clock: RealClock,
    runs: BTreeMap<u32, AgentRun<H::Load>>,
    writer: ControllerWriter,
    stop: Arc<AtomicBool>,
    contact: Arc<ControllerContact>,
    /// A command that came in place of the start.
    pending: Option<ToAgent>,
}

/// Tells the controller of a panic, whose message is on standard error.
struct TellPanic(ControllerWriter);

impl Drop for TellPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.send(&failed(AgentFailureKind::Internal, "it panicked, which is a bug in this program"));
        }
    }
}

impl<H: AgentHost> Worker<H> {
    fn work(mut self, commands: &Receiver<ToAgent>) {
        let _guard = TellPanic(self.writer.clone());
        while let Some(command) = self.next_command(commands) {
            let answer = match command {
                ToAgent::SetUp { run, agent, plan, secrets } => {
                    self.set_up(run, agent, &plan, secrets).map(Some)
                }
                ToAgent::Probe { run, server } => self.probe(run, &server).map(Some),
                ToAgent::Prepare { run, server, point } => self.load_point(run, &server, point, commands),
                // There is nothing to begin or to abandon.
                _ => continue,
            };
            if let Some(answer) = answer.unwrap_or_else(Some) {
                self.writer.send(&answer);
            }
        }
    }

    /// Waits for the next command; `None` where there is nobody for whom to work.
    fn next_command(&mut self, commands: &Receiver<ToAgent>) -> Option<ToAgent> {
        let mut next = self.pending.take();
        while next.is_none() && !self.contact.is_over() {
            match commands.recv_timeout(STEP) {
                Ok(command) => next = Some(command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        next
    }

    fn set_up(
        &mut self,
        run: u32,
        agent: u32,
        plan: &[u8],
        secrets: Secrets,
    ) -> Result<FromAgent, FromAgent> {
        let refused = |text: &str| Err(failed(AgentFailureKind::Usage, text));
        let plan = match wire::decode_plan(plan) {
            Ok(plan) => Arc::new(plan),
            Err(why) => return refused(&why.to_string()),
        };
        if plan.agents.len() <= agent as usize || RUNS_MAX <= self.runs.len() {
            return refused("the plan has no place for this load agent");
        }
        let load = self.host.load(Arc::clone(&plan), agent, self.clock);
        self.runs.insert(run, AgentRun { plan, agent, secrets, load, target: None });
        Ok(FromAgent::Done)
    }

    fn probe(&mut self, run: u32, server: &ServerForm) -> Result<FromAgent, FromAgent> {
        let Worker { host, clock, runs, stop, .. } = self;
        let run = known(runs, run)?;
        let plan = Arc::clone(&run.plan);
        let target = resolved(host, run, server, *clock, stop)?;
        host.probe(target, &plan, *clock, stop).map_err(|error| failed_by(&error))?;
        Ok(FromAgent::Reached { address: host.address(target) })
    }

    /// Runs a load point; returns how it has ended, or nothing if it did not begin and the controller asks for something else.
    fn load_point(
        &mut self,
        run: u32,
        server: &ServerForm,
        point: LoadPoint,
        commands: &Receiver<ToAgent>,
    ) -> Result<Option<FromAgent>, FromAgent> {
        let Worker { host, clock, runs, stop, writer, contact, pending } = self;
        let clock = *clock;
        let run = known(runs, run)?;
        resolved(host, run, server, clock, stop)?;
        let AgentRun { plan, agent, load, target, .. } = run;
        let (_, target) = target.as_ref().expect("it was resolved");
        let (sender, messages) = channel();
        let sessions = load.prepare(target, point, sender.clone(), stop).map_err(failed_load)?;
        writer.send(&FromAgent::Ready(sessions));
        let Some(origin) = wait_for_start(commands, pending, stop) else {
            load.abandon();
            let over = FromAgent::Over { records: 0, counts: FamilyCounts::default() };
            return Ok(pending.is_none().then_some(over));
        };
        let late = clock.now().saturating_sub(origin);
        load.go(origin);
        writer.send(&FromAgent::Begun { late });
        let begun = StartedLoadPoint {
            cpus: collector_cpus(plan, *agent),
            index: point.index,
            may_end_early: plan.operations.is_some(),
            clock,
            origin,
            messages,
            sender,
        };
        let switch = StopSwitch::new(stop);
        let mut sending =
            SendingCollector { writer, contact, switch: &switch, n: 0, missing: Vec::new(), failure: None };
        let server = WatchedServer { sut: None, meter: None };
        let counts = collect_load_point(begun, load, &mut [], server, &mut sending, &switch);
        let SendingCollector { n, missing, failure, .. } = sending;
        let mut counts = counts.map_err(failed_load)?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        if !missing.is_empty() {
            counts.of_load.push((RECORDS_COMPLETE.to_owned(), false, missing_text(&missing)));
        }
        Ok(Some(FromAgent::Over { records: n, counts }))
    }
}

/// Returns a run that was set up.
fn known<L: LoadSide>(
    runs: &mut BTreeMap<u32, AgentRun<L>>,
    run: u32,
) -> Result<&mut AgentRun<L>, FromAgent> {
    runs.get_mut(&run).ok_or_else(|| failed(AgentFailureKind::Internal, "the run was not set up"))
}

/// Resolves the server of a run, once as long as it is the same.
fn resolved<'a, H: AgentHost>(
    host: &H,
    run: &'a mut AgentRun<H::Load>,
    server: &ServerForm,
    clock: RealClock,
    stop: &AtomicBool,
) -> Result<&'a <H::Load as LoadSide>::Target, FromAgent> {
    let known = run.target.take().filter(|(known, _)| known == server);
    let target = match known {
        Some(target) => target,
        None => {
            let named = server.read().map_err(|why| failed(AgentFailureKind::Usage, &why.to_string()))?;
            let target = host.resolve(&named, run.secrets.clone(), clock, stop);
            (server.clone(), target.map_err(|error| failed_by(&error))?)
        }
    };
    Ok(&run.target.insert(target).1)
}

/// Waits until the controller says when the load point begins; `None` if it does not begin. Another command is kept.
fn wait_for_start(
    commands: &Receiver<ToAgent>,
    pending: &mut Option<ToAgent>,
    stop: &AtomicBool,
) -> Option<Nanos> {
    loop {
        match commands.recv_timeout(STEP) {
            Ok(ToAgent::Go { origin }) => return Some(origin),
            Ok(ToAgent::Abandon) | Err(RecvTimeoutError::Disconnected) => return None,
            Ok(other) => {
                *pending = Some(other);
                return None;
            }
            Err(RecvTimeoutError::Timeout) if stop.is_requested() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Returns the CPUs of this machine on which records are merged and sent: those of the load threads, where a server on the same
/// machine has its own; empty: any.
fn collector_cpus(plan: &Plan, agent: u32) -> Vec<u32> {
    let agent = &plan.agents[agent as usize];
    if plan.sut.cpus.is_empty() || agent.machine != 0 { Vec::new() } else { agent.cpus.clone() }
}

fn failed(kind: AgentFailureKind, text: &str) -> FromAgent {
    FromAgent::Failed { kind, text: text.to_owned() }
}

fn failed_load(error: LoadError) -> FromAgent {
    failed_by(&error.into())
}

/// Returns the message of a failure.
fn failed_by(error: &FleetError) -> FromAgent {
    let kind = match error {
        FleetError::Policy(TargetPolicyError::Forbidden { .. }) => AgentFailureKind::Refused,
        FleetError::Verify(VerifyError::Setup(_)) | FleetError::Load(LoadError::Setup(_)) => {
            AgentFailureKind::Usage
        }
        FleetError::Load(LoadError::Panicked | LoadError::Collect(_)) => AgentFailureKind::Internal,
        _ => AgentFailureKind::Testbed,
    };
    failed(kind, &error.to_string())
}

/// A collector that sends the records of all threads of this agent, each second merged into one.
struct SendingCollector<'a> {
    writer: &'a ControllerWriter,
    contact: &'a ControllerContact,
    switch: &'a StopSwitch<'a>,
    /// Records that were sent.
    n: u64,
    missing: Vec<MissingRecord>,
    failure: Option<FromAgent>,
}

impl SendingCollector<'_> {
    /// Ends the load point for a reason: the first one counts.
    fn fail(&mut self, failure: FromAgent) {
        self.switch.end();
        self.failure.get_or_insert(failure);
    }
}

impl Collector for SendingCollector<'_> {
    /// Sends a record. Behind one that was not sent none is: the controller would take it for the next.
    fn interval(&mut self, record: &IntervalRecord) {
        if self.failure.is_some() {
            return;
        }
        let waiting = self.contact.unacknowledged(self.n);
        let sent = FromAgent::Record { number: self.n, record: wire::encode(record) };
        if waiting < UNACKNOWLEDGED_MAX && self.writer.offer(&sent) {
            self.n += 1;
        } else {
            self.fail(failed(AgentFailureKind::Unacknowledged, &behind_text(waiting)));
        }
    }

    fn example(&mut self, example: Example) {
        // It is an illustration, and counted elsewhere.
        self.writer.offer(&FromAgent::Example(example));
    }

    fn readings(&mut self, _: u32, _: Nanos, _: MonitorReading) {}

    fn missing(&mut self, records: &[MissingRecord]) {
        self.missing = records.to_vec();
    }

    fn failed(&mut self, error: FleetError) {
        self.fail(failed_by(&error));
    }
}

/// Says that the controller does not keep up with records.
fn behind_text(waiting: u64) -> String {
    format!(
        "it has ended its load, as the controller has not taken its last {waiting} records: the way between them is \
         too slow or interrupted"
    )
}
