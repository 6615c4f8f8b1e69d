//! What an operator writes, in TOML, and what it means to the parts.
//!
//! Whatever is left out is as the part that it concerns has it by default. Files are named relative to the folder of the
//! configuration.
//!
//! - `quantity`: times, sizes, networks
//! - `listen`, `origin`, `cache`, `operation`: the sections
//! - `settings`: from the sections to what the parts go by
//! - `schema`: the JSON Schema that is published
//! - `error`: mistakes, with their place and what to do

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
pub use settings::Settings;

/// The configuration of an accelerator.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "Plimsoll accelerator configuration")]
pub struct Config {
    /// How this cache calls itself in `Via` and `Cache-Status`; `plimsoll` by default. Caches in a row need different
    /// names.
    pub name: Option<String>,
    /// How many threads serve clients; by default as many as there are CPUs that it may use.
    pub workers: Option<NonZeroU16>,
    /// How long requests may take that are in flight when it is asked to stop; 30 s by default.
    pub stop_timeout: Option<Time>,
    /// The host that requests of HTTP/1.0 mean that name none; without it they are refused.
    pub default_host: Option<String>,
    /// Where it listens; `127.0.0.1:8000` by default.
    #[serde(rename = "listen")]
    pub listens: Vec<ListenSection>,
    /// Certificates.
    pub tls: TlsSection,
    /// HTTP/2.
    pub http2: Http2Section,
    /// What clients may ask of us.
    pub limits: LimitsSection,
    /// The servers behind.
    pub origin: OriginSection,
    /// What is stored, for how long, and when it is used.
    pub cache: CacheSection,
    /// What is kept in memory.
    pub memory: MemorySection,
    /// What is kept on disk; nothing by default.
    pub disk: Option<DiskSection>,
    /// A line per request; none by default.
    pub access_log: Option<LogSection>,
    /// The page of the operator; off by default.
    pub admin: Option<AdminSection>,
    /// The folder that files are named relative to.
    #[serde(skip)]
    pub base: Base,
}

/// The folder that a configuration's files are named relative to; by default the current one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base(PathBuf);

impl Base {
    /// Returns where a file is that a configuration names.
    pub(crate) fn path(&self, file: &Path) -> PathBuf {
        self.0.join(file)
    }
}

/// What a command line says besides a configuration, or instead of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The configuration's file.
    pub file: Option<PathBuf>,
    /// The servers behind, in place of those of the file.
    pub origins: Vec<Url>,
    /// Where it listens, in place of what the file says; plain HTTP/1.
    pub listens: Vec<SocketAddr>,
    /// How much memory stored responses take, in bytes.
    pub memory: Option<Size>,
    /// How many threads serve clients.
    pub workers: Option<NonZeroU16>,
    /// Where the operator's page is.
    pub admin: Option<SocketAddr>,
}

impl Config {
    /// Reads a configuration from a text; `file_name` is what messages call it.
    ///
    /// # Errors
    /// The first mistake, with its place: syntax, an unknown key, a value of the wrong sort.
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

    /// Reads what a command line asks for: its file, if it names one, and what it says besides.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn of(overrides: &Overrides) -> Result<Config, ConfigError> {
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

/// Returns a time that was given, or the usual one.
fn time(given: Option<Time>, usual: Nanos) -> Nanos {
    given.map_or(usual, |time| time.0)
}

/// Returns a size that was given, or the usual one.
fn size(given: Option<Size>, usual: u64) -> u64 {
    given.map_or(usual, |size| size.0)
}

/// As [`size`], for sizes that fit memory.
fn bytes(given: Option<Size>, usual: usize) -> usize {
    given.map_or(usual, |size| usize::try_from(size.0).unwrap_or(usize::MAX))
}

/// Returns a number that was given, or the usual one.
fn count(given: Option<NonZeroU64>, usual: usize) -> usize {
    given.map_or(usual, |n| usize::try_from(n.get()).unwrap_or(usize::MAX))
}
