//! A run from plan to run file.

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use analysis::Analyzer;
use analysis::audit::StatedRow;
use drivers::web::Target;
use drivers::{Policy, PolicyError};
use model::{Ending, Example, FactSection, IntervalRecord, LoadPoint, Plan, SutUse, Testbed};
use runfile::{Header, RunFileError, Writer};
use testbed::{RunningSut, Server, SutError, SutRequest, clean_stale, inventory};
use thiserror::Error;
use units::{Nanos, RealClock, wall};

use crate::load::{Aim, Collector, LoadError, run_load_point};
use crate::verify::{VerifyError, verify};

/// Why a run ended that its user interrupted.
pub const INTERRUPTED: &str = "interrupted by the user";

/// The longest that a server may take until it answers.
const READY_MAX: Duration = Duration::from_secs(20);

/// The longest that one of several addresses may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// How often a pause looks whether it is to end.
const PAUSE_STEP: Duration = Duration::from_millis(100);

/// What a run needs besides its plan.
pub struct RunRequest<'a> {
    /// What to do.
    pub plan: Plan,
    /// What to do it to.
    pub server: ServerChoice,
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
}

/// The system under test.
pub enum ServerChoice {
    /// One that this run starts and stops.
    Start(Server),
    /// One that is there already.
    External(Target),
}

