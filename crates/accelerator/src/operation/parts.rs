//! What all that looks at the accelerator from outside shares.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use units::{WallTime, wall};

use super::access_log::AccessLog;
use super::counters::{Counters, Totals};
use super::notice::Notices;
use super::status::Status;
use crate::config::Settings;
use crate::exchange::{Exchange, ExchangeSettings, Shared};
use crate::front::Kit;
use crate::origin::{Origins, Servers};

/// The parts that live as long as the accelerator, and those of the moment.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) shared: Shared,
    /// One for each worker.
    pub(super) counters: Vec<Arc<Counters>>,
    pub(super) notices: Notices,
    pub(super) log: AccessLog,
    began: WallTime,
    current: Mutex<Arc<Current>>,
    reloads: AtomicU64,
}

/// What holds until the next reload.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) settings: Settings,
    pub(super) exchange: Arc<ExchangeSettings>,
    pub(super) servers: Arc<Servers>,
}

impl Current {
    /// Makes a new one from settings and the servers that they name.
    pub(super) fn new(settings: Settings, servers: Arc<Servers>) -> Arc<Current> {
        let exchange = Arc::new(settings.exchange.clone());
        Arc::new(Current { settings, exchange, servers })
    }
}

impl Parts {
    /// Puts parts together.
    pub(super) fn new(
        shared: Shared,
        workers: usize,
        notices: Notices,
        log: AccessLog,
        current: Arc<Current>,
    ) -> Arc<Parts> {
        let counters = (0..workers).map(|_| Arc::default()).collect();
        let (current, reloads) = (Mutex::new(current), AtomicU64::new(0));
        Arc::new(Parts { shared, counters, notices, log, began: wall(), current, reloads })
    }

    /// Returns what holds at the moment.
    pub(super) fn current(&self) -> Arc<Current> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces what holds.
    pub(super) fn turn_to(&self, current: Arc<Current>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = current;
        self.reloads.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes an exchange for the thread that calls.
    pub(super) fn exchange(&self, current: &Current) -> Rc<Exchange> {
        let origins = Origins::new(Arc::clone(&current.servers));
        Exchange::new(self.shared.clone(), Arc::clone(&current.exchange), origins)
    }

    /// Makes what a worker works with, for the thread that calls.
    pub(super) fn kit(&self, worker: usize, current: &Current) -> Kit {
        let origins = Origins::new(Arc::clone(&current.servers));
        let sweeping = origins.clone();
        Kit {
            exchange: Exchange::new(self.shared.clone(), Arc::clone(&current.exchange), origins),
            counters: self.counters.get(worker).cloned().unwrap_or_default(),
            log: self.log.writer(),
            housekeeping: Some(Box::new(move || sweeping.sweep())),
        }
    }

    /// Returns how the accelerator does, with so many of the objects that are used most.
    pub(super) fn status(&self, n_hottest: usize) -> Status {
        let current = self.current();
        let store = &self.shared.store;
        Status {
            name: current.exchange.name.clone(),
            began: self.began,
            now: wall(),
            totals: Totals::of(self.counters.iter().map(|counters| &**counters)),
            usage: store.usage(),
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
