//! The accelerator as a whole: started, reloaded, stopped.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

use super::access_log::{AccessLog, LogFile, LogSettings};
use super::background::{Background, Order};
use super::notice::Notices;
use super::parts::{Current, Parts};
use crate::config::Settings;
use crate::exchange::{Flights, Shared};
use crate::front::tls::{Tls, TlsError, TlsSettings};
use crate::front::{self, FrontSettings, Fronts, Maker, Plan};
use crate::origin::{Change, Condition, OriginSettings, Servers, SettingsError};
use crate::store::disk::DiskError;
use crate::store::{Store, StoreSettings};

/// Why an accelerator cannot begin, or go on with other settings.
#[derive(Debug, Error)]
pub enum StartError {
    /// The servers behind cannot be asked so.
    #[error("`[origin]`: {0}")]
    Origin(#[from] SettingsError),
    /// Certificates cannot be shown.
    #[error("`[tls]`: {0}")]
    Tls(#[from] TlsError),
    /// The folder of the tier on disk cannot be used.
    #[error("`[disk]`: {0}")]
    Disk(#[from] DiskError),
    /// The access log cannot be written.
    #[error("access log `{}` cannot be opened: {why}", .path.display())]
    Log {
        /// Its file.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// Nobody can reach the operator's page.
    #[error("the operator's page cannot be at `{address}`: {why}")]
    Admin {
        /// Where it is to be.
        address: SocketAddr,
        /// What the system says.
        why: io::Error,
    },
    /// Clients cannot come in.
    #[error("{0}")]
    Listen(io::Error),
    /// The system has no thread or descriptor left.
    #[error("the system refuses what is needed: {0}")]
    System(#[from] io::Error),
}

/// A running accelerator. Its calls may block: they are for a thread that serves nobody.
#[derive(Debug)]
pub struct Accelerator {
    parts: Arc<Parts>,
    fronts: Fronts,
    tls: Option<Arc<Tls>>,
    background: Background,
    admin_address: Option<SocketAddr>,
}

impl Accelerator {
    /// Looks whether it could start with these settings, as far as that can be seen without starting: certificates
    /// and names of servers.
    ///
    /// # Errors
    /// What [`Accelerator::start`] would say.
    pub fn check(settings: &Settings) -> Result<(), StartError> {
        servers(&settings.origin, &Notices::default())?;
        settings.tls.as_ref().map(Tls::load).transpose()?;
        Ok(())
    }

    /// Starts one: from its return on clients are served.
    ///
    /// # Errors
    /// Whatever it needs and does not get; then nothing goes on.
    pub fn start(settings: Settings, notices: Notices) -> Result<Accelerator, StartError> {
        let workers = settings.workers.unwrap_or_else(n_cpus);
        let tls = settings.tls.as_ref().map(Tls::load).transpose()?.map(Arc::new);
        let current = Current::new(settings.clone(), servers(&settings.origin, &notices)?);
        let file = settings.log.as_ref().map(open_log).transpose()?;
        let listener = settings.admin.as_ref().map(|admin| listen(admin.listen)).transpose()?;
        let admin_address = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        let store = Arc::new(Store::open(&beside_heads(&settings))?);
        let flights = Arc::new(Flights::new(settings.filling_bytes_max));
        let log = AccessLog::start(file, notices.clone())?;
        let shared = Shared { store, flights };
        let parts = Parts::new(shared, workers.get(), notices, log, Arc::clone(&current));
        let background =
            Background::start(Arc::clone(&parts), Order { current: Arc::clone(&current), listener })?;
        let plan = plan(&parts, &current, tls.as_ref());
        let fronts = front::start(plan, workers).map_err(StartError::Listen)?;
        Ok(Accelerator { parts, fronts, tls, background, admin_address })
    }

    /// Returns where it listens, in the order of the settings: the ports too, where the system chose them.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.fronts.addresses()
    }

    /// Returns where the operator's page is, if there is one.
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// Goes on with other settings; no request is dropped, and files of certificates and log are opened anew.
    ///
    /// What the settings say of workers, memory and disk waits for the next start; a notice says so.
    ///
    /// # Errors
    /// As [`Accelerator::start`]; then everything goes on as before.
    pub fn reload(&mut self, settings: Settings) -> Result<(), StartError> {
        let before = self.parts.current();
        let waiting = waiting(&before.settings, &settings);
        let settings = as_started(&before.settings, settings);
        // Whatever can fail comes first.
        let servers = if settings.origin == before.settings.origin {
            Arc::clone(&before.servers)
        } else {
            servers(&settings.origin, &self.parts.notices)?
        };
        let tls = self.next_tls(settings.tls.as_ref())?;
        let file = settings.log.as_ref().map(open_log).transpose()?;
        let listener = self.next_admin(&before.settings, &settings)?;
        let admin_address =
            listener.as_ref().map(TcpListener::local_addr).transpose()?.or(self.admin_address);
        let current = Current::new(settings, servers);
        self.fronts.reload(plan(&self.parts, &current, tls.as_ref())).map_err(StartError::Listen)?;

        if let (Some(tls), Some(settings)) = (&tls, &current.settings.tls)
            && let Err(why) = tls.reload(settings)
        {
            self.parts.notices.warn(format!("certificates stay as they were: {why}"));
        }
        self.tls = tls;
        self.admin_address = admin_address.filter(|_| current.settings.admin.is_some());
        self.parts.log.turn_to(file);
        self.background.order(Order { current: Arc::clone(&current), listener });
        for what in waiting {
            self.parts.notices.warn(format!("{what} has changed, which takes effect at the next start"));
        }
        self.parts.turn_to(current);
        Ok(())
    }

    /// Opens the access log anew, which was moved away.
    ///
    /// # Errors
    /// If it cannot be opened; then lines go on to the file that was moved away.
    pub fn reopen_log(&self) -> Result<(), StartError> {
        let file = self.parts.current().settings.log.as_ref().map(open_log).transpose()?;
        self.parts.log.turn_to(file);
        Ok(())
    }

    /// Stops: nothing new comes in, requests in flight are answered, what is stored is written to disk.
    ///
    /// Returns how many requests were broken off because their time was over.
    pub fn stop(self) -> usize {
        let broken_off = self.fronts.stop(self.parts.current().settings.stop_timeout);
        self.background.stop();
        self.parts.shared.store.flush();
        self.parts.log.stop();
        broken_off
    }

    /// Returns what certificates are shown from; its files have been read once to see that they can be.
    fn next_tls(&self, settings: Option<&TlsSettings>) -> Result<Option<Arc<Tls>>, StartError> {
        let Some(settings) = settings else { return Ok(None) };
        let new = Tls::load(settings)?;
        // The one that is there keeps its tickets.
        Ok(Some(self.tls.clone().unwrap_or_else(|| Arc::new(new))))
    }

    /// Returns where the operator's page is from now on, unless it stays where it is.
    fn next_admin(&self, before: &Settings, settings: &Settings) -> Result<Option<TcpListener>, StartError> {
        let address = |settings: &Settings| settings.admin.as_ref().map(|admin| admin.listen);
        match address(settings) {
            Some(new) if address(before) != Some(new) => listen(new).map(Some),
            _ => Ok(None),
        }
    }
}

/// Returns what other settings than those of the start can change at the next start only.
fn waiting(started: &Settings, settings: &Settings) -> Vec<&'static str> {
    let room = |settings: &Settings| {
        (settings.store.clone(), settings.filling_bytes_max, settings.front.memo_bytes_max)
    };
    let changed = [
        (started.workers != settings.workers, "`workers`"),
        (room(started) != room(settings), "`[memory]` or `[disk]`"),
    ];
    changed.into_iter().filter(|(is_changed, _)| *is_changed).map(|(_, what)| what).collect()
}

/// Returns settings with what cannot change as it was at the start.
fn as_started(started: &Settings, settings: Settings) -> Settings {
    Settings {
        workers: started.workers,
        store: started.store.clone(),
        filling_bytes_max: started.filling_bytes_max,
        front: FrontSettings { memo_bytes_max: started.front.memo_bytes_max, ..settings.front },
        ..settings
    }
}

/// Returns how many CPUs this process may use.
fn n_cpus() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn servers(settings: &OriginSettings, notices: &Notices) -> Result<Arc<Servers>, SettingsError> {
    let notices = notices.clone();
    let tell = move |change: &Change<'_>| match change.condition {
        Condition::Up => notices.info(format!("server `{}` is up: {}", change.address, change.reason)),
        Condition::Down => notices.warn(format!("server `{}` is down: {}", change.address, change.reason)),
    };
    Servers::new(settings.clone(), Box::new(tell))
}

fn open_log(settings: &LogSettings) -> Result<LogFile, StartError> {
    LogFile::open(settings).map_err(|why| StartError::Log { path: settings.file.clone(), why })
}

fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    let listening = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listening.map_err(|why| StartError::Admin { address, why })
}

/// Returns how much each worker remembers of heads: together at most an eighth of the memory.
fn heads_of_worker(settings: &Settings) -> usize {
    let workers = settings.workers.unwrap_or_else(n_cpus).get();
    let most = usize::try_from(settings.store.bytes / 8).unwrap_or(usize::MAX) / workers;
    settings.front.memo_bytes_max.min(most)
}

/// Returns what is left for the store: heads that are remembered count as memory too.
fn beside_heads(settings: &Settings) -> StoreSettings {
    let workers = settings.workers.unwrap_or_else(n_cpus).get();
    let heads = (heads_of_worker(settings) * workers) as u64;
    StoreSettings { bytes: settings.store.bytes - heads, ..settings.store.clone() }
}

/// Returns what workers go by.
fn plan(parts: &Arc<Parts>, current: &Arc<Current>, tls: Option<&Arc<Tls>>) -> Plan {
    let all = &current.settings;
    let settings = FrontSettings { memo_bytes_max: heads_of_worker(all), ..all.front.clone() };
    let (parts, current) = (Arc::clone(parts), Arc::clone(current));
    let make: Maker = Arc::new(move |worker| parts.kit(worker, &current));
    Plan { settings, tls: tls.cloned(), make }
}
