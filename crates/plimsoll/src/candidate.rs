//! A server to run, with its settings.

use std::path::PathBuf;

use fleet::ExternalServer;
use model::{AcceleratorPlan, ChosenSetting, Family, FileSet, Gateway, SettingValue};
use testbed::Recipe;

use crate::embedded_server::EmbeddedServer;
use crate::exit::Failure;
use crate::local_server::is_here;
use crate::placement::BUILT_IN;

/// Default cache memory beyond 5/4 of the size of the files, in bytes: overhead per object, and free space.
const CACHE_BYTES_SPARE: u64 = 64 << 20;

/// A server to run, with its settings.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// Name of its run among several: `nginx-php-fpm-4 #2`.
    pub label: String,
    /// Name of the server, the same for all repetitions: `nginx-php-fpm-4`.
    pub title: String,
    /// The server.
    pub server: ChosenServer,
    /// The gateway to the programs that generate pages.
    pub gateway: Option<Gateway>,
    /// The accelerator in front of it, if any.
    pub accelerator: Option<ChosenAccelerator>,
    /// Number of CPUs; `None` if numbers of CPUs are not compared.
    pub group: Option<usize>,
    /// The settings of the benchmark's family that it is loaded with.
    pub settings: Vec<ChosenSetting>,
    /// The label of its state in the plan, if it has one.
    pub state: Option<String>,
    /// The server as the user named it, with its page where it is loaded by one of its own; empty unless several that are
    /// already running are compared.
    pub address: String,
    /// The number of its page among those of servers that are compared by pages of their own; else 0.
    pub page: usize,
}

/// The server that the user chose.
#[derive(Debug, Clone)]
pub(crate) enum ChosenServer {
    /// A server that is already running.
    External(ExternalServer),
    /// An installed server, started by its recipe.
    Recipe(Box<Recipe>),
    /// The built-in server.
    BuiltIn,
    /// None, but data within this process, or that it calls itself.
    Embedded(&'static EmbeddedServer),
}

/// The accelerator that the user chose.
#[derive(Debug, Clone)]
pub(crate) struct ChosenAccelerator {
    /// Its recipe.
    pub recipe: Box<Recipe>,
    /// Cache memory, in bytes; `None` for a cache that holds all files.
    pub cache_bytes: Option<u64>,
}

impl ChosenAccelerator {
    /// Value of `--accelerator` for no accelerator.
    pub(crate) const NONE: &'static str = "none";

    /// Returns its part of the plan, in front of a server with these files.
    pub(crate) fn plan(&self, files: &FileSet) -> AcceleratorPlan {
        let default_bytes = files.bytes() + files.bytes() / 4 + CACHE_BYTES_SPARE;
        AcceleratorPlan {
            name: self.recipe.name.clone(),
            cache_bytes: self.cache_bytes.unwrap_or(default_bytes),
        }
    }
}

impl Candidate {
    /// Returns the name of the server in plans.
    pub(crate) fn name(&self) -> &str {
        match &self.server {
            ChosenServer::External(server) if server.host_and_port().is_none() => "directory",
            ChosenServer::External(_) => "external",
            ChosenServer::BuiltIn => BUILT_IN,
            ChosenServer::Embedded(own) => own.plan_name,
            ChosenServer::Recipe(recipe) => &recipe.name,
        }
    }

    /// Returns the server that is already running; `None` of another.
    pub(crate) fn external(&self) -> Option<&ExternalServer> {
        if let ChosenServer::External(server) = &self.server { Some(server) } else { None }
    }

    /// Returns whether it is one of several that are already running and are compared.
    pub(crate) fn is_compared_running(&self) -> bool {
        !self.address.is_empty()
    }

    /// Returns whether it is already running, on this machine.
    pub(crate) fn is_running_here(&self) -> bool {
        self.external()
            .and_then(ExternalServer::host_and_port)
            .is_some_and(|(host, port)| is_here(host, port))
    }

    /// Returns whether Plimsoll starts it, in its own work directory.
    pub(crate) fn is_started(&self) -> bool {
        matches!(self.server, ChosenServer::Recipe(_) | ChosenServer::BuiltIn)
    }

    /// Returns a setting; `None` if it is not set.
    pub(crate) fn setting(&self, name: &str) -> Option<&ChosenSetting> {
        self.settings.iter().find(|one| one.setting.name == name)
    }

    /// Returns whether a setting has this value.
    pub(crate) fn has_choice(&self, setting: &str, value: &'static str) -> bool {
        self.settings.iter().any(|one| one.setting.name == setting && is_choice(one, value))
    }

    /// Gives the server the first of the values of a setting that it can have, unless it has one of them.
    ///
    /// # Errors
    /// It has another one.
    pub(crate) fn settle(
        &mut self,
        family: Family,
        name: &'static str,
        possible: &[&'static str],
    ) -> Result<(), Failure> {
        let Some(chosen) = self.setting(name) else {
            let value = possible.first().copied().unwrap_or_default();
            self.settings.push(family.choose_setting(name, value).map_err(Failure::usage)?);
            return Ok(());
        };
        if possible.iter().any(|value| is_choice(chosen, value)) {
            return Ok(());
        }
        let speaks = possible.join("`, `");
        let error =
            format!("{} speaks `{speaks}`, which contradicts `{name}={}`", self.title, chosen.value());
        Err(Failure::usage(error).hint(format!("leave `{name}` out: it follows from the server")))
    }

    /// Returns the name of its run file: `nginx-php-fpm-4.plim`.
    pub(crate) fn file_name(&self) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
        let name: String = self.label.replace(" × ", "-").replace(", ", "-").chars().map(plain).collect();
        PathBuf::from(format!("{}.plim", name.trim_matches('-')))
    }
}

/// Returns whether a setting has this value.
fn is_choice(chosen: &ChosenSetting, value: &'static str) -> bool {
    *chosen.value() == SettingValue::Choice(value, None)
}

/// Returns the name of a server with its settings, as shown everywhere: `nginx-php-fpm-4, profile default`.
pub(crate) fn server_name(server: &str, gateway: Option<Gateway>, profile: Option<&str>) -> String {
    let gateway = gateway.map(|gateway| format!("-{}-{}", gateway.kind.name(), gateway.workers));
    let profile = profile.map(|profile| format!(", profile {profile}"));
    [Some(server.to_owned()), gateway, profile].into_iter().flatten().collect()
}

/// Returns the name of a server behind an accelerator: `nginx behind varnish`.
pub(crate) fn behind_name(server: &str, accelerator: &str) -> String {
    format!("{server} behind {accelerator}")
}

/// Returns the name of a server whose runs with different numbers of CPUs are compared: `nginx, 2 CPUs`.
pub(crate) fn with_cpus(server: &str, n_cpus: usize) -> String {
    format!("{server}, {n_cpus} CPU{}", if n_cpus == 1 { "" } else { "s" })
}
