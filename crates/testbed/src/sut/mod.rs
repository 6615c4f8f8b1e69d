//! The system under test: brought up by a recipe, watched, reset, and gone afterwards.
//!
//! - `choice`: which parts of a recipe are used
//! - `values`, `account`: what placeholders stand for
//! - `work_dir`: the directory that one run has for itself, and what killed runs left behind
//! - `certificate`: the certificate of one run
//! - `prepare`: from a request to files and programs that are ready to be started
//! - `launch`: a process on its CPUs, in its group
//! - `member`: one program while it runs
//! - `ready`: waiting until it answers
//! - `meter`: the CPU time that it used; `resident`: its memory
//! - `facts`: what is disclosed about it; `line_diff`: how its configuration differs from the usual one
//! - `front`: the accelerator in front of a server; `warm`: filling its cache
//! - `memory_limit`: whether a limit on memory binds, seen before load
//! - `running`: all of it as one value
//! - `listing`: what is installed

mod account;
mod certificate;
mod choice;
mod facts;
mod front;
mod launch;
mod line_diff;
mod listing;
mod member;
mod memory_limit;
mod meter;
mod prepare;
mod ready;
mod resident;
mod running;
mod values;
mod warm;
mod work_dir;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use model::{FileSet, Gateway, GatewayKind};

use crate::cgroup::Limits;
use crate::populate::{PopulateError, Populated};
use crate::private_folder::FolderError;
use crate::recipe::{GatewayRecipe, ProgramRecipe, Ready, Recipe, Reset, StartRecipe, StopRecipe, Transport};

pub use listing::{GatewayListing, Installed, Missing, SutListing, accelerators, suts};
pub use memory_limit::MemoryLimitProof;
pub use prepare::SutLookUp;
pub use running::RunningSut;
pub use values::{Origin, Values};
pub use work_dir::{WorkDir, clean_stale, find_stale};

/// What to bring up, and within which limits.
#[derive(Debug)]
pub struct SutRequest<'a> {
    /// Which server.
    pub server: Server,
    /// Where the run's own directory is made, for the file set and the server's files: a folder into which this user
    /// alone can write, see [`crate::make_private_folder`].
    pub work_dir: PathBuf,
    /// The file set that the server is given, and from which one file is asked for to see whether it is ready.
    pub files: &'a FileSet,
    /// The file set where it is in place, and kept afterwards; laid out in the run's own directory if `None`.
    pub root: Option<Populated>,
    /// What it may use at most.
    pub limits: Limits,
    /// The port on 127.0.0.1; a free one if `None`.
    pub port: Option<u16>,
    /// Where programs are looked for that a recipe names without a path, before the usual directories.
    pub search_path: Vec<PathBuf>,
    /// The profile of the recipe, such as `default`; the one for benchmarks if `None`.
    pub profile: Option<String>,
    /// How requests travel.
    pub transport: Transport,
    /// How pages are made by a program, if any are.
    pub gateway: Option<Gateway>,
    /// Our own program, which some gateways run.
    pub program: PathBuf,
    /// What stands in front of the server and takes its requests, within the same limits.
    pub accelerator: Option<Acceleration>,
}

/// An accelerator with its memory.
#[derive(Debug, Clone)]
pub struct Acceleration {
    /// Which one.
    pub recipe: Box<Recipe>,
    /// How many bytes of the server's replies it may keep.
    pub cache_bytes: u64,
}

/// A kind of server.
#[derive(Debug, Clone)]
pub enum Server {
    /// An installed one.
    Recipe(Box<Recipe>),
    /// Our own program in another role. It announces its address on standard output and ends when its standard
    /// input does. Its arguments may hold placeholders; with `{root}` among them it is given the file set.
    BuiltIn {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        args: Vec<String>,
    },
    /// An accelerator alone, in front of a server that is there already.
    Accelerator {
        /// Which one, and its memory.
        accelerator: Acceleration,
        /// Where that server answers.
        origin: SocketAddr,
    },
}

impl Server {
    /// Returns what is behind it, if that is all that is to be started.
    fn origin(&self) -> Option<Origin> {
        match self {
            Server::Accelerator { accelerator, origin } => {
                Some(Origin { address: *origin, cache_bytes: accelerator.cache_bytes })
            }
            _ => None,
        }
    }

