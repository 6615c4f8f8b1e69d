//! The numbers of a case: every limit, and what becomes of it when it is relaxed.

use super::case::{RunMode, SampleCase, ServerKind};
use super::kind::ThrottleKind;
use super::work::{UserPacing, Work};

/// The CPU of the server, and that of the load generator. With more CPUs the others are idle.
pub(super) const SERVER_CPU: u32 = 0;
pub(super) const LOAD_CPU: u32 = 1;

/// A number of workers that is no limit for the users of a case.
const WORKERS_ENOUGH: u32 = 40;

/// Ports that are no limit.
const PORTS_ENOUGH: u32 = 20_000;

/// The numbers of a case. `None` is no limit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    /// CPUs of the server.
    pub cpus: Vec<u32>,
    /// Quota on CPU time, in CPUs.
    pub quota: Option<f64>,
    /// Groups of the server's rank that keep its CPU busy.
    pub crowd: u32,
    /// Memory in MiB.
    pub memory: Option<u64>,
    /// Reads per second.
    pub reads: Option<u64>,
    /// KiB read per second.
    pub read_kib: Option<u64>,
    /// Rate of the server's link in kbit/s.
    pub link: Option<u32>,
    /// Packets per second to the server.
    pub packets: Option<u32>,
    /// Lost packets to the server, in percent.
    pub loss: Option<u32>,
    /// Length of the accept queue.
    pub backlog: u32,
    /// Workers that make pages.
    pub workers: u32,
    /// Connections, or requests in progress.
    pub connections: Option<u32>,
    /// Requests per second beyond which the server refuses.
    pub rate_limit: Option<u32>,
    /// CPUs of the generator.
    pub load_cpus: Vec<u32>,
    /// Groups of the generator's rank that keep its CPU busy.
    pub generator_crowd: u32,
    /// Local ports of the generator.
    pub ports: Option<u32>,
    /// Rate of the generator's link in kbit/s.
    pub generator_link: Option<u32>,
    /// The pace of the users.
    pub pace: UserPacing,
    /// The highest number of users; the lowest is 1.
    pub users: u32,
    /// The work of one request.
    pub work: Work,
    /// Bytes that a request carries besides its own.
    pub request_bytes: u32,
    /// Whether every request has a connection of its own.
    pub has_new_connections: bool,
    /// Whether server and generator are linked: the same for a case that is relaxed.
    pub is_linked: bool,
}

impl Setting {
    /// Returns the numbers of a case.
    pub(super) fn of(case: &SampleCase) -> Setting {
        let mut setting = Setting::unlimited(case.server);
        setting.throttle(case);
        setting
    }

    fn unlimited(server: ServerKind) -> Setting {
        Setting {
            cpus: vec![SERVER_CPU],
            quota: None,
            crowd: 0,
            memory: None,
            reads: None,
            read_kib: None,
            link: None,
            packets: None,
            loss: None,
            backlog: 511,
            workers: 4,
            connections: None,
            rate_limit: None,
            load_cpus: vec![LOAD_CPU],
            generator_crowd: 0,
            ports: None,
            generator_link: None,
            pace: UserPacing::Closed,
            users: 16,
            work: if server.has_workers() { Work::Compute(1000) } else { Work::Files { n: 1, bytes: 1024 } },
            request_bytes: 0,
            has_new_connections: false,
            is_linked: false,
        }
    }

