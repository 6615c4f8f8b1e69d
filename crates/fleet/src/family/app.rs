//! The application server family: transactions in sessions over TCP, or over HTTP.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use benchmarks::app::Transactions;
use drivers::app::{AppContext, AppDriver};
use model::{AppProtocol, AppRequest, AppTransaction, AppWorkload, CheckMoment, Family, Plan, Workload};
use units::RealClock;

use super::probe::Probe;
use super::profile::{FamilyProfile, READY_MAX};
use super::target::{LoadTarget, ResolvedTarget};
use super::{ServerForm, SetupError, TargetTextError, host_and_port, host_of, unless_stopped};
use crate::checked::CheckedRow;
use crate::disk_use::DiskUse;
use crate::family_counts::FamilyCounts;
use crate::order::StepOrder;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// The notation of a target. A text before `@` may be a password, so the error does not repeat the target.
const EXPECTED: &str = "expected `app://HOST:PORT`, such as `app://127.0.0.1:7000`, or `http://HOST:PORT` for a server over HTTP";

/// The port of targets over HTTP that name none.
const HTTP_PORT: u16 = 80;

/// An application server, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationServer {
    /// The protocol that it speaks.
    pub protocol: AppProtocol,
    /// A name or an address; an IPv6 address in brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

/// Reads `app://HOST:PORT` or `http://HOST:PORT`.
impl FromStr for ApplicationServer {
    type Err = TargetTextError;

    fn from_str(text: &str) -> Result<ApplicationServer, TargetTextError> {
        let form = || TargetTextError::Form(EXPECTED);
        let (scheme, rest) = text.split_once("://").ok_or_else(form)?;
        let (host, port) = host_and_port(rest, EXPECTED)?;
        let (protocol, port) = match scheme.to_ascii_lowercase().as_str() {
            "app" => (AppProtocol::Binary, port.ok_or_else(form)?),
            "http" => (AppProtocol::Http, port.unwrap_or(HTTP_PORT)),
            _ => return Err(form()),
        };
        Ok(ApplicationServer { protocol, host, port })
    }
}

impl ApplicationServer {
    /// Returns host and port.
    fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl fmt::Display for ApplicationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.protocol {
            AppProtocol::Binary => "app",
            AppProtocol::Http => "http",
        };
        write!(f, "{scheme}://{}", self.authority())
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
    pub(super) fn of_address(address: SocketAddr, protocol: AppProtocol) -> AppTarget {
        let host = host_of(address.ip());
        AppTarget { server: ApplicationServer { protocol, host, port: address.port() }, address }
    }

    /// Sets up what all sessions of a thread share.
    fn context<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
    ) -> Result<(&'a AppWorkload, Rc<AppContext>), SetupError> {
        let workload = workload_of(&plan.workload)?;
        let host = self.server.authority();
        let context = AppContext::new(workload, &host, self.address, &plan.source_addresses, clock);
        Ok((workload, context.map_err(SetupError::App)?))
    }
}

impl LoadTarget for AppTarget {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn name(&self) -> String {
        self.server.to_string()
    }

    fn host(&self) -> Option<&str> {
        Some(&self.server.host)
    }

    fn external(&self) -> Option<ServerForm> {
        Some(ServerForm::app(&self.server))
    }

    /// Makes a transaction of every kind as the first client.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let (workload, context) = self.context(plan, clock)?;
        let longest = workload.payloads.iter().map(|payload| payload.bytes).max().unwrap_or(0);
        let kinds = (0..).zip(workload.suite.transactions());
        let request = |(kind, &(transaction, _)): (u16, &(AppTransaction, u64))| {
            let has_message =
                matches!(transaction, AppTransaction::ClientServer | AppTransaction::ServerClient);
            AppRequest { kind, transaction, bytes: if has_message { longest } else { 0 }, number: 1 }
        };
        let requests: Vec<_> = kinds.map(request).collect();
        let target = self.server.to_string();
        let time_limit = plan.time_limit;
        let probe = Probe { family: Family::App, target, time_limit, clock };
        let driver = AppDriver::new(context, 0);
        unless_stopped(stop, probe.perform_all(driver, &requests, |_| probe.too_slow(), |_| None))
    }

    fn check(
        &self,
        _: &Plan,
        _: RealClock,
        _: CheckMoment,
        _: &FamilyCounts,
        _: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        // Every read checks the number of its block.
        Ok(Vec::new())
    }

    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let (workload, context) = self.context(work.plan, work.clock)?;
        let mix = Transactions::new(workload, work.plan.seed);
        work.run_with(mix, |client| AppDriver::new(Rc::clone(&context), client))?;
        Ok(FamilyCounts::default())
    }
}

