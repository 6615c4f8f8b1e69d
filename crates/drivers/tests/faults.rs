//! Every server fault ends in its own outcome, with a description.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::Duration;

use model::{ConnectionLifetime, Outcome};

use crate::common::{
    EMPTY, Fixture, LARGE, Peer, SMALL, body_bytes, connection, content, first_byte_time, read_request,
    reply_bytes, reset, right_reply, send_endlessly, server,
};

/// Upper bound on the bytes of an endless, unread response held by the kernel and the peers.
const SOCKET_BUFFERS_MAX: u64 = 32 << 20;

const BOTH: [ConnectionLifetime; 2] =
    [ConnectionLifetime::PerRequest, ConnectionLifetime::KeepAlive { requests_max: None }];

/// Checks the outcome of a request for an object at a server with this fault, with every connection setting.
fn check(fault: &str, object: u16, outcome: Outcome, text: &str) {
    for connection in BOTH {
        let server = server(&[fault]);
        let fixture = Fixture::new(server.address(), connection);
        let told = fixture.run(async |fixture| fixture.get_described(object).await);
        assert_eq!(told, (outcome, format!("GET {text}")), "{fault}, {connection:?}");
        assert_eq!(server.stop().unwrap().faults, 1);
    }
}

/// Checks the outcome of a request for the small object when the peer answers with `script`.
fn check_peer(script: impl Fn(TcpStream) + Send + Clone + 'static, outcome: Outcome, text: &str) {
    for connection_mode in BOTH {
        let script = script.clone();
        let peer = Peer::start(vec![connection(move |mut stream| {
            read_request(&mut stream);
            script(stream);
        })]);
        let fixture = Fixture::new(peer.address, connection_mode);
        let told = fixture.run(async |fixture| fixture.get_described(SMALL).await);
        assert_eq!(told, (outcome, format!("GET /small.html: {text}")), "{connection_mode:?}");
        peer.join();
    }
}

/// Does the same for a response that is sent in one piece, followed by a graceful close.
fn check_reply(reply: &[u8], outcome: Outcome, text: &str) {
    let reply = reply.to_vec();
    check_peer(move |mut stream| stream.write_all(&reply).unwrap(), outcome, text);
}

#[test]
fn bodies_that_differ_from_the_object() {
    check("wrong-length", SMALL, Outcome::WrongLength, "/small.html: body of 501 bytes, expected 500");
    check("wrong-length", EMPTY, Outcome::WrongLength, "/empty.html: body of 1 bytes, expected 0");
    check("wrong-bytes", SMALL, Outcome::WrongBytes, "/small.html: wrong byte at position 250 of the body");
    let text = "/large.bin: wrong byte at position 2500000 of the body";
    check("wrong-bytes", LARGE, Outcome::WrongBytes, text);
}

#[test]
fn truncated_replies() {
    check("truncated", SMALL, Outcome::Truncated, "/small.html: connection ended after 250 bytes");
    check("truncated", LARGE, Outcome::Truncated, "/large.bin: connection ended after 2500000 bytes");
    check("early-close", SMALL, Outcome::Truncated, "/small.html: connection ended after 0 bytes");
    let half_a_head = b"HTTP/1.1 200 OK\r\nContent-";
    check_reply(half_a_head, Outcome::Truncated, "connection ended after 0 bytes");
}

#[test]
fn unexpected_status() {
    check("wrong-status", SMALL, Outcome::WrongStatus, "/small.html: status 500, expected 200");
}

#[test]
fn malformed_heads() {
    let status = "line 1, `HTTP/1.1 2x0 OK`: status line is not `HTTP-version SP 3 digits [SP reason]`";
    let text = format!("/small.html: malformed head: {status}");
    check("malformed-head", SMALL, Outcome::MalformedHead, &text);
    let lengths = "line 3, `Content-Length: 501`: several `Content-Length` values that differ";
    let text = format!("/small.html: malformed head: {lengths}");
    check("duplicate-lengths", SMALL, Outcome::MalformedHead, &text);
    let version = "expected version HTTP/1.0 or HTTP/1.1 in the start line";
    let text = format!("malformed head: line 1, `220 mail.example ESMTP`: {version}");
    check_reply(b"220 mail.example ESMTP\r\n", Outcome::MalformedHead, &text);
}

