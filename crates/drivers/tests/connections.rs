//! Lifetime of connections, their counts and timestamps, and the side that closes first.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;

use model::{ConnectionLifetime, HttpVersion, Outcome, Request, WebProtocol};
use servers::web::{WebOptions, WebServer};
use units::Nanos;

use crate::common::{
    EMPTY, Fixture, LARGE, Peer, SMALL, connect_time, connection, protocol, read_request, reply_bytes,
    right_reply, server, workload,
};

/// States of /proc/net/tcp (Linux, include/net/tcp_states.h).
const SYN_SENT: u8 = 2;
const TIME_WAIT: u8 = 6;

/// Fetches the small object this many times with one driver; returns the number of connections.
fn connections_for(requests: usize, connection: ConnectionLifetime) -> u64 {
    let server = server(&[]);
    Fixture::new(server.address(), connection).run(async |fixture| {
        for _ in 0..requests {
            assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        }
    });
    let report = server.stop().unwrap();
    assert_eq!(report.requests, requests as u64);
    report.connections
}

#[test]
fn a_kept_connection_carries_as_many_requests_as_allowed() {
    assert_eq!(connections_for(10, ConnectionLifetime::KeepAlive { requests_max: None }), 1);
    assert_eq!(connections_for(10, ConnectionLifetime::KeepAlive { requests_max: Some(3) }), 4);
    assert_eq!(connections_for(10, ConnectionLifetime::KeepAlive { requests_max: Some(10) }), 1);
    assert_eq!(connections_for(10, ConnectionLifetime::KeepAlive { requests_max: Some(1) }), 10);
    assert_eq!(connections_for(5, ConnectionLifetime::PerRequest), 5);
}

#[test]
fn every_http_version_works_with_every_connection_setting() {
    let keep_alive = ConnectionLifetime::KeepAlive { requests_max: None };
    for (http, connection, connections) in [
        (HttpVersion::Http10, ConnectionLifetime::PerRequest, 6),
        (HttpVersion::Http11, ConnectionLifetime::PerRequest, 6),
        (HttpVersion::Http10, keep_alive, 1),
        (HttpVersion::Http11, keep_alive, 1),
    ] {
        let server = server(&[]);
        let protocol = WebProtocol { http, ..protocol(connection) };
        let bytes = Fixture::of(server.address(), &protocol, &workload()).run(async |fixture| {
            let mut bytes = 0;
            for object in [SMALL, LARGE, EMPTY, LARGE, EMPTY, SMALL] {
                let reply = fixture.get(object).await;
                assert_eq!(reply.outcome, Outcome::Ok, "{protocol:?}");
                bytes += reply_bytes(&reply);
            }
            bytes
        });
        let report = server.stop().unwrap();
        assert_eq!((report.connections, report.bytes_sent), (connections, bytes), "{protocol:?}");
    }
}

#[test]
fn on_a_kept_connection_only_the_first_request_connects() {
    let server = server(&[]);
    Fixture::kept(server.address()).run(async |fixture| {
        let first = fixture.get(SMALL).await;
        assert!(connect_time(&first).is_some_and(|time| Nanos::ZERO < time), "{first:?}");
        for _ in 0..3 {
            let next = fixture.get(SMALL).await;
            assert!(connect_time(&next).is_none() && next.done == fixture.complete(), "{next:?}");
        }
    });
}

/// Goal: a reply is complete with its last byte, not with the end of the connection, which nevertheless belongs to the
/// operation. Method: the server closes only when it has seen that the client waits for it.
#[test]
fn done_is_the_close_with_a_connection_per_request() {
    let (tell, told) = channel();
    let peer = Peer::start(vec![connection(move |mut stream| {
        read_request(&mut stream);
        stream.write_all(&right_reply(SMALL, "")).unwrap();
        told.recv().unwrap();
    })]);
    Fixture::new(peer.address, ConnectionLifetime::PerRequest).run(async |fixture| {
        let pause = std::time::Duration::from_millis(50);
        let (reply, ()) = tokio::join!(fixture.get(SMALL), async {
            tokio::time::sleep(pause).await;
            tell.send(()).unwrap();
        });
        assert_eq!(reply.outcome, Outcome::Ok);
        assert!(fixture.complete() < reply.done, "{reply:?}");
    });
    peer.join();
}

