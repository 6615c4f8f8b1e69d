//! The cases with their loads: definitions of benchmarks with one small operation each, and the suite NET of a built-in one.

use anyhow::Result;

use super::servers::ServerKind;
use super::{ApplicationCosts, GENERATOR, SERVER};
use crate::bench::figures::Column;
use crate::bench::harness::Case;
use crate::bench::site::{FEW, MANY, Site};

use ServerKind::{Application, Nginx};

/// Length of messages, bodies and files, in bytes.
pub(super) const BYTES: usize = 512;

/// The folder of nginx' files.
pub(super) const FILES: &str = "files";

/// nginx' resources: one takes a body and answers without one, the other is the file.
///
/// The file is read, and sent together with the head. `sendfile`, with two more calls to hold the head back, costs nginx
/// more for a file of this size.
pub(super) const LOCATIONS: &str =
    "location = /message { return 200; } location = /message.bin { sendfile off; tcp_nopush off; }";

/// Service threads of the server where memory is measured.
pub(super) const MEMORY_THREADS: u32 = 64;

/// Titles of the cases: the transaction CS alone, requests over kept connections, and the suite NET.
pub(super) const MESSAGE: &str = "CS, one service thread";
pub(super) const POST: &str = "POST";
pub(super) const GET: &str = "GET";
pub(super) const MESSAGE_BY_DEFAULT: &str = "CS, default threads";
pub(super) const NETWORK_FEW: &str = "NET, 100 clients";
pub(super) const NETWORK_MANY: &str = "NET, 10,000 clients";

/// A load on a server.
pub(in crate::bench) struct ApplicationLoad {
    /// The benchmark, by its file or its name, and its overrides, separated by spaces.
    pub(super) arguments: &'static str,
    pub(super) server: ServerKind,
    pub(super) clients: u32,
    /// The CPU times of ours that builds are compared by.
    pub(super) compared: &'static [Column<ApplicationCosts>],
}

/// All cases: CPU time of the generator, that of the server, memory of the generator.
pub(super) const CASES: [Case<ApplicationLoad>; 6] = [
    Case::new(
        &["client", "server"],
        MESSAGE,
        load("message.toml", Application(Some(1)), &[GENERATOR, SERVER]),
    ),
    Case::new(&["client"], POST, load("post.toml", Nginx, &[GENERATOR])),
    Case::new(&["server"], GET, load("get.toml", Nginx, &[GENERATOR])),
    Case::new(
        &["client", "server"],
        MESSAGE_BY_DEFAULT,
        load("message.toml", Application(None), &[GENERATOR, SERVER]),
    ),
    Case::new(&["memory"], NETWORK_FEW, NETWORK),
    Case::new(&["memory"], NETWORK_MANY, ApplicationLoad { clients: MANY, ..NETWORK }),
];

/// The suite NET of `serverbench`.
const NETWORK: ApplicationLoad =
    load("serverbench --set suite=net --ramp-up 0s --ramp-down 0s", Application(Some(MEMORY_THREADS)), &[]);

const fn load(
    arguments: &'static str,
    server: ServerKind,
    compared: &'static [Column<ApplicationCosts>],
) -> ApplicationLoad {
    ApplicationLoad { arguments, server, clients: FEW, compared }
}

/// Writes the definitions and the file.
pub(super) fn write_files(site: &Site) -> Result<()> {
    std::fs::create_dir(site.path(FILES))?;
    std::fs::write(site.path(FILES).join("message.bin"), "x".repeat(BYTES))?;
    for (name, text) in [("message.toml", message()), ("post.toml", post()), ("get.toml", get())] {
        std::fs::write(site.path(name), text)?;
    }
    Ok(())
}

fn message() -> String {
    let workload = format!("rounds = 1\n[[workload.payloads]]\nbytes = {BYTES}\nweight = 1\n");
    definition("application", "harmonic-rate", &workload, "suite = \"cs\"\n")
}

fn post() -> String {
    let body = "x".repeat(BYTES);
    requests(&format!("method = \"POST\"\npath = \"/message\"\nbody = \"{body}\"\nreply = \"empty\"\n"))
}

fn get() -> String {
    requests(&format!("path = \"/message.bin\"\nreply = {{ length-min = {BYTES}, length-max = {BYTES} }}\n"))
}

fn requests(request: &str) -> String {
    let workload = format!("[[workload.requests]]\nname = \"small\"\nweight = 1\n{request}");
    definition("web", "request-rate", &workload, "http = \"1.1\"\nconnection = \"keep-alive\"\n")
}

fn definition(family: &str, headline: &str, workload: &str, protocol: &str) -> String {
    format!(
        "format = 1\nid = \"small\"\nversion = 1\ntitle = \"Small\"\nsummary = \"Small operations.\"\n\
         family = \"{family}\"\nheadline = \"{headline}\"\n[workload]\n{workload}[protocol]\n{protocol}\
         time-limit = \"60 s\"\n[load]\nusers = \"1\"\n[phases]\nsettle = \"500 ms\"\nsteady = \"5 s\"\n"
    )
}

#[cfg(test)]
mod tests {
    use model::Definition;

    use super::*;

    #[test]
    fn definitions_are_valid() {
        for text in [message(), post(), get()] {
            if let Err(problems) = Definition::parse("small.toml", &text) {
                panic!("{problems:?}\n{text}");
            }
        }
    }
}
