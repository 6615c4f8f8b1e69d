//! The servers, as all threads share them.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::sync::Semaphore;
use units::{Clock, Nanos, RealClock, mix_bits};

use super::health::{Condition, Event, Health};
use super::outgoing::{is_host, is_target};
use super::report::{Change, Notice, ServerReport};
use super::resolve::Resolver;
use super::settings::{AddressError, OriginServer, OriginSettings, split_port};
use super::tls::client_config;

/// The servers behind, their health and their limits; one for all threads.
pub struct Servers {
    pub(super) settings: OriginSettings,
    pub(super) all: Vec<Server>,
    pub(super) clock: RealClock,
    /// How many requests wait for a place with a server.
    pub(super) waiting: AtomicUsize,
    notice: Notice,
}

/// One server.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) address: String,
    pub(super) weight: u32,
    /// Tells the servers apart for [`Balance::Hash`](super::Balance::Hash), whatever their order.
    pub(super) salt: u64,
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    pub(super) resolver: Resolver,
    pub(super) health: Health,
    /// As many places as there may be requests under way.
    pub(super) places: Arc<Semaphore>,
    pub(super) counts: Counts,
}

/// What has happened with a server; see [`ServerReport`].
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) requests: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) failures: AtomicU64,
    times_down: AtomicU64,
}

/// Why servers cannot be used as an operator wants them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// None is named, or none has a weight.
    #[error("expected at least one origin server with a weight")]
    NoServer,
    /// An address is none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The host for `Host` is none.
    #[error("expected `host` or `host:port` as the host that origin servers are told, found `{0}`")]
    Host(String),
    /// The target of probes is none.
    #[error("expected a path such as `/health` as target of probes, found `{0}`")]
    ProbePath(String),
    /// Probes would follow each other without a pause.
    #[error("expected more than zero as interval of probes")]
    ProbeInterval,
    /// No request would ever be sent.
    #[error("expected at least 1 as the most requests to one origin server")]
    NoConnections,
    /// The certificates to trust cannot be read.
    #[error("expected certificates (PEM) in `{path}`: {reason}")]
    CaFile {
        /// Where they should be.
        path: PathBuf,
        /// What is there.
        reason: String,
    },
    /// The system has no file of certificates to trust where systems have it.
    #[error("the system has no certificates to trust\nhint: name a file of them as `ca_file`")]
    NoSystemCertificates,
    /// A server has no name that a certificate could prove.
    #[error("expected a host name or number that a certificate can prove, found `{0}`")]
    ServerName(String),
}

impl Servers {
    /// Makes the servers, all up; `notice` is told of every change.
    ///
    /// Certificates are read here, addresses of names when they are needed.
    ///
    /// # Errors
    /// Settings by which no server could be asked.
    pub fn new(settings: OriginSettings, notice: Notice) -> Result<Arc<Servers>, SettingsError> {
        check(&settings)?;
        let is_tls = settings.servers.iter().any(|server| server.tls);
        let config = is_tls.then(|| client_config(&settings.tls)).transpose()?;
        let all = settings.servers.iter().map(|server| Server::new(server, &settings, config.as_ref()));
        let all = all.collect::<Result<_, _>>()?;
        let (clock, waiting) = (RealClock::start(), AtomicUsize::new(0));
        Ok(Arc::new(Servers { settings, all, clock, waiting, notice }))
    }

    /// Returns the state of every server, in the order of the settings.
    pub fn report(&self) -> Vec<ServerReport> {
        self.all.iter().map(|server| server.report(&self.settings)).collect()
    }

    /// Takes note of an event with a server; `reason` says what happened, for the notice.
    pub(super) fn note(&self, index: usize, event: Event, reason: impl FnOnce() -> String) {
        let Some(server) = self.all.get(index) else { return };
        let Some(condition) = server.health.note(event, self.clock.now()) else { return };
        if condition == Condition::Down {
            server.counts.times_down.fetch_add(1, Ordering::Relaxed);
        }
        (self.notice)(&Change { address: &server.address, condition, reason: &reason() });
    }

    /// Returns the time on the clock that health and idle connections go by.
    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").field("all", &self.all).finish_non_exhaustive()
    }
}

