//! The laboratory on this machine: a server that is started here or was there already, and load threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use engine::OpenedSessions;

use model::{
    CheckMoment, ConsistencyCheck, FactSection, LimitInForce, LoadPoint, MonitoredSource, Plan, Secrets,
    ServerLimit,
};
use observe::disk_of;
use testbed::{
    Acceleration, DiskLimits, ResourceLimits, RunningSut, SutRequest, SutServer, WebParts, clean_stale,
};
use units::{Clock, Nanos, RealClock};

use crate::addresses;
use crate::checked::{GoldenCheck, recorded};
use crate::collect::{StartedLoadPoint, WatchedServer, collect_load_point};
use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family::{ResolvedTarget, ServerStart, profile};
use crate::family_counts::FamilyCounts;
use crate::laboratory::{Collector, Laboratory};
use crate::load::LoadSide;
use crate::memory_limit::memory_limit;
use crate::order::{SetupStep, StepOrder};
use crate::request::{RunRequest, ServerChoice};
use crate::setup_error::SetupError;
use crate::stop::{StopSwitch, go_on_unless};
use crate::testbed_disclosure::{TestbedDisclosure, disclosed};
use crate::thread::Message;
use crate::verify::VerifyError;
use crate::wait::wait_until;
use crate::watch::Watchers;

/// The laboratory on this machine, with its load side.
pub(crate) struct LocalLab<S> {
    /// With the limits that are in force.
    plan: Arc<Plan>,
    limits: Vec<LimitInForce>,
    clock: RealClock,
    /// The server that this run started; `None` if it was there already.
    sut: Option<RunningSut>,
    disk_use: Option<DiskUse>,
    target: ResolvedTarget,
    /// The session that the server agreed to, as it is disclosed.
    session: Option<FactSection>,
    watchers: Watchers,
    /// Findings about limits that are not recorded yet.
    remarks: Vec<String>,
    /// Whether the data of each load point are restored from a golden copy, and its check, once it is made.
    has_golden: bool,
    golden_check: Option<GoldenCheck>,
    load: S,
    prepared: Option<PreparedPoint>,
    /// The start of the load point that has begun, on the clock of the run.
    origin: Nanos,
}

/// A load point that was prepared, and the channel by which the load side sends what it records of it.
struct PreparedPoint {
    index: u32,
    sender: Sender<Message>,
    messages: Receiver<Message>,
}

impl<S> LocalLab<S> {
    /// Brings the server up with its limits in force, or finds the one that is there already. `load` makes the load side for
    /// the plan with these limits, on the clock of the run.
    ///
    /// # Errors
    /// If it does not come up, its address is refused, or `stop` is set meanwhile.
    pub(crate) fn start<O: Observer>(
        request: &RunRequest<'_>,
        observer: &mut O,
        stop: &AtomicBool,
        load: impl FnOnce(Arc<Plan>, RealClock) -> S,
    ) -> Result<LocalLab<S>, FleetError> {
        let clock = request.load.clock();
        check_disk(request)?;
        let secrets = request.secrets.clone();
        let (sut, target) = match &request.server {
            ServerChoice::Start(server, acceleration) => {
                let sut = start_server(request, server, acceleration.as_ref(), observer, stop)?;
                sut.require_limits()?;
                let target = ResolvedTarget::of_sut(&sut, request.plan.workload.family(), secrets)?;
                (Some(sut), target)
            }
            ServerChoice::External(server) => (None, ResolvedTarget::resolve(server, secrets, clock, stop)?),
            ServerChoice::Embedded(directory) => {
                let family = request.plan.workload.family();
                let data = profile(family).embedded;
                let data = data.ok_or(VerifyError::Setup(SetupError::OtherFamily(family)))?;
                (None, (data.start)(&request.plan, directory, observer, stop)?)
            }
        };
        let limits: Vec<LimitInForce> =
            unenforced_quota(request, sut.as_ref(), observer).into_iter().collect();
        let mut plan = fitted(&request.plan, sut.as_ref(), &target)?;
        let session = target.inspect(&plan, stop)?;
        let disk_use = match &sut {
            Some(_) => (profile(plan.workload.family()).disk_use)(&plan, &request.data_dir),
            None => target.disk_use(&plan),
        };
        limits.iter().for_each(|limit| plan.sut.enforce(limit));
        let of_server = sut.as_ref().and_then(RunningSut::buffer_warning);
        let remarks: Vec<String> =
            of_server.into_iter().chain(address_remark(&request.server, &target)).collect();
        remarks.iter().for_each(|remark| observer.event(Event::Warning(remark.clone())));
        let plan = Arc::new(plan);
        Ok(LocalLab {
            load: load(Arc::clone(&plan), clock),
            plan,
            limits,
            clock,
            disk_use,
            target,
            session,
            watchers: Watchers::default(),
            remarks,
            has_golden: has_golden(request, sut.as_ref()),
            golden_check: None,
            sut,
            prepared: None,
            origin: Nanos::ZERO,
        })
    }
}

