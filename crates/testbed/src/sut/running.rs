//! A system under test while it runs.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use model::{FactSection, FileSet, SutUse};
use units::{Clock, Nanos, RealClock};

use super::certificate::Certificate;
use super::choice::Choice;
use super::front::Front;
use super::member::{Listens, Member, PAUSE};
use super::memory_limit::{MemoryLimitProof, prove};
use super::meter::Meter;
use super::prepare::Prepared;
use super::resident::resident_bytes;
use super::values::Values;
use super::warm::fetch_all;
use super::work_dir::WorkDir;
use super::{SutDied, SutError, SutRequest, facts, ready};
use crate::cgroup::{Controller, Group, Limits, NoGroup, members, memory_text};
use crate::monitor::{PageUrl, StatusPage, WatchedSut};
use crate::page_cache::evict;
use crate::populate::Populated;
use crate::process::family_of;
use crate::recipe::{Ready, Recipe, Reset, Transport};

/// How long a server may take to answer after a restart.
const RESTART_MAX: Duration = Duration::from_secs(30);

/// What is asked for to see whether pages are made by a program.
const PAGE_PROBE: &str = "/dyn?size=1";

/// A server that was brought up. Dropping it ends it and all its processes, and removes its files and its group.
#[derive(Debug)]
pub struct RunningSut {
    pub(super) recipe: Recipe,
    pub(super) choice: Choice,
    pub(super) values: Values,
    pub(super) asked: Limits,
    pub(super) populated: Option<Populated>,
    pub(super) meter: Meter,
    /// What the first warm-up showed of a limit on memory.
    pub(super) memory_limit_proof: Option<MemoryLimitProof>,
    certificate: Option<Certificate>,
    address: SocketAddr,
    announcement: Option<Receiver<SocketAddr>>,
    /// What is asked for to see whether the server is ready.
    probe_path: String,
    companions_ready: bool,
    // Fields are dropped in this order: the group goes when its processes are gone, the files last.
    pub(super) front: Option<Front>,
    pub(super) server: Member,
    pub(super) companions: Vec<(Member, Listens)>,
    pub(super) group: Result<Group, NoGroup>,
    work_dir: WorkDir,
}

impl RunningSut {
    /// Brings a server up: finds it, lays out the file set, writes its configuration, starts it within its limits.
    /// It may not answer yet: see [`RunningSut::wait_ready`]. What killed runs left in the work directory goes.
    ///
    /// A limit that cannot be held is no error: [`RunningSut::held`] lacks it then, and the facts say why.
    ///
    /// # Errors
    /// If it is not installed, its recipe does not have what is asked for, or a directory, the file set or a process
    /// could not be made.
    pub fn start(request: SutRequest) -> Result<RunningSut, SutError> {
        let (asked, files) = (request.limits.clone(), request.files);
        let prepared = Prepared::make(request)?;
        let Prepared { recipe, choice, values, certificate, populated, server, companions, front, work_dir } =
            prepared;
        let group = Group::create(&asked);
        let mut sut = RunningSut {
            meter: Meter::new(group.as_ref().ok()),
            memory_limit_proof: None,
            address: SocketAddr::from((values.address, values.port)),
            announcement: None,
            probe_path: if choice.gateway.is_some() { PAGE_PROBE.to_owned() } else { smallest_file(files) },
            companions_ready: false,
            recipe,
            choice,
            values,
            asked,
            populated,
            certificate,
            front,
            server,
            companions,
            group,
            work_dir,
        };
        sut.start_members()?;
        Ok(sut)
    }

    /// Starts what runs beside the server, then the server, then what stands in front of it, unless that runs already.
    fn start_members(&mut self) -> Result<(), SutError> {
        let group = self.group.as_ref().ok();
        self.companions_ready = false;
        let companions = self.companions.iter_mut().map(|(member, _)| member);
        let front = self.front.as_mut().map(|front| &mut front.member);
        let mut leaders = Vec::new();
        for member in companions.chain([&mut self.server]).chain(front) {
            if member.pid().is_none() {
                member.start(group)?;
            }
            leaders.extend(member.pid());
            self.work_dir.note_leaders(&leaders);
        }
        self.announcement = self.server.output().map(ready::listen);
        self.meter.follow(leaders);
        Ok(())
    }

