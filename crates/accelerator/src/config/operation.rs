//! Sections about the machine and who runs it: `[memory]`, `[disk]`, `[access-log]`, `[admin]`.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use super::quantity::Size;
use super::{Base, ConfigError};
use crate::operation::{AdminSettings, LogForm, LogSettings};

/// What is kept in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct MemorySection {
    /// How much memory stored responses take, everything counted, remembered heads too.
    pub size: Option<Size>,
    /// The largest response that is kept; at most a quarter of what one shard of the store may hold counts.
    pub object_max: Option<Size>,
    /// How much responses may take that are on their way and are going to be stored.
    pub filling_max: Option<Size>,
    /// How much of request heads each thread remembers with the answers to them; `0 B` for none.
    pub heads_max: Option<Size>,
}

/// What is kept on disk.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DiskSection {
    /// The folder, which belongs to one accelerator alone.
    pub folder: PathBuf,
    /// How much of it is used, 16 MiB or more.
    pub size: Size,
}

/// A line per request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LogSection {
    /// The file, which is appended to.
    pub file: PathBuf,
    /// Its form, `combined` by default.
    #[serde(default)]
    pub form: LogFormChoice,
}

impl LogSection {
    /// Returns where the log goes.
    pub(super) fn settings(&self, base: &Base) -> LogSettings {
        LogSettings { file: base.path(&self.file), form: self.form.into() }
    }
}

/// The form of the access log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormChoice {
    /// NCSA's common log.
    Common,
    /// The same with `Referer` and `User-Agent`, as Apache and nginx write it.
    #[default]
    Combined,
    /// An object per line, with how it was answered.
    Json,
}

impl From<LogFormChoice> for LogForm {
    fn from(choice: LogFormChoice) -> LogForm {
        match choice {
            LogFormChoice::Common => LogForm::Common,
            LogFormChoice::Combined => LogForm::Combined,
            LogFormChoice::Json => LogForm::Json,
        }
    }
}

/// The page of the operator: figures, metrics, purge. Off without this section.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AdminSection {
    /// Address and port: `127.0.0.1:8079`; anything but loopback needs `token-file`.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// A file with the token that changes must show (`Authorization: Bearer …`), 16 characters or more.
    ///
    /// Without it nothing can be changed. On other addresses than loopback it is asked for everywhere.
    pub token_file: Option<PathBuf>,
    /// Names besides the address and `localhost` that browsers may use for the page: `["status.example.com"]`.
    #[serde(default)]
    pub hosts: Vec<String>,
}

impl AdminSection {
    /// The fewest characters of a token.
    const TOKEN_MIN: usize = 16;

    /// Returns where the page is, with the token read from its file.
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
