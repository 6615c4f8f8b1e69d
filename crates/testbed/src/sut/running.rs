//! A running system under test.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::{AppProtocol, DatabaseProduct, FactSection, Family, FileTransport, SutUse};
use observe::cgroup::{Controller, members};
use observe::process::{family_of, read_from_disk};
use observe::{MonitoredSut, PageUrl, StatusKind, StatusSource, memory_limit_of};
use units::{Clock, Nanos, RealClock};

use super::buffer_sizes::DataContents;
use super::certificate::Certificate;
use super::data_warm_up::DataWarmUp;
use super::managed_process::{ListenAddress, ManagedProcess, PAUSE};
use super::memory_limit::{MemoryLimitProof, prove_by};
use super::meter::Meter;
use super::prepare::PreparedSut;
use super::readiness::Readiness;
use super::ready::NotReady;
use super::recipe_selection::RecipeSelection;
use super::resident::resident_bytes;
use super::server_data::ServerData;
use super::step::{STEP_MAX, StepProcess};
use super::values::PlaceholderValues;
use super::web::{ReverseProxy, RunningWeb};
use super::work_dir::WorkDir;
use super::{SutDied, SutError, SutRequest, facts};
use crate::cgroup::{ControlGroup, ControlGroupError, ResourceLimits, memory_text};
use crate::recipe::{Recipe, Reset};

/// Time limit for a restart.
const RESTART_MAX: Duration = Duration::from_secs(30);

/// Time limit for processes of a server to stop beginning and ending while their accounts are read.
const SETTLE_MAX: Nanos = Nanos::from_secs(5);

/// A started server. Dropping it terminates all its processes, and removes its files and its group.
#[derive(Debug)]
pub struct RunningSut {
    pub(super) recipe: Recipe,
    pub(super) choice: RecipeSelection,
    pub(super) values: PlaceholderValues,
    pub(super) asked: ResourceLimits,
    pub(super) meter: Meter,
    pub(super) certificate: Option<Certificate>,
    readiness: Readiness,
    /// Programs that run after each start.
    started: Vec<StepProcess>,
    /// Whether it was stopped until the next reset.
    is_resting: bool,
    // Fields are dropped in this order: the group after its processes, the files last.
    pub(super) web: RunningWeb,
    pub(super) server: ManagedProcess,
    pub(super) companions: Vec<(ManagedProcess, ListenAddress)>,
    pub(super) group: Result<ControlGroup, ControlGroupError>,
    data: Option<ServerData>,
    work_dir: WorkDir,
}

impl RunningSut {
    /// Starts a server: finds it, creates the file set, writes its configuration, starts it within its
    /// limits. It may not answer yet: see [`RunningSut::wait_ready`]. Leftovers of killed runs in the work
    /// directory are removed.
    ///
    /// A limit that cannot be enforced is not an error: [`RunningSut::held`] then lacks it, and the facts
    /// give the reason.
    ///
    /// # Errors
    /// It is not installed, its recipe does not have what is requested, or a directory, the file set or a
    /// process could not be created.
    pub fn start(request: SutRequest) -> Result<RunningSut, SutError> {
        RunningSut::start_with(request, None)
    }

    /// Does the same for a server into whose data `contents` are loaded while it runs: data with the same identity are
    /// the same, and its buffers follow from their size. Where [`RunningSut::lacks_contents`] says so, the caller loads
    /// them into the server that is ready, and calls [`RunningSut::keep_contents`].
    ///
    /// # Errors
    /// As for [`RunningSut::start`].
    pub fn start_with(request: SutRequest, contents: Option<&DataContents>) -> Result<RunningSut, SutError> {
        let prepared = PreparedSut::make(&request, contents)?;
        let PreparedSut {
            recipe,
            choice,
            values,
            certificate,
            web,
            server,
            companions,
            started,
            ready_command,
            data,
            work_dir,
        } = prepared;
        let group = ControlGroup::create(&request.limits);
        let mut sut = RunningSut {
            meter: Meter::new(group.as_ref().ok()),
            readiness: Readiness::new(SocketAddr::from((values.address, values.port)), ready_command),
            started,
            is_resting: false,
            recipe,
            choice,
            values,
            asked: request.limits,
            certificate,
            web,
            server,
            companions,
            group,
            data,
            work_dir,
        };
        sut.start_processes()?;
        Ok(sut)
    }

