//! The web origin over real sockets.

use std::io::Read;
use std::net::Shutdown;
use std::time::Duration;

use http1::{Framing, Http1Version, RequestMethod};
use servers::web::WebOptions;
use units::{Clock, Nanos, Ratio, RealClock};

use crate::common::{self, Client, Failure, OBJECTS, content, start};

#[test]
fn every_object_arrives_byte_for_byte_on_one_kept_connection() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    for (path, bytes) in OBJECTS.into_iter().chain(OBJECTS) {
        let reply = client.get(path).unwrap();
        assert_eq!((reply.head.status, reply.head.framing), (200, Framing::Length(bytes)), "{path}");
        assert!(reply.head.keep_alive && reply.body == content(path), "{path}");
    }
    drop(client);
    let report = server.stop().unwrap();
    assert_eq!((report.connections, report.requests, report.faults), (1, 8, 0));
    assert!(2 * 5 * 1024 * 1024 < report.bytes_sent && Nanos::ZERO < report.cpu);
}

#[test]
fn http10_closes_unless_keep_alive_is_requested() {
    let server = start(|_| {});
    for path in ["/small.html", "/large.bin"] {
        let mut client = Client::connect(server.address());
        let reply = client.send(&format!("GET {path} HTTP/1.0\r\n\r\n")).reply(RequestMethod::Get).unwrap();
        assert_eq!((reply.head.version, reply.head.keep_alive), (Http1Version::Http10, false));
        assert!(reply.body == content(path) && client.is_closed());
    }
    let mut client = Client::connect(server.address());
    for _ in 0..3 {
        let request = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
        let reply = client.send(request).reply(RequestMethod::Get).unwrap();
        assert_eq!((reply.head.version, reply.head.keep_alive), (Http1Version::Http10, true));
    }
    let closing = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    assert!(!client.send(closing).reply(RequestMethod::Get).unwrap().head.keep_alive);
    assert!(client.is_closed());
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    let paths: Vec<&str> = (0..300).map(|k| ["/small.html", "/", "/empty.html"][k % 3]).collect();
    let requests: Vec<String> =
        paths.iter().map(|path| format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n")).collect();
    client.send(&requests.concat());
    for path in paths {
        assert_eq!(client.reply(RequestMethod::Get).unwrap().body, content(path));
    }
}

#[test]
fn a_request_may_arrive_in_pieces() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    client.stream.set_nodelay(true).unwrap();
    for byte in "GET /small.html?a=b HTTP/1.1\r\nHost: h\r\n\r\n".chars() {
        client.send(&byte.to_string());
    }
    assert_eq!(client.reply(RequestMethod::Get).unwrap().body, content("/small.html"));
}

#[test]
fn a_client_that_has_closed_its_side_still_gets_every_response() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    client.send("GET /large.bin HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n");
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.reply(RequestMethod::Get).unwrap().body, content("/large.bin"));
    assert_eq!(client.reply(RequestMethod::Get).unwrap().body, content("/"));
    assert!(client.is_closed());
}

#[test]
fn head_requests_get_no_body() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    client.send("HEAD /large.bin HTTP/1.1\r\nHost: h\r\n\r\nHEAD /none HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(client.reply(RequestMethod::Head).unwrap().head.status, 200);
    assert_eq!(client.reply(RequestMethod::Head).unwrap().head.status, 404);
    assert_eq!(client.get("/").unwrap().body, content("/"));
}

#[test]
fn an_unmodified_file_is_answered_with_304() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    let request =
        |since: &str| format!("GET /small.html HTTP/1.1\r\nHost: h\r\nIf-Modified-Since: {since}\r\n\r\n");
    client.send(&request("Sat, 01 Jan 2000 00:00:00 GMT"));
    let reply = client.reply(RequestMethod::Get).unwrap();
    assert_eq!((reply.head.status, reply.head.framing, reply.head.keep_alive), (304, Framing::None, true));
    client.send(&request("Fri, 31 Dec 1999 23:59:59 GMT"));
    let reply = client.reply(RequestMethod::Get).unwrap();
    assert_eq!((reply.head.status, reply.body), (200, content("/small.html")));
    client.send(&request("Sat, 01 Jan 2000 00:00:00 GMT").replace("/small.html", "/none"));
    assert_eq!(client.reply(RequestMethod::Get).unwrap().head.status, 404);
}

