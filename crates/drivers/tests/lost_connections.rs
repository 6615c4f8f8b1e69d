//! Kept connections that the server closes without saying so: an idempotent request is made again, once, on a new one.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{
    Fixture, Peer, RoundRobin, SMALL, closed, connect_time, connection, context, open, phases, protocol,
    read_request, reset, right_reply, run_drivers, workload,
};
use drivers::Trust;
use drivers::web::{PlainDriver, WebContext};
use model::{ConnectionLifetime, Outcome, ReplyBody, Request, WebRequest, WebWorkload};
use units::Nanos;

const KEEP_ALIVE: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: None };

fn kept(address: SocketAddr, workload: &WebWorkload) -> Rc<WebContext> {
    context(address, &protocol(KEEP_ALIVE), workload, &Trust::Any)
}

/// Answers so many requests, and ends the connection in place of the next reply.
fn answers(n: usize, end: fn(TcpStream)) -> Box<dyn FnOnce(TcpStream) + Send> {
    connection(move |mut stream| {
        for _ in 0..n {
            assert_ne!(read_request(&mut stream), "");
            stream.write_all(&right_reply(SMALL, "")).unwrap();
        }
        assert_ne!(read_request(&mut stream), "", "a request that is lost");
        end(stream);
    })
}

#[test]
fn a_get_that_is_lost_with_its_connection_is_made_again_on_a_new_one() {
    for end in [drop::<TcpStream>, reset] {
        let peer = Peer::start(vec![answers(2, end), answers(3, end), answers(1, end)]);
        let web = kept(peer.address, &workload());
        Fixture::with(PlainDriver::new(Rc::clone(&web))).run(async |fixture| {
            for n in 0..6 {
                let reply = fixture.get(SMALL).await;
                assert_eq!(reply.outcome, Outcome::Ok, "request {n}: {reply:?}");
                // The first of a connection, whichever attempt made it.
                assert_eq!(connect_time(&reply).is_some(), [0, 2, 5].contains(&n), "request {n}: {reply:?}");
            }
            assert_eq!(web.kept_connections().lost, 2);
            // The end of the last one: nobody accepts another, and the attempt on it is not repeated.
            let (outcome, text) = fixture.get_described(SMALL).await;
            assert!(matches!(outcome, Outcome::Refused | Outcome::Reset | Outcome::Truncated), "{text}");
        });
        peer.join();
    }
}

#[test]
fn a_request_is_made_again_once_only() {
    let dead = || connection(|mut stream| drop(read_request(&mut stream)));
    let peer = Peer::start(vec![answers(1, drop), dead()]);
    let web = kept(peer.address, &workload());
    Fixture::with(PlainDriver::new(Rc::clone(&web))).run(async |fixture| {
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        let (outcome, text) = fixture.get_described(SMALL).await;
        let ended = (Outcome::Truncated, "GET /small.html: connection ended after 0 bytes".to_owned());
        assert_eq!((outcome, text), ended);
    });
    assert_eq!(web.kept_connections().lost, 1);
    peer.join();
}

#[test]
fn a_reply_that_has_begun_is_not_asked_for_again() {
    let begins = connection(|mut stream| {
        read_request(&mut stream);
        stream.write_all(&right_reply(SMALL, "")).unwrap();
        read_request(&mut stream);
        stream.write_all(b"HTTP/1.1 200").unwrap();
    });
    let peer = Peer::start(vec![begins]);
    let web = kept(peer.address, &workload());
    Fixture::with(PlainDriver::new(Rc::clone(&web))).run(async |fixture| {
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Truncated);
    });
    assert_eq!(web.kept_connections().lost, 0);
    peer.join();
}

/// Goal: a POST is never made twice, and its failure has a name and a reason of its own.
#[test]
fn a_post_that_is_lost_with_its_connection_fails_with_that_reason() {
    let posting = |method: &str| {
        let reply = ReplyBody::Any;
        let request = Request { method: method.to_owned(), reply, ..Request::file("/order", 0) };
        WebWorkload { requests: vec![request], ..workload() }
    };
    for (method, is_made_again) in [("POST", false), ("PATCH", false), ("PUT", true), ("DELETE", true)] {
        let mut scripts = vec![answers(1, drop)];
        if is_made_again {
            scripts.push(answers(1, drop));
        }
        let peer = Peer::start(scripts);
        let web = kept(peer.address, &posting(method));
        Fixture::with(PlainDriver::new(Rc::clone(&web))).run(async |fixture| {
            let request = WebRequest::first(0);
            assert_eq!(fixture.perform(&request).await.outcome, Outcome::Ok);
            let (outcome, text) = fixture.perform_described(&request).await;
            let expected = if is_made_again { Outcome::Ok } else { Outcome::ConnectionLost };
            assert_eq!(outcome, expected, "{method}: {text}");
            if is_made_again {
                assert_ne!(fixture.perform(&request).await.outcome, Outcome::Ok, "ends the script");
            } else {
                let why = "the kept connection had ended, or ended before any byte of the reply";
                assert!(text.starts_with(&format!("{method} /order: {why}")), "{text}");
            }
        });
        peer.join();
    }
}

