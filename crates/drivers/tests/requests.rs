//! Requests are sent as the workload defines them, and replies are checked against its expectations.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;

use drivers::web::{PlainDriver, Target, TargetAccess, WebContext, WebContextOptions};
use drivers::{TargetPolicy, Trust};
use model::{
    ConnectionLifetime, GeneratedText, HttpVersion, Outcome, Parameter, ReplyBody, Request, Secrets,
    ValueCount, WebProtocol, WebRequest, WebWorkload,
};

use crate::common::{Fixture, Peer, SMALL, clock, connection, protocol, read_request, right_reply, workload};

const KEEP_ALIVE: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: None };

/// Returns a workload of one request.
fn asking(request: Request) -> WebWorkload {
    WebWorkload { requests: vec![request], ..workload() }
}

/// Two parameters: a directory and, varying fastest, one of 9 files with different sizes.
fn with_parameters() -> Request {
    Request {
        path: "/dir{directory:5}/class_{file}?x={directory}".parse().unwrap(),
        parameters: vec![
            Parameter::numbers("directory", 0, ValueCount::Fixed(20)),
            Parameter::numbers("file", 1, ValueCount::Fixed(9)),
        ],
        reply: ReplyBody::File((1..=9).map(|size| size * 100).collect()),
        ..Request::file("/", 0)
    }
}

