//! Recipes: how to find, configure, start, reset and stop an installed server. Data, no code.
//!
//! - `transport`: how requests travel
//! - `gateway`: how a server has pages made by a program, and what runs beside it for that
//! - `companion`: those that come with the program
//! - `accelerator`: those that stand in front of another server, and come with the program
//! - `status`: the page on which a server tells how busy it is
//! - `load`: from a name or a text to a recipe
//! - `check`: what no type can say about a recipe

mod accelerator;
mod check;
mod companion;
mod gateway;
mod load;
mod status;
mod transport;

use std::collections::BTreeMap;

use model::GatewayKind;
use schemars::JsonSchema;
use serde::Deserialize;

pub use accelerator::BUILT_IN_ACCELERATORS;
pub use check::placeholders;
pub use companion::find as find_companion;
pub use gateway::{CompanionRecipe, GatewayRecipe};
pub use load::RecipeError;
pub use status::{StatusKind, StatusRecipe};
pub use transport::Transport;

/// The recipes that come with the program: name and text.
pub const BUILT_IN_RECIPES: &[(&str, &str)] = &[
    ("nginx", include_str!("../../../../recipes/nginx.toml")),
    ("apache", include_str!("../../../../recipes/apache.toml")),
    ("apache-prefork", include_str!("../../../../recipes/apache-prefork.toml")),
    ("caddy", include_str!("../../../../recipes/caddy.toml")),
    ("lighttpd", include_str!("../../../../recipes/lighttpd.toml")),
];

/// The name of the profile that `[config]` and `[settings]` of a recipe make up.
pub const BENCHMARK_PROFILE: &str = "benchmark";

/// How to run one server as a system under test.
///
/// Texts of `[start]`, of configurations and of settings may hold placeholders in braces, which are replaced when
/// the server is started, such as `{port}`, `{root}` (directory of the file set) or `{work_dir}`; docs/recipes.md
/// has the whole list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "Plimsoll SUT recipe")]
pub struct Recipe {
    /// The version of this form: 1.
    #[schemars(range(min = 1, max = 1))]
    pub format: u32,
    /// The name that is typed.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The name for people.
    #[schemars(length(min = 1))]
    pub title: String,
    /// How it is known that the server is ready.
    pub ready: Ready,
    /// What happens between load points.
    pub reset: Reset,
    /// Directories that the server needs below its work directory.
    #[serde(default)]
    pub directories: Vec<String>,
    /// The program.
    pub program: ProgramRecipe,
    /// How it is started.
    pub start: StartRecipe,
    /// How it is stopped.
    #[serde(default)]
    pub stop: StopRecipe,
    /// Its configuration file, if it needs one.
    pub config: Option<ConfigRecipe>,
    /// Other files that it reads, by name, with placeholders.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Settings that the disclosure shows besides the configuration file.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// The page on which it tells how busy it is.
    pub status: Option<StatusRecipe>,
    /// Other configurations, by name; `[config]` and `[settings]` are the profile `benchmark`.
    #[serde(default)]
    pub profiles: BTreeMap<String, ProfileRecipe>,
    /// What `{listen}` stands for, by transport. A recipe without this table speaks plain HTTP only.
    #[serde(default)]
    pub transports: BTreeMap<Transport, String>,
    /// The ways in which it has pages made by a program.
    #[serde(default)]
    pub gateways: BTreeMap<GatewayKind, GatewayRecipe>,
    /// Programs that run beside the server for a gateway, by name, besides those that come with the program.
    #[serde(default)]
    pub companions: BTreeMap<String, CompanionRecipe>,
}

impl Recipe {
    /// Returns the names of the profiles, the usual one first.
    pub fn profile_names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(BENCHMARK_PROFILE).chain(self.profiles.keys().map(String::as_str))
    }

    /// Returns the transports that it is written for.
    pub fn transports(&self) -> Vec<Transport> {
        match self.transports.is_empty() {
            true => vec![Transport::Plain],
            false => self.transports.keys().copied().collect(),
        }
    }
}

/// Another configuration of the same server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProfileRecipe {
    /// Text that takes the place of the one of `[config]`.
    pub text: String,
    /// What takes the place of `[settings]`.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// What takes the place of `[status]`; without it this profile has no such page.
    pub status: Option<StatusRecipe>,
    /// What `{listen}` stands for in this profile, where that differs.
    #[serde(default)]
    pub transports: BTreeMap<Transport, String>,
}

/// How a server's program is found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProgramRecipe {
    /// Names, which are looked for on the search path, and paths; the first that exists is taken.
    #[schemars(length(min = 1))]
    pub find: Vec<String>,
    /// The command that installs it.
    pub install: Option<String>,
    /// Arguments that make it tell its version.
    #[serde(default)]
    pub version: Vec<String>,
}

/// How a server is started.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StartRecipe {
    /// Arguments that keep it in the foreground, where it can be watched.
    pub arguments: Vec<String>,
    /// Variables of its environment, besides those that it inherits.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// How a server is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StopRecipe {
    /// The signal that asks it to end.
    #[serde(default)]
    pub signal: StopSignal,
    /// How long it may take, before it is killed.
    #[serde(default = "default_stop_seconds")]
    #[schemars(range(min = 0, max = 600))]
    pub seconds: u16,
}

impl Default for StopRecipe {
    fn default() -> StopRecipe {
        StopRecipe { signal: StopSignal::default(), seconds: default_stop_seconds() }
    }
}

fn default_stop_seconds() -> u16 {
    3
}

/// A server's configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigRecipe {
    /// Its name in the work directory.
    #[schemars(length(min = 1))]
    pub file: String,
    /// Its text, with placeholders.
    pub text: String,
}

/// How it is known that a server is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// It answers a GET for the smallest file of the set with status 200.
    HttpGet,
    /// It accepts a connection.
    Connect,
    /// It says so: one line `{"ready": {"address": "127.0.0.1:8080"}}` on its standard output.
    Announced,
}

/// What happens to a server between load points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// Nothing.
    None,
    /// It is stopped and started again.
    Restart,
}

/// A signal that asks a server to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopSignal {
    /// SIGTERM.
    #[default]
    Term,
    /// SIGINT.
    Int,
    /// SIGQUIT.
    Quit,
}
