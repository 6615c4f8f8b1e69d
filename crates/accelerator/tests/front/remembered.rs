//! Heads that are remembered: the same answer, as long as it is the right one, and not longer.

use accelerator::exchange::ExchangeSettings;
use accelerator::message::HitPath;
use accelerator::store::{Pattern, Purge, Removal};
use tempfile::TempDir;

use crate::client::get;
use crate::origin::LARGE;
use crate::rig::Rig;

#[test]
fn what_is_kept_is_asked_for_once() {
    let rig = Rig::start(|_| {});
    let mut client = rig.client();
    let first = client.get("/kept");
    for _ in 0..10 {
        let again = client.get("/kept");
        assert_eq!((again.status, again.text()), (200, "/kept"));
        assert_eq!(again.line("etag"), first.line("etag"));
        assert!(again.line("age").is_some(), "{}", again.head);
        assert!(again.line("cache-status").is_some_and(|status| status.contains("hit")), "{}", again.head);
    }
    assert_eq!(rig.origin.lines(), ["GET /kept"]);
    let totals = rig.totals();
    assert_eq!((totals.replies_of(HitPath::Memory), totals.replies()), (10, 11));
}

#[test]
fn a_remembered_answer_is_gone_with_what_it_came_from() {
    let rig = Rig::start(|_| {});
    let mut client = rig.client();
    for removal in [Removal::Delete, Removal::Expire, Removal::Invalidate] {
        (0..3).for_each(|_| assert_eq!(client.get("/kept").text(), "/kept"));
        let before = rig.origin.lines().len();
        let purged = rig.store.purge(&Purge::All, removal, units::wall());
        assert!(purged >= 1, "{removal:?}");
        assert_eq!(client.get("/kept").text(), "/kept");
        rig.origin.wait_for(before + 1);
    }
    let before = rig.origin.lines().len();
    client.send("POST /kept HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").answer();
    assert_eq!(client.get("/kept").text(), "/kept");
    assert_eq!(rig.origin.lines()[before..], ["POST /kept", "GET /kept"]);
}

/// Goal: two requests that differ in one byte anywhere are two requests.
#[test]
fn only_the_very_same_head_is_the_same() {
    let rig = Rig::start(|_| {});
    let mut client = rig.client();
    (0..3).for_each(|_| assert_eq!(client.get("/kept").status, 200));
    let other = [
        ("GET /kept HTTP/1.1\r\nHost: h\r\nIf-None-Match: \"k\"\r\n\r\n", 304),
        ("GET /kept HTTP/1.1\r\nHost: h\r\nRange: bytes=0-1\r\n\r\n", 206),
        ("GET /kept HTTP/1.1\r\nHost: i\r\n\r\n", 200),
        ("GET /kept?x HTTP/1.1\r\nHost: h\r\n\r\n", 200),
    ];
    for (request, status) in other.iter().cycle().take(3 * other.len()) {
        let answer = client.send(request).answer();
        assert_eq!(answer.status, *status, "{request:?}");
        assert_eq!(answer.body.is_empty(), *status == 304);
    }
    let mut lines = rig.origin.lines();
    lines.sort();
    assert_eq!(lines, ["GET /kept", "GET /kept", "GET /kept?x"]);
}

#[test]
fn many_heads_are_remembered_and_none_is_mistaken_for_another() {
    let rig = Rig::start(|settings| settings.memo_bytes_max = 200 * 1024);
    let mut client = rig.client();
    for _ in 0..3 {
        for n in 0..1_000 {
            let target = format!("/kept?{n}");
            assert_eq!(client.get(&target).text(), target);
        }
    }
    assert_eq!(rig.origin.lines().len(), 1_000);
}

/// Goal: the memory is for what is asked for now, not for what was when it was still empty.
#[test]
fn a_full_memory_remembers_what_is_asked_for_now() {
    let rig = Rig::start(|settings| settings.memo_bytes_max = 20 * 1024);
    let (mut client, folder) = (rig.client(), TempDir::new().unwrap());
    for n in (0..100).flat_map(|n| [n, n]) {
        client.get(&format!("/kept?{n}"));
    }
    let file = folder.path().join("log");
    rig.log_to(&file);
    (0..3).for_each(|_| assert_eq!(client.get("/kept").text(), "/kept"));
    rig.end_log();
    // Replies that are remembered take no time that is measured; only the third is one.
    let log = std::fs::read_to_string(file).unwrap();
    assert_eq!(log.matches("\"duration_ms\":0.000,").count(), 1, "{log}");
}

/// Goal: what was decided by settings that hold no more is not given by those that hold.
#[test]
fn an_answer_from_before_a_reload_is_not_remembered() {
    let mut rig = Rig::start(|_| {});
    let mut client = rig.client();
    assert_eq!(client.get("/large").body.len(), LARGE);
    client.send(get("/large")).stream.peek(&mut [0]).unwrap();
    // It has been decided, and is under way until its client takes it.
    let bypass = vec![Pattern::new("*")];
    rig.reload_exchange(ExchangeSettings { bypass, ..ExchangeSettings::default() });
    let mut other = rig.client();
    while rig.origin.lines().len() < 3 {
        other.get("/kept");
    }
    assert_eq!(client.answer().body.len(), LARGE);
    let before = rig.origin.lines().len();
    assert_eq!(client.get("/large").body.len(), LARGE);
    assert_eq!(rig.origin.lines()[before..], ["GET /large"]);
}

#[test]
fn without_memory_for_heads_everything_is_the_same() {
    let rig = Rig::start(|settings| settings.memo_bytes_max = 0);
    let mut client = rig.client();
    (0..4).for_each(|_| assert_eq!(client.get("/kept").text(), "/kept"));
    assert_eq!(rig.origin.lines(), ["GET /kept"]);
}

/// Goal: a connection whose only request is remembered is answered when it is accepted, and closed.
#[test]
fn a_connection_per_request_is_answered_too() {
    let rig = Rig::start(|_| {});
    let request = "GET /kept HTTP/1.0\r\nHost: h\r\n\r\n";
    for _ in 0..20 {
        let mut client = rig.client();
        assert_eq!(client.send(request).answer().text(), "/kept");
        client.expect_end();
    }
    let totals = rig.totals();
    assert_eq!((totals.replies(), totals.connections_opened), (20, 20));
    assert_eq!(rig.origin.lines(), ["GET /kept"]);
}

#[test]
fn unkeyed_lines_do_not_mix_answers() {
    let rig = Rig::start(|_| {});
    let mut client = rig.client();
    client.send("GET /kept HTTP/1.1\r\nHost: h\r\nX-Forwarded-Host: evil.example\r\n\r\n").answer();
    let answer = client.get("/kept");
    assert!(!answer.head.contains("evil") && answer.text() == "/kept", "{answer:?}");
    let (head, _) = rig.origin.asked().pop().unwrap();
    assert!(!head.contains("evil.example"), "{head}");
}