    /// Returns the recipe by which the server is run.
    fn into_recipe(self) -> Recipe {
        match self {
            Server::Recipe(recipe) => *recipe,
            Server::Accelerator { accelerator, .. } => *accelerator.recipe,
            Server::BuiltIn { program, args } => Recipe {
                format: 1,
                name: "built-in".into(),
                title: "Plimsoll's built-in web server".into(),
                ready: Ready::Announced,
                reset: Reset::None,
                directories: Vec::new(),
                program: ProgramRecipe {
                    find: vec![program.to_string_lossy().into_owned()],
                    install: None,
                    version: vec!["--version".into()],
                },
                start: StartRecipe { arguments: args, environment: Default::default() },
                stop: StopRecipe::default(),
                config: None,
                files: Default::default(),
                settings: Default::default(),
                status: None,
                profiles: Default::default(),
                // What its arguments say is up to whoever writes them.
                transports: Transport::ALL.map(|transport| (transport, String::new())).into(),
                gateways: [(GatewayKind::Native, GatewayRecipe::default())].into(),
                companions: Default::default(),
            },
        }
    }
}

/// Why a system under test could not be brought up or used.
#[derive(Debug, thiserror::Error)]
pub enum SutError {
    /// None of the program's candidates exists.
    #[error("{title} is not installed; looked for {tried}{}", install_hint(.install))]
    NotInstalled {
        /// The server.
        title: String,
        /// The candidates.
        tried: String,
        /// The command that installs it.
        install: Option<String>,
    },
    /// The recipe does not have what was asked for.
    #[error("{title} has no {what} `{asked}`; {}", has(.known))]
    Lacks {
        /// The server.
        title: String,
        /// `profile`, `transport` or `gateway`.
        what: &'static str,
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No certificate could be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The file set could not be laid out.
    #[error(transparent)]
    Populate(#[from] PopulateError),
    /// The folder for work directories cannot be trusted.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file or directory could not be used.
    #[error("{what} `{path}`: {source}")]
    File {
        /// What it is for.
        what: &'static str,
        /// Where it is.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The port is in use, or may not be used.
    #[error("port {port} on {address}: {source}\nhint: name another one, or none to have a free one chosen")]
    PortTaken {
        /// Where.
        address: Ipv4Addr,
        /// The port; 0 if any was asked for.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("cannot start `{program}` on CPUs {cpus}: {source}")]
    NotStarted {
        /// The program.
        program: String,
        /// Its CPUs.
        cpus: String,
        /// What the system says.
        source: io::Error,
    },
    /// It ran and did not answer in time.
    #[error("{title} did not answer at {address} within {} s: {last}{log}", .waited.as_secs_f64())]
    NotReady {
        /// The server.
        title: String,
        /// Where it should answer; empty if it was to say so and did not.
        address: String,
        /// How long was waited.
        waited: Duration,
        /// What the last attempt met.
        last: String,
        /// The end of its log, on lines of its own.
        log: String,
    },
    /// An accelerator does not pass a file of the set on.
    #[error("{title} does not pass `{path}` on: {why}")]
    NotWarmed {
        /// The accelerator.
        title: String,
        /// The file.
        path: String,
        /// What was seen.
        why: String,
    },
    /// A limit that was asked for does not hold, so what would be measured is not what was asked for.
    #[error(
        "{title} cannot be held to its {limit}: {why}\n\
         hint: run as root, or in a control group that is delegated to you; without `{option}` it runs unlimited"
    )]
    LimitNotHeld {
        /// The server.
        title: String,
        /// The limit, and how much.
        limit: String,
        /// The option that asks for it.
        option: &'static str,
        /// What the system says.
        why: String,
    },
    /// It ended.
    #[error(transparent)]
    Died(#[from] SutDied),
}

impl SutError {
    /// Says that none of the candidates exists.
    pub(crate) fn not_installed(title: &str, find: &[String], install: Option<&str>) -> SutError {
        SutError::NotInstalled {
            title: title.to_owned(),
            tried: find.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "),
            install: install.map(str::to_owned),
        }
    }
}

/// A system under test that ended by itself.
#[derive(Debug, thiserror::Error)]
#[error("{title} ended by itself: {status}{log}")]
pub struct SutDied {
    /// The server.
    pub title: String,
    /// How it ended: `exit status 1`, `signal 9`.
    pub status: String,
    /// The end of its log, on lines of its own; may be empty.
    pub log: String,
}

fn install_hint(install: &Option<String>) -> String {
    install.as_ref().map(|command| format!("\nhint: install it with `{command}`")).unwrap_or_default()
}

fn has(known: &[String]) -> String {
    match known {
        [] => "there is none".to_owned(),
        _ => {
            format!("there are {}", known.iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", "))
        }
    }
}
