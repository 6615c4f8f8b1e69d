//! The origin servers, as all threads share them.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::sync::Semaphore;
use units::{Clock, Nanos, RealClock, mix_bits};

use super::answers::AnswerTimes;
use super::fault::FaultRecord;
use super::health::{Health, HealthEvent, ServerState};
use super::report::{OnServerChange, ServerChange, ServerReport};
use super::resolve::Resolver;
use super::settings::{OriginAddressError, OriginServer, OriginSettings, host_of_address};
use super::tls::client_config;
use super::upstream_request::{UpstreamRequest, is_host, is_target};

/// The origin servers, their health and their limits; one value for all threads.
pub struct Servers {
    pub(super) settings: OriginSettings,
    pub(super) all: Vec<UpstreamServer>,
    pub(super) clock: RealClock,
    /// The number of requests that wait for a permit.
    pub(super) waiting: AtomicUsize,
    /// The times of answers, by URL.
    pub(super) answers: AnswerTimes,
    /// Held while a server may go down, so that no two do so because each sees that the other is up.
    falling: Mutex<()>,
    on_change: OnServerChange,
}

/// One server.
#[derive(Debug)]
pub(super) struct UpstreamServer {
    pub(super) address: String,
    pub(super) weight: u32,
    /// A value that identifies the server for [`Balance::Hash`](super::Balance::Hash), whatever the order of servers.
    pub(super) salt: u64,
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    pub(super) resolver: Resolver,
    pub(super) health: Health,
    /// As many permits as requests may be in progress.
    pub(super) permits: Arc<Semaphore>,
    pub(super) counts: ServerCounters,
    pub(super) faults: FaultRecord,
}

/// Counters of one server; see [`ServerReport`].
#[derive(Debug, Default)]
pub(super) struct ServerCounters {
    pub(super) requests: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) failures: AtomicU64,
    times_down: AtomicU64,
}

/// The reason for which the servers cannot be used as configured.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OriginSettingsError {
    /// No server is named, or none has a weight.
    #[error("expected at least one origin server with a weight")]
    NoServer,
    /// An address is not valid.
    #[error(transparent)]
    Address(#[from] OriginAddressError),
    /// The value of `Host` is not valid.
    #[error("expected `host` or `host:port` as the `Host` for origin servers, found `{0}`")]
    Host(String),
    /// The target of probes is not valid.
    #[error("expected a path, `/health` for example, as target of probes, found `{0}`")]
    ProbePath(String),
    /// Probes would follow each other without a pause.
    #[error("expected more than zero as interval of probes")]
    ProbeInterval,
    /// No request would ever be sent.
    #[error("expected at least 1 as the request limit of an origin server")]
    NoConnections,
    /// The trusted certificates cannot be read.
    #[error("expected certificates (PEM) in `{path}`: {reason}")]
    CaFile {
        /// Their file.
        path: PathBuf,
        /// The problem with it.
        reason: String,
    },
    /// The system has no trust store in any of the usual places.
    #[error("the system has no trust store\nhint: set `ca-file` in `[origin.tls]`")]
    NoSystemCertificates,
    /// A server has no name that a certificate could prove.
    #[error("expected a host name or IP address that a certificate can prove, found `{0}`")]
    ServerName(String),
}

impl Servers {
    /// Makes the servers, all up; `on_change` is called for every change.
    ///
    /// Certificates are read here, names are resolved when they are needed.
    ///
    /// # Errors
    /// Settings with which no server could be asked.
    pub fn new(
        settings: OriginSettings,
        on_change: OnServerChange,
    ) -> Result<Arc<Servers>, OriginSettingsError> {
        check(&settings)?;
        let is_tls = settings.servers.iter().any(|server| server.tls);
        let config = is_tls.then(|| client_config(&settings.tls)).transpose()?;
        let all =
            settings.servers.iter().map(|server| UpstreamServer::new(server, &settings, config.as_ref()));
        let all = all.collect::<Result<_, _>>()?;
        let clock = RealClock::start();
        let waiting = AtomicUsize::new(0);
        Ok(Arc::new(Servers {
            settings,
            all,
            clock,
            waiting,
            answers: AnswerTimes::default(),
            falling: Mutex::default(),
            on_change,
        }))
    }

