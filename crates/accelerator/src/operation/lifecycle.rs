//! The life of an accelerator: start, reload, stop.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use cache_store::disk::DiskError;
use cache_store::{Store, StoreSettings};
use thiserror::Error;

use super::background::{BackgroundThread, BackgroundUpdate};
use super::components::{ActiveConfig, Components};
use super::settings::Settings;
use super::upgrade::TakeOver;
use crate::exchange::{Flights, SharedCache};
use crate::frontend::tls::{TlsContext, TlsError, TlsSettings};
use crate::frontend::{self, FrontendConfig, FrontendSettings, InheritedSockets, WorkerFactory, WorkerPool};
use crate::observation::{AccessLog, LogFile, LogSettings, Notices};
use crate::origin::{OriginSettings, OriginSettingsError, ServerChange, ServerState, Servers};

/// The reason for which an accelerator cannot start, or apply other settings.
#[derive(Debug, Error)]
pub enum AcceleratorStartError {
    /// The origin settings are not usable.
    #[error("`[origin]`: {0}")]
    Origin(#[from] OriginSettingsError),
    /// The certificates are not usable.
    #[error("`[tls]`: {0}")]
    Tls(#[from] TlsError),
    /// The folder of the disk tier is not usable.
    #[error("`[disk]`: {0}")]
    Disk(#[from] DiskError),
    /// The access log cannot be opened.
    #[error("access log `{}` cannot be opened: {why}", .path.display())]
    Log {
        /// Its file.
        path: PathBuf,
        /// The error of the system.
        why: io::Error,
    },
    /// The admin page cannot be bound.
    #[error("the admin page cannot listen on `{address}`: {why}")]
    Admin {
        /// Its address.
        address: SocketAddr,
        /// The error of the system.
        why: io::Error,
    },
    /// A listener cannot be bound.
    #[error("{0}")]
    Listen(io::Error),
    /// A socket of systemd has an address that no listener has.
    #[error(
        "systemd listens on `{0}`, which is the address of no `[[listen]]`\nhint: give both the same address"
    )]
    NoListener(SocketAddr),
    /// The system has no thread or descriptor left.
    #[error("the system has no thread or descriptor left: {0}")]
    System(#[from] io::Error),
}

/// A running accelerator. Its methods may block: call them from a thread that serves no clients.
#[derive(Debug)]
pub struct Accelerator {
    components: Arc<Components>,
    workers: WorkerPool,
    tls: Option<Arc<TlsContext>>,
    background: BackgroundThread,
    /// A duplicate of the listener of the admin page, for a process that takes it over.
    admin: Option<TcpListener>,
}

impl Accelerator {
    /// Checks whether it could start with these settings, as far as that is known without starting: certificates and
    /// server names.
    ///
    /// # Errors
    /// The error that [`Accelerator::start`] would return.
    pub fn check(settings: &Settings) -> Result<(), AcceleratorStartError> {
        servers(&settings.origin, &Notices::default())?;
        settings.tls.as_ref().map(TlsContext::load).transpose()?;
        Ok(())
    }

    /// Starts an accelerator; when this returns, clients are served.
    ///
    /// # Errors
    /// Anything that it needs and does not get; nothing keeps running then.
    pub fn start(settings: Settings, notices: Notices) -> Result<Accelerator, AcceleratorStartError> {
        Accelerator::take_over(settings, notices, TakeOver::default())
    }

    /// Starts an accelerator with the listening sockets of others, and tells the process that it replaces to stop:
    /// once clients are served; or, with a disk tier, which belongs to one process, before it is opened. Then clients
    /// wait in the accept queues until that process has ended.
    ///
    /// # Errors
    /// As [`Accelerator::start`]; also if a socket of systemd has an address that no listener has.
    pub fn take_over(
        settings: Settings,
        notices: Notices,
        mut taken: TakeOver,
    ) -> Result<Accelerator, AcceleratorStartError> {
        let workers = settings.workers.unwrap_or_else(n_cpus);
        let tls = settings.tls.as_ref().map(TlsContext::load).transpose()?.map(Arc::new);
        let current = ActiveConfig::new(settings.clone(), servers(&settings.origin, &notices)?);
        let file = settings.log.as_ref().map(open_log).transpose()?;
        let listener =
            settings.admin.as_ref().map(|admin| listen(admin.listen, &mut taken.sockets)).transpose()?;
        let admin = listener.as_ref().map(TcpListener::try_clone).transpose()?;
        if let Some(predecessor) = taken.predecessor.as_mut().filter(|_| settings.store.disk.is_some()) {
            predecessor.wait()?;
        }
        let store = Arc::new(Store::open(&store_settings(&settings))?);
        let flights = Arc::new(Flights::new(settings.filling_bytes_max));
        let log = AccessLog::start(file, notices.clone())?;
        let shared = SharedCache { store, flights };
        let components = Components::new(shared, workers.get(), notices, log, Arc::clone(&current));
        let background = BackgroundThread::start(
            Arc::clone(&components),
            BackgroundUpdate { current: Arc::clone(&current), listener },
        )?;
        let frontend_config = frontend_config(&components, &current, tls.as_ref());
        let workers = frontend::start(frontend_config, workers, &mut taken.sockets)
            .map_err(AcceleratorStartError::Listen)?;
        match &mut taken.predecessor {
            // Its listeners that the configuration does not have any more are closed.
            Some(predecessor) => predecessor.release()?,
            None => check_all_taken(&taken.sockets)?,
        }
        Ok(Accelerator { components, workers, tls, background, admin })
    }

    /// Returns duplicates of all listening sockets, for a process that takes them over.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub fn sockets(&self) -> io::Result<Vec<OwnedFd>> {
        let mut sockets = self.workers.sockets()?;
        sockets.extend(self.admin.as_ref().map(TcpListener::try_clone).transpose()?.map(OwnedFd::from));
        Ok(sockets)
    }

    /// Returns the addresses of the listeners, in the order of the settings, with the ports that the system chose.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.workers.addresses()
    }