    /// Starts the companions, then the server, then the accelerator unless it is running.
    fn start_processes(&mut self) -> Result<(), SutError> {
        let group = self.group.as_ref().ok();
        self.readiness.begin(&self.server.launch.output_log);
        let companions = self.companions.iter_mut().map(|(process, _)| process);
        let proxy = self.web.proxy.as_mut().map(|proxy| &mut proxy.process);
        let mut leaders = Vec::new();
        for process in companions.chain([&mut self.server]).chain(proxy) {
            if process.pid().is_none() {
                process.start(group)?;
            }
            leaders.extend(process.pid());
            self.work_dir.note_leaders(&leaders);
        }
        self.readiness.listen(self.server.output());
        self.meter.follow(leaders);
        Ok(())
    }

    /// Waits until the server answers.
    ///
    /// # Errors
    /// It ends before, or does not answer within `timeout`.
    pub fn wait_ready(&mut self, timeout: Duration) -> Result<(), SutError> {
        self.wait_ready_unless(timeout, &AtomicBool::new(false))
    }

    /// Does the same, but stops waiting when `stop` is set: then it is unknown whether the server answers.
    ///
    /// # Errors
    /// As for [`RunningSut::wait_ready`].
    pub fn wait_ready_unless(&mut self, timeout: Duration, stop: &AtomicBool) -> Result<(), SutError> {
        let clock = RealClock::start();
        let limit = Nanos::from_secs_f64(timeout.as_secs_f64());
        loop {
            let attempt = self.attempt();
            self.check_alive()?;
            match attempt {
                Ok(()) => {
                    return self.started.iter_mut().try_for_each(|step| step.run(None, STEP_MAX).map(drop));
                }
                Err(_) if stop.load(Ordering::Relaxed) => return Ok(()),
                Err(last) if limit <= clock.now() => return Err(self.not_ready(timeout, &last)),
                Err(reason) => std::thread::sleep(reason.pause()),
            }
        }
    }

    fn attempt(&mut self) -> Result<(), NotReady> {
        self.readiness.attempt_companions(&self.companions)?;
        let certificate = self.certificate.as_ref();
        let probe = |address| self.web.probe(address, self.choice.web_variant(), certificate);
        self.readiness.attempt_server(&self.recipe, &self.server.launch.output_log, probe)?;
        let Some(proxy) = &self.web.proxy else { return Ok(()) };
        let probed = self.web.probe(proxy.address(), proxy.variant(), certificate);
        probed.map_err(|error| NotReady::from(error).of(&proxy.recipe.title))
    }

    fn not_ready(&self, waited: Duration, last: &NotReady) -> SutError {
        SutError::NotReady {
            title: self.recipe.title.clone(),
            address: self.readiness.address.to_string(),
            waited,
            last: last.to_string(),
            log: self.managed_processes().map(ManagedProcess::log_end).collect(),
        }
    }

    fn managed_processes(&self) -> impl Iterator<Item = &ManagedProcess> {
        let companions = self.companions.iter().map(|(process, _)| process);
        let proxy = self.web.proxy.iter().map(|proxy| &proxy.process);
        std::iter::once(&self.server).chain(companions).chain(proxy)
    }

    /// Returns its address, that of the accelerator if there is one; for a server that announces its address
    /// only after [`RunningSut::wait_ready`].
    pub fn addr(&self) -> SocketAddr {
        self.web.proxy.as_ref().map_or(self.readiness.address, ReverseProxy::address)
    }

    /// Returns the address of the server itself, which differs behind an accelerator.
    pub(super) fn server_addr(&self) -> SocketAddr {
        self.readiness.address
    }

    /// Returns the password of the user `plimsoll`, for servers whose recipe makes that user.
    pub fn password(&self) -> &str {
        &self.values.password
    }

    /// Returns one of the further ports that its recipe names.
    pub fn port(&self, name: &str) -> Option<u16> {
        self.values.ports.get(name).copied()
    }

