//! The web family: pages over HTTP, whose objects are checked before load begins.
//!
//! - `survey`: pages that nobody has described
//! - `at_rest`: whether their bodies changed with time or with the load

mod at_rest;
pub(crate) mod survey;

use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use benchmarks::web::pages::Pages;
use drivers::web::{
    HandshakeCounts, Http2Driver, KeptConnectionCounts, PlainDriver, SessionDriver, SessionTransport,
    SessionUser, Target, TlsDriver, WebContext, WebContextOptions,
};
use drivers::{TargetPolicy, Trust};
use engine::Driver;
use model::{
    CONNECTIONS_LOST, CheckMoment, Family, FileSet, HttpVersion, Outcome, Page, Plan, Reply, STREAMS_REFUSED,
    Secrets, Tls, WebProtocol, WebRequest, WebWorkload,
};
use testbed::{
    MemoryLimitProof, PopulateError, PopulatedFiles, RunningSut, SutError, SutServer, WebParts,
    populate_unless,
};
use units::{Nanos, RealClock};

use self::at_rest::IdleLoadThread;
use super::probe::Probe;
use super::profile::{FamilyProfile, READY_MAX, ServedFiles, ServerStart};
use super::target::{LoadTarget, ResolvedTarget};
use super::{ServerForm, SetupError, unless_stopped};
use crate::checked::CheckedRow;
use crate::error::FleetError;
use crate::event::{Event, Observer};
use crate::family_counts::FamilyCounts;
use crate::order::StepOrder;
use crate::stop::go_on_unless;
use crate::thread::{ThreadFailure, ThreadWork};
use crate::verify::VerifyError;

/// Maximum number of objects fetched per kind of request.
const SAMPLES_MAX: u64 = 20;

/// Maximum number of pages fetched where users have sessions.
const PAGES_MAX: usize = 100;

/// A web server that load is sent to.
#[derive(Debug, Clone)]
pub(crate) struct WebTarget {
    /// The server as named.
    pub(crate) target: Target,
    /// One of its addresses, allowed by the policy.
    pub(crate) address: SocketAddr,
    /// The certificates that are accepted.
    pub(crate) trust: Trust,
    /// The values of the workload's secrets.
    pub(crate) secrets: Secrets,
}

/// The transport of requests, by which a driver is chosen.
enum Transport {
    Plain,
    Tls,
    Http2,
}

impl Transport {
    fn of(workload: &WebWorkload) -> Transport {
        match (workload.protocol.http, workload.protocol.tls) {
            (HttpVersion::Http2, _) => Transport::Http2,
            (_, Tls::Off) => Transport::Plain,
            _ => Transport::Tls,
        }
    }
}

impl WebTarget {
    /// Makes the target of a server that this run has started.
    fn of_sut(sut: &RunningSut, secrets: Secrets) -> WebTarget {
        let target: Target = sut.url().parse().expect("our own URL");
        // Without TLS it has no certificate, and none is asked for.
        let trust = sut.certificate_der().map_or(Trust::Any, |der| Trust::Certificate(der.to_owned()));
        WebTarget { target, address: sut.addr(), trust, secrets }
    }

    fn workload<'a>(&self, plan: &'a Plan) -> Result<&'a WebWorkload, SetupError> {
        plan.workload.web().ok_or_else(|| SetupError::OtherFamily(plan.workload.family()))
    }

    /// Sets up what all connections of a thread share.
    fn context<'a>(
        &self,
        plan: &'a Plan,
        clock: RealClock,
    ) -> Result<(&'a WebWorkload, Rc<WebContext>), SetupError> {
        let workload = self.workload(plan)?;
        let context = WebContext::new(WebContextOptions {
            target: &self.target,
            address: self.address,
            policy: TargetPolicy,
            workload,
            secrets: &self.secrets,
            source_addresses: &plan.source_addresses,
            trust: &self.trust,
            clock,
        })?;
        Ok((workload, context))
    }
}

impl LoadTarget for WebTarget {
    fn address(&self) -> Option<SocketAddr> {
        self.target.socket().is_none().then_some(self.address)
    }

    fn name(&self) -> String {
        self.target.to_string()
    }

