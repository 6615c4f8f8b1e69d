//! A load agent: takes the messages of a controller and runs its share of load points with the load side of its process.
//!
//! | thread | does | ends |
//! |---|---|---|
//! | the caller's | reads messages, answers pings, sets the flag that stops a load point | with the input |
//! | worker | resolves and probes targets, prepares load points, runs and collects them | with the channel of commands |
//! | watchdog | sets the same flag when the controller is silent for [`SILENCE_MAX`] while load runs | with the worker |
//!
//! When the input ends, for whatever reason, so does the load: an agent never outlives its controller.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use drivers::TargetPolicyError;
use engine::StopRequest;
use model::{Example, IntervalRecord, LoadPoint, Plan, Secrets};
use runfile::wire;
use thiserror::Error;
use units::{Clock, Nanos, RealClock};

use crate::agent_error::AgentFailureKind;
use crate::agent_link::{
    FromAgent, GREETING, LinkError, TO_AGENT_BYTES_MAX, ToAgent, own_hello, program_text, read_frame,
    write_frame,
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

/// The longest silence of the controller while load runs; it asks every second.
pub(super) const SILENCE_MAX: Nanos = Nanos::from_secs(60);

/// The period at which the watchdog looks, and a worker that waits for the start.
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
/// The controller is of another build, or nothing that is understood.
pub fn serve_agent(
    input: impl Read,
    output: impl Write + Send + 'static,
    program: &str,
    build: &str,
) -> Result<(), AgentEnd> {
    serve_with(ThreadHost, input, output, program, build)
}

/// Does the same with a load side that a host makes.
pub(super) fn serve_with(
    host: impl AgentHost,
    mut input: impl Read,
    mut output: impl Write + Send + 'static,
    program: &str,
    build: &str,
) -> Result<(), AgentEnd> {
    let clock = RealClock::start();
    let stop = Arc::new(AtomicBool::new(false));
    // One that cannot be written to has nobody at the other end, which the input says.
    let _ = output.write_all(GREETING);
    let outgoing = Outgoing { output: Arc::new(Mutex::new(Box::new(output))), stop: Arc::clone(&stop) };
    outgoing.send(&FromAgent::Hello(own_hello(program, build)));
    let heard = Arc::new(LastContact { at: AtomicU64::new(clock.now().0), loads: AtomicBool::new(false) });
    let (commands, taken) = channel();
    let worker = Worker {
        host,
        clock,
        runs: BTreeMap::new(),
        outgoing: outgoing.clone(),
        stop: Arc::clone(&stop),
        heard: Arc::clone(&heard),
        pending: None,
    };
    let (done, is_done) = channel::<()>();
    std::thread::spawn(move || {
        let _done = done;
        worker.work(&taken);
    });
    let watched = (Arc::clone(&heard), Arc::clone(&stop));
    std::thread::spawn(move || {
        let (heard, stop) = watched;
        // As long as anybody else knows of it.
        while 1 < Arc::strong_count(&heard) {
            std::thread::sleep(STEP);
            let silence = clock.now().saturating_sub(Nanos(heard.at.load(Ordering::Relaxed)));
            if heard.loads.load(Ordering::Relaxed) && SILENCE_MAX < silence {
                stop.store(true, Ordering::Relaxed);
            }
        }
    });
    let own = (program.to_owned(), build.to_owned());
    let end = listen(&mut input, &own, &outgoing, &heard, clock, &commands);
    stop.store(true, Ordering::Relaxed);
    drop(commands);
    // The process ends anyway.
    let _ = is_done.recv_timeout(END_MAX);
    end
}

/// Takes messages until the controller hangs up.
fn listen(
    input: &mut impl Read,
    own: &(String, String),
    outgoing: &Outgoing,
    heard: &LastContact,
    clock: RealClock,
    commands: &Sender<ToAgent>,
) -> Result<(), AgentEnd> {
    let mut is_known = false;
    loop {
        let message = read_frame(input, TO_AGENT_BYTES_MAX).and_then(|bytes| Ok(ToAgent::decode(&bytes)?));
        let now = clock.now();
        heard.at.store(now.0, Ordering::Relaxed);
        match message {
            Err(LinkError::Closed | LinkError::Io(_)) => return Ok(()),
            Err(error) => return Err(AgentEnd::Link(error.to_string())),
            Ok(ToAgent::Hello { program, build }) => {
                let found = (program, build);
                if found != *own {
                    return Err(AgentEnd::OtherBuild { own: own.clone(), found });
                }
                is_known = true;
            }
            Ok(_) if !is_known => return Err(AgentEnd::Link("it has not said who it is".to_owned())),
            Ok(ToAgent::Ping { number }) => outgoing.send(&FromAgent::Pong { number, at: now }),
            Ok(ToAgent::Stop) => outgoing.stop.store(true, Ordering::Relaxed),
            Ok(message) => {
                if matches!(message, ToAgent::Prepare { .. } | ToAgent::Probe { .. }) {
                    // Here, so that a request to stop which follows is not forgotten.
                    outgoing.stop.store(false, Ordering::Relaxed);
                }
                if commands.send(message).is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// The last contact with the controller, as the watchdog knows it.
struct LastContact {
    /// The time of it, in ns.
    at: AtomicU64,
    /// Whether a load point runs.
    loads: AtomicBool,
}

/// The way to the controller.
#[derive(Clone)]
struct Outgoing {
    output: Arc<Mutex<Box<dyn Write + Send>>>,
    stop: Arc<AtomicBool>,
}

impl Outgoing {
    /// Sends a message; load for a controller that cannot be told of it ends.
    fn send(&self, message: &FromAgent) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if write_frame(&mut *output, &message.encode()).is_err() {
            self.stop.store(true, Ordering::Relaxed);
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
    outgoing: Outgoing,
    stop: Arc<AtomicBool>,
    heard: Arc<LastContact>,
    /// A command that came in place of the start.
    pending: Option<ToAgent>,
}

/// Tells the controller of a panic, whose message is on standard error.
struct TellPanic(Outgoing);

impl Drop for TellPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.send(&failed(AgentFailureKind::Internal, "it panicked, which is a bug in this program"));
        }
    }
}

impl<H: AgentHost> Worker<H> {
    fn work(mut self, commands: &Receiver<ToAgent>) {
        let _guard = TellPanic(self.outgoing.clone());
        while let Some(command) = self.pending.take().or_else(|| commands.recv().ok()) {
            let answer = match command {
                ToAgent::SetUp { run, agent, plan, secrets } => {
                    self.set_up(run, agent, &plan, secrets).map(Some)
                }
                ToAgent::Probe { run, server } => self.probe(run, &server).map(Some),
                ToAgent::Prepare { run, server, point } => self.load_point(run, &server, point, commands),
                // There is nothing to begin or to abandon.
                _ => continue,
            };
            self.heard.loads.store(false, Ordering::Relaxed);
            if let Some(answer) = answer.unwrap_or_else(Some) {
                self.outgoing.send(&answer);
            }
        }
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
        let Worker { host, clock, runs, stop, outgoing, heard, pending } = self;
        let clock = *clock;
        let run = known(runs, run)?;
        resolved(host, run, server, clock, stop)?;
        let AgentRun { plan, agent, load, target, .. } = run;
        let (_, target) = target.as_ref().expect("it was resolved");
        let (sender, messages) = channel();
        let sessions = load.prepare(target, point, sender.clone(), stop).map_err(failed_load)?;
        outgoing.send(&FromAgent::Ready(sessions));
        let Some(origin) = wait_for_start(commands, pending, stop) else {
            load.abandon();
            let over = FromAgent::Over { records: 0, counts: FamilyCounts::default() };
            return Ok(pending.is_none().then_some(over));
        };
        let late = clock.now().saturating_sub(origin);
        heard.loads.store(true, Ordering::Relaxed);
        load.go(origin);
        outgoing.send(&FromAgent::Begun { late });
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
            SendingCollector { outgoing, switch: &switch, n: 0, missing: Vec::new(), error: None };
        let server = WatchedServer { sut: None, meter: None };
        let counts = collect_load_point(begun, load, &mut [], server, &mut sending, &switch);
        let SendingCollector { n, missing, error, .. } = sending;
        let mut counts = counts.map_err(failed_load)?;
        if let Some(error) = error {
            return Err(failed_by(&error));
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
    outgoing: &'a Outgoing,
    switch: &'a StopSwitch<'a>,
    /// Records that were sent.
    n: u64,
    missing: Vec<MissingRecord>,
    error: Option<FleetError>,
}

impl Collector for SendingCollector<'_> {
    fn interval(&mut self, record: &IntervalRecord) {
        self.outgoing.send(&FromAgent::Record { number: self.n, record: wire::encode(record) });
        self.n += 1;
    }

    fn example(&mut self, example: Example) {
        self.outgoing.send(&FromAgent::Example(example));
    }

    fn readings(&mut self, _: u32, _: Nanos, _: MonitorReading) {}

    fn missing(&mut self, records: &[MissingRecord]) {
        self.missing = records.to_vec();
    }

    fn failed(&mut self, error: FleetError) {
        self.switch.end();
        self.error.get_or_insert(error);
    }
}
