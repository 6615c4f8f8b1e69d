//! The load agents of a controller: starting them, as processes here or through `ssh`, learning who they are, and ending them.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use languages::{foreign_text, without_credentials};
use model::AGENTS_MAX;
use observe::SshAccount;
use thiserror::Error;
use units::{Clock, Nanos, RealClock};

use super::hello::program_text;
use super::link::{Link, LinkError, LinkEvent};
use super::message::{AgentHello, FromAgent, ToAgent};

/// Options of `ssh`: no prompts, host keys are checked, failures come quickly, and a way that is gone is given up after as long
/// as an agent waits for its controller.
const SSH_ARGUMENTS: &[&str] = &[
    "-T",
    "-oBatchMode=yes",
    "-oStrictHostKeyChecking=yes",
    "-oConnectTimeout=5",
    "-oServerAliveInterval=5",
    "-oServerAliveCountMax=12",
    "-oEscapeChar=none",
    "-oLogLevel=ERROR",
];

/// The command that `ssh` runs there, whatever the account's shell is. The program may also lie where `scp` puts it.
const REMOTE_COMMAND: &str = r#"sh -c 'PATH="$PATH:$HOME"; export PATH; exec plimsoll agent --stdio'"#;

/// The longest wait for all agents to say who they are.
const HELLO_MAX: Nanos = Nanos::from_secs(15);

/// The longest wait for the end of a process that was hung up on.
const END_MAX: Duration = Duration::from_secs(3);

/// The period at which such waits look.
const STEP: Duration = Duration::from_millis(20);

/// Number of bytes of standard error that are kept, from its beginning.
const SAID_BYTES_MAX: usize = 4096;

/// Messages of agents that wait to be read. A record has some 20 KB, at most [`runfile::wire::RECORD_BYTES_MAX`].
const EVENTS_MAX: usize = 64;

/// The exit status of shells that do not find a program.
const NOT_FOUND: i32 = 127;

/// A place where a load agent runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentPlace {
    /// A process of this machine.
    Local,
    /// Another machine.
    Ssh(SshAccount),
}

/// The way in which agents are started, and the program that they must be.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// This program, for agents on this machine.
    pub executable: PathBuf,
    /// Its name and version.
    pub program: String,
    /// Its build.
    pub build: String,
    /// The program that leads to other machines.
    pub ssh: OsString,
    /// Its arguments before the destination.
    pub ssh_arguments: Vec<OsString>,
}

impl AgentOptions {
    /// Makes the options of this program.
    pub fn new(executable: PathBuf, program: String, build: String) -> AgentOptions {
        let ssh_arguments = SSH_ARGUMENTS.iter().map(Into::into).collect();
        AgentOptions { executable, program, build, ssh: "ssh".into(), ssh_arguments }
    }
}

/// A load agent that cannot be used.
#[derive(Debug, Error)]
#[error("load agent {agent}: {problem}")]
pub struct ConnectError {
    /// Its name.
    pub agent: String,
    /// The problem.
    pub problem: ConnectProblem,
}

/// A reason why a load agent cannot be used.
#[derive(Debug, Error)]
pub enum ConnectProblem {
    /// The process could not be started.
    #[error("cannot start `{program}`: {error}")]
    Start {
        /// The program.
        program: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// `ssh` would have to ask for something, and is not let in.
    #[error("`ssh` is not let in without a password: {0}")]
    Password(String),
    /// The host's key is not known, or another one.
    #[error("`ssh` does not accept the key of the host: {0}")]
    HostKey(String),
    /// There is no such program.
    #[error("there is no `plimsoll` on that machine")]
    NoProgram,
    /// A text that was printed before the agent could say anything.
    #[error("expected a load agent, but the shell there prints `{0}`")]
    Banner(String),
    /// It is another program.
    #[error("it runs {}, and this is {}", program_text(.found), program_text(.own))]
    OtherBuild {
        /// Program and build of the agent.
        found: (String, String),
        /// Program and build of this one.
        own: (String, String),
    },
    /// It ended, with the last that it said.
    #[error("it ended: {0}")]
    Ended(String),
    /// It said nothing.
    #[error("no answer within {} s", HELLO_MAX.0 / 1_000_000_000)]
    Silent,
    /// The user asked for the end.
    #[error("interrupted")]
    Interrupted,
    /// It is asked for twice.
    #[error("the same machine is named twice")]
    Twice,
    /// There are too many.
    #[error("there can be {AGENTS_MAX} load agents, of all machines")]
    TooMany,
}

/// A load agent that has said who it is.
#[derive(Debug)]
pub struct ConnectedAgent {
    /// The name by which the user knows it.
    pub name: String,
    /// The number of its machine in plans; 0: this one.
    pub machine: u32,
    /// The account on its machine; `None` on this one.
    pub account: Option<SshAccount>,
    /// Program and machine, as it says itself.
    pub hello: AgentHello,
    link: Mutex<Option<Link>>,
    process: Option<AgentProcess>,
    /// Whether it is lost.
    is_over: AtomicBool,
}

impl ConnectedAgent {
    /// Sends a message; nothing to one that is lost.
    pub(crate) fn send(&self, message: ToAgent) {
        if let Some(link) = &*lock(&self.link) {
            link.send(message);
        }
    }