    fn host(&self) -> Option<&str> {
        Some(&self.target.host)
    }

    fn connect_host(&self) -> Option<&str> {
        Some(self.target.connect_host_and_port().0).filter(|host| *host != self.target.host)
    }

    fn socket(&self) -> Option<&Path> {
        self.target.socket()
    }

    fn is_encrypted(&self) -> bool {
        self.target.secure
    }

    fn shows_identity(&self) -> bool {
        self.target.access.identity.is_some()
    }

    fn external(&self) -> Option<ServerForm> {
        Some(ServerForm::web(&self.target, &self.trust))
    }

    fn secrets(&self) -> Secrets {
        self.secrets.clone()
    }

    /// Fetches objects of every kind of request once, one after another.
    fn probe(&self, plan: &Plan, clock: RealClock, stop: &AtomicBool) -> Result<(), VerifyError> {
        let (workload, context) = self.context(plan, clock)?;
        let transport = Transport::of(workload);
        let requests =
            if workload.has_sessions() { pages(workload) } else { samples(workload, plan.level_max()) };
        let objects = Objects { plan, workload, target: self, requests };
        unless_stopped(stop, async {
            match transport {
                Transport::Http2 => objects.fetch::<Http2Driver>(&context, clock).await,
                Transport::Plain => objects.fetch::<PlainDriver>(&context, clock).await,
                Transport::Tls => objects.fetch::<TlsDriver>(&context, clock).await,
            }
        })
    }

    fn check(
        &self,
        _: &Plan,
        _: RealClock,
        _: CheckMoment,
        _: &FamilyCounts,
        _: &AtomicBool,
    ) -> Result<Vec<CheckedRow>, VerifyError> {
        // Every operation checks all that a web server can be asked.
        Ok(Vec::new())
    }

    /// Runs the users of a load thread; returns what became of connections, and of bodies that nobody has described.
    fn run(&self, work: ThreadWork<'_>) -> Result<FamilyCounts, ThreadFailure> {
        let (workload, context) = self.context(work.plan, work.clock)?;
        let rest = IdleLoadThread {
            plan: work.plan,
            clock: work.clock,
            stop: work.stop,
            began: Arc::clone(&work.start.began),
        };
        let mix = Pages::new(workload, work.plan.seed, work.setup.point.load);
        let shared = || Rc::clone(&context);
        let users = work.setup.point.load.in_flight_max();
        let user = |user| SessionUser { seed: work.plan.seed, user, users };
        // The only choice of a driver: behind it everything is known to the compiler.
        match (Transport::of(workload), workload.has_sessions()) {
            (Transport::Http2, false) => work.run_with(mix, |_| Http2Driver::new(shared())),
            (Transport::Plain, false) => work.run_with(mix, |_| PlainDriver::new(shared())),
            (Transport::Tls, false) => work.run_with(mix, |_| TlsDriver::new(shared())),
            (Transport::Http2, true) => {
                work.run_with(mix, |number| SessionDriver::<Http2Driver>::new(shared(), user(number)))
            }
            (Transport::Plain, true) => {
                work.run_with(mix, |number| SessionDriver::<PlainDriver>::new(shared(), user(number)))
            }
            (Transport::Tls, true) => {
                work.run_with(mix, |number| SessionDriver::<TlsDriver>::new(shared(), user(number)))
            }
        }?;
        let HandshakeCounts { full, resumed } = context.handshakes();
        let mut counts = match workload.protocol.tls {
            Tls::Off => FamilyCounts::default(),
            Tls::Full | Tls::Resumed => {
                FamilyCounts::from([("full TLS handshakes", full), ("resumed TLS handshakes", resumed)])
            }
        };
        let KeptConnectionCounts { lost, refused } = context.kept_connections();
        counts.add_some(CONNECTIONS_LOST, lost);
        counts.add_some(STREAMS_REFUSED, refused);
        counts.changes = rest.changes(self, &context.bodies_seen());
        Ok(counts)
    }
}

