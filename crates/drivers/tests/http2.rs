//! HTTP/2: streams on shared connections, their creation and replacement, and every way in which they fail.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use drivers::Trust;
use drivers::web::{HandshakeCounts, Http2Driver, WebContext};
use futures::stream::{FuturesUnordered, StreamExt};
use h2::Reason;
use http::Response;
use model::{
    ConnectionLifetime, HttpVersion, Outcome, ReplyBody, Request, Tls, WebProtocol, WebRequest, web_measure,
};
use rustls::version::TLS13;
use units::Nanos;

use crate::common::{
    Action, EMPTY, Fixture, Http2Server, Identity, LARGE, Peer, RoundRobin, SMALL, accept, closed,
    connect_time, connection, content, context, phases, protocol, run_drivers, workload,
};

const KEEP_ALIVE: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: None };

fn over_http2(connection: ConnectionLifetime, streams: u32) -> WebProtocol {
    WebProtocol { http: HttpVersion::Http2, streams, ..protocol(connection) }
}

fn context_for(server: &Http2Server, connection: ConnectionLifetime, streams: u32) -> Rc<WebContext> {
    context(server.address, &over_http2(connection, streams), &workload(), &Trust::Any)
}

fn one_of(web: &Rc<WebContext>) -> Fixture<Http2Driver> {
    Fixture::with(Http2Driver::new(Rc::clone(web)))
}

fn one(server: &Http2Server) -> Fixture<Http2Driver> {
    one_of(&context_for(server, KEEP_ALIVE, 1))
}

fn good() -> Http2Server {
    Http2Server::start(None, |_, _, _| Action::Answer)
}

#[test]
fn objects_of_all_sizes_arrive_over_one_connection() {
    let identity = Identity::create();
    for tls in [Tls::Off, Tls::Full] {
        let config = (tls != Tls::Off).then(|| identity.config(&TLS13, &[b"h2"]));
        let server = Http2Server::start(config, |_, _, _| Action::Answer);
        let protocol = WebProtocol { tls, ..over_http2(KEEP_ALIVE, 1) };
        let web = context(server.address, &protocol, &workload(), &identity.trust());
        one_of(&web).run(async |fixture| {
            let first = fixture.get(SMALL).await;
            assert!(connect_time(&first).is_some(), "a connection was made");
            for object in [LARGE, EMPTY, LARGE, LARGE, LARGE, SMALL] {
                let reply = fixture.get(object).await;
                assert_eq!((reply.outcome, connect_time(&reply)), (Outcome::Ok, None), "{tls:?}");
            }
        });
        assert_eq!(server.connections(), 1);
        assert_eq!(web.handshakes(), HandshakeCounts { full: u64::from(tls == Tls::Full), resumed: 0 });
    }
}

/// Goal: users share connections as the plan says, concurrently, and one of each group connects.
#[test]
fn users_share_connections_in_groups() {
    let server = good();
    let web = context_for(&server, KEEP_ALIVE, 4);
    one_of(&web).run(async |first| {
        let mut others: Vec<_> = (1..10).map(|_| one_of(&web)).collect();
        for round in 0..3 {
            let mut gets = FuturesUnordered::new();
            gets.push(first.get(LARGE));
            gets.extend(others.iter_mut().map(|fixture| fixture.get(LARGE)));
            let mut n_made = 0;
            while let Some(reply) = gets.next().await {
                assert_eq!(reply.outcome, Outcome::Ok);
                n_made += usize::from(connect_time(&reply).is_some());
            }
            assert_eq!(n_made, if round == 0 { 3 } else { 0 });
        }
    });
    assert_eq!(server.connections(), 3);
}

/// Goal: no operation is lost where many users share connections, and connections are counted where they are
/// opened.
#[test]
fn no_operation_is_lost_with_many_users() {
    let identity = Identity::create();
    for tls in [Tls::Off, Tls::Full] {
        let config = (tls != Tls::Off).then(|| identity.config(&TLS13, &[b"h2"]));
        let server = Http2Server::start(config, |_, _, _| Action::Answer);
        let protocol = WebProtocol { tls, ..over_http2(KEEP_ALIVE, 50) };
        let web = context(server.address, &protocol, &workload(), &identity.trust());
        let driver = || Http2Driver::new(Rc::clone(&web));
        let steady = phases(Nanos::from_millis(500));
        let limit = Nanos::from_secs(60);
        let (run, _) = run_drivers(driver, closed(200), steady, limit, RoundRobin::over(2));
        run.check_conservation();
        let failures = run.sum(|flow| flow.failed + flow.timed_out + flow.abandoned + flow.skipped);
        assert_eq!((failures, run.examples.len()), (0, 0), "{:?}", run.examples);
        assert!(200 <= run.sum(|flow| flow.ok));
        let connected: u64 = run
            .intervals
            .iter()
            .flat_map(|record| &record.kinds)
            .map(|kind| kind.measure(web_measure::CONNECT).n)
            .sum();
        assert_eq!((server.connections(), connected), (4, 4));
    }
}

