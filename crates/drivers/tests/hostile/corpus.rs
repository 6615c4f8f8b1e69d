//! Every fault of the built-in server against a driver of the protocol that it affects.

use std::net::SocketAddr;
use std::time::Duration;

use drivers::Trust;
use drivers::web::{Http2Driver, PlainDriver, TlsDriver};
use engine::Driver;
use model::{ConnectionLifetime, HttpVersion, Outcome, Request, Tls, WebProtocol, WebRequest, WebWorkload};
use servers::web::{ClientProtocol, Fault};

use crate::common::{Fixture, SMALL, context, protocol, server, workload};
use crate::{alone, n_descriptors};

/// Time limit if the fault ends by it, in milliseconds.
pub(crate) const LIMIT: Duration = Duration::from_millis(250);

/// Time limit otherwise: reaching it means a hang.
pub(crate) const GENEROUS: Duration = Duration::from_secs(20);

/// The most bytes that a server can send before the client closes: those read (64 KiB at a time) and those
/// that the kernel holds on both sides. It may be more within a time limit: these are read and discarded.
pub(crate) const SENT_BYTES_MAX: u64 = 16 << 20;

/// The most that this process, which includes the server, may grow while it meets a fault. Some 4 MiB were
/// measured, for floods over HTTP/2.
pub(crate) const GROWTH_KIB_MAX: u64 = 16 << 10;

const KEEP_ALIVE: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: None };

const BOTH: [ConnectionLifetime; 2] = [ConnectionLifetime::PerRequest, KEEP_ALIVE];

/// Performs a request of a workload as the engine does: it is given up at the time limit.
async fn perform<D>(fixture: &mut Fixture<D>, limit: Duration) -> (Outcome, String)
where
    D: Driver<Operation = WebRequest>,
{
    match tokio::time::timeout(limit, fixture.get_described(SMALL)).await {
        Ok(told) => told,
        Err(_) => {
            fixture.give_up();
            (Outcome::TimedOut, format!("given up after {limit:?}"))
        }
    }
}

/// Performs one request, over the protocol of the fault, against a server that has it.
fn provoke(
    address: SocketAddr,
    client_protocol: ClientProtocol,
    connection: ConnectionLifetime,
    workload: &WebWorkload,
    limit: Duration,
) -> (Outcome, String) {
    let plain = protocol(connection);
    let work = async |fixture: &mut Fixture<_>| perform(fixture, limit).await;
    match client_protocol {
        ClientProtocol::Http1 => {
            let web = context(address, &plain, workload, &Trust::Any);
            Fixture::with(PlainDriver::new(web)).run(work)
        }
        ClientProtocol::Tls => {
            let protocol = WebProtocol { tls: Tls::Full, ..plain };
            let web = context(address, &protocol, workload, &Trust::Any);
            let work = async |fixture: &mut Fixture<_>| perform(fixture, limit).await;
            Fixture::with(TlsDriver::new(web)).run(work)
        }
        ClientProtocol::Http2 => {
            let protocol = WebProtocol { http: HttpVersion::Http2, ..plain };
            let web = context(address, &protocol, workload, &Trust::Any);
            let work = async |fixture: &mut Fixture<_>| perform(fixture, limit).await;
            Fixture::with(Http2Driver::new(web)).run(work)
        }
    }
}

fn limit_of(fault: &Fault) -> Duration {
    if fault.outcome == Outcome::TimedOut { LIMIT } else { GENEROUS }
}

/// Returns a line of this process's memory status, in KiB: `VmRSS` is the current value, `VmHWM` the peak
/// since it was reset.
fn memory_kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// Runs `work`; returns the growth of this process's memory at its peak, in KiB.
pub(crate) fn growth_kib<T>(work: impl FnOnce() -> T) -> (T, u64) {
    // Resets the peak (proc(5)).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory_kib("VmRSS");
    let result = work();
    (result, memory_kib("VmHWM").saturating_sub(before))
}

