//! TLS connections: correct replies, resumed sessions, and every way in which they fail.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;

use drivers::Trust;
use drivers::web::{HandshakeCounts, TlsDriver};
use model::{ConnectionLifetime, Outcome, Tls, WebProtocol};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use units::Nanos;

use crate::common::{
    self, EMPTY, Fixture, Identity, LARGE, Peer, SMALL, TlsStream, accept, connect_time, connection, content,
    context, first_byte_time, protocol, read_request, reply_bytes, right_reply, workload,
};

const KEEP_ALIVE: ConnectionLifetime = ConnectionLifetime::KeepAlive { requests_max: None };

const BOTH: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

fn over_tls(tls: Tls, connection: ConnectionLifetime) -> WebProtocol {
    WebProtocol { tls, ..protocol(connection) }
}

/// Creates a fixture with one driver over TLS.
fn fixture(address: SocketAddr, connection: ConnectionLifetime, trust: &Trust) -> Fixture<TlsDriver> {
    let web = context(address, &over_tls(Tls::Full, connection), &workload(), trust);
    Fixture::with(TlsDriver::new(web))
}

/// Serves any objects; if `is_single`, one request per connection with a graceful end.
fn serve(mut stream: TlsStream, is_single: bool) {
    loop {
        let request = read_request(&mut stream);
        let object = match request.split(' ').nth(1) {
            Some("/small.html") => SMALL,
            Some("/empty.html") => EMPTY,
            Some("/large.bin") => LARGE,
            _ => return,
        };
        stream.write_all(&right_reply(object, "")).unwrap();
        if is_single {
            stream.conn.send_close_notify();
            stream.flush().unwrap();
            return;
        }
    }
}

/// Starts a peer that serves this many connections.
fn server(config: &Arc<ServerConfig>, connections: usize, is_single: bool) -> Peer {
    let script = || {
        let config = Arc::clone(config);
        connection(move |stream| serve(accept(stream, &config), is_single))
    };
    Peer::start((0..connections).map(|_| script()).collect())
}

#[test]
fn a_kept_connection_carries_any_number_of_requests_after_one_handshake() {
    let identity = Identity::create();
    for version in BOTH {
        let server = server(&identity.config(version, &[b"http/1.1"]), 1, false);
        let web = context(server.address, &over_tls(Tls::Full, KEEP_ALIVE), &workload(), &identity.trust());
        Fixture::with(TlsDriver::new(web.clone())).run(async |fixture| {
            for object in [SMALL, LARGE, EMPTY, LARGE, SMALL] {
                let reply = fixture.get(object).await;
                assert_eq!(reply.outcome, Outcome::Ok, "{version:?}");
                assert_eq!(reply_bytes(&reply) as usize, right_reply(object, "").len());
            }
        });
        assert_eq!(web.handshakes(), HandshakeCounts { full: 1, resumed: 0 });
        server.join();
    }
}

/// Goal: the time to connect includes the handshake; later requests on the connection have none.
#[test]
fn connected_is_after_the_handshake() {
    let identity = Identity::create();
    let server = server(&identity.config(&TLS13, &[]), 1, false);
    fixture(server.address, KEEP_ALIVE, &identity.trust()).run(async |fixture| {
        let first = fixture.get(SMALL).await;
        let connect = connect_time(&first).unwrap();
        assert!(Nanos::ZERO < connect && connect < first_byte_time(&first), "{first:?}");
        let second = fixture.get(SMALL).await;
        assert_eq!(connect_time(&second), None);
    });
    server.join();
}

