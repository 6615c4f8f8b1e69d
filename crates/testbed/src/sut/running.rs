//! A system under test while it runs.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use model::{FactSection, SutUse, Workload};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use units::{Clock, Nanos, RealClock};

use super::launch::{Launch, find_program, version_of};
use super::meter::Meter;
use super::values::{Values, workers_for};
use super::work_dir::{WorkDir, clean_stale};
use super::{SutDied, SutError, SutRequest, facts, ready};
use crate::affinity::available_cpus;
use crate::cgroup::{Group, NoGroup};
use crate::inventory::user_name;
use crate::open_files::open_files_max;
use crate::populate::{Populated, populate};
use crate::process::{self, family_of};
use crate::recipe::{Ready, Recipe, Reset, StopSignal};
use crate::system_file;

/// How long a server may take to answer after a restart.
const RESTART_MAX: Duration = Duration::from_secs(30);

/// The pause between two looks at a server that starts or ends.
const PAUSE: Duration = Duration::from_millis(2);

/// How many lines of a log are shown when a server fails.
const LOG_LINES: usize = 10;

/// A server that was brought up. Dropping it ends it and all its processes, and removes its files and its group.
#[derive(Debug)]
pub struct RunningSut {
    pub(super) recipe: Recipe,
    pub(super) version: Option<String>,
    pub(super) launch: Launch,
    pub(super) values: Values,
    pub(super) config_text: String,
    pub(super) asked_quota: Option<f64>,
    pub(super) populated: Option<Populated>,
    pub(super) meter: Meter,
    address: SocketAddr,
    announcement: Option<Receiver<SocketAddr>>,
    /// What is asked for to see whether the server is ready.
    probe_path: String,
    child: Child,
    // Fields are dropped in this order: the group goes when its processes are gone, the files last.
    pub(super) group: Result<Group, NoGroup>,
    work_dir: WorkDir,
}

