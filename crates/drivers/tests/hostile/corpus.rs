//! Every fault of the built-in server against a driver that speaks what the fault is about.

use std::net::SocketAddr;
use std::time::Duration;

use drivers::web::{Http2Driver, PlainDriver, TlsDriver, Trust};
use engine::Driver;
use model::{Connection, HttpVersion, Outcome, Protocol, Request, Tls, WebRequest, Workload};
use servers::web::{ClientProtocol, Fault};

use crate::common::{Bench, SMALL, origin, protocol, server, workload};
use crate::{alone, n_descriptors};

/// Time limit where it is what ends the operation, in milliseconds.
const LIMIT: Duration = Duration::from_millis(250);

/// Time limit elsewhere: reaching it is a hang.
const GENEROUS: Duration = Duration::from_secs(20);

/// Most that a server gets rid of before the client has had enough: what is read (64 KiB at a time) and what the
/// kernel holds between the two. Within a time limit it may be more: that is read and forgotten.
const SENT_BYTES_MAX: u64 = 16 << 20;

/// Most that this process, in which the server runs as well, may grow while it meets a fault. Some 4 MiB were
/// seen, for floods over HTTP/2.
const GROWTH_KIB_MAX: u64 = 16 << 10;

const KEEP_ALIVE: Connection = Connection::KeepAlive { requests_max: None };

const BOTH: [Connection; 2] = [Connection::PerRequest, KEEP_ALIVE];

/// Performs a request of a workload as the engine does: it is given up at the time limit.
async fn perform<D>(bench: &mut Bench<D>, limit: Duration) -> (Outcome, String)
where
    D: Driver<Operation = WebRequest>,
{
    match tokio::time::timeout(limit, bench.told(SMALL)).await {
        Ok(told) => told,
        Err(_) => {
            bench.give_up();
            (Outcome::TimedOut, format!("given up after {limit:?}"))
        }
    }
}

/// Performs one request against a server over what the fault is about.
fn meet(
    address: SocketAddr,
    speech: ClientProtocol,
    connection: Connection,
    workload: &Workload,
    limit: Duration,
) -> (Outcome, String) {
    let plain = protocol(connection);
    let work = async |bench: &mut Bench<_>| perform(bench, limit).await;
    match speech {
        ClientProtocol::Http1 => {
            let origin = origin(address, &plain, workload, &Trust::Any);
            Bench::with(PlainDriver::new(origin)).run(work)
        }
        ClientProtocol::Tls => {
            let protocol = Protocol { tls: Tls::Full, ..plain };
            let origin = origin(address, &protocol, workload, &Trust::Any);
            let work = async |bench: &mut Bench<_>| perform(bench, limit).await;
            Bench::with(TlsDriver::new(origin)).run(work)
        }
        ClientProtocol::Http2 => {
            let protocol = Protocol { http: HttpVersion::Http2, ..plain };
            let origin = origin(address, &protocol, workload, &Trust::Any);
            let work = async |bench: &mut Bench<_>| perform(bench, limit).await;
            Bench::with(Http2Driver::new(origin)).run(work)
        }
    }
}

fn limit_of(fault: &Fault) -> Duration {
    if fault.outcome == Outcome::TimedOut { LIMIT } else { GENEROUS }
}

/// A line of this process's memory, in KiB: `VmRSS` now, `VmHWM` at most since the peak was forgotten.
fn memory_kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.trim().trim_end_matches("kB").trim().parse().unwrap()
}

/// Does something; returns by how much the memory of this process grew meanwhile, at its peak, in KiB.
fn growth_kib<T>(work: impl FnOnce() -> T) -> (T, u64) {
    // Forgets the peak (proc(5)).
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory_kib("VmRSS");
    let result = work();
    (result, memory_kib("VmHWM").saturating_sub(before))
}

