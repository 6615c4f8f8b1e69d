//! Recipes: data that tell how to find, configure, start, reset and stop an installed server, without code.
//!
//! - `variant`: the variants of a server
//! - `gateway`: gateways to programs that generate pages, and what runs beside a server for them
//! - `companion`: built-in companions
//! - `accelerator`: built-in accelerators
//! - `status`: the status page of a server
//! - `data`: the data of a server, and the programs that make them
//! - `parse`: text → recipe, or everything that is wrong with it, and the published JSON Schema; `value`: kinds of values
//! - `placeholder`: placeholders in texts
//! - `load`: loading by name

mod accelerator;
mod companion;
mod data;
mod gateway;
mod load;
mod parse;
pub(crate) mod placeholder;
mod status;
mod value;
mod variant;

use std::collections::BTreeMap;
use std::path::Path;

use languages::names;
use model::{DatabaseProduct, Family, FileTransport, GatewayKind};

pub use accelerator::BUILT_IN_ACCELERATORS;
pub(crate) use companion::find as find_companion;
pub(crate) use data::{DataRecipe, StepRecipe, StepTime};
pub(crate) use gateway::{CompanionRecipe, GatewayRecipe, RequiredFile};
pub use load::RecipeError;
pub use parse::recipe_schema;
pub(crate) use status::StatusRecipe;
pub use variant::WebVariant;

/// The built-in recipes: name and text.
pub const BUILT_IN_RECIPES: &[(&str, &str)] = &[
    ("nginx", include_str!("../../../../recipes/nginx.toml")),
    ("apache", include_str!("../../../../recipes/apache.toml")),
    ("apache-prefork", include_str!("../../../../recipes/apache-prefork.toml")),
    ("caddy", include_str!("../../../../recipes/caddy.toml")),
    ("lighttpd", include_str!("../../../../recipes/lighttpd.toml")),
    ("postgresql", include_str!("../../../../recipes/postgresql.toml")),
    ("mariadb", include_str!("../../../../recipes/mariadb.toml")),
    ("samba", include_str!("../../../../recipes/samba.toml")),
    ("ganesha", include_str!("../../../../recipes/ganesha.toml")),
    ("ganesha-memory", include_str!("../../../../recipes/ganesha-memory.toml")),
    ("dovecot-postfix", include_str!("../../../../recipes/dovecot-postfix.toml")),
    ("python", include_str!("../../../../recipes/app-python.toml")),
    ("node", include_str!("../../../../recipes/app-node.toml")),
    ("go", include_str!("../../../../recipes/app-go.toml")),
];

/// The name of the profile defined by `[config]` and `[settings]` of a recipe.
pub const BENCHMARK_PROFILE: &str = "benchmark";

/// A recipe to run one server as a system under test.
///
/// Texts of `[start]`, of configurations and of settings may contain placeholders in braces, which are
/// replaced when the server is started, such as `{port}`, `{root}` (directory of the file set) or
/// `{work_dir}`; docs/recipes.md lists them all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The version of this format: 2.
    pub format: u32,
    /// The family of benchmarks that load this server; without it, none does.
    pub family: Option<Family>,
    /// The name that users type.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The readiness check.
    pub ready: Ready,
    /// For `ready = "log"`: part of the line by which the server says that it is ready.
    pub ready_log: Option<String>,
    /// For `ready = "command"`: the command that ends with status 0 once the server is ready, with placeholders.
    pub ready_command: Vec<String>,
    /// The action between load points.
    pub reset: Reset,
    /// Whether it is stopped while another server is measured in turns with it, and started again with the data that it
    /// had: for servers that use memory, disks or CPUs also without load.
    pub alone: bool,
    /// Directories that the server needs below its work directory.
    pub directories: Vec<String>,
    /// Names of further ports: `imap` is the placeholder `{imap_port}`.
    pub ports: Vec<String>,
    /// Programs that always run beside the server: names from `[companions]`, or of built-in companions.
    pub beside: Vec<String>,
    /// The reason why only root can start the server; without it any user can.
    pub needs_root: Option<String>,
    /// Its data, if it keeps any.
    pub data: Option<DataRecipe>,
    /// Commands that make its data, prepare its start, run after each start or warm its data, in this order.
    pub steps: Vec<StepRecipe>,
    /// The program.
    pub program: ProgramRecipe,
    /// The start command.
    pub start: StartRecipe,
    /// The way to stop it.
    pub stop: StopRecipe,
    /// Its configuration file, if it needs one.
    pub config: Option<ConfigRecipe>,
    /// Other files that it reads, by name, with placeholders.
    pub files: BTreeMap<String, String>,
    /// Settings that the disclosure shows besides the configuration file.
    pub settings: BTreeMap<String, String>,
    /// Its status page.
    pub status: Option<StatusRecipe>,
    /// Other configurations, by name; `[config]` and `[settings]` are the profile `benchmark`.
    pub profiles: BTreeMap<String, ProfileRecipe>,
    /// Variants of the server: values of `{variant}`, by name. Web servers have `h1` (HTTP/1), `tls` (HTTP/1 over TLS)
    /// and `h2` (HTTP/2 over TLS), without this table only the first; recipes of other families name theirs freely.
    pub variants: BTreeMap<String, String>,
    /// Its gateways to programs that generate pages.
    pub gateways: BTreeMap<GatewayKind, GatewayRecipe>,
    /// Programs that run beside the server for a gateway, by name, in addition to the built-in ones.
    pub companions: BTreeMap<String, CompanionRecipe>,
}

