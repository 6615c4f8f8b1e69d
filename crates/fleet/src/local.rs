//! The laboratory on this machine: a server that is started here or was there already, and load threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drivers::web::{HandshakeCounts, Target, Trust};
use drivers::{TargetPolicy, TargetPolicyError};
use model::{
    FileSet, HttpVersion, LimitInForce, LoadPoint, Machine, Plan, Protocol, Secrets, ServerLimit, Tls,
};
use observe::disk_of;
use testbed::{
    DiskLimits, PopulateError, Populated, ResourceLimits, RunningSut, Server, SutError, SutRequest,
    Transport, clean_stale, populate_unless,
};
use units::RealClock;

use crate::disclosed::{Disclosed, disclosed};
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::laboratory::{Collector, Laboratory};
use crate::load::{Aim, PointWork, Prepared, collect_load_point};
use crate::request::{RunRequest, ServerChoice};
use crate::stop::StopSwitch;
use crate::verify::{VerifyError, verify};
use crate::wait::{first_that_answers, unless_stopped};
use crate::watch::{Watcher, follow, watchers};

/// The longest that a server may take until it answers.
const READY_MAX: Duration = Duration::from_secs(20);

/// The laboratory on this machine.
pub(crate) struct LocalLab {
    /// With the limits that are in force.
    plan: Plan,
    limits: Vec<LimitInForce>,
    clock: RealClock,
    /// What this run started; `None` if the server was there already.
    sut: Option<RunningSut>,
    aim: Aim,
    watchers: Vec<Watcher>,
    /// What was found about limits, and not recorded yet.
    remarks: Vec<String>,
    /// The load point that comes next, until it is over.
    prepared: Option<Prepared>,
}

impl LocalLab {
    /// Brings the server up with its limits in force, or finds the one that is there already.
    ///
    /// # Errors
    /// If it does not come up, its address is refused, or `stop` is set meanwhile.
    pub(crate) fn start<O: Observer>(
        request: &RunRequest<'_>,
        observer: &mut O,
        stop: &AtomicBool,
    ) -> Result<LocalLab, FleetError> {
        let clock = RealClock::start();
        let mut sut = start_server(request, observer, stop)?;
        sut.as_ref().map_or(Ok(()), RunningSut::require_limits)?;
        let limits: Vec<LimitInForce> =
            unenforced_quota(request, sut.as_ref(), observer).into_iter().collect();
        let mut plan = request.plan.clone();
        limits.iter().for_each(|limit| plan.sut.enforce(limit));
        let remarks = prove_memory_limit(sut.as_mut(), &plan, observer, stop)?.into_iter().collect();
        let aim = match (&sut, &request.server) {
            (Some(sut), _) => aim_at_sut(sut)?,
            (None, ServerChoice::External(target, trust)) => aim_at(target, trust.clone(), clock, stop)?,
            (None, ServerChoice::Start(..)) => unreachable!("a server to be started was started"),
        };
        let aim = Aim { secrets: request.secrets.clone(), ..aim };
        Ok(LocalLab { plan, limits, clock, sut, aim, watchers: Vec::new(), remarks, prepared: None })
    }
}

impl Laboratory for LocalLab {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn limits_in_force(&self) -> &[LimitInForce] {
        &self.limits
    }

    fn described(&self) -> (String, String) {
        let name = match &self.sut {
            Some(_) => self.plan.sut.name.clone(),
            None => "a server that was already there".to_owned(),
        };
        (self.aim.target.to_string(), name)
    }

    fn probe(&mut self, stop: &AtomicBool) -> Result<(), FleetError> {
        Ok(verify(&self.plan, &self.aim, self.clock, stop)?)
    }

    fn watch(&mut self, request: &RunRequest<'_>) -> Result<Vec<Machine>, FleetError> {
        self.watchers = watchers(&request.monitoring, self.sut.as_ref(), &self.aim)?;
        Ok(self.watchers.iter().map(|watcher| watcher.machine.clone()).collect())
    }

    fn disclose(&self, request: &RunRequest<'_>) -> Disclosed {
        disclosed(request, self.sut.as_ref(), &self.plan, &self.aim)
    }

    fn remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    fn reset(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError> {
        let Some(sut) = &mut self.sut else { return Ok(()) };
        sut.reset()?;
        self.remarks.extend(prove_memory_limit(Some(sut), &self.plan, observer, stop)?);
        self.aim = Aim { secrets: std::mem::take(&mut self.aim.secrets), ..aim_at_sut(sut)? };
        follow(&mut self.watchers, sut, &self.aim);
        Ok(())
    }

    fn prepare(&mut self, point: LoadPoint) -> Result<(), FleetError> {
        self.prepared = Some(Prepared::new(point, &self.plan));
        Ok(())
    }

    fn go(&mut self) {
        let prepared = self.prepared.as_mut().expect("a load point is prepared before it begins");
        prepared.go(self.clock);
    }

    fn collect(
        &mut self,
        collector: &mut (dyn Collector + Send),
        stop: &StopSwitch<'_>,
    ) -> Result<HandshakeCounts, FleetError> {
        let prepared = self.prepared.take().expect("a load point is prepared before it begins");
        let work = PointWork { plan: &self.plan, point: prepared.point, aim: &self.aim, clock: self.clock };
        Ok(collect_load_point(&work, prepared, &mut self.watchers, self.sut.as_mut(), collector, stop)?)
    }

    fn stop(self) {
        // The server goes with its handle.
        drop(self.sut);
    }
}

fn start_server(
    request: &RunRequest<'_>,
    observer: &mut dyn Observer,
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
    observer: &mut dyn Observer,
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
fn limits(request: &RunRequest<'_>) -> ResourceLimits {
    let sut = &request.plan.sut;
    ResourceLimits {
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

/// Returns the CPU quota that is in force where this machine does not allow the planned one: none.
fn unenforced_quota(
    request: &RunRequest<'_>,
    sut: Option<&RunningSut>,
    observer: &mut dyn Observer,
) -> Option<LimitInForce> {
    let held = sut.map(RunningSut::held)?;
    let is_unenforced = !limits_itself(&request.server) && held.quota.is_none();
    let quota = request.plan.sut.quota.filter(|_| is_unenforced)?;
    let warning = format!("server not limited: its quota of {quota} CPUs cannot be enforced on this machine");
    observer.event(Event::Warning(warning));
    Some(LimitInForce {
        limit: ServerLimit::CpuQuota,
        value: None,
        reason: format!("{quota} CPUs were wanted, but cannot be enforced on this machine"),
    })
}

/// Has a server whose memory is limited meet its limit before load begins, and warns where it does not. Returns what
/// the run file is to say of it; `None` without such a limit.
fn prove_memory_limit(
    sut: Option<&mut RunningSut>,
    plan: &Plan,
    observer: &mut dyn Observer,
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

fn aim_at_sut(sut: &RunningSut) -> Result<Aim, TargetPolicyError> {
    // Without TLS it has none, and none is asked for.
    let trust = sut.certificate_der().map_or(Trust::Any, |der| Trust::Certificate(der.to_owned()));
    let target: Target = sut.url().parse().expect("our own URL");
    let addresses = TargetPolicy.resolve(&target.host, target.port)?;
    Ok(Aim { target, address: addresses[0], trust, secrets: Secrets::default() })
}

fn aim_at(target: &Target, trust: Trust, clock: RealClock, stop: &AtomicBool) -> Result<Aim, FleetError> {
    let (host, port) = (target.host.clone(), target.port);
    let addresses =
        unless_stopped(stop, move || TargetPolicy.resolve(&host, port)).ok_or(VerifyError::Interrupted)??;
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
