//! Servers that are already running and are compared: they are different, and both answer.

use std::net::{IpAddr, SocketAddr};

use drivers::TargetPolicy;
use fleet::ExternalServer;
use languages::foreign_text;

use crate::candidate::Candidate;
use crate::exit::{Exit, Failure};

/// Checks that servers that are compared are not one and the same. Returns what is to be said where they share an
/// address, as two pages of one server or two databases do. Names are looked up, and nothing is sent.
///
/// # Errors
/// Two names stand for one server and one page.
pub(crate) fn check_different(candidates: &[Candidate]) -> Result<Vec<String>, Failure> {
    let running = running(candidates);
    if running.len() < 2 {
        return Ok(Vec::new());
    }
    let named: Vec<(&Candidate, Named)> =
        running.into_iter().map(|(candidate, server)| (candidate, Named::of(candidate, server))).collect();
    let mut remarks = Vec::new();
    for (index, (candidate, name)) in named.iter().enumerate() {
        for (other, other_name) in &named[..index] {
            match relation(other_name, name) {
                Relation::Different => {}
                Relation::SharedAddress(address) => remarks.push(format!(
                    "{} and {} are both at {address}: if one server answers for both, it has its caches and its CPUs for both, \
                     and the turns of one can disturb the other",
                    other.title, candidate.title
                )),
                Relation::Same(address) => {
                    let error = format!("{} and {} are one server, at {address}", other.title, candidate.title);
                    return Err(Failure::usage(error)
                        .hint("name two servers, or two pages of one; `--repeat 2` loads one several times"));
                }
            }
        }
    }
    Ok(remarks)
}

/// Checks that a number of operations is that of a server's only run: the server is not to get more. Of servers that are
/// compared it was refused before.
///
/// # Errors
/// A server that is already running has several runs.
pub(crate) fn check_operations(operations: Option<u64>, candidates: &[Candidate]) -> Result<(), Failure> {
    let n_servers = running(candidates).len();
    let n_runs = candidates.iter().filter(|candidate| candidate.external().is_some()).count();
    match operations {
        Some(n) if n_servers < n_runs => {
            let error = format!(
                "`-n {n}` is the number of operations that a server gets in all, but it has {n_runs} runs"
            );
            Err(Failure::usage(error)
                .hint("load it once, without `--repeat`, and with one value for each setting"))
        }
        _ => Ok(()),
    }
}

/// Checks that each of several servers that are compared accepts a connection, before any is loaded.
///
/// # Errors
/// One does not; it is named.
pub(crate) fn check_answering(candidates: &[Candidate]) -> Result<(), Failure> {
    let running = running(candidates);
    if running.len() < 2 {
        return Ok(());
    }
    match running.iter().find(|(_, server)| !fleet::answers(server)) {
        Some((candidate, server)) => {
            let at = server.host_and_port().map_or(String::new(), |(host, port)| {
                format!(": no connection to {}:{port}", foreign_text(host))
            });
            Err(Failure::new(Exit::Testbed, format!("{} does not answer{at}", candidate.title))
                .hint("start it: servers that are compared run at the same time, and are loaded in turns"))
        }
        None => Ok(()),
    }
}

/// Returns the servers that are already running, each once.
fn running(candidates: &[Candidate]) -> Vec<(&Candidate, &ExternalServer)> {
    let mut all: Vec<(&Candidate, &ExternalServer)> = Vec::new();
    for candidate in candidates {
        let is_known = all.iter().any(|(other, _)| other.state == candidate.state);
        if let Some(server) = candidate.external().filter(|_| !is_known) {
            all.push((candidate, server));
        }
    }
    all
}

/// The address or more that two servers have in common which are compared.
#[derive(Debug, PartialEq, Eq)]
enum Relation {
    Different,
    /// An address, which they are reached at by different names or pages.
    SharedAddress(SocketAddr),
    /// Everything.
    Same(SocketAddr),
}

/// A server as it is named, with its addresses.
#[derive(Debug)]
struct Named {
    /// The rest of the name besides the host: scheme, page, database or share.
    what: String,
    host: String,
    addresses: Vec<SocketAddr>,
}

impl Named {
    fn of(candidate: &Candidate, server: &ExternalServer) -> Named {
        let (host, port) = server.host_and_port().unwrap_or_default();
        let addresses =
            if host.is_empty() { Vec::new() } else { TargetPolicy.resolve(host, port).unwrap_or_default() };
        let place = format!("{host}:{port}");
        let what = candidate.address.replacen(&place, "", 1).replacen(host, "", 1);
        Named { what: what.trim_end_matches('/').to_owned(), host: host.to_owned(), addresses }
    }

    /// Returns whether the host is an address, or stands for this machine: then no virtual host depends on it.
    fn is_plain(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
    }
}

fn relation(one: &Named, other: &Named) -> Relation {
    let Some(shared) = one.addresses.iter().find(|address| other.addresses.contains(address)) else {
        return Relation::Different;
    };
    let is_one_name = one.host.eq_ignore_ascii_case(&other.host) || one.is_plain() && other.is_plain();
    if is_one_name && one.what == other.what {
        Relation::Same(*shared)
    } else {
        Relation::SharedAddress(*shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(what: &str, host: &str, addresses: &[&str]) -> Named {
        let addresses = addresses.iter().map(|one| one.parse().unwrap()).collect();
        Named { what: what.to_owned(), host: host.to_owned(), addresses }
    }

    #[test]
    fn one_server_is_known_by_its_address_and_its_page() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let local = named("http://", "localhost", &["[::1]:80", "127.0.0.1:80"]);
        let cases = [
            (named("http://", "127.0.0.1", &["127.0.0.1:80"]), Relation::Same(at("127.0.0.1:80"))),
            (named("http://", "LOCALHOST", &["127.0.0.1:80"]), Relation::Same(at("127.0.0.1:80"))),
            (named("http://", "127.0.0.1", &["127.0.0.1:81"]), Relation::Different),
            (named("http://", "127.0.0.2", &["127.0.0.2:80"]), Relation::Different),
            (named("http:///a", "127.0.0.1", &["127.0.0.1:80"]), Relation::SharedAddress(at("127.0.0.1:80"))),
            (named("http://", "shop", &["127.0.0.1:80"]), Relation::SharedAddress(at("127.0.0.1:80"))),
            (named("", "", &[]), Relation::Different),
        ];
        for (other, expected) in cases {
            assert_eq!(relation(&local, &other), expected, "{other:?}");
        }
    }
}
