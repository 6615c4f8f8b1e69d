//! Remembered heads: the same response, as long as it is valid and no longer.

use accelerator::exchange::ExchangeSettings;
use accelerator::message::ResponsePath;
use cache_store::{Pattern, Purge, Removal};
use tempfile::TempDir;

use super::client::get;
use super::fixture::Fixture;
use super::origin::LARGE;

#[test]
fn stored_responses_are_fetched_once() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    let first = client.get("/kept");
    for _ in 0..10 {
        let again = client.get("/kept");
        assert_eq!((again.status, again.text()), (200, "/kept"));
        assert_eq!(again.line("etag"), first.line("etag"));
        assert!(again.line("age").is_some(), "{}", again.head);
        assert!(again.line("cache-status").is_some_and(|status| status.contains("hit")), "{}", again.head);
    }
    assert_eq!(fixture.origin.lines(), ["GET /kept"]);
    let totals = fixture.totals();
    assert_eq!((totals.responses_by(ResponsePath::Memory), totals.responses()), (10, 11));
}

#[test]
fn a_remembered_head_ends_with_its_stored_response() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    for removal in [Removal::Delete, Removal::Expire, Removal::Invalidate] {
        (0..3).for_each(|_| assert_eq!(client.get("/kept").text(), "/kept"));
        let before = fixture.origin.lines().len();
        let purged = fixture.store.purge(&Purge::All, removal, units::wall());
        assert!(purged >= 1, "{removal:?}");
        assert_eq!(client.get("/kept").text(), "/kept");
        fixture.origin.wait_for(before + 1);
    }
    let before = fixture.origin.lines().len();
    client.send("POST /kept HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").answer();
    assert_eq!(client.get("/kept").text(), "/kept");
    assert_eq!(fixture.origin.lines()[before..], ["POST /kept", "GET /kept"]);
}

/// Goal: two requests that differ in one byte anywhere are two requests.
#[test]
fn heads_that_differ_in_a_byte_are_different() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
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
    let mut lines = fixture.origin.lines();
    lines.sort();
    assert_eq!(lines, ["GET /kept", "GET /kept", "GET /kept?x"]);
}

#[test]
fn many_remembered_heads_are_not_confused() {
    let fixture = Fixture::start(|settings| settings.memo_bytes_max = 200 * 1024);
    let mut client = fixture.client();
    for _ in 0..3 {
        for n in 0..1_000 {
            let target = format!("/kept?{n}");
            assert_eq!(client.get(&target).text(), target);
        }
    }
    assert_eq!(fixture.origin.lines().len(), 1_000);
}

/// Goal: memory is for heads in current use, not for those that came when it was empty.
#[test]
fn a_full_memo_table_remembers_current_heads() {
    let fixture = Fixture::start(|settings| settings.memo_bytes_max = 20 * 1024);
    let mut client = fixture.client();
    let folder = TempDir::new().unwrap();
    for n in (0..100).flat_map(|n| [n, n]) {
        client.get(&format!("/kept?{n}"));
    }
    let file = folder.path().join("log");
    fixture.log_to(&file);
    (0..3).for_each(|_| assert_eq!(client.get("/kept").text(), "/kept"));
    fixture.end_log();
    // Responses on the fast path have no duration; only the third is one.
    let log = std::fs::read_to_string(file).unwrap();
    assert_eq!(log.matches("\"duration_ms\":0.000,").count(), 1, "{log}");
}

/// Goal: decisions of old settings are not reused under new ones.
#[test]
fn responses_decided_before_a_reload_are_not_remembered() {
    let mut fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    assert_eq!(client.get("/large").body.len(), LARGE);
    client.send(get("/large")).stream.peek(&mut [0]).unwrap();
    // It has been decided, and is in progress until its client reads it.
    let bypass = vec![Pattern::new("*")];
    fixture.reload_exchange(ExchangeSettings { bypass, ..ExchangeSettings::default() });
    let mut other = fixture.client();
    while fixture.origin.lines().len() < 3 {
        other.get("/kept");
    }
    assert_eq!(client.answer().body.len(), LARGE);
    let before = fixture.origin.lines().len();
    assert_eq!(client.get("/large").body.len(), LARGE);
    assert_eq!(fixture.origin.lines()[before..], ["GET /large"]);
}

#[test]
fn without_a_memo_table_responses_are_the_same() {
    let fixture = Fixture::start(|settings| settings.memo_bytes_max = 0);
    let mut client = fixture.client();
    (0..4).for_each(|_| assert_eq!(client.get("/kept").text(), "/kept"));
    assert_eq!(fixture.origin.lines(), ["GET /kept"]);
}

/// Goal: a connection whose only request is remembered is answered on accept, and closed.
#[test]
fn connections_per_request_use_the_fast_path() {
    let fixture = Fixture::start(|_| {});
    let request = "GET /kept HTTP/1.0\r\nHost: h\r\n\r\n";
    for _ in 0..20 {
        let mut client = fixture.client();
        assert_eq!(client.send(request).answer().text(), "/kept");
        client.expect_end();
    }
    let totals = fixture.totals();
    assert_eq!((totals.responses(), totals.connections_opened), (20, 20));
    assert_eq!(fixture.origin.lines(), ["GET /kept"]);
}

/// Goal: bytes that were read on accept are answered in order, whether their heads are remembered, new or incomplete.
#[test]
fn requests_that_come_with_their_connection_are_answered_in_order() {
    let fixture = Fixture::start(|_| {});
    (0..2).for_each(|_| assert_eq!(fixture.client().get("/kept").text(), "/kept"));
    let last = get("/kept?last");
    let (start, end) = last.split_at(9);
    for first in ["/kept", "/kept?new"] {
        let mut client = fixture.client();
        client.send(format!("{}{}{start}", get(first), get("/kept")));
        assert_eq!(client.answer().text(), first);
        assert_eq!(client.answer().text(), "/kept");
        assert_eq!(client.send(end).answer().text(), "/kept?last");
        assert_eq!(client.get("/kept").text(), "/kept");
    }
    assert_eq!(fixture.origin.lines(), ["GET /kept", "GET /kept?last", "GET /kept?new"]);
}

#[test]
fn unkeyed_lines_do_not_mix_responses() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    client.send("GET /kept HTTP/1.1\r\nHost: h\r\nX-Forwarded-Host: evil.example\r\n\r\n").answer();
    let answer = client.get("/kept");
    assert!(!answer.head.contains("evil") && answer.text() == "/kept", "{answer:?}");
    let (head, _) = fixture.origin.asked().pop().unwrap();
    assert!(!head.contains("evil.example"), "{head}");
}
