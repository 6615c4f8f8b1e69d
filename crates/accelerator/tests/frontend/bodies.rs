//! Bodies in both directions: large ones, slow ones, truncated ones, and tunnels.

use super::client::{get, post};
use super::fixture::Fixture;
use super::origin::{LARGE, large};
use super::protocols::{block_on, connect};

#[test]
fn expect_continue_gets_100() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    client.send(post("/echo", "Content-Length: 5\r\nExpect: 100-continue\r\n", ""));
    client.expect(b"HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!(client.send("hello").answer().text(), "hello");
    assert_eq!(client.get("/a").text(), "/a");
}

#[test]
fn unknown_expectations_are_refused() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    client.send(post("/echo", "Content-Length: 5\r\nExpect: tea\r\n", "hello"));
    assert_eq!(client.answer().status, 417);
    client.expect_end();
    assert_eq!(fixture.origin.lines(), Vec::<String>::new());
}

#[test]
fn unknown_lengths_are_chunked_or_end_with_the_connection() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    let answer = client.get("/chunked");
    assert_eq!((answer.text(), answer.line("transfer-encoding")), ("abcde", Some("chunked")));
    assert_eq!(answer.line("x-trailer"), None);
    let answer = client.send("GET /chunked HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n").answer();
    assert_eq!((answer.text(), answer.line("transfer-encoding"), answer.keep_alive), ("abcde", None, false));
    client.expect_end();
}

#[test]
fn a_truncated_body_is_truncated_for_the_client() {
    let fixture = Fixture::start(|_| {});
    for target in ["/cut-length", "/cut-chunked"] {
        let mut client = fixture.client();
        let answer = client.send(get(target)).answer_to(http1::RequestMethod::Get);
        assert!(answer.is_err(), "{target}: {answer:?}");
    }
}

/// Goal: a body that does not fit the socket buffers is sent as the client reads it, on the slow and the fast path.
#[test]
fn large_bodies_arrive_complete_on_both_paths() {
    let fixture = Fixture::start(|_| {});
    let expected = large();
    let mut client = fixture.client();
    for _ in 0..4 {
        let answer = client.get("/large");
        assert_eq!(answer.body.len(), LARGE);
        assert!(answer.body == expected);
    }
    assert_eq!(fixture.origin.lines(), ["GET /large"]);
}

#[test]
fn pipelined_large_bodies_come_in_order() {
    let fixture = Fixture::start(|_| {});
    let expected = large();
    let mut client = fixture.client();
    for _ in 0..2 {
        client.send(get("/large") + &get("/kept") + &get("/large") + &get("/a"));
        assert!(client.answer().body == expected);
        assert_eq!(client.answer().text(), "/kept");
        assert!(client.answer().body == expected);
        assert_eq!(client.answer().text(), "/a");
    }
}

#[test]
fn a_large_upload_arrives_complete() {
    let fixture = Fixture::start(|_| {});
    let body = "0123456789abcdef".repeat(64 * 1024);
    let mut client = fixture.client();
    let answer = client.send(post("/echo", &format!("Content-Length: {}\r\n", body.len()), &body)).answer();
    assert!(answer.text() == body);
    let chunks: String = body.as_bytes().chunks(1_000).fold(String::new(), |all, chunk| {
        all + &format!("{:x}\r\n{}\r\n", chunk.len(), std::str::from_utf8(chunk).unwrap())
    });
    let answer =
        client.send(post("/echo", "Transfer-Encoding: chunked\r\n", &(chunks + "0\r\n\r\n"))).answer();
    assert!(answer.text() == body);
}

#[test]
fn an_upgraded_connection_relays_bytes_both_ways() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    let request =
        "GET /socket HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly ";
    client.send(request);
    let answer = client.answer_to(http1::RequestMethod::Get).unwrap();
    assert_eq!((answer.status, answer.line("upgrade")), (101, Some("websocket")));
    assert_eq!(answer.line("connection").map(str::to_lowercase).as_deref(), Some("upgrade"));
    client.expect(b"hello early ");
    client.send("late");
    client.expect(b"late");
    client.end();
    client.expect_end();
}

