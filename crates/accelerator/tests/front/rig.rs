//! Origin, exchange and fronts, put together.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use accelerator::exchange::{Exchange, ExchangeSettings, Flights, Shared};
use accelerator::front::tls::Tls;
use accelerator::front::{FrontSettings, Fronts, Kit, Listen, Plan, start};
use accelerator::operation::{AccessLog, Counters, LogFile, LogForm, LogSettings, Notices, Totals};
use accelerator::origin::{OriginSettings, Origins, Servers};
use accelerator::store::{Store, StoreSettings};
use units::{Clock, Nanos, RealClock};

use crate::client::Client;
use crate::origin::Origin;

/// Longer than any stop takes that is not held up.
pub const SOON: Nanos = Nanos::from_secs(20);

/// All parts.
pub struct Rig {
    pub origin: Origin,
    pub store: Arc<Store>,
    pub fronts: Fronts,
    counters: Vec<Arc<Counters>>,
    parts: Arc<Parts>,
}

struct Parts {
    shared: Shared,
    servers: Arc<Servers>,
    log: AccessLog,
}

impl Rig {
    /// Starts with one worker that listens for plain HTTP/1 on one port, with settings changed by `change`.
    pub fn start(change: impl FnOnce(&mut FrontSettings)) -> Rig {
        Rig::with(1, None, change)
    }

    /// Starts so many workers.
    pub fn with(workers: usize, tls: Option<Arc<Tls>>, change: impl FnOnce(&mut FrontSettings)) -> Rig {
        let origin = Origin::start();
        let store =
            Arc::new(Store::open(&StoreSettings { bytes: 256 << 20, ..StoreSettings::default() }).unwrap());
        let server = format!("http://{}", origin.address).parse().unwrap();
        let servers = OriginSettings { servers: vec![server], ..OriginSettings::default() };
        let servers = Servers::new(servers, Box::new(|_| {})).unwrap();
        let shared = Shared { store: Arc::clone(&store), flights: Arc::new(Flights::new(64 << 20)) };
        let log = AccessLog::start(None, Notices::default()).unwrap();
        let parts = Arc::new(Parts { shared, servers, log });
        let counters: Vec<_> = (0..workers).map(|_| Arc::default()).collect();
        let plan = plan(&parts, &counters, tls, ExchangeSettings::default(), change);
        let fronts = start(plan, NonZeroUsize::new(workers).unwrap()).unwrap();
        Rig { origin, store, fronts, counters, parts }
    }

    /// Goes on with other settings.
    pub fn reload(&mut self, change: impl FnOnce(&mut FrontSettings)) {
        self.try_reload(change).unwrap();
    }

    /// Tries to go on with other settings.
    pub fn try_reload(&mut self, change: impl FnOnce(&mut FrontSettings)) -> io::Result<()> {
        let plan = plan(&self.parts, &self.counters, None, ExchangeSettings::default(), change);
        self.fronts.reload(plan)
    }

    /// Goes on with other settings of the exchange.
    pub fn reload_exchange(&mut self, settings: ExchangeSettings) {
        let plan = plan(&self.parts, &self.counters, None, settings, |_| {});
        self.fronts.reload(plan).unwrap();
    }

    /// Logs to a file from now on.
    pub fn log_to(&self, file: &Path) {
        let settings = LogSettings { file: file.to_owned(), form: LogForm::Json };
        self.parts.log.turn_to(Some(LogFile::open(&settings).unwrap()));
    }

    /// Brings all to the log, and logs no more.
    pub fn end_log(&self) {
        self.parts.log.stop();
    }

    /// Returns what all workers have counted, once it is as expected: a reply is counted after it has been sent.
    pub fn settled(&self, is_expected: impl Fn(&Totals) -> bool) -> Totals {
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

    /// Returns where the first listener is.
    pub fn address(&self) -> SocketAddr {
        self.fronts.addresses()[0]
    }

    /// Connects to it.
    pub fn client(&self) -> Client {
        Client::connect(self.address())
    }

    /// Returns what all workers have counted.
    pub fn totals(&self) -> Totals {
        Totals::of(self.counters.iter().map(|counters| &**counters))
    }
}

fn plan(
    parts: &Arc<Parts>,
    counters: &[Arc<Counters>],
    tls: Option<Arc<Tls>>,
    exchange: ExchangeSettings,
    change: impl FnOnce(&mut FrontSettings),
) -> Plan {
    let any = "127.0.0.1:0".parse().unwrap();
    let mut settings = FrontSettings { listens: vec![Listen::plain(any)], ..FrontSettings::default() };
    change(&mut settings);
    let (parts, counters, exchange) = (Arc::clone(parts), counters.to_vec(), Arc::new(exchange));
    let make = move |index: usize| {
        let origins = Origins::new(Arc::clone(&parts.servers));
        Kit {
            exchange: Exchange::new(parts.shared.clone(), Arc::clone(&exchange), origins),
            counters: Arc::clone(&counters[index]),
            log: parts.log.writer(),
            housekeeping: None,
        }
    };
    Plan { settings, tls, make: Arc::new(make) }
}
