//! What tests of running servers share.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use model::{FactSection, FileSet, SetFile};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, RootCertStore, StreamOwned, SupportedProtocolVersion,
};
use tempfile::TempDir;
use testbed::{Limits, RunningSut, Server, SutRequest, Transport, make_private_folder, private_folder_in};

/// How long a server may take to answer; the machine may be busy.
pub const READY_MAX: Duration = Duration::from_secs(20);

/// Makes a directory that servers can read that have given up root's rights.
pub fn directory() -> TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap()
}

/// Returns the folder in `base` that is this user's alone, as the program has one in shared folders.
pub fn private(base: &Path) -> PathBuf {
    make_private_folder(&private_folder_in(base)).unwrap_or_else(|error| panic!("{error}"))
}

/// A large and a small file.
pub fn files() -> FileSet {
    let file = |object, path: &str, bytes| SetFile { object, path: path.to_owned(), bytes };
    FileSet { content_seed: 5, files: vec![file(0, "/large.html", 300_000), file(1, "/small.html", 500)] }
}

/// Asks for a server with nothing special about it.
pub fn request<'a>(server: Server, work_dir: &Path, files: &'a FileSet) -> SutRequest<'a> {
    SutRequest {
        server,
        work_dir: private(work_dir),
        files,
        root: None,
        limits: Limits::default(),
        port: None,
        search_path: Vec::new(),
        profile: None,
        transport: Transport::Plain,
        gateway: None,
        program: PathBuf::new(),
        accelerator: None,
    }
}

/// Returns the processes whose command line holds `text`.
pub fn processes_with(text: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(text)).collect()
}

/// Asks for a path; returns status line and body.
pub fn ask(sut: &RunningSut, path: &str) -> (String, Vec<u8>) {
    let stream = TcpStream::connect(sut.addr()).unwrap();
    let reply = match sut.certificate_der() {
        None => exchange(stream, path),
        Some(certificate) => {
            let config = tls_config(certificate, rustls::DEFAULT_VERSIONS);
            exchange(StreamOwned::new(tls_client(&config), stream), path)
        }
    };
    let head = reply.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
    let first = reply.split(|byte| *byte == b'\r').next().unwrap();
    (String::from_utf8_lossy(first).into_owned(), reply[head + 4..].to_vec())
}

/// Asks for a path that there is; returns its body.
pub fn get(sut: &RunningSut, path: &str) -> Vec<u8> {
    let (status, body) = ask(sut, path);
    assert!(status.starts_with("HTTP/1.") && status.contains(" 200"), "{path}: {status}");
    body
}

fn exchange(mut stream: impl Read + Write, path: &str) -> Vec<u8> {
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    reply
}

/// Shakes hands twice and asks in between; returns whether the second time took less.
pub fn resumes(sut: &RunningSut, version: &'static SupportedProtocolVersion) -> bool {
    let config = tls_config(sut.certificate_der().unwrap(), &[version]);
    let connect = || {
        let stream = TcpStream::connect(sut.addr()).unwrap();
        let mut tls = StreamOwned::new(tls_client(&config), stream);
        tls.write_all(b"GET /small.html HTTP/1.0\r\n\r\n").unwrap();
        // Tickets of TLS 1.3 come with the answer.
        assert_ne!(tls.read(&mut [0; 4096]).unwrap(), 0);
        tls.conn.handshake_kind()
    };
    assert_eq!(connect(), Some(HandshakeKind::Full));
    connect() == Some(HandshakeKind::Resumed)
}

/// Settings of a client that trusts this certificate and no other.
fn tls_config(certificate: &[u8], versions: &[&'static SupportedProtocolVersion]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(certificate.to_vec())).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

fn tls_client(config: &Arc<ClientConfig>) -> ClientConnection {
    let name = ServerName::from(IpAddr::from(Ipv4Addr::LOCALHOST));
    ClientConnection::new(Arc::clone(config), name).unwrap()
}

/// Returns the value of a fact.
pub fn value<'a>(facts: &'a [FactSection], name: &str) -> &'a str {
    let fact = facts.iter().flat_map(|section| &section.facts).find(|fact| fact.name == name);
    &fact.unwrap_or_else(|| panic!("no fact `{name}` in {facts:?}")).value
}
