//! End to end: a client's connection, TLS, HTTP/2 or PROXY header, the cache, and an origin server with a strict
//! parser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use accelerator::config::Config;
use accelerator::observation::Notices;
use accelerator::operation::Accelerator;
use bytes::Bytes;
use h2::client::SendRequest;
use http1::{BodyReader, ParseStatus, RequestHead, header, parse_request};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The indices of the listeners in the configuration.
const TLS: usize = 0;
const PLAIN: usize = 1;
const PROXIED: usize = 2;
const PROXIED_TLS: usize = 3;
const SUSPICIOUS: usize = 4;

/// An origin server that records the heads it receives, as text.
struct Origin {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    /// Releases the second half of `/halves`.
    go: Sender<()>,
}

impl Origin {
    fn start() -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (heads, (go, waiting)) = (Arc::<Mutex<Vec<String>>>::default(), channel());
        let kept = Arc::clone(&heads);
        let waiting = Arc::new(Mutex::new(waiting));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                let waiting = Arc::clone(&waiting);
                thread::spawn(move || converse(stream, &kept, &waiting));
            }
        });
        Origin { address, heads, go }
    }

    /// Returns the heads of requests for a target.
    fn heads(&self, target: &str) -> Vec<String> {
        let heads = self.heads.lock().unwrap();
        heads.iter().filter(|head| head.split(' ').nth(1) == Some(target)).cloned().collect()
    }
}

/// Answers requests until the connection ends; an invalid request ends it.
fn converse(stream: std::net::TcpStream, heads: &Mutex<Vec<String>>, go: &Mutex<Receiver<()>>) {
    let mut input = BufReader::new(stream.try_clone().unwrap());
    let mut output = stream;
    loop {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            if input.read_until(b'\n', &mut bytes).unwrap_or(0) == 0 {
                return;
            }
        }
        let Ok(ParseStatus::Complete { head, length }) = parse_request(&bytes) else { return };
        assert_eq!(length, bytes.len());
        heads.lock().unwrap().push(String::from_utf8_lossy(&bytes).into_owned());
        let Some(body) = body(&head, &mut input) else { return };
        if answer(&bytes[head.target], &body, &mut output, go).is_err() {
            return;
        }
    }
}

fn body(head: &RequestHead, input: &mut impl Read) -> Option<Vec<u8>> {
    let mut reader = BodyReader::new(head.framing);
    let mut body = Vec::new();
    while !reader.is_done() {
        let mut byte = [0];
        input.read_exact(&mut byte).ok()?;
        let piece = reader.read(&byte).ok()?;
        body.extend_from_slice(&byte[piece.data]);
    }
    Some(body)
}

fn answer(
    target: &[u8],
    body: &[u8],
    output: &mut impl Write,
    go: &Mutex<Receiver<()>>,
) -> std::io::Result<()> {
    match target {
        b"/kept" => output.write_all(
            b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 4\r\nKeep-Alive: x\r\n\r\nkept",
        ),
        b"/halves" => {
            output.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")?;
            go.lock().unwrap().recv().map_err(std::io::Error::other)?;
            output.write_all(b"6\r\nsecond\r\n0\r\nX-Trailer: 1\r\n\r\n")
        }
        b"/broken" => {
            output.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")?;
            go.lock().unwrap().recv().map_err(std::io::Error::other)?;
            output.write_all(b"x")?;
            Err(std::io::ErrorKind::Other.into())
        }
        _ => {
            write!(output, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len())?;
            output.write_all(body)
        }
    }
}

/// An accelerator in front of an origin.
struct Fixture {
    accelerator: Accelerator,
    origin: Origin,
    certificate: CertificateDer<'static>,
    folder: TempDir,
}

impl Fixture {
    fn start() -> Fixture {
        let origin = Origin::start();
        let folder = TempDir::new().unwrap();
        let certificate = make_certificate(folder.path());
        let config = config(&origin, folder.path());
        let accelerator = Accelerator::start(config.settings().unwrap(), Notices::default()).unwrap();
        Fixture { accelerator, origin, certificate, folder }
    }