    /// Returns the state of every server, in the order of the settings.
    pub fn report(&self) -> Vec<ServerReport> {
        self.all.iter().map(|server| server.report(&self.settings)).collect()
    }

    /// Notes an event of a server; `reason` describes the event, for the notice.
    pub(super) fn note(&self, index: usize, event: HealthEvent, reason: impl FnOnce() -> String) {
        let Some(server) = self.all.get(index) else { return };
        let may_fall =
            !matches!(event, HealthEvent::Success | HealthEvent::Connected | HealthEvent::GoodProbe);
        let falling = may_fall.then(|| self.falling.lock().unwrap_or_else(PoisonError::into_inner));
        let is_last = may_fall && self.is_last_up(index);
        let noted = server.health.note(event, is_last, self.clock.now());
        drop(falling);
        let Some(condition) = noted else { return };
        if condition == ServerState::Down {
            server.counts.times_down.fetch_add(1, Ordering::Relaxed);
        }
        (self.on_change)(&ServerChange { address: &server.address, condition, reason: &reason() });
    }

    /// Returns the value of `Host` for a server.
    pub(super) fn host<'a>(&'a self, request: &'a UpstreamRequest, server: &'a UpstreamServer) -> &'a [u8] {
        match &self.settings.host {
            Some(host) => host.as_bytes(),
            None if request.authority.is_empty() => server.address.as_bytes(),
            None => &request.authority,
        }
    }

    /// Returns whether no server is up that gets requests, except perhaps the one with this index.
    fn is_last_up(&self, index: usize) -> bool {
        let is_up =
            |server: &UpstreamServer| server.weight != 0 && server.health.condition() == ServerState::Up;
        !self.all.iter().enumerate().any(|(other, server)| other != index && is_up(server))
    }

    /// Returns the time on the clock that health and idle connections use.
    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").field("all", &self.all).finish_non_exhaustive()
    }
}

impl UpstreamServer {
    fn new(
        server: &OriginServer,
        settings: &OriginSettings,
        config: Option<&Arc<ClientConfig>>,
    ) -> Result<UpstreamServer, OriginSettingsError> {
        let address = server.address.clone();
        let Some(host) = host_of_address(&address) else { return Err(OriginAddressError(address).into()) };
        let tls = match config.filter(|_| server.tls) {
            Some(config) => Some((Arc::clone(config), server_name(&host, settings)?)),
            None => None,
        };
        Ok(UpstreamServer {
            weight: server.weight,
            salt: address.bytes().fold(0, |hash, byte| mix_bits(hash ^ u64::from(byte))),
            tls,
            resolver: Resolver::new(&address),
            health: Health::new(&settings.health),
            permits: Arc::new(Semaphore::new(settings.connections_max.min(Semaphore::MAX_PERMITS))),
            counts: ServerCounters::default(),
            faults: FaultRecord::default(),
            address,
        })
    }

    /// Returns the number of requests in progress; approximate while it changes.
    pub(super) fn in_use(&self, settings: &OriginSettings) -> usize {
        settings.connections_max.saturating_sub(self.permits.available_permits())
    }

    fn report(&self, settings: &OriginSettings) -> ServerReport {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ServerReport {
            address: self.address.clone(),
            condition: self.health.condition(),
            in_use: self.in_use(settings),
            requests: read(&self.counts.requests),
            connections: read(&self.counts.connections),
            failures: read(&self.counts.failures),
            times_down: read(&self.counts.times_down),
        }
    }
}

fn check(settings: &OriginSettings) -> Result<(), OriginSettingsError> {
    if settings.servers.iter().all(|server| server.weight == 0) {
        return Err(OriginSettingsError::NoServer);
    }
    if settings.connections_max == 0 {
        return Err(OriginSettingsError::NoConnections);
    }
    if let Some(host) = settings.host.as_ref().filter(|host| !is_host(host.as_bytes())) {
        return Err(OriginSettingsError::Host(host.clone()));
    }
    let Some(probe) = &settings.health.probe else { return Ok(()) };
    if !probe.path.starts_with('/') || !is_target(probe.path.as_bytes()) {
        return Err(OriginSettingsError::ProbePath(probe.path.clone()));
    }
    if probe.interval == Nanos::ZERO {
        return Err(OriginSettingsError::ProbeInterval);
    }
    Ok(())
}