    /// Waits until the server answers.
    ///
    /// # Errors
    /// If it ends before, or does not answer within `timeout`.
    pub fn wait_ready(&mut self, timeout: Duration) -> Result<(), SutError> {
        self.wait_ready_unless(timeout, &AtomicBool::new(false))
    }

    /// Waits likewise, but no longer when `stop` is set: whether the server answers is not known then.
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
                Ok(()) => return Ok(()),
                Err(_) if stop.load(Ordering::Relaxed) => return Ok(()),
                Err(last) if limit <= clock.now() => return Err(self.not_ready(timeout, last)),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn attempt(&mut self) -> Result<(), String> {
        if !self.companions_ready {
            for (companion, listens) in &self.companions {
                listens.attempt().map_err(|why| format!("{}: {why}", companion.title))?;
            }
            self.companions_ready = true;
        }
        match (self.recipe.ready, &self.announcement) {
            (Ready::HttpGet, _) => self.probe(self.address, self.choice.transport),
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
        }?;
        match &self.front {
            Some(front) => self
                .probe(front.address(), front.transport())
                .map_err(|why| format!("{}: {why}", front.recipe.title)),
            None => Ok(()),
        }
    }

    /// Asks for the file by which it is known that a server is ready.
    fn probe(&self, address: SocketAddr, transport: Transport) -> Result<(), String> {
        let certificate = self.certificate.as_ref().filter(|_| transport.is_tls());
        match certificate {
            Some(certificate) if transport == Transport::TlsHttp2 => {
                ready::agree_http2(address, certificate)?;
            }
            _ => {}
        }
        ready::get(address, &self.probe_path, certificate)
    }

    fn not_ready(&self, waited: Duration, last: String) -> SutError {
        let title = self.recipe.title.clone();
        let log = self.members().map(Member::log_end).collect();
        SutError::NotReady { title, address: self.address.to_string(), waited, last, log }
    }

    fn members(&self) -> impl Iterator<Item = &Member> {
        let companions = self.companions.iter().map(|(member, _)| member);
        let front = self.front.iter().map(|front| &front.member);
        std::iter::once(&self.server).chain(companions).chain(front)
    }

    /// Returns where it answers, the accelerator if there is one; of a server that announces its address only after
    /// [`RunningSut::wait_ready`].
    pub fn addr(&self) -> SocketAddr {
        self.front.as_ref().map_or(self.address, Front::address)
    }

    /// Returns where the server itself answers, which differs if it has an accelerator in front of it.
    pub(super) fn server_addr(&self) -> SocketAddr {
        self.address
    }

    /// Returns how requests travel to it.
    pub(super) fn transport(&self) -> Transport {
        self.front.as_ref().map_or(self.choice.transport, Front::transport)
    }

    /// Returns the address as a URL.
    pub fn url(&self) -> String {
        format!("{}://{}/", self.transport().scheme(), self.addr())
    }

    /// Asks an accelerator for every file once, so that it has a copy when load begins; asks a server alone likewise. The
    /// requests are like those of the load: over HTTP/1.0, they name no host.
    ///
    /// # Errors
    /// The first file that is not passed on.
    pub fn warm(&mut self, files: &FileSet, is_http10: bool) -> Result<(), SutError> {
        self.warm_unless(files, is_http10, &AtomicBool::new(false))
    }

    /// Asks likewise, but for no more files when `stop` is set.
    ///
    /// # Errors
    /// As for [`RunningSut::warm`].
    pub fn warm_unless(
        &mut self,
        files: &FileSet,
        is_http10: bool,
        stop: &AtomicBool,
    ) -> Result<(), SutError> {
        self.fetch(files, is_http10, stop)?;
        if let Some(front) = &mut self.front {
            front.n_warmed = files.files.len() as u64;
        }
        Ok(())
    }