/// What goes on, for whoever watches.
#[derive(Debug)]
pub enum Event<'a> {
    /// A step of the preparation has begun: a clause such as `starting nginx`.
    Preparing(&'a str),
    /// The server is up and right.
    Ready {
        /// Where it is.
        address: String,
        /// What it is: one line.
        server: String,
    },
    /// A load point begins.
    LoadPoint(LoadPoint),
    /// A second has passed.
    Interval(&'a IntervalRecord),
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
    /// A load thread cannot work.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Runs a plan. Returns how the run ended; the run file holds everything else.
///
/// `stop` ends the run early when set; what was recorded stays.
///
/// # Errors
/// Before the first load point: the reason, and no run file. Later: the reason, and a run file that
/// says it too, as far as it can still be written.
pub fn run(
    request: RunRequest<'_>,
    observer: &mut (impl Observer + Send),
    stop: &AtomicBool,
) -> Result<Ending, FleetError> {
    let clock = RealClock::start();
    let mut sut = start_server(&request, observer)?;
    let plan = &with_enforced_quota(&request, sut.as_ref(), observer);
    let (aim, name) = match (&sut, &request.server) {
        (Some(sut), _) => (aim_at(&sut.url().parse().expect("our own URL"))?, plan.sut.name.clone()),
        (None, ServerChoice::External(target)) => (aim_at(target)?, "a server that was already there".into()),
        (None, ServerChoice::Start(_)) => unreachable!("a server to be started was started"),
    };
    observer.event(Event::Preparing("checking objects of every kind"));
    verify(plan, &aim, clock, stop)?;
    observer.event(Event::Ready { address: aim.target.to_string(), server: name });

    let testbed = Testbed { sections: facts(sut.as_ref(), &aim) };
    let header = Header {
        program: request.program.clone(),
        created: wall(),
        command_line: request.command_line.clone(),
        plan: plan.clone(),
        testbed,
    };
    let writer = Writer::create(request.run_file, &header)?;
    let mut record = Record::new(writer, plan, observer);
    let result = run_load_points(plan, &aim, clock, &mut sut, &mut record, stop);
    let ending = match &result {
        Ok(ending) => ending.clone(),
        Err(error) => Ending::Stopped(error.to_string()),
    };
    let finished = record.finish(&ending);
    // What ended the run says more than that its file could then not be closed either.
    let ending = result?;
    finished?;
    Ok(ending)
}

fn start_server(
    request: &RunRequest<'_>,
    observer: &mut impl Observer,
) -> Result<Option<RunningSut>, FleetError> {
    let ServerChoice::Start(server) = &request.server else { return Ok(None) };
    for path in clean_stale(&request.work_dir) {
        observer
            .event(Event::Warning(format!("removed what a killed run left behind: `{}`", path.display())));
    }
    let plan = &request.plan;
    observer.event(Event::Preparing(&format!("starting {}", plan.sut.name)));
    let mut sut = RunningSut::start(SutRequest {
        server: server.clone(),
        work_dir: request.work_dir.clone(),
        files: &plan.file_set(),
        cpus: plan.sut.cpus.clone(),
        quota: plan.sut.quota.filter(|_| !limits_itself(&request.server)),
        port: None,
        search_path: request.search_path.clone(),
    })?;
    sut.wait_ready(READY_MAX)?;
    Ok(Some(sut))
}

fn limits_itself(server: &ServerChoice) -> bool {
    matches!(server, ServerChoice::Start(Server::BuiltIn { .. }))
}

/// Returns the plan with the quota that is in force: none where this machine does not allow one.
fn with_enforced_quota(
    request: &RunRequest<'_>,
    sut: Option<&RunningSut>,
    observer: &mut impl Observer,
) -> Plan {
    let mut plan = request.plan.clone();
    let is_enforced = limits_itself(&request.server) || sut.is_none_or(|sut| sut.quota().is_some());
    if let Some(quota) = plan.sut.quota.filter(|_| !is_enforced) {
        plan.sut.quota = None;
        plan.sut.quota_reason = format!("{quota} CPUs were wanted, but cannot be enforced on this machine");
        observer.event(Event::Warning(format!("server not limited: {}", plan.sut.quota_reason)));
    }
    plan
}

fn aim_at(target: &Target) -> Result<Aim, PolicyError> {
    let addresses = Policy.resolve(&target.host, target.port)?;
    Ok(Aim { target: target.clone(), address: first_that_answers(&addresses) })
}

/// Returns the first address at which somebody listens, else the first: `localhost` is two addresses, and most
/// servers listen on one of them.
fn first_that_answers(addresses: &[SocketAddr]) -> SocketAddr {
    let answers = |address: &&SocketAddr| TcpStream::connect_timeout(address, ANSWER_MAX).is_ok();
    match addresses {
        [only] => *only,
        several => *several.iter().find(answers).unwrap_or(&several[0]),
    }
}

fn facts(sut: Option<&RunningSut>, aim: &Aim) -> Vec<FactSection> {
    let mut sections = match sut {
        Some(sut) => sut.facts(),
        None => vec![FactSection::new(
            "System under test",
            [
                ("server", "not started by this run: nothing is known of its configuration".to_owned()),
                ("target", aim.target.to_string()),
                ("address", aim.address.to_string()),
            ],
        )],
    };
    sections.extend(inventory());
    sections
}

fn run_load_points<O: Observer + Send>(
    plan: &Plan,
    aim: &Aim,
    clock: RealClock,
    sut: &mut Option<RunningSut>,
    record: &mut Record<'_, O>,
    stop: &AtomicBool,
) -> Result<Ending, FleetError> {
    for point in &plan.load_points {
        pause(plan.phases.quiet, stop);
        let aim = match sut {
            Some(sut) if point.index != 0 => {
                sut.reset()?;
                aim_at(&sut.url().parse().expect("our own URL"))?
            }
            _ => aim.clone(),
        };
        if stop.load(Ordering::Relaxed) {
            return Ok(record.stopped());
        }
        record.begin(*point)?;
        let mut collector = Watched { record, sut: sut.as_mut(), used: None, stop };
        collector.begin();
        run_load_point(plan, *point, &aim, clock, &mut collector, stop)?;
        if let Some(error) = record.error.take() {
            return Err(error);
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(record.stopped());
        }
    }
    Ok(Ending::Complete)
}

fn pause(length: Nanos, stop: &AtomicBool) {
    let mut left = Duration::from_nanos(length.0);
    while !left.is_zero() && !stop.load(Ordering::Relaxed) {
        let step = left.min(PAUSE_STEP);
        std::thread::sleep(step);
        left -= step;
    }
}

/// Where everything that is recorded goes: run file, analysis, watcher.
struct Record<'a, O> {
    writer: Writer,
    analyzer: Analyzer,
    observer: &'a mut O,
    /// What went wrong while records came in; ends the run.
    error: Option<FleetError>,
}

impl<'a, O: Observer> Record<'a, O> {
    fn new(writer: Writer, plan: &Plan, observer: &'a mut O) -> Record<'a, O> {
        Record { writer, analyzer: Analyzer::new(plan), observer, error: None }
    }

    fn begin(&mut self, point: LoadPoint) -> Result<(), RunFileError> {
        self.observer.event(Event::LoadPoint(point));
        self.writer.load_point(point.index, wall())
    }

    /// Stores an interval, then analyzes it: results may only come from what is in the file.
    fn interval(&mut self, mut record: IntervalRecord) -> Result<(), RunFileError> {
        self.observer.event(Event::Interval(&record));
        self.writer.interval(record.clone())?;
        let detail = record.split_detail();
        self.analyzer.interval(&record);
        self.analyzer.detail(&detail);
        Ok(())
    }

    /// Stores an example, likewise.
    fn example(&mut self, example: Example) -> Result<(), RunFileError> {
        self.observer.event(Event::Example(&example));
        self.writer.example(&example)?;
        self.analyzer.example(example);
        Ok(())
    }

    fn stopped(&self) -> Ending {
        Ending::Stopped(INTERRUPTED.into())
    }

    /// Stores the results and closes the file.
    fn finish(mut self, ending: &Ending) -> Result<(), RunFileError> {
        let analysis = self.analyzer.finish(ending.clone());
        for point in &analysis.load_points {
            let row = StatedRow::of(point);
            self.writer.state(row.load_point, &row.cells);
        }
        self.writer.finish(wall(), ending)
    }
}

/// Adds what the server used to the records of a load point.
struct Watched<'r, 'a, O> {
    record: &'r mut Record<'a, O>,
    sut: Option<&'r mut RunningSut>,
    used: Option<SutUse>,
    stop: &'r AtomicBool,
}

impl<O: Observer> Watched<'_, '_, O> {
    fn begin(&mut self) {
        self.used = self.sut.as_ref().and_then(|sut| sut.usage());
    }

    /// Returns what the server used since the last call.
    fn used_since(&mut self) -> Option<SutUse> {
        let now = self.sut.as_ref()?.usage()?;
        let before = self.used.replace(now)?;
        Some(SutUse {
            cpu: now.cpu.saturating_sub(before.cpu),
            throttled: now.throttled.saturating_sub(before.throttled),
        })
    }

    fn fail(&mut self, error: FleetError) {
        self.stop.store(true, Ordering::Relaxed);
        self.record.error.get_or_insert(error);
    }
}

impl<O: Observer + Send> Collector for Watched<'_, '_, O> {
    fn interval(&mut self, mut record: IntervalRecord) {
        record.sut = self.used_since();
        if self.record.error.is_none()
            && let Err(error) = self.record.interval(record)
        {
            self.fail(error.into());
        }
        if let Some(Err(died)) = self.sut.as_ref().map(|sut| sut.check_alive()) {
            self.fail(SutError::from(died).into());
        }
    }

    fn example(&mut self, example: Example) {
        if self.record.error.is_none()
            && let Err(error) = self.record.example(example)
        {
            self.fail(error.into());
        }
    }
}