/// Web servers as runs know them. Their order must not change, or the numbers of their benchmarks would.
pub(super) static PROFILE: FamilyProfile = FamilyProfile {
    order: &StepOrder::STATELESS,
    ready_max: READY_MAX,
    checked_things: "objects",
    files: Some(ServedFiles { lay_out, warm }),
    built_in_restores: false,
    variant: |workload| workload.web().map(|web| variant(web.protocol)),
    embedded: None,
    fills_started: false,
    prove_memory_limit: Some(prove_memory_limit),
    started: Some(|sut, secrets| ResolvedTarget::of(WebTarget::of_sut(sut, secrets))),
    disk_use: |_, _| None,
    check_room: |_, _| Ok(()),
    contents: |_| None,
};

/// Returns the variant of a web server that a protocol is for.
fn variant(protocol: WebProtocol) -> &'static str {
    let variant = match (protocol.tls, protocol.http) {
        (Tls::Off, _) => testbed::WebVariant::Http1,
        (_, HttpVersion::Http2) => testbed::WebVariant::Http2,
        _ => testbed::WebVariant::Tls,
    };
    variant.name()
}

/// Returns whether requests are made in HTTP/1.0.
fn is_http10(plan: &Plan) -> bool {
    plan.workload.web().is_some_and(|web| web.protocol.http == HttpVersion::Http10)
}

/// Lays the files of an installed server out, or finds them there from a run before. The built-in one makes them itself, in
/// memory.
///
/// # Errors
/// The directory cannot be used, or `stop` is set.
fn lay_out(
    start: &ServerStart<'_>,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<WebParts, FleetError> {
    let files = start.plan.file_set();
    let root = match start.server {
        SutServer::Recipe(_) => Some(populated(start.files_dir, &files, observer, stop)?),
        SutServer::BuiltIn { .. } => None,
    };
    let accelerator = start.acceleration.cloned();
    Ok(WebParts { files: Some(files), root, gateway: start.plan.sut.gateway(), accelerator, origin: None })
}

fn populated(
    directory: &Path,
    files: &FileSet,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<PopulatedFiles, FleetError> {
    let total = files.bytes();
    let progress = |done| observer.event(Event::Files { done, total });
    match populate_unless(directory, files, stop, progress) {
        Err(PopulateError::Stopped) => Err(VerifyError::Interrupted.into()),
        populated => Ok(populated.map_err(SutError::from)?),
    }
}

/// Has the accelerator in front of a server fetch every file once; does nothing without one.
///
/// # Errors
/// A file is not served, or `stop` is set meanwhile.
fn warm(
    sut: &mut RunningSut,
    plan: &Plan,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<(), FleetError> {
    if plan.sut.accelerator().is_none() {
        return Ok(());
    }
    observer.event(Event::Preparing("fetching every file once through the accelerator"));
    sut.warm_unless(&plan.file_set(), is_http10(plan), stop)?;
    Ok(go_on_unless(stop)?)
}

/// Has a server read its files until it meets its limit on memory; `None` if its control group keeps no account.
///
/// # Errors
/// A file is not served.
fn prove_memory_limit(
    sut: &mut RunningSut,
    _: &ResolvedTarget,
    plan: &Plan,
    stop: &AtomicBool,
) -> Result<Option<MemoryLimitProof>, FleetError> {
    Ok(sut.prove_memory_limit(&plan.file_set(), is_http10(plan), stop)?)
}

/// The objects that are checked.
struct Objects<'a> {
    plan: &'a Plan,
    workload: &'a WebWorkload,
    target: &'a WebTarget,
    requests: Vec<WebRequest>,
}

impl Objects<'_> {
    /// Fetches them by a driver of one user, who has a session if the workload has.
    async fn fetch<D: SessionTransport>(
        &self,
        context: &Rc<WebContext>,
        clock: RealClock,
    ) -> Result<(), VerifyError> {
        let shared = Rc::clone(context);
        if self.workload.has_sessions() {
            let user = SessionUser { seed: self.plan.seed, user: 0, users: 1 };
            return self.fetch_by(SessionDriver::<D>::new(shared, user), context, clock).await;
        }
        self.fetch_by(D::of(shared), context, clock).await
    }

    async fn fetch_by(
        &self,
        driver: impl Driver<Operation = WebRequest>,
        context: &WebContext,
        clock: RealClock,
    ) -> Result<(), VerifyError> {
        let target = self.target.target.to_string();
        let time_limit = self.plan.time_limit;
        let refusal = |reply: &Reply| tls_error(&target, context, reply.outcome, reply.detail != 0);
        let slow = |request: &WebRequest| timed_out(self.workload, request, time_limit);
        let probe = Probe { family: Family::Web, target: target.clone(), time_limit, clock };
        probe.perform_all(driver, &self.requests, slow, refusal).await
    }
}