    /// Takes the file set out of the page cache, then asks for its files until the server meets its limit on memory and
    /// needs evicted pages again; requests are like those of the load. What is in memory already was charged to whoever
    /// read it first, and would cost this server nothing. Ends early where `stop` is set.
    ///
    /// Returns what was seen, the facts too say what was seen first. `None` if no limit on memory holds.
    ///
    /// # Errors
    /// A file that cannot be read, or that the server does not pass on.
    pub fn prove_memory_limit(
        &mut self,
        files: &FileSet,
        is_http10: bool,
        stop: &AtomicBool,
    ) -> Result<Option<MemoryLimitProof>, SutError> {
        let (Some(limit), Ok(group)) = (self.held().memory, &self.group) else { return Ok(None) };
        if let Some(Populated { directory, .. }) = &self.populated {
            let paths = files.files.iter().map(|file| directory.join(file.path.trim_start_matches('/')));
            evict(paths).map_err(|(path, source)| SutError::File {
                what: "file of the set",
                path,
                source,
            })?;
        }
        let account = || group.memory();
        let fetch = |part: &FileSet| self.fetch(part, is_http10, stop);
        let proof = prove(limit, files, account, fetch, || stop.load(Ordering::Relaxed));
        // A server that was killed for its memory says more than a connection that broke.
        self.check_alive()?;
        let proof = proof?;
        self.memory_limit_proof = self.memory_limit_proof.or(proof);
        Ok(proof)
    }

    /// Asks for files, one after another, as the load does: over HTTP/1.0, requests name no host.
    fn fetch(&self, files: &FileSet, is_http10: bool, stop: &AtomicBool) -> Result<(), SutError> {
        let address = self.addr();
        let named = address.to_string();
        let host = Some(named.as_str()).filter(|_| !is_http10);
        let warmed = match self.certificate.as_ref() {
            None => fetch_all(files, host, stop, || ready::connect(address)),
            Some(certificate) => fetch_all(files, host, stop, || ready::connect_tls(address, certificate)),
        };
        let title = || self.front.as_ref().map_or(&self.recipe, |front| &front.recipe).title.clone();
        warmed.map_err(|(path, why)| SutError::NotWarmed { title: title(), path, why })
    }

    /// Returns the server's certificate (X.509, DER), which is signed by itself, so that a client can trust it and
    /// no other; `None` without TLS.
    pub fn certificate_der(&self) -> Option<&[u8]> {
        self.certificate.as_ref().map(|certificate| certificate.der.as_ref())
    }

    /// Returns the limits to which the kernel holds the server by a control group.
    pub fn held(&self) -> Limits {
        self.group.as_ref().map(Group::held).unwrap_or_default()
    }

    /// Returns by what the limits of a controller are held, or why they are not.
    pub(super) fn holding(&self, controller: Controller) -> String {
        match &self.group {
            Ok(group) => group.holding(controller),
            Err(why) => format!("not held: {why}"),
        }
    }

    /// Checks that the limits on memory and disk hold that were asked for: they are what a run is about that names them.
    ///
    /// # Errors
    /// The first that does not hold, and why.
    pub fn require_limits(&self) -> Result<(), SutError> {
        let held = self.held();
        let memory = self.asked.memory.filter(|_| held.memory.is_none());
        let memory = memory.map(|bytes| {
            (format!("memory limit of {}", memory_text(bytes)), "--sut-memory", Controller::Memory)
        });
        let disk = self.asked.disk.as_ref().filter(|_| held.disk.is_none());
        let disk = disk.map(|disk| (format!("disk limit of {disk}"), "--sut-disk", Controller::Blkio));
        let Some((limit, option, controller)) = memory.or(disk) else { return Ok(()) };
        let why = self.holding(controller).trim_start_matches("not held: ").to_owned();
        Err(SutError::LimitNotHeld { title: self.recipe.title.clone(), limit, option, why })
    }