/// Goal: a named outcome for every behaviour, and no memory for what it sends, with and without kept connections.
/// Method: one after another, alone in the process.
#[test]
fn every_behavior_ends_in_its_outcome_with_bounded_time_and_memory() {
    let _alone = alone();
    let mut wrong = Vec::new();
    let mut most = (0, "");
    for (fault, connection) in Fault::all().flat_map(|fault| BOTH.map(|connection| (fault, connection))) {
        let server = server(&[fault.name]);
        let (address, limit) = (server.address(), limit_of(fault));
        let ((outcome, text), grown) =
            growth_kib(|| meet(address, fault.protocol, connection, &workload(), limit));
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

/// Goal: who speaks plain HTTP/1 to a server that answers as for something else, or the other way round, gets an
/// outcome as well. Method: every fault of connections against every driver; which outcome is open, but not `Ok`.
#[test]
fn no_behavior_is_taken_for_a_right_reply_whatever_the_client_speaks() {
    let _alone = alone();
    let strange =
        Fault::all().filter(|fault| fault.affects_connections() && fault.outcome != Outcome::TimedOut);
    for fault in strange {
        for speech in [ClientProtocol::Http1, ClientProtocol::Tls, ClientProtocol::Http2] {
            let server = server(&[fault.name]);
            let (outcome, text) = meet(server.address(), speech, KEEP_ALIVE, &workload(), LIMIT);
            assert_ne!(outcome, Outcome::Ok, "{} over {speech:?}: {text}", fault.name);
        }
    }
}

/// Goal: a body that the server takes no byte of waits for the time limit, not in memory that grows.
#[test]
fn a_window_that_never_opens_ends_at_the_time_limit() {
    let _alone = alone();
    let server = server(&["h2-no-window"]);
    let mut workload = workload();
    workload.requests[usize::from(SMALL)] =
        Request { method: "POST".to_owned(), body: "x".repeat(1 << 20), ..Request::file("/small.html", 500) };
    let (outcome, text) = meet(server.address(), ClientProtocol::Http2, KEEP_ALIVE, &workload, LIMIT);
    assert_eq!(outcome, Outcome::TimedOut, "{text}");
}

/// Goal: nobody goes where a server points (target policy); `faults.rs` has it with a place that listens.
#[test]
fn a_redirect_is_not_followed() {
    let _alone = alone();
    let server = server(&["redirect"]);
    let bench = Bench::kept(server.address());
    let (outcome, text) = bench.run(async |bench| bench.told(SMALL).await);
    assert_eq!((outcome, &*text), (Outcome::WrongStatus, "GET /small.html: status 302, expected 200"));
    assert_eq!(server.stop().unwrap().connections, 1);
}

/// Goal: an operation that was given up leaves no connection behind, whatever the server goes on to send, while the
/// others of the same thread go on. Method: a dozen in a row; the descriptors of both ends are this process's.
#[test]
fn what_is_given_up_is_closed() {
    const N: usize = 12;
    let _alone = alone();
    // A flood needs its time to fill the buffers for our answers to it.
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
            let protocol = Protocol { http: HttpVersion::Http2, ..protocol };
            let origin = origin(server.address(), &protocol, &workload(), &Trust::Any);
            Bench::with(Http2Driver::new(origin)).run(async |bench| left_after(bench, N, limit).await)
        } else {
            let origin = origin(server.address(), &protocol, &workload(), &Trust::Any);
            Bench::with(PlainDriver::new(origin)).run(async |bench| left_after(bench, N, limit).await)
        };
        // The runtime of the driver has some of its own; a connection left open counts twice.
        let n_grown = n_left.saturating_sub(n_before);
        assert!(n_grown < N, "{name}: {n_grown} descriptors more after {N} operations");
    }
}

/// Gives operations up one after another; returns how many descriptors are open then.
async fn left_after<D>(bench: &mut Bench<D>, n_operations: usize, limit: Duration) -> usize
where
    D: Driver<Operation = WebRequest>,
{
    for _ in 0..n_operations {
        assert_eq!(perform(bench, limit).await.0, Outcome::TimedOut);
    }
    // The server sees the last one's end.
    tokio::time::sleep(limit).await;
    n_descriptors()
}

/// Goal: a reset is a reset whether it is noticed together with the last bytes, after them or when we write. Method: often.
#[test]
fn a_reset_over_http2_is_one_whenever_it_is_noticed() {
    let _alone = alone();
    let server = server(&["h2-break"]);
    for _ in 0..100 {
        let (outcome, text) = meet(server.address(), ClientProtocol::Http2, KEEP_ALIVE, &workload(), GENEROUS);
        assert_eq!(outcome, Outcome::Reset, "{text}");
    }
}