impl RunningSut {
    /// Brings a server up: finds it, lays out the file set, writes its configuration, starts it within its limits.
    /// It may not answer yet: see [`RunningSut::wait_ready`]. What killed runs left in the work directory goes.
    ///
    /// A quota that cannot be held is no error: [`RunningSut::quota`] is `None` then, and the facts say why.
    ///
    /// # Errors
    /// If it is not installed, or a directory, the file set or the process could not be made.
    pub fn start(request: SutRequest) -> Result<RunningSut, SutError> {
        let recipe = request.server.into_recipe();
        let program = find_program(&recipe, &request.search_path)?;
        clean_stale(&request.work_dir);
        let work_dir = WorkDir::create(&request.work_dir)?;
        let n_cpus = if request.cpus.is_empty() { available_cpus().len() } else { request.cpus.len() };
        let values = Values {
            port: port(&recipe, request.port)?,
            work_dir: work_dir.path().to_owned(),
            config_file: recipe.config.as_ref().map(|config| config.file.clone()).unwrap_or_default(),
            user: user_name(),
            workers: workers_for(n_cpus, request.quota),
            open_files: open_files_max(),
        };
        let populated = match recipe.needs_root() {
            true => Some(populate(&values.root(), request.workload, |_| {})?),
            false => None,
        };
        let config_text = write_files(&recipe, &values, &work_dir)?;
        let launch = Launch {
            arguments: recipe.start.arguments.iter().map(|argument| values.fill(argument)).collect(),
            cpus: request.cpus,
            output_log: work_dir.path().join("output.log"),
            announces: recipe.ready == Ready::Announced,
            program,
        };
        let group = Group::create(request.quota);
        let mut child = launch.start(group.as_ref().ok())?;
        work_dir.note_leader(child.id());
        Ok(RunningSut {
            version: version_of(&launch.program, &recipe.program),
            meter: Meter::new(group.as_ref().ok(), child.id()),
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, values.port)),
            announcement: child.stdout.take().map(ready::listen),
            probe_path: smallest_object(request.workload),
            asked_quota: request.quota,
            recipe,
            launch,
            values,
            config_text,
            populated,
            child,
            group,
            work_dir,
        })
    }

    /// Waits until the server answers.
    ///
    /// # Errors
    /// If it ends before, or does not answer within `timeout`.
    pub fn wait_ready(&mut self, timeout: Duration) -> Result<(), SutError> {
        let clock = RealClock::start();
        let limit = Nanos::from_secs_f64(timeout.as_secs_f64());
        loop {
            let attempt = self.attempt();
            self.check_alive()?;
            match attempt {
                Ok(()) => return Ok(()),
                Err(last) if limit <= clock.now() => return Err(self.not_ready(timeout, last)),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn attempt(&mut self) -> Result<(), String> {
        match (self.recipe.ready, &self.announcement) {
            (Ready::HttpGet, _) => ready::get(self.address, &self.probe_path),
            (Ready::Connect, _) | (Ready::Announced, None) => ready::connect(self.address).map(drop),
            (Ready::Announced, Some(receiver)) => match receiver.recv_timeout(PAUSE) {
                Ok(address) => {
                    self.address = address;
                    self.announcement = None;
                    Ok(())
                }
                Err(RecvTimeoutError::Timeout) => Err("it announced no address".into()),
                Err(RecvTimeoutError::Disconnected) => Err("it closed its output without an address".into()),
            },
        }
    }

    fn not_ready(&self, waited: Duration, last: String) -> SutError {
        let title = self.recipe.title.clone();
        SutError::NotReady { title, address: self.address.to_string(), waited, last, log: self.log_end() }
    }

    /// Returns where it answers; of a server that announces its address only after [`RunningSut::wait_ready`].
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address as a URL.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns the quota, in CPUs, to which the kernel holds the server; `None` if to none.
    pub fn quota(&self) -> Option<f64> {
        self.group.as_ref().ok().and(self.asked_quota)
    }

    /// Returns what all its processes have used since the start; `None` if that cannot be read. Costs some
    /// microseconds with a control group, a look at every process of the machine without.
    pub fn usage(&self) -> Option<SutUse> {
        self.meter.read()
    }

    /// Puts the server into the state in which a load point begins, as its recipe says, and waits until it answers.
    ///
    /// # Errors
    /// If it does not come up again.
    pub fn reset(&mut self) -> Result<(), SutError> {
        self.check_alive()?;
        match self.recipe.reset {
            Reset::None => Ok(()),
            Reset::Restart => self.restart(),
        }
    }

    fn restart(&mut self) -> Result<(), SutError> {
        let used = self.usage();
        self.end();
        self.child = self.launch.start(self.group.as_ref().ok())?;
        self.announcement = self.child.stdout.take().map(ready::listen);
        self.work_dir.note_leader(self.child.id());
        self.meter.follow(self.child.id(), used);
        self.wait_ready(RESTART_MAX)
    }

    /// Returns what is to be disclosed about the server, its whole configuration included.
    pub fn facts(&self) -> Vec<FactSection> {
        facts::sections(self)
    }

    /// Returns whether the server still runs.
    ///
    /// # Errors
    /// If it ended by itself: how, and the end of its logs.
    pub fn check_alive(&self) -> Result<(), SutDied> {
        match self.ended() {
            None => Ok(()),
            Some(status) => Err(SutDied { title: self.recipe.title.clone(), status, log: self.log_end() }),
        }
    }

    /// Ends the server and removes what was made for it; the same as dropping it.
    pub fn stop(self) {}

    /// Returns how the process ended, and leaves it uncollected: until then nobody else gets its number.
    fn ended(&self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(Pid::from_child(&self.child)), options).ok()??;
        Some(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "in an unknown way".to_owned(),
        })
    }

    /// Asks the server to end, gives it the time of its recipe, and kills what is left.
    fn end(&mut self) {
        let leader = Pid::from_child(&self.child);
        let family = family_of(self.child.id());
        let clock = RealClock::start();
        let limit = Nanos::from_secs(u64::from(self.recipe.stop.seconds));
        // A process that has ended already answers with an error, which is what we want.
        let _ = kill_process(leader, signal(self.recipe.stop.signal));
        drop(self.child.stdin.take());
        while self.ended().is_none() && clock.now() < limit {
            std::thread::sleep(PAUSE);
        }
        // The leader is not collected yet, so that its number, which is the group's, cannot belong to others.
        let _ = kill_process_group(leader, Signal::KILL);
        // Some may have left the process group; the control group, where there is one, has them all.
        family.iter().filter(|member| member.pid != self.child.id()).for_each(process::kill);
        let _ = self.child.wait();
        if let Ok(group) = &self.group {
            group.kill();
        }
    }

    /// Returns the last lines of the server's logs, each on a line of its own.
    fn log_end(&self) -> String {
        let lines = |path: &Path| -> Vec<String> {
            let text = system_file::read(path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(LOG_LINES)..].iter().map(|line| format!("\n  {line}")).collect()
        };
        [lines(&self.launch.output_log), lines(&self.values.error_log())].concat().concat()
    }
}

impl Drop for RunningSut {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the port to use. One that announces its address chooses itself, else a free one is looked for. That
/// the port is free is seen before the start: two servers that both share their port would share the load as well.
fn port(recipe: &Recipe, asked: Option<u16>) -> Result<u16, SutError> {
    if asked.is_none() && recipe.ready == Ready::Announced {
        return Ok(0);
    }
    let port = asked.unwrap_or(0);
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|listener| listener.local_addr());
    free.map(|address| address.port()).map_err(|source| SutError::PortTaken { port, source })
}

/// Writes configuration and directories; returns the text of the configuration.
fn write_files(recipe: &Recipe, values: &Values, work_dir: &WorkDir) -> Result<String, SutError> {
    for directory in &recipe.directories {
        work_dir.make_directory(&work_dir.path().join(directory))?;
    }
    let Some(config) = &recipe.config else { return Ok(String::new()) };
    let text = values.fill(&config.text);
    work_dir.write(&values.config(), &text)?;
    Ok(text)
}

fn smallest_object(workload: &Workload) -> String {
    let smallest = workload.objects.iter().min_by_key(|object| object.bytes);
    smallest.map_or_else(|| "/".to_owned(), |object| object.path.clone())
}

fn signal(signal: StopSignal) -> Signal {
    match signal {
        StopSignal::Term => Signal::TERM,
        StopSignal::Int => Signal::INT,
        StopSignal::Quit => Signal::QUIT,
    }
}
