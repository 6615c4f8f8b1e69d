//! Requests for the same at once.

use std::sync::{Arc, mpsc};

use accelerator::exchange::{ExchangeSettings, Shared};
use accelerator::message::{BodyError, HitPath, NoBody, ReplyBody};
use bytes::Bytes;
use tokio::task::spawn_local;
use units::Nanos;

use crate::house::{Answer, House, exchange, inbound, run};
use crate::origin::{Gate, Step, lasting, reply, send};

fn count(answers: &[Answer], path: HitPath) -> usize {
    answers.iter().filter(|answer| answer.path == path).count()
}

#[test]
fn a_hundred_requests_are_one_for_the_origin() {
    run(async {
        let house = House::new(|_| lasting("content")).await;
        let answers = house.crowd(100, "/", &[]).await;
        assert_eq!(house.origin.n_heard(), 1);
        assert!(answers.iter().all(|answer| answer.status == 200 && answer.text() == "content"));
        assert_eq!((count(&answers, HitPath::Miss), count(&answers, HitPath::Collapsed)), (1, 99));
        let told = answers.iter().find(|answer| answer.path == HitPath::Collapsed).unwrap();
        assert_eq!(told.told(), "plimsoll; fwd=uri-miss; collapsed");
        assert_eq!(house.get("/", &[]).await.gist(), (200, "content", HitPath::Memory));
    });
}

#[test]
fn those_who_wait_get_each_piece_as_it_comes() {
    run(async {
        let gate = Gate::new();
        let steps = vec![
            send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 6\r\n\r\nabc"),
            Step::Wait(gate.clone()),
            send("def"),
        ];
        let house = House::new(move |_| steps.clone()).await;
        let mut streams = Vec::new();
        for _ in 0..3 {
            let reply = house.exchange.handle(inbound("GET", "/", &[]), NoBody).await;
            assert_eq!(reply.lines.get("content-length"), Some(&b"6"[..]));
            let ReplyBody::Stream(mut stream) = reply.body else { panic!("{:?}", reply.body) };
            assert_eq!(stream.next().await, Ok(Some(Bytes::from_static(b"abc"))), "before the rest is there");
            streams.push(stream);
        }
        gate.open();
        for mut stream in streams {
            assert_eq!(stream.next().await, Ok(Some(Bytes::from_static(b"def"))));
            assert_eq!(stream.next().await, Ok(None));
        }
        assert_eq!(house.origin.n_heard(), 1);
    });
}

#[test]
fn requests_on_other_threads_wait_too() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house =
            House::new(move |_| [vec![Step::Wait(script_gate.clone())], lasting("content")].concat()).await;
        let (exchange_here, shared) = (house.exchange.clone(), house.exchange.shared().clone());
        let leader = spawn_local(async move {
            Answer::read(exchange_here.handle(inbound("GET", "/", &[]), NoBody).await).await
        });
        house.origin.has_heard(1).await;
        let (ready, is_ready) = mpsc::channel();
        let address = house.origin.address.to_string();
        let other = std::thread::spawn(move || {
            run(async move { follow_elsewhere(shared, &address, ready).await });
        });
        // The other thread is about to wait, or waits: either way it must not ask the origin.
        tokio::task::spawn_blocking(move || is_ready.recv().unwrap()).await.unwrap();
        gate.open();
        assert_eq!(leader.await.unwrap().path, HitPath::Miss);
        tokio::task::spawn_blocking(move || other.join().unwrap()).await.unwrap();
        assert_eq!(house.origin.n_heard(), 1);
    });
}

async fn follow_elsewhere(shared: Shared, origin: &str, ready: mpsc::Sender<()>) {
    let exchange = exchange(shared, ExchangeSettings::default(), origin);
    let asking =
        spawn_local(
            async move { Answer::read(exchange.handle(inbound("GET", "/", &[]), NoBody).await).await },
        );
    // Boarding is the first thing that the request does.
    tokio::task::yield_now().await;
    ready.send(()).unwrap();
    assert_eq!(asking.await.unwrap().gist(), (200, "content", HitPath::Collapsed));
}

#[test]
fn what_cannot_be_stored_is_asked_for_by_all_at_once() {
    const N: usize = 20;
    run(async {
        // The first is answered at once; nobody else before all have asked.
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house = House::new(move |heard| {
            let wait = (0 < heard.index).then(|| Step::Wait(script_gate.clone()));
            wait.into_iter().chain(reply(200, "Cache-Control: no-store\r\n", "own")).collect()
        })
        .await;
        let (answers, ()) = tokio::join!(house.crowd(N, "/", &[]), async {
            house.origin.has_heard(N).await;
            gate.open();
        });
        assert_eq!(house.origin.n_heard(), N);
        assert!(answers.iter().all(|answer| answer.gist() == (200, "own", HitPath::Pass)));
        assert!(answers.iter().all(|answer| answer.reason == "no-store"));
    });
}

#[test]
fn a_key_that_is_marked_makes_nobody_wait() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house = House::new(move |heard| {
            let wait = (heard.index == 1).then(|| Step::Wait(script_gate.clone()));
            wait.into_iter().chain(reply(200, "Cache-Control: private\r\n", "own")).collect()
        })
        .await;
        house.get("/", &[]).await;
        let exchange = house.exchange.clone();
        let slow = spawn_local(async move { exchange.handle(inbound("GET", "/", &[]), NoBody).await });
        house.origin.has_heard(2).await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "own", HitPath::Pass));
        gate.open();
        slow.await.unwrap();
    });
}