/// Goal: a complete response is a success, whichever side closes; the wait for the close is part of the
/// operation and recorded.
#[test]
fn a_complete_reply_is_a_success_even_if_the_server_leaves_the_connection_open() {
    let script = || {
        connection(|mut stream| {
            read_request(&mut stream);
            stream.write_all(&right_reply(SMALL, "")).unwrap();
            assert_eq!(read_request(&mut stream), "", "the client closes");
        })
    };
    let peer = Peer::start(vec![script(), script()]);
    Fixture::new(peer.address, ConnectionLifetime::PerRequest).run(async |fixture| {
        for n in 1..=2 {
            let reply = fixture.get(SMALL).await;
            assert_eq!((reply.outcome, fixture.left_open()), (Outcome::Ok, n));
            let waited = reply.done - fixture.complete();
            assert!(model::CLOSE_WAIT_MAX <= waited, "{waited}");
        }
    });
    peer.join();
}

#[test]
fn a_connection_is_not_reused_after_a_failure() {
    for fault in ["wrong-length", "wrong-bytes", "wrong-status", "truncated", "bad-chunk", "reset"] {
        let server = server(&[&format!("{fault}=/small")]);
        Fixture::kept(server.address()).run(async |fixture| {
            for object in [EMPTY, SMALL, EMPTY, EMPTY, SMALL, LARGE] {
                let reply = fixture.get(object).await;
                assert_eq!(reply.outcome == Outcome::Ok, object != SMALL, "{fault}: {reply:?}");
            }
        });
        assert_eq!(server.stop().unwrap().connections, 3, "{fault}");
    }
}

/// Goal: a server may close a connection that waits for its next request; that is not a failure.
#[test]
fn a_kept_connection_that_the_server_has_closed_is_replaced() {
    let (tell, told) = channel();
    let script = |tell: std::sync::mpsc::Sender<()>| {
        connection(move |mut stream| {
            read_request(&mut stream);
            stream.write_all(&right_reply(SMALL, "")).unwrap();
            drop(stream);
            tell.send(()).unwrap();
        })
    };
    let peer = Peer::start(vec![script(tell.clone()), script(tell.clone()), script(tell)]);
    Fixture::kept(peer.address).run(async |fixture| {
        for _ in 0..3 {
            let reply = fixture.get(SMALL).await;
            assert_eq!(reply.outcome, Outcome::Ok);
            assert!(connect_time(&reply).is_some(), "a new connection");
            told.recv().unwrap();
        }
    });
    peer.join();
}

#[test]
fn a_kept_connection_with_unsolicited_bytes_is_replaced() {
    let (tell, told) = channel();
    let first = connection(move |mut stream| {
        read_request(&mut stream);
        stream.write_all(&right_reply(SMALL, "")).unwrap();
        stream.write_all(b"HTTP/1.1 408 Request Timeout\r\n\r\n").unwrap();
        tell.send(()).unwrap();
        assert_eq!(read_request(&mut stream), "", "no request follows");
    });
    let second = connection(|mut stream| {
        read_request(&mut stream);
        stream.write_all(&right_reply(SMALL, "")).unwrap();
    });
    let peer = Peer::start(vec![first, second]);
    Fixture::kept(peer.address).run(async |fixture| {
        // The kernel decides whether the stray bytes arrive with the response, which is then too long, or
        // after it.
        assert!(matches!(fixture.get(SMALL).await.outcome, Outcome::Ok | Outcome::WrongLength));
        told.recv().unwrap();
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
    });
    peer.join();
}

#[test]
fn connection_close_is_obeyed() {
    let script = || {
        connection(|mut stream| {
            assert!(read_request(&mut stream).starts_with("GET /small.html HTTP/1.1\r\n"));
            stream.write_all(&right_reply(SMALL, "Connection: close\r\n")).unwrap();
            assert_eq!(read_request(&mut stream), "", "the client closes instead of sending another request");
        })
    };
    let peer = Peer::start(vec![script(), script()]);
    Fixture::kept(peer.address).run(async |fixture| {
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
    });
    peer.join();
}

