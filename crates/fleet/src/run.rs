//! A run from plan to run file.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use analysis::find_max::FindMaxError;
use drivers::PolicyError;
use drivers::web::{Target, Trust};
use model::{Ending, Example, IntervalRecord, LoadPoint, Notes, Plan, Reading, Secrets};
use runfile::RunFileError;
use testbed::{Acceleration, MonitorSource, Server, SutError, WatchError};
use thiserror::Error;
use units::Nanos;

use crate::load::LoadError;
use crate::session::{Session, interrupted};
use crate::verify::VerifyError;

/// Why a run ended that its user interrupted.
pub const INTERRUPTED: &str = "interrupted by the user";

/// What a run needs besides its plan.
pub struct RunRequest<'a> {
    /// What to do.
    pub plan: Plan,
    /// What to do it to.
    pub server: ServerChoice,
    /// The values of the plan's secrets.
    pub secrets: Secrets,
    /// The run file; must not exist.
    pub run_file: &'a Path,
    /// Program name, version and build.
    pub program: String,
    /// The command line as given.
    pub command_line: String,
    /// Where a server that is started gets its directory.
    pub work_dir: PathBuf,
    /// Where its program is looked for, before the usual directories.
    pub search_path: Vec<PathBuf>,
    /// The folder in which the server's files are laid out, kept for later runs.
    pub files_dir: PathBuf,
    /// Our own program, which makes pages behind some servers.
    pub executable: PathBuf,
    /// Which machines are watched.
    pub monitoring: Monitoring,
    /// What the operator says about the testbed.
    pub notes: Notes,
    /// Whether serial numbers, names of hosts and users, and addresses are written down.
    pub disclose_identity: bool,
}

/// Which machines are watched while load points run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Monitoring {
    /// None.
    Off,
    /// This one with what runs on it, and others, on which the server is.
    On {
        /// The others.
        others: Vec<MonitorSource>,
    },
}

/// The system under test.
pub enum ServerChoice {
    /// One that this run starts and stops, and what stands in front of it.
    Start(Server, Option<Acceleration>),
    /// One that is there already, and which certificates it may show over TLS.
    External(Target, Trust),
}

/// What goes on, for whoever watches.
#[derive(Debug)]
pub enum Event<'a> {
    /// A step of the preparation has begun: a clause such as `starting nginx`.
    Preparing(&'a str),
    /// The file set is being laid out.
    Files {
        /// Bytes in place.
        done: u64,
        /// Bytes altogether.
        total: u64,
    },
    /// The server is up and right.
    Ready {
        /// Where it is.
        address: String,
        /// What it is: one line.
        server: String,
    },
    /// What follows concerns this of several runs that take turns, by its place.
    Turn(usize),
    /// A load point begins.
    LoadPoint(LoadPoint),
    /// A second has passed.
    Interval(&'a IntervalRecord),
    /// A machine told its counters.
    Readings {
        /// Its number; 0 is this machine.
        machine: u32,
        /// When, from the start of the load point.
        at: Nanos,
        /// What it told, raw.
        readings: &'a [Reading],
    },
    /// The first failure of its kind in this load point.
    Example(&'a Example),
    /// Something that a watcher should know.
    Warning(String),
}

/// Watches a run.
pub trait Observer {
    /// Takes an event.
    fn event(&mut self, event: Event<'_>);
}

/// Why there is no run.
#[derive(Debug, Error)]
pub enum FleetError {
    /// The target policy, or a name that leads nowhere.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The server cannot be brought up, or did not stay up.
    #[error(transparent)]
    Sut(#[from] SutError),
    /// The server does not serve the workload.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The run file cannot be written.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// A machine cannot be watched.
    #[error("{0}\nhint: `--monitor off` does without")]
    Watch(#[from] WatchError),
    /// A load thread cannot work.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A search cannot begin.
    #[error(transparent)]
    Search(#[from] FindMaxError),
}

/// Runs one plan, or several that take turns: every load point is run with each of them before the next one, beginning
/// with another one each time, so that what changes on the machine concerns all alike. Returns how each run ended; its
/// run file holds everything else.
///
/// A run that fails does not end the others. If it failed before its first load point, there is no run file; else there
/// is one that says the reason too, as far as it could still be written. `stop` ends all of them early when set; what
/// was recorded stays.
pub fn run(
    requests: &[RunRequest<'_>],
    observer: &mut (impl Observer + Send),
    stop: &AtomicBool,
) -> Vec<Result<Ending, FleetError>> {
    let mut turns: Vec<Turn> = Vec::new();
    for (place, request) in requests.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            // Those that were brought up end with nothing measured; the others need not begin.
            turns.push(Turn::Ended(Err(VerifyError::Interrupted.into())));
            continue;
        }
        observer.event(Event::Turn(place));
        turns.push(match Session::open(request, observer, stop) {
            Ok(session) => Turn::Running(Box::new(session)),
            Err(error) => Turn::Ended(Err(error)),
        });
    }
    for round in 0.. {
        let mut has_run = false;
        for step in 0..turns.len() {
            let place = (round + step) % turns.len();
            let Turn::Running(session) = &mut turns[place] else { continue };
            let Some(point) = session.next_point() else { continue };
            has_run = true;
            observer.event(Event::Turn(place));
            let result = session.load_point(point, observer, stop);
            let turn = std::mem::replace(&mut turns[place], Turn::Ended(Ok(interrupted())));
            turns[place] = turn.after(result);
        }
        if !has_run {
            break;
        }
    }
    turns.into_iter().map(Turn::end).collect()
}

/// One of several runs that take turns.
enum Turn {
    Running(Box<Session>),
    Ended(Result<Ending, FleetError>),
}

impl Turn {
    /// Goes on after a load point with this result.
    fn after(self, result: Result<bool, FleetError>) -> Turn {
        match (self, result) {
            (Turn::Running(session), Ok(false)) => Turn::Ended(session.close(Ok(interrupted()))),
            (Turn::Running(session), Err(error)) => Turn::Ended(session.close(Err(error))),
            (turn, _) => turn,
        }
    }

    fn end(self) -> Result<Ending, FleetError> {
        match self {
            Turn::Running(session) => session.close(Ok(Ending::Complete)),
            Turn::Ended(result) => result,
        }
    }
}