impl Server {
    fn new(
        server: &OriginServer,
        settings: &OriginSettings,
        config: Option<&Arc<ClientConfig>>,
    ) -> Result<Server, SettingsError> {
        let address = server.address.clone();
        let host = match split_port(&address) {
            Some((host, Some(_))) => host,
            _ => return Err(AddressError(address).into()),
        };
        let tls = match config.filter(|_| server.tls) {
            Some(config) => Some((Arc::clone(config), server_name(host, settings)?)),
            None => None,
        };
        Ok(Server {
            weight: server.weight,
            salt: address.bytes().fold(0, |hash, byte| mix_bits(hash ^ u64::from(byte))),
            tls,
            resolver: Resolver::new(&address),
            health: Health::new(&settings.health),
            places: Arc::new(Semaphore::new(settings.connections_max.min(Semaphore::MAX_PERMITS))),
            counts: Counts::default(),
            address,
        })
    }

    /// Returns how many requests are under way, as far as that can be known while it changes.
    pub(super) fn in_use(&self, settings: &OriginSettings) -> usize {
        settings.connections_max.saturating_sub(self.places.available_permits())
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

fn check(settings: &OriginSettings) -> Result<(), SettingsError> {
    if settings.servers.iter().all(|server| server.weight == 0) {
        return Err(SettingsError::NoServer);
    }
    if settings.connections_max == 0 {
        return Err(SettingsError::NoConnections);
    }
    if let Some(host) = settings.host.as_ref().filter(|host| !is_host(host.as_bytes())) {
        return Err(SettingsError::Host(host.clone()));
    }
    let Some(probe) = &settings.health.probe else { return Ok(()) };
    if !probe.path.starts_with('/') || !is_target(probe.path.as_bytes()) {
        return Err(SettingsError::ProbePath(probe.path.clone()));
    }
    if probe.interval == Nanos::ZERO {
        return Err(SettingsError::ProbeInterval);
    }
    Ok(())
}

/// Returns the name that a server must prove.
fn server_name(host: &str, settings: &OriginSettings) -> Result<ServerName<'static>, SettingsError> {
    let name = settings.tls.server_name.as_deref().unwrap_or(host).trim_matches(['[', ']']);
    ServerName::try_from(name.to_owned()).map_err(|_| SettingsError::ServerName(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::settings::{HealthSettings, Probe};
    use super::*;

    fn settings(addresses: &[&str]) -> OriginSettings {
        let server = |address: &&str| OriginServer { address: (*address).to_owned(), weight: 1, tls: false };
        OriginSettings { servers: addresses.iter().map(server).collect(), ..OriginSettings::default() }
    }

    fn refused(settings: OriginSettings) -> Option<SettingsError> {
        Servers::new(settings, Box::new(|_| ())).err()
    }

    fn probed(probe: Probe) -> OriginSettings {
        let health = HealthSettings { probe: Some(probe), ..HealthSettings::default() };
        OriginSettings { health, ..settings(&["a:1"]) }
    }

    #[test]
    fn settings_by_which_no_server_could_be_asked_are_refused() {
        let weightless = vec![OriginServer { address: "a:1".to_owned(), weight: 0, tls: false }];
        let host = Some("a b".to_owned());
        let cases = [
            (settings(&[]), SettingsError::NoServer),
            (OriginSettings { servers: weightless, ..settings(&[]) }, SettingsError::NoServer),
            (settings(&["a:1", "b"]), AddressError("b".to_owned()).into()),
            (OriginSettings { host, ..settings(&["a:1"]) }, SettingsError::Host("a b".to_owned())),
            (OriginSettings { connections_max: 0, ..settings(&["a:1"]) }, SettingsError::NoConnections),
            (
                probed(Probe { path: "/a b".to_owned(), ..Probe::default() }),
                SettingsError::ProbePath("/a b".to_owned()),
            ),
            (probed(Probe { interval: Nanos::ZERO, ..Probe::default() }), SettingsError::ProbeInterval),
        ];
        for (settings, error) in cases {
            assert_eq!(refused(settings), Some(error));
        }
        assert_eq!(refused(probed(Probe::default())), None);
    }

    #[test]
    fn a_server_that_goes_down_is_noticed_once_with_the_reason() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let notice = move |change: &Change<'_>| {
            let text = format!("{} {:?}: {}", change.address, change.condition, change.reason);
            sender.send(text).expect("the test listens");
        };
        let servers = Servers::new(settings(&["a:1", "b:2"]), Box::new(notice)).expect("valid");
        for failure in ["one", "two", "three", "four"] {
            servers.note(1, Event::Failure, || failure.to_owned());
        }
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["b:2 Down: three"]);
        let conditions = servers.report().into_iter().map(|one| (one.condition, one.times_down));
        assert_eq!(conditions.collect::<Vec<_>>(), [(Condition::Up, 0), (Condition::Down, 1)]);
    }
}