/// Goal: each of many users resumes its own session, however many there are.
#[test]
fn sessions_are_resumed_only_if_the_plan_says_so() {
    const USERS: usize = 12;
    let identity = Identity::create();
    for version in BOTH {
        for (tls, full, resumed) in [(Tls::Full, 3 * USERS, 0), (Tls::Resumed, USERS, 2 * USERS)] {
            let server = server(&identity.config(version, &[]), 3 * USERS, true);
            let protocol = over_tls(tls, ConnectionLifetime::PerRequest);
            let web = context(server.address, &protocol, &workload(), &identity.trust());
            Fixture::with(TlsDriver::new(web.clone())).run(async |first| {
                let others = (1..USERS).map(|_| Fixture::with(TlsDriver::new(web.clone())));
                let mut others: Vec<_> = others.collect();
                for _ in 0..3 {
                    assert_eq!(first.get(SMALL).await.outcome, Outcome::Ok);
                    for other in &mut others {
                        assert_eq!(other.get(SMALL).await.outcome, Outcome::Ok);
                    }
                }
            });
            let counts = HandshakeCounts { full: full as u64, resumed: resumed as u64 };
            assert_eq!(web.handshakes(), counts, "{version:?} {tls:?}");
            server.join();
        }
    }
}

#[test]
fn only_the_certificate_of_the_run_is_accepted() {
    let ours = Identity::create();
    let theirs = Identity::create();
    let script = |config: Arc<ServerConfig>| {
        connection(move |stream| {
            let mut stream = accept(stream, &config);
            let mut bytes = Vec::new();
            assert!(stream.read_to_end(&mut bytes).is_err() && bytes.is_empty(), "no request arrives");
        })
    };
    let peer = Peer::start(vec![script(theirs.config(&TLS13, &[]))]);
    let (outcome, text) = fixture(peer.address, KEEP_ALIVE, &ours.trust())
        .run(async |fixture| fixture.get_described(SMALL).await);
    let expected = "GET /small.html: tls failed: certificate not accepted: it is not the one that was created for this run";
    assert_eq!((outcome, text), (Outcome::TlsFailed, expected.to_owned()));
    peer.join();
    let server = server(&theirs.config(&TLS13, &[]), 1, true);
    let reply =
        fixture(server.address, KEEP_ALIVE, &Trust::Any).run(async |fixture| fixture.get(SMALL).await);
    assert_eq!(reply.outcome, Outcome::Ok);
    server.join();
}

/// Checks the outcome of a request when the peer runs `script` on the bare TCP connection.
fn check_bare(script: impl FnOnce(TcpStream) + Send + 'static, outcome: Outcome, text: &str) {
    let peer = Peer::start(vec![connection(script)]);
    let (found, words) = fixture(peer.address, KEEP_ALIVE, &Trust::Any)
        .run(async |fixture| fixture.get_described(SMALL).await);
    assert_eq!(found, outcome, "{words}");
    assert!(words.starts_with(&format!("GET /small.html: {text}")), "{words}");
    peer.join();
}

#[test]
fn a_peer_without_tls_has_its_own_outcome() {
    let hello = |stream: &mut TcpStream| stream.read_exact(&mut [0; 100]).unwrap();
    check_bare(
        move |mut stream| {
            hello(&mut stream);
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n").unwrap();
            let _ = stream.read_to_end(&mut Vec::new());
        },
        Outcome::TlsFailed,
        "tls failed: the server does not answer in TLS",
    );
    check_bare(
        move |mut stream| {
            let mut hello = [0; 2000];
            assert!(0 < stream.read(&mut hello).unwrap());
        },
        Outcome::TlsFailed,
        "tls failed: connection ended in the handshake",
    );
    check_bare(
        move |mut stream| {
            hello(&mut stream);
            common::reset(stream);
        },
        Outcome::Reset,
        "Connection reset by peer",
    );
}

/// Goal: a server without TLS 1.2 is told from one without TLS. Method: the alert `protocol_version`, with which such servers
/// answer (RFC 5246 section 7.2.2), and the server's hello of TLS 1.1.
#[test]
fn a_server_with_old_versions_of_tls_is_told() {
    let mut hello_of_tls11 = vec![22, 3, 2, 0, 42, 2, 0, 0, 38, 3, 2];
    hello_of_tls11.extend([7; 32]);
    hello_of_tls11.extend([0, 0xc0, 0x13, 0]);
    for answer in [vec![21, 3, 1, 0, 2, 2, 70], hello_of_tls11] {
        check_bare(
            move |mut stream| {
                assert!(0 < stream.read(&mut [0; 2000]).unwrap());
                stream.write_all(&answer).unwrap();
                let _ = stream.read_to_end(&mut Vec::new());
            },
            Outcome::TlsFailed,
            "tls failed: the server has neither TLS 1.2 nor TLS 1.3",
        );
    }
}