    fn throttle(&mut self, case: &SampleCase) {
        let strength = case.strength;
        self.is_linked = case.kind.has_link();
        match case.kind {
            ThrottleKind::CpuQuota => self.quota = Some(strength.of([0.4, 0.2, 0.1])),
            ThrottleKind::CrowdedCores => self.crowd = strength.of([2, 4, 8]),
            ThrottleKind::MemoryLimit => {
                // Small files, so that a read from the disk takes longer than all else.
                self.work = Work::Files { n: 4000, bytes: 16 << 10 };
                self.memory = Some(strength.of([40, 28, 20]));
            }
            ThrottleKind::DiskOperations => {
                self.work = Work::DiskReads { n: 16, bytes: 4096 };
                self.reads = Some(strength.of([300, 150, 80]));
            }
            ThrottleKind::DiskBytes => {
                self.work = Work::DiskReads { n: 16, bytes: 256 << 10 };
                self.read_kib = Some(strength.of([32, 16, 8]) << 10);
            }
            ThrottleKind::LinkRate => {
                self.work = Work::Files { n: 16, bytes: 64 << 10 };
                self.link = Some(strength.of([80_000, 40_000, 15_000]));
            }
            ThrottleKind::PacketRate => {
                self.work = Work::Files { n: 1, bytes: 16 << 10 };
                self.packets = Some(strength.of([2000, 1000, 400]));
            }
            ThrottleKind::PacketLoss => {
                self.work = Work::Files { n: 1, bytes: 16 << 10 };
                self.loss = Some(strength.of([3, 5, 8]));
                self.users = 64;
            }
            ThrottleKind::AcceptBacklog => {
                // Replies that fall due together bring as many new connections at once.
                self.work = Work::Wait(20);
                self.has_new_connections = true;
                self.users = strength.of([100, 150, 200]);
                self.backlog = 1;
            }
            ThrottleKind::WorkerPool => {
                self.work = Work::Wait(20);
                self.workers = strength.of([6, 4, 2]);
                self.users = 24;
            }
            ThrottleKind::ConnectionLimit => {
                self.work = Work::Wait(20);
                self.connections = Some(strength.of([6, 4, 2]));
                self.workers = WORKERS_ENOUGH;
                self.users = 24;
                if case.server == ServerKind::Nginx {
                    self.pace = UserPacing::Rate(600);
                }
            }
            ThrottleKind::Lock => {
                self.work = Work::Lock(strength.of([5, 10, 20]));
                self.workers = WORKERS_ENOUGH;
                self.users = 24;
            }
            ThrottleKind::SlowService => {
                self.work = Work::Call(strength.of([50, 100, 200]));
                self.workers = WORKERS_ENOUGH;
            }
            ThrottleKind::RateLimit => {
                self.rate_limit = Some(strength.of([200, 100, 50]));
                self.pace = UserPacing::Rate(400);
            }
            ThrottleKind::GeneratorCpu => self.generator_crowd = strength.of([11, 15, 23]),
            ThrottleKind::GeneratorPorts => {
                self.work = Work::Wait(20);
                self.workers = WORKERS_ENOUGH;
                self.ports = Some(strength.of([12, 8, 4]));
                self.users = 24;
            }
            ThrottleKind::GeneratorLink => {
                self.request_bytes = 6000;
                self.generator_link = Some(strength.of([20_000, 8_000, 3_000]));
            }
            ThrottleKind::Pace => {
                self.pace =
                    strength.of([UserPacing::Rate(150), UserPacing::Think(200), UserPacing::Think(500)]);
            }
        }
        // The definition that recipes are run with has larger files.
        let reads_disk = matches!(
            case.kind,
            ThrottleKind::MemoryLimit | ThrottleKind::DiskOperations | ThrottleKind::DiskBytes
        );
        if case.mode == RunMode::Recipe && reads_disk {
            self.users = 8;
        }
    }

    /// Returns the numbers with a resource relaxed; `None` if it is not limited in this case.
    pub(super) fn relaxed(&self, resource: ThrottleKind) -> Option<Setting> {
        let mut next = self.clone();
        match resource {
            ThrottleKind::CpuQuota | ThrottleKind::CrowdedCores => {
                (next.quota, next.crowd) = (None, 0);
                // What was held back by a quota or by others shows on the same CPU; without them it gets another.
                if self.quota.is_none() && self.crowd == 0 {
                    next.cpus = vec![SERVER_CPU, LOAD_CPU];
                }
            }
            ThrottleKind::MemoryLimit => next.memory = None,
            ThrottleKind::DiskOperations => next.reads = None,
            ThrottleKind::DiskBytes => next.read_kib = None,
            ThrottleKind::LinkRate => next.link = None,
            ThrottleKind::PacketRate => next.packets = None,
            ThrottleKind::PacketLoss => next.loss = None,
            ThrottleKind::AcceptBacklog => next.backlog = 4096,
            ThrottleKind::WorkerPool => next.workers = (4 * self.workers).min(self.workers + 16),
            ThrottleKind::ConnectionLimit => next.connections = None,
            ThrottleKind::Lock => next.work = self.work.without_lock(),
            ThrottleKind::SlowService => next.work = self.work.with_fast_service(),
            ThrottleKind::RateLimit => next.rate_limit = None,
            ThrottleKind::GeneratorCpu => {
                next.generator_crowd = 0;
                if self.generator_crowd == 0 {
                    next.load_cpus = vec![SERVER_CPU, LOAD_CPU];
                }
            }
            ThrottleKind::GeneratorPorts => next.ports = self.ports.map(|_| PORTS_ENOUGH),
            ThrottleKind::GeneratorLink => next.generator_link = None,
            ThrottleKind::Pace => next.pace = self.pace.faster(),
        }
        (next != *self).then_some(next)
    }
}
