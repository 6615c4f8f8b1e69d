//! Ends of connections: in order, by a limit, or because the client is gone.

use std::time::Duration;

use accelerator::frontend::ClientLimits;
use accelerator::frontend::http2::{ConnectionEnd, Http2Settings};
use accelerator::message::BodyError;
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::frames::{
    END_HEADERS, END_STREAM, HEADERS, PING, SETTINGS, WINDOW_UPDATE, frame, next_frame, preface, request,
};
use super::service::{Client, LARGE_BYTES, SHORT, connect, fixture, get, limits, run, usual};

/// Some short time limits.
fn short(times: u32) -> Duration {
    times * Duration::from_nanos(SHORT.0)
}

/// Waits for a reply for some short time limits.
async fn wait_for_reply(client: &mut Client, times: u32) {
    let script = client.script.clone();
    let going = async {
        tokio::time::sleep(short(times)).await;
        script.go.notify_one();
    };
    let (got, ()) = tokio::join!(client.ask(get("/hold")), going);
    assert_eq!(got.unwrap().body, b"held");
}

#[test]
fn connections_without_preface_are_closed() {
    run(async {
        let mut limits = limits();
        limits.head_timeout = SHORT;
        let mut silent = fixture(limits, Http2Settings::default());
        silent.near.write_all(&preface()[..10]).await.unwrap();
        assert!(matches!(silent.serving.await.unwrap(), ConnectionEnd::NoPreface));
        let mut other = fixture(limits, Http2Settings::default());
        other.near.write_all(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").await.unwrap();
        assert!(matches!(other.serving.await.unwrap(), ConnectionEnd::Failed(_)));
        let gone = fixture(limits, Http2Settings::default());
        drop(gone.near);
        assert!(matches!(gone.serving.await.unwrap(), ConnectionEnd::Closed));
    });
}

#[test]
fn idle_connections_get_goaway() {
    run(async {
        let mut limits = limits();
        limits.idle_timeout = SHORT;
        let mut client = connect(limits, Http2Settings::default(), 65_535).await;
        assert_eq!(client.ask(get("/hello")).await.unwrap().body, b"hello");
        drop(client.connection.await.unwrap());
        assert!(matches!(client.serving.await.unwrap(), ConnectionEnd::Closed | ConnectionEnd::Idle));
    });
}

#[test]
fn requests_in_progress_prevent_idle_timeout() {
    run(async {
        let mut limits = limits();
        limits.idle_timeout = SHORT;
        let mut client = connect(limits, Http2Settings::default(), 65_535).await;
        wait_for_reply(&mut client, 5).await;
    });
}

#[test]
fn stop_completes_requests_and_accepts_no_more() {
    run(async {
        let mut client = usual().await;
        let (response, _) = client.send.send_request(get("/hold"), true).unwrap();
        client.script.asked.notified().await;
        client.stopping.notify_one();
        // The second GOAWAY comes after a round trip, and with it no further request is sent.
        while client.ask(get("/hello")).await.is_ok() {}
        client.script.go.notify_one();
        let got = super::service::take(response.await.unwrap()).await.unwrap();
        assert_eq!(got.body, b"held");
        assert!(matches!(client.serving.await.unwrap(), ConnectionEnd::Closed));
    });
}

#[test]
fn stop_ends_an_idle_connection_at_once() {
    run(async {
        let mut client = usual().await;
        assert_eq!(client.ask(get("/hello")).await.unwrap().body, b"hello");
        client.stopping.notify_one();
        assert!(matches!(client.serving.await.unwrap(), ConnectionEnd::Closed));
    });
}

#[test]
fn a_connection_ends_after_the_request_limit() {
    run(async {
        let mut limits = limits();
        limits.requests_per_connection = Some(3);
        let mut client = connect(limits, Http2Settings::default(), 65_535).await;
        for _ in 0..3 {
            assert_eq!(client.ask(get("/hello")).await.unwrap().body, b"hello");
        }
        assert!(client.ask(get("/hello")).await.is_err());
        assert!(matches!(client.serving.await.unwrap(), ConnectionEnd::Closed));
    });
}

/// Goal: a window that never opens costs one stream, not the connection.
#[test]
fn a_response_that_is_not_read_is_reset() {
    run(async {
        let mut limits = limits();
        limits.write_timeout = SHORT;
        let mut client = connect(limits, Http2Settings::default(), 0).await;
        let error = client.ask(get("/large")).await.err().unwrap();
        assert_eq!(error.reason(), Some(h2::Reason::CANCEL));
        assert_eq!(client.ask(get("/nothing")).await.unwrap().head.status, 200);
        assert_eq!(client.script.notes.borrow()[0].1, 200);
    });
}

#[test]
fn a_slow_or_long_body_is_an_error() {
    run(async {
        let mut limits = limits();
        (limits.body_timeout, limits.body_bytes_max) = (SHORT, 10);
        let mut client = connect(limits, Http2Settings::default(), 65_535).await;
        for (bytes, error) in [(&b"abc"[..], BodyError::TimedOut), (b"elevenbytes", BodyError::TooLong(10))] {
            client.send = client.send.ready().await.unwrap();
            let request = http::Request::post("https://example.org/echo").body(()).unwrap();
            let (response, mut body) = client.send.send_request(request, false).unwrap();
            body.send_data(Bytes::from_static(bytes), false).unwrap();
            assert_eq!(response.await.unwrap().status(), 400);
            assert_eq!(client.script.bodies.borrow_mut().pop(), Some(Err(error)));
        }
    });
}

#[test]
fn a_reset_body_drops_its_request() {
    run(async {
        let mut client = usual().await;
        client.send = client.send.ready().await.unwrap();
        let request = http::Request::post("https://example.org/echo").body(()).unwrap();
        let (_response, mut body) = client.send.send_request(request, false).unwrap();
        body.send_data(Bytes::from_static(b"abc"), false).unwrap();
        client.script.asked.notified().await;
        body.send_reset(h2::Reason::CANCEL);
        assert_eq!(client.ask(get("/hello")).await.unwrap().body, b"hello");
        assert_eq!(client.script.under_way.get(), 0);
        assert!(client.script.bodies.borrow().iter().all(Result::is_err));
    });
}

/// Goal: a client that waits for a response and is gone, without power for example, is detected by an unanswered
/// ping.
#[test]
fn a_dead_client_is_detected_by_ping() {
    run(async {
        let settings = Http2Settings { ping_interval: Some(SHORT), ..Http2Settings::default() };
        let mut fixture = fixture(limits(), settings);
        let head = frame(HEADERS, END_HEADERS | END_STREAM, 1, &request("/wait"));
        fixture.near.write_all(&[preface(), head].concat()).await.unwrap();
        assert!(matches!(fixture.serving.await.unwrap(), ConnectionEnd::Gone));
        assert_eq!(fixture.script.under_way.get(), 0);
    });
}

/// Goal: the same for a client that sent something after the ping, but no answer.
#[test]
fn a_client_that_ignores_pings_is_detected() {
    run(async {
        let settings = Http2Settings { ping_interval: Some(SHORT), ..Http2Settings::default() };
        let mut fixture = fixture(limits(), settings);
        let head = frame(HEADERS, END_HEADERS | END_STREAM, 1, &request("/wait"));
        fixture.near.write_all(&[preface(), head].concat()).await.unwrap();
        while next_frame(&mut fixture.near).await.unwrap().0 != PING {}
        fixture.near.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        assert!(matches!(fixture.serving.await.unwrap(), ConnectionEnd::Gone));
    });
}

/// Goal: a client whose windows hold the whole response, on a slow line, is silent for long, and answers no ping
/// before the data sent ahead of it have arrived.
#[test]
fn a_slow_reader_counts_as_alive() {
    run(async {
        let settings = Http2Settings { ping_interval: Some(SHORT), ..Http2Settings::default() };
        let mut fixture = fixture(limits(), settings);
        let window = (LARGE_BYTES as u32).to_be_bytes();
        let start = [
            preface(),
            frame(SETTINGS, 0, 0, &[&[0, 4], &window[..]].concat()),
            frame(WINDOW_UPDATE, 0, 0, &window),
            frame(HEADERS, END_HEADERS | END_STREAM, 1, &request("/large")),
        ];
        fixture.near.write_all(&start.concat()).await.unwrap();
        for _ in 0..60 {
            tokio::time::sleep(short(1) / 5).await;
            fixture.near.read_exact(&mut [0; 4096]).await.unwrap();
        }
        assert!(!fixture.serving.is_finished());
    });
}

#[test]
fn a_client_that_answers_pings_may_wait() {
    run(async {
        let settings = Http2Settings { ping_interval: Some(SHORT), ..Http2Settings::default() };
        let mut client = connect(limits(), settings, 65_535).await;
        wait_for_reply(&mut client, 8).await;
    });
}

#[test]
fn requests_of_a_closed_connection_are_dropped() {
    run(async {
        let mut client = usual().await;
        let (response, _) = client.send.send_request(get("/wait"), true).unwrap();
        client.script.asked.notified().await;
        drop((response, client.send));
        client.connection.abort();
        client.serving.await.unwrap();
        assert_eq!(client.script.under_way.get(), 0);
    });
}

/// Goal: a client that never answers, as one whose network is gone, does not hold up a stop.
#[test]
fn stop_does_not_wait_for_a_silent_client() {
    run(async {
        let limits = ClientLimits { tunnel_stop_timeout: SHORT, ..limits() };
        let mut silent = fixture(limits, Http2Settings::default());
        silent.near.write_all(&preface()).await.unwrap();
        silent.near.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        silent.near.read_exact(&mut [0]).await.unwrap();
        silent.stopping.notify_one();
        assert!(matches!(silent.serving.await.unwrap(), ConnectionEnd::Idle));
    });
}
