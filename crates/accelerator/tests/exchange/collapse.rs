//! Request collapsing.

use std::sync::{Arc, mpsc};

use accelerator::exchange::{ExchangeSettings, ResponseBody, SharedCache};
use accelerator::message::{BodyError, NoBody, ResponsePath};
use bytes::Bytes;
use tokio::task::spawn_local;
use units::Nanos;

use super::fixture::{ClientResponse, Fixture, exchange, request, run};
use super::origin::{Latch, Step, lasting, reply, send};

fn count(answers: &[ClientResponse], path: ResponsePath) -> usize {
    answers.iter().filter(|answer| answer.path == path).count()
}

#[test]
fn a_hundred_requests_collapse_into_one() {
    run(async {
        let fixture = Fixture::new(|_| lasting("content")).await;
        let answers = fixture.get_concurrently(100, "/", &[]).await;
        assert_eq!(fixture.origin.n_received(), 1);
        assert!(answers.iter().all(|answer| answer.status == 200 && answer.text() == "content"));
        assert_eq!((count(&answers, ResponsePath::Miss), count(&answers, ResponsePath::Collapsed)), (1, 99));
        let told = answers.iter().find(|answer| answer.path == ResponsePath::Collapsed).unwrap();
        assert_eq!(told.told(), "plimsoll; fwd=uri-miss; collapsed");
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "content", ResponsePath::Memory));
    });
}

#[test]
fn followers_get_each_piece_as_it_arrives() {
    run(async {
        let latch = Latch::new();
        let steps = vec![
            send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 6\r\n\r\nabc"),
            Step::Wait(latch.clone()),
            send("def"),
        ];
        let fixture = Fixture::new(move |_| steps.clone()).await;
        let mut streams = Vec::new();
        for _ in 0..3 {
            let reply = fixture.exchange.handle(request("GET", "/", &[]), NoBody).await;
            assert_eq!(reply.lines.get("content-length"), Some(&b"6"[..]));
            let ResponseBody::Stream(mut stream) = reply.body else { panic!("{:?}", reply.body) };
            assert_eq!(stream.next().await, Ok(Some(Bytes::from_static(b"abc"))), "before the rest is there");
            streams.push(stream);
        }
        latch.open();
        for mut stream in streams {
            assert_eq!(stream.next().await, Ok(Some(Bytes::from_static(b"def"))));
            assert_eq!(stream.next().await, Ok(None));
        }
        assert_eq!(fixture.origin.n_received(), 1);
    });
}

#[test]
fn requests_collapse_across_threads() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture =
            Fixture::new(move |_| [vec![Step::Wait(script_gate.clone())], lasting("content")].concat()).await;
        let exchange_here = fixture.exchange.clone();
        let shared = fixture.exchange.shared().clone();
        let leader = spawn_local(async move {
            ClientResponse::read(exchange_here.handle(request("GET", "/", &[]), NoBody).await).await
        });
        fixture.origin.wait_for_requests(1).await;
        let (ready, is_ready) = mpsc::channel();
        let address = fixture.origin.address.to_string();
        let other = std::thread::spawn(move || {
            run(async move { follow_elsewhere(shared, &address, ready).await });
        });
        // The other thread is about to wait, or waits: either way it must not ask the origin.
        tokio::task::spawn_blocking(move || is_ready.recv().unwrap()).await.unwrap();
        latch.open();
        assert_eq!(leader.await.unwrap().path, ResponsePath::Miss);
        tokio::task::spawn_blocking(move || other.join().unwrap()).await.unwrap();
        assert_eq!(fixture.origin.n_received(), 1);
    });
}

async fn follow_elsewhere(shared: SharedCache, origin: &str, ready: mpsc::Sender<()>) {
    let exchange = exchange(shared, ExchangeSettings::default(), origin);
    let asking = spawn_local(async move {
        ClientResponse::read(exchange.handle(request("GET", "/", &[]), NoBody).await).await
    });
    // Joining a flight is the first thing that the request does.
    tokio::task::yield_now().await;
    ready.send(()).unwrap();
    assert_eq!(asking.await.unwrap().gist(), (200, "content", ResponsePath::Collapsed));
}

#[test]
fn followers_of_an_unstorable_response_fetch_at_once() {
    const N: usize = 20;
    run(async {
        // The first is answered at once; no other before all have asked.
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture = Fixture::new(move |received| {
            let wait = (0 < received.index).then(|| Step::Wait(script_gate.clone()));
            wait.into_iter().chain(reply(200, "Cache-Control: no-store\r\n", "own")).collect()
        })
        .await;
        let (answers, ()) = tokio::join!(fixture.get_concurrently(N, "/", &[]), async {
            fixture.origin.wait_for_requests(N).await;
            latch.open();
        });
        assert_eq!(fixture.origin.n_received(), N);
        assert!(answers.iter().all(|answer| answer.gist() == (200, "own", ResponsePath::Pass)));
        assert!(answers.iter().all(|answer| answer.reason == "no-store"));
    });
}

#[test]
fn hit_for_miss_requests_are_not_collapsed() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture = Fixture::new(move |received| {
            let wait = (received.index == 1).then(|| Step::Wait(script_gate.clone()));
            wait.into_iter().chain(reply(200, "Cache-Control: private\r\n", "own")).collect()
        })
        .await;
        fixture.get("/", &[]).await;
        let exchange = fixture.exchange.clone();
        let slow = spawn_local(async move { exchange.handle(request("GET", "/", &[]), NoBody).await });
        fixture.origin.wait_for_requests(2).await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "own", ResponsePath::Pass));
        latch.open();
        slow.await.unwrap();
    });
}

