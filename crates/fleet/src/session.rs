//! One run from its server's start to the end of its run file, load point by load point, so that several can take turns.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use analysis::find_max::{self, FindMax};
use drivers::web::{Target, Trust};
use drivers::{Policy, PolicyError};
use model::{Ending, FileSet, HttpVersion, LoadPoint, Plan, Protocol, Secrets, Tls};
use runfile::{Header, Writer};
use testbed::{
    DiskLimits, Limits, PopulateError, Populated, RunningSut, Server, SutError, SutRequest, Transport,
    clean_stale, disk_of, populate_unless,
};
use units::{Clock, RealClock, wall};

use crate::disclosed::disclosed;
use crate::load::{Aim, PointWork, run_load_point};
use crate::record::{Record, Watched};
use crate::run::{Event, FleetError, INTERRUPTED, Observer, RunRequest, ServerChoice};
use crate::stop::StopSwitch;
use crate::verify::{VerifyError, verify};
use crate::wait::{first_that_answers, unless_stopped, wait_until};
use crate::watch::{Watcher, follow, watchers};

/// The longest that a server may take until it answers.
const READY_MAX: Duration = Duration::from_secs(20);

/// A run that has begun: its server was started and checked, its run file is open.
pub(crate) struct Session {
    plan: Plan,
    /// The search that says which load point comes next, where the plan has one.
    search: Option<FindMax>,
    n_begun: u32,
    clock: RealClock,
    sut: Option<RunningSut>,
    aim: Aim,
    watchers: Vec<Watcher>,
    record: Record,
    is_fresh: bool,
}

impl Session {
    /// Brings the server up, checks what it serves and creates the run file.
    ///
    /// # Errors
    /// The reason; there is no run file then.
    pub(crate) fn open(
        request: &RunRequest<'_>,
        observer: &mut impl Observer,
        stop: &AtomicBool,
    ) -> Result<Session, FleetError> {
        let clock = RealClock::start();
        let mut sut = start_server(request, observer, stop)?;
        sut.as_ref().map_or(Ok(()), RunningSut::require_limits)?;
        let plan = with_enforced_limits(request, sut.as_ref(), observer);
        let proof = prove_memory_limit(sut.as_mut(), &plan, observer, stop)?;
        let (aim, name) = match (&sut, &request.server) {
            (Some(sut), _) => (aim_at_sut(sut)?, plan.sut.name.clone()),
            (None, ServerChoice::External(target, trust)) => {
                let name = "a server that was already there".to_owned();
                (aim_at(target, trust.clone(), clock, stop)?, name)
            }
            (None, ServerChoice::Start(..)) => unreachable!("a server to be started was started"),
        };
        let aim = Aim { secrets: request.secrets.clone(), ..aim };
        observer.event(Event::Preparing("checking objects of every kind"));
        verify(&plan, &aim, clock, stop)?;
        let watchers = watchers(&request.monitoring, sut.as_ref(), &aim)?;
        observer.event(Event::Ready { address: aim.target.to_string(), server: name });
        let disclosed = disclosed(request, sut.as_ref(), &plan, &aim);
        let header = Header {
            program: request.program.clone(),
            created: wall(),
            command_line: disclosed.command_line,
            plan: plan.clone(),
            testbed: disclosed.testbed,
        };
        let search = find_max::begin(&plan).transpose()?;
        let mut record = Record::new(Writer::create(request.run_file, &header)?, &plan);
        watchers.iter().try_for_each(|watcher| record.machine(&watcher.machine))?;
        proof.map_or(Ok(()), |proof| record.event(&proof))?;
        Ok(Session { plan, search, n_begun: 0, clock, sut, aim, watchers, record, is_fresh: true })
    }

    /// Returns the load point that comes next; `None` if all were run, or the search is over.
    pub(crate) fn next_point(&self) -> Option<LoadPoint> {
        match &self.search {
            None => self.plan.load_points.get(self.n_begun as usize).copied(),
            Some(search) => {
                Some(LoadPoint { index: self.n_begun, load: find_max::next_load(search, &self.plan)? })
            }
        }
    }

