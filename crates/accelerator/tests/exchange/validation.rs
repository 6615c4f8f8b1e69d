//! Stored responses validated, and updated by 304 and HEAD.

use accelerator::message::HitPath;

use crate::house::{House, run};
use crate::origin::{Gate, Step, lasting, reply, send};

/// A response that must be validated each time.
fn unsure(tag: &str, body: &str) -> Vec<Step> {
    reply(200, &format!("Cache-Control: no-cache\r\nETag: \"{tag}\"\r\nX-Old: 1\r\n"), body)
}

fn not_modified(lines: &str) -> Vec<Step> {
    vec![send(&format!("HTTP/1.1 304 x\r\n{lines}\r\n"))]
}

#[test]
fn a_304_makes_what_is_stored_good_again() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => unsure("a", "abc"),
            _ => not_modified("ETag: \"a\"\r\nCache-Control: max-age=60\r\nX-New: 2\r\nSet-Cookie: a=b\r\n"),
        })
        .await;
        house.get("/", &[]).await;
        let answer = house.get("/", &[]).await;
        assert_eq!((answer.gist(), answer.reason), ((200, "abc", HitPath::Revalidated), "no-cache"));
        assert_eq!(answer.told(), "plimsoll; fwd=stale; fwd-status=304");
        assert_eq!(house.origin.heard()[1].value("if-none-match"), Some("\"a\""));
        let hit = house.get("/", &[]).await;
        assert_eq!(
            (hit.gist(), hit.value("x-old"), hit.value("x-new")),
            ((200, "abc", HitPath::Memory), Some("1"), Some("2"))
        );
        assert_eq!((hit.value("set-cookie"), hit.value("via")), (None, Some("1.1 plimsoll")));
        assert_eq!(house.origin.n_heard(), 2);
    });
}

#[test]
fn a_crowd_is_validated_once() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => reply(200, "Cache-Control: max-age=60\r\nAge: 70\r\nETag: \"a\"\r\n", "abc"),
            _ => not_modified("ETag: \"a\"\r\nAge: 0\r\n"),
        })
        .await;
        house.get("/", &[]).await;
        let answers = house.crowd(30, "/", &[]).await;
        assert!(answers.iter().all(|answer| (answer.status, answer.text()) == (200, "abc")));
        assert_eq!(answers.iter().filter(|answer| answer.path == HitPath::Collapsed).count(), 29);
        assert_eq!(house.origin.n_heard(), 2);
    });
}

#[test]
fn what_must_be_validated_each_time_waits_for_nobody() {
    run(async {
        let gate = Gate::new();
        let script_gate = gate.clone();
        let house = House::new(move |heard| match heard.index {
            0 => unsure("a", "abc"),
            _ => [vec![Step::Wait(script_gate.clone())], not_modified("ETag: \"a\"\r\n")].concat(),
        })
        .await;
        house.get("/", &[]).await;
        let (answers, ()) = tokio::join!(house.crowd(5, "/", &[]), async {
            house.origin.has_heard(6).await;
            gate.open();
        });
        assert!(answers.iter().all(|answer| answer.gist() == (200, "abc", HitPath::Revalidated)));
    });
}

#[test]
fn another_response_takes_the_place_of_what_was_stored() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => unsure("a", "abc"),
            _ => lasting("new"),
        })
        .await;
        house.get("/", &[]).await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Miss));
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Memory));
        assert_eq!(house.exchange.shared().store.objects().len(), 1);
    });
}

#[test]
fn a_304_about_something_else_is_followed_by_a_request_for_the_whole() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => unsure("a", "abc"),
            1 => not_modified("ETag: \"other\"\r\n"),
            2 => lasting("new"),
            _ => not_modified(""),
        })
        .await;
        house.get("/", &[]).await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "new", HitPath::Miss));
        assert_eq!(house.origin.heard()[2].value("if-none-match"), None);
        // One that nobody has asked for is no answer.
        let answer = house.get("/other", &[]).await;
        assert_eq!((answer.status, answer.reason), (502, "origin-not-modified"));
    });
}

#[test]
fn a_304_that_forbids_to_store_throws_out_what_was_stored() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => unsure("a", "abc"),
            _ => not_modified("ETag: \"a\"\r\nCache-Control: no-store\r\n"),
        })
        .await;
        house.get("/", &[]).await;
        assert_eq!(house.get("/", &[]).await.gist(), (200, "abc", HitPath::Revalidated));
        assert!(house.exchange.shared().store.objects().is_empty());
    });
}

#[test]
fn the_clients_own_condition_is_judged_after_validation() {
    run(async {
        let house = House::new(|heard| match heard.index {
            0 => unsure("a", "abc"),
            _ => not_modified("ETag: \"a\"\r\n"),
        })
        .await;
        house.get("/", &[]).await;
        assert_eq!(
            house.get("/", &[("If-None-Match", "\"a\"")]).await.gist(),
            (304, "", HitPath::Revalidated)
        );
        let other = house.get("/", &[("If-None-Match", "\"b\"")]).await;
        assert_eq!(other.gist(), (200, "abc", HitPath::Revalidated));
        assert_eq!(house.origin.heard()[2].value("if-none-match"), Some("\"a\""));
    });
}

#[test]
fn a_head_updates_what_is_stored_or_makes_it_stale() {
    const LINES: &str = "Cache-Control: max-age=60\r\nETag: \"a\"\r\n";
    run(async {
        let house = House::new(|heard| match (heard.method(), heard.target()) {
            ("GET", _) => reply(200, LINES, "abc"),
            (_, "/same") => {
                vec![send(&format!("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n{LINES}X-New: 1\r\n\r\n"))]
            }
            _ => vec![send(&format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n{LINES}\r\n"))],
        })
        .await;
        for (target, length) in [("/same", "3"), ("/other", "4")] {
            house.get(target, &[]).await;
            let head = house.ask("HEAD", target, &[("Cache-Control", "no-cache")]).await;
            let found = (head.status, head.value("content-length"), head.path, head.reason);
            assert_eq!(found, (200, Some(length), HitPath::Miss, "request-no-cache"));
        }
        let same = house.get("/same", &[]).await;
        assert_eq!((same.gist(), same.value("x-new")), ((200, "abc", HitPath::Memory), Some("1")));
        let objects = house.exchange.shared().store.objects();
        let other = objects.iter().find(|one| one.key.target() == "/other").unwrap();
        assert!(!other.stored.is_fresh(units::wall()));
    });
}

#[test]
fn a_head_for_what_is_not_stored_stores_nothing() {
    run(async {
        let house = House::new(|_| {
            vec![send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nCache-Control: max-age=60\r\n\r\n")]
        })
        .await;
        let head = house.ask("HEAD", "/", &[("If-None-Match", "\"a\"")]).await;
        assert_eq!((head.gist(), head.value("content-length")), ((200, "", HitPath::Miss), Some("9")));
        let heard = &house.origin.heard()[0];
        assert_eq!((heard.method(), heard.value("if-none-match")), ("HEAD", Some("\"a\"")));
        assert!(house.exchange.shared().store.objects().is_empty());
    });
}