/// Goal: a flood in the handshake is cut off. The peer can send no more than the socket buffers hold.
#[test]
fn an_endless_handshake_is_cut_off() {
    check_bare(
        |mut stream| {
            // Records that each hold a part of a message announced with 16 MiB.
            let mut bytes = vec![22, 3, 3, 0x40, 0];
            bytes.extend([2, 0xff, 0xff, 0xff]);
            bytes.resize(5 + 0x4000, 0);
            assert!(common::send_endlessly(&mut stream, &bytes) < 32 << 20);
        },
        Outcome::TlsFailed,
        "tls failed: ",
    );
}

/// Checks the outcome of a request when the peer runs `script` after the handshake and the request.
fn check_script(script: impl FnOnce(TlsStream) + Send + 'static, outcome: Outcome, text: &str) {
    let identity = Identity::create();
    let config = identity.config(&TLS13, &[]);
    let peer = Peer::start(vec![connection(move |stream| {
        let mut stream = accept(stream, &config);
        read_request(&mut stream);
        script(stream);
    })]);
    let trust = identity.trust();
    let (found, words) =
        fixture(peer.address, KEEP_ALIVE, &trust).run(async |fixture| fixture.get_described(SMALL).await);
    assert_eq!(found, outcome, "{words}");
    assert_eq!(words, format!("GET /small.html: {text}"));
    peer.join();
}

fn body_without_length(mut stream: TlsStream, is_orderly: bool) {
    stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    stream.write_all(&content(SMALL)).unwrap();
    if is_orderly {
        stream.conn.send_close_notify();
    }
    stream.flush().unwrap();
}

/// Goal: the end of the TCP connection alone may be an attack; it completes no body.
#[test]
fn an_end_without_close_notify_completes_no_body() {
    check_script(|stream| body_without_length(stream, true), Outcome::Ok, "ok");
    let text = "connection ended after 500 bytes";
    check_script(|stream| body_without_length(stream, false), Outcome::Truncated, text);
    // With a length, completeness is known.
    check_script(|mut stream| stream.write_all(&right_reply(SMALL, "")).unwrap(), Outcome::Ok, "ok");
}

#[test]
fn faults_have_the_same_outcomes_over_tls() {
    let mut wrong = right_reply(SMALL, "");
    *wrong.last_mut().unwrap() ^= 1;
    let text = "wrong byte at position 499 of the body";
    check_script(move |mut stream| stream.write_all(&wrong).unwrap(), Outcome::WrongBytes, text);
    check_script(
        |mut stream| stream.write_all(&right_reply(SMALL, "")[..300]).unwrap(),
        Outcome::Truncated,
        &format!("connection ended after {} bytes", 300 - (right_reply(SMALL, "").len() - 500)),
    );
}

#[test]
fn records_that_cannot_be_decrypted() {
    let text = "tls failed: cannot decrypt peer's message";
    check_script(
        |mut stream| {
            // An unencrypted application data record.
            stream.sock.write_all(&[&[23, 3, 3, 0, 32][..], &[0; 32]].concat()).unwrap();
            let _ = stream.sock.read_to_end(&mut Vec::new());
        },
        Outcome::TlsFailed,
        text,
    );
}

