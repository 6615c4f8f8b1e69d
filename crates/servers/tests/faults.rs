//! Each fault, as a client sees it.

use std::io::ErrorKind;
use std::time::Duration;

use http1::{Framing, HeadError, HeadLimit, MalformedPart, RequestMethod};
use servers::web::{FaultPlan, WebServer};
use units::{Clock, Nanos, RealClock};

use crate::common::{Client, Failure, Reply, content, start};

const PATH: &str = "/small.html";

fn faulty(items: &[&str]) -> WebServer {
    let plan = FaultPlan::parse(items.iter().copied()).unwrap();
    start(|options| options.faults = plan)
}

fn outcome(fault: &str) -> Result<Reply, Failure> {
    Client::connect(faulty(&[fault]).address()).get(PATH)
}

fn reply(fault: &str) -> Reply {
    outcome(fault).unwrap()
}

#[test]
fn wrong_length_is_consistent_but_differs_from_the_file() {
    let reply = reply("wrong-length");
    assert_eq!((reply.head.framing, reply.body.len()), (Framing::Length(501), 501));
}

#[test]
fn truncated_closes_after_half_the_body() {
    assert_eq!(outcome("truncated"), Err(Failure::Truncated(250)));
}

#[test]
fn truncated_affects_empty_files_too() {
    let server = faulty(&["truncated"]);
    assert_eq!(Client::connect(server.address()).get("/empty.html"), Err(Failure::Truncated(0)));
}

#[test]
fn wrong_bytes_changes_one_byte_in_the_middle() {
    let found = reply("wrong-bytes").body;
    let right = content(PATH);
    let differing: Vec<usize> = (0..500).filter(|k| found[*k] != right[*k]).collect();
    assert_eq!((found.len(), differing), (500, vec![250]));
}

#[test]
fn wrong_status_is_500() {
    assert_eq!(reply("wrong-status").head.status, 500);
}

#[test]
fn malformed_and_oversized_heads_are_refused() {
    let malformed = HeadError::Malformed(MalformedPart::StatusLine);
    assert_eq!(outcome("malformed-head"), Err(Failure::Head(malformed)));
    assert_eq!(outcome("oversized-head"), Err(Failure::Head(HeadError::Oversized(HeadLimit::Bytes))));
    assert_eq!(outcome("duplicate-lengths"), Err(Failure::Head(HeadError::ConflictingLengths)));
}

#[test]
fn a_bad_chunk_is_a_body_error() {
    assert_eq!(outcome("bad-chunk"), Err(Failure::Chunk));
}

#[test]
fn reset_resets_the_connection() {
    assert_eq!(outcome("reset"), Err(Failure::Broken(ErrorKind::ConnectionReset)));
}

#[test]
fn early_close_sends_nothing() {
    assert_eq!(outcome("early-close"), Err(Failure::NoHead));
}

/// Goal: a stalled request outlives the idle timeout, and others are served meanwhile.
#[test]
fn a_stall_is_never_answered() {
    let plan = FaultPlan::parse(["stall=/small"]).unwrap();
    let server = start(|options| {
        options.faults = plan;
        options.idle_timeout = Nanos::from_millis(20);
    });
    let mut stalled = Client::connect(server.address());
    stalled.stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert_eq!(stalled.get(PATH), Err(Failure::Broken(ErrorKind::WouldBlock)));
    assert_eq!(Client::connect(server.address()).get("/").unwrap().body, content("/"));
}

#[test]
fn a_slow_drip_is_correct_but_slow() {
    let server = faulty(&["slow-drip"]);
    let clock = RealClock::start();
    assert_eq!(Client::connect(server.address()).get(PATH).unwrap().body, content(PATH));
    assert!(Nanos::from_millis(15 * 20) <= clock.now(), "{}", clock.now());
}

#[test]
fn faults_affect_only_gets_of_their_paths_and_are_counted() {
    let server = faulty(&["wrong-status=/small", "early-close=/large"]);
    let mut client = Client::connect(server.address());
    assert_eq!(client.get("/").unwrap().body, content("/"));
    assert_eq!(client.get(PATH).unwrap().head.status, 500);
    let head = format!("HEAD {PATH} HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.send(&head).reply(RequestMethod::Head).unwrap().head.status, 200);
    assert_eq!(client.get("/large.bin"), Err(Failure::NoHead));
    let report = server.stop().unwrap();
    assert_eq!((report.requests, report.faults), (4, 2));
}

/// Goal: one freeze of the given length, for all clients. Method: requests one after another until one took
/// long; then another on a new connection, which is fast again.
#[test]
fn a_freeze_stops_the_whole_server_once() {
    let server = faulty(&["freeze=0.1+0.4"]);
    let clock = RealClock::start();
    let mut client = Client::connect(server.address());
    let (begun, ended) = loop {
        let sent = clock.now();
        client.get(PATH).unwrap();
        let done = clock.now();
        if Nanos::from_millis(200) < done - sent || Nanos::from_secs(5) < done {
            break (sent, done);
        }
    };
    assert!(Nanos::from_millis(90) <= begun, "{begun}");
    assert!(Nanos::from_millis(380) <= ended - begun, "{}", ended - begun);
    assert!(Client::connect(server.address()).get(PATH).is_ok());
    assert!(clock.now() - ended < Nanos::from_millis(380));
}