/// The application servers as runs know them: files are written.
pub(super) static PROFILE: FamilyProfile = FamilyProfile {
    order: &StepOrder::STATEFUL,
    ready_max: READY_MAX,
    checked_things: "transactions",
    files: None,
    built_in_restores: false,
    variant: |workload| workload_of(workload).ok().and_then(|app| variant(app.protocol)),
    embedded: None,
    fills_started: false,
    prove_memory_limit: None,
    started: Some(|sut, _| ResolvedTarget::of(AppTarget::of_address(sut.addr(), sut.app_protocol()))),
    disk_use: |plan, directory| {
        let workload = workload_of(&plan.workload).ok()?;
        disk_use(workload, plan.level_max(), directory)
    },
    check_room: |_, _| Ok(()),
    contents: |_| None,
};

/// Returns the workload of the family.
///
/// # Errors
/// It is one of another family.
fn workload_of(workload: &Workload) -> Result<&AppWorkload, SetupError> {
    let Workload::App(app) = workload else {
        return Err(SetupError::OtherFamily(workload.family()));
    };
    Ok(app)
}

/// Returns the variant of an application server that a protocol is for; `None` of frames.
fn variant(protocol: AppProtocol) -> Option<&'static str> {
    (protocol == AppProtocol::Http).then_some(protocol.name())
}

/// Returns the files that so many clients have below a directory; `None` where transactions use none.
fn disk_use(workload: &AppWorkload, clients: f64, directory: &Path) -> Option<DiskUse> {
    let users = clients.ceil() as u64;
    let each = workload.disk_bytes();
    (each != 0).then(|| DiskUse { users, each, directory: directory.to_owned() })
}

#[cfg(test)]
mod tests {
    use drivers::TargetPolicy;
    use model::{AppFileIo, AppSuite, ThinkTime};

    use super::*;

    /// By hand: a range of 1 GiB is half of a file.
    #[test]
    fn files_of_all_clients_are_counted() {
        let workload = |suite| AppWorkload {
            suite,
            payloads: Vec::new(),
            rounds: 1,
            range_bytes: 1 << 30,
            auto_range: None,
            io: AppFileIo::Buffered,
            is_cold: false,
            protocol: AppProtocol::Binary,
            think: ThinkTime::None,
        };
        let directory = Path::new("/var/tmp/of/a/server");
        let found = disk_use(&workload(AppSuite::System), 4.0, directory);
        assert_eq!(found, Some(DiskUse { users: 4, each: 2 << 30, directory: directory.to_owned() }));
        assert_eq!(disk_use(&workload(AppSuite::Network), 1e6, directory), None);
    }

    #[test]
    fn targets_have_a_scheme_a_host_and_a_port() {
        use AppProtocol::{Binary, Http};
        for (text, protocol, shown) in [
            ("app://127.0.0.1:7000", Binary, "app://127.0.0.1:7000"),
            ("app://[::1]:7", Binary, "app://[::1]:7"),
            ("App://name.example:65535/", Binary, "app://name.example:65535"),
            ("http://[::1]:8080/", Http, "http://[::1]:8080"),
            ("http://name.example", Http, "http://name.example:80"),
        ] {
            let server: ApplicationServer = text.parse().unwrap();
            assert_eq!((server.protocol, server.to_string().as_str()), (protocol, shown));
            assert_eq!(shown.parse::<ApplicationServer>().unwrap(), server);
        }
        let wrong = [
            "127.0.0.1:7000",
            "https://a:1",
            "http://a:1/b",
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
            let error = text.parse::<ApplicationServer>().unwrap_err().to_string();
            assert!(error.starts_with("expected `app://") && !error.contains("secret"), "{text}: {error}");
        }
    }

    /// `app://[::1]:7000` was reported: its host lost the brackets, by which the policy knows an address.
    #[test]
    fn an_ipv6_address_is_resolved() {
        let address: SocketAddr = "[::1]:7000".parse().unwrap();
        let named: ApplicationServer = "app://[::1]:7000".parse().unwrap();
        assert_eq!(AppTarget::of_address(address, AppProtocol::Binary).server, named);
        assert_eq!(TargetPolicy.resolve(&named.host, named.port).unwrap(), [address]);
    }
}