    /// Returns the quota, in CPUs, to which the kernel holds the server; `None` if to none.
    pub fn quota(&self) -> Option<f64> {
        self.held().quota
    }

    /// Returns what all its processes have used since the start; `None` if that cannot be read. Costs some
    /// microseconds with a control group, a look at every process of the machine without.
    pub fn usage(&self) -> Option<SutUse> {
        self.meter.read()
    }

    /// Returns what a monitor has to know of it; of one that announces its address after [`RunningSut::wait_ready`].
    pub fn watched(&self) -> WatchedSut {
        let ports = self.companions.iter().filter_map(|(_, listens)| match listens {
            Listens::Tcp(address) => Some(address.port()),
            Listens::Unix(_) => None,
        });
        WatchedSut {
            group: self.group.as_ref().map(Group::places).unwrap_or_default(),
            leaders: self.members().filter_map(Member::pid).collect(),
            ports: ports.chain([self.address.port(), self.addr().port()]).collect(),
            status: self.status_page(),
        }
    }

    /// Returns the page on which the server tells how busy it is, where it is served without TLS.
    fn status_page(&self) -> Option<StatusPage> {
        let status = self.choice.status.as_ref().filter(|_| !self.choice.transport.is_tls())?;
        let url = PageUrl::parse(&format!("http://{}{}", self.address, status.path)).ok()?;
        let per_worker = status.connections_per_worker.as_ref();
        let per_worker = per_worker.and_then(|number| self.values.fill(number).parse::<u64>().ok());
        let connections_max = per_worker.map(|number| number.saturating_mul(self.values.workers.into()));
        Some(StatusPage { kind: status.kind, url, connections_max })
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
        self.meter.keep(used, self.members().filter_map(Member::pid).collect());
        // What a log of requests has grown to would take memory from the next load point.
        let _ = std::fs::remove_file(self.values.access_log());
        self.start_members()?;
        self.wait_ready(RESTART_MAX)
    }

    /// Ends the server first: what runs beside it may still have requests of its. What stands in front of it stays, and
    /// keeps what it has.
    fn end(&mut self) {
        self.server.end();
        self.companions.iter_mut().for_each(|(member, _)| member.end());
        if let (Ok(group), None) = (&self.group, &self.front) {
            group.kill();
        }
    }

    /// Returns how much memory it has resident, files in memory included; `None` if that cannot be read.
    pub fn resident_bytes(&self) -> Option<u64> {
        let places = self.group.as_ref().map(Group::places).unwrap_or_default();
        let group = places.iter().find(|place| place.controllers.contains(&Controller::Memory));
        resident_bytes(&self.processes(), group.map(|place| place.directory.as_path()))
    }

    /// Returns the processes that run now.
    fn processes(&self) -> Vec<u32> {
        let watched = self.watched();
        match watched.group_directory() {
            Some(directory) => members(directory),
            None => family_of(&watched.leaders).iter().map(|process| process.pid).collect(),
        }
    }

    /// Returns what is to be disclosed about the server, its whole configuration included.
    pub fn facts(&self) -> Vec<FactSection> {
        facts::sections(self)
    }

    /// Returns whether the server, and all that belongs beside it, still runs.
    ///
    /// # Errors
    /// If one of them ended by itself: how, and the end of its logs.
    pub fn check_alive(&self) -> Result<(), SutDied> {
        self.members().try_for_each(Member::check_alive)
    }

    /// Ends the server and removes what was made for it; the same as dropping it.
    pub fn stop(self) {}
}

fn smallest_file(files: &FileSet) -> String {
    let smallest = files.files.iter().min_by_key(|file| file.bytes);
    smallest.map_or_else(|| "/".to_owned(), |file| file.path.clone())
}
