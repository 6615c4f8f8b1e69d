//! The configuration of an accelerator, in TOML.
//!
//! Every key that is left out has the default of the component that it concerns. Files are named relative to the
//! folder of the configuration. Each section is a table of keys, which reads it and makes its JSON Schema.
//!
//! - `listen`, `origin`, `cache`, `operation`: the sections
//! - `values`: times, sizes, numbers, files, addresses, networks, statuses
//! - `check`: checks across keys
//! - `error`: errors, with their positions and hints

mod cache;
mod check;
mod error;
mod listen;
mod operation;
mod origin;
mod values;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::{NonZeroU16, NonZeroUsize};
use std::path::{Path, PathBuf};

use cache_store::StoreSettings;
use languages::reader::read_toml;
use languages::spec::{TableSpec, key, table, tables};
use serde_json::Value;
use units::{Bytes, Nanos};

use crate::exchange::ExchangeSettings;
use crate::frontend::{FrontendSettings, ListenSettings};
use crate::operation::Settings;
use crate::origin::{OriginServer, OriginSettings};
use operation::AdminSection;

pub use error::{ConfigError, ConfigMistake};
pub use values::{CidrError, parse_network};

/// The default listener.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8000);

/// The default stop timeout.
const STOP_TIMEOUT: Nanos = Nanos::from_secs(30);

/// The default memory for responses on their way into the store.
const FILLING_BYTES_MAX: u64 = 64 << 20;

/// The configuration of an accelerator.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The settings of all components except the admin page.
    settings: Settings,
    /// The admin page, whose token is in a file.
    admin: Option<AdminSection>,
}

/// The command-line arguments that replace or supplement a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigOverrides {
    /// The configuration file.
    pub file: Option<PathBuf>,
    /// The origin servers, in place of those of the file.
    pub origins: Vec<OriginServer>,
    /// The listeners, in place of those of the file; plain HTTP/1.
    pub listens: Vec<SocketAddr>,
    /// The memory for stored responses.
    pub memory: Option<Bytes>,
    /// The number of threads that serve clients.
    pub workers: Option<NonZeroU16>,
    /// The address of the admin page.
    pub admin: Option<SocketAddr>,
    /// The control socket at which a new process takes over.
    pub upgrade_socket: Option<PathBuf>,
}

/// Returns the JSON Schema of configurations, with descriptions of all keys.
pub fn config_schema() -> Value {
    config().schema("Plimsoll accelerator configuration", Config::default())
}

/// The keys of a configuration.
fn config() -> TableSpec<Config> {
    TableSpec::new(
        "Config",
        "The configuration of an accelerator.",
        [
            key(
                "name",
                "The name of this cache in `Via` and `Cache-Status`; `plimsoll` by default. Caches in a chain need \
                 different names.",
                values::token(),
                |config, name| config.settings.exchange.name = name,
            ),
            key(
                "workers",
                "The number of threads that serve clients; by default the number of CPUs that it may use.",
                values::small_count(),
                |config, workers| config.settings.workers = NonZeroUsize::new(workers as usize),
            ),
            key(
                "stop-timeout",
                "The time that requests in flight get when it is asked to stop; 30 s by default.",
                values::time(),
                |config, time| config.settings.stop_timeout = time,
            ),
            key(
                "upgrade-socket",
                "The control socket at which a new process takes over the listening sockets; none by default. Its \
                 folder must be private.",
                values::path(),
                |config, path| config.settings.upgrade_socket = Some(path),
            ),
            key(
                "default-host",
                "The host of HTTP/1.0 requests that name none; without it they are refused.",
                values::host(),
                |config, host| config.settings.exchange.default_host = Some(host),
            ),
            tables(
                "listen",
                "The listeners; `127.0.0.1:8000` by default.",
                listen::listen(),
                || ListenSettings::plain(listen::NO_ADDRESS),
                |config, listens| config.settings.frontend.listens = listens,
            ),
            table("tls", "Certificates.", listen::tls(), |config| {
                config.settings.tls.get_or_insert_default()
            }),
            table("http2", "HTTP/2.", listen::http2(), |config| &mut config.settings.frontend.http2),
            table("limits", "The limits on clients.", listen::limits(), |config| {
                &mut config.settings.frontend.limits
            }),
            table("origin", "The origin servers.", origin::origin(), |config| config),
            table("cache", "Storing and reuse of responses.", cache::cache(), |config| {
                &mut config.settings.exchange
            }),
            table("memory", "The memory tier.", operation::memory(), |config| config),
            table("disk", "The disk tier; none by default.", operation::disk(), |config| {
                config.settings.store.disk.get_or_insert_with(operation::no_disk)
            }),
            table("access-log", "The access log; none by default.", operation::access_log(), |config| {
                config.settings.log.get_or_insert_with(operation::no_log)
            }),
            table("admin", "The admin page; off by default.", operation::admin(), |config| {
                config.admin.get_or_insert_default()
            }),
        ],
    )
}