#[test]
fn refusals_have_their_status_and_close_only_if_necessary() {
    let server = start(|_| {});
    let large = format!("GET / HTTP/1.1\r\nHost: h\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let many = format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "X: y\r\n".repeat(200));
    let cases = [
        ("GET /none HTTP/1.1\r\nHost: h\r\n\r\n", 404, true),
        ("GET http://h HTTP/1.1\r\nHost: h\r\n\r\n", 200, true),
        ("DELETE / HTTP/1.1\r\nHost: h\r\n\r\n", 405, true),
        ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 405, true),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nGET /", 405, false),
        ("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, false),
        ("GET / HTTP/1.1\r\n\r\n", 400, false),
        ("\0\r\n\r\n", 400, false),
        ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505, false),
        (&large, 431, false),
        (&many, 431, false),
    ];
    for (request, status, kept) in cases {
        let mut client = Client::connect(server.address());
        let reply = client.send(request).reply(RequestMethod::Get).unwrap();
        let shown = &request[..request.len().min(60)];
        assert_eq!((reply.head.status, reply.head.keep_alive), (status, kept), "{shown}");
        assert!(kept || client.is_closed(), "{shown}");
    }
}

/// Goal: a client that does not read a large response does not block others.
#[test]
fn a_slow_reader_does_not_block_others() {
    let server = start(|_| {});
    let mut slow: Vec<Client> = (0..4).map(|_| Client::connect(server.address())).collect();
    for client in &mut slow {
        client.send("GET /large.bin HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    let mut quick = Client::connect(server.address());
    for _ in 0..50 {
        assert_eq!(quick.get("/small.html").unwrap().body, content("/small.html"));
    }
    for mut client in slow {
        assert_eq!(client.reply(RequestMethod::Get).unwrap().body, content("/large.bin"));
    }
}

/// Goal: neither silence nor a drip of bytes that never becomes a request keeps a connection open. Method:
/// the client drips a byte whenever it has waited 10 ms in vain for an answer.
#[test]
fn connections_without_progress_are_closed() {
    let server = start(|options| options.idle_timeout = Nanos::from_millis(100));
    let clock = RealClock::start();
    assert!(Client::connect(server.address()).is_closed());
    assert!(Nanos::from_millis(100) <= clock.now());

    let mut client = Client::connect(server.address());
    client.get("/").unwrap();
    client.stream.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let mut drip = "GET / HTTP/1.1\r\nX: ".bytes().chain(std::iter::repeat_n(b'x', 2_000));
    let ended = drip.find(|byte| {
        let sent = std::io::Write::write_all(&mut client.stream, &[*byte]);
        let waited = matches!(client.stream.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
        sent.is_err() || !waited
    });
    assert!(ended.is_some());
}

#[test]
fn a_stopped_server_refuses_connections() {
    let server = start(|_| {});
    let address = server.address();
    let mut client = Client::connect(address);
    client.get("/").unwrap();
    assert_eq!(server.stop().unwrap().address, address);
    assert!(client.is_closed());
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn start_errors_state_the_reason() {
    let first = start(|_| {});
    let failure = |change: &dyn Fn(&mut WebOptions)| {
        let mut options = WebOptions::new(common::files());
        change(&mut options);
        servers::web::WebServer::start(options).unwrap_err()
    };
    let taken = failure(&|options| options.listen = first.address());
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    for share in [0.0, -1.0, 1.01, f64::NAN] {
        let error = failure(&|options| options.cpu_allowance = Some(Ratio(share)));
        assert!(error.to_string().starts_with("expected a CPU allowance from 0.01 to 1"), "{error}");
    }
}

#[test]
fn an_incomplete_head_is_not_answered() {
    let server = start(|_| {});
    let mut client = Client::connect(server.address());
    client.send("GET / HTTP/1.1\r\nHost: h\r\n");
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.reply(RequestMethod::Get), Err(Failure::NoHead));
}