/// The treatment of a connection after a reply, which the server does not announce.
#[derive(Debug, Clone, Copy)]
enum Quirk {
    /// Closes it after this time.
    Close(Duration),
    /// Closes it after so many requests.
    CloseAfter(u64),
    /// Closes it if no request comes within this time.
    Timeout(Duration),
    /// Closes it in place of the reply that follows so many.
    Swallow(u64),
}

/// The requests that a server read.
#[derive(Debug, Default)]
struct Served {
    answered: AtomicU64,
    swallowed: AtomicU64,
}

impl Served {
    fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }
}

/// Serves connections, a thread each, until the first without a request; counts the requests.
fn serve(quirk: Quirk) -> (SocketAddr, Arc<Served>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let served = Arc::new(Served::default());
    let counter = Arc::clone(&served);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let counter = Arc::clone(&counter);
            std::thread::spawn(move || serve_connection(stream, quirk, &counter));
        }
    });
    (address, served)
}

fn serve_connection(mut stream: TcpStream, quirk: Quirk, served: &Served) {
    stream.set_nodelay(true).unwrap();
    for n in 1.. {
        let mut first = [0];
        if !matches!(stream.peek(&mut first), Ok(1)) || read_request(&mut stream).is_empty() {
            return;
        }
        if matches!(quirk, Quirk::Swallow(most) if most < n) {
            served.swallowed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        served.answered.fetch_add(1, Ordering::Relaxed);
        if stream.write_all(&right_reply(SMALL, "")).is_err() {
            return;
        }
        match quirk {
            Quirk::Close(pause) => return std::thread::sleep(pause),
            Quirk::CloseAfter(most) if most <= n => return,
            Quirk::CloseAfter(_) | Quirk::Swallow(_) => {}
            Quirk::Timeout(time) => stream.set_read_timeout(Some(time)).unwrap(),
        }
    }
}

/// Goal: no operation fails, whenever the close arrives: before the next request, while it is sent, or after it.
#[test]
fn no_operation_fails_at_servers_that_close_silently() {
    let pause = Duration::from_millis(2);
    let quirks = [
        (Quirk::Close(Duration::ZERO), Duration::ZERO, 200),
        (Quirk::Close(pause), Duration::ZERO, 60),
        (Quirk::CloseAfter(100), Duration::ZERO, 350),
        (Quirk::Timeout(pause), pause, 60),
    ];
    for (quirk, think, n) in quirks {
        let (address, served) = serve(quirk);
        let web = kept(address, &workload());
        let connected = Fixture::with(PlainDriver::new(Rc::clone(&web))).run(async |fixture| {
            let mut connected = 0;
            for k in 0..n {
                let reply = fixture.get(SMALL).await;
                assert_eq!(reply.outcome, Outcome::Ok, "{quirk:?}, request {k}: {reply:?}");
                assert!(reply.done - reply.sent < Nanos::from_secs(10));
                connected += u64::from(connect_time(&reply).is_some());
                if !think.is_zero() {
                    tokio::time::sleep(think).await;
                }
            }
            connected
        });
        assert_eq!(served.answered(), n, "{quirk:?}: each is answered once");
        let lost = web.kept_connections().lost;
        assert!(lost < connected, "{quirk:?}: {lost} lost, {connected} opened");
    }
}

/// Goal: in a run of the engine a request that is made again is one operation: it is started once, succeeds once, and its
/// times are recorded once, whether users or a schedule start it. By hand: a server that swallows every fifth request of a
/// connection loses as many as it swallowed, and answers as many as succeeded.
#[test]
fn a_run_counts_an_operation_once_however_often_its_request_is_made() {
    let steady = phases(Nanos::from_millis(400));
    let time_limit = Nanos::from_secs(60);
    for (quirk, load) in [
        (Quirk::Swallow(4), closed(8)),
        (Quirk::Swallow(4), open(1000.0, 50)),
        (Quirk::CloseAfter(3), closed(8)),
    ] {
        let (address, served) = serve(quirk);
        let web = kept(address, &workload());
        let driver = || PlainDriver::new(Rc::clone(&web));
        let (run, _) = run_drivers(driver, load, steady, time_limit, RoundRobin::over(1));
        run.check_conservation();
        let started = run.sum(|flow| flow.started);
        let ok = run.sum(|flow| flow.ok);
        let others = run.sum(|flow| flow.failed + flow.timed_out + flow.abandoned + flow.skipped);
        assert_eq!((started, others), (ok, 0), "{quirk:?}: {:?}", run.examples);
        assert_eq!(served.answered(), ok, "{quirk:?}");
        let lost = web.kept_connections().lost;
        let swallowed = served.swallowed.load(Ordering::Relaxed);
        match quirk {
            Quirk::Swallow(_) => assert!(0 < lost && lost == swallowed, "{lost} lost, {swallowed} swallowed"),
            _ => assert!(lost <= ok / 3, "{lost} lost of {ok}"),
        }
    }
}
