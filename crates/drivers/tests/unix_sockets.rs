//! Web servers at Unix sockets.

use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use drivers::web::{ConnectTo, PlainDriver, Target, WebContext, WebContextOptions};
use drivers::{TargetPolicy, Trust};
use model::{ConnectionLifetime, Outcome, Secrets, WebWorkload};

use crate::common::{Fixture, LARGE, SMALL, clock, protocol, read_request, right_reply, workload};

/// Creates a driver of one user of the server at a socket.
fn fixture(path: &Path, host: &str, connection: ConnectionLifetime) -> Fixture {
    let mut target = Target::of_socket(path.to_owned());
    target.host = host.to_owned();
    assert_eq!(target.access.connect_to, ConnectTo::Socket(path.to_owned()));
    let web = WebContext::new(WebContextOptions {
        target: &target,
        address: "127.0.0.1:1".parse().unwrap(),
        policy: TargetPolicy,
        workload: &WebWorkload { protocol: protocol(connection), ..workload() },
        secrets: &Secrets::default(),
        source_addresses: &[],
        trust: &Trust::Any,
        clock: clock(),
    });
    Fixture::with(PlainDriver::new(web.unwrap()))
}

fn socket(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

#[test]
fn a_server_at_a_unix_socket_is_asked_by_its_name() {
    let (_folder, path) = socket("app.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        [SMALL, LARGE].map(|object| {
            let head = read_request(&mut stream);
            stream.write_all(&right_reply(object, "")).unwrap();
            head
        })
    });
    fixture(&path, "shop.example", ConnectionLifetime::KeepAlive { requests_max: None }).run(
        async |fixture| {
            for object in [SMALL, LARGE] {
                assert_eq!(fixture.get(object).await.outcome, Outcome::Ok);
            }
        },
    );
    for head in server.join().unwrap() {
        assert!(
            head.contains("\r\nHost: shop.example\r\n"),
            "without the port that the scheme implies: {head}"
        );
    }
}

#[test]
fn a_socket_without_a_server_refuses_connections() {
    let (_folder, path) = socket("left.sock");
    let asked = || {
        let fixture = fixture(&path, "localhost", ConnectionLifetime::PerRequest);
        fixture.run(async |fixture| fixture.get_described(SMALL).await)
    };
    assert_eq!(
        asked(),
        (Outcome::Refused, "GET /small.html: No such file or directory (os error 2)".to_owned())
    );
    drop(UnixListener::bind(&path).unwrap());
    assert_eq!(asked(), (Outcome::Refused, "GET /small.html: Connection refused (os error 111)".to_owned()));
}
