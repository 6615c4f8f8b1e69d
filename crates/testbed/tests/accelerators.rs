//! Every built-in accelerator in front of nginx, except Plimsoll's own, which the tests of the binary cover.
//! One that is not installed fails its test with the command that installs it.

use std::io::{Read, Write};
use std::net::TcpStream;

use languages::NamedValues;
use model::Content;
use testbed::{Acceleration, Origin, Recipe, RunningSut, SutServer, WebVariant};

use crate::fixture::{READY_MAX, directory, files, get, private, processes_with, request, value};

/// More than enough for the files of these tests.
const CACHE_BYTES: u64 = 200 << 20;

fn start(name: &str, variant: WebVariant, base: &std::path::Path, files: &model::FileSet) -> RunningSut {
    start_before(Recipe::load("nginx").unwrap(), name, variant, base, files)
}

fn start_before(
    server: Recipe,
    name: &str,
    variant: WebVariant,
    base: &std::path::Path,
    files: &model::FileSet,
) -> RunningSut {
    let recipe = Box::new(Recipe::load_accelerator(name).unwrap());
    let accelerator = Some(Acceleration { recipe, cache_bytes: CACHE_BYTES });
    let server = SutServer::Recipe(Box::new(server));
    let mut request = request(server, base, files);
    request.web.accelerator = accelerator;
    request.variant = Some(variant.name().to_owned());
    let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    sut
}

/// Sends a request and returns the whole response.
fn exchange(address: &str, request: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    reply
}

/// Returns the body of a file, requested over HTTP/1.1, without which HAProxy serves no cached responses.
fn file(sut: &RunningSut, path: &str) -> Vec<u8> {
    if sut.certificate_der().is_some() {
        return get(sut, path);
    }
    let address = sut.addr().to_string();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut reply = exchange(&address, &request);
    let head = reply.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
    assert!(reply.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&reply[..head]));
    reply.split_off(head + 4)
}

/// Returns how many requests nginx has received, including this one.
fn asked(address: &str) -> u64 {
    let page = exchange(address, "GET /plimsoll-status HTTP/1.0\r\n\r\n");
    let page = String::from_utf8_lossy(&page);
    let numbers = page.lines().skip_while(|line| !line.starts_with("server accepts")).nth(1);
    let last = numbers.and_then(|line| line.split_whitespace().last());
    last.unwrap_or_else(|| panic!("{page}")).parse().unwrap()
}

/// Goal: the accelerator receives the requests, returns the correct bytes, and requests each file from the
/// origin once.
fn check(name: &str) {
    let base = directory();
    let files = files();
    let content = Content::new(files.content_seed);
    let recipe = Recipe::load_accelerator(name).unwrap();
    for variant in recipe.variant_names().into_iter().filter_map(WebVariant::named) {
        let mut sut = start(name, variant, base.path(), &files);
        sut.warm(&files, false).unwrap_or_else(|error| panic!("{error}"));
        let facts = sut.facts();
        let behind = value(&facts, "server behind it");
        let behind = behind.trim_start_matches("http://").trim_end_matches('/').to_owned();
        assert!(behind.starts_with("127.0.0.2:") && sut.addr().ip().to_string() == "127.0.0.1", "{behind}");

        let before = asked(&behind);
        for _ in 0..5 {
            for one in &files.files {
                let body = file(&sut, &one.path);
                assert_eq!(body.len() as u64, one.bytes, "{}", one.path);
                assert!(content.matches(one.object, 0, &body), "{}", one.path);
            }
        }
        assert_eq!(asked(&behind) - before, 1, "only this request");

        let used = sut.usage().unwrap();
        sut.reset().unwrap_or_else(|error| panic!("{error}"));
        let before = asked(&behind);
        assert_eq!(file(&sut, "/small.html").len(), 500);
        assert_eq!(asked(&behind) - before, 1, "the accelerator served from its cache");
        assert!(used.cpu <= sut.usage().unwrap().cpu);
        assert!(1 << 20 < sut.resident_bytes().unwrap());

        let accelerator = facts.iter().find(|section| section.title == "Accelerator").unwrap();
        let fact = |name: &str| value(std::slice::from_ref(accelerator), name);
        assert_eq!(fact("before the first load point"), "each of 2 files requested once");
        assert_eq!(fact("transport"), variant.title());
        assert_eq!(fact("memory for copies"), "209715200 bytes (200.0 MiB)");
        assert!(!fact("version").is_empty() && !fact("freshness").is_empty());
        drop(sut);
        assert_eq!(processes_with(&base.path().to_string_lossy()), [""; 0]);
        assert_eq!(std::fs::read_dir(private(base.path())).unwrap().count(), 0);
    }
}

/// Goal: HTTP/1.0 requests without a host are hits, too, after the first one. HAProxy serves cached responses
/// only over HTTP/1.1.
fn check_http10(name: &str) {
    let base = directory();
    let files = files();
    let mut sut = start(name, WebVariant::Http1, base.path(), &files);
    sut.warm(&files, true).unwrap_or_else(|error| panic!("{error}"));
    let facts = sut.facts();
    let behind = value(&facts, "server behind it").trim_start_matches("http://").trim_end_matches('/');
    let before = asked(behind);
    let reply = exchange(&sut.addr().to_string(), "GET /small.html HTTP/1.0\r\nAccept: */*\r\n\r\n");
    let reply = String::from_utf8_lossy(&reply);
    assert!(reply.starts_with("HTTP/1.") && reply.contains(" 200 "), "{reply}");
    let misses = u64::from(name == "haproxy");
    assert_eq!(asked(behind) - before, misses + 1, "including this request");
}

/// Goal: an accelerator can be put in front of a running server.
#[test]
fn an_accelerator_can_be_started_in_front_of_a_running_server() {
    let base = directory();
    let files = files();
    let nginx = SutServer::Recipe(Box::new(Recipe::load("nginx").unwrap()));
    let mut behind = RunningSut::start(request(nginx, base.path(), &files)).unwrap();
    behind.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    let recipe = Box::new(Recipe::load_accelerator("nginx").unwrap());
    let mut request = request(SutServer::Recipe(recipe), base.path(), &files);
    request.web.origin = Some(Origin { address: behind.addr(), cache_bytes: CACHE_BYTES });
    let mut sut = RunningSut::start(request).unwrap();
    sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
    sut.warm(&files, false).unwrap_or_else(|error| panic!("{error}"));
    let before = asked(&behind.addr().to_string());
    assert_eq!(get(&sut, "/large.html").len(), 300_000);
    assert_eq!(asked(&behind.addr().to_string()) - before, 1);
}

/// Goal: a server that cannot be moved, because its recipe contains no address, is not reported as moved.
#[test]
fn a_server_that_cannot_be_moved_keeps_its_address() {
    let base = directory();
    let files = files();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes/nginx.toml");
    let fixed = std::fs::read_to_string(path).unwrap().replace("{address}", "127.0.0.1");
    let server = Recipe::parse("fixed.toml", &fixed).unwrap();
    let sut = start_before(server, "nginx", WebVariant::Http1, base.path(), &files);
    let facts = sut.facts();
    assert!(value(&facts, "server behind it").starts_with("http://127.0.0.1:"));
    assert_eq!(value(&facts, "placement"), "in front of the server, at the same address");
    assert_eq!(get(&sut, "/small.html").len(), 500);
}

macro_rules! accelerators {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn forwards_and_caches_files() {
                super::check(stringify!($name));
            }

            #[test]
            fn caches_requests_without_a_host() {
                super::check_http10(stringify!($name));
            }
        }
    )*};
}

accelerators! { nginx varnish trafficserver haproxy squid }
