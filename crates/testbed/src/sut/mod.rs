//! The system under test: started by a recipe, monitored, reset, and cleaned up.
//!
//! - `choice`: selection from a recipe
//! - `data_directory`: the data of a server; `golden`: copies of them that are kept between runs; `file_tree`: copying;
//!   `step`: programs that make them; `warmth`: proof that they are in memory; `server_data`: all of it
//! - `values`, `account`, `buffer_sizes`: values of placeholders
//! - `work_dir`: the private directory of a run, and cleanup after killed runs
//! - `certificate`: the certificate of one run
//! - `programs`, `ports`: the selection with programs that are found; ports that are free; `app_programs`: application servers that are
//!   brought along; `processes`: processes with their files
//! - `prepare`: files and programs for a request, ready to start
//! - `launch`: a process on its CPUs, in its group
//! - `managed_process`: a running program
//! - `ready`: readiness checks; `readiness`: those of a server since its last start
//! - `meter`: CPU time; `resident`: memory; `memory_limit`: proof that a limit on it binds
//! - `facts`: disclosure; `line_diff`: differences from the default configuration
//! - `web`: the parts of web servers
//! - `running`: all of it as one value
//! - `listing`: installed servers
//! - `rendered`: tests of what is given to the servers of all built-in recipes

mod account;
mod app_programs;
mod buffer_sizes;
mod certificate;
mod data_directory;
mod data_warm_up;
mod facts;
mod file_tree;
mod golden;
mod launch;
mod line_diff;
mod listing;
mod managed_process;
mod memory_limit;
mod meter;
mod ports;
mod prepare;
mod processes;
mod programs;
mod readiness;
mod ready;
mod recipe_selection;
#[cfg(test)]
mod rendered;
mod resident;
mod running;
mod server_data;
mod step;
mod values;
pub(crate) mod web;
mod work_dir;

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::Family;
use observe::StatusKind;
use observe::private_folder::FolderError;

use crate::cgroup::ResourceLimits;
use crate::populate::PopulateError;
use crate::recipe::{ProgramRecipe, Ready, Recipe, Reset, StartRecipe, StatusRecipe, StopRecipe};

pub use buffer_sizes::DataContents;
pub use data_warm_up::DataWarmUp;
pub use listing::{InstalledServer, MissingProgram, SutListing, suts, suts_of};
pub use memory_limit::MemoryLimitProof;
pub use programs::SutLookUp;
pub use running::RunningSut;
pub use work_dir::{WorkDir, clean_stale};

/// A request to start a system under test, with its limits.
#[derive(Debug)]
pub struct SutRequest {
    /// The server.
    pub server: SutServer,
    /// Parent directory for the run's own directory, which holds the server's files: a
    /// folder that only this user can write to, see [`crate::make_private_folder`].
    pub work_dir: PathBuf,
    /// Parent directory for the data of servers that keep any, on disk: a private folder likewise. Golden copies stay there.
    pub data_dir: PathBuf,
    /// Its resource limits.
    pub limits: ResourceLimits,
    /// The port on 127.0.0.1; a free one if `None`.
    pub port: Option<u16>,
    /// Search path for programs that a recipe names without a path, before the usual directories.
    pub search_path: Vec<PathBuf>,
    /// The profile of the recipe, such as `default`; the one for benchmarks if `None`.
    pub profile: Option<String>,
    /// The variant of whatever receives requests, such as `tls`; `None` for HTTP/1 of a web server, and for others as they
    /// are without one.
    pub variant: Option<String>,
    /// The most users that a load point has: a server with accounts has one for each.
    pub users: u32,
    /// The parts of a web server.
    pub web: web::WebParts,
    /// The path of Plimsoll itself, which some gateways run.
    pub program: PathBuf,
}

impl SutRequest {
    /// Makes the request of a server without limits, in its first profile, on a free port, for one user.
    pub fn new(server: SutServer, work_dir: PathBuf, data_dir: PathBuf) -> SutRequest {
        SutRequest {
            server,
            work_dir,
            data_dir,
            limits: ResourceLimits::default(),
            port: None,
            search_path: Vec::new(),
            profile: None,
            variant: None,
            users: 1,
            web: web::WebParts::default(),
            program: PathBuf::new(),
        }
    }
}

/// A kind of server.
#[derive(Debug, Clone)]
pub enum SutServer {
    /// An installed server.
    Recipe(Box<Recipe>),
    /// Plimsoll itself in another role. It announces its address on standard output and ends when its
    /// standard input does. Its arguments may contain placeholders; with `{root}` among them it is given the
    /// file set.
    BuiltIn {
        /// The family of benchmarks that load it.
        family: Family,
        /// The way in which it says how busy it is, if it does.
        status: Option<StatusKind>,
        /// The program.
        program: PathBuf,
        /// Its arguments. A port that they name, `{smtp_port}`, is a free one.
        args: Vec<String>,
        /// Additional environment variables, which may contain placeholders, too.
        environment: BTreeMap<String, String>,
    },
}

impl SutServer {
    /// Returns the recipe of the server.
    fn recipe(&self) -> Recipe {
        match self {
            SutServer::Recipe(recipe) => Recipe::clone(recipe),
            SutServer::BuiltIn { family, status, program, args, environment } => {
                let start = StartRecipe {
                    program: None,
                    arguments: args.clone(),
                    environment: environment.clone(),
                    account: None,
                    own_session: false,
                };
                let recipe = built_in_recipe(*family, *status, program, start);
                if *family == Family::Web { web::with_parts_of_built_in(recipe) } else { recipe }
            }
        }
    }
}