impl Default for Config {
    fn default() -> Config {
        let settings = Settings {
            workers: None,
            stop_timeout: STOP_TIMEOUT,
            upgrade_socket: None,
            frontend: FrontendSettings::default(),
            tls: None,
            exchange: ExchangeSettings::default(),
            origin: OriginSettings::default(),
            store: StoreSettings::default(),
            filling_bytes_max: FILLING_BYTES_MAX,
            log: None,
            admin: None,
        };
        Config { settings, admin: None }
    }
}

impl Config {
    /// Parses a configuration; `file_name` is for messages.
    ///
    /// # Errors
    /// Everything that is wrong, with its position: syntax, unknown keys, wrong values, conflicts between keys.
    pub fn parse(file_name: &str, text: &str) -> Result<Config, ConfigError> {
        Config::read(file_name, text, &ConfigOverrides::default())
    }

    /// Makes the configuration for a command line: its file, if it names one, and its other arguments.
    ///
    /// # Errors
    /// As [`Config::parse`], or if the file cannot be read.
    pub fn of(overrides: &ConfigOverrides) -> Result<Config, ConfigError> {
        let mut config = match &overrides.file {
            Some(file) => Config::of_file(file, overrides)?,
            None => Config::read("", "", overrides)?,
        };
        if let Some(path) = &overrides.upgrade_socket {
            config.settings.upgrade_socket = Some(path.clone());
        }
        Ok(config)
    }

    fn of_file(file: &Path, overrides: &ConfigOverrides) -> Result<Config, ConfigError> {
        let shown = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|why| {
            ConfigError::new(format!("configuration `{shown}` cannot be read: {why}"), None)
        })?;
        let mut config = Config::read(&shown, &text, overrides)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        config.files().into_iter().for_each(|file| *file = folder.join(&*file));
        Ok(config)
    }

    fn read(file_name: &str, text: &str, overrides: &ConfigOverrides) -> Result<Config, ConfigError> {
        let mut elsewhere = Vec::new();
        let read = read_toml("the configuration", file_name, text, |mut top| {
            let mut read = Config::default();
            config().read(&mut top, &mut read);
            read.replace(overrides);
            if !top.has_mistake() {
                let conflicts = read.conflicts(&top, overrides).into_iter();
                elsewhere = conflicts.filter_map(|conflict| conflict.report(&top)).collect();
            }
            Some(read)
        })?;
        if elsewhere.is_empty() { Ok(read) } else { Err(ConfigError::Other(elsewhere)) }
    }

    /// Replaces what the command line says otherwise, and adds what follows from it.
    fn replace(&mut self, overrides: &ConfigOverrides) {
        let settings = &mut self.settings;
        if !overrides.origins.is_empty() {
            settings.origin.servers.clone_from(&overrides.origins);
        }
        if !overrides.listens.is_empty() {
            settings.frontend.listens =
                overrides.listens.iter().copied().map(ListenSettings::plain).collect();
        }
        if settings.frontend.listens.is_empty() {
            settings.frontend.listens.push(ListenSettings::plain(LISTEN));
        }
        settings.tls.take_if(|tls| tls.certificates.is_empty());
        if let Some(memory) = overrides.memory {
            settings.store.bytes = memory.0;
        }
        settings.workers = overrides.workers.map(NonZeroUsize::from).or(settings.workers);
        if let Some(listen) = overrides.admin {
            self.admin.get_or_insert_default().listen = listen;
        }
    }

    /// Returns all file names.
    fn files(&mut self) -> Vec<&mut PathBuf> {
        let Config { settings, admin } = self;
        let certificates = settings.tls.iter_mut().flat_map(|tls| &mut tls.certificates);
        let mut files: Vec<&mut PathBuf> =
            certificates.flat_map(|files| [&mut files.certificate, &mut files.key]).collect();
        files.extend(&mut settings.upgrade_socket);
        files.extend(&mut settings.origin.tls.ca_file);
        files.extend(settings.store.disk.as_mut().map(|disk| &mut disk.directory));
        files.extend(settings.log.as_mut().map(|log| &mut log.file));
        files.extend(admin.as_mut().and_then(|admin| admin.token_file.as_mut()));
        files
    }

    /// Returns the components' settings; reads the token file, if there is one.
    ///
    /// # Errors
    /// A token that cannot be read.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        let admin = self.admin.as_ref().map(AdminSection::settings).transpose()?;
        Ok(Settings { admin, ..self.settings.clone() })
    }
}