/// Returns the name that a server must prove.
fn server_name(host: &str, settings: &OriginSettings) -> Result<ServerName<'static>, OriginSettingsError> {
    let name = settings.tls.server_name.as_deref().unwrap_or(host).trim_matches(['[', ']']);
    ServerName::try_from(name.to_owned()).map_err(|_| OriginSettingsError::ServerName(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::settings::{HealthSettings, Probe};
    use super::*;

    fn settings(addresses: &[&str]) -> OriginSettings {
        let server = |address: &&str| OriginServer { address: (*address).to_owned(), weight: 1, tls: false };
        OriginSettings { servers: addresses.iter().map(server).collect(), ..OriginSettings::default() }
    }

    fn refused(settings: OriginSettings) -> Option<OriginSettingsError> {
        Servers::new(settings, Box::new(|_| ())).err()
    }

    fn probed(probe: Probe) -> OriginSettings {
        let health = HealthSettings { probe: Some(probe), ..HealthSettings::default() };
        OriginSettings { health, ..settings(&["a:1"]) }
    }

    #[test]
    fn unusable_origin_settings_are_refused() {
        let weightless = vec![OriginServer { address: "a:1".to_owned(), weight: 0, tls: false }];
        let host = Some("a b".to_owned());
        let cases = [
            (settings(&[]), OriginSettingsError::NoServer),
            (OriginSettings { servers: weightless, ..settings(&[]) }, OriginSettingsError::NoServer),
            (settings(&["a:1", "b"]), OriginAddressError("b".to_owned()).into()),
            (OriginSettings { host, ..settings(&["a:1"]) }, OriginSettingsError::Host("a b".to_owned())),
            (OriginSettings { connections_max: 0, ..settings(&["a:1"]) }, OriginSettingsError::NoConnections),
            (
                probed(Probe { path: "/a b".to_owned(), ..Probe::default() }),
                OriginSettingsError::ProbePath("/a b".to_owned()),
            ),
            (probed(Probe { interval: Nanos::ZERO, ..Probe::default() }), OriginSettingsError::ProbeInterval),
        ];
        for (settings, error) in cases {
            assert_eq!(refused(settings), Some(error));
        }
        assert_eq!(refused(probed(Probe::default())), None);
    }

    #[test]
    fn a_server_going_down_is_reported_once_with_the_reason() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let on_change = move |change: &ServerChange<'_>| {
            let text = format!("{} {:?}: {}", change.address, change.condition, change.reason);
            sender.send(text).expect("the test listens");
        };
        let servers = Servers::new(settings(&["a:1", "b:2"]), Box::new(on_change)).expect("valid");
        for failure in ["one", "two", "three", "four"] {
            servers.note(1, HealthEvent::Unreached, || failure.to_owned());
        }
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["b:2 Down: three"]);
        let conditions = servers.report().into_iter().map(|one| (one.condition, one.times_down));
        assert_eq!(conditions.collect::<Vec<_>>(), [(ServerState::Up, 0), (ServerState::Down, 1)]);
    }

    /// Whichever is noted first is down, and the other one stays up.
    #[test]
    fn of_two_servers_that_fail_one_stays_up() {
        let servers = Servers::new(settings(&["a:1", "b:2"]), Box::new(|_| ())).expect("valid");
        for index in [0, 1].repeat(10) {
            servers.note(index, HealthEvent::Unreached, String::new);
        }
        let conditions: Vec<_> = servers.report().into_iter().map(|one| one.condition).collect();
        assert_eq!(conditions, [ServerState::Down, ServerState::Up]);
    }

    #[test]
    fn a_server_without_weight_is_not_one_that_is_up() {
        let mut settings = settings(&["a:1", "b:2"]);
        settings.servers[1].weight = 0;
        let servers = Servers::new(settings, Box::new(|_| ())).expect("valid");
        (0..10).for_each(|_| servers.note(0, HealthEvent::Unreached, String::new));
        assert_eq!(servers.report()[0].condition, ServerState::Up);
    }
}
