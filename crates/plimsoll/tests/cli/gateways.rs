//! Plimsoll as a page generator behind web servers: as a CGI program, over FastCGI, and behind a proxy.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use model::{FileSet, Gateway, GatewayKind, GeneratedText, SetFile};
use testbed::{Recipe, ResourceLimits, RunningSut, SutRequest, SutServer, WebParts};

const READY_MAX: Duration = Duration::from_secs(20);

/// Gateways for which Plimsoll itself generates the pages.
const OURS: [GatewayKind; 3] = [GatewayKind::Cgi, GatewayKind::FastCgi, GatewayKind::Proxy];

fn check(name: &str) {
    let recipe = Recipe::load(name).unwrap();
    // Apache's processes, which drop root privileges, must be able to enter.
    let open = Permissions::from_mode(0o755);
    let base = tempfile::Builder::new().permissions(open).tempdir().unwrap();
    let file = SetFile { object: 0, path: "/small.html".into(), bytes: 500 };
    let files = FileSet { content_seed: 5, files: vec![file] };
    for kind in OURS.into_iter().filter(|kind| recipe.gateways.contains_key(kind)) {
        let request = SutRequest {
            server: SutServer::Recipe(Box::new(recipe.clone())),
            work_dir: base.path().to_owned(),
            data_dir: base.path().to_owned(),
            limits: ResourceLimits::default(),
            port: None,
            search_path: Vec::new(),
            profile: None,
            variant: None,
            users: 1,
            web: WebParts {
                files: Some(files.clone()),
                gateway: Some(Gateway { kind, workers: 2 }),
                ..WebParts::default()
            },
            program: env!("CARGO_BIN_EXE_plimsoll").into(),
        };
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{kind}: {error}"));
        for (path, prefix, bytes, seed) in [
            ("/dyn?size=5&seed=1", 0, 5, 1),
            ("/deep/page.dyn-send?size=100000", 0, 100_000, 0),
            ("/cgi-bin/simple?seed=7&size=70", 50, 70, 7),
        ] {
            let body = get(&sut, path);
            assert_eq!(body.len(), bytes, "{kind} {path}");
            assert_eq!(GeneratedText::new(seed).matches(&body[prefix..]), Ok(()), "{kind} {path}");
        }
        assert_eq!(get(&sut, "/small.html").len(), 500, "{kind}");
    }
}

fn get(sut: &RunningSut, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(sut.addr()).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    let head = reply.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
    assert!(reply.starts_with(b"HTTP/1.1 200"), "{path}: {}", String::from_utf8_lossy(&reply[..head]));
    reply.split_off(head + 4)
}

#[test]
fn plimsoll_generates_pages_behind_nginx() {
    check("nginx");
}

#[test]
fn plimsoll_generates_pages_behind_apache() {
    check("apache");
    check("apache-prefork");
}