/// Goal: every behavior has a named outcome and bounded memory, with and without kept connections. Method:
/// one after another, alone in the process.
#[test]
fn every_behavior_ends_in_its_outcome_with_bounded_time_and_memory() {
    let _alone = alone();
    let mut wrong = Vec::new();
    let mut most = (0, "");
    for (fault, connection) in Fault::all().flat_map(|fault| BOTH.map(|connection| (fault, connection))) {
        let server = server(&[fault.name]);
        let address = server.address();
        let limit = limit_of(fault);
        let ((outcome, text), grown) =
            growth_kib(|| provoke(address, fault.protocol, connection, &workload(), limit));
        let report = server.stop().unwrap();
        most = most.max((grown, fault.name));
        let mut check = |holds: bool, what: String| {
            if !holds {
                wrong.push(format!("{}, {connection:?}: {what}", fault.name));
            }
        };
        check(outcome == fault.outcome, format!("{outcome:?} instead of {:?}: {text}", fault.outcome));
        let is_bounded = report.bytes_sent < SENT_BYTES_MAX || outcome == Outcome::TimedOut;
        check(is_bounded, format!("took {} bytes before {outcome:?}", report.bytes_sent));
        check(report.faults != 0 || fault.name == "deaf", "did not happen".to_owned());
        check(grown < GROWTH_KIB_MAX, format!("memory grew by {grown} KiB"));
    }
    println!("memory grew by at most {} KiB, for `{}`", most.0, most.1);
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Goal: a client that meets a server of another protocol gets an outcome as well. Method: every connection
/// fault against every driver; the outcome is open, but not `Ok`.
#[test]
fn no_behavior_is_accepted_whatever_protocol_the_client_speaks() {
    let _alone = alone();
    let strange =
        Fault::all().filter(|fault| fault.affects_connections() && fault.outcome != Outcome::TimedOut);
    for fault in strange {
        for protocol in [ClientProtocol::Http1, ClientProtocol::Tls, ClientProtocol::Http2] {
            let server = server(&[fault.name]);
            let (outcome, text) = provoke(server.address(), protocol, KEEP_ALIVE, &workload(), LIMIT);
            assert_ne!(outcome, Outcome::Ok, "{} over {protocol:?}: {text}", fault.name);
        }
    }
}

/// Goal: a body for which the server opens no window waits for the time limit, without growing memory.
#[test]
fn a_window_that_never_opens_ends_at_the_time_limit() {
    let _alone = alone();
    let server = server(&["h2-no-window"]);
    let mut workload = workload();
    workload.requests[usize::from(SMALL)] =
        Request { method: "POST".to_owned(), body: "x".repeat(1 << 20), ..Request::file("/small.html", 500) };
    let (outcome, text) = provoke(server.address(), ClientProtocol::Http2, KEEP_ALIVE, &workload, LIMIT);
    assert_eq!(outcome, Outcome::TimedOut, "{text}");
}

/// Goal: a redirect is not followed (target policy); `faults.rs` tests it with a target that listens.
#[test]
fn a_redirect_is_not_followed() {
    let _alone = alone();
    let server = server(&["redirect"]);
    let fixture = Fixture::kept(server.address());
    let (outcome, text) = fixture.run(async |fixture| fixture.get_described(SMALL).await);
    assert_eq!((outcome, &*text), (Outcome::WrongStatus, "GET /small.html: status 302, expected 200"));
    assert_eq!(server.stop().unwrap().connections, 1);
}

/// Goal: an operation that was given up leaves no connection open, whatever the server goes on sending, while
/// the others of the same thread go on. Method: a dozen in a row; the descriptors of both ends are this
/// process's.
#[test]
fn connections_of_abandoned_operations_are_closed() {
    const N: usize = 12;
    let _alone = alone();
    // A flood needs time to fill the buffers with our answers.
    let cases = [
        ("stall", 30),
        ("byte-drip", 30),
        ("h2-stall", 30),
        ("h2-no-streams", 30),
        ("h2-ping-flood", 200),
        ("h2-settings-flood", 200),
    ];
    for (name, limit_ms) in cases {
        let server = server(&[name]);
        let protocol = protocol(KEEP_ALIVE);
        let limit = Duration::from_millis(limit_ms);
        let n_before = n_descriptors();
        let n_left = if name.starts_with("h2-") {
            let protocol = WebProtocol { http: HttpVersion::Http2, ..protocol };
            let web = context(server.address(), &protocol, &workload(), &Trust::Any);
            Fixture::with(Http2Driver::new(web)).run(async |fixture| left_after(fixture, N, limit).await)
        } else {
            let web = context(server.address(), &protocol, &workload(), &Trust::Any);
            Fixture::with(PlainDriver::new(web)).run(async |fixture| left_after(fixture, N, limit).await)
        };
        // The driver's runtime has some of its own; a connection left open counts twice.
        let n_grown = n_left.saturating_sub(n_before);
        assert!(n_grown < N, "{name}: {n_grown} descriptors more after {N} operations");
    }
}

/// Gives up operations one after another; returns the number of descriptors then open.
async fn left_after<D>(fixture: &mut Fixture<D>, n_operations: usize, limit: Duration) -> usize
where
    D: Driver<Operation = WebRequest>,
{
    for _ in 0..n_operations {
        assert_eq!(perform(fixture, limit).await.0, Outcome::TimedOut);
    }
    // The server sees the end of the last one.
    tokio::time::sleep(limit).await;
    n_descriptors()
}

/// Goal: a reset is reported as a reset, whether it is seen with the last bytes, after them or when writing.
/// Method: many repetitions.
#[test]
fn a_reset_over_http2_is_a_reset_whenever_it_is_seen() {
    let _alone = alone();
    let server = server(&["h2-break"]);
    for _ in 0..100 {
        let (outcome, text) =
            provoke(server.address(), ClientProtocol::Http2, KEEP_ALIVE, &workload(), GENEROUS);
        assert_eq!(outcome, Outcome::Reset, "{text}");
    }
}
