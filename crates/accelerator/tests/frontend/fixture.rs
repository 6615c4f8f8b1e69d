//! The fixture: origin, exchange and workers, put together.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use accelerator::exchange::{Exchange, ExchangeSettings, Flights, SharedCache};
use accelerator::frontend::tls::TlsContext;
use accelerator::frontend::{
    FrontendConfig, FrontendSettings, InheritedSockets, ListenSettings, WorkerContext, WorkerPool, start,
};
use accelerator::observation::{
    AccessLog, CounterTotals, LogFile, LogFormat, LogSettings, Notices, WorkerCounters,
};
use accelerator::origin::{OriginClient, OriginSettings, Servers};
use cache_store::{Store, StoreSettings};
use units::{Clock, Nanos, RealClock};

use super::client::Client;
use super::origin::Origin;

/// Longer than any stop takes that is not held up.
pub(crate) const SOON: Nanos = Nanos::from_secs(20);

/// All components.
pub(crate) struct Fixture {
    pub origin: Origin,
    pub store: Arc<Store>,
    pub workers: WorkerPool,
    counters: Vec<Arc<WorkerCounters>>,
    parts: Arc<Parts>,
}

struct Parts {
    shared: SharedCache,
    servers: Arc<Servers>,
    log: AccessLog,
}

impl Fixture {
    /// Starts one worker that listens for plain HTTP/1 on one port, with settings changed by `change`.
    pub(crate) fn start(change: impl FnOnce(&mut FrontendSettings)) -> Fixture {
        Fixture::with(1, None, change)
    }

    /// Starts so many workers.
    pub(crate) fn with(
        workers: usize,
        tls: Option<Arc<TlsContext>>,
        change: impl FnOnce(&mut FrontendSettings),
    ) -> Fixture {
        let origin = Origin::start();
        let store =
            Arc::new(Store::open(&StoreSettings { bytes: 256 << 20, ..StoreSettings::default() }).unwrap());
        let server = format!("http://{}", origin.address).parse().unwrap();
        let servers = OriginSettings { servers: vec![server], ..OriginSettings::default() };
        let servers = Servers::new(servers, Box::new(|_| {})).unwrap();
        let shared = SharedCache { store: Arc::clone(&store), flights: Arc::new(Flights::new(64 << 20)) };
        let log = AccessLog::start(None, Notices::default()).unwrap();
        let parts = Arc::new(Parts { shared, servers, log });
        let counters: Vec<_> = (0..workers).map(|_| Arc::default()).collect();
        let config = config(&parts, &counters, tls, ExchangeSettings::default(), change);
        let workers = NonZeroUsize::new(workers).unwrap();
        let workers = start(config, workers, &mut InheritedSockets::default()).unwrap();
        Fixture { origin, store, workers, counters, parts }
    }

    /// Applies other settings.
    pub(crate) fn reload(&mut self, change: impl FnOnce(&mut FrontendSettings)) {
        self.try_reload(change).unwrap();
    }

    /// Tries to apply other settings.
    pub(crate) fn try_reload(&mut self, change: impl FnOnce(&mut FrontendSettings)) -> io::Result<()> {
        let config = config(&self.parts, &self.counters, None, ExchangeSettings::default(), change);
        self.workers.reload(config)
    }

    /// Applies other settings of the exchange.
    pub(crate) fn reload_exchange(&mut self, settings: ExchangeSettings) {
        let config = config(&self.parts, &self.counters, None, settings, |_| {});
        self.workers.reload(config).unwrap();
    }

    /// Logs to a file from now on.
    pub(crate) fn log_to(&self, file: &Path) {
        let settings = LogSettings { file: file.to_owned(), form: LogFormat::Json };
        self.parts.log.switch_to(Some(LogFile::open(&settings).unwrap()));
    }

    /// Writes everything to the log, and ends it.
    pub(crate) fn end_log(&self) {
        self.parts.log.stop();
    }

    /// Returns the totals of all workers, once they are as expected: a response is counted after it has been sent.
    pub(crate) fn settled(&self, is_expected: impl Fn(&CounterTotals) -> bool) -> CounterTotals {
        let clock = RealClock::start();
        loop {
            let totals = self.totals();
            if is_expected(&totals) {
                return totals;
            }
            assert!(clock.now() < SOON, "{totals:?}");
            std::thread::yield_now();
        }
    }

    /// Returns the address of the first listener.
    pub(crate) fn address(&self) -> SocketAddr {
        self.workers.addresses()[0]
    }

    /// Connects to it.
    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address())
    }

    /// Returns the totals of all workers.
    pub(crate) fn totals(&self) -> CounterTotals {
        CounterTotals::of(self.counters.iter().map(|counters| &**counters))
    }
}

fn config(
    parts: &Arc<Parts>,
    counters: &[Arc<WorkerCounters>],
    tls: Option<Arc<TlsContext>>,
    exchange: ExchangeSettings,
    change: impl FnOnce(&mut FrontendSettings),
) -> FrontendConfig {
    let any = "127.0.0.1:0".parse().unwrap();
    let mut settings =
        FrontendSettings { listens: vec![ListenSettings::plain(any)], ..FrontendSettings::default() };
    change(&mut settings);
    let parts = Arc::clone(parts);
    let counters = counters.to_vec();
    let exchange = Arc::new(exchange);
    let worker_factory = move |index: usize| {
        let origins = OriginClient::new(Arc::clone(&parts.servers));
        WorkerContext {
            exchange: Exchange::new(parts.shared.clone(), Arc::clone(&exchange), origins),
            counters: Arc::clone(&counters[index]),
            log: parts.log.writer(),
            maintenance: None,
        }
    };
    FrontendConfig { settings, tls, worker_factory: Arc::new(worker_factory) }
}