#[test]
fn followers_wait_no_longer_than_collapse_wait() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let settings =
            ExchangeSettings { collapse_wait: Nanos::from_millis(1), ..ExchangeSettings::default() };
        let fixture = Fixture::with(settings, move |received| {
            let wait = (received.index == 0).then(|| Step::Wait(script_gate.clone()));
            wait.into_iter().chain(lasting("content")).collect()
        })
        .await;
        let exchange = fixture.exchange.clone();
        let slow = spawn_local(async move {
            ClientResponse::read(exchange.handle(request("GET", "/", &[]), NoBody).await).await
        });
        fixture.origin.wait_for_requests(1).await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "content", ResponsePath::Miss));
        latch.open();
        assert_eq!(slow.await.unwrap().status, 200);
        assert_eq!(fixture.origin.n_received(), 2);
    });
}

#[test]
fn followers_get_the_response_of_a_leader_whose_client_left() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture =
            Fixture::new(move |_| [vec![Step::Wait(script_gate.clone())], lasting("content")].concat()).await;
        let exchange = fixture.exchange.clone();
        let leader = spawn_local(async move { exchange.handle(request("GET", "/", &[]), NoBody).await });
        fixture.origin.wait_for_requests(1).await;
        leader.abort();
        assert!(leader.await.unwrap_err().is_cancelled());
        let (answer, ()) = tokio::join!(fixture.get("/", &[]), async { latch.open() });
        assert_eq!(answer.gist(), (200, "content", ResponsePath::Collapsed));
        assert_eq!(fixture.origin.n_received(), 1);
    });
}

#[test]
fn a_truncated_body_is_truncated_for_all_and_not_stored() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture = Fixture::new(move |received| {
            if 0 < received.index {
                return lasting("content");
            }
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 7\r\n\r\ncon";
            vec![send(head), Step::Wait(script_gate.clone()), Step::Close]
        })
        .await;
        let get_concurrently = fixture.get_concurrently(5, "/", &[]);
        let (answers, ()) = tokio::join!(get_concurrently, async {
            fixture.origin.wait_for_requests(1).await;
            latch.open();
        });
        assert!(answers.iter().all(|answer| answer.body == Err(BodyError::Truncated)), "{answers:?}");
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "content", ResponsePath::Miss));
    });
}

/// A response of unknown length, in so many pieces of 16 KiB.
fn unannounced(pieces: usize) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    let chunks = (0..pieces).map(|_| send(&chunk));
    std::iter::once(send(head)).chain(chunks).chain([send("0\r\n\r\n")]).collect()
}

const PIECES: usize = 64;

#[test]
fn a_response_that_grows_too_large_removes_the_stored_one() {
    run(async {
        let fixture =
            Fixture::small(ExchangeSettings::default(), 512 << 10, |received| match received.index {
                0 => reply(200, "Cache-Control: max-age=60\r\nAge: 70\r\nETag: \"a\"\r\n", "old"),
                _ => unannounced(PIECES),
            })
            .await;
        fixture.get("/", &[]).await;
        assert_eq!(fixture.exchange.shared().store.objects().len(), 1);
        assert_eq!(fixture.get("/", &[]).await.text().len(), PIECES * 0x4000);
        assert!(fixture.exchange.shared().store.objects().is_empty());
    });
}

#[test]
fn a_response_that_grows_too_large_streams_on_without_being_stored() {
    run(async {
        // An eighth of the body fits.
        let fixture = Fixture::small(ExchangeSettings::default(), 512 << 10, |_| unannounced(PIECES)).await;
        let answers = fixture.get_concurrently(3, "/", &[]).await;
        assert!(answers.iter().all(|answer| answer.text().len() == PIECES * 0x4000));
        let n_received = fixture.origin.n_received();
        let flights = Arc::clone(&fixture.exchange.shared().flights);
        assert_eq!((flights.filling_bytes(), fixture.exchange.shared().store.objects().len()), (0, 0));
        let again = fixture.get("/", &[]).await;
        assert_eq!((again.text().len(), fixture.origin.n_received()), (PIECES * 0x4000, n_received + 1));
    });
}

#[test]
fn a_response_announced_too_large_is_forwarded_and_its_ranges_are_fetched() {
    run(async {
        let fixture =
            Fixture::small(ExchangeSettings::default(), 64 << 10, |received| match received.value("range") {
                Some(_) => {
                    reply(206, "Cache-Control: max-age=60\r\nContent-Range: bytes 0-1/100000\r\n", "xx")
                }
                None => reply(200, "Cache-Control: max-age=60\r\n", &"x".repeat(100_000)),
            })
            .await;
        let part = fixture.get("/", &[("Range", "bytes=0-1")]).await;
        assert_eq!((part.gist(), part.reason), ((206, "xx", ResponsePath::Pass), "too-large"));
        let whole = fixture.get("/", &[]).await;
        assert_eq!((whole.text().len(), whole.path), (100_000, ResponsePath::Pass));
    });
}

#[test]
fn an_unreachable_origin_fails_all_followers() {
    run(async {
        let fixture = Fixture::new(|_| vec![Step::Close]).await;
        let answers = fixture.get_concurrently(10, "/", &[]).await;
        assert!(answers.iter().all(|answer| (answer.status, answer.path) == (502, ResponsePath::Error)));
        assert!(answers.iter().all(|answer| answer.text().contains("502 Bad Gateway")));
        assert!(fixture.origin.n_received() < 10, "{} requests", fixture.origin.n_received());
    });
}
