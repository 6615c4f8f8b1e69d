//! The accelerator as a whole: started, reloaded and stopped while clients go on.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use accelerator::config::Config;
use accelerator::observation::Notices;
use accelerator::operation::{Accelerator, Settings};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// Starts an origin that answers every request with its own path, with a lifetime of an hour; counts requests.
fn origin() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let counter = Arc::clone(&counter);
            std::thread::spawn(move || answer(stream.unwrap(), &counter));
        }
    });
    (address, asked)
}

fn answer(stream: TcpStream, asked: &AtomicUsize) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let mut stream = stream;
    while let Some(first) = lines.next() {
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        if lines.by_ref().take_while(|line| !line.is_empty()).count() == 0 {
            return;
        }
        asked.fetch_add(1, Ordering::Relaxed);
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\n";
        let reply = format!("{head}Content-Length: {}\r\n\r\n{path}", path.len());
        if stream.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

fn settings(text: &str) -> Settings {
    Config::parse("a.toml", text)
        .and_then(|config| config.settings())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Sends a request on a persistent connection, and returns the body of the response; `None` without a response.
fn ask(stream: &mut BufReader<TcpStream>, path: &str) -> Option<String> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes()).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some((name, value)) = line.split_once(": ")
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(String::from_utf8(body).unwrap())
}

#[test]
fn no_request_is_dropped_during_reloads() {
    let (origin, _) = origin();
    let text = |name: &str, more: &str| {
        let fixed = "workers = 2\n[[listen]]\naddress = \"127.0.0.1:0\"\n[[origin.server]]\nurl = ";
        format!("name = \"{name}\"\n{fixed}\"http://{origin}\"\n{more}")
    };
    let mut accelerator = Accelerator::start(settings(&text("a", "")), Notices::default()).unwrap();
    let address = accelerator.addresses()[0];
    let is_over = AtomicBool::new(false);
    let (replied, responses) = channel();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let is_over = &is_over;
                let replied = replied.clone();
                scope.spawn(move || {
                    let mut stream = BufReader::new(TcpStream::connect(address).unwrap());
                    let mut n = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        // Hits, misses, and hits that another client has caused.
                        let path = format!("/{}/{}", client % 2, n / 3);
                        assert_eq!(ask(&mut stream, &path), Some(path), "request {n} of client {client}");
                        n += 1;
                        let _ = replied.send(());
                    }
                    n
                })
            })
            .collect();
        for k in 0..40 {
            let more = if k % 2 == 0 { "[cache]\nstatus-detail = \"off\"\n" } else { "" };
            accelerator.reload(settings(&text(["b", "c"][k % 2], more))).unwrap();
            assert_eq!(responses.iter().take(50).count(), 50, "clients go on meanwhile");
        }
        is_over.store(true, Ordering::Relaxed);
        for client in clients {
            assert!(0 < client.join().unwrap(), "each client has asked, on one connection");
        }
    });
    assert_eq!(accelerator.stop(), 0, "requests broken off");
}

#[test]
fn reload_closes_removed_listeners_and_keeps_the_store() {
    let (origin, asked) = origin();
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let first = free();
    let second = free();
    let listen = |address: SocketAddr| {
        settings(&format!(
            "workers = 1\n[[listen]]\naddress = \"{address}\"\n[[origin.server]]\nurl = \"http://{origin}\"\n"
        ))
    };
    let get = |address| ask(&mut BufReader::new(TcpStream::connect(address).unwrap()), "/one");
    let mut accelerator = Accelerator::start(listen(first), Notices::default()).unwrap();
    assert_eq!(get(first).as_deref(), Some("/one"));
    accelerator.reload(listen(second)).unwrap();
    assert_eq!(accelerator.addresses(), [second]);
    assert_eq!(get(second).as_deref(), Some("/one"));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "the second is a hit");
    // Workers close it by themselves.
    assert!((0..100_000).any(|_| TcpStream::connect(first).is_err()));
    accelerator.stop();
}