#[test]
fn a_server_that_never_answers_costs_only_the_time_limit() {
    let server = Http2Server::start(None, |_, _, _| Action::Stall);
    let web = context_for(&server, KEEP_ALIVE, 10);
    let driver = || Http2Driver::new(Rc::clone(&web));
    let steady = phases(Nanos::from_millis(300));
    let limit = Nanos::from_millis(100);
    let (run, took) = run_drivers(driver, closed(20), steady, limit, RoundRobin::over(1));
    run.check_conservation();
    let timed_out = run.n_failed(Outcome::TimedOut);
    assert!(20 <= timed_out && run.sum(|flow| flow.started) == timed_out, "{timed_out}");
    // 0.3 s of load and one time limit would do; twenty times that is a hang.
    assert!(took < Nanos::from_secs(8), "{took}");
}

#[test]
fn a_connection_carries_as_many_requests_as_allowed() {
    for (connection, connections) in [
        (KEEP_ALIVE, 1),
        (ConnectionLifetime::KeepAlive { requests_max: Some(3) }, 4),
        (ConnectionLifetime::KeepAlive { requests_max: Some(10) }, 1),
        (ConnectionLifetime::PerRequest, 10),
    ] {
        let server = good();
        one_of(&context_for(&server, connection, 1)).run(async |fixture| {
            for _ in 0..10 {
                assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
            }
        });
        assert_eq!(server.connections(), connections, "{connection:?}");
    }
}

#[test]
fn the_last_request_of_a_session_ends_an_unshared_connection() {
    let server = good();
    one_of(&context_for(&server, ConnectionLifetime::Sessions, 1)).run(async |fixture| {
        for closes in [false, true, false, false, true, true] {
            let request = WebRequest { closes, ..WebRequest::first(SMALL) };
            assert_eq!(fixture.perform(&request).await.outcome, Outcome::Ok);
        }
    });
    assert_eq!(server.connections(), 3);
}

/// Goal: a graceful end is not a failure: a request that came too late is retried on another connection.
#[test]
fn a_connection_that_the_server_ends_gracefully_is_replaced() {
    let server = Http2Server::start(None, |_, request, _| match request {
        2 => Action::AnswerLast,
        _ => Action::Answer,
    });
    one(&server).run(async |fixture| {
        for _ in 0..9 {
            assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        }
    });
    assert_eq!(server.connections(), 3);
}

/// Builds an HTTP/2 frame (RFC 9113 §4.1).
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    [&[0, (payload.len() >> 8) as u8, payload.len() as u8, kind, flags, 0, 0, 0, stream], payload].concat()
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;

/// Starts a peer that sends the same frames on each of this many connections, whatever it receives.
fn frames(connections: usize, bytes: &[u8]) -> Peer {
    let script = |bytes: Vec<u8>| {
        connection(move |mut stream| {
            stream.write_all(&bytes).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        })
    };
    Peer::start((0..connections).map(|_| script(bytes.to_vec())).collect())
}

#[test]
fn a_server_that_ends_every_connection_is_retried_a_bounded_number_of_times() {
    let peer = frames(4, &[frame(SETTINGS, 0, 0, &[]), frame(GO_AWAY, 0, 0, &[0; 8])].concat());
    let web = context(peer.address, &over_http2(KEEP_ALIVE, 1), &workload(), &Trust::Any);
    let (outcome, text) = one_of(&web).run(async |fixture| fixture.get_described(SMALL).await);
    assert_eq!(outcome, Outcome::Http2Failed, "{text}");
    assert!(text.ends_with("the server ends each connection before it processes the request"), "{text}");
    peer.join();
}

