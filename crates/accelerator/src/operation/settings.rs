//! The settings of an accelerator.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use cache_store::StoreSettings;
use units::Nanos;

use super::admin::AdminSettings;
use crate::exchange::ExchangeSettings;
use crate::frontend::FrontendSettings;
use crate::frontend::tls::TlsSettings;
use crate::observation::LogSettings;
use crate::origin::OriginSettings;

/// The settings of all components.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The number of threads that serve clients; the number of CPUs if `None`.
    pub workers: Option<NonZeroUsize>,
    /// The time that requests in flight get when it is asked to stop.
    pub stop_timeout: Nanos,
    /// The control socket at which a new process takes over; none by default.
    pub upgrade_socket: Option<PathBuf>,
    /// The frontend.
    pub frontend: FrontendSettings,
    /// TLS; `None` if no listener speaks it.
    pub tls: Option<TlsSettings>,
    /// The exchange.
    pub exchange: ExchangeSettings,
    /// The origin servers.
    pub origin: OriginSettings,
    /// The store.
    pub store: StoreSettings,
    /// Bytes of memory for responses that are on their way into the store.
    pub filling_bytes_max: u64,
    /// The access log.
    pub log: Option<LogSettings>,
    /// The admin page.
    pub admin: Option<AdminSettings>,
}
