//! Lifetime of connections, and order of responses.

use http1::RequestMethod;

use super::client::get;
use super::fixture::Fixture;

#[test]
fn connections_persist_until_either_side_closes() {
    let fixture = Fixture::start(|_| {});
    let cases = [
        ("GET /a HTTP/1.1\r\nHost: h\r\n\r\n", true),
        ("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false),
        ("GET /a HTTP/1.0\r\nHost: h\r\n\r\n", false),
        ("GET /a HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n", true),
        ("GET /kept HTTP/1.1\r\nHost: h\r\n\r\n", true),
        ("GET /kept HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false),
        ("GET /kept HTTP/1.0\r\nHost: h\r\n\r\n", false),
        ("GET /kept HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n", true),
    ];
    // The third time the heads of stored responses are remembered.
    for (request, lasts) in cases.iter().cycle().take(3 * cases.len()) {
        let mut client = fixture.client();
        let answer = client.send(request).answer();
        assert_eq!((answer.status, answer.keep_alive), (200, *lasts), "{request:?}");
        if *lasts {
            assert_eq!(client.get("/b").text(), "/b");
        } else {
            client.expect_end();
        }
    }
}

#[test]
fn pipelined_responses_come_in_order() {
    let fixture = Fixture::start(|_| {});
    let targets = ["/kept?1", "/a", "/kept?2", "/kept?1", "/kept?1", "/b", "/kept?2"];
    let requests: String = targets.iter().map(|target| get(target)).collect();
    for _ in 0..3 {
        let mut client = fixture.client();
        client.send(&requests);
        let answers: Vec<_> = targets.iter().map(|_| client.answer().text().to_owned()).collect();
        assert_eq!(answers, targets);
    }
}

/// Goal: however a client cuts its requests into packets, they mean the same.
#[test]
fn requests_may_arrive_byte_by_byte() {
    let fixture = Fixture::start(|_| {});
    let requests =
        format!("\r\n{}{}", get("/kept"), "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    for _ in 0..2 {
        let mut client = fixture.client();
        for byte in requests.as_bytes() {
            client.send([*byte]);
        }
        assert_eq!(client.answer().text(), "/kept");
        assert_eq!(client.answer().text(), "abc");
    }
}

#[test]
fn a_half_closed_client_gets_its_responses() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    client.send(get("/a") + &get("/kept") + "GET /half").end();
    assert_eq!(client.answer().text(), "/a");
    assert_eq!(client.answer().text(), "/kept");
    client.expect_end();
}

#[test]
fn head_has_the_length_and_no_body() {
    let fixture = Fixture::start(|_| {});
    let mut client = fixture.client();
    let body = client.get("/kept").body.len().to_string();
    for _ in 0..3 {
        client.send("HEAD /kept HTTP/1.1\r\nHost: h\r\n\r\n");
        let answer = client.answer_to(RequestMethod::Head).unwrap();
        assert_eq!((answer.status, answer.line("content-length")), (200, Some(&*body)));
    }
    assert_eq!(client.get("/a").text(), "/a");
}

#[test]
fn every_worker_answers() {
    let fixture = Fixture::with(3, None, |_| {});
    for _ in 0..30 {
        assert_eq!(fixture.client().get("/kept").text(), "/kept");
    }
    let totals = fixture.settled(|totals| totals.responses() == 30);
    assert_eq!(totals.connections_opened, 30);
    assert_eq!(fixture.origin.lines().len(), 1);
}