#[test]
fn malformed_chunks() {
    let size = "`many` after 0 bytes of content: expected a chunk size of 1 to 16 hexadecimal digits";
    let text = format!("/small.html: malformed body: {size}");
    check("bad-chunk", SMALL, Outcome::MalformedBody, &text);
}

/// Goal: a reset is reported as a reset, whether it is seen together with the last bytes or after them.
/// Method: many repetitions.
#[test]
fn a_connection_reset_in_the_body() {
    let server = server(&["reset"]);
    for connection in BOTH {
        let fixture = Fixture::new(server.address(), connection);
        fixture.run(async |fixture| {
            for _ in 0..100 {
                let (outcome, text) = fixture.get_described(SMALL).await;
                assert_eq!(outcome, Outcome::Reset, "{text}");
                assert!(text.starts_with("GET /small.html: Connection reset by peer"), "{text}");
            }
        });
    }
}

/// Goal: a complete and correct response stays correct whenever the reset behind it is seen.
#[test]
fn a_reset_after_the_complete_reply_is_ignored() {
    let scripts = (0..100).map(|_| {
        connection(|mut stream| {
            read_request(&mut stream);
            stream.write_all(&right_reply(SMALL, "")).unwrap();
            reset(stream);
        })
    });
    let peer = Peer::start(scripts.collect());
    let fixture = Fixture::new(peer.address, ConnectionLifetime::PerRequest);
    fixture.run(async |fixture| {
        for _ in 0..100 {
            assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        }
    });
    peer.join();
}

#[test]
fn connection_refused() {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    for connection in BOTH {
        let (outcome, text) =
            Fixture::new(address, connection).run(async |fixture| fixture.get_described(SMALL).await);
        assert_eq!(outcome, Outcome::Refused);
        assert!(text.starts_with("GET /small.html: Connection refused"), "{text}");
    }
}

/// Goal: bounded memory for a hostile response. The peer can send no more than the socket buffers hold.
#[test]
fn endless_heads() {
    for lines in [false, true] {
        check_peer(
            move |mut stream| {
                stream.write_all(b"HTTP/1.1 200 OK\r\nX-Padding: ").unwrap();
                let more = if lines { b"x\r\nX-Padding: ".repeat(5000) } else { vec![b'x'; 1 << 16] };
                assert!(send_endlessly(&mut stream, &more) < SOCKET_BUFFERS_MAX);
            },
            Outcome::OversizedHead,
            "no end of the head within 65536 bytes and 1024 lines",
        );
    }
    let text = "/small.html: no end of the head within 65536 bytes and 1024 lines";
    check("oversized-head", SMALL, Outcome::OversizedHead, text);
}

#[test]
fn endless_bodies() {
    let keep_alive = BOTH[1];
    let start = [b"1f4\r\n", &content(SMALL)[..], b"\r\n"].concat();
    let chunk = b"10\r\n0123456789abcdef\r\n".repeat(1000);
    let plain = content(SMALL);
    let more = vec![b'x'; 1 << 16];
    for (connection_mode, line, start, more) in [
        (ConnectionLifetime::PerRequest, "", &plain, &more),
        (ConnectionLifetime::PerRequest, "Content-Length: 500\r\n", &plain, &more),
        (ConnectionLifetime::PerRequest, "Transfer-Encoding: chunked\r\n", &start, &chunk),
        (keep_alive, "", &plain, &more),
        (keep_alive, "Transfer-Encoding: chunked\r\n", &start, &chunk),
    ] {
        let start = start.clone();
        let more = more.clone();
        let peer = Peer::start(vec![connection(move |mut stream| {
            read_request(&mut stream);
            let head = format!("HTTP/1.1 200 OK\r\n{line}\r\n");
            stream.write_all(&[head.as_bytes(), &start].concat()).unwrap();
            assert!(send_endlessly(&mut stream, &more) < SOCKET_BUFFERS_MAX);
        })]);
        let fixture = Fixture::new(peer.address, connection_mode);
        let (outcome, text) = fixture.run(async |fixture| fixture.get_described(SMALL).await);
        assert_eq!(outcome, Outcome::WrongLength, "{line:?}, {connection_mode:?}: {text}");
        peer.join();
    }
}