#[test]
fn settings_that_need_a_restart_are_reported_at_every_reload() {
    let (notices, received) = Notices::new();
    let text = |more: &str| {
        settings(&format!(
            "{more}\n[[listen]]\naddress = \"127.0.0.1:0\"\n[[origin.server]]\nurl = \"http://a:1\"\n"
        ))
    };
    let mut accelerator = Accelerator::start(text("workers = 1"), notices).unwrap();
    let mut told = |more: &str| -> Vec<String> {
        accelerator.reload(text(more)).unwrap();
        received.try_iter().map(|notice| notice.text.split(" has").next().unwrap().to_owned()).collect()
    };
    let both = ["`workers`", "`[memory]` or `[disk]`"];
    assert_eq!(told("workers = 2\n[memory]\nsize = \"8 MiB\""), both);
    assert_eq!(told("workers = 2\n[memory]\nheads-max = \"1 MiB\""), both);
    assert_eq!(told("workers = 1\nupgrade-socket = \"a\""), ["`upgrade-socket`"]);
    assert_eq!(told("workers = 1\n[memory]\nfilling-max = \"8 MiB\""), both[1..]);
    assert_eq!(told("workers = 1"), [""; 0], "as it is");
    accelerator.stop();
}

/// Makes a certificate for `localhost`, writes it to the configured files, and returns it.
fn make_certificate(folder: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("chain.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

/// Sends a request over TLS, trusting this certificate alone; `None` if another one is shown.
fn ask_over_tls(address: SocketAddr, trusted: &CertificateDer<'static>) -> Option<String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, TcpStream::connect(address).unwrap());
    stream.write_all(b"GET /secret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

#[test]
fn reload_loads_renewed_certificates_and_rejects_broken_ones() {
    let (origin, _) = origin();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let settings = || {
        settings(&format!(
            "workers = 1\n[[listen]]\naddress = \"127.0.0.1:0\"\ntls = true\nhttp2 = true\n\
             [[tls.certificate]]\nchain = {:?}\nkey = {:?}\n[[origin.server]]\nurl = \"http://{origin}\"\n",
            file("chain.pem"),
            file("key.pem")
        ))
    };
    let first = make_certificate(folder.path());
    let mut accelerator = Accelerator::start(settings(), Notices::default()).unwrap();
    let address = accelerator.addresses()[0];
    let is_shown = |certificate: &CertificateDer<'static>| {
        ask_over_tls(address, certificate).is_some_and(|text| text.ends_with("/secret"))
    };
    assert!(is_shown(&first));
    let second = make_certificate(folder.path());
    assert!(is_shown(&first), "files that have changed are not read before they shall be");
    accelerator.reload(settings()).unwrap();
    assert!(is_shown(&second) && !is_shown(&first));
    std::fs::write(file("key.pem"), "nonsense").unwrap();
    let refused = accelerator.reload(settings()).unwrap_err().to_string();
    assert!(refused.starts_with("`[tls]`: "), "{refused}");
    assert!(is_shown(&second));
    accelerator.stop();
}

/// Goal: somebody who wonders about a 502 finds the reason on standard error.
#[test]
fn the_operator_is_told_what_is_wrong_with_a_response() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok).find(String::is_empty);
        stream.write_all(b"HTTP/1.1 200 OK\r\nX Bad: 1\r\n\r\n").unwrap();
    });
    let text = format!(
        "workers = 1\n[[listen]]\naddress = \"127.0.0.1:0\"\n[[origin.server]]\nurl = \"http://{origin}\"\n"
    );
    let (notices, received) = Notices::new();
    let accelerator = Accelerator::start(settings(&text), notices).unwrap();
    let mut client = BufReader::new(TcpStream::connect(accelerator.addresses()[0]).unwrap());
    assert!(ask(&mut client, "/a").unwrap().contains("502 Bad Gateway"));
    assert_eq!(
        received.recv().unwrap().text,
        format!(
            "server `{origin}` has sent a response that cannot be forwarded: malformed head: header line does not \
             begin with `name:`, in line 2: `X Bad: 1`"
        )
    );
    accelerator.stop();
}