/// Returns the recipe of Plimsoll itself in the role of a server.
fn built_in_recipe(family: Family, status: Option<StatusKind>, program: &Path, start: StartRecipe) -> Recipe {
    let ports = start.named_ports();
    Recipe {
        format: 2,
        family: Some(family),
        name: "built-in".into(),
        title: format!("Plimsoll's built-in {family} server"),
        ready: Ready::Announced,
        ready_log: None,
        ready_command: Vec::new(),
        reset: Reset::None,
        alone: false,
        directories: Vec::new(),
        ports,
        beside: Vec::new(),
        needs_root: None,
        data: None,
        steps: Vec::new(),
        program: ProgramRecipe {
            find: vec![program.to_string_lossy().into_owned()],
            install: None,
            version: vec!["--version".into()],
        },
        start,
        stop: StopRecipe::default(),
        config: None,
        files: Default::default(),
        settings: Default::default(),
        status: status.map(StatusRecipe::of_built_in),
        profiles: Default::default(),
        variants: Default::default(),
        gateways: Default::default(),
        companions: Default::default(),
    }
}

/// A system under test that could not be started or used.
#[derive(Debug, thiserror::Error)]
pub enum SutError {
    /// None of the candidates for the program exists.
    #[error("{title} is not installed; searched for {tried}{}", install_hint(.install))]
    NotInstalled {
        /// The server.
        title: String,
        /// The candidates.
        tried: String,
        /// The command that installs it.
        install: Option<String>,
    },
    /// The system gave no random bits for a password.
    #[error("cannot make a password: {0}")]
    Random(io::Error),
    /// Only root can start it.
    #[error("{title} can be started by root only: {why}\nhint: run Plimsoll as root")]
    NeedsRoot {
        /// The server.
        title: String,
        /// The reason.
        why: String,
    },
    /// The account of a server does not exist.
    #[error("{title} runs under the account `{account}`, which does not exist{}", install_hint(.install))]
    NoAccount {
        /// The server.
        title: String,
        /// The name of the account.
        account: String,
        /// The command that installs the server, and creates the account.
        install: Option<String>,
    },
    /// A program that prepares the server failed.
    #[error("{title}: `{command}` failed: {why}{log}")]
    Step {
        /// The server.
        title: String,
        /// The command line.
        command: String,
        /// The end of the program: `exit status 1`.
        why: String,
        /// The end of its output, on separate lines.
        log: String,
    },
    /// The recipe does not have what was requested.
    #[error("{title} has no {what} `{asked}`; {}", has(.known))]
    Lacks {
        /// The server.
        title: String,
        /// `profile`, `variant` or `gateway`.
        what: &'static str,
        /// The requested name.
        asked: String,
        /// The available names.
        known: Vec<String>,
    },
    /// No certificate could be created.
    #[error("cannot create a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The file set could not be created.
    #[error(transparent)]
    Populate(#[from] PopulateError),
    /// The folder for work directories is not safe.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file or directory could not be used.
    #[error("{what} `{path}`: {source}")]
    File {
        /// Its purpose.
        what: &'static str,
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The port is in use or not permitted.
    #[error("port {port} on {address}: {source}\nhint: choose another port, or omit it to use a free one")]
    PortTaken {
        /// The address.
        address: Ipv4Addr,
        /// The port; 0 for any.
        port: u16,
        /// The system's error.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("cannot start `{program}` on CPUs {cpus}: {source}")]
    NotStarted {
        /// The program.
        program: String,
        /// Its CPUs.
        cpus: String,
        /// The system's error.
        source: io::Error,
    },
    /// It did not answer in time.
    #[error("{title} did not answer at {address} within {} s: {last}{log}", .waited.as_secs_f64())]
    NotReady {
        /// The server.
        title: String,
        /// Its address; empty if it did not announce one.
        address: String,
        /// The waiting time.
        waited: Duration,
        /// The error of the last attempt.
        last: String,
        /// The end of its log, on separate lines.
        log: String,
    },
    /// An accelerator does not forward a file of the set.
    #[error("{title} does not serve `{path}`: {why}")]
    NotWarmed {
        /// The accelerator.
        title: String,
        /// The file.
        path: String,
        /// The problem.
        why: String,
    },
    /// A requested limit is not enforced, so that the result would not be the requested one.
    #[error(
        "cannot enforce the {limit} of {title}: {why}\n\
         hint: run as root, or in a delegated control group; without `{option}` the server runs unlimited"
    )]
    LimitNotHeld {
        /// The server.
        title: String,
        /// The limit, with its value.
        limit: String,
        /// The option that sets it.
        option: &'static str,
        /// The system's error.
        why: String,
    },
    /// It ended.
    #[error(transparent)]
    Died(#[from] SutDied),
}

impl SutError {
    /// Creates the error that none of the candidates exists.
    fn not_installed(title: &str, find: &[String], install: Option<&str>) -> SutError {
        SutError::NotInstalled {
            title: title.to_owned(),
            tried: find.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "),
            install: install.map(str::to_owned),
        }
    }
}

/// A system under test that ended unexpectedly.
#[derive(Debug, thiserror::Error)]
#[error("{title} ended unexpectedly: {status}{log}")]
pub struct SutDied {
    /// The server.
    pub title: String,
    /// Its end: `exit status 1`, `signal 9`.
    pub status: String,
    /// The end of its log, on separate lines; may be empty.
    pub log: String,
}

fn install_hint(install: &Option<String>) -> String {
    install.as_ref().map(|command| format!("\nhint: install it with `{command}`")).unwrap_or_default()
}

fn has(known: &[String]) -> String {
    match known {
        [] => "none are available".to_owned(),
        _ => {
            format!(
                "expected one of {}",
                known.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ")
            )
        }
    }
}
