//! Gateways of a server to programs that generate pages.

use std::collections::BTreeMap;

use super::{ConfigRecipe, ProgramRecipe, StartRecipe};

/// The setup of a server for one kind of gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GatewayRecipe {
    /// The value of `{gateway}` in the server's configuration.
    pub config: String,
    /// The value of `{upstream}` there: for servers that declare upstream servers in a separate place.
    pub upstream: String,
    /// Programs that run beside the server: names from `[companions]`, or of built-in companions.
    pub companions: Vec<String>,
    /// Files that must be installed besides the programs, such as modules.
    pub needs: Vec<RequiredFile>,
    /// Settings that the disclosure shows besides those of the server.
    pub settings: BTreeMap<String, String>,
}

/// A file that must be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequiredFile {
    /// Its name for people.
    pub title: String,
    /// Its possible paths; the first that exists is used.
    pub find: Vec<String>,
    /// The command that installs it.
    pub install: Option<String>,
}

/// A program that runs beside a server, on the same CPUs and under the same quota, and is accounted with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanionRecipe {
    /// The name for people.
    pub title: String,
    /// Its address when it is ready: the path of a Unix socket, or an address and port.
    pub listens: String,
    /// Whether that socket is created for it and passed as its standard input, as FastCGI programs expect.
    pub inherits_socket: bool,
    /// The program.
    pub program: ProgramRecipe,
    /// The start command.
    pub start: StartRecipe,
    /// Its configuration file, if it needs one.
    pub config: Option<ConfigRecipe>,
}