    /// Runs the load point that comes next, the server put into its first state before. Returns `false` if `stop` was
    /// set.
    ///
    /// # Errors
    /// Whatever makes further load points useless; what was recorded until then stays.
    pub(crate) fn load_point<O: Observer + Send>(
        &mut self,
        point: LoadPoint,
        observer: &mut O,
        stop: &AtomicBool,
    ) -> Result<bool, FleetError> {
        wait_until(self.clock.now() + self.plan.phases.quiet, self.clock, stop);
        if let Some(sut) = self.sut.as_mut().filter(|_| !self.is_fresh) {
            sut.reset()?;
            if let Some(proof) = prove_memory_limit(Some(sut), &self.plan, observer, stop)? {
                self.record.event(&proof)?;
            }
            self.aim = Aim { secrets: std::mem::take(&mut self.aim.secrets), ..aim_at_sut(sut)? };
            follow(&mut self.watchers, sut, &self.aim);
        }
        self.is_fresh = false;
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        observer.event(Event::LoadPoint(point));
        self.n_begun += 1;
        self.record.begin(point)?;
        let switch = StopSwitch::new(stop);
        let mut watched = Watched::new(point.index, &mut self.record, observer, self.sut.as_mut(), &switch);
        let work = PointWork { plan: &self.plan, point, aim: &self.aim, clock: self.clock };
        let handshakes = run_load_point(&work, &mut self.watchers, &mut watched, &switch)?;
        if self.plan.protocol.tls != Tls::Off {
            self.record.handshakes(point, handshakes)?;
        }
        if let Some(error) = self.record.error.take() {
            return Err(error);
        }
        if let (Some(search), Some(result)) = (&mut self.search, self.record.result(point.index)) {
            find_max::observe(search, &self.plan, &result);
        }
        Ok(!stop.load(Ordering::Relaxed))
    }

    /// Stores results and ending and closes the run file; the server goes.
    ///
    /// # Errors
    /// What ended the run, if that was an error: it says more than that its file could then not be closed either.
    pub(crate) fn close(self, result: Result<Ending, FleetError>) -> Result<Ending, FleetError> {
        let stated = match &result {
            Ok(ending) => ending.clone(),
            Err(error) => Ending::Stopped(error.to_string()),
        };
        let finished = self.record.finish(&stated);
        let ending = result?;
        finished?;
        Ok(ending)
    }
}

/// Returns how a run ends that its user interrupted.
pub(crate) fn interrupted() -> Ending {
    Ending::Stopped(INTERRUPTED.into())
}

fn start_server(
    request: &RunRequest<'_>,
    observer: &mut impl Observer,
    stop: &AtomicBool,
) -> Result<Option<RunningSut>, FleetError> {
    let ServerChoice::Start(server, accelerator) = &request.server else { return Ok(None) };
    for path in clean_stale(&request.work_dir) {
        observer
            .event(Event::Warning(format!("removed what a killed run left behind: `{}`", path.display())));
    }
    let plan = &request.plan;
    let files = plan.file_set();
    let root = match server {
        // It makes its files itself, in memory, or has none.
        Server::BuiltIn { .. } | Server::Accelerator { .. } => None,
        Server::Recipe(_) => Some(lay_out(request, &files, observer, stop)?),
    };
    go_on_unless(stop)?;
    let behind = plan.sut.accelerator.as_ref().map(|one| format!(" behind {}", one.name)).unwrap_or_default();
    observer.event(Event::Preparing(&format!("starting {}{behind}", plan.sut.name)));
    let mut sut = RunningSut::start(SutRequest {
        server: server.clone(),
        work_dir: request.work_dir.clone(),
        files: &files,
        root,
        limits: limits(request),
        port: None,
        search_path: request.search_path.clone(),
        profile: plan.sut.profile.clone(),
        transport: transport(&plan.protocol),
        gateway: plan.sut.gateway,
        program: request.executable.clone(),
        accelerator: accelerator.clone(),
    })?;
    sut.wait_ready_unless(READY_MAX, stop)?;
    go_on_unless(stop)?;
    if accelerator.is_some() {
        observer.event(Event::Preparing("having the accelerator fetch every file once"));
        sut.warm_unless(&files, plan.protocol.http == HttpVersion::Http10, stop)?;
        go_on_unless(stop)?;
    }
    Ok(Some(sut))
}

/// Lays the server's files out, or finds them there from a run before.
fn lay_out(
    request: &RunRequest<'_>,
    files: &FileSet,
    observer: &mut impl Observer,
    stop: &AtomicBool,
) -> Result<Populated, FleetError> {
    let total = files.bytes();
    let progress = |done| observer.event(Event::Files { done, total });
    match populate_unless(&request.files_dir, files, stop, progress) {
        Err(PopulateError::Stopped) => Err(VerifyError::Interrupted.into()),
        populated => Ok(populated.map_err(SutError::from)?),
    }
}

