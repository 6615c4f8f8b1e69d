//! How a server has pages made by a program.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ConfigRecipe, ProgramRecipe, StartRecipe};
use crate::sut::SutError;

/// How a server is set up for one kind of gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GatewayRecipe {
    /// What `{gateway}` stands for in the server's configuration.
    #[serde(default)]
    pub config: String,
    /// What `{upstream}` stands for there: for servers that name those behind them in a place of its own.
    #[serde(default)]
    pub upstream: String,
    /// Programs that run beside the server: names from `[companions]`, or of those that come with the program.
    #[serde(default)]
    pub companions: Vec<String>,
    /// Files that must be installed besides the programs, such as modules.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Settings that the disclosure shows besides those of the server.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// A file that must be installed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Need {
    /// What it is, for people.
    pub title: String,
    /// Where it is; the first that exists.
    #[schemars(length(min = 1))]
    pub find: Vec<String>,
    /// The command that installs it.
    pub install: Option<String>,
}

impl Need {
    /// Looks whether it is installed.
    ///
    /// # Errors
    /// If it is not: with the command that installs it.
    pub fn look(&self) -> Result<(), SutError> {
        if self.find.iter().any(|path| Path::new(path).exists()) {
            return Ok(());
        }
        Err(SutError::not_installed(&self.title, &self.find, self.install.as_deref()))
    }
}

/// A program that runs beside a server, on the same CPUs and under the same quota, and is counted with it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CompanionRecipe {
    /// The name for people.
    pub title: String,
    /// Where it listens when it is ready: a path of a Unix socket, or an address and port.
    pub listens: String,
    /// Whether that socket is made for it and handed over as its standard input, as FastCGI programs take it.
    #[serde(default)]
    pub inherits_socket: bool,
    /// The program.
    pub program: ProgramRecipe,
    /// How it is started.
    pub start: StartRecipe,
    /// Its configuration file, if it needs one.
    pub config: Option<ConfigRecipe>,
}