    /// Returns whether it is lost.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Hangs up, for good: an agent ends its load then.
    pub(crate) fn hang_up(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        lock(&self.link).take();
    }

    /// Says why its link has ended.
    pub(crate) fn why_ended(&self, error: &LinkError) -> String {
        match (error, &self.process) {
            (LinkError::Closed | LinkError::Io(_), Some(process)) => process.last_words(),
            _ => error.to_string(),
        }
    }
}

/// The load agents of a controller, which runs that take turns share.
#[derive(Debug)]
pub struct AgentFleet {
    clock: RealClock,
    agents: Vec<ConnectedAgent>,
    events: Mutex<Receiver<LinkEvent>>,
    n_runs: AtomicU32,
    n_pings: AtomicU32,
}

impl AgentFleet {
    /// Starts load agents and waits until all have said who they are.
    ///
    /// # Errors
    /// Those that cannot be used, at least one.
    pub fn connect(
        places: &[AgentPlace],
        options: &AgentOptions,
        stop: &AtomicBool,
    ) -> Result<Arc<AgentFleet>, Vec<ConnectError>> {
        let mut errors = refused(places);
        if !errors.is_empty() {
            return Err(errors);
        }
        let clock = RealClock::start();
        let (sender, events) = sync_channel(EVENTS_MAX);
        let mut started = Vec::new();
        let mut machine = 0;
        for (index, place) in places.iter().enumerate() {
            let account = match place {
                AgentPlace::Local => None,
                AgentPlace::Ssh(account) => Some(account.clone()),
            };
            machine += u32::from(account.is_some());
            let name = name_of(place, index);
            let place_of = NamedPlace { name, machine: if account.is_some() { machine } else { 0 }, account };
            match StartedAgent::start(index, place, options, clock, sender.clone()) {
                Ok(agent) => started.push((place_of, agent)),
                Err(problem) => errors.push(ConnectError { agent: place_of.name, problem }),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        AgentFleet::greeted(started, (clock, events), options, stop)
    }

    /// Waits until agents that were started have said who they are.
    fn greeted(
        started: Vec<(NamedPlace, StartedAgent)>,
        (clock, events): (RealClock, Receiver<LinkEvent>),
        options: &AgentOptions,
        stop: &AtomicBool,
    ) -> Result<Arc<AgentFleet>, Vec<ConnectError>> {
        let own = (options.program.clone(), options.build.clone());
        let mut answers: Vec<Option<Result<AgentHello, ConnectProblem>>> =
            started.iter().map(|_| None).collect();
        let until = clock.now() + HELLO_MAX;
        while answers.iter().any(Option::is_none) {
            let is_interrupted = stop.load(Ordering::Relaxed);
            if is_interrupted || until < clock.now() {
                for answer in answers.iter_mut().filter(|answer| answer.is_none()) {
                    let why =
                        if is_interrupted { ConnectProblem::Interrupted } else { ConnectProblem::Silent };
                    *answer = Some(Err(why));
                }
                break;
            }
            let Ok(event) = events.recv_timeout(STEP) else { continue };
            let process = started[event.agent].1.process.as_ref();
            answers[event.agent] = Some(greeted(event.message, process, &own));
        }
        let mut errors = Vec::new();
        let mut agents = Vec::new();
        for ((place, StartedAgent { link, process }), answer) in started.into_iter().zip(answers) {
            let NamedPlace { name, machine, account } = place;
            match answer.unwrap_or(Err(ConnectProblem::Silent)) {
                Ok(hello) => {
                    let (program, build) = own.clone();
                    link.send(ToAgent::Hello { program, build });
                    let link = Mutex::new(Some(link));
                    agents.push(ConnectedAgent {
                        name,
                        machine,
                        account,
                        hello,
                        link,
                        process,
                        is_over: AtomicBool::new(false),
                    });
                }
                Err(problem) => errors.push(ConnectError { agent: name, problem }),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Arc::new(AgentFleet {
            clock,
            agents,
            events: Mutex::new(events),
            n_runs: AtomicU32::new(0),
            n_pings: AtomicU32::new(0),
        }))
    }

    /// Makes a fleet of agents at the other end of streams.
    #[cfg(test)]
    pub(crate) fn of_streams<I, O>(streams: Vec<(I, O)>, program: &str, build: &str) -> Arc<AgentFleet>
    where
        I: Read + Send + 'static,
        O: std::io::Write + Send + 'static,
    {
        let clock = RealClock::start();
        let (sender, events) = sync_channel(EVENTS_MAX);
        let started = streams.into_iter().enumerate().map(|(index, (input, output))| {
            let link = Link::begin(index, clock, input, output, sender.clone());
            let place = NamedPlace { name: format!("`test {index}`"), machine: 0, account: None };
            (place, StartedAgent { link, process: None })
        });
        let options = AgentOptions::new(PathBuf::new(), program.to_owned(), build.to_owned());
        let stop = AtomicBool::new(false);
        AgentFleet::greeted(started.collect(), (clock, events), &options, &stop).expect("agents of this test")
    }

    /// Returns the agents, in the order of plans.
    pub fn agents(&self) -> &[ConnectedAgent] {
        &self.agents
    }

    /// Returns the clock of the controller, on which messages are stamped.
    pub(crate) fn clock(&self) -> RealClock {
        self.clock
    }

    /// Returns a number for a run that no other has.
    pub(crate) fn next_run(&self) -> u32 {
        self.n_runs.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns a number for a ping that no other has, of this run or of one before.
    pub(crate) fn next_ping(&self) -> u32 {
        self.n_pings.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the next event, if one comes within a time.
    pub(crate) fn next_event(&self, wait: Duration) -> Option<LinkEvent> {
        lock(&self.events).recv_timeout(wait).ok()
    }
}

impl Drop for AgentFleet {
    /// Ends all agents: all are hung up on, and then waited for together. Those that stand still are killed.
    fn drop(&mut self) {
        self.agents.iter().for_each(ConnectedAgent::hang_up);
        let has_ended = |agent: &ConnectedAgent| agent.process.as_ref().is_none_or(AgentProcess::has_ended);
        let mut waited = Duration::ZERO;
        while waited < END_MAX && !self.agents.iter().all(has_ended) {
            std::thread::sleep(STEP);
            waited += STEP;
        }
    }
}

/// Returns what is wrong with places before anything is started.
fn refused(places: &[AgentPlace]) -> Vec<ConnectError> {
    let error = |index: usize, problem| ConnectError { agent: name_of(&places[index], index), problem };
    if AGENTS_MAX < places.len() {
        return vec![error(AGENTS_MAX, ConnectProblem::TooMany)];
    }
    let is_twice =
        |index: &usize| places[*index] != AgentPlace::Local && places[..*index].contains(&places[*index]);
    (0..places.len()).filter(is_twice).map(|index| error(index, ConnectProblem::Twice)).collect()
}

fn name_of(place: &AgentPlace, index: usize) -> String {
    match place {
        AgentPlace::Local => format!("{index} on this machine"),
        AgentPlace::Ssh(account) => format!("{index} on `{account}`"),
    }
}

/// Returns what an agent says of itself, if it is the same program.
fn greeted(
    message: Result<FromAgent, LinkError>,
    process: Option<&AgentProcess>,
    own: &(String, String),
) -> Result<AgentHello, ConnectProblem> {
    match message {
        Ok(FromAgent::Hello(hello)) => {
            let found = (foreign_text(&hello.program), foreign_text(&hello.build));
            if found == *own {
                Ok(hello)
            } else {
                Err(ConnectProblem::OtherBuild { found, own: own.clone() })
            }
        }
        Ok(_) => Err(ConnectProblem::Ended("it does not say who it is".to_owned())),
        Err(LinkError::NoGreeting(text)) => Err(ConnectProblem::Banner(text)),
        Err(error) => {
            Err(process.map_or_else(|| ConnectProblem::Ended(error.to_string()), AgentProcess::problem))
        }
    }
}

/// The place of an agent, with its name.
struct NamedPlace {
    name: String,
    machine: u32,
    account: Option<SshAccount>,
}

/// An agent that was started.
struct StartedAgent {
    link: Link,
    process: Option<AgentProcess>,
}

impl StartedAgent {
    fn start(
        index: usize,
        place: &AgentPlace,
        options: &AgentOptions,
        clock: RealClock,
        events: SyncSender<LinkEvent>,
    ) -> Result<StartedAgent, ConnectProblem> {
        let mut command = match place {
            AgentPlace::Local => {
                let mut command = Command::new(&options.executable);
                command.args(["agent", "--stdio"]);
                command
            }
            AgentPlace::Ssh(account) => {
                let mut command = Command::new(&options.ssh);
                command.args(&options.ssh_arguments);
                // The destination does not look like an option; the dashes guard against future changes.
                command.args(["--", account.as_str(), REMOTE_COMMAND]);
                command
            }
        };
        let program = command.get_program().to_string_lossy().into_owned();
        // In a group of its own: Ctrl-C is the controller's, which ends its agents when their load is over.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |error| ConnectProblem::Start { program, error };
        let mut child = command.spawn().map_err(failed)?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = AgentProcess::of(child, streams.2, matches!(place, AgentPlace::Ssh(_)));
        let (Some(output), Some(input)) = (streams.0, streams.1) else {
            return Err(ConnectProblem::Ended("it has no standard input and output".to_owned()));
        };
        let link = Link::begin(index, clock, input, output, events);
        Ok(StartedAgent { link, process: Some(process) })
    }
}

/// The process by which an agent is reached; it ends with this value.
#[derive(Debug)]
struct AgentProcess {
    child: Mutex<Child>,
    /// The beginning of what it said on standard error.
    said: Arc<Mutex<Vec<u8>>>,
    is_ssh: bool,
}

impl AgentProcess {
    fn of(child: Child, errors: Option<ChildStderr>, is_ssh: bool) -> AgentProcess {
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&said);
        std::thread::spawn(move || {
            let Some(mut errors) = errors else { return };
            let mut bytes = [0; 1024];
            while let Ok(n @ 1..) = errors.read(&mut bytes) {
                let mut kept = lock(&kept);
                let room = SAID_BYTES_MAX.saturating_sub(kept.len()).min(n);
                kept.extend(&bytes[..room]);
            }
        });
        AgentProcess { child: Mutex::new(child), said, is_ssh }
    }

    /// Returns whether it has ended, or cannot be asked.
    fn has_ended(&self) -> bool {
        !matches!(lock(&self.child).try_wait(), Ok(None))
    }

    /// Returns its exit status, once it has ended; `None` if it goes on.
    fn status(&self) -> Option<i32> {
        let mut waited = Duration::ZERO;
        loop {
            match lock(&self.child).try_wait() {
                // One that a signal ended has none.
                Ok(Some(status)) => return Some(status.code().unwrap_or(-1)),
                Err(_) => return None,
                Ok(None) if END_MAX <= waited => return None,
                Ok(None) => {}
            }
            std::thread::sleep(STEP);
            waited += STEP;
        }
    }

    /// Returns the last line that it said, or how it ended.
    fn last_words(&self) -> String {
        let status = self.status();
        let said = lock(&self.said);
        let said = without_credentials(&foreign_text(String::from_utf8_lossy(&said).trim()));
        match (said.is_empty(), status) {
            (false, _) => said,
            (true, Some(-1)) => "its process was killed".to_owned(),
            (true, Some(status)) => format!("its process ended with status {status}"),
            (true, None) => "the connection has ended".to_owned(),
        }
    }

    /// Returns why it has ended before it said who it is.
    fn problem(&self) -> ConnectProblem {
        let status = self.status();
        let said = self.last_words();
        let has = |text: &str| self.is_ssh && said.to_lowercase().contains(text);
        if self.is_ssh && status == Some(NOT_FOUND) {
            ConnectProblem::NoProgram
        } else if has("host key") || has("host identification") {
            ConnectProblem::HostKey(said)
        } else if has("permission denied") || has("password") || has("passphrase") {
            ConnectProblem::Password(said)
        } else {
            ConnectProblem::Ended(said)
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        if !self.has_ended() {
            let mut child = lock(&self.child);
            // One that has just ended needs no signal.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