    /// Returns the family of benchmarks that load it; `None` if none does.
    pub fn family(&self) -> Option<Family> {
        self.recipe.family
    }

    /// Returns the database that the server is; `None` of servers of other protocols.
    pub fn database(&self) -> Option<DatabaseProduct> {
        self.recipe.database()
    }

    /// Returns the transport of a file server; `None` of servers of other protocols.
    pub fn file_transport(&self) -> Option<FileTransport> {
        self.recipe.file_transport()
    }

    /// Returns the protocol of an application server.
    pub fn app_protocol(&self) -> AppProtocol {
        self.recipe.app_protocol()
    }

    /// Has the data of the server read, by its own means where its recipe says so, until a repeated pass reads almost
    /// nothing from disk. Ends early when `stop` is set. Returns `None` for a server without data.
    ///
    /// What is read is charged to the server: under a limit on its memory, data that do not fit do not get warm.
    ///
    /// # Errors
    /// A step fails.
    pub fn warm_data(&mut self, stop: &AtomicBool) -> Result<Option<DataWarmUp>, SutError> {
        // They are taken out while the accounts of all processes are read.
        let Some(mut data) = self.data.take() else { return Ok(None) };
        let group = self.group.as_ref().ok();
        let proof = data.warm(group, || self.read_from_disk(), || stop.load(Ordering::Relaxed));
        self.data = Some(data);
        self.check_alive()?;
        proof.map(Some)
    }

