//! The configuration of an accelerator, in TOML.
//!
//! Every key that is left out has the default of the component that it concerns. Files are named relative to the
//! folder of the configuration.
//!
//! - `quantity`: times, sizes, networks
//! - `listen`, `origin`, `cache`, `operation`: the sections
//! - `settings`: from the sections to the components' settings
//! - `schema`: the JSON Schema that is published
//! - `error`: errors, with their position and a hint

mod cache;
mod error;
mod listen;
mod operation;
mod origin;
mod quantity;
mod schema;
mod settings;

use std::net::SocketAddr;
use std::num::{NonZeroU16, NonZeroU64};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use units::Nanos;

pub use cache::{
    CacheSection, DetailChoice, DotSegmentsChoice, Fraction, HeuristicSection, SetCookieChoice, StaleSection,
    StatusKey,
};
pub use error::ConfigError;
pub use listen::{
    CertificateSection, Http2Section, LimitsSection, ListenSection, TlsSection, TlsVersion,
    UnknownNamesChoice,
};
pub use operation::{AdminSection, DiskSection, LogFormChoice, LogSection, MemorySection};
pub use origin::{
    BalanceChoice, ForwardedChoice, HealthSection, OriginSection, OriginTlsSection, ProbeSection,
    ServerSection,
};
pub use quantity::{Peers, Size, Statuses, Time, Url};
pub use schema::config_schema;

/// The configuration of an accelerator.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "Plimsoll accelerator configuration")]
pub struct Config {
    /// The name of this cache in `Via` and `Cache-Status`; `plimsoll` by default. Caches in a chain need different
    /// names.
    pub name: Option<String>,
    /// The number of threads that serve clients; by default the number of CPUs that it may use.
    pub workers: Option<NonZeroU16>,
    /// The time that requests in flight get when it is asked to stop; 30 s by default.
    pub stop_timeout: Option<Time>,
    /// The host of HTTP/1.0 requests that name none; without it they are refused.
    pub default_host: Option<String>,
    /// The listeners; `127.0.0.1:8000` by default.
    #[serde(rename = "listen")]
    pub listens: Vec<ListenSection>,
    /// Certificates.
    pub tls: TlsSection,
    /// HTTP/2.
    pub http2: Http2Section,
    /// The limits on clients.
    pub limits: LimitsSection,
    /// The origin servers.
    pub origin: OriginSection,
    /// Storing and reuse of responses.
    pub cache: CacheSection,
    /// The memory tier.
    pub memory: MemorySection,
    /// The disk tier; none by default.
    pub disk: Option<DiskSection>,
    /// The access log; none by default.
    pub access_log: Option<LogSection>,
    /// The admin page; off by default.
    pub admin: Option<AdminSection>,
    /// The folder that file names are relative to.
    #[serde(skip)]
    pub base: Base,
}

/// The folder that a configuration's file names are relative to; by default the current one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base(PathBuf);

impl Base {
    /// Returns the path of a file that a configuration names.
    pub(crate) fn path(&self, file: &Path) -> PathBuf {
        self.0.join(file)
    }
}

/// The command-line arguments that replace or supplement a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigOverrides {
    /// The configuration file.
    pub file: Option<PathBuf>,
    /// The origin servers, in place of those of the file.
    pub origins: Vec<Url>,
    /// The listeners, in place of those of the file; plain HTTP/1.
    pub listens: Vec<SocketAddr>,
    /// The memory for stored responses, in bytes.
    pub memory: Option<Size>,
    /// The number of threads that serve clients.
    pub workers: Option<NonZeroU16>,
    /// The address of the admin page.
    pub admin: Option<SocketAddr>,
}

impl Config {
    /// Parses a configuration; `file_name` is for messages.
    ///
    /// # Errors
    /// The first error, with its position: syntax, an unknown key, a value of the wrong type.
    pub fn parse(file_name: &str, text: &str) -> Result<Config, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError::of_toml(file_name, text, &error))
    }

    /// Reads a configuration from its file.
    ///
    /// # Errors
    /// As [`Config::parse`], or if the file cannot be read.
    pub fn load(file: &Path) -> Result<Config, ConfigError> {
        let shown = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|why| ConfigError::new(format!("configuration `{shown}` cannot be read: {why}")))?;
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Config { base: Base(folder), ..Config::parse(&shown, &text)? })
    }

    /// Makes the configuration for a command line: its file, if it names one, and its other arguments.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn of(overrides: &ConfigOverrides) -> Result<Config, ConfigError> {
        let mut config = match &overrides.file {
            Some(file) => Config::load(file)?,
            None => Config::default(),
        };
        if !overrides.origins.is_empty() {
            let server = |url: &Url| ServerSection { url: url.clone(), weight: 1 };
            config.origin.servers = overrides.origins.iter().map(server).collect();
        }
        if !overrides.listens.is_empty() {
            config.listens = overrides.listens.iter().map(|address| ListenSection::plain(*address)).collect();
        }
        config.memory.size = overrides.memory.or(config.memory.size);
        config.workers = overrides.workers.or(config.workers);
        if let Some(listen) = overrides.admin {
            let (token_file, hosts) =
                config.admin.map(|admin| (admin.token_file, admin.hosts)).unwrap_or_default();
            config.admin = Some(AdminSection { listen, token_file, hosts });
        }
        Ok(config)
    }
}

/// Returns a given time, or the default.
fn time(given: Option<Time>, default_value: Nanos) -> Nanos {
    given.map_or(default_value, |time| time.0)
}

/// Returns a given size, or the default.
fn size(given: Option<Size>, default_value: u64) -> u64 {
    given.map_or(default_value, |size| size.0)
}

/// As [`size`], for sizes that fit memory.
fn bytes(given: Option<Size>, default_value: usize) -> usize {
    given.map_or(default_value, |size| usize::try_from(size.0).unwrap_or(usize::MAX))
}

/// Returns a given number, or the default.
fn count(given: Option<NonZeroU64>, default_value: usize) -> usize {
    given.map_or(default_value, |n| usize::try_from(n.get()).unwrap_or(usize::MAX))
}