#[test]
fn nobody_waits_longer_than_allowed() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let settings =
            ExchangeSettings { collapse_wait: Nanos::from_millis(1), ..ExchangeSettings::default() };
        let house = House::with(settings, move |heard| {
            let wait = (heard.index == 0).then(|| Step::Wait(script_gate.clone()));
            wait.into_iter().chain(lasting("content")).collect()
        })
        .await;
        let exchange = house.exchange.clone();
        let slow = spawn_local(async move {
            Answer::read(exchange.handle(inbound("GET", "/", &[]), NoBody).await).await
        });
        house.origin.has_heard(1).await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "content", HitPath::Miss));
        gate.open();
        assert_eq!(slow.await.unwrap().status, 200);
        assert_eq!(house.origin.n_heard(), 2);
    });
}

#[test]
fn a_leader_that_leaves_leaves_nobody_without() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house =
            House::new(move |_| [vec![Step::Wait(script_gate.clone())], lasting("content")].concat()).await;
        let exchange = house.exchange.clone();
        let leader = spawn_local(async move { exchange.handle(inbound("GET", "/", &[]), NoBody).await });
        house.origin.has_heard(1).await;
        leader.abort();
        assert!(leader.await.unwrap_err().is_cancelled());
        let (answer, ()) = tokio::join!(house.get("/", &[]), async { gate.open() });
        assert_eq!(answer.gist(), (200, "content", HitPath::Collapsed));
        assert_eq!(house.origin.n_heard(), 1);
    });
}

#[test]
fn a_body_that_breaks_off_does_so_for_all_and_is_not_stored() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house = House::new(move |heard| {
            if 0 < heard.index {
                return lasting("content");
            }
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 7\r\n\r\ncon";
            vec![send(head), Step::Wait(script_gate.clone()), Step::Close]
        })
        .await;
        let crowd = house.crowd(5, "/", &[]);
        let (answers, ()) = tokio::join!(crowd, async {
            house.origin.has_heard(1).await;
            gate.open();
        });
        assert!(answers.iter().all(|answer| answer.body == Err(BodyError::Truncated)), "{answers:?}");
        assert_eq!(house.get("/", &[]).await.gist(), (200, "content", HitPath::Miss));
    });
}

/// A reply that does not say how long it is, in so many pieces of 16 KiB.
fn unannounced(pieces: usize) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    let chunks = (0..pieces).map(|_| send(&chunk));
    std::iter::once(send(head)).chain(chunks).chain([send("0\r\n\r\n")]).collect()
}

const PIECES: usize = 64;

#[test]
fn what_turns_out_too_large_takes_the_place_of_what_was_stored() {
    run(async {
        let house = House::small(ExchangeSettings::default(), 512 << 10, |heard| match heard.index {
            0 => reply(200, "Cache-Control: max-age=60\r\nAge: 70\r\nETag: \"a\"\r\n", "old"),
            _ => unannounced(PIECES),
        })
        .await;
        house.get("/", &[]).await;
        assert_eq!(house.exchange.shared().store.objects().len(), 1);
        assert_eq!(house.get("/", &[]).await.text().len(), PIECES * 0x4000);
        assert!(house.exchange.shared().store.objects().is_empty());
    });
}

#[test]
fn what_is_too_large_streams_on_without_being_kept() {
    run(async {
        // An eighth of what comes fits.
        let house = House::small(ExchangeSettings::default(), 512 << 10, |_| unannounced(PIECES)).await;
        let answers = house.crowd(3, "/", &[]).await;
        assert!(answers.iter().all(|answer| answer.text().len() == PIECES * 0x4000));
        let n_heard = house.origin.n_heard();
        let flights = Arc::clone(&house.exchange.shared().flights);
        assert_eq!((flights.filling_bytes(), house.exchange.shared().store.objects().len()), (0, 0));
        let again = house.get("/", &[]).await;
        assert_eq!((again.text().len(), house.origin.n_heard()), (PIECES * 0x4000, n_heard + 1));
    });
}

#[test]
fn what_is_announced_too_large_is_passed_on_and_parts_of_it_are_asked_for() {
    run(async {
        let house = House::small(ExchangeSettings::default(), 64 << 10, |heard| match heard.value("range") {
            Some(_) => reply(206, "Cache-Control: max-age=60\r\nContent-Range: bytes 0-1/100000\r\n", "xx"),
            None => reply(200, "Cache-Control: max-age=60\r\n", &"x".repeat(100_000)),
        })
        .await;
        let part = house.get("/", &[("Range", "bytes=0-1")]).await;
        assert_eq!((part.gist(), part.reason), ((206, "xx", HitPath::Pass), "too-large"));
        let whole = house.get("/", &[]).await;
        assert_eq!((whole.text().len(), whole.path), (100_000, HitPath::Pass));
    });
}

#[test]
fn a_dead_origin_is_told_to_all_who_wait() {
    run(async {
        let house = House::new(|_| vec![Step::Close]).await;
        let answers = house.crowd(10, "/", &[]).await;
        assert!(answers.iter().all(|answer| (answer.status, answer.path) == (502, HitPath::Error)));
        assert!(answers.iter().all(|answer| answer.text().contains("502 Bad Gateway")));
        assert!(house.origin.n_heard() < 10, "{} requests", house.origin.n_heard());
    });
}