    fn address(&self, place: usize) -> SocketAddr {
        self.accelerator.addresses()[place]
    }
}

/// Writes a certificate for `localhost` and its key.
fn make_certificate(folder: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.join("chain.pem"), made.cert.pem()).unwrap();
    fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

fn config(origin: &Origin, folder: &Path) -> Config {
    let mut text = format!("workers = 1\n\n[[origin.server]]\nurl = \"http://{}\"\n", origin.address);
    let listens = [
        "tls = true",
        "",
        "proxy-from = [\"127.0.0.0/8\"]",
        "tls = true\nproxy-from = [\"127.0.0.1\"]",
        "proxy-from = [\"10.0.0.0/8\"]",
    ];
    for listen in listens {
        text += &format!("\n[[listen]]\naddress = \"127.0.0.1:0\"\nhttp2 = true\n{listen}\n");
    }
    let path = |name: &str| folder.join(name).display().to_string();
    text += &format!("\n[[tls.certificate]]\nchain = {:?}\nkey = {:?}\n", path("chain.pem"), path("key.pem"));
    Config::parse("test.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Performs a TLS handshake, offering one protocol.
async fn secure(
    stream: TcpStream,
    certificate: &CertificateDer<'static>,
    protocol: &[u8],
) -> std::io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![protocol.to_vec()];
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
}

/// Starts HTTP/2 on a connection.
async fn speak<S>(stream: S) -> SendRequest<Bytes>
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let (send, connection) = h2::client::handshake(stream).await.unwrap();
    tokio::task::spawn_local(connection);
    send.ready().await.unwrap()
}

/// Sends a request with a body, if it has one, and returns status, fields and body of the reply.
async fn ask(
    send: &mut SendRequest<Bytes>,
    request: http::Request<()>,
    body: Option<&'static [u8]>,
) -> Result<(http::response::Parts, Vec<u8>), h2::Error> {
    *send = send.clone().ready().await?;
    let (response, mut stream) = send.send_request(request, body.is_none())?;
    if let Some(body) = body {
        stream.send_data(Bytes::from_static(body), true)?;
    }
    let (head, mut body) = response.await?.into_parts();
    Ok((head, rest(&mut body).await?))
}

/// Reads a body to its end.
async fn rest(body: &mut h2::RecvStream) -> Result<Vec<u8>, h2::Error> {
    let mut content = Vec::new();
    while let Some(piece) = body.data().await {
        content.extend_from_slice(&piece?);
    }
    Ok(content)
}

fn get(target: &str) -> http::Request<()> {
    http::Request::get(format!("https://localhost{target}")).body(()).unwrap()
}

/// Sends a request of HTTP/1 and returns all input until the connection ends.
async fn ask_http1(mut stream: impl AsyncRead + AsyncWrite + Unpin, before: &[u8], target: &str) -> String {
    let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(&[before, request.as_bytes()].concat()).await.unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await.unwrap();
    String::from_utf8(reply).unwrap()
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let builder = &mut tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build_local(tokio::runtime::LocalOptions::default()).unwrap();
    runtime
        .block_on(async { tokio::time::timeout(std::time::Duration::from_secs(60), future).await.unwrap() })
}

#[test]
fn http2_requests_are_forwarded_as_http1_and_stored() {
    let fixture = Fixture::start();
    run(async {
        let stream = TcpStream::connect(fixture.address(TLS)).await.unwrap();
        let mut send = speak(secure(stream, &fixture.certificate, b"h2").await.unwrap()).await;
        let mut request = get("/kept");
        for (name, value) in
            [("cookie", "a=1"), ("cookie", "b=2"), ("te", "trailers"), ("x-forwarded-for", "9.9.9.9")]
        {
            request.headers_mut().append(name, value.parse().unwrap());
        }
        for _ in 0..2 {
            let (head, body) = ask(&mut send, request.clone(), None).await.unwrap();
            assert_eq!((head.status.as_u16(), &*body), (200, &b"kept"[..]));
            assert!(head.headers.contains_key("date") && !head.headers.contains_key("keep-alive"));
        }
        let heads = fixture.origin.heads("/kept");
        let [head] = &heads[..] else { panic!("{heads:?}") };
        assert!(head.starts_with("GET /kept HTTP/1.1\r\n"), "{head}");
        assert_eq!(header(head.as_bytes(), "host"), Some(&b"localhost"[..]));
        assert_eq!(header(head.as_bytes(), "cookie"), Some(&b"a=1; b=2"[..]));
        assert_eq!(header(head.as_bytes(), "te"), None);
        assert!(!head.contains("9.9.9.9"), "nobody decides for others: {head}");
        let stream = TcpStream::connect(fixture.address(TLS)).await.unwrap();
        let stream = secure(stream, &fixture.certificate, b"http/1.1").await.unwrap();
        assert!(ask_http1(stream, b"", "/kept").await.ends_with("\r\n\r\nkept"), "the same by HTTP/1");
        assert_eq!(fixture.origin.heads("/kept").len(), 1);
    });
}

