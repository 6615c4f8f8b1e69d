//! Room for responses while clients hold what is stored.

use accelerator::exchange::{ExchangeSettings, ResponseBody};
use accelerator::message::{NoBody, ResponsePath};

use super::fixture::{ClientResponse, Fixture, request, run};
use super::origin::{lasting, send};

/// The length of a body: a store of 5 MiB has room for four.
const LENGTH: usize = 1 << 20;

/// Goal: with all memory held by clients that read nothing, misses are passed, hits are served, nothing is refused; and
/// responses are stored again when they have gone. For bodies of known and of unknown length.
#[test]
fn misses_are_passed_while_clients_hold_the_memory() {
    run(async {
        let body = "x".repeat(LENGTH);
        let fixture = Fixture::small(ExchangeSettings::default(), 5 << 20, move |received| {
            if received.target().starts_with("/chunked") {
                let head =
                    "HTTP/1.1 200 x\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n";
                return vec![send(&format!("{head}{LENGTH:x}\r\n{body}\r\n0\r\n\r\n"))];
            }
            lasting(&body)
        })
        .await;
        let ask = async |target: &str| fixture.exchange.handle(request("GET", target, &[]), NoBody).await;
        let store = &fixture.exchange.shared().store;
        let mut held = Vec::new();
        for number in 0..4 {
            let target = format!("/{number}");
            fixture.get(&target, &[]).await;
            let hit = ask(&target).await;
            assert_eq!(hit.handling.path, ResponsePath::Memory);
            held.push(hit);
        }
        for target in ["/new", "/new", "/chunked"] {
            let passed = fixture.get(target, &[]).await;
            assert_eq!((passed.status, passed.text().len()), (200, LENGTH));
            let reason = if target == "/new" {
                (ResponsePath::Pass, "no-room")
            } else {
                (ResponsePath::Miss, "uri-miss")
            };
            assert_eq!((passed.path, passed.reason), reason);
        }
        assert_eq!((store.usage().objects, store.usage().evicted), (4, 0));
        assert_eq!(fixture.get("/0", &[]).await.path, ResponsePath::Memory, "hits need no room");
        assert_eq!(fixture.exchange.shared().flights.filling_bytes(), 0);
        held.pop();
        for target in ["/new", "/chunked"] {
            fixture.get(target, &[]).await;
            fixture.settled().await;
            assert_eq!(fixture.get(target, &[]).await.path, ResponsePath::Memory, "{target}");
        }
    });
}

/// Goal: the many who wait for one fetch hold its body once, also when it is purged meanwhile.
#[test]
fn collapsed_readers_share_the_memory_of_one_body() {
    run(async {
        let body = "x".repeat(LENGTH);
        let fixture = Fixture::small(ExchangeSettings::default(), 5 << 20, move |_| lasting(&body)).await;
        let store = &fixture.exchange.shared().store;
        let asked = (0..20).map(|_| {
            let exchange = std::rc::Rc::clone(&fixture.exchange);
            let request = request("GET", "/", &[]);
            tokio::task::spawn_local(async move { exchange.handle(request, NoBody).await })
        });
        let mut responses = Vec::new();
        for asked in asked.collect::<Vec<_>>() {
            responses.push(asked.await.unwrap());
        }
        fixture.settled().await;
        assert_eq!(fixture.exchange.shared().flights.filling_bytes(), 0, "all of it is in the store");
        assert!(responses.iter().any(|response| matches!(response.body, ResponseBody::Stream(_))));
        store.purge(&cache_store::Purge::All, cache_store::Removal::Delete, units::wall());
        let held = store.held_bytes() as usize;
        assert!((LENGTH..LENGTH + 8192).contains(&held), "{held}");
        for response in responses.drain(..) {
            assert_eq!(ClientResponse::read(response).await.text().len(), LENGTH);
        }
        assert_eq!(store.held_bytes(), 0);
    });
}
