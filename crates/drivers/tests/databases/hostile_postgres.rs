//! A peer that speaks some of PostgreSQL's protocol, and then something else: each has an outcome, and nothing hangs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use drivers::database::{DatabasePassword, DatabasePlace, DatabaseServer};
use drivers::orders::{DatabaseContext, DatabaseDriver};
use engine::Driver;
use model::{DatabaseProduct, OrderSql};
use units::RealClock;

use crate::common::block_on;
use crate::fixture::workload;

/// The longest that a session takes to be refused.
const REFUSED_MAX: Duration = Duration::from_secs(20);

/// Makes a message of the server: its type, its length with that of the length itself, its content.
fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 4).unwrap();
    [&[kind][..], &length.to_be_bytes(), content].concat()
}

/// The messages up to the first request: the client is who it says, the key for its cancellation, ready.
fn greeting() -> Vec<u8> {
    [message(b'R', &0u32.to_be_bytes()), message(b'K', &[0; 8]), message(b'Z', b"I")].concat()
}

/// Serves one client: after its first message it sends some bytes, and after its second one others, `n` times over.
fn serve(first: Vec<u8>, then: Vec<u8>, n: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let Ok((mut client, _)) = listener.accept() else { return };
        let mut buffer = [0; 4096];
        let mut answer = |client: &mut TcpStream, bytes: &[u8], n: usize| {
            let is_open = client.read(&mut buffer).is_ok_and(|read| 0 < read);
            is_open && (0..n).all(|_| client.write_all(bytes).is_ok())
        };
        if answer(&mut client, &first, 1) && !then.is_empty() {
            answer(&mut client, &then, n);
        }
    });
    address
}

/// Returns the reason why no session can be opened.
fn refusal(address: SocketAddr) -> String {
    let server = DatabaseServer {
        product: DatabaseProduct::PostgreSql,
        place: DatabasePlace::Tcp(address),
        encryption: None,
        user: "me".to_owned(),
        password: Some(DatabasePassword::new("secret")),
        database: "shop".to_owned(),
    };
    let workload = workload(OrderSql::Stored);
    let context = DatabaseContext::new(&workload, &server, &[], RealClock::start()).unwrap();
    block_on(async {
        let mut driver = DatabaseDriver::new(&context);
        let opened = tokio::time::timeout(REFUSED_MAX, driver.open()).await.expect("it hangs");
        opened.expect_err("it was opened")
    })
}

#[test]
fn peers_that_are_no_database_are_named_as_such() {
    let other = "the reply is not of the database's protocol";
    let password = message(b'R', &3u32.to_be_bytes());
    for (what, first, then, expected) in [
        ("it closes", Vec::new(), Vec::new(), "the database closed the session"),
        ("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), Vec::new(), other),
        ("a length below its own", b"R\0\0\0\x03".to_vec(), Vec::new(), other),
        ("an unknown message", message(b'?', b"what"), Vec::new(), other),
        ("a method that nobody has", message(b'R', &99u32.to_be_bytes()), Vec::new(), other),
        ("passwords without end", password.clone(), password, other),
        ("an error without fields", message(b'E', b"\0"), Vec::new(), other),
        (
            "rows that nobody asked for, and the end",
            greeting(),
            message(b'D', b"\0\x01\0\0\0\x01x"),
            "the database closed the session",
        ),
        ("half a message", greeting(), b"1\0\0\0\x40".to_vec(), other),
    ] {
        let found = refusal(serve(first, then, 1));
        assert!(found.ends_with(expected), "{what}: {found}");
        assert!(!found.contains("secret"), "{what}");
    }
}

#[test]
fn notices_without_end_are_ended() {
    let notice = message(b'N', b"SNOTICE\0C00000\0Mhello\0\0");
    let found = refusal(serve(greeting(), notice, 100_000));
    assert!(found.ends_with("the database sends notices without end"), "{found}");
}
