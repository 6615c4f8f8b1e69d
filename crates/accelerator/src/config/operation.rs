//! The sections about the machine and its operator: `[memory]`, `[disk]`, `[access-log]`, `[admin]`.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::quantity::Size;
use super::{Base, ConfigError};
use crate::observation::{LogFormat, LogSettings};
use crate::operation::AdminSettings;

/// The memory tier.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct MemorySection {
    /// The memory for stored responses, everything counted, including remembered heads.
    pub size: Option<Size>,
    /// The largest response that is stored; at most a quarter of a shard's limit counts.
    pub object_max: Option<Size>,
    /// The memory for responses on their way into the store.
    pub filling_max: Option<Size>,
    /// The memory per thread for remembered request heads; `0 B` for none.
    pub heads_max: Option<Size>,
}

/// The disk tier.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DiskSection {
    /// The folder, which belongs to one accelerator alone.
    pub folder: PathBuf,
    /// The most disk space to use, 16 MiB or more.
    pub size: Size,
}

/// The access log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LogSection {
    /// The file, which is appended to.
    pub file: PathBuf,
    /// Its format, `combined` by default.
    #[serde(default)]
    pub form: LogFormChoice,
}

impl LogSection {
    /// Returns the settings of the log.
    pub(super) fn settings(&self, base: &Base) -> LogSettings {
        LogSettings { file: base.path(&self.file), form: self.form.into() }
    }
}

/// The format of the access log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormChoice {
    /// The NCSA common log format.
    Common,
    /// The same with `Referer` and `User-Agent`, as Apache and nginx write it.
    #[default]
    Combined,
    /// A JSON object per line, including the cache status.
    Json,
}

impl From<LogFormChoice> for LogFormat {
    fn from(choice: LogFormChoice) -> LogFormat {
        match choice {
            LogFormChoice::Common => LogFormat::Common,
            LogFormChoice::Combined => LogFormat::Combined,
            LogFormChoice::Json => LogFormat::Json,
        }
    }
}

/// The admin page: status, metrics, purge. Off without this section.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AdminSection {
    /// Address and port: `127.0.0.1:8079`; anything but loopback needs `token-file`.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// The file with the token that commands must show (`Authorization: Bearer …`), 16 characters or more.
    ///
    /// Without it no commands are accepted. On addresses other than loopback the token is required for everything.
    pub token_file: Option<PathBuf>,
    /// The names besides the address and `localhost` by which browsers may call the page: `["status.example.com"]`.
    #[serde(default)]
    pub hosts: Vec<String>,
}

impl AdminSection {
    /// The shortest token, in characters.
    const TOKEN_MIN: usize = 16;

    /// Returns the settings of the page, with the token read from its file.
    pub(super) fn settings(&self, base: &Base) -> Result<AdminSettings, ConfigError> {
        let token = self.token_file.as_ref().map(|file| {
            let file = base.path(file);
            let shown = file.display();
            let text = std::fs::read_to_string(&file)
                .map_err(|why| ConfigError::new(format!("token file `{shown}` cannot be read: {why}")))?;
            let token = text.trim();
            if token.len() < AdminSection::TOKEN_MIN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(ConfigError::new(format!(
                    "expected a token of {} characters or more, without blanks, in `{shown}`\n\
                     hint: `openssl rand -hex 32 > {shown}` makes one",
                    AdminSection::TOKEN_MIN
                )));
            }
            Ok(token.to_owned())
        });
        Ok(AdminSettings { listen: self.listen, token: token.transpose()?, hosts: self.hosts.clone() })
    }
}