/// Returns how requests of a protocol travel, as recipes name it.
pub fn transport(protocol: &Protocol) -> Transport {
    match (protocol.tls, protocol.http) {
        (Tls::Off, _) => Transport::Plain,
        (_, HttpVersion::Http2) => Transport::TlsHttp2,
        _ => Transport::Tls,
    }
}

/// Returns what the kernel is to hold the server to.
fn limits(request: &RunRequest<'_>) -> Limits {
    let sut = &request.plan.sut;
    Limits {
        cpus: sut.cpus.clone(),
        quota: sut.quota.filter(|_| !limits_itself(&request.server)),
        memory: sut.memory,
        disk: sut.disk.map(|share| DiskLimits {
            // One that is not found is said where limits are set that do not hold.
            device: disk_of(&request.files_dir).unwrap_or_default(),
            read_bytes: share.read_bytes,
            write_bytes: share.write_bytes,
            reads: share.reads,
            writes: share.writes,
        }),
    }
}

/// The built-in server does so; of an accelerator in front of it, it knows nothing.
pub(crate) fn limits_itself(server: &ServerChoice) -> bool {
    matches!(server, ServerChoice::Start(Server::BuiltIn { .. }, None))
}

/// Returns the plan with the quota that is in force: one that this machine does not allow is none.
fn with_enforced_limits(
    request: &RunRequest<'_>,
    sut: Option<&RunningSut>,
    observer: &mut impl Observer,
) -> Plan {
    let mut plan = request.plan.clone();
    let Some(held) = sut.map(RunningSut::held) else { return plan };
    if let Some(quota) = plan.sut.quota.filter(|_| !limits_itself(&request.server) && held.quota.is_none()) {
        plan.sut.quota = None;
        plan.sut.quota_reason = format!("{quota} CPUs were wanted, but cannot be enforced on this machine");
        let warning =
            format!("server not limited: its quota of {quota} CPUs cannot be enforced on this machine");
        observer.event(Event::Warning(warning));
    }
    plan
}

/// Has a server whose memory is limited meet its limit before load begins, and warns where it does not. Returns what
/// the run file is to say of it; `None` without such a limit.
fn prove_memory_limit(
    sut: Option<&mut RunningSut>,
    plan: &Plan,
    observer: &mut impl Observer,
    stop: &AtomicBool,
) -> Result<Option<String>, FleetError> {
    let Some(sut) = sut.filter(|sut| sut.held().memory.is_some()) else { return Ok(None) };
    observer.event(Event::Preparing("having the server meet its limit on memory"));
    let is_http10 = plan.protocol.http == HttpVersion::Http10;
    let proof = sut.prove_memory_limit(&plan.file_set(), is_http10, stop)?;
    let text = proof
        .map_or("does not bind: its control group keeps no account".to_owned(), |proof| proof.to_string());
    let text = format!("limit on the server's memory {text}");
    if !proof.is_some_and(|proof| proof.binds()) {
        let warning = format!(
            "{text}; it may not hold the server back, so do not read this run as one with little memory"
        );
        observer.event(Event::Warning(warning));
    }
    Ok(Some(text))
}

fn aim_at_sut(sut: &RunningSut) -> Result<Aim, PolicyError> {
    // Without TLS it has none, and none is asked for.
    let trust = sut.certificate_der().map_or(Trust::Any, |der| Trust::Certificate(der.to_owned()));
    let target: Target = sut.url().parse().expect("our own URL");
    let addresses = Policy.resolve(&target.host, target.port)?;
    Ok(Aim { target, address: addresses[0], trust, secrets: Secrets::default() })
}

fn aim_at(target: &Target, trust: Trust, clock: RealClock, stop: &AtomicBool) -> Result<Aim, FleetError> {
    let (host, port) = (target.host.clone(), target.port);
    let addresses =
        unless_stopped(stop, move || Policy.resolve(&host, port)).ok_or(VerifyError::Interrupted)??;
    let address = first_that_answers(&addresses, clock, stop).ok_or(VerifyError::Interrupted)?;
    Ok(Aim { target: target.clone(), address, trust, secrets: Secrets::default() })
}

/// Ends the preparation if `stop` is set.
fn go_on_unless(stop: &AtomicBool) -> Result<(), VerifyError> {
    match stop.load(Ordering::Relaxed) {
        true => Err(VerifyError::Interrupted),
        false => Ok(()),
    }
}
