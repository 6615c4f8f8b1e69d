//! The end, and going on with something else.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};

use accelerator::front::Listen;
use http::Request;
use units::Nanos;

use crate::client::{Client, get};
use crate::origin::LARGE;
use crate::protocols::{block_on, connect};
use crate::rig::{Rig, SOON};

#[test]
fn requests_in_progress_are_answered_before_the_end() {
    let rig = Rig::start(|_| {});
    let address = rig.address();
    let (mut busy, mut idle) = (rig.client(), rig.client());
    assert_eq!(idle.get("/kept").text(), "/kept");
    busy.send(get("/held"));
    rig.origin.wait_for(2);
    let Rig { origin, fronts, .. } = rig;
    let stopping = std::thread::spawn(move || fronts.stop(SOON));
    // Nobody else is let in once the listener is gone; until then connections are taken.
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
fn connections_in_use_are_told_that_a_reply_is_their_last() {
    let rig = Rig::start(|_| {});
    let mut client = rig.client();
    (0..3).for_each(|_| assert!(client.get("/kept").keep_alive));
    let address = rig.address();
    let Rig { origin, fronts, .. } = rig;
    let stopping = std::thread::spawn(move || fronts.stop(SOON));
    while TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    // It may take a moment until the worker knows, but no request goes without a reply.
    while client.get("/kept").keep_alive {}
    client.expect_end();
    assert_eq!(stopping.join().unwrap(), 0);
    assert_eq!(origin.lines(), ["GET /kept"]);
}

#[test]
fn what_is_in_progress_at_the_deadline_is_broken_off_and_counted() {
    let rig = Rig::start(|_| {});
    let mut client = rig.client();
    client.send(get("/held"));
    rig.origin.wait_for(1);
    assert_eq!(rig.fronts.stop(Nanos(1)), 1);
    client.expect_end();
}

/// Goal: a request is in progress until all of its reply has been taken, whatever way it was answered.
#[test]
fn replies_that_are_under_way_at_the_deadline_are_counted_too() {
    let rig = Rig::start(|settings| settings.listens[0].http2 = true);
    let mut client = rig.client();
    (0..2).for_each(|_| assert_eq!(client.get("/large").body.len(), LARGE));
    // This one is remembered.
    client.send(get("/large"));
    rig.settled(|totals| totals.replies() == 3);
    block_on(async {
        let (mut send, mut connection) = h2::client::handshake(connect(rig.address()).await).await.unwrap();
        let request = Request::get("http://h/large").body(()).unwrap();
        let (response, _) = send.send_request(request, true).unwrap();
        let _body = tokio::select! {
            response = response => response.unwrap(),
            ended = &mut connection => panic!("{ended:?}"),
        };
        assert_eq!(rig.fronts.stop(Nanos(1)), 2);
    });
}

#[test]
fn a_reload_drops_no_connection_and_may_move_listeners() {
    let mut rig = Rig::with(2, None, |_| {});
    let mut old = rig.client();
    assert_eq!(old.get("/kept").text(), "/kept");
    let before = rig.address();
    rig.reload(|settings| settings.listens.push(Listen::plain("127.0.0.2:0".parse().unwrap())));
    let addresses = rig.fronts.addresses();
    assert_eq!((addresses[0], addresses.len()), (before, 2));
    assert_eq!(old.get("/kept").text(), "/kept");
    let mut new = Client::connect(addresses[1]);
    assert_eq!(new.get("/kept").text(), "/kept");
    rig.reload(|settings| settings.listens = vec![Listen::plain("127.0.0.2:0".parse().unwrap())]);
    while TcpStream::connect(before).is_ok() {
        std::thread::yield_now();
    }
    for client in [&mut old, &mut new, &mut Client::connect(addresses[1])] {
        assert_eq!(client.get("/kept").text(), "/kept");
    }
    assert_eq!(rig.origin.lines(), ["GET /kept"]);
}

#[test]
fn a_plan_that_cannot_be_carried_out_changes_nothing() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut rig = Rig::start(|_| {});
    let (before, mut client) = (rig.fronts.addresses(), rig.client());
    let error =
        rig.try_reload(|settings| settings.listens = vec![Listen::plain(taken.local_addr().unwrap())]);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::AddrInUse);
    let error = rig.try_reload(|settings| settings.listens[0].tls = true);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput, "without a certificate");
    assert_eq!(rig.fronts.addresses(), before);
    assert_eq!(client.get("/kept").text(), "/kept");
    assert_eq!(rig.client().get("/kept").text(), "/kept");
}