fn reply(body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// Sends the requests over one connection, whose peer sends the replies in turn. Returns the requests as
/// sent, and their outcomes.
fn exchange(
    protocol: &WebProtocol,
    workload: &WebWorkload,
    requests: &[WebRequest],
    replies: Vec<Vec<u8>>,
) -> (Vec<String>, Vec<(Outcome, String)>) {
    let (tell, told) = channel();
    let peer = Peer::start(vec![connection(move |mut stream| {
        for reply in replies {
            tell.send(read_request(&mut stream)).unwrap();
            stream.write_all(&reply).unwrap();
        }
    })]);
    let answers = Fixture::of(peer.address, protocol, workload).run(async |fixture| {
        let mut answers = Vec::new();
        for request in requests {
            answers.push(fixture.perform_described(request).await);
        }
        answers
    });
    peer.join();
    (told.iter().collect(), answers)
}

#[test]
fn a_path_contains_the_parameters_of_the_object() {
    let workload = asking(with_parameters());
    let numbers = [0, 8, 9 * 19 + 4, 0];
    let requests = numbers.map(|number| WebRequest { number, ..WebRequest::first(0) });
    let content = model::Content::new(workload.content_seed);
    let body = |number: u64| {
        let mut body = vec![0; workload.requests[0].body_bytes(number).unwrap() as usize];
        content.fill(workload.content_object(0, number), 0, &mut body);
        reply(&body)
    };
    let (sent, answers) = exchange(&protocol(KEEP_ALIVE), &workload, &requests, numbers.map(body).into());
    let paths: Vec<_> = sent.iter().map(|request| request.split(' ').nth(1).unwrap()).collect();
    assert_eq!(
        paths,
        ["/dir00000/class_1?x=0", "/dir00000/class_9?x=0", "/dir00019/class_5?x=19", "/dir00000/class_1?x=0"]
    );
    assert!(sent.iter().all(|request| request.ends_with("\r\nAccept: */*\r\n\r\n")), "{sent:?}");
    assert!(answers.iter().all(|(outcome, _)| *outcome == Outcome::Ok), "{answers:?}");
}

#[test]
fn method_and_headers_are_sent_and_the_status_is_checked() {
    let request = Request {
        method: "POST".to_owned(),
        headers: vec![("X-Kind".to_owned(), "a b".to_owned())],
        status: 201,
        reply: ReplyBody::Empty,
        ..Request::file("/make", 0)
    };
    let replies = vec![
        b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
    ];
    let twice = [WebRequest::first(0); 2];
    let (sent, answers) = exchange(&protocol(KEEP_ALIVE), &asking(request), &twice, replies);
    assert!(sent[0].starts_with("POST /make HTTP/1.1\r\nHost: localhost:"), "{}", sent[0]);
    assert!(sent[0].ends_with("\r\nAccept: */*\r\nX-Kind: a b\r\nContent-Length: 0\r\n\r\n"), "{}", sent[0]);
    assert_eq!(answers[0].0, Outcome::Ok);
    assert_eq!(answers[1], (Outcome::WrongStatus, "POST /make: status 200, expected 201".to_owned()));
}

#[test]
fn each_of_several_statuses_is_right() {
    let request = Request {
        status: 200,
        other_statuses: vec![201, 404],
        reply: ReplyBody::Empty,
        ..Request::file("/cart", 0)
    };
    let statuses = ["200 OK", "404 Not Found", "201 Created", "202 Accepted"];
    let replies = statuses.map(|status| format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").into());
    let all = [WebRequest::first(0); 4];
    let (_, answers) = exchange(&protocol(KEEP_ALIVE), &asking(request), &all, replies.into());
    let outcomes: Vec<Outcome> = answers.iter().map(|(outcome, _)| *outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Ok, Outcome::Ok, Outcome::WrongStatus]);
    assert!(answers[3].1.contains("status 202, expected 200 or 201 or 404"), "{}", answers[3].1);
}

/// Method: the body ends like a head, which is what the peer waits for.
#[test]
fn a_request_body_is_sent_with_the_head() {
    let request =
        Request { method: "PUT".to_owned(), body: "hello\r\n\r\n".to_owned(), ..Request::file("/x", 0) };
    let replies = vec![reply(b"")];
    let (sent, answers) = exchange(&protocol(KEEP_ALIVE), &asking(request), &[WebRequest::first(0)], replies);
    assert!(sent[0].ends_with("\r\nContent-Length: 9\r\n\r\nhello\r\n\r\n"), "{}", sent[0]);
    assert_eq!(answers[0].0, Outcome::Ok);
}

#[test]
fn a_conditional_request_expects_no_body() {
    let request = Request {
        headers: vec![("If-Modified-Since".to_owned(), "Sat, 21 Nov 2026 00:00:00 GMT".to_owned())],
        status: 304,
        ..Request::file("/small.html", 500)
    };
    let replies =
        vec![b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n".to_vec(), right_reply(SMALL, "")];
    let (_, answers) = exchange(&protocol(KEEP_ALIVE), &asking(request), &[WebRequest::first(0); 2], replies);
    assert_eq!(answers[0].0, Outcome::Ok);
    assert_eq!(answers[1].1, "GET /small.html: status 200, expected 304");
}

/// Goal: the last request of a session asks the server to close, and the client waits for it.
#[test]
fn the_last_request_of_a_session_sends_close_and_waits_for_it() {
    for (http, asked) in
        [(HttpVersion::Http11, "\r\nConnection: close\r\n\r\n"), (HttpVersion::Http10, "*/*\r\n\r\n")]
    {
        let (tell, told) = channel();
        let session = || {
            let tell = tell.clone();
            connection(move |mut stream: TcpStream| {
                for closes in [false, true] {
                    let request = read_request(&mut stream);
                    assert_eq!(request.ends_with(asked), closes, "{request}");
                    stream.write_all(&right_reply(SMALL, "Connection: keep-alive\r\n")).unwrap();
                }
                // The client does not close first.
                stream.set_nonblocking(true).unwrap();
                tell.send(stream.read(&mut [0]).map_err(|error| error.kind())).unwrap();
            })
        };
        let peer = Peer::start(vec![session(), session()]);
        let protocol = WebProtocol { http, ..protocol(ConnectionLifetime::Sessions) };
        Fixture::of(peer.address, &protocol, &workload()).run(async |fixture| {
            for closes in [false, true, false, true] {
                let reply = fixture.perform(&WebRequest { closes, ..WebRequest::first(SMALL) }).await;
                assert_eq!(reply.outcome, Outcome::Ok);
            }
        });
        peer.join();
        drop(tell);
        assert!(told.iter().all(|seen| seen == Err(std::io::ErrorKind::WouldBlock)));
    }
}

#[test]
fn the_seed_in_the_path_determines_the_expected_letters() {
    let request = Request {
        path: "/dyn?size=300&seed={seed}".parse().unwrap(),
        parameters: vec![Parameter::numbers("seed", 5, ValueCount::Fixed(100))],
        reply: ReplyBody::Letters { bytes: 300, markup: false },
        ..Request::file("/", 0)
    };
    let letters = |seed| {
        let mut body = vec![0; 300];
        GeneratedText::new(seed).fill(&mut body);
        reply(&body)
    };
    let requests = [0, 9, 9].map(|number| WebRequest { number, ..WebRequest::first(0) });
    let replies = vec![letters(5), letters(14), letters(15)];
    let (_, answers) = exchange(&protocol(KEEP_ALIVE), &asking(request), &requests, replies);
    assert_eq!((answers[0].0, answers[1].0), (Outcome::Ok, Outcome::Ok));
    let text = "GET /dyn?size=300&seed=14: wrong byte at position 0 of the body";
    assert_eq!(answers[2], (Outcome::WrongBytes, text.to_owned()));
}

#[test]
fn unknown_content_must_not_change() {
    let request = || asking(Request { reply: ReplyBody::Same, ..Request::file("/page", 0) });
    let twice = [WebRequest::first(0); 2];
    let ask = |second: &[u8]| {
        let (_, answers) =
            exchange(&protocol(KEEP_ALIVE), &request(), &twice, vec![reply(b"one"), reply(second)]);
        assert_eq!(answers[0].0, Outcome::Ok);
        answers[1].clone()
    };
    assert_eq!(ask(b"one").0, Outcome::Ok);
    let text = "GET /page: body differs from the first response";
    assert_eq!(ask(b"two"), (Outcome::WrongBytes, text.to_owned()));
    let text = "GET /page: body of 4 bytes, but 3 in the first response";
    assert_eq!(ask(b"four"), (Outcome::WrongLength, text.to_owned()));
}

/// Goal: a page may change with time, but not to an empty or cut one, or to one of another type.
#[test]
fn content_that_is_only_seen_may_change_with_time() {
    let asked = asking(Request { reply: ReplyBody::Seen, ..Request::file("/page", 0) });
    let typed = |kind: &str, body: &str| {
        let n = body.len();
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {n}\r\n\r\n{body}").into_bytes()
    };
    let cut = "GET /page: body of 3 bytes, but 7 in the first response";
    let cases = [
        ("text/html; charset=utf-8", "page of now", Ok(())),
        ("TEXT/HTML", "page", Ok(())),
        ("text/html", "pag", Err((Outcome::WrongLength, cut))),
        (
            "text/plain",
            "page  1",
            Err((Outcome::WrongBytes, "GET /page: body differs from the first response")),
        ),
    ];
    for (kind, body, expected) in cases {
        let replies = vec![typed("text/html", "page  0"), typed(kind, body)];
        let (_, answers) = exchange(&protocol(KEEP_ALIVE), &asked, &[WebRequest::first(0); 2], replies);
        let found = answers[1].clone();
        let expected = expected.err().map_or((Outcome::Ok, "GET /page: ok"), |failure| failure);
        assert_eq!((found.0, found.1.as_str()), expected, "{kind}: {body}");
    }
}

#[test]
fn a_missing_text_is_reported() {
    let request = Request { reply: ReplyBody::Contains("needle".to_owned()), ..Request::file("/page", 0) };
    let replies = vec![reply(b"hay needle hay"), reply(b"hay")];
    let (_, answers) = exchange(&protocol(KEEP_ALIVE), &asking(request), &[WebRequest::first(0); 2], replies);
    assert_eq!(answers[0].0, Outcome::Ok);
    assert_eq!(answers[1], (Outcome::WrongBytes, "GET /page: no `needle` in the body of 3 bytes".to_owned()));
}

#[test]
fn an_unrequested_compressed_body_has_its_own_outcome() {
    let mut text = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 500\r\n\r\n".to_vec();
    text.resize(text.len() + 500, 0x1f);
    let (_, answers) = exchange(&protocol(KEEP_ALIVE), &workload(), &[WebRequest::first(SMALL)], vec![text]);
    let words = "GET /small.html: body with an unrequested `Content-Encoding`";
    assert_eq!(answers[0], (Outcome::WrongEncoding, words.to_owned()));
}

#[test]
fn any_body_may_be_compressed_if_any_body_is_accepted() {
    let text = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08".to_vec();
    for (reply, outcome) in [(ReplyBody::Any, Outcome::Ok), (ReplyBody::Seen, Outcome::WrongEncoding)] {
        let workload = asking(Request { reply, ..Request::file("/x", 0) });
        let (_, answers) =
            exchange(&protocol(KEEP_ALIVE), &workload, &[WebRequest::first(0)], vec![text.clone()]);
        assert_eq!(answers[0].0, outcome, "{}", answers[0].1);
    }
}

/// Goal: requests are sent with secrets, descriptions do not contain them.
#[test]
fn secrets_are_sent_but_not_shown() {
    let kind = 0;
    let number = 0;
    let mut request = Request {
        name: "page".to_owned(),
        headers: vec![("Authorization".to_owned(), "Bearer s3cret-header".to_owned())],
        reply: ReplyBody::Any,
        ..Request::file("/x?token=s3cret-query", 0)
    };
    let mut secrets = Secrets::default();
    for (secret, value) in request.take_credentials() {
        secrets.insert(kind, &secret.part, value);
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let asked = read_request(&mut stream);
        stream.write_all(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n").unwrap();
        asked
    });
    let target = Target {
        host: "localhost".to_owned(),
        port: address.port(),
        secure: false,
        access: TargetAccess::default(),
    };
    let workload = WebWorkload { protocol: protocol(KEEP_ALIVE), ..asking(request) };
    let setup = WebContextOptions {
        target: &target,
        address,
        policy: TargetPolicy,
        workload: &workload,
        secrets: &secrets,
        source_addresses: &[],
        trust: &Trust::Any,
        clock: clock(),
    };
    let no_secrets =
        WebContext::new(WebContextOptions { secrets: &Secrets::default(), ..setup }).unwrap_err().to_string();
    assert!(no_secrets.starts_with("`headers.Authorization` of request `page` has no value"), "{no_secrets}");
    let web = WebContext::new(setup).unwrap();
    let operation = WebRequest { number, ..WebRequest::first(0) };
    let (outcome, told) =
        Fixture::with(PlainDriver::new(web)).run(async |fixture| fixture.perform_described(&operation).await);
    assert_eq!(
        (outcome, told.as_str()),
        (Outcome::WrongStatus, "GET /x?token=[redacted]: status 401, expected 200")
    );
    let asked = server.join().unwrap();
    assert!(asked.starts_with("GET /x?token=s3cret-query HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("\r\nAuthorization: Bearer s3cret-header\r\n"), "{asked}");
}

/// Returns the error of a context that cannot be created.
fn refused(workload: &WebWorkload, secure: bool, sources: &[IpAddr]) -> String {
    let target = Target { host: "localhost".to_owned(), port: 80, secure, access: TargetAccess::default() };
    let setup = WebContextOptions {
        target: &target,
        address: "127.0.0.1:80".parse().unwrap(),
        policy: TargetPolicy,
        workload: &WebWorkload { protocol: protocol(KEEP_ALIVE), ..workload.clone() },
        secrets: &Secrets::default(),
        source_addresses: sources,
        trust: &Trust::Any,
        clock: clock(),
    };
    WebContext::new(setup).unwrap_err().to_string()
}

#[test]
fn contradictory_requests_are_refused_before_the_run() {
    let headers = vec![("content-length".to_owned(), "5".to_owned())];
    let request = Request { name: "make".to_owned(), headers, ..Request::file("/x", 0) };
    let expected =
        "request `make`: header `content-length` is written by the program itself\nhint: leave it out";
    assert_eq!(refused(&asking(request), false, &[]), expected);
    let request = Request {
        path: "/{name}".parse().unwrap(),
        parameters: vec![Parameter::texts("name", vec!["a".to_owned(), "b c".to_owned()])],
        ..Request::file("/x", 0)
    };
    let text = refused(&asking(request), false, &[]);
    assert!(text.contains("found `/b c`"), "{text}");
    let request = Request { method: "CONNECT".to_owned(), ..Request::file("/x", 0) };
    assert!(refused(&asking(request), false, &[]).starts_with("request `/x`: expected a method"));
}

#[test]
fn target_and_plan_must_agree_on_tls() {
    let expected = "target `https://localhost:80/` uses TLS, but the plan does not\n\
                    hint: add `--tls full` or `--tls resumed`";
    assert_eq!(refused(&workload(), true, &[]), expected);
}

#[test]
fn source_addresses_must_be_local_and_of_the_right_family() {
    for address in ["192.0.2.77", "::1"] {
        let text = refused(&workload(), false, &[address.parse().unwrap()]);
        assert!(text.starts_with(&format!("cannot connect from `{address}`: ")), "{text}");
    }
}

#[test]
fn connections_are_made_from_the_source_addresses_in_turn() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let sources = (0..6).map(|_| {
            let (mut stream, source) = listener.accept().unwrap();
            read_request(&mut stream);
            stream.write_all(&right_reply(SMALL, "")).unwrap();
            source.ip().to_string()
        });
        sources.collect::<Vec<_>>()
    });
    let sources = ["127.0.0.2", "127.0.0.3", "127.0.0.1"];
    let target = Target {
        host: "localhost".to_owned(),
        port: address.port(),
        secure: false,
        access: TargetAccess::default(),
    };
    let setup = WebContextOptions {
        target: &target,
        address,
        policy: TargetPolicy,
        workload: &workload(),
        secrets: &Secrets::default(),
        source_addresses: &sources.map(|source| source.parse().unwrap()),
        trust: &Trust::Any,
        clock: clock(),
    };
    Fixture::with(PlainDriver::new(WebContext::new(setup).unwrap())).run(async |fixture| {
        for _ in 0..6 {
            assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        }
    });
    assert_eq!(server.join().unwrap(), [sources, sources].concat());
}