/// Goal: the description of a body that is too long gives its actual length. Method: the extra bytes usually
/// follow after the response was read; arriving together with it, they give the same result.
#[test]
fn bytes_after_the_announced_length() {
    let (tell, told) = channel::<()>();
    let peer = Peer::start(vec![connection(move |mut stream| {
        read_request(&mut stream);
        stream.write_all(&right_reply(SMALL, "")).unwrap();
        told.recv().unwrap();
        stream.write_all(b"more").unwrap();
    })]);
    let fixture = Fixture::new(peer.address, ConnectionLifetime::PerRequest);
    let (answer, ()) = fixture.run(async |fixture| {
        tokio::join!(fixture.get_described(SMALL), async {
            tokio::time::sleep(Duration::from_millis(30)).await;
            tell.send(()).unwrap();
        })
    });
    let expected = "GET /small.html: body of 504 bytes, expected 500";
    assert_eq!(answer, (Outcome::WrongLength, expected.to_owned()));
    peer.join();
}

#[test]
fn endless_interim_heads() {
    check_peer(
        |mut stream| {
            let sent = send_endlessly(&mut stream, &b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000));
            assert!(sent < SOCKET_BUFFERS_MAX);
        },
        Outcome::OversizedHead,
        "more than 1048576 bytes of interim responses without a final one",
    );
}

/// Goal: a redirect is not followed, wherever it points (target policy).
#[test]
fn redirects_are_not_followed() {
    let elsewhere = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let location = format!("http://{}/small.html", elsewhere.local_addr().unwrap());
    for status in [301, 302, 303, 307, 308] {
        let reply = format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        check_reply(reply.as_bytes(), Outcome::WrongStatus, &format!("status {status}, expected 200"));
    }
    assert!(elsewhere.accept().is_err());
}

#[test]
fn switching_protocols_is_an_unexpected_status() {
    let reply = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n";
    check_reply(reply, Outcome::WrongStatus, "status 101, expected 200");
}

#[test]
fn a_slow_drip_is_correct_in_the_end() {
    let server = server(&["slow-drip"]);
    for connection in BOTH {
        let fixture = Fixture::new(server.address(), connection);
        fixture.run(async |fixture| {
            let reply = fixture.get(SMALL).await;
            assert_eq!(reply.outcome, Outcome::Ok);
            assert!(reply.sent + first_byte_time(&reply) < fixture.complete(), "{reply:?}");
        });
    }
}

/// Goal: a head that arrives byte by byte is parsed like any other.
#[test]
fn a_head_byte_by_byte_is_correct_in_the_end() {
    let script = || {
        connection(|mut stream| {
            read_request(&mut stream);
            for byte in right_reply(EMPTY, "Connection: close\r\n") {
                stream.write_all(&[byte]).unwrap();
            }
        })
    };
    let peer = Peer::start(vec![script(), script()]);
    for connection in BOTH {
        let reply = Fixture::new(peer.address, connection).run(async |fixture| fixture.get(EMPTY).await);
        let bytes = right_reply(EMPTY, "Connection: close\r\n").len() as u64;
        assert_eq!((reply.outcome, reply_bytes(&reply), body_bytes(&reply)), (Outcome::Ok, bytes, 0));
    }
    peer.join();
}