    /// Returns the bytes that the server's processes have had read from disk so far; `None` if this user may not know.
    ///
    /// A process that ends while accounts are read is in none of them for a moment, and would be in that of its parent
    /// only at the next reading: it is waited for until no process begins or ends meanwhile.
    fn read_from_disk(&self) -> Option<u64> {
        let clock = RealClock::start();
        loop {
            let before = self.processes_with_ended();
            let read = read_from_disk(&before);
            if (read.is_some() && before == self.processes_with_ended()) || SETTLE_MAX < clock.now() {
                return read;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns the ids of the processes, in order, those included that have ended and were not yet reaped by their
    /// parents.
    fn processes_with_ended(&self) -> Vec<u32> {
        let known = [self.processes(), self.watched().leaders].concat();
        let mut all: Vec<u32> = family_of(&known).iter().map(|process| process.pid).collect();
        all.sort_unstable();
        all
    }

    /// Writes the files of its data to disk, and evicts their pages from the page cache. Does nothing for a server
    /// without data.
    ///
    /// # Errors
    /// A file cannot be opened or written to disk.
    pub fn evict_data(&self) -> Result<(), SutError> {
        self.data.as_ref().map_or(Ok(()), ServerData::evict)
    }

    /// Has a server whose memory is limited use its data, which are evicted from the page cache first, until it reaches
    /// the limit and needs evicted pages again. `part` has it read some of them, and returns how many files that were;
    /// it is called again and again. Ends early when `stop` is set. `None` if no memory limit is enforced.
    ///
    /// # Errors
    /// That of `part`, a file that cannot be evicted, or the server has ended.
    pub fn prove_memory_limit_on_data<E: From<SutError>>(
        &mut self,
        part: impl FnMut() -> Result<u64, E>,
        stop: &AtomicBool,
    ) -> Result<Option<MemoryLimitProof>, E> {
        let (Some(limit), Ok(group)) = (self.held().memory, &self.group) else { return Ok(None) };
        self.evict_data()?;
        let proof = prove_by(limit, || group.memory(), part, || stop.load(Ordering::Relaxed));
        // A server that was killed for its memory is a better explanation than a broken connection.
        self.check_alive().map_err(SutError::from)?;
        let proof = proof?;
        self.web.memory_limit_proof = self.web.memory_limit_proof.or(proof);
        Ok(proof)
    }

    /// Returns the warning that its buffers have no room for its data; `None` where they have, or its recipe leaves them
    /// as they are.
    pub fn buffer_warning(&self) -> Option<String> {
        let uses = |text: &String| text.contains("{buffer_mib}");
        self.values.sizes.warning().filter(|_| self.choice.config_text.as_ref().is_some_and(uses))
    }

    /// Returns whether the server keeps data.
    pub fn has_data(&self) -> bool {
        self.data.is_some()
    }

    /// Returns whether the contents of its data are still to be loaded.
    pub fn lacks_contents(&self) -> bool {
        self.data.as_ref().is_some_and(ServerData::lacks_contents)
    }

    /// Stops the server, makes the golden copy of its data with the contents that have been loaded, and starts it
    /// again.
    ///
    /// # Errors
    /// The copy cannot be written, or the server does not start again.
    pub fn keep_contents(&mut self) -> Result<(), SutError> {
        self.check_alive()?;
        self.halt();
        if let Some(data) = &mut self.data {
            data.keep(&self.values.password)?;
        }
        self.start_processes()?;
        self.wait_ready(RESTART_MAX)
    }

    /// Returns whether the data come from a copy that an earlier run kept; `None` if they have no copy.
    pub fn has_kept_data(&self) -> Option<bool> {
        self.data.as_ref()?.are_kept()
    }

    /// Returns the server's self-signed certificate (X.509, DER), so that a client can trust it and no other;
    /// `None` without TLS.
    pub fn certificate_der(&self) -> Option<&[u8]> {
        self.certificate.as_ref().map(|certificate| certificate.der.as_ref())
    }

    /// Returns the limits that the kernel enforces by a control group.
    pub fn held(&self) -> ResourceLimits {
        self.group.as_ref().map(ControlGroup::enforced_limits).unwrap_or_default()
    }

    /// Returns the memory limit in force of the server in bytes, as its control group and those above it state it now;
    /// `None` without one.
    pub fn memory_limit(&self) -> Option<u64> {
        memory_limit_of(&[self.server.pid()?])
    }

    /// Describes how the limits of a controller are enforced, or why they are not.
    pub(super) fn enforcement(&self, controller: Controller) -> String {
        match &self.group {
            Ok(group) => group.enforcement(controller),
            Err(why) => format!("not enforced: {why}"),
        }
    }

    /// Checks that requested limits on memory and disk are enforced, because a run that requests them is
    /// about them.
    ///
    /// # Errors
    /// The first that is not enforced, and the reason.
    pub fn require_limits(&self) -> Result<(), SutError> {
        let held = self.held();
        let memory = self.asked.memory.filter(|_| held.memory.is_none());
        let memory = memory.map(|bytes| {
            (format!("memory limit of {}", memory_text(bytes)), "--sut-memory", Controller::Memory)
        });
        let disk = self.asked.disk.as_ref().filter(|_| held.disk.is_none());
        let disk = disk.map(|disk| (format!("disk limit of {disk}"), "--sut-disk", Controller::Blkio));
        let Some((limit, option, controller)) = memory.or(disk) else { return Ok(()) };
        let why = self.enforcement(controller).trim_start_matches("not enforced: ").to_owned();
        Err(SutError::LimitNotHeld { title: self.recipe.title.clone(), limit, option, why })
    }

    /// Returns the quota, in CPUs, that the kernel enforces; `None` without one.
    pub fn quota(&self) -> Option<f64> {
        self.held().quota
    }

    /// Returns the usage of all its processes since the start; `None` if it cannot be read. Costs some
    /// microseconds with a control group, a scan of all processes of the machine without.
    pub fn usage(&self) -> Option<SutUse> {
        self.meter.read()
    }

    /// Returns the data that a monitor needs; for a server that announces its address after
    /// [`RunningSut::wait_ready`].
    pub fn watched(&self) -> MonitoredSut {
        let ports = self.companions.iter().filter_map(|(_, listens)| match listens {
            ListenAddress::Tcp(address) => Some(address.port()),
            ListenAddress::Unix(_) => None,
        });
        MonitoredSut {
            group: self.group.as_ref().map(ControlGroup::controller_files).unwrap_or_default(),
            leaders: self.managed_processes().filter_map(ManagedProcess::pid).collect(),
            ports: ports
                .chain(self.values.ports.values().copied())
                .chain([self.readiness.address.port(), self.addr().port()])
                .collect(),
            status: self.status_source(),
        }
    }

    /// Returns where the server says how busy it is; `None` for a page that is served over TLS.
    fn status_source(&self) -> Option<StatusSource> {
        let status = self.choice.status.as_ref().filter(|_| !self.choice.is_encrypted_web())?;
        let path = status.path.as_deref().unwrap_or_default();
        let url = PageUrl::parse(&format!("http://{}{path}", self.readiness.address));
        Some(match status.kind {
            StatusKind::NginxStub => {
                let per_worker = status.connections_per_worker.as_ref();
                let per_worker = per_worker.and_then(|number| self.values.fill(number).parse::<u64>().ok());
                let connections_max = per_worker.map(|n| n.saturating_mul(self.values.workers.into()));
                StatusSource::NginxStub { url: url.ok()?, connections_max }
            }
            StatusKind::ApacheAuto => StatusSource::ApacheAuto { url: url.ok()? },
            StatusKind::AppStats => StatusSource::AppStats(self.readiness.address.into()),
            StatusKind::OrderStats => StatusSource::OrderStats(self.readiness.address.into()),
        })
    }

    /// Resets the server for a load point, as its recipe says, and waits until it answers. One that rests is started in
    /// any case. Returns whether it was started.
    ///
    /// # Errors
    /// It does not start again.
    pub fn reset(&mut self) -> Result<bool, SutError> {
        if !self.is_resting {
            self.check_alive()?;
        }
        let is_started = self.is_resting || self.recipe.reset != Reset::None;
        if is_started {
            self.restart()?;
        }
        Ok(is_started)
    }

    /// Stops a server that must be alone on the machine until its next [`RunningSut::reset`], so that another one can
    /// be measured meanwhile. Returns whether it is stopped.
    pub fn rest(&mut self) -> bool {
        if self.recipe.alone && !self.is_resting {
            self.halt();
            self.is_resting = true;
        }
        self.is_resting
    }

    /// Ends the processes, and keeps what they used.
    fn halt(&mut self) {
        let used = self.usage();
        self.end();
        self.meter.keep(used, self.managed_processes().filter_map(ManagedProcess::pid).collect());
    }

    fn restart(&mut self) -> Result<(), SutError> {
        if !self.is_resting {
            self.halt();
        }
        self.is_resting = false;
        if let (Reset::Restore, Some(data)) = (self.recipe.reset, &self.data) {
            data.restore()?;
        }
        // A large request log would take memory from the next load point.
        let _ = std::fs::remove_file(self.values.access_log());
        self.start_processes()?;
        self.wait_ready(RESTART_MAX)
    }

    /// Terminates the server first, because it may still have requests in its companions. The accelerator
    /// keeps running, with its cache.
    fn end(&mut self) {
        self.server.end();
        self.companions.iter_mut().for_each(|(process, _)| process.end());
        if let (Ok(group), None) = (&self.group, &self.web.proxy) {
            group.kill();
        }
    }

    /// Returns its resident memory, including files in memory; `None` if it cannot be read.
    pub fn resident_bytes(&self) -> Option<u64> {
        let files = self.group.as_ref().map(ControlGroup::controller_files).unwrap_or_default();
        let group = files.iter().find(|place| place.controllers.contains(&Controller::Memory));
        resident_bytes(&self.processes(), group.map(|place| place.directory.as_path()))
    }

    /// Returns the ids of the running processes.
    fn processes(&self) -> Vec<u32> {
        let watched = self.watched();
        match watched.group_directory() {
            Some(directory) => members(directory),
            None => family_of(&watched.leaders).iter().map(|process| process.pid).collect(),
        }
    }

    /// Returns the disclosure about the server, including its whole configuration.
    pub fn facts(&self) -> Vec<FactSection> {
        facts::sections(self)
    }

    /// Checks that the server, and everything beside it, is still running.
    ///
    /// # Errors
    /// One of them has ended; the error contains its exit status and the end of its logs.
    pub fn check_alive(&self) -> Result<(), SutDied> {
        self.managed_processes().try_for_each(ManagedProcess::check_alive)
    }

    /// Terminates the server and removes everything created for it; the same as dropping it.
    pub fn stop(self) {}
}