/// Goal: a request of many records that exceeds the socket buffer arrives completely.
#[test]
fn a_long_request_is_sent_in_parts() {
    let identity = Identity::create();
    let config = identity.config(&TLS13, &[]);
    let path = format!("/{}", "a".repeat(8 << 20));
    let mut workload = workload();
    workload.requests[SMALL as usize] = model::Request::file(&path, 500);
    let n = path.len();
    let peer = Peer::start(vec![connection(move |stream| {
        let mut stream = accept(stream, &config);
        for _ in 0..2 {
            assert!(read_request(&mut stream).len() > n);
            stream.write_all(&right_reply(SMALL, "")).unwrap();
        }
    })]);
    let web = context(peer.address, &over_tls(Tls::Full, KEEP_ALIVE), &workload, &identity.trust());
    Fixture::with(TlsDriver::new(web)).run(async |fixture| {
        for _ in 0..2 {
            assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        }
    });
    peer.join();
}

/// Ends the TLS connection by `close_notify` and leaves its socket open; returns the bytes received until the
/// client closes it, which it does in time.
fn end_without_fin(mut stream: TlsStream) -> Vec<u8> {
    stream.conn.send_close_notify();
    stream.flush().unwrap();
    let mut after = Vec::new();
    let _ = stream.sock.read_to_end(&mut after);
    after
}

/// Goal: `close_notify` ends the response, not the end of the socket (RFC 8446 section 6.1, RFC 5246 section
/// 7.2.1).
#[test]
fn close_notify_ends_a_reply_even_if_the_socket_stays_open() {
    let identity = Identity::create();
    for version in BOTH {
        let config = identity.config(version, &[]);
        // With a length, and with a body that ends with the connection.
        for head in ["Content-Length: 500\r\n", ""] {
            let script = || {
                let config = Arc::clone(&config);
                connection(move |stream| {
                    let mut stream = accept(stream, &config);
                    read_request(&mut stream);
                    write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n").unwrap();
                    stream.write_all(&content(SMALL)).unwrap();
                    end_without_fin(stream);
                })
            };
            for connection in [ConnectionLifetime::PerRequest, KEEP_ALIVE] {
                let peer = Peer::start(vec![script(), script()]);
                fixture(peer.address, connection, &identity.trust()).run(async |fixture| {
                    for _ in 0..2 {
                        let reply = fixture.get(SMALL).await;
                        assert_eq!(reply.outcome, Outcome::Ok, "{version:?} {head:?} {connection:?}");
                        let took = reply.done - reply.sent;
                        assert!(took < model::CLOSE_WAIT_MAX, "{version:?} {head:?} {connection:?}: {took}");
                    }
                    assert_eq!(fixture.left_open(), 0, "it sent `close_notify`");
                });
                peer.join();
            }
        }
    }
}

/// Goal: no request is sent on a connection that the peer has ended, whether that is seen with the response,
/// before the next request, or only after it was sent: then it is retried, since it was not processed.
#[test]
fn a_connection_ended_by_close_notify_is_not_reused() {
    let identity = Identity::create();
    let config = identity.config(&TLS13, &[]);
    let (tell, told) = channel();
    // Together with the response.
    let first = {
        let config = Arc::clone(&config);
        connection(move |stream| {
            let mut stream = accept(stream, &config);
            read_request(&mut stream);
            stream.conn.writer().write_all(&right_reply(SMALL, "")).unwrap();
            assert!(end_without_fin(stream).is_empty(), "no request follows");
        })
    };
    // A moment later.
    let second = {
        let config = Arc::clone(&config);
        connection(move |stream| {
            let mut stream = accept(stream, &config);
            read_request(&mut stream);
            stream.write_all(&right_reply(SMALL, "")).unwrap();
            stream.conn.send_close_notify();
            stream.flush().unwrap();
            tell.send(()).unwrap();
            let mut after = Vec::new();
            let _ = stream.sock.read_to_end(&mut after);
            assert!(after.is_empty(), "no request follows");
        })
    };
    // When the next request has already been sent.
    let third = {
        let config = Arc::clone(&config);
        connection(move |stream| {
            let mut stream = accept(stream, &config);
            read_request(&mut stream);
            stream.write_all(&right_reply(SMALL, "")).unwrap();
            let mut byte = [0];
            stream.sock.peek(&mut byte).unwrap();
            assert!(!end_without_fin(stream).is_empty(), "the request arrived");
        })
    };
    let last = connection(move |stream| serve(accept(stream, &config), true));
    let peer = Peer::start(vec![first, second, third, last]);
    fixture(peer.address, KEEP_ALIVE, &identity.trust()).run(async |fixture| {
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        told.recv().unwrap();
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        let reply = fixture.get(SMALL).await;
        assert_eq!(reply.outcome, Outcome::Ok);
        assert!(connect_time(&reply).is_some(), "the last one used a connection of its own");
    });
    peer.join();
}

