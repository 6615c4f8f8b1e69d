//! The state shared by the admin page, the metrics and the lifecycle.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use units::{WallTime, wall};

use super::settings::Settings;
use super::status::Status;
use crate::exchange::{Exchange, ExchangeSettings, SharedCache};
use crate::frontend::WorkerContext;
use crate::observation::{AccessLog, CounterTotals, Notices, WorkerCounters};
use crate::origin::{OriginClient, ServerFault, Servers};

/// The components that live as long as the accelerator, and the active configuration.
#[derive(Debug)]
pub(super) struct Components {
    pub(super) shared: SharedCache,
    /// One for each worker.
    pub(super) counters: Vec<Arc<WorkerCounters>>,
    pub(super) notices: Notices,
    pub(super) log: AccessLog,
    began: WallTime,
    current: Mutex<Arc<ActiveConfig>>,
    reloads: AtomicU64,
}

/// The configuration that is active until the next reload.
#[derive(Debug)]
pub(super) struct ActiveConfig {
    pub(super) settings: Settings,
    pub(super) exchange: Arc<ExchangeSettings>,
    pub(super) servers: Arc<Servers>,
}

impl ActiveConfig {
    /// Makes a configuration from settings and the servers that they name.
    pub(super) fn new(settings: Settings, servers: Arc<Servers>) -> Arc<ActiveConfig> {
        let exchange = Arc::new(settings.exchange.clone());
        Arc::new(ActiveConfig { settings, exchange, servers })
    }
}

impl Components {
    /// Puts the components together.
    pub(super) fn new(
        shared: SharedCache,
        workers: usize,
        notices: Notices,
        log: AccessLog,
        current: Arc<ActiveConfig>,
    ) -> Arc<Components> {
        let counters = (0..workers).map(|_| Arc::default()).collect();
        let current = Mutex::new(current);
        let reloads = AtomicU64::new(0);
        Arc::new(Components { shared, counters, notices, log, began: wall(), current, reloads })
    }

    /// Returns the active configuration.
    pub(super) fn current(&self) -> Arc<ActiveConfig> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the active configuration.
    pub(super) fn switch_to(&self, current: Arc<ActiveConfig>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = current;
        self.reloads.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes an exchange for the calling thread.
    pub(super) fn exchange(&self, current: &ActiveConfig) -> Rc<Exchange> {
        let origins = OriginClient::new(Arc::clone(&current.servers));
        Exchange::new(self.shared.clone(), Arc::clone(&current.exchange), origins)
    }

    /// Makes a worker's context for the calling thread.
    pub(super) fn context(&self, worker: usize, current: &ActiveConfig) -> WorkerContext {
        let origins = OriginClient::new(Arc::clone(&current.servers));
        let sweeping = origins.clone();
        let servers = Arc::clone(&current.servers);
        let notices = self.notices.clone();
        WorkerContext {
            exchange: Exchange::new(self.shared.clone(), Arc::clone(&current.exchange), origins),
            counters: self.counters.get(worker).cloned().unwrap_or_default(),
            log: self.log.writer(),
            maintenance: Some(Box::new(move || {
                sweeping.sweep();
                servers.take_faults().iter().for_each(|fault| warn_of(fault, &notices));
            })),
        }
    }

    /// Returns a snapshot, with so many of the most used objects.
    pub(super) fn status(&self, n_hottest: usize) -> Status {
        let current = self.current();
        let store = &self.shared.store;
        Status {
            name: current.exchange.name.clone(),
            began: self.began,
            now: wall(),
            totals: CounterTotals::of(self.counters.iter().map(|counters| &**counters)),
            usage: store.usage(),
            held_bytes: store.held_bytes(),
            hottest: if n_hottest == 0 { Vec::new() } else { store.hottest(n_hottest) },
            servers: current.servers.report(),
            flights: self.shared.flights.in_progress(),
            filling_bytes: self.shared.flights.filling_bytes(),
            log_dropped: self.log.dropped(),
            reloads: self.reloads.load(Ordering::Relaxed),
            notices: self.notices.recent(),
        }
    }
}

/// Tells the operator about the faulty responses of a server.
fn warn_of(fault: &ServerFault, notices: &Notices) {
    let ServerFault { address, responses, reason } = fault;
    let number = match responses {
        1 => "a response".to_owned(),
        n => format!("{n} responses"),
    };
    notices.warn(format!("server `{address}` has sent {number} that cannot be forwarded: {reason}"));
}
