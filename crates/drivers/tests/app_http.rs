//! The driver of the application server family over HTTP, against scripted peers.

use std::io::{Read, Write};
use std::net::TcpStream;

use drivers::app::{AppContext, AppDriver};
use model::{AppRequest, AppSuite, Outcome, Reply, app_measure};
use units::RealClock;

use crate::common::{APP_MESSAGE_BYTES, Peer, TRANSACTION_MAX, app_workload, connection, perform_all};

/// Opens a session and makes these many transactions of the first kind of a suite; each with its description.
fn perform(peer: &Peer, suite: AppSuite, n: u64) -> Vec<(Reply, String)> {
    let clock = RealClock::start();
    let address = peer.address;
    let context = AppContext::new(&app_workload(suite), &address.to_string(), address, &[], clock).unwrap();
    let (transaction, _) = suite.transactions()[0];
    let bytes = if transaction.needs_file() { 0 } else { APP_MESSAGE_BYTES };
    let requests: Vec<_> = (0..n).map(|number| AppRequest { kind: 0, transaction, bytes, number }).collect();
    let replies = perform_all(AppDriver::new(context, 3), clock, &requests, TRANSACTION_MAX).unwrap();
    replies.into_iter().map(|reply| reply.expect("in time")).collect()
}

/// Reads a request with its body; returns its path.
fn read_path(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let n = stream.read(&mut piece).unwrap();
        bytes.extend_from_slice(&piece[..n]);
        if let Ok(http1::ParseStatus::Complete { head, length }) = http1::parse_request(&bytes)
            && head.framing == http1::Framing::Length((bytes.len() - length) as u64)
        {
            return String::from_utf8_lossy(&bytes[head.target]).into_owned();
        }
        assert_ne!(n, 0, "the client closed instead of sending a request");
    }
}

/// Answers requests on one connection: each with the path that it must have, the fields and the body of the reply.
fn answer(mut stream: TcpStream, exchanges: &[(&str, &str, &str)]) {
    for (path, fields, body) in exchanges {
        assert_eq!(read_path(&mut stream), *path);
        let (status, fields) = fields.split_once(' ').unwrap_or((fields, ""));
        let head = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
        stream.write_all([head.as_bytes(), body.as_bytes()].concat().as_slice()).unwrap();
    }
}

/// Answers the requests of each connection in turn.
fn peer(connections: &'static [&'static [(&str, &str, &str)]]) -> Peer {
    let scripts = connections.iter().map(|exchanges| connection(|stream| answer(stream, exchanges)));
    Peer::start(scripts.collect())
}

const PHASE: (&str, &str, &str) =
    ("/v1/phase/3?file=20971520&range=49152&io=buffered&cold=false", "200", "0");

#[test]
fn measures_are_the_times_that_a_server_states() {
    let peer = peer(&[&[
        PHASE,
        ("/v1/rread/3?block=0", "200 Server-Timing: queue;dur=0.001, service;dur=0.002\r\n", "0"),
        ("/v1/rread/3?block=1", "200 Server-Timing: service;dur=0\r\n", "1"),
        ("/v1/rread/3?block=2", "200", "2"),
    ]]);
    let replies = perform(&peer, AppSuite::Disk, 3);
    peer.join();
    let times = replies.iter().map(|(reply, text)| {
        assert_eq!(reply.outcome, Outcome::Ok, "{text}");
        [app_measure::QUEUE, app_measure::SERVICE].map(|measure| reply.measured.get(measure))
    });
    assert_eq!(times.collect::<Vec<_>>(), [[Some(1000), Some(2000)], [None, Some(0)], [None, None]]);
    let bytes = |measure| replies[2].0.measured.get(measure);
    let request = "POST /v1/rread/3?block=2 HTTP/1.1\r\nHost: 127.0.0.1:12345\r\nContent-Length: 0\r\n\r\n";
    let sent = bytes(app_measure::SENT_BYTES).unwrap();
    // A port has up to five digits.
    assert!(sent <= request.len() as u64 && request.len() as u64 - 4 <= sent, "{sent}");
    assert_eq!(bytes(app_measure::RECEIVED_BYTES), Some(38));
}

/// A server that closes connections costs the next transaction a connection, and no preparation; one that has forgotten
/// the client is introduced to it again.
#[test]
fn what_a_server_knows_of_a_client_outlives_connections() {
    let peer = peer(&[
        &[PHASE, ("/v1/rread/3?block=0", "200 Connection: close\r\n", "0")],
        &[("/v1/rread/3?block=1", "409", "")],
        &[PHASE, ("/v1/rread/3?block=2", "200", "2")],
    ]);
    let outcomes: Vec<_> = perform(&peer, AppSuite::Disk, 3).iter().map(|(reply, _)| reply.outcome).collect();
    peer.join();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::WrongStatus, Outcome::Ok]);
}

#[test]
fn faults_are_named_outcomes() {
    let peer = peer(&[&[
        PHASE,
        ("/v1/rread/3?block=0", "503", "later"),
        ("/v1/rread/3?block=1", "507", ""),
        ("/v1/rread/3?block=2", "200", "1"),
        ("/v1/rread/3?block=3", "200 Server-Timing: queue;dur=9e9\r\n", "3"),
        ("/v1/rread/3?block=4", "200", "none"),
        ("/v1/rread/3?block=5", "200 Server-Timing: queue;dur=-1\r\n", "5"),
        ("/v1/rread/3?block=6", "200", "6"),
    ]]);
    let found = perform(&peer, AppSuite::Disk, 7);
    peer.join();
    let lines =
        found.iter().map(|(reply, text)| format!("{} ({}): {text}", reply.outcome.name(), reply.code));
    insta::assert_snapshot!(lines.take(6).collect::<Vec<_>>().join("\n"), @"
    busy (503): RREAD: the server answered with status 503: Service Unavailable
    wrong status (507): RREAD: the server answered with status 507: Insufficient Storage
    wrong bytes (4): RREAD: the reply has the wrong result 0x1, or a wrong payload
    inconsistent (2): RREAD: the server's times of queue and service, 9000000000000000 ns, are longer than the response, or go back
    wrong bytes (4): RREAD: the reply has the wrong result 0x0, or a wrong payload
    malformed head (0): RREAD: the reply is not HTTP/1, or its `Server-Timing` has a wrong duration
    ");
    assert_eq!(found[6].0.outcome, Outcome::Ok);
}

/// The content of seed 0 begins `afcd1d7b39a820e2 f4`.
#[test]
fn the_server_states_the_checksum_of_a_message() {
    let right = frame::Crc32::of(&[0xAF, 0xCD, 0x1D, 0x7B, 0x39, 0xA8, 0x20, 0xE2, 0xF4]);
    let right: &'static str = right.to_string().leak();
    let exchanges = [("/v1/phase/3", "200", "0"), ("/v1/cs/3", "200", right), ("/v1/cs/3", "200", right)];
    let peer = Peer::start(vec![connection(move |stream| answer(stream, &exchanges))]);
    let replies = perform(&peer, AppSuite::Network, 2);
    peer.join();
    assert_eq!(
        replies.iter().map(|(reply, _)| reply.outcome).collect::<Vec<_>>(),
        [Outcome::Ok, Outcome::WrongBytes]
    );
    let right: u64 = right.parse().unwrap();
    assert_eq!(replies[1].1, format!("CS: the reply has the wrong result {right:#x}, or a wrong payload"));
}
