//! The loads: definitions of benchmarks with one small operation each, and the suite NET of a built-in one.

use anyhow::Result;

use crate::bench::site::Site;

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

/// A load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// The transaction CS alone.
    Message,
    /// POST over kept connections.
    Post,
    /// GET over kept connections.
    Get,
    /// The suite NET of `serverbench`.
    Network,
}

/// Writes the definitions and the file.
pub(super) fn write_files(site: &Site) -> Result<()> {
    std::fs::create_dir(site.path(FILES))?;
    std::fs::write(site.path(FILES).join("message.bin"), "x".repeat(BYTES))?;
    for (load, text) in [(Load::Message, message()), (Load::Post, post()), (Load::Get, get())] {
        std::fs::write(site.path(load.benchmark()), text)?;
    }
    Ok(())
}

impl Load {
    /// Returns the benchmark: the name of its file, or of a built-in one.
    fn benchmark(self) -> &'static str {
        match self {
            Load::Message => "message.toml",
            Load::Post => "post.toml",
            Load::Get => "get.toml",
            Load::Network => "serverbench",
        }
    }

    /// Returns the benchmark and its overrides.
    pub(super) fn arguments(self) -> Vec<&'static str> {
        let more: &[&str] = match self {
            Load::Network => &["--set", "suite=net", "--ramp-up", "0 s", "--ramp-down", "0 s"],
            Load::Message | Load::Post | Load::Get => &[],
        };
        [&[self.benchmark()], more].concat()
    }
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

    #[test]
    fn only_the_built_in_benchmark_has_overrides() {
        assert_eq!(Load::Get.arguments(), ["get.toml"]);
        assert_eq!(Load::Network.arguments()[..3], ["serverbench", "--set", "suite=net"]);
    }
}