/// Returns what is to be said about the addresses of a running server.
fn address_remark(server: &ServerChoice, target: &ResolvedTarget) -> Option<String> {
    let ServerChoice::External(server) = server else { return None };
    let (host, choice) = server.address_choice()?;
    addresses::remark(host, target.address()?, choice)
}

impl<S: LoadSide<Target = ResolvedTarget>> Laboratory for LocalLab<S> {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn limits_in_force(&self) -> &[LimitInForce] {
        &self.limits
    }

    fn described(&self) -> (String, String) {
        let name = match (&self.sut, self.target.in_process()) {
            (Some(_), _) => self.plan.sut.name.clone(),
            (None, Some(_)) => {
                let data = profile(self.plan.workload.family()).embedded;
                data.map_or("already running", |data| data.described).to_owned()
            }
            (None, None) => "already running".to_owned(),
        };
        (self.target.name(), name)
    }

    fn disk_use(&self) -> Option<&DiskUse> {
        self.disk_use.as_ref()
    }

    fn order(&self) -> &'static StepOrder {
        profile(self.plan.workload.family()).order
    }

    fn quiet(&mut self, stop: &AtomicBool) {
        wait_until(self.clock.now() + self.plan.phases.quiet, self.clock, stop);
    }

    fn check_golden(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError> {
        if self.has_golden && self.golden_check.is_none() {
            observer.event(Event::Preparing("checking the golden copy of the data"));
            let moment = CheckMoment::Before;
            let counts = FamilyCounts::default();
            let rows = self.target.check(&self.plan, self.clock, moment, &counts, stop)?;
            self.golden_check = Some(GoldenCheck::new(rows));
        }
        Ok(())
    }

    fn warm(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError> {
        let Some(sut) = &mut self.sut else {
            // Here, because another run may have used a server that was there since this run began.
            let remark = self.target.reload(&self.plan, self.clock, observer, stop)?;
            self.remarks.extend(remark);
            return Ok(());
        };
        if let Some(files) = profile(self.plan.workload.family()).files {
            (files.warm)(sut, &self.plan, observer, stop)?;
        }
        if profile(self.plan.workload.family()).fills_started {
            self.remarks.extend(self.target.reload(&self.plan, self.clock, observer, stop)?);
            if self.target.cache(&self.plan).evicts() {
                observer.event(Event::Preparing("taking the server's files out of the page cache"));
                sut.evict_data()?;
            }
        } else {
            self.remarks.extend(warm_data(sut, observer, stop)?);
        }
        self.remarks.extend(prove_memory_limit(sut, &self.target, &self.plan, observer, stop)?);
        Ok(())
    }

    fn check(
        &mut self,
        point: LoadPoint,
        moment: CheckMoment,
        counts: &FamilyCounts,
        stop: &AtomicBool,
    ) -> Result<Vec<ConsistencyCheck>, FleetError> {
        match (moment, &self.golden_check) {
            (CheckMoment::Before, Some(golden)) => Ok(golden.before(point)),
            _ => {
                let rows = self.target.check(&self.plan, self.clock, moment, counts, stop)?;
                Ok(recorded(rows, point, moment))
            }
        }
    }

    fn probe(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError> {
        self.target.probe(&self.plan, self.clock, stop)?;
        match self.load.probe(&self.target, stop) {
            Err(_) if stop.load(Ordering::Relaxed) => Err(VerifyError::Interrupted.into()),
            probed => {
                let remarks = probed?;
                remarks.iter().for_each(|remark| observer.event(Event::Warning(remark.clone())));
                self.remarks.extend(remarks);
                Ok(())
            }
        }
    }

    fn watch(
        &mut self,
        request: &RunRequest<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<MonitoredSource>, FleetError> {
        self.watchers = Watchers::begin(&request.monitoring, self.sut.as_ref(), &self.target)?;
        if let Some(unseen) = &self.watchers.unseen {
            let text = format!("the server’s processes are not watched: {unseen}");
            self.remarks.push(text.clone());
            observer.event(Event::Warning(text));
        }
        Ok(self.watchers.all.iter().map(|watcher| watcher.machine.clone()).collect())
    }

    fn disclose(&self, request: &RunRequest<'_>) -> TestbedDisclosure {
        let Self { sut, plan, target, session, watchers, .. } = self;
        disclosed(request, sut.as_ref(), plan, (target, session.clone()), watchers)
    }

    fn remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    fn reset(&mut self, observer: &mut dyn Observer, stop: &AtomicBool) -> Result<(), FleetError> {
        let Some(sut) = &mut self.sut else { return Ok(()) };
        let family = self.plan.workload.family();
        if sut.reset()? {
            self.target = ResolvedTarget::of_sut(sut, family, self.target.secrets())?;
            self.watchers.follow(sut, &self.target);
        }
        if !profile(family).order.before.contains(&SetupStep::Warm) {
            self.remarks.extend(prove_memory_limit(sut, &self.target, &self.plan, observer, stop)?);
        }
        Ok(())
    }

    fn rest(&mut self) -> bool {
        self.sut.as_mut().is_some_and(RunningSut::rest)
    }

    fn prepare(&mut self, point: LoadPoint, stop: &AtomicBool) -> Result<OpenedSessions, FleetError> {
        let (sender, messages) = channel();
        let sessions = self.load.prepare(&self.target, point, sender.clone(), stop)?;
        self.prepared = Some(PreparedPoint { index: point.index, sender, messages });
        Ok(sessions)
    }

    fn go(&mut self) {
        let lead = self.load.lead();
        self.origin = self.clock.now() + lead;
        self.load.go(self.origin);
    }

    fn collect(
        &mut self,
        collector: &mut (dyn Collector + Send),
        stop: &StopSwitch<'_>,
    ) -> Result<FamilyCounts, FleetError> {
        let prepared = self.prepared.take().expect("a load point is prepared before it begins");
        let PreparedPoint { index, sender, messages } = prepared;
        let begun = StartedLoadPoint {
            cpus: collector_cpus(&self.plan),
            index,
            may_end_early: self.plan.operations.is_some(),
            clock: self.clock,
            origin: self.origin,
            messages,
            sender,
        };
        let Watchers { all, meter, .. } = &mut self.watchers;
        let server = WatchedServer { sut: self.sut.as_mut(), meter: meter.as_mut() };
        let counts = collect_load_point(begun, &mut self.load, all, server, collector, stop)?;
        self.remarks.extend(self.watchers.new_back_ends());
        Ok(counts)
    }

    fn stop(self) {
        // The server goes with its handle.
        drop(self.sut);
    }
}

/// Returns the CPUs of this machine on which what load threads record is collected: theirs, where the server has its own;
/// empty: any.
fn collector_cpus(plan: &Plan) -> Vec<u32> {
    if plan.sut.cpus.is_empty() { Vec::new() } else { plan.load_cpus() }
}

/// Checks that the files of users on a server that is to be started are on a disk.
fn check_disk(request: &RunRequest<'_>) -> Result<(), FleetError> {
    let is_started = matches!(request.server, ServerChoice::Start(..));
    let profile = profile(request.plan.workload.family());
    let files = (profile.disk_use)(&request.plan, &request.data_dir).filter(|_| is_started);
    files.map_or(Ok(()), |files| files.require_disk())
}

fn start_server(
    request: &RunRequest<'_>,
    server: &SutServer,
    acceleration: Option<&Acceleration>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<RunningSut, FleetError> {
    let profile = profile(request.plan.workload.family());
    (profile.check_room)(&request.plan, &request.data_dir)?;
    for path in clean_stale(&request.work_dir) {
        observer.event(Event::Warning(format!("removed leftovers of a killed run: `{}`", path.display())));
    }
    let plan = &request.plan;
    let start = ServerStart { plan, server, acceleration, files_dir: &request.files_dir };
    let web = match profile.files {
        Some(files) => (files.lay_out)(&start, observer, stop)?,
        None => WebParts::default(),
    };
    go_on_unless(stop)?;
    observer.event(Event::Preparing(&format!("starting {}", plan.sut.full_name())));
    let sut_request = SutRequest {
        server: server.clone(),
        work_dir: request.work_dir.clone(),
        data_dir: request.data_dir.clone(),
        limits: limits(request),
        port: None,
        search_path: request.search_path.clone(),
        profile: plan.sut.profile.clone(),
        variant: (profile.variant)(&plan.workload).map(str::to_owned),
        users: plan.users_max(),
        web,
        program: request.executable.clone(),
    };
    let contents = (profile.contents)(&plan.workload);
    let mut sut = RunningSut::start_with(sut_request, contents.as_ref())?;
    sut.wait_ready_unless(profile.ready_max, stop)?;
    go_on_unless(stop)?;
    if sut.lacks_contents() {
        let target = ResolvedTarget::of_sut(&sut, plan.workload.family(), Secrets::default())?;
        target.load(plan, observer, stop)?;
        observer.event(Event::Preparing("making the golden copy of the data"));
        sut.keep_contents()?;
    }
    Ok(sut)
}

/// Returns whether the data of each load point are restored from a golden copy that this run has made or found.
fn has_golden(request: &RunRequest<'_>, sut: Option<&RunningSut>) -> bool {
    match &request.server {
        ServerChoice::Embedded(_) => {
            profile(request.plan.workload.family()).embedded.is_some_and(|data| data.has_golden)
        }
        ServerChoice::Start(SutServer::BuiltIn { family, .. }, _) => profile(*family).built_in_restores,
        ServerChoice::Start(..) => sut.and_then(RunningSut::has_kept_data).is_some(),
        // Its data are restored by others, or loaded anew.
        ServerChoice::External(_) => false,
    }
}

/// Returns the plan with the sizes that follow from the memory limit of the server, as it is in force now.
///
/// # Errors
/// There are such sizes, and no such limit is seen.
fn fitted(plan: &Plan, sut: Option<&RunningSut>, target: &ResolvedTarget) -> Result<Plan, FleetError> {
    let mut plan = plan.clone();
    if plan.workload.needs_memory_limit() {
        plan.fit_to_memory(memory_limit(sut, target.address())?);
    }
    Ok(plan)
}

/// Returns what the kernel is to hold the server to.
fn limits(request: &RunRequest<'_>) -> ResourceLimits {
    let sut = &request.plan.sut;
    let serves_files = profile(request.plan.workload.family()).files.is_some();
    let directory = if serves_files { &request.files_dir } else { &request.data_dir };
    ResourceLimits {
        cpus: sut.cpus.clone(),
        quota: sut.quota.filter(|_| !request.server.limits_itself()),
        memory: sut.memory,
        disk: sut.disk.map(|share| DiskLimits {
            // One that is not found is said where limits are set that do not hold.
            device: disk_of(directory).unwrap_or_default(),
            read_bytes: share.read_bytes,
            write_bytes: share.write_bytes,
            reads: share.reads,
            writes: share.writes,
        }),
    }
}

/// Returns the CPU quota that is in force where this machine does not allow the planned one: none.
fn unenforced_quota(
    request: &RunRequest<'_>,
    sut: Option<&RunningSut>,
    observer: &mut dyn Observer,
) -> Option<LimitInForce> {
    let held = sut.map(RunningSut::held)?;
    let is_unenforced = !request.server.limits_itself() && held.quota.is_none();
    let quota = request.plan.sut.quota.filter(|_| is_unenforced)?;
    let warning = format!("server not limited: its quota of {quota} CPUs cannot be enforced on this machine");
    observer.event(Event::Warning(warning));
    Some(LimitInForce {
        limit: ServerLimit::CpuQuota,
        value: None,
        reason: format!("{quota} CPUs were requested, but cannot be enforced on this machine"),
    })
}

/// Has the data of a server read into memory, and warns where a repeated pass still reads them from disk. Returns what
/// the run file is to say of it; `None` for a server without data.
fn warm_data(
    sut: &mut RunningSut,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Option<String>, FleetError> {
    let Some(is_kept) = sut.has_data().then(|| sut.has_kept_data()) else { return Ok(None) };
    observer.event(Event::Preparing("reading the server's data into memory"));
    let Some(proof) = sut.warm_data(stop)? else { return Ok(None) };
    let origin = match is_kept {
        Some(true) => ", from a copy that an earlier run kept,",
        Some(false) => ", made by this run,",
        None => "",
    };
    let text = format!("the server's data{origin} {proof}");
    if !proof.is_warm() && !stop.load(Ordering::Relaxed) {
        let warning = format!("{text}; do not treat this load point as one with warm caches");
        observer.event(Event::Warning(warning));
    }
    Ok(Some(text))
}

/// Has a server whose memory is limited meet its limit before load begins, and warns where it does not. Returns what
/// the run file is to say of it; `None` without such a limit.
fn prove_memory_limit(
    sut: &mut RunningSut,
    target: &ResolvedTarget,
    plan: &Plan,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Option<String>, FleetError> {
    let prove = profile(plan.workload.family()).prove_memory_limit.filter(|_| sut.held().memory.is_some());
    let Some(prove) = prove else { return Ok(None) };
    observer.event(Event::Preparing("driving the server to its memory limit"));
    let proof = prove(sut, target, plan, stop)?;
    let text = proof
        .map_or("does not bind: its control group keeps no account".to_owned(), |proof| proof.to_string());
    let text = format!("limit on the server's memory {text}");
    if !proof.is_some_and(|proof| proof.binds()) {
        let warning = format!(
            "{text}; it may not constrain the server, so do not treat this run as one with little memory"
        );
        observer.event(Event::Warning(warning));
    }
    Ok(Some(text))
}