/// Goal: each interim response reaches an HTTP/1.1 client before the final one, and an HTTP/1.0 client never (RFC
/// 9110 §15.2).
#[test]
fn interim_responses_go_to_http11_clients_only() {
    let fixture = Fixture::start(|_| {});
    let interims = b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let mut client = fixture.client();
    for request in [get("/hints"), get("/hints"), post("/hints", "Content-Length: 2\r\n", "ab")] {
        client.send(&request).expect(interims);
        let answer = client.answer();
        assert_eq!((answer.status, answer.text(), answer.keep_alive), (200, "hints", true), "{request:?}");
    }
    let mut old = fixture.client();
    let answer = old.send("GET /hints HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n").answer();
    assert_eq!((answer.status, answer.text()), (200, "hints"));
    // A client that expects 100 gets one more, and the body is read.
    let mut waiting = fixture.client();
    waiting.send("POST /hints HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    waiting.expect(b"HTTP/1.1 100 Continue\r\n\r\n");
    waiting.send("ab").expect(interims);
    assert_eq!(waiting.answer().text(), "hints");
}

/// Regression: a bare percent sign in a query and text that is not encoded were refused, on sites that work without a
/// proxy.
#[test]
fn browser_targets_are_accepted_and_normalized() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    for (target, asked) in
        [("/q?x=100%", "/q?x=100%"), ("/caf\u{e9}", "/caf%C3%A9"), ("/a|b", "/a%7Cb"), ("/a%2fb", "/a%2Fb")]
    {
        assert_eq!((client.get(target).status, client.get(asked).text()), (200, asked), "{target}");
    }
    // Both forms of a target have one key.
    for target in ["/kept?caf\u{e9}=5%25", "/kept?caf%C3%A9=5%25", "/kept?c%61f%c3%a9=5%25"] {
        assert_eq!(client.get(target).text(), "/kept?caf%C3%A9=5%25");
    }
    let asked = fixture.origin.lines();
    assert_eq!(asked.iter().filter(|line| line.contains("/kept")).count(), 1, "{asked:?}");
    for target in ["/100%", "/%u0041", "/%00", "/a?%00", "/..%2fb", "/a/..;x/b", "/../b", "/a#b"] {
        assert_eq!(fixture.client().get(target).status, 400, "{target}");
    }
}

/// Regression: the connection was closed without any reply.
#[test]
fn a_body_that_is_malformed_from_the_start_is_a_bad_gateway() {
    let fixture = Fixture::start(|settings| settings.listens[0].http2 = true);
    let mut client = fixture.client();
    for target in ["/bad-chunk", "/bad-chunk-to-store"] {
        let answer = client.get(target);
        assert_eq!((answer.status, answer.keep_alive), (502, true), "{target}");
        assert!(answer.text().contains("502 Bad Gateway"), "{}", answer.text());
    }
    block_on(async {
        let (mut send, connection) = h2::client::handshake(connect(fixture.address()).await).await.unwrap();
        let request = http::Request::get("http://h/bad-chunk").body(()).unwrap();
        let (response, _) = send.send_request(request, true).unwrap();
        let response = tokio::select! {
            response = response => response.unwrap(),
            ended = connection => panic!("{ended:?}"),
        };
        assert_eq!(response.status(), 502);
    });
}

/// Goal: nothing peculiar of a response reaches the client, who might read it otherwise.
#[test]
fn a_peculiar_response_is_forwarded_clean() {
    let fixture = Fixture::start(|_| {});
    let answer = fixture.client().get("/peculiar");
    assert_eq!((answer.status, answer.text(), answer.line("a")), (200, "abc", Some("b   c")));
    assert_eq!(answer.head.matches('\n').count(), answer.head.matches("\r\n").count(), "{}", answer.head);
    assert_eq!(answer.line("transfer-encoding"), Some("chunked"));
    assert_eq!((answer.line("content-length"), answer.head.matches(" :").count()), (None, 0));
}
