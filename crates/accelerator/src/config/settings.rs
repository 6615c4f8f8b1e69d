//! Conversion of the sections to the components' settings, and checks across sections.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use cache_store::disk::DiskSettings;
use cache_store::{Pattern, StoreSettings};
use units::Nanos;

use super::{Config, ConfigError, ListenSection, Time, bytes, size, time};
use crate::exchange::{CacheStatusDetail, ExchangeSettings, Forwarded};
use crate::frontend::FrontendSettings;
use crate::operation::Settings;

/// The default listener.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8000);

/// The default stop timeout.
const STOP_TIMEOUT: Nanos = Nanos::from_secs(30);

/// The default memory for responses on their way into the store.
const FILLING_BYTES_MAX: u64 = 64 << 20;

/// The least memory; less is an error.
const MEMORY_MIN: u64 = 1 << 20;

/// The most threads; more are an error.
const WORKERS_MAX: u16 = 1024;

impl Config {
    /// Returns the components' settings; reads the token file, if there is one.
    ///
    /// # Errors
    /// A conflict between keys, or a token that cannot be read.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        self.check()?;
        let admin = self.admin.as_ref().map(|admin| admin.settings(&self.base)).transpose()?;
        Ok(Settings {
            workers: self.workers.map(NonZeroUsize::from),
            stop_timeout: time(self.stop_timeout, STOP_TIMEOUT),
            frontend: self.frontend(),
            tls: self.has_certificate().then(|| self.tls.settings(&self.base)),
            exchange: self.exchange(),
            origin: self.origin.settings(&self.base),
            store: self.store(),
            filling_bytes_max: size(self.memory.filling_max, FILLING_BYTES_MAX),
            log: self.access_log.as_ref().map(|log| log.settings(&self.base)),
            admin,
        })
    }

    fn frontend(&self) -> FrontendSettings {
        let default_value = FrontendSettings::default();
        let own = [ListenSection::plain(LISTEN)];
        let listens = if self.listens.is_empty() { &own[..] } else { &self.listens };
        FrontendSettings {
            listens: listens.iter().map(ListenSection::settings).collect(),
            limits: self.limits.settings(),
            http2: self.http2.settings(),
            memo_bytes_max: bytes(self.memory.heads_max, default_value.memo_bytes_max),
        }
    }

    fn exchange(&self) -> ExchangeSettings {
        let default_value = ExchangeSettings::default();
        ExchangeSettings {
            policy: self.cache.settings(),
            name: self.name.clone().unwrap_or(default_value.name),
            cache_status: self
                .cache
                .status_detail
                .map_or(default_value.cache_status, CacheStatusDetail::from),
            collapse_wait: time(self.cache.collapse_wait, default_value.collapse_wait),
            forwarded: self.origin.forwarded.map_or(default_value.forwarded, Forwarded::from),
            bypass: self.cache.bypass.iter().map(|text| Pattern::new(text)).collect(),
            default_host: self.default_host.clone().or(default_value.default_host),
        }
    }

    fn store(&self) -> StoreSettings {
        let default_value = StoreSettings::default();
        let disk = self
            .disk
            .as_ref()
            .map(|disk| DiskSettings { directory: self.base.path(&disk.folder), bytes: disk.size.0 });
        StoreSettings {
            bytes: size(self.memory.size, default_value.bytes),
            object_bytes_max: size(self.memory.object_max, default_value.object_bytes_max),
            disk: disk.or(default_value.disk),
        }
    }

    fn has_certificate(&self) -> bool {
        !self.tls.certificates.is_empty()
    }

    /// Checks keys against each other.
    fn check(&self) -> Result<(), ConfigError> {
        let checks = [
            self.check_origin(),
            self.check_names(),
            self.check_listens(),
            self.check_times(),
            self.check_sizes(),
            self.check_admin(),
        ];
        checks.into_iter().flatten().next().map_or(Ok(()), |text| Err(ConfigError::new(text)))
    }

    fn check_origin(&self) -> Option<String> {
        let hint =
            "name it by `--origin http://HOST:PORT`, or in the file: `[[origin.server]]` with `url = \"…\"`";
        self.origin.servers.is_empty().then(|| format!("no origin server is given\nhint: {hint}"))
    }

    fn check_names(&self) -> Option<String> {
        if let Some(name) = self.name.as_ref().filter(|name| !is_token(name)) {
            return Some(format!("expected letters, digits and `-._` as `name`, found `{name}`"));
        }
        let host = self.default_host.as_ref().filter(|host| !is_host(host))?;
        Some(format!("expected `host` or `host:port` as `default-host`, found `{host}`"))
    }

    fn check_listens(&self) -> Option<String> {
        if let Some(listen) = self.listens.iter().find(|listen| listen.tls && !self.has_certificate()) {
            return Some(format!(
                "`{}` needs TLS, but there is no certificate\n\
                 hint: add `[[tls.certificate]]` with `chain` and `key`",
                listen.address
            ));
        }
        let addresses =
            || self.listens.iter().map(|listen| listen.address).filter(|address| address.port() != 0);
        let twice = addresses()
            .enumerate()
            .find(|(index, address)| addresses().take(*index).any(|one| one == *address));
        twice.map(|(_, address)| format!("`{address}` is listed twice as a listener"))
    }

    /// Checks the time limits: zero does not mean that there is none.
    fn check_times(&self) -> Option<String> {
        let Config { limits, origin, .. } = self;
        let probe = origin.probe.as_ref();
        let times = [
            ("tls", "handshake-timeout", self.tls.handshake_timeout),
            ("limits", "head-timeout", limits.head_timeout),
            ("limits", "body-timeout", limits.body_timeout),
            ("limits", "idle-timeout", limits.idle_timeout),
            ("limits", "write-timeout", limits.write_timeout),
            ("limits", "tunnel-timeout", limits.tunnel_timeout),
            ("origin", "connect-timeout", origin.connect_timeout),
            ("origin", "first-byte-timeout", origin.first_byte_timeout),
            ("origin", "between-bytes-timeout", origin.between_bytes_timeout),
            ("origin.probe", "interval", probe.and_then(|probe| probe.interval)),
            ("origin.probe", "timeout", probe.and_then(|probe| probe.timeout)),
        ];
        let (section, key, _) = times.into_iter().find(|(.., time)| *time == Some(Time(Nanos::ZERO)))?;
        Some(format!(
            "expected more than `0 s` as `{key}` of `[{section}]`\nhint: leave it out for the default"
        ))
    }

    fn check_sizes(&self) -> Option<String> {
        if self.workers.is_some_and(|workers| WORKERS_MAX < workers.get()) {
            return Some(format!("expected at most {WORKERS_MAX} `workers`\nhint: use one per CPU"));
        }
        let default_value = StoreSettings::default();
        let memory = size(self.memory.size, default_value.bytes);
        if memory < MEMORY_MIN {
            return Some("expected at least `1 MiB` as `size` of `[memory]`".to_owned());
        }
        if self.memory.object_max.is_some_and(|object| memory < object.0) {
            return Some("`object-max` of `[memory]` is more than its `size`".to_owned());
        }
        if self.disk.as_ref().is_some_and(|disk| disk.size.0 < DiskSettings::BYTES_MIN) {
            let least = DiskSettings::BYTES_MIN >> 20;
            return Some(format!("expected at least `{least} MiB` as `size` of `[disk]`"));
        }
        let head = self.limits.head_max.is_some_and(|head| (http1::HEAD_BYTES_MAX as u64) < head.0);
        head.then(|| {
            "`head-max` of `[limits]` is more than `64 KiB`\nhint: larger heads are never read".to_owned()
        })
    }

    fn check_admin(&self) -> Option<String> {
        let admin = self.admin.as_ref()?;
        let is_name = |name: &&String| is_host(name) && !name.contains(':');
        if let Some(name) = admin.hosts.iter().find(|name| !is_name(name)) {
            return Some(format!("expected names without a port as `hosts` of `[admin]`, found `{name}`"));
        }
        let is_open = !admin.listen.ip().is_loopback() && admin.token_file.is_none();
        is_open.then(|| {
            format!(
                "anybody could use the admin page at `{}`\n\
                 hint: listen on `127.0.0.1`, or set `token-file` in `[admin]`",
                admin.listen
            )
        })
    }
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
}

fn is_host(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte))
}
