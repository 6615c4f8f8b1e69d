//! Reuse of connections.

use std::time::Duration;

use accelerator::message::NoBody;
use accelerator::origin::OriginFailure;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use units::Nanos;

use super::script::{
    ScriptedOrigin, Step, body, get, get_text, origins, reply, request, run, send, settings,
};

#[test]
fn connections_are_reused_after_the_body_is_read() {
    run(async {
        let script = vec![Step::Read, reply("one"), Step::Read, reply("two")];
        let server = ScriptedOrigin::start(vec![script]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        assert_eq!([get_text(&origins).await, get_text(&origins).await], ["one", "two"]);
        let report = &servers.report()[0];
        assert_eq!((report.requests, report.connections, report.failures), (2, 1, 0));
    });
}

#[test]
fn connections_with_close_are_not_reused() {
    let closing = send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\none");
    let old = send("HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\none");
    run(async {
        for first in [closing, old] {
            let bad = vec![Step::Read, first, Step::Read, reply("bad")];
            let server = ScriptedOrigin::start(vec![bad, vec![Step::Read, reply("two")]]).await;
            let (origins, _) = origins(settings(&[server.address]));
            assert_eq!([get_text(&origins).await, get_text(&origins).await], ["one", "two"]);
        }
    });
}

#[test]
fn a_dropped_body_closes_its_connection() {
    run(async {
        let first =
            vec![Step::Read, send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegin"), Step::ReadEnd];
        let server = ScriptedOrigin::start(vec![first, vec![Step::Read, reply("two")]]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        drop(get(&origins).await.unwrap());
        assert_eq!(server.wait_for_received(2).await[1], "");
        assert_eq!((servers.report()[0].in_use, servers.report()[0].failures), (0, 0));
        assert_eq!(get_text(&origins).await, "two");
    });
}

/// The server closes just when the second request arrives, as it may at any time.
fn closing() -> Vec<Step> {
    vec![Step::Read, reply("one"), Step::Read]
}

#[test]
fn safe_requests_are_retried_on_a_stale_connection() {
    run(async {
        let server = ScriptedOrigin::start(vec![closing(), vec![Step::Read, reply("two")]]).await;
        let (origins, servers) = origins(settings(&[server.address]));
        assert_eq!([get_text(&origins).await, get_text(&origins).await], ["one", "two"]);
        assert_eq!(server.received().len(), 3);
        assert_eq!(servers.report()[0].failures, 0);
    });
}

/// Goal: nothing but a new connection is certain not to be closed by a server about which nothing is known; see the
/// unit tests of the pool for what is.
#[test]
fn an_unsafe_request_does_not_meet_the_end_of_an_idle_connection() {
    run(async {
        let server = ScriptedOrigin::start(vec![closing(), vec![Step::Read, reply("two")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        assert_eq!(get_text(&origins).await, "one");
        let mut response = origins.send(&request("POST"), NoBody).await.unwrap();
        assert_eq!(body(&mut response).await.unwrap(), b"two");
    });
}

/// Goal: a server that closes connections after a moment does not fail requests that come just then.
#[test]
fn no_unsafe_request_fails_at_a_server_that_closes_after_20_ms() {
    const IDLE: Duration = Duration::from_millis(20);
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                tokio::spawn(async move {
                    let mut input = [0; 1000];
                    while let Ok(Ok(1..)) = tokio::time::timeout(IDLE, stream.read(&mut input)).await {
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await.unwrap();
                    }
                });
            }
        });
        let (origins, servers) = origins(settings(&[address]));
        for n in 0..40 {
            let mut response = origins.send(&request("POST"), NoBody).await.unwrap();
            assert_eq!(body(&mut response).await.unwrap(), b"ok");
            // The next comes just before, when or after the connection is closed; or at once.
            let pause =
                if n % 4 == 0 { Duration::ZERO } else { IDLE.mul_f64(0.9 + 0.2 * f64::from(n) / 40.0) };
            tokio::time::sleep(pause).await;
            origins.sweep();
        }
        assert_eq!(servers.report()[0].failures, 0);
    });
}

#[test]
fn unsafe_requests_are_never_retried() {
    run(async {
        let first = [vec![Step::Read, reply("one")], closing()].concat();
        let server = ScriptedOrigin::start(vec![first, vec![Step::Read, reply("two")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        assert_eq!(get_text(&origins).await, "one");
        // The server has kept the connection open for so long.
        tokio::time::sleep(Duration::from_millis(500)).await;
        origins.sweep();
        assert_eq!(get_text(&origins).await, "one");
        let failure = origins.send(&request("POST"), NoBody).await.unwrap_err();
        assert_eq!((failure.status(), failure), (502, OriginFailure::Closed));
        assert_eq!(server.received().len(), 3);
    });
}

#[test]
fn safe_requests_are_not_retried_after_response_bytes() {
    run(async {
        let first = [closing(), vec![send("HTTP/1.1 2")]].concat();
        let server = ScriptedOrigin::start(vec![first, vec![Step::Read, reply("two")]]).await;
        let (origins, _) = origins(settings(&[server.address]));
        assert_eq!(get_text(&origins).await, "one");
        assert_eq!(get(&origins).await.unwrap_err(), OriginFailure::Truncated);
    });
}

#[test]
fn the_pool_respects_its_limits() {
    run(async {
        for (idle_max, idle_timeout) in [(0, Nanos::from_secs(9)), (9, Nanos::ZERO)] {
            let script = vec![Step::Read, reply("x"), Step::ReadEnd];
            let server = ScriptedOrigin::start(vec![script.clone(), script]).await;
            let mut settings = settings(&[server.address]);
            (settings.idle_max, settings.idle_timeout) = (idle_max, idle_timeout);
            let (origins, servers) = origins(settings);
            get_text(&origins).await;
            get_text(&origins).await;
            assert_eq!(servers.report()[0].connections, 2);
            origins.sweep();
            server.wait_for_received(4).await;
        }
    });
}
