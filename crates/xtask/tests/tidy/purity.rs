//! Purity of crates: code without sockets, clocks, files, processes and threads.
//!
//! Cargo keeps the dependencies of these crates pure (`layers.rs`); this is about the standard library and `units`.

use super::source::{Source, sources};
use super::{Finding, check};

/// Crates of which the column "must not" in `ARCHITECTURE.md` says that they do no input or output and read no clock.
const PURE: [&str; 11] = [
    "analysis",
    "cache-policy",
    "disclosure",
    "files",
    "http1",
    "mail",
    "mailwire",
    "model",
    "orders",
    "published",
    "stats",
];

/// Names that lead outside. Addresses, durations and errors of `std::net`, `std::time` and `std::io` are only values.
const IMPURE: [&str; 18] = [
    // Clocks.
    "Instant",
    "SystemTime",
    "RealClock",
    "thread_cpu",
    "wall",
    // Sockets.
    "TcpListener",
    "TcpStream",
    "ToSocketAddrs",
    "UdpSocket",
    "UnixDatagram",
    "UnixListener",
    "UnixStream",
    "tokio",
    // Modules of the standard library.
    "env",
    "fs",
    "os",
    "process",
    "thread",
];

/// Names of [`IMPURE`] that are too common to be refused except in a path of the standard library.
const MODULES: [&str; 5] = ["env", "fs", "os", "process", "thread"];

/// Finds names that lead outside, in the code of pure crates; their tests may use anything.
fn impure(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.library().is_some_and(|name| PURE.contains(&name))) {
        for (number, line) in source.code() {
            for name in names(line).filter(|name| leads_outside(line, name)) {
                let advice =
                    format!("`{name}` in a crate that must be pure: take what it gives as an argument");
                let path = source.path.clone();
                let subject = name.to_owned();
                findings.push(Finding { path, line: number, subject, advice });
            }
        }
    }
    findings
}

/// Returns the identifiers and keywords of a line.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|next: char| !next.is_alphanumeric() && next != '_').filter(|name| !name.is_empty())
}

fn leads_outside(line: &str, name: &str) -> bool {
    let is_of_std = || line.contains("std::") && !line.contains(&format!("{name}!"));
    IMPURE.contains(&name) && (!MODULES.contains(&name) || is_of_std())
}

#[test]
fn pure_crates_use_no_sockets_clocks_and_files() {
    check(&impure(sources()), &[]);
}

#[test]
fn names_that_lead_outside_are_found() {
    let text = "use std::net::{Ipv6Addr, TcpStream};\nuse std::time::{Duration, UNIX_EPOCH};\nuse std::fs::File;\n\
                use units::wall;\nlet wallet = units::wall();\nasync fn f() -> tokio::io::Result<()> {\n\
                use std::{fs, thread};\n";
    let findings = impure(&[Source::new("crates/stats/src/lib.rs", text)]);
    let found: Vec<String> =
        findings.iter().map(|finding| format!("{} {}", finding.line, finding.subject)).collect();
    let expected = ["1 TcpStream", "3 fs", "4 wall", "5 wall", "6 tokio", "7 fs", "7 thread"];
    assert_eq!(found, expected);
}

#[test]
fn values_comments_tests_and_other_crates_are_no_finding() {
    let pure = "//! No Instant.\n/// SystemTime\nlet at = SocketAddr::V4; // tokio\nlet path = env!(\"A\");\n\
                let thread = \"std::thread\";\nfn process(fs: u8) {}\n\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
    let findings = impure(&[
        Source::new("crates/stats/src/lib.rs", pure),
        Source::new("crates/stats/tests/all.rs", "use std::fs;\n"),
        Source::new("crates/testbed/src/lib.rs", "use std::fs;\n"),
    ]);
    assert_eq!(findings.len(), 0);
}
