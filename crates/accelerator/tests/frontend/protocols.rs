//! The protocols besides plain HTTP/1: TLS, HTTP/2 with and without it, the PROXY protocol.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use accelerator::frontend::tls::{CertificateFiles, TlsContext, TlsSettings};
use accelerator::frontend::{FrontendSettings, ListenSettings};
use bytes::Bytes;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

use super::client::{get, post};
use super::fixture::Fixture;
use super::origin::large;

/// A certificate for `localhost`.
struct Certificate {
    folder: TempDir,
    der: CertificateDer<'static>,
}

impl Certificate {
    fn worker_factory() -> Certificate {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("crt"), made.cert.pem()).unwrap();
        std::fs::write(folder.path().join("key"), made.signing_key.serialize_pem()).unwrap();
        Certificate { folder, der: made.cert.der().clone() }
    }

    fn server(&self) -> Arc<TlsContext> {
        let path = |name| self.folder.path().join(name);
        let certificates = vec![CertificateFiles { certificate: path("crt"), key: path("key") }];
        Arc::new(TlsContext::load(&TlsSettings { certificates, ..TlsSettings::default() }).unwrap())
    }

    fn client(&self, alpn: &[&[u8]]) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }
}

fn speak_tls(settings: &mut FrontendSettings) {
    (settings.listens[0].tls, settings.listens[0].http2) = (true, true);
}

#[test]
fn http1_over_tls_ends_with_close_notify() {
    let certificate = Certificate::worker_factory();
    let fixture = Fixture::with(1, Some(certificate.server()), speak_tls);
    let config = certificate.client(&[]);
    for _ in 0..3 {
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::clone(&config), name).unwrap();
        let mut stream = StreamOwned::new(client, TcpStream::connect(fixture.address()).unwrap());
        let requests = get("/kept") + &get("/large") + "GET /kept HTTP/1.0\r\nHost: h\r\n\r\n";
        stream.write_all(requests.as_bytes()).unwrap();
        let mut told = Vec::new();
        // A missing `close_notify` is an error.
        stream.read_to_end(&mut told).unwrap();
        let large = large();
        assert!(told.windows(large.len()).any(|window| window == large));
        assert!(told.ends_with(b"/kept"));
    }
    assert_eq!(fixture.origin.lines(), ["GET /kept", "GET /large"]);
}

#[test]
fn plain_http_on_a_tls_port_is_refused_with_the_reason() {
    let certificate = Certificate::worker_factory();
    let fixture = Fixture::with(1, Some(certificate.server()), speak_tls);
    for request in
        [get("/kept"), post("/kept", "Content-Length: 5\r\n", "hello"), "PRI * HTTP/2.0\r\n\r\n".into()]
    {
        let mut client = fixture.client();
        let answer = client.send(request).answer();
        assert_eq!((answer.status, answer.keep_alive), (400, false));
        assert!(answer.text().contains("sent to an HTTPS port"), "{}", answer.text());
        client.expect_end();
    }
    // What is neither HTTP nor TLS gets no answer of HTTP.
    let mut stream = TcpStream::connect(fixture.address()).unwrap();
    stream.write_all(b"\0").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut told = Vec::new();
    stream.read_to_end(&mut told).unwrap();
    assert!(!told.starts_with(b"HTTP"), "{}", told.escape_ascii());
    let totals = fixture.settled(|totals| totals.responses() == 3);
    assert_eq!(totals.responses(), 3);
    assert!(fixture.origin.lines().is_empty());
}

/// Goal: the scheme is part of the key, also of remembered heads.
#[test]
fn plain_and_tls_requests_have_different_keys() {
    let certificate = Certificate::worker_factory();
    let fixture = Fixture::with(1, Some(certificate.server()), |settings| {
        settings.listens.push(ListenSettings { tls: true, ..settings.listens[0].clone() });
    });
    let mut client = fixture.client();
    (0..3).for_each(|_| assert_eq!(client.get("/kept").text(), "/kept"));
    let name = ServerName::try_from("localhost").unwrap();
    let tls = ClientConnection::new(certificate.client(&[]), name).unwrap();
    let mut stream = StreamOwned::new(tls, TcpStream::connect(fixture.workers.addresses()[1]).unwrap());
    stream.write_all(get("/kept").as_bytes()).unwrap();
    assert_ne!(stream.read(&mut [0; 1_000]).unwrap(), 0);
    assert_eq!(fixture.origin.lines(), ["GET /kept", "GET /kept"]);
}

