//! Ambiguous requests: each is refused, ends the connection, and does not reach the origin.

use super::client::{Client, post};
use super::fixture::Fixture;

/// The request hidden behind each request: if it were taken for one, the origin would see it.
const HIDDEN: &str = "GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n";

fn refused(fixture: &Fixture, request: impl AsRef<[u8]>, status: u16) {
    let request = request.as_ref();
    let before = fixture.origin.lines().len();
    let mut client = fixture.client();
    let answer = client.send([request, HIDDEN.as_bytes()].concat()).answer();
    let told = request.escape_ascii().to_string();
    assert_eq!((answer.status, answer.keep_alive), (status, false), "{told}");
    client.expect_end();
    let lines = fixture.origin.lines();
    assert!(lines.iter().all(|line| !line.contains("/hidden")), "{told}: {lines:?}");
    assert_eq!(lines.len(), before, "{told}: {lines:?}");
}

#[test]
fn ambiguous_heads_do_not_reach_the_origin() {
    let fixture = Fixture::start(|_| {});
    let lines = [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400),
        ("Content-Length: 5\r\nContent-Length: 6\r\n", 400),
        ("Content-Length: 5, 6\r\n", 400),
        ("Content-Length: +5\r\n", 400),
        ("Content-Length: 0x5\r\n", 400),
        ("Content-Length: 5_0\r\n", 400),
        ("Content-Length: -1\r\n", 400),
        ("Content-Length: 99999999999999999999\r\n", 400),
        ("Content-Length:\r\n", 400),
        ("Content-Length : 5\r\n", 400),
        ("Transfer-Encoding: chunked, chunked\r\n", 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Transfer-Encoding: gzip, chunked\r\n", 501),
        ("Transfer-Encoding: xchunked\r\n", 501),
        ("Transfer-Encoding: identity\r\n", 501),
        ("Transfer-Encoding\t: chunked\r\n", 400),
        ("Transfer-Encoding:\x0bchunked\r\n", 400),
        ("A: b\r\n folded\r\n", 400),
        ("A: b\r\n\tfolded\r\n", 400),
        ("A: b\0c\r\n", 400),
        ("A: b\rc\r\n", 400),
        ("A\r\n", 400),
        (": a\r\n", 400),
        ("A b: c\r\n", 400),
        ("Host: other\r\n", 400),
    ];
    for (lines, status) in lines {
        refused(&fixture, post("/", lines, ""), status);
    }
}

#[test]
fn malformed_start_lines_do_not_reach_the_origin() {
    let fixture = Fixture::start(|_| {});
    let requests: [(&[u8], u16); 20] = [
        (b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: h\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\n\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: u@h\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b" GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET h:80 HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET / HTTP/1.2\r\nHost: h\r\n\r\n", 505),
        (b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ];
    for (request, status) in requests {
        refused(&fixture, request, status);
    }
}

#[test]
fn malformed_chunks_end_the_connection() {
    let fixture = Fixture::start(|_| {});
    let bodies = [
        "5 \r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5;a=\nb\r\nhello\r\n0\r\n\r\n",
        "5;a=\x01\r\nhello\r\n0\r\n\r\n",
        "fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        "g\r\nhello\r\n0\r\n\r\n",
        "0\r\nA\r\n\r\n",
        "0\r\n folded\r\n\r\n",
    ];
    for body in bodies {
        let mut client = fixture.client();
        let answer = client.send(post("/echo", "Transfer-Encoding: chunked\r\n", body) + HIDDEN).answer();
        assert_eq!((answer.status, answer.keep_alive), (400, false), "{body:?}");
        client.expect_end();
    }
    let lines = fixture.origin.lines();
    assert!(lines.iter().all(|line| !line.contains("/hidden")), "{lines:?}");
    // The incomplete requests that reached the origin never end.
    assert!(lines.iter().all(|line| !line.contains("/echo")), "{lines:?}");
}

#[test]
fn repeated_equal_lengths_are_merged() {
    let fixture = Fixture::start(|_| {});
    let answer =
        fixture.client().send(post("/echo", "Content-Length: 2\r\nContent-Length: 2, 2\r\n", "ab")).answer();
    assert_eq!((answer.status, answer.text()), (200, "ab"));
    let (head, body) = fixture.origin.asked().pop().unwrap();
    assert_eq!(head.to_lowercase().matches("content-length").count(), 1, "{head}");
    assert_eq!(body, b"ab");
}

#[test]
fn chunks_are_reframed_and_trailers_dropped() {
    let fixture = Fixture::start(|_| {});
    let body = "3;ext=\"1\"\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n";
    let mut client = fixture.client();
    let answer =
        client.send(post("/echo", "Transfer-Encoding: chunked\r\nTrailer: X-Trailer\r\n", body)).answer();
    assert_eq!((answer.status, answer.text(), answer.keep_alive), (200, "abcde", true));
    let (head, body) = fixture.origin.asked().pop().unwrap();
    assert_eq!(body, b"abcde");
    assert!(!head.to_lowercase().contains("trailer"), "{head}");
    assert_eq!(client.get("/next").text(), "/next");
}

#[test]
fn an_absolute_target_overrides_host() {
    let fixture = Fixture::start(|_| {});
    let request = "GET http://real.example/a?b HTTP/1.1\r\nHost: other.example\r\n\r\n";
    assert_eq!(fixture.client().send(request).answer().text(), "/a?b");
    let (head, _) = fixture.origin.asked().pop().unwrap();
    assert!(head.starts_with("GET /a?b HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("host: real.example\r\n"), "{head}");
    assert!(!head.contains("other.example"), "{head}");
}

#[test]
fn connect_requests_are_refused() {
    let fixture = Fixture::start(|_| {});
    let answer = fixture.client().send("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n").answer();
    assert!(matches!(answer.status, 405 | 501), "{answer:?}");
    assert_eq!(fixture.origin.lines(), Vec::<String>::new());
}

/// Goal: a client gets its response even if it goes on sending data that nothing will read.
#[test]
fn a_refusal_arrives_while_the_client_keeps_sending() {
    let fixture = Fixture::start(|_| {});
    let mut client = Client::connect(fixture.address());
    client
        .send(post("/echo", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", ""))
        .send(vec![b'x'; 500_000]);
    assert_eq!(client.answer().status, 400);
    client.expect_end();
}