impl Recipe {
    /// Returns the names of the profiles, the default one first.
    pub fn profile_names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(BENCHMARK_PROFILE).chain(self.profiles.keys().map(String::as_str))
    }

    /// Returns the database that its server is, by the name of its program; `None` of servers of other protocols.
    pub fn database(&self) -> Option<DatabaseProduct> {
        let product = |path: &String| match Path::new(path).file_name()?.to_str()? {
            "postgres" => Some(DatabaseProduct::PostgreSql),
            "mariadbd" => Some(DatabaseProduct::MariaDb),
            _ => None,
        };
        self.program.find.iter().find_map(product).filter(|_| self.is_of(Family::OrderEntry))
    }

    /// Returns the transport of the file server that its server is, by the name of its program; `None` of servers of
    /// other protocols.
    pub fn file_transport(&self) -> Option<FileTransport> {
        let transport = |path: &String| match Path::new(path).file_name()?.to_str()? {
            "smbd" => Some(FileTransport::Smb),
            "ganesha.nfsd" => Some(FileTransport::Nfs),
            _ => None,
        };
        self.program.find.iter().find_map(transport).filter(|_| self.is_of(Family::File))
    }

    /// Returns whether benchmarks of a family load the server.
    pub(crate) fn is_of(&self, family: Family) -> bool {
        self.family == Some(family)
    }
}

/// Another configuration of the same server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileRecipe {
    /// Text that replaces that of `[config]`.
    pub text: String,
    /// Settings that replace `[settings]`.
    pub settings: BTreeMap<String, String>,
    /// The status page that replaces `[status]`; without it this profile has none.
    pub status: Option<StatusRecipe>,
    /// Values of `{variant}` in this profile, if different.
    pub variants: BTreeMap<String, String>,
}

/// The program of a server, and its possible locations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRecipe {
    /// Names, which are searched on the search path, and paths; the first that exists is used.
    pub find: Vec<String>,
    /// The command that installs it.
    pub install: Option<String>,
    /// Arguments that print its version.
    pub version: Vec<String>,
}

/// The start command of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRecipe {
    /// The program to start, with placeholders, if steps make it; otherwise the one that was found.
    pub program: Option<String>,
    /// Arguments that keep it in the foreground, where it can be supervised.
    pub arguments: Vec<String>,
    /// Additional environment variables.
    pub environment: BTreeMap<String, String>,
    /// The account under which root starts it; other users start it under their own.
    pub account: Option<String>,
    /// Whether it insists on leading a session of its own.
    pub own_session: bool,
}

/// The way to stop a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopRecipe {
    /// The signal that asks it to terminate.
    pub signal: StopSignal,
    /// Time limit in seconds, after which it is killed.
    pub seconds: u16,
}

impl Default for StopRecipe {
    fn default() -> StopRecipe {
        StopRecipe { signal: StopSignal::default(), seconds: 3 }
    }
}

/// A configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigRecipe {
    /// Its name in the work directory.
    pub file: String,
    /// Its text, with placeholders.
    pub text: String,
}

names! {
    /// The readiness check of a server.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Ready without serde {
        /// It answers a GET for the smallest file of the set with status 200.
        HttpGet = "http-get",
        /// It accepts a connection.
        Connect = "connect",
        /// It logs a line with the text of `ready-log`.
        Log = "log",
        /// The command of `ready-command` ends with status 0.
        Command = "command",
        /// It announces itself: one line `{"ready": {"address": "127.0.0.1:8080"}}` on its standard output.
        Announced = "announced",
    }
}

names! {
    /// The action between load points.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Reset without serde {
        /// Nothing.
        None = "none",
        /// The server is stopped and started again.
        Restart = "restart",
        /// The server is stopped, its data are replaced by a copy of those it had before its first start, and
        /// it is started again.
        Restore = "restore",
    }
}

names! {
    /// A signal that asks a server to terminate.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum StopSignal without serde {
        /// SIGTERM.
        #[default]
        Term = "term",
        /// SIGINT.
        Int = "int",
        /// SIGQUIT.
        Quit = "quit",
    }
}