/// Requests `/kept` three times, and `/large`, on one HTTP/2 connection.
async fn ask_by_http2(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let (mut send, connection) = h2::client::handshake(stream).await.unwrap();
    let asking = async move {
        for target in ["/kept", "/kept", "/kept", "/large"] {
            let request = http::Request::get(format!("http://localhost{target}")).body(()).unwrap();
            let (response, _) = send.send_request(request, true).unwrap();
            let mut response = response.await.unwrap();
            assert_eq!(response.status(), 200);
            let body = response.body_mut();
            let mut all = Vec::new();
            while let Some(piece) = body.data().await {
                let piece: Bytes = piece.unwrap();
                body.flow_control().release_capacity(piece.len()).unwrap();
                all.extend_from_slice(&piece);
            }
            assert!(all == if target == "/large" { large() } else { target.as_bytes().to_vec() });
        }
    };
    tokio::select! {
        () = asking => {}
        ended = connection => panic!("{ended:?}"),
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub(crate) async fn connect(address: SocketAddr) -> tokio::net::TcpStream {
    tokio::net::TcpStream::connect(address).await.unwrap()
}

#[test]
fn http2_is_negotiated_by_alpn() {
    let certificate = Certificate::worker_factory();
    let fixture = Fixture::with(1, Some(certificate.server()), speak_tls);
    let config = certificate.client(&[b"h2", b"http/1.1"]);
    block_on(async {
        let name = ServerName::try_from("localhost").unwrap();
        let stream =
            TlsConnector::from(config).connect(name, connect(fixture.address()).await).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        ask_by_http2(stream).await;
    });
}

#[test]
fn http2_with_prior_knowledge_works_where_enabled() {
    let fixture = Fixture::start(|settings| settings.listens[0].http2 = true);
    block_on(async { ask_by_http2(connect(fixture.address()).await).await });
    // HTTP/1 works on the same port.
    assert_eq!(fixture.client().get("/kept").text(), "/kept");
    assert_eq!(fixture.client().send("PUT / HTTP/1.0\r\n\r\n").answer().status, 400, "no host");
}

#[test]
fn a_trusted_peer_sets_the_client_address() {
    let fixture =
        Fixture::start(|settings| settings.listens[0].proxy_from = vec!["127.0.0.0/8".parse().unwrap()]);
    let header = "PROXY TCP4 203.0.113.9 127.0.0.1 4711 80\r\n";
    let mut client = fixture.client();
    client.send(format!("{header}{}", post("/echo", "Content-Length: 2\r\n", "ab")));
    assert_eq!(client.answer().text(), "ab");
    assert_eq!(client.get("/kept").text(), "/kept");
    let (head, _) = fixture.origin.asked().swap_remove(0);
    assert!(head.contains("203.0.113.9") && !head.contains("127.0.0.1,"), "{head}");
    for begin in [get("/kept"), "PROXY TCP4 203.0.113.9\r\n".to_owned() + &get("/kept")] {
        fixture.client().send(begin).expect_end();
    }
}

#[test]
fn an_untrusted_peer_cannot_set_the_client_address() {
    let fixture =
        Fixture::start(|settings| settings.listens[0].proxy_from = vec!["192.0.2.0/24".parse().unwrap()]);
    assert_eq!(fixture.client().get("/kept").text(), "/kept");
    let mut client = fixture.client();
    let header = "PROXY TCP4 203.0.113.9 127.0.0.1 4711 80\r\n";
    // Its header is just a request with an unknown version.
    assert_eq!(client.send(format!("{header}{}", get("/kept"))).answer().status, 505);
    client.expect_end();
}

#[test]
fn address_limits_apply_to_the_proxied_client() {
    let fixture = Fixture::start(|settings| {
        settings.listens[0].proxy_from = vec!["127.0.0.1/32".parse().unwrap()];
        settings.limits.connections_per_address = Some(1);
    });
    let from = |client| format!("PROXY TCP4 {client} 127.0.0.1 4711 80\r\n{}", get("/a"));
    let mut one = fixture.client();
    let mut other = fixture.client();
    assert_eq!(one.send(from("203.0.113.1")).answer().text(), "/a");
    assert_eq!(other.send(from("203.0.113.2")).answer().text(), "/a");
    fixture.client().send(from("203.0.113.1")).expect_end();
}

#[test]
fn interim_responses_precede_the_http2_response() {
    let fixture = Fixture::start(|settings| settings.listens[0].http2 = true);
    block_on(async {
        let (mut send, connection) = h2::client::handshake(connect(fixture.address()).await).await.unwrap();
        let asking = async move {
            for target in ["/hints", "/caf\u{e9}"] {
                let request = http::Request::get(format!("http://localhost{target}")).body(()).unwrap();
                let (mut response, _) = send.send_request(request, true).unwrap();
                let mut interims = Vec::new();
                while let Some(interim) = poll_fn(|context| response.poll_informational(context)).await {
                    let interim = interim.unwrap();
                    interims.push((interim.status().as_u16(), interim.headers().get("link").cloned()));
                }
                let expected = [(102, None), (103, Some("</a>".parse().unwrap()))];
                assert_eq!(interims, if target == "/hints" { &expected[..] } else { &[] }, "{target}");
                assert_eq!(response.await.unwrap().status(), 200, "{target}");
            }
        };
        tokio::select! {
            () = asking => {}
            ended = connection => panic!("{ended:?}"),
        }
    });
    assert_eq!(fixture.origin.lines(), ["GET /hints", "GET /caf%C3%A9"]);
}
