//! The sections about the machine and its operator: `[memory]`, `[disk]`, `[access-log]`, `[admin]`.

use std::net::SocketAddr;
use std::path::PathBuf;

use cache_store::disk::DiskSettings;
use languages::reader::ValueError;
use languages::spec::{KeySpec, NamedChoice, TableSpec, ValueSpec, key, one_of};

use super::listen::NO_ADDRESS;
use super::values::{address, host_name, memory_size, path, size};
use super::{Config, ConfigError};
use crate::observation::{LogFormat, LogSettings};
use crate::operation::AdminSettings;

const LOG_FORMATS: &[NamedChoice<LogFormat>] = &[
    NamedChoice("common", "The NCSA common log format.", LogFormat::Common),
    NamedChoice(
        "combined",
        "The same with `Referer` and `User-Agent`, as Apache and nginx write it.",
        LogFormat::Combined,
    ),
    NamedChoice("json", "A JSON object per line, including the cache status.", LogFormat::Json),
];

/// `[memory]`.
pub(super) fn memory() -> TableSpec<Config> {
    TableSpec::new(
        "MemorySection",
        "The memory tier.",
        [
            key(
                "size",
                "The memory for stored responses, everything counted, including remembered heads, and what is still being \
                 sent of responses that are stored no longer.",
                size(),
                |config, size| config.settings.store.bytes = size,
            ),
            key(
                "object-max",
                "The largest response that is stored; at most a quarter of a shard's limit counts.",
                size(),
                |config, size| config.settings.store.object_bytes_max = size,
            ),
            key(
                "filling-max",
                "The memory for responses on their way into the store, beside `size`.",
                size(),
                |config, size| config.settings.filling_bytes_max = size,
            ),
            key(
                "heads-max",
                "The memory per thread for remembered request heads; `0 B` for none.",
                memory_size(),
                |config, size| config.settings.frontend.memo_bytes_max = size,
            ),
        ],
    )
}

/// `[disk]`.
pub(super) fn disk() -> TableSpec<DiskSettings> {
    let folder: KeySpec<DiskSettings> =
        key("folder", "The folder, which belongs to one accelerator alone.", path(), |disk, folder| {
            disk.directory = folder;
        });
    let size: KeySpec<DiskSettings> =
        key("size", "The most disk space to use, 16 MiB or more.", disk_size(), |disk, size| {
            disk.bytes = size
        });
    TableSpec::new("DiskSection", "The disk tier.", [folder.required(), size.required()])
}

fn disk_size() -> ValueSpec<u64> {
    size().and_then(|size| {
        if DiskSettings::BYTES_MIN <= size {
            Ok(size)
        } else {
            let least = DiskSettings::BYTES_MIN >> 20;
            Err(ValueError::new(format!("expected at least `{least} MiB` as `size` of `[disk]`")))
        }
    })
}

/// Returns the settings of the disk tier until its own are read.
pub(super) fn no_disk() -> DiskSettings {
    DiskSettings { directory: PathBuf::new(), bytes: 0 }
}

/// `[access-log]`.
pub(super) fn access_log() -> TableSpec<LogSettings> {
    let file: KeySpec<LogSettings> =
        key("file", "The file, which is appended to.", path(), |log, file| log.file = file);
    let formats = one_of("LogFormChoice", "The format of the access log.", LOG_FORMATS);
    let form: KeySpec<LogSettings> =
        key("form", "Its format, `combined` by default.", formats, |log, form| log.form = form);
    TableSpec::new("LogSection", "The access log.", [file.required(), form])
}

/// Returns the settings of the access log until its own are read.
pub(super) fn no_log() -> LogSettings {
    LogSettings { file: PathBuf::new(), form: LogFormat::default() }
}

/// The admin page, before its token is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AdminSection {
    pub(super) listen: SocketAddr,
    pub(super) token_file: Option<PathBuf>,
    pub(super) hosts: Vec<String>,
}

/// `[admin]`.
pub(super) fn admin() -> TableSpec<AdminSection> {
    TableSpec::new(
        "AdminSection",
        "The admin page: status, metrics, purge. Off without this section.",
        [
            key(
                "listen",
                "Address and port: `127.0.0.1:8079`; anything but loopback needs `token-file`.",
                address(),
                |admin: &mut AdminSection, address| admin.listen = address,
            )
            .required(),
            key(
                "token-file",
                "The file with the token that commands must show (`Authorization: Bearer …`), 16 characters or more.\
                 \n\nWithout it no commands are accepted. On addresses other than loopback the token is required for \
                 everything.",
                path(),
                |admin, file| admin.token_file = Some(file),
            ),
            key(
                "hosts",
                "The names besides the address and `localhost` by which browsers may call the page: \
                 `[\"status.example.com\"]`.",
                host_name().list(),
                |admin: &mut AdminSection, hosts| admin.hosts = hosts,
            )
            .default_value(Vec::<String>::new()),
        ],
    )
}

impl Default for AdminSection {
    /// The section until its own values are read.
    fn default() -> AdminSection {
        AdminSection { listen: NO_ADDRESS, token_file: None, hosts: Vec::new() }
    }
}

impl AdminSection {
    /// The shortest token, in characters.
    const TOKEN_MIN: usize = 16;

    /// Returns the settings of the page, with the token read from its file.
    pub(super) fn settings(&self) -> Result<AdminSettings, ConfigError> {
        let token = self.token_file.as_ref().map(|file| {
            let shown = file.display();
            let text = std::fs::read_to_string(file).map_err(|why| {
                ConfigError::new(format!("token file `{shown}` cannot be read: {why}"), None)
            })?;
            let token = text.trim();
            if token.len() < AdminSection::TOKEN_MIN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                let least = AdminSection::TOKEN_MIN;
                return Err(ConfigError::new(
                    format!("expected a token of {least} characters or more, without blanks, in `{shown}`"),
                    Some(format!("`openssl rand -hex 32 > {shown}` makes one")),
                ));
            }
            Ok(token.to_owned())
        });
        Ok(AdminSettings { listen: self.listen, token: token.transpose()?, hosts: self.hosts.clone() })
    }
}
