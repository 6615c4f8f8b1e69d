//! The ways in besides plain HTTP/1: TLS, HTTP/2 with and without it, the PROXY protocol.

use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use accelerator::front::tls::{CertificateFiles, Tls, TlsSettings};
use accelerator::front::{FrontSettings, Listen};
use bytes::Bytes;
use http::Request;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

use crate::client::{get, post};
use crate::origin::large;
use crate::rig::Rig;

/// A certificate for `localhost`.
struct Certificate {
    folder: TempDir,
    der: CertificateDer<'static>,
}

impl Certificate {
    fn make() -> Certificate {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("crt"), made.cert.pem()).unwrap();
        std::fs::write(folder.path().join("key"), made.signing_key.serialize_pem()).unwrap();
        Certificate { folder, der: made.cert.der().clone() }
    }

    fn server(&self) -> Arc<Tls> {
        let path = |name| self.folder.path().join(name);
        let certificates = vec![CertificateFiles { certificate: path("crt"), key: path("key") }];
        Arc::new(Tls::load(&TlsSettings { certificates, ..TlsSettings::default() }).unwrap())
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

fn speak_tls(settings: &mut FrontSettings) {
    (settings.listens[0].tls, settings.listens[0].http2) = (true, true);
}

#[test]
fn http1_is_spoken_over_tls_and_its_end_is_said() {
    let certificate = Certificate::make();
    let rig = Rig::with(1, Some(certificate.server()), speak_tls);
    let config = certificate.client(&[]);
    for _ in 0..3 {
        let name = ServerName::try_from("localhost").unwrap();
        let client = ClientConnection::new(Arc::clone(&config), name).unwrap();
        let mut stream = StreamOwned::new(client, TcpStream::connect(rig.address()).unwrap());
        let requests = get("/kept") + &get("/large") + "GET /kept HTTP/1.0\r\nHost: h\r\n\r\n";
        stream.write_all(requests.as_bytes()).unwrap();
        let mut told = Vec::new();
        // An end that was not said is an error.
        stream.read_to_end(&mut told).unwrap();
        let large = large();
        assert!(told.windows(large.len()).any(|window| window == large));
        assert!(told.ends_with(b"/kept"));
    }
    assert_eq!(rig.origin.lines(), ["GET /kept", "GET /large"]);
}

/// Goal: the scheme is part of the key, also of what is remembered.
#[test]
fn what_was_asked_in_the_clear_is_no_answer_over_tls() {
    let certificate = Certificate::make();
    let rig = Rig::with(1, Some(certificate.server()), |settings| {
        settings.listens.push(Listen { tls: true, ..settings.listens[0].clone() });
    });
    let mut client = rig.client();
    (0..3).for_each(|_| assert_eq!(client.get("/kept").text(), "/kept"));
    let name = ServerName::try_from("localhost").unwrap();
    let tls = ClientConnection::new(certificate.client(&[]), name).unwrap();
    let mut stream = StreamOwned::new(tls, TcpStream::connect(rig.fronts.addresses()[1]).unwrap());
    stream.write_all(get("/kept").as_bytes()).unwrap();
    assert_ne!(stream.read(&mut [0; 1_000]).unwrap(), 0);
    assert_eq!(rig.origin.lines(), ["GET /kept", "GET /kept"]);
}

/// Asks for `/kept` three times, and for `/large`, on one connection of HTTP/2.
async fn ask_by_http2(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let (mut send, connection) = h2::client::handshake(stream).await.unwrap();
    let asking = async move {
        for target in ["/kept", "/kept", "/kept", "/large"] {
            let request = Request::get(format!("http://localhost{target}")).body(()).unwrap();
            let (response, _) = send.send_request(request, true).unwrap();
            let mut response = response.await.unwrap();
            assert_eq!(response.status(), 200);
            let (body, mut all) = (response.body_mut(), Vec::new());
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

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

pub async fn connect(address: SocketAddr) -> tokio::net::TcpStream {
    tokio::net::TcpStream::connect(address).await.unwrap()
}

#[test]
fn http2_is_agreed_on_by_tls() {
    let certificate = Certificate::make();
    let rig = Rig::with(1, Some(certificate.server()), speak_tls);
    let config = certificate.client(&[b"h2", b"http/1.1"]);
    block_on(async {
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(config).connect(name, connect(rig.address()).await).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        ask_by_http2(stream).await;
    });
}

#[test]
fn http2_may_be_begun_with_where_that_is_allowed() {
    let rig = Rig::start(|settings| settings.listens[0].http2 = true);
    block_on(async { ask_by_http2(connect(rig.address()).await).await });
    // HTTP/1 is spoken on the same port.
    assert_eq!(rig.client().get("/kept").text(), "/kept");
    assert_eq!(rig.client().send("PUT / HTTP/1.0\r\n\r\n").answer().status, 400, "no host");
}

#[test]
fn a_trusted_peer_says_whom_it_speaks_for() {
    let rig = Rig::start(|settings| settings.listens[0].proxy_from = vec!["127.0.0.0/8".parse().unwrap()]);
    let header = "PROXY TCP4 203.0.113.9 127.0.0.1 4711 80\r\n";
    let mut client = rig.client();
    client.send(format!("{header}{}", post("/echo", "Content-Length: 2\r\n", "ab")));
    assert_eq!(client.answer().text(), "ab");
    assert_eq!(client.get("/kept").text(), "/kept");
    let (head, _) = rig.origin.asked().swap_remove(0);
    assert!(head.contains("203.0.113.9") && !head.contains("127.0.0.1,"), "{head}");
    for begin in [get("/kept"), "PROXY TCP4 203.0.113.9\r\n".to_owned() + &get("/kept")] {
        rig.client().send(begin).expect_end();
    }
}

#[test]
fn an_untrusted_peer_speaks_for_itself() {
    let rig = Rig::start(|settings| settings.listens[0].proxy_from = vec!["192.0.2.0/24".parse().unwrap()]);
    assert_eq!(rig.client().get("/kept").text(), "/kept");
    let mut client = rig.client();
    let header = "PROXY TCP4 203.0.113.9 127.0.0.1 4711 80\r\n";
    // Its header is no more than a request whose version nobody knows.
    assert_eq!(client.send(format!("{header}{}", get("/kept"))).answer().status, 505);
    client.expect_end();
}

#[test]
fn connections_by_address_are_those_of_the_client_not_of_the_peer() {
    let rig = Rig::start(|settings| {
        settings.listens[0].proxy_from = vec!["127.0.0.1".parse().unwrap()];
        settings.limits.connections_per_address = Some(1);
    });
    let from = |client| format!("PROXY TCP4 {client} 127.0.0.1 4711 80\r\n{}", get("/a"));
    let (mut one, mut other) = (rig.client(), rig.client());
    assert_eq!(one.send(from("203.0.113.1")).answer().text(), "/a");
    assert_eq!(other.send(from("203.0.113.2")).answer().text(), "/a");
    rig.client().send(from("203.0.113.1")).expect_end();
}

#[test]
fn interim_responses_come_by_http2_before_the_reply() {
    let rig = Rig::start(|settings| settings.listens[0].http2 = true);
    block_on(async {
        let (mut send, connection) = h2::client::handshake(connect(rig.address()).await).await.unwrap();
        let asking = async move {
            for target in ["/hints", "/caf\u{e9}"] {
                let request = Request::get(format!("http://localhost{target}")).body(()).unwrap();
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
    assert_eq!(rig.origin.lines(), ["GET /hints", "GET /caf%C3%A9"]);
}
