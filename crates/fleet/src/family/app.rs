//! The application server family: transactions in sessions over TCP.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use benchmarks::app::Transactions;
use drivers::app::{AppContext, AppDriver};
use languages::HttpUrl;
use model::{AppRequest, AppTransaction, AppWorkload, Family, Plan, Workload};
use units::RealClock;

use super::probe::Probe;
use super::{SetupError, unless_stopped};
use crate::counts::Counts;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// The scheme of targets.
const SCHEME: &str = "app";

/// The notation of a target. A text before `@` may be a password, so the error does not repeat the target.
const EXPECTED: &str = "expected `app://HOST:PORT`, such as `app://127.0.0.1:7000`";

/// An application server, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationServer {
    /// A name or an address; an IPv6 address in brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

/// Reads `app://HOST:PORT`.
impl FromStr for ApplicationServer {
    type Err = String;

    fn from_str(text: &str) -> Result<ApplicationServer, String> {
        let (scheme, rest) = text.split_once("://").ok_or(EXPECTED)?;
        let url: HttpUrl = rest.parse().map_err(|error| format!("{EXPECTED}; {error}"))?;
        let is_bare = url.scheme.is_none() && matches!(url.target.as_str(), "" | "/");
        match url.port {
            Some(port) if scheme.eq_ignore_ascii_case(SCHEME) && is_bare => {
                Ok(ApplicationServer { host: url.host, port })
            }
            _ => Err(EXPECTED.to_owned()),
        }
    }
}

impl fmt::Display for ApplicationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}://{}:{}", self.host, self.port)
    }
}

/// An application server that load is sent to.
#[derive(Debug, Clone)]
pub(crate) struct AppTarget {
    /// The server as named.
    pub(super) server: ApplicationServer,
    /// One of its addresses, allowed by the policy.
    pub(super) address: SocketAddr,
}

impl AppTarget {
    /// Makes the target of a server that this run has started.
    pub(super) fn of_address(address: SocketAddr) -> AppTarget {
        let host = match address.ip() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        AppTarget { server: ApplicationServer { host, port: address.port() }, address }
    }

    /// Sets up what all sessions of a thread share.
    fn context<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
    ) -> Result<(&'a AppWorkload, Rc<AppContext>), SetupError> {
        let Workload::App(workload) = &plan.workload else {
            return Err(SetupError::OtherFamily(plan.workload.family()));
        };
        Ok((workload, AppContext::new(workload, self.address, &plan.source_addresses, clock)?))
    }
}

/// Makes a transaction of every kind as the first client.
pub(super) fn probe(
    plan: &Plan,
    target: &AppTarget,
    clock: RealClock,
    stop: &AtomicBool,
) -> Result<(), VerifyError> {
    let (workload, context) = target.context(plan, clock)?;
    let longest = workload.payloads.iter().map(|payload| payload.bytes).max().unwrap_or(0);
    let kinds = (0..).zip(workload.suite.transactions());
    let request = |(kind, &(transaction, _)): (u16, &(AppTransaction, u64))| {
        let has_message = matches!(transaction, AppTransaction::ClientServer | AppTransaction::ServerClient);
        AppRequest { kind, transaction, bytes: if has_message { longest } else { 0 }, number: 1 }
    };
    let requests: Vec<_> = kinds.map(request).collect();
    let (target, time_limit) = (target.server.to_string(), plan.time_limit);
    let slow = |_: &AppRequest| format!("no complete reply within {time_limit}");
    let probe = Probe { family: Family::App, target, time_limit, clock };
    unless_stopped(stop, probe.perform_all(AppDriver::new(context, 0), &requests, slow, |_| None))
}

/// Runs the clients of a load thread.
pub(super) fn run(work: ThreadWork<'_>, target: &AppTarget) -> Result<Counts, ThreadFailure> {
    let (workload, context) = target.context(work.plan, work.clock)?;
    let mix = Transactions::new(workload, work.plan.seed);
    work.run_with(mix, |client| AppDriver::new(Rc::clone(&context), client))?;
    Ok(Counts::default())
}

#[cfg(test)]
mod tests {
    use drivers::TargetPolicy;

    use super::*;

    #[test]
    fn targets_have_a_scheme_a_host_and_a_port() {
        let server = |host: &str, port| Ok(ApplicationServer { host: host.to_owned(), port });
        for (text, expected) in [
            ("app://127.0.0.1:7000", server("127.0.0.1", 7000)),
            ("app://[::1]:7", server("[::1]", 7)),
            ("app://name.example:65535/", server("name.example", 65535)),
        ] {
            assert_eq!(text.parse(), expected);
            assert_eq!(text.parse::<ApplicationServer>().unwrap().to_string(), text.trim_end_matches('/'));
        }
        let wrong = [
            "127.0.0.1:7000",
            "http://a:1",
            "app://",
            "app://a",
            "app://a:0",
            "app://:1",
            "app://a:b",
            "app://u:secret@a:1",
            "app://a:1/b",
            "app://a:1?b",
            "app://http://a:1",
            "app://::1:7000",
            "app://[::1:7000",
            "app://[::1]",
        ];
        for text in wrong {
            let error = text.parse::<ApplicationServer>().unwrap_err();
            assert!(error.starts_with("expected `app://") && !error.contains("secret"), "{text}: {error}");
        }
    }

    /// `app://[::1]:7000` was reported: its host lost the brackets, by which the policy knows an address.
    #[test]
    fn an_ipv6_address_is_resolved() {
        let address: SocketAddr = "[::1]:7000".parse().unwrap();
        let named: ApplicationServer = "app://[::1]:7000".parse().unwrap();
        assert_eq!(AppTarget::of_address(address).server, named);
        assert_eq!(TargetPolicy.resolve(&named.host, named.port).unwrap(), [address]);
    }
}