/// Returns what a failure says about TLS to the server; `None` if it says nothing. `has_begun` is whether a part of a reply
/// had come.
fn tls_error(target: &str, context: &WebContext, outcome: Outcome, has_begun: bool) -> Option<VerifyError> {
    let target = target.to_owned();
    match outcome {
        Outcome::TlsFailed if let Some(problem) = context.certificate_problem() => {
            Some(VerifyError::Certificate { target, problem })
        }
        Outcome::TlsFailed => {
            context.handshake_problem().map(|problem| VerifyError::Handshake { target, problem })
        }
        // Some servers end the connection without an alert, or it is lost with the connection.
        Outcome::Truncated if has_begun => None,
        Outcome::Truncated | Outcome::Reset | Outcome::ConnectionLost => {
            context.handshake_problem().map(|problem| VerifyError::Handshake { target, problem })
        }
        _ => None,
    }
}

/// Lists the requests of every page, one page after another: with sessions a request may need a value from an earlier
/// one.
fn pages(workload: &WebWorkload) -> Vec<WebRequest> {
    let requests = |page: &Page| {
        let kinds = page.requests.iter().enumerate();
        kinds
            .map(|(index, kind)| WebRequest { begins: index == 0, ..WebRequest::first(*kind as u16) })
            .collect()
    };
    workload.pages.iter().take(PAGES_MAX).flat_map(|page| -> Vec<WebRequest> { requests(page) }).collect()
}

/// Lists the objects to fetch: of every kind of request all objects if they are few, else some of them,
/// including the first and the last.
fn samples(workload: &WebWorkload, level_max: f64) -> Vec<WebRequest> {
    let kinds = (0..).zip(&workload.requests);
    let samples = kinds.flat_map(|(kind, request)| {
        let n = request.objects(level_max);
        let taken = n.min(SAMPLES_MAX);
        let place = move |i: u64| (u128::from(i) * u128::from(n - 1) / u128::from((taken - 1).max(1))) as u64;
        (0..taken).map(move |i| WebRequest { kind, closes: false, begins: true, number: place(i) })
    });
    samples.collect()
}

/// Describes a request without a complete response in time.
fn timed_out(workload: &WebWorkload, request: &WebRequest, limit: Nanos) -> String {
    let kind = &workload.requests[usize::from(request.kind)];
    let path = kind.path_of(request.number);
    format!("{} {path}: no complete reply within {limit}", kind.method)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use drivers::Trust;
    use drivers::web::{Target, TargetAccess};
    use testkit::{closed_plan, phases};
    use units::Nanos;

    use super::*;

    /// Goal: the message contains the request's own method. Method: a server that never answers.
    #[test]
    fn a_timed_out_request_is_described_with_its_method() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for method in ["GET", "HEAD", "POST"] {
            let mut plan = closed_plan(1, &[1], phases(0, 1));
            plan.time_limit = Nanos::from_millis(50);
            let workload = plan.workload.web_mut().unwrap();
            workload.requests.truncate(1);
            workload.requests[0].method = method.to_owned();
            let path = workload.requests[0].path_of(0);
            let target = Target {
                host: "127.0.0.1".to_owned(),
                port: address.port(),
                secure: false,
                access: TargetAccess::default(),
            };
            let target = WebTarget { target, address, trust: Trust::Any, secrets: Secrets::default() };
            let error = target.probe(&plan, RealClock::start(), &AtomicBool::new(false)).unwrap_err();
            let VerifyError::Wrong { named, .. } = error else { panic!("{error}") };
            assert_eq!(named[0].text, format!("{method} {path}: no complete reply within 50.0 ms"));
        }
    }
}