/// A server may send a reason with GOAWAY, up to 16 KiB of any bytes (RFC 9113 §6.8).
#[test]
fn goaway_debug_data_is_truncated_and_escaped() {
    let said = ["\u{1b}[31mRED\u{9b}2J\nerror: forged ".as_bytes(), &[b'x'; 16_000]].concat();
    let inadequate_security = [0, 0, 0, 0, 0, 0, 0, 12];
    let go_away = frame(GO_AWAY, 0, 0, &[&inadequate_security, &said[..]].concat());
    let peer = frames(1, &[frame(SETTINGS, 0, 0, &[]), go_away].concat());
    let web = context(peer.address, &over_http2(KEEP_ALIVE, 1), &workload(), &Trust::Any);
    let (outcome, text) = one_of(&web).run(async |fixture| fixture.get_described(SMALL).await);
    assert_eq!(outcome, Outcome::Http2Failed, "{text}");
    assert!(!text.contains(char::is_control) && text.contains("forged"), "{text}");
    assert!(text.len() < 500 && text.ends_with("bytes in all)"), "{} bytes: {text}", text.len());
    drop(web);
    peer.join();
}

/// Goal: any number of interim responses is accepted (RFC 9110 section 15.2); `hostile` tests the bound on
/// their bytes.
#[test]
fn any_number_of_interim_responses_may_precede_the_final_one() {
    let server = Http2Server::start(None, |_, request, _| Action::AnswerAfterHints([1, 9, 500][request]));
    one(&server).run(async |fixture| {
        for _ in 0..3 {
            let (outcome, text) = fixture.get_described(SMALL).await;
            assert_eq!(outcome, Outcome::Ok, "{text}");
        }
    });
    assert_eq!(server.connections(), 1);
}

/// Reads up to the next frame with a request head; returns its stream, or `None` at the end.
fn next_request(stream: &mut impl Read) -> Option<u8> {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).ok()?;
        if &head == b"PRI * HTT" {
            stream.read_exact(&mut [0; 15]).unwrap();
            continue;
        }
        let length = usize::from(head[1]) << 8 | usize::from(head[2]);
        stream.read_exact(&mut vec![0; length]).unwrap();
        if head[3] == HEADERS {
            return Some(head[8]);
        }
    }
}