#[test]
fn bodies_are_reframed_both_ways() {
    let fixture = Fixture::start();
    run(async {
        let mut send = speak(TcpStream::connect(fixture.address(PLAIN)).await.unwrap()).await;
        const BODY: &[u8] = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
        for announced in [None, Some(BODY.len())] {
            let mut request = http::Request::post("http://localhost/echo").body(()).unwrap();
            if let Some(length) = announced {
                request.headers_mut().insert("content-length", length.into());
            }
            let (head, body) = ask(&mut send, request, Some(BODY)).await.unwrap();
            assert_eq!((head.status.as_u16(), &*body), (200, BODY));
        }
        assert_eq!(fixture.origin.heads("/echo").len(), 2);
        assert!(fixture.origin.heads("/smuggled").is_empty());
    });
}

/// Goal: pieces of a body are forwarded before the rest, and a truncated body does not count as complete.
#[test]
fn bodies_are_streamed() {
    let fixture = Fixture::start();
    run(async {
        let mut send = speak(TcpStream::connect(fixture.address(PLAIN)).await.unwrap()).await;
        let (response, _) = send.send_request(get("/halves"), true).unwrap();
        let mut body = response.await.unwrap().into_body();
        assert_eq!(&body.data().await.unwrap().unwrap()[..], b"first");
        fixture.origin.go.send(()).unwrap();
        assert_eq!(rest(&mut body).await.unwrap(), b"second");
        assert!(body.trailers().await.unwrap().is_none());
        let (response, _) = send.send_request(get("/broken"), true).unwrap();
        let mut body = response.await.unwrap().into_body();
        assert_eq!(&body.data().await.unwrap().unwrap()[..], b"first");
        fixture.origin.go.send(()).unwrap();
        let error = rest(&mut body).await.unwrap_err();
        assert_eq!(error.reason(), Some(h2::Reason::INTERNAL_ERROR));
        assert_eq!(ask(&mut send, get("/kept"), None).await.unwrap().1, b"kept");
    });
}

#[test]
fn a_plain_port_accepts_http1_and_http2() {
    let fixture = Fixture::start();
    run(async {
        let stream = TcpStream::connect(fixture.address(PLAIN)).await.unwrap();
        assert!(ask_http1(stream, b"", "/kept").await.ends_with("\r\n\r\nkept"));
        let mut send = speak(TcpStream::connect(fixture.address(PLAIN)).await.unwrap()).await;
        assert_eq!(ask(&mut send, get("/kept"), None).await.unwrap().1, b"kept");
    });
}

const PROXY_LINE: &[u8] = b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n";

/// Returns the client address that the origin was told.
fn told(fixture: &Fixture, target: &str) -> Option<String> {
    let heads = fixture.origin.heads(target);
    let value = header(heads.last()?.as_bytes(), "x-forwarded-for")?;
    Some(String::from_utf8(value.to_vec()).unwrap())
}

/// A request that is forwarded with the client's address.
fn post(target: &str) -> http::Request<()> {
    http::Request::post(format!("https://localhost{target}")).body(()).unwrap()
}

