//! Validation of stored responses, and updates by 304 and HEAD.

use accelerator::message::ResponsePath;

use super::fixture::{Fixture, run};
use super::origin::{Latch, Step, lasting, reply, send};

/// A response that must be validated each time.
fn unsure(tag: &str, body: &str) -> Vec<Step> {
    reply(200, &format!("Cache-Control: no-cache\r\nETag: \"{tag}\"\r\nX-Old: 1\r\n"), body)
}

fn not_modified(lines: &str) -> Vec<Step> {
    vec![send(&format!("HTTP/1.1 304 x\r\n{lines}\r\n"))]
}

#[test]
fn a_304_freshens_the_stored_response() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => unsure("a", "abc"),
            _ => not_modified("ETag: \"a\"\r\nCache-Control: max-age=60\r\nX-New: 2\r\nSet-Cookie: a=b\r\n"),
        })
        .await;
        fixture.get("/", &[]).await;
        let answer = fixture.get("/", &[]).await;
        assert_eq!((answer.gist(), answer.reason), ((200, "abc", ResponsePath::Revalidated), "no-cache"));
        assert_eq!(answer.told(), "plimsoll; fwd=stale; fwd-status=304");
        assert_eq!(fixture.origin.received()[1].value("if-none-match"), Some("\"a\""));
        let hit = fixture.get("/", &[]).await;
        assert_eq!(
            (hit.gist(), hit.value("x-old"), hit.value("x-new")),
            ((200, "abc", ResponsePath::Memory), Some("1"), Some("2"))
        );
        assert_eq!((hit.value("set-cookie"), hit.value("via")), (None, Some("1.1 plimsoll")));
        assert_eq!(fixture.origin.n_received(), 2);
    });
}

#[test]
fn concurrent_requests_are_validated_once() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => reply(200, "Cache-Control: max-age=60\r\nAge: 70\r\nETag: \"a\"\r\n", "abc"),
            _ => not_modified("ETag: \"a\"\r\nAge: 0\r\n"),
        })
        .await;
        fixture.get("/", &[]).await;
        let answers = fixture.get_concurrently(30, "/", &[]).await;
        assert!(answers.iter().all(|answer| (answer.status, answer.text()) == (200, "abc")));
        assert_eq!(answers.iter().filter(|answer| answer.path == ResponsePath::Collapsed).count(), 29);
        assert_eq!(fixture.origin.n_received(), 2);
    });
}

#[test]
fn no_cache_responses_are_validated_uncollapsed() {
    run(async {
        let latch = Latch::new();
        let script_gate = latch.clone();
        let fixture = Fixture::new(move |received| match received.index {
            0 => unsure("a", "abc"),
            _ => [vec![Step::Wait(script_gate.clone())], not_modified("ETag: \"a\"\r\n")].concat(),
        })
        .await;
        fixture.get("/", &[]).await;
        let (answers, ()) = tokio::join!(fixture.get_concurrently(5, "/", &[]), async {
            fixture.origin.wait_for_requests(6).await;
            latch.open();
        });
        assert!(answers.iter().all(|answer| answer.gist() == (200, "abc", ResponsePath::Revalidated)));
    });
}

#[test]
fn a_full_response_replaces_the_stored_one() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => unsure("a", "abc"),
            _ => lasting("new"),
        })
        .await;
        fixture.get("/", &[]).await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Miss));
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Memory));
        assert_eq!(fixture.exchange.shared().store.objects().len(), 1);
    });
}

#[test]
fn a_304_for_another_response_is_followed_by_a_full_request() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => unsure("a", "abc"),
            1 => not_modified("ETag: \"other\"\r\n"),
            2 => lasting("new"),
            _ => not_modified(""),
        })
        .await;
        fixture.get("/", &[]).await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "new", ResponsePath::Miss));
        assert_eq!(fixture.origin.received()[2].value("if-none-match"), None);
        // A 304 without a condition is not a valid response.
        let answer = fixture.get("/other", &[]).await;
        assert_eq!((answer.status, answer.reason), (502, "origin-not-modified"));
    });
}

#[test]
fn a_304_with_no_store_removes_the_stored_response() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => unsure("a", "abc"),
            _ => not_modified("ETag: \"a\"\r\nCache-Control: no-store\r\n"),
        })
        .await;
        fixture.get("/", &[]).await;
        assert_eq!(fixture.get("/", &[]).await.gist(), (200, "abc", ResponsePath::Revalidated));
        assert!(fixture.exchange.shared().store.objects().is_empty());
    });
}

#[test]
fn the_clients_own_condition_is_evaluated_after_validation() {
    run(async {
        let fixture = Fixture::new(|received| match received.index {
            0 => unsure("a", "abc"),
            _ => not_modified("ETag: \"a\"\r\n"),
        })
        .await;
        fixture.get("/", &[]).await;
        assert_eq!(
            fixture.get("/", &[("If-None-Match", "\"a\"")]).await.gist(),
            (304, "", ResponsePath::Revalidated)
        );
        let other = fixture.get("/", &[("If-None-Match", "\"b\"")]).await;
        assert_eq!(other.gist(), (200, "abc", ResponsePath::Revalidated));
        assert_eq!(fixture.origin.received()[2].value("if-none-match"), Some("\"a\""));
    });
}

#[test]
fn a_head_response_updates_or_expires_the_stored_one() {
    const LINES: &str = "Cache-Control: max-age=60\r\nETag: \"a\"\r\n";
    run(async {
        let fixture = Fixture::new(|received| match (received.method(), received.target()) {
            ("GET", _) => reply(200, LINES, "abc"),
            (_, "/same") => {
                vec![send(&format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n{LINES}X-New: 1\r\n\r\n"))]
            }
            _ => vec![send(&format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n{LINES}\r\n"))],
        })
        .await;
        for (target, length) in [("/same", "3"), ("/other", "4")] {
            fixture.get(target, &[]).await;
            let head = fixture.ask("HEAD", target, &[("Cache-Control", "no-cache")]).await;
            let found = (head.status, head.value("content-length"), head.path, head.reason);
            assert_eq!(found, (200, Some(length), ResponsePath::Miss, "request-no-cache"));
        }
        let same = fixture.get("/same", &[]).await;
        assert_eq!((same.gist(), same.value("x-new")), ((200, "abc", ResponsePath::Memory), Some("1")));
        let objects = fixture.exchange.shared().store.objects();
        let other = objects.iter().find(|one| one.key.target() == "/other").unwrap();
        assert!(!other.stored.is_fresh(units::wall()));
    });
}

#[test]
fn a_head_response_is_not_stored() {
    run(async {
        let fixture = Fixture::new(|_| {
            vec![send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nCache-Control: max-age=60\r\n\r\n")]
        })
        .await;
        let head = fixture.ask("HEAD", "/", &[("If-None-Match", "\"a\"")]).await;
        assert_eq!((head.gist(), head.value("content-length")), ((200, "", ResponsePath::Miss), Some("9")));
        let received = &fixture.origin.received()[0];
        assert_eq!((received.method(), received.value("if-none-match")), ("HEAD", Some("\"a\"")));
        assert!(fixture.exchange.shared().store.objects().is_empty());
    });
}