/// Goal: over HTTP/2, too, a connection ends with the server's `close_notify`, whether its socket is closed
/// or not: seen before the next request, or only after it was sent.
#[test]
fn a_connection_ended_by_close_notify_is_replaced() {
    let identity = Identity::create();
    let config = identity.config(&TLS13, &[b"h2"]);
    let answers = |n: usize, is_late: bool, tell: Sender<()>| {
        let config = Arc::clone(&config);
        connection(move |stream| {
            let mut stream = accept(stream, &config);
            stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
            for _ in 0..n {
                let id = next_request(&mut stream).unwrap();
                let head = frame(HEADERS, 4, id, &[0x88]);
                stream.write_all(&[head, frame(DATA, 1, id, &content(SMALL))].concat()).unwrap();
            }
            if is_late {
                next_request(&mut stream).unwrap();
            }
            stream.conn.send_close_notify();
            stream.flush().unwrap();
            tell.send(()).unwrap();
            let _ = stream.sock.read_to_end(&mut Vec::new());
        })
    };
    let (tell, told) = channel();
    let peer = Peer::start(vec![
        answers(2, false, tell.clone()),
        answers(2, true, tell.clone()),
        answers(1, true, tell),
    ]);
    let protocol = WebProtocol { tls: Tls::Full, ..over_http2(KEEP_ALIVE, 1) };
    let web = context(peer.address, &protocol, &workload(), &identity.trust());
    one_of(&web).run(async |fixture| {
        for n in 0..5 {
            let (outcome, text) = fixture.get_described(SMALL).await;
            assert_eq!(outcome, Outcome::Ok, "request {n}: {text}");
            if n == 1 {
                told.recv().unwrap();
                // As after a think time.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    });
    assert_eq!(web.handshakes(), HandshakeCounts { full: 3, resumed: 0 });
    drop(web);
}

/// Goal: without TLS, too, a reused connection that ends in place of a reply costs no operation; nor does a GOAWAY with an
/// error, or a refused stream. A request that may have been processed is made again only if it is idempotent.
#[test]
fn what_is_lost_on_a_reused_connection_is_requested_again_once() {
    let go_away = frame(GO_AWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 11]);
    let refused = frame(RST_STREAM, 0, 3, &[0, 0, 0, 7]);
    let script = |end: Vec<u8>| {
        connection(move |mut stream| {
            stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
            answer_next(&mut stream);
            if next_request(&mut stream).is_some() {
                stream.write_all(&end).unwrap();
                let is_kept = end.get(3) == Some(&RST_STREAM);
                assert_eq!(is_kept && answer_next(&mut stream), is_kept);
            }
        })
    };
    for (end, connections, lost, refused) in [(Vec::new(), 2, 1, 0), (go_away, 2, 1, 0), (refused, 1, 0, 1)] {
        let scripts = (0..connections).map(|_| script(end.clone())).collect();
        let peer = Peer::start(scripts);
        let web = context(peer.address, &over_http2(KEEP_ALIVE, 1), &workload(), &Trust::Any);
        one_of(&web).run(async |fixture| {
            for n in 0..2 {
                let (outcome, text) = fixture.get_described(SMALL).await;
                assert_eq!(outcome, Outcome::Ok, "request {n} of {end:?}: {text}");
            }
        });
        let found = web.kept_connections();
        assert_eq!((found.lost, found.refused), (lost, refused), "{end:?}");
        drop(web);
        peer.join();
    }
}

/// Answers the next request; returns whether there was one.
fn answer_next(stream: &mut TcpStream) -> bool {
    let Some(id) = next_request(stream) else { return false };
    let head = frame(HEADERS, 4, id, &[0x88]);
    stream.write_all(&[head, frame(DATA, 1, id, &content(SMALL))].concat()).unwrap();
    true
}

/// Goal: bounded memory for answers to a hostile server. The peer can send no more than the socket buffers
/// hold.
#[test]
fn a_flood_of_pings_and_settings_is_bounded() {
    for flood in [frame(PING, 0, 0, &[7; 8]).repeat(1000), frame(SETTINGS, 0, 0, &[]).repeat(1000)] {
        let peer = Peer::start(vec![connection(move |mut stream| {
            stream.write_all(&frame(SETTINGS, 0, 0, &[])).unwrap();
            stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
            let mut sent = 0;
            while sent < 64 << 20 && stream.write_all(&flood).is_ok() {
                sent += flood.len();
            }
            assert!(sent < 64 << 20);
        })]);
        let web = context(peer.address, &over_http2(KEEP_ALIVE, 1), &workload(), &Trust::Any);
        let outcome = one_of(&web).run(async |fixture| {
            let limited = tokio::time::timeout(Duration::from_secs(5), fixture.get(SMALL)).await;
            limited.map(|reply| reply.outcome)
        });
        assert!(outcome.is_err() || outcome.unwrap() != Outcome::Ok);
        drop(web);
        peer.join();
    }
}

/// Checks the outcome of a first request under a rule; the second one succeeds, over this many connections in
/// total.
fn check(connections: usize, rule: fn() -> Action, outcome: Outcome, text: &str) {
    let server = Http2Server::start(None, move |connection, request, _| match (connection, request) {
        (0, 0) => rule(),
        _ => Action::Answer,
    });
    one(&server).run(async |fixture| {
        let (found, words) = fixture.get_described(SMALL).await;
        assert_eq!(found, outcome, "{words}");
        assert_eq!(words, format!("GET /small.html: {text}"));
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
    });
    assert_eq!(server.connections(), connections, "{text}");
}

#[test]
fn failures_of_a_stream_do_not_affect_the_connection() {
    let text = "stream reset: stream error received: stream no longer needed";
    check(1, || Action::BreakOff(Reason::CANCEL), Outcome::StreamReset, text);
    check(
        1,
        || Action::Reply(Response::builder().status(404).body(b"no".to_vec()).unwrap()),
        Outcome::WrongStatus,
        "status 404, expected 200",
    );
    check(
        1,
        || Action::Reply(Response::builder().status(302).header("location", "/x").body(vec![]).unwrap()),
        Outcome::WrongStatus,
        "status 302, expected 200",
    );
    check(
        1,
        || Action::Reply(Response::new(vec![b'x'; 500])),
        Outcome::WrongBytes,
        "wrong byte at position 0 of the body",
    );
    check(
        1,
        || Action::Reply(Response::new(Vec::new())),
        Outcome::WrongLength,
        "body of 0 bytes, expected 500",
    );
    check(
        1,
        || Action::Reply(Response::builder().header("content-length", "7").body(vec![b'x'; 7]).unwrap()),
        Outcome::WrongLength,
        "body of 7 bytes, expected 500",
    );
    check(
        1,
        || Action::Reply(Response::builder().header("content-encoding", "gzip").body(vec![1]).unwrap()),
        Outcome::WrongEncoding,
        "body with an unrequested `Content-Encoding`",
    );
}

/// Goal: the same rule as over HTTP/1, where any line counts and a line need not name a coding.
#[test]
fn a_body_is_encoded_if_any_content_encoding_line_names_a_coding() {
    for (lines, outcome) in [
        (&[""][..], Outcome::Ok),
        (&["Identity"], Outcome::Ok),
        (&["identity", "gzip"], Outcome::WrongEncoding),
        (&["", "br"], Outcome::WrongEncoding),
    ] {
        let server = Http2Server::start(None, move |_, _, _| {
            let reply = Response::builder();
            let reply = lines.iter().fold(reply, |reply, line| reply.header("content-encoding", *line));
            Action::Reply(reply.body(content(SMALL)).unwrap())
        });
        one(&server).run(async |fixture| {
            assert_eq!(fixture.get(SMALL).await.outcome, outcome, "{lines:?}");
        });
    }
}

#[test]
fn failures_of_a_connection_are_named_and_it_is_replaced() {
    check(
        2,
        || Action::GoAway(Reason::ENHANCE_YOUR_CALM),
        Outcome::Http2Failed,
        "http2 failed: connection error received: detected excessive load generating behavior",
    );
    // The kernel decides whether our last frames are still in transit and are answered with a reset.
    let server = Http2Server::start(None, |connection, _, _| match connection {
        0 => Action::Close,
        _ => Action::Answer,
    });
    one(&server).run(async |fixture| {
        assert!(matches!(fixture.get(SMALL).await.outcome, Outcome::Truncated | Outcome::Reset));
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
    });
    assert_eq!(server.connections(), 2);
}

/// Goal: a user whose request timed out continues on another connection, since the cause is unknown.
#[test]
fn a_connection_is_not_reused_after_a_timeout() {
    let server = Http2Server::start(None, |connection, _, _| match connection {
        0 => Action::Stall,
        _ => Action::Answer,
    });
    one(&server).run(async |fixture| {
        let patience = Duration::from_millis(100);
        assert!(tokio::time::timeout(patience, fixture.get(SMALL)).await.is_err());
        fixture.give_up();
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
    });
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_peer_without_http2_has_its_own_outcome() {
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"[..], &[0xff; 100]] {
        let peer = Peer::start(vec![connection(move |mut stream| {
            stream.write_all(bytes).unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        })]);
        let web = context(peer.address, &over_http2(KEEP_ALIVE, 1), &workload(), &Trust::Any);
        let (outcome, text) = one_of(&web).run(async |fixture| fixture.get_described(SMALL).await);
        assert_eq!(outcome, Outcome::Http2Failed, "{text}");
        drop(web);
        peer.join();
    }
}

#[test]
fn a_tls_server_without_http2_is_refused() {
    let identity = Identity::create();
    for (alpn, outcome) in [(&[][..], Outcome::Http2Failed), (&[&b"http/1.1"[..]][..], Outcome::TlsFailed)] {
        let server = Http2Server::start(Some(identity.config(&TLS13, alpn)), |_, _, _| Action::Answer);
        let protocol = WebProtocol { tls: Tls::Full, ..over_http2(KEEP_ALIVE, 1) };
        let web = context(server.address, &protocol, &workload(), &identity.trust());
        let (found, text) = one_of(&web).run(async |fixture| fixture.get_described(SMALL).await);
        assert_eq!(found, outcome, "{text}");
    }
}

#[test]
fn methods_headers_bodies_and_parameters_are_sent() {
    let mut workload = workload();
    workload.requests = vec![Request {
        method: "POST".to_owned(),
        headers: vec![("X-Kind".to_owned(), "a".to_owned())],
        body: "hello".to_owned(),
        reply: ReplyBody::Contains("ok".to_owned()),
        status: 201,
        ..Request::file("/make?x=1", 0)
    }];
    let server = Http2Server::start(None, |_, _, request| {
        let text = |name: &str| request.headers().get(name).map_or("", |value| value.to_str().unwrap());
        let right = request.method() == "POST"
            && request.uri().path_and_query().unwrap() == "/make?x=1"
            && request.uri().authority().unwrap().host() == "localhost"
            && (text("x-kind"), text("accept"), text("content-length")) == ("a", "*/*", "5");
        Action::Reply(
            Response::builder().status(201).body(if right { "it is ok" } else { "?" }.into()).unwrap(),
        )
    });
    let web = context(server.address, &over_http2(KEEP_ALIVE, 1), &workload, &Trust::Any);
    let told = one_of(&web).run(async |fixture| fixture.perform_described(&WebRequest::first(0)).await);
    assert_eq!(told.0, Outcome::Ok, "{}", told.1);
}
