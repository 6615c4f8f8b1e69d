//! Graceful stop and reload.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};

use accelerator::frontend::ListenSettings;
use http1::RequestMethod;
use units::{Clock, Nanos, RealClock};

use super::client::{Client, get};
use super::fixture::{Fixture, SOON};
use super::origin::LARGE;
use super::protocols::{block_on, connect};

#[test]
fn stop_answers_requests_in_progress() {
    let fixture = Fixture::start(|_| {});
    let address = fixture.address();
    let mut busy = fixture.client();
    let mut idle = fixture.client();
    assert_eq!(idle.get("/kept").text(), "/kept");
    busy.send(get("/held"));
    fixture.origin.wait_for(2);
    let Fixture { origin, workers, .. } = fixture;
    let stopping = std::thread::spawn(move || workers.stop(SOON));
    // Nothing else is accepted once the listener is closed; until then connections are.
    while TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    origin.release();
    let answer = busy.answer();
    assert_eq!((answer.text(), answer.keep_alive), ("released", false));
    busy.expect_end();
    idle.expect_end();
    assert_eq!(stopping.join().unwrap(), 0);
}

#[test]
fn stop_closes_connections_after_their_response() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    (0..3).for_each(|_| assert!(client.get("/kept").keep_alive));
    let address = fixture.address();
    let Fixture { origin, workers, .. } = fixture;
    let stopping = std::thread::spawn(move || workers.stop(SOON));
    while TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    // It may take a moment until the worker knows, but no request goes without a response.
    while client.get("/kept").keep_alive {}
    client.expect_end();
    assert_eq!(stopping.join().unwrap(), 0);
    assert_eq!(origin.lines(), ["GET /kept"]);
}

#[test]
fn requests_beyond_the_stop_deadline_are_aborted_and_counted() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    client.send(get("/held"));
    fixture.origin.wait_for(1);
    assert_eq!(fixture.workers.stop(Nanos(1)), 1);
    client.expect_end();
}

/// Goal: a tunnel, which has no end of its own, does not hold up a stop.
#[test]
fn stop_ends_tunnels_after_a_limit_of_their_own() {
    let fixture = Fixture::start(|settings| settings.limits.tunnel_stop_timeout = Nanos::from_millis(1));
    let mut client = fixture.client();
    client.send("GET /socket HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    assert_eq!(client.answer_to(RequestMethod::Get).unwrap().status, 101);
    client.expect(b"hello ");
    let (clock, Fixture { workers, .. }) = (RealClock::start(), fixture);
    workers.stop(SOON);
    assert!(clock.now() < SOON, "the stop timeout has not passed");
    client.expect_end();
}

/// Goal: a request is in progress until its whole response has been read, on both paths.
#[test]
fn responses_beyond_the_stop_deadline_are_counted() {
    let fixture = Fixture::start(|settings| settings.listens[0].http2 = true);
    let mut client = fixture.client();
    (0..2).for_each(|_| assert_eq!(client.get("/large").body.len(), LARGE));
    // This one is remembered.
    client.send(get("/large"));
    fixture.settled(|totals| totals.responses() == 3);
    block_on(async {
        let (mut send, mut connection) =
            h2::client::handshake(connect(fixture.address()).await).await.unwrap();
        let request = http::Request::get("http://h/large").body(()).unwrap();
        let (response, _) = send.send_request(request, true).unwrap();
        let _body = tokio::select! {
            response = response => response.unwrap(),
            ended = &mut connection => panic!("{ended:?}"),
        };
        assert_eq!(fixture.workers.stop(Nanos(1)), 2);
    });
}

#[test]
fn reload_keeps_connections_and_may_move_listeners() {
    let mut fixture = Fixture::with(2, None, |_| {});
    let mut old = fixture.client();
    assert_eq!(old.get("/kept").text(), "/kept");
    let before = fixture.address();
    fixture.reload(|settings| settings.listens.push(ListenSettings::plain("127.0.0.2:0".parse().unwrap())));
    let addresses = fixture.workers.addresses();
    assert_eq!((addresses[0], addresses.len()), (before, 2));
    assert_eq!(old.get("/kept").text(), "/kept");
    let mut new = Client::connect(addresses[1]);
    assert_eq!(new.get("/kept").text(), "/kept");
    fixture.reload(|settings| settings.listens = vec![ListenSettings::plain("127.0.0.2:0".parse().unwrap())]);
    while TcpStream::connect(before).is_ok() {
        std::thread::yield_now();
    }
    for client in [&mut old, &mut new, &mut Client::connect(addresses[1])] {
        assert_eq!(client.get("/kept").text(), "/kept");
    }
    assert_eq!(fixture.origin.lines(), ["GET /kept"]);
}

#[test]
fn a_failed_reload_changes_nothing() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut fixture = Fixture::start(|_| {});
    let before = fixture.workers.addresses();
    let mut client = fixture.client();
    let error = fixture
        .try_reload(|settings| settings.listens = vec![ListenSettings::plain(taken.local_addr().unwrap())]);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::AddrInUse);
    let error = fixture.try_reload(|settings| settings.listens[0].tls = true);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput, "without a certificate");
    assert_eq!(fixture.workers.addresses(), before);
    assert_eq!(client.get("/kept").text(), "/kept");
    assert_eq!(fixture.client().get("/kept").text(), "/kept");
}
