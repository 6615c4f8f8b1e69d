//! Recipes: how to find, configure, start, reset and stop an installed server. Data, no code.

mod load;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub use load::{RecipeError, placeholders};

/// The recipes that come with the program: name and text.
pub const BUILT_IN_RECIPES: &[(&str, &str)] = &[("nginx", include_str!("../../../../recipes/nginx.toml"))];

/// How to run one server as a system under test.
///
/// Texts of `[start]`, `[config]` and `[settings]` may hold placeholders in braces, which are replaced when the
/// server is started: `{port}`, `{root}` (directory of the file set), `{work_dir}`, `{config}` (path of the
/// configuration file), `{pid_file}`, `{error_log}`, `{user}`, `{workers}`, `{open_files}`, `{connections}`,
/// `{backlog}`.
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
    /// Settings that the disclosure shows besides the configuration file.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
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