/// Goal: thousands of connections per second do not exhaust the ports of the load machine.
#[test]
fn the_server_closes_first_with_a_connection_per_request() {
    let server = server(&[]);
    let port = server.address().port();
    // The port may be that of another test's server, which has ended, and whose clients closed first.
    let before = waiting();
    Fixture::new(server.address(), ConnectionLifetime::PerRequest).run(async |fixture| {
        for object in [SMALL, LARGE, EMPTY].repeat(10) {
            assert_eq!(fixture.get(object).await.outcome, Outcome::Ok);
        }
    });
    let mut new = waiting();
    new.retain(|entry| !before.contains(entry));
    assert!(new.iter().any(|entry| entry.local_port == port));
    assert!(new.iter().all(|entry| entry.peer_port != port), "{new:?}");
}

/// Goal: a request larger than the socket buffer arrives completely, on new and on kept connections.
#[test]
fn a_request_larger_than_the_socket_buffer_is_sent_in_parts() {
    let path = format!("/{}", "a".repeat(12 << 20));
    let mut workload = workload();
    workload.requests[SMALL as usize] = Request::file(&path, 500);
    let peer = Peer::start(vec![connection(move |mut stream| {
        for _ in 0..2 {
            let request = read_request(&mut stream);
            assert!(request.starts_with("GET /aaa") && request.len() > path.len());
            assert!(request[5..].trim_start_matches('a').starts_with(" HTTP/1.1\r\n"));
            stream.write_all(&right_reply(SMALL, "")).unwrap();
        }
    })]);
    let protocol = protocol(ConnectionLifetime::KeepAlive { requests_max: Some(2) });
    Fixture::of(peer.address, &protocol, &workload).run(async |fixture| {
        for _ in 0..2 {
            assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        }
    });
    peer.join();
}

/// Goal: if connecting takes long, the request follows once the connection is established. Method: the
/// listener's queue is full until the client's first attempt has been dropped; the kernel retries after a
/// second.
#[test]
fn a_slow_connect_is_waited_for() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = listener.local_addr().unwrap();
    let filler = TcpStream::connect(address).unwrap();
    let server = std::thread::spawn(move || {
        while !tcp_table().iter().any(|entry| entry.state == SYN_SENT && entry.peer_port == address.port()) {
            std::thread::yield_now();
        }
        let (first, _) = listener.accept().unwrap();
        let (mut second, _) = listener.accept().unwrap();
        drop((first, filler));
        read_request(&mut second);
        second.write_all(&right_reply(SMALL, "")).unwrap();
    });
    let reply =
        Fixture::new(address, ConnectionLifetime::PerRequest).run(async |fixture| fixture.get(SMALL).await);
    assert_eq!(reply.outcome, Outcome::Ok);
    assert!(connect_time(&reply).unwrap() > Nanos::from_millis(500), "{reply:?}");
    server.join().unwrap();
}

#[test]
fn ipv6_works() {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        // Containers often have no IPv6.
        return;
    }
    let mut options = WebOptions::new(workload().file_set(1.0));
    options.listen = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    let server = WebServer::start(options).unwrap();
    let reply = Fixture::kept(server.address()).run(async |fixture| fixture.get(LARGE).await);
    assert_eq!(reply.outcome, Outcome::Ok);
}

/// An entry in the kernel's table of connections.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    local_port: u16,
    peer_port: u16,
    state: u8,
}

/// Returns the connections in the state TIME_WAIT.
fn waiting() -> Vec<Entry> {
    let mut entries = tcp_table();
    entries.retain(|entry| entry.state == TIME_WAIT);
    entries
}

fn tcp_table() -> Vec<Entry> {
    let mut text = String::new();
    std::fs::File::open("/proc/net/tcp").unwrap().read_to_string(&mut text).unwrap();
    let entry = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let mut port = || u16::from_str_radix(words.next()?.split_once(':')?.1, 16).ok();
        let local_port = port()?;
        let peer_port = port()?;
        Some(Entry { local_port, peer_port, state: u8::from_str_radix(words.next()?, 16).ok()? })
    };
    text.lines().skip(1).filter_map(entry).collect()
}
