//! The web origin over TLS.

use std::io::{Read, Write};

use http1::RequestMethod;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, HandshakeKind};
use servers::web::{FaultPlan, Identity, WebOptions, WebServer};
use units::Nanos;

use crate::common::{
    self,
    tls::{TlsClient, config, connect, identity},
};
use crate::common::{Client, Failure, OBJECTS, content, start};

fn start_tls(change: impl FnOnce(&mut WebOptions)) -> WebServer {
    start(|options| {
        options.identity = Some(identity());
        change(options);
    })
}

#[test]
fn every_object_arrives_byte_for_byte_over_either_version() {
    let server = start_tls(|_| {});
    for version in [&TLS12, &TLS13] {
        let mut client = connect(server.address(), &config(&["http/1.1"], Some(version)));
        for (path, _) in OBJECTS.into_iter().chain(OBJECTS) {
            let reply = client.get(path).unwrap();
            assert!(reply.head.status == 200 && reply.body == content(path), "{path}");
        }
        assert_eq!(client.stream.conn.protocol_version(), Some(version.version));
    }
    let report = server.stop().unwrap();
    assert_eq!((report.connections, report.requests, report.faults), (2, 16, 0));
    assert!(4 * 5 * 1024 * 1024 < report.bytes_sent, "{report:?}");
}

#[test]
fn pages_304_and_head_are_the_same_as_without_tls() {
    let server = start_tls(|_| {});
    let mut client = connect(server.address(), &config(&[], None));
    let since = "Host: h\r\nIf-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT\r\n\r\n";
    client.send(&format!("GET /small.html HTTP/1.1\r\n{since}HEAD /large.bin HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_eq!(client.reply(RequestMethod::Get).unwrap().head.status, 304);
    assert_eq!(client.reply(RequestMethod::Head).unwrap().head.status, 200);
    assert_eq!(client.get("/dyn?size=8").unwrap().body, b"ASEROBDH");
    let large = client.get("/dyn?size=1000000&seed=1").unwrap().body;
    assert!(large.len() == 1_000_000 && large.starts_with(b"QMZRHLAJ"));
    assert_eq!(client.get("/none").unwrap().head.status, 404);
}

/// Goal: the client can tell the end from a truncation: the server sends `close_notify`, and rustls reports
/// an error without it.
#[test]
fn connections_end_with_close_notify() {
    let server = start_tls(|_| {});
    let closing = "GET /large.bin HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    let refused = "\0\r\n\r\n";
    for (request, status) in [(closing, 200), (refused, 400)] {
        let mut client = connect(server.address(), &config(&[], None));
        assert_eq!(client.send(request).reply(RequestMethod::Get).unwrap().head.status, status);
        assert!(client.is_closed());
    }
}

fn handshake(server: &WebServer, config: &std::sync::Arc<ClientConfig>) -> Option<HandshakeKind> {
    let mut client = connect(server.address(), config);
    assert_eq!(client.get("/small.html").unwrap().body, content("/small.html"));
    client.stream.conn.handshake_kind()
}

#[test]
fn sessions_are_resumed_by_tickets() {
    let server = start_tls(|_| {});
    for version in [&TLS12, &TLS13] {
        let config = config(&["http/1.1"], Some(version));
        let kinds = [0, 1, 2].map(|_| handshake(&server, &config));
        let expected = [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Resumed];
        assert_eq!(kinds, expected.map(Some));
    }
}

/// Performs a handshake and returns the negotiated ALPN protocol, if any.
fn agreed(server: &WebServer, alpn: &[&str]) -> std::io::Result<Option<Vec<u8>>> {
    let TlsClient { mut stream, .. } = connect(server.address(), &config(alpn, None));
    stream.conn.complete_io(&mut stream.sock)?;
    Ok(stream.conn.alpn_protocol().map(<[u8]>::to_vec))
}

#[test]
fn http2_is_negotiated_only_if_enabled() {
    let without = start_tls(|_| {});
    assert_eq!(agreed(&without, &["h2", "http/1.1"]).unwrap().unwrap(), b"http/1.1");
    assert_eq!(agreed(&without, &[]).unwrap(), None);
    assert!(agreed(&without, &["h2"]).unwrap_err().to_string().contains("NoApplicationProtocol"));
    let with = start_tls(|options| options.http2 = true);
    assert_eq!(agreed(&with, &["http/1.1", "h2"]).unwrap().unwrap(), b"h2");
    assert_eq!(agreed(&with, &["http/1.1"]).unwrap().unwrap(), b"http/1.1");
    let mut client = connect(with.address(), &config(&["http/1.1"], None));
    assert_eq!(client.get("/").unwrap().body, content("/"));
}

#[test]
fn plain_text_and_slow_readers_do_not_block_others() {
    let server = start_tls(|_| {});
    let mut plain = Client::connect(server.address());
    assert!(matches!(plain.get("/"), Err(Failure::NoHead | Failure::Head(_) | Failure::Broken(_))));
    let config = config(&[], None);
    let mut slow = connect(server.address(), &config);
    slow.send("GET /large.bin HTTP/1.1\r\nHost: h\r\n\r\n");
    let mut quick = connect(server.address(), &config);
    for _ in 0..50 {
        assert_eq!(quick.get("/small.html").unwrap().body, content("/small.html"));
    }
    assert!(slow.reply(RequestMethod::Get).unwrap().body == content("/large.bin"));
}

/// Goal: a client that stops anywhere, within the handshake or after it, loses its connection.
#[test]
fn connections_without_progress_are_closed() {
    let server = start_tls(|options| options.idle_timeout = Nanos::from_millis(100));
    assert!(Client::connect(server.address()).is_closed());
    let mut half = Client::connect(server.address());
    half.stream.write_all(&[22, 3, 1, 2, 0, 1]).unwrap();
    assert!(half.is_closed());
    let mut client = connect(server.address(), &config(&[], None));
    client.get("/").unwrap();
    let mut ended = [0; 16];
    assert!(matches!(client.stream.read(&mut ended), Ok(0) | Err(_)));
}

#[test]
fn reply_faults_apply_over_tls() {
    let server = start_tls(|options| options.faults = FaultPlan::parse(["truncated"]).unwrap());
    let mut client = connect(server.address(), &config(&[], None));
    assert!(matches!(client.get("/large.bin"), Err(Failure::Truncated(_))));
    assert_eq!(server.stop().unwrap().faults, 1);
}

#[test]
fn invalid_certificate_files_are_named_in_the_error() {
    let Identity { certificate, key } = identity();
    let problem = |certificate: &std::path::Path, key: &std::path::Path| {
        let identity = Identity { certificate: certificate.to_owned(), key: key.to_owned() };
        let options = WebOptions { identity: Some(identity), ..WebOptions::new(common::files()) };
        WebServer::start(options).unwrap_err().to_string()
    };
    assert!(problem("/no/such".as_ref(), &key).starts_with("certificate `/no/such`: "));
    assert!(problem(&certificate, "/no/such".as_ref()).starts_with("key `/no/such`: "));
    let key_named = format!("key `{}`: ", certificate.display());
    assert!(problem(&certificate, &certificate).starts_with(&key_named));
    let certificate_named = format!("certificate `{}` and its key: ", key.display());
    assert!(problem(&key, &key).starts_with(&certificate_named));
}