#[test]
fn trusted_proxies_set_the_client_address() {
    let fixture = Fixture::start();
    run(async {
        let binary =
            [&b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"[..], &[192, 0, 2, 8, 198, 51, 100, 1, 1, 1, 1, 187]]
                .concat();
        for (target, start, client) in [("/line", PROXY_LINE, "192.0.2.7"), ("/binary", &binary, "192.0.2.8")]
        {
            let mut stream = TcpStream::connect(fixture.address(PROXIED)).await.unwrap();
            stream.write_all(start).await.unwrap();
            let mut send = speak(stream).await;
            assert_eq!(ask(&mut send, post(target), Some(b"x")).await.unwrap().1, b"x");
            assert_eq!(told(&fixture, target).as_deref(), Some(client));
        }
        let mut stream = TcpStream::connect(fixture.address(PROXIED_TLS)).await.unwrap();
        stream.write_all(PROXY_LINE).await.unwrap();
        let mut send = speak(secure(stream, &fixture.certificate, b"h2").await.unwrap()).await;
        assert_eq!(ask(&mut send, post("/secure"), Some(b"x")).await.unwrap().1, b"x");
        assert_eq!(told(&fixture, "/secure").as_deref(), Some("192.0.2.7"));
        let stream = TcpStream::connect(fixture.address(PROXIED)).await.unwrap();
        assert!(ask_http1(stream, PROXY_LINE, "/kept").await.ends_with("\r\n\r\nkept"));
    });
}

#[test]
fn missing_invalid_or_untrusted_proxy_headers_are_refused() {
    let fixture = Fixture::start();
    run(async {
        for start in [&b""[..], b"PROXY TCP4 192.0.2.7\r\n", b"PROXY TCP9 a b c d\r\n"] {
            let stream = TcpStream::connect(fixture.address(PROXIED)).await.unwrap();
            assert_eq!(ask_http1_or_reset(stream, start).await, "", "closed without an answer");
        }
        for place in [SUSPICIOUS, PLAIN] {
            let stream = TcpStream::connect(fixture.address(place)).await.unwrap();
            let reply = ask_http1_or_reset(stream, PROXY_LINE).await;
            assert!(reply.starts_with("HTTP/1.1 505 "), "taken for HTTP, which it is not: {reply}");
        }
        assert!(fixture.origin.heads("/never").is_empty());
    });
}

/// As [`ask_http1`], where the end may come as a reset.
async fn ask_http1_or_reset(mut stream: TcpStream, before: &[u8]) -> String {
    let request = b"GET /never HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let _ = stream.write_all(&[before, request].concat()).await;
    let mut reply = Vec::new();
    let _ = stream.read_to_end(&mut reply).await;
    String::from_utf8(reply).unwrap()
}

#[test]
fn reload_changes_the_certificate_and_stop_completes_requests() {
    let mut fixture = Fixture::start();
    run(async {
        let connect = async |fixture: &Fixture| TcpStream::connect(fixture.address(TLS)).await.unwrap();
        let mut send =
            speak(secure(connect(&fixture).await, &fixture.certificate, b"h2").await.unwrap()).await;
        let old = fixture.certificate.clone();
        fixture.certificate = make_certificate(fixture.folder.path());
        let config = config(&fixture.origin, fixture.folder.path());
        fixture.accelerator.reload(config.settings().unwrap()).unwrap();
        assert!(secure(connect(&fixture).await, &old, b"h2").await.is_err());
        assert!(secure(connect(&fixture).await, &fixture.certificate, b"h2").await.is_ok());
        let (response, _) = send.send_request(get("/halves"), true).unwrap();
        let mut body = response.await.unwrap().into_body();
        assert_eq!(&body.data().await.unwrap().unwrap()[..], b"first");
        let Fixture { accelerator, origin, .. } = fixture;
        let stopping = thread::spawn(move || accelerator.stop());
        // GOAWAY shows that the stop has begun.
        while ask(&mut send, get("/kept"), None).await.is_ok() {}
        origin.go.send(()).unwrap();
        assert_eq!(rest(&mut body).await.unwrap(), b"second");
        assert_eq!(stopping.join().unwrap(), 0, "nothing was broken off");
    });
}