    /// Returns the address of the admin page, if there is one.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref()?.local_addr().ok()
    }

    /// Applies other settings without dropping a request, and reopens certificates and log files.
    ///
    /// Settings of workers, memory and disk take effect at the next start; a notice says so.
    ///
    /// # Errors
    /// As [`Accelerator::start`]; then everything stays as it was.
    pub fn reload(&mut self, settings: Settings) -> Result<(), AcceleratorStartError> {
        let before = self.components.current();
        let waiting = needing_restart(&before.settings, &settings);
        let settings = with_startup_values(&before.settings, settings);
        // Everything that can fail comes first.
        let servers = if settings.origin == before.settings.origin {
            Arc::clone(&before.servers)
        } else {
            servers(&settings.origin, &self.components.notices)?
        };
        let tls = self.next_tls(settings.tls.as_ref())?;
        let file = settings.log.as_ref().map(open_log).transpose()?;
        let listener = self.next_admin(&before.settings, &settings)?;
        let admin = listener.as_ref().map(TcpListener::try_clone).transpose()?;
        let current = ActiveConfig::new(settings, servers);
        self.workers
            .reload(frontend_config(&self.components, &current, tls.as_ref()))
            .map_err(AcceleratorStartError::Listen)?;

        if let (Some(tls), Some(settings)) = (&tls, &current.settings.tls)
            && let Err(why) = tls.reload(settings)
        {
            self.components.notices.warn(format!("the old certificates stay in use: {why}"));
        }
        self.tls = tls;
        self.admin = admin.or(self.admin.take()).filter(|_| current.settings.admin.is_some());
        self.components.log.switch_to(file);
        self.background.update(BackgroundUpdate { current: Arc::clone(&current), listener });
        for what in waiting {
            self.components
                .notices
                .warn(format!("{what} has changed; the change takes effect at the next start"));
        }
        self.components.switch_to(current);
        Ok(())
    }

    /// Reopens the access log, after it was moved away.
    ///
    /// # Errors
    /// If it cannot be opened; lines go on to the moved file then.
    pub fn reopen_log(&self) -> Result<(), AcceleratorStartError> {
        let file = self.components.current().settings.log.as_ref().map(open_log).transpose()?;
        self.components.log.switch_to(file);
        Ok(())
    }

    /// Stops: accepts nothing new, answers the requests in progress, and writes stored responses to disk.
    ///
    /// Returns the number of requests that were aborted at the end of the stop timeout.
    pub fn stop(self) -> usize {
        // First the admin page: it belongs to the process that takes over.
        drop(self.admin);
        self.background.stop();
        let broken_off = self.workers.stop(self.components.current().settings.stop_timeout);
        self.components.shared.store.flush();
        self.components.log.stop();
        broken_off
    }

    /// Returns the TLS setup of the new settings; its files have been loaded once as a check.
    fn next_tls(
        &self,
        settings: Option<&TlsSettings>,
    ) -> Result<Option<Arc<TlsContext>>, AcceleratorStartError> {
        let Some(settings) = settings else { return Ok(None) };
        let new = TlsContext::load(settings)?;
        // The existing one keeps its session tickets.
        Ok(Some(self.tls.clone().unwrap_or_else(|| Arc::new(new))))
    }

    /// Returns a new listener for the admin page, unless the address stays the same.
    fn next_admin(
        &self,
        before: &Settings,
        settings: &Settings,
    ) -> Result<Option<TcpListener>, AcceleratorStartError> {
        let address = |settings: &Settings| settings.admin.as_ref().map(|admin| admin.listen);
        match address(settings) {
            Some(new) if address(before) != Some(new) => {
                listen(new, &mut InheritedSockets::default()).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// Returns the names of the settings that differ from those at the start and need a restart.
fn needing_restart(started: &Settings, settings: &Settings) -> Vec<&'static str> {
    let room = |settings: &Settings| {
        (settings.store.clone(), settings.filling_bytes_max, settings.frontend.memo_bytes_max)
    };
    let changed = [
        (started.workers != settings.workers, "`workers`"),
        (started.upgrade_socket != settings.upgrade_socket, "`upgrade-socket`"),
        (room(started) != room(settings), "`[memory]` or `[disk]`"),
    ];
    changed.into_iter().filter(|(is_changed, _)| *is_changed).map(|(_, what)| what).collect()
}

/// Returns settings in which those that need a restart are as they were at the start.
fn with_startup_values(started: &Settings, settings: Settings) -> Settings {
    Settings {
        workers: started.workers,
        upgrade_socket: started.upgrade_socket.clone(),
        store: started.store.clone(),
        filling_bytes_max: started.filling_bytes_max,
        frontend: FrontendSettings { memo_bytes_max: started.frontend.memo_bytes_max, ..settings.frontend },
        ..settings
    }
}

/// Returns the number of CPUs that this process may use.
fn n_cpus() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn servers(settings: &OriginSettings, notices: &Notices) -> Result<Arc<Servers>, OriginSettingsError> {
    let notices = notices.clone();
    let report = move |change: &ServerChange<'_>| match change.condition {
        ServerState::Up => notices.info(format!("server `{}` is up: {}", change.address, change.reason)),
        ServerState::Down => notices.warn(format!("server `{}` is down: {}", change.address, change.reason)),
    };
    Servers::new(settings.clone(), Box::new(report))
}

fn open_log(settings: &LogSettings) -> Result<LogFile, AcceleratorStartError> {
    LogFile::open(settings).map_err(|why| AcceleratorStartError::Log { path: settings.file.clone(), why })
}

/// Returns the listener of the admin page: an inherited one, or a new one.
fn listen(
    address: SocketAddr,
    inherited: &mut InheritedSockets,
) -> Result<TcpListener, AcceleratorStartError> {
    if let Some(socket) = inherited.take(address, &[]).pop() {
        return Ok(TcpListener::from(OwnedFd::from(socket)));
    }
    let listening = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listening.map_err(|why| AcceleratorStartError::Admin { address, why })
}

/// Checks that every socket of systemd has a listener: clients of others would wait forever.
fn check_all_taken(sockets: &InheritedSockets) -> Result<(), AcceleratorStartError> {
    sockets.addresses().next().map_or(Ok(()), |address| Err(AcceleratorStartError::NoListener(address)))
}

/// Returns the memory for remembered heads per worker: together at most an eighth of the memory limit.
fn memo_bytes_per_worker(settings: &Settings) -> usize {
    let workers = settings.workers.unwrap_or_else(n_cpus).get();
    let most = usize::try_from(settings.store.bytes / 8).unwrap_or(usize::MAX) / workers;
    settings.frontend.memo_bytes_max.min(most)
}

/// Returns the settings of the store, without the memory that remembered heads take.
fn store_settings(settings: &Settings) -> StoreSettings {
    let workers = settings.workers.unwrap_or_else(n_cpus).get();
    let heads = (memo_bytes_per_worker(settings) * workers) as u64;
    StoreSettings { bytes: settings.store.bytes - heads, ..settings.store.clone() }
}

/// Returns the configuration of the workers.
fn frontend_config(
    components: &Arc<Components>,
    current: &Arc<ActiveConfig>,
    tls: Option<&Arc<TlsContext>>,
) -> FrontendConfig {
    let all = &current.settings;
    let settings = FrontendSettings { memo_bytes_max: memo_bytes_per_worker(all), ..all.frontend.clone() };
    let components = Arc::clone(components);
    let current = Arc::clone(current);
    let worker_factory: WorkerFactory = Arc::new(move |worker| components.context(worker, &current));
    FrontendConfig { settings, tls: tls.cloned(), worker_factory }
}