/// Goal: a request that must not be retried fails, and so does an end before the response on a new
/// connection.
#[test]
fn an_end_before_the_reply_is_a_failure_without_retry() {
    let identity = Identity::create();
    let config = identity.config(&TLS13, &[]);
    let ends_after = |replies: usize| {
        let config = Arc::clone(&config);
        connection(move |stream| {
            let mut stream = accept(stream, &config);
            for _ in 0..replies {
                read_request(&mut stream);
                stream.write_all(&right_reply(SMALL, "")).unwrap();
            }
            match replies {
                0 => drop(stream.conn.complete_io(&mut stream.sock).unwrap()),
                _ => drop(stream.sock.peek(&mut [0]).unwrap()),
            }
            end_without_fin(stream);
        })
    };
    let mut workload = workload();
    workload.requests[usize::from(SMALL)].method = "POST".to_owned();
    let peer = Peer::start(vec![ends_after(1), ends_after(0)]);
    let web = context(peer.address, &over_tls(Tls::Full, KEEP_ALIVE), &workload, &identity.trust());
    Fixture::with(TlsDriver::new(web)).run(async |fixture| {
        assert_eq!(fixture.get(SMALL).await.outcome, Outcome::Ok);
        let (outcome, text) = fixture.get_described(SMALL).await;
        assert_eq!(outcome, Outcome::ConnectionLost, "{text}");
        let text = "POST /small.html: connection ended after 0 bytes";
        assert_eq!(fixture.get_described(SMALL).await, (Outcome::Truncated, text.to_owned()));
    });
    peer.join();
}

/// Goal: a common kind of server is measured: Python's asyncio sends no FIN by default before the client's
/// `close_notify`, for up to 30 s.
#[test]
fn python_asyncio_servers_are_measured_without_delay() {
    const N: usize = 40;
    let identity = Identity::create();
    for version in ["TLSv1_2", "TLSv1_3"] {
        let server = Asyncio::start(&identity, version);
        for connection in [KEEP_ALIVE, ConnectionLifetime::PerRequest] {
            fixture(server.address, connection, &identity.trust()).run(async |fixture| {
                for n in 0..N {
                    let (outcome, text) = fixture.get_described(SMALL).await;
                    assert_eq!(outcome, Outcome::Ok, "{version} {connection:?}, request {n}: {text}");
                }
                assert_eq!(fixture.left_open(), 0, "{version} {connection:?}");
            });
        }
    }
}

/// A Python asyncio server that answers once per connection without announcing the close.
struct Asyncio {
    address: SocketAddr,
    process: Child,
    _folder: tempfile::TempDir,
}

impl Asyncio {
    fn start(identity: &Identity, version: &str) -> Asyncio {
        let folder = tempfile::tempdir().unwrap();
        let [certificate, key] = &identity.pem;
        std::fs::write(folder.path().join("certificate.pem"), certificate).unwrap();
        std::fs::write(folder.path().join("key.pem"), key).unwrap();
        std::fs::write(folder.path().join("reply"), right_reply(SMALL, "")).unwrap();
        let mut process = Command::new("python3")
            .args(["-c", include_str!("common/asyncio_server.py"), version])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is needed");
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().expect("a port");
        Asyncio { address: SocketAddr::from(([127, 0, 0, 1], port)), process, _folder: folder }
    }
}

impl Drop for Asyncio {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
