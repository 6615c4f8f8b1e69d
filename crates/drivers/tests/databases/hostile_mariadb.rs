//! A peer that speaks some of MariaDB's protocol, and then something else: each has an outcome, and nothing hangs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use drivers::database::{DatabasePassword, DatabasePlace, DatabaseServer};
use drivers::orders::{DatabaseContext, DatabaseDriver};
use engine::Driver;
use model::{DatabaseProduct, OrderRequest, OrderSql, Outcome, Reply};
use orders::{DistrictKey, StockLevelInput, TransactionInput, TransactionType};
use units::{Clock, RealClock, Rng, StreamPurpose};

use super::fixture::{Inputs, spoil, workload};
use crate::common::block_on;

/// The longest that a session takes to be refused.
const REFUSED_MAX: Duration = Duration::from_secs(20);

/// The parameters of the procedures, in the order in which their calls are prepared.
const PARAMETERS: [u8; 5] = [6, 10, 4, 4, 4];

/// Makes a packet of the server: the length of its content, its number, its content.
pub(super) fn packet(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&length[..3], &[number], content].concat()
}

/// The first packet of a server with these capabilities: its version, the session, a nonce in two parts, the plugin.
pub(super) fn greeting(capabilities: u32) -> Vec<u8> {
    let [a, b, c, d] = capabilities.to_le_bytes();
    let content = [
        &b"\x0a10.11.6-MariaDB\0\x07\0\0\x0012345678\0"[..],
        &[a, b, 45, 2, 0, c, d, 21],
        &[0; 10],
        b"123456789012\0mysql_native_password\0",
    ];
    packet(0, &content.concat())
}

/// All capabilities up to the one that ends results without a packet of their own, but for TLS.
pub(super) const CAPABILITIES: u32 = 0x01ff_f7ff;

/// The packet that ends a login or a statement.
pub(super) fn done(number: u8) -> Vec<u8> {
    packet(number, b"\0\0\0\x02\0\0\0")
}

/// The description of a number of 64 bits.
pub(super) fn column(number: u8) -> Vec<u8> {
    packet(number, b"\x03def\0\0\0\x01n\0\x0c\x3f\0\x14\0\0\0\x08\x80\0\0\0\0")
}

/// The answer to a statement that is prepared.
fn prepared(n_parameters: u8) -> Vec<u8> {
    let head = packet(1, &[0, 1, 0, 0, 0, 0, 0, n_parameters, 0, 0, 0, 0]);
    let columns = (0..n_parameters).map(|index| column(index + 2));
    std::iter::once(head).chain(columns).flatten().collect()
}

/// The result of a call: a row with a number.
fn result() -> Vec<u8> {
    let row = packet(3, b"\0\0\x2a\0\0\0\0\0\0\0");
    // Another result follows: that of the call.
    [packet(1, b"\x01"), column(2), row, packet(4, b"\xfe\0\0\x0a\0\0\0"), done(5)].concat()
}

/// All that a server says to a terminal that looks at a stock.
fn script() -> Vec<Vec<u8>> {
    let prepared = PARAMETERS.into_iter().map(prepared);
    [greeting(CAPABILITIES), done(2)].into_iter().chain(prepared).chain([result()]).collect()
}

/// Serves one client: sends the first bytes, and the others each after something has arrived. Closes the connection
/// where nothing does for some time.
fn serve(steps: Vec<Vec<u8>>, patience: Duration) -> SocketAddr {
    serve_each(vec![steps], patience).0
}

/// The same for clients that come one after another, each with steps of its own; counts those that have come.
fn serve_each(clients: Vec<Vec<Vec<u8>>>, patience: Duration) -> (SocketAddr, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let n_clients = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&n_clients);
    std::thread::spawn(move || {
        for steps in clients {
            let Ok((mut client, _)) = listener.accept() else { return };
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = client.set_read_timeout(Some(patience));
            let mut buffer = [0; 4096];
            for step in steps {
                let is_sent = client.write_all(&step).is_ok();
                if !is_sent || !client.read(&mut buffer).is_ok_and(|read| 0 < read) {
                    break;
                }
            }
        }
    });
    (address, n_clients)
}

fn context(address: SocketAddr) -> std::rc::Rc<DatabaseContext> {
    let server = DatabaseServer {
        product: DatabaseProduct::MariaDb,
        place: DatabasePlace::Tcp(address),
        encryption: None,
        user: "me".to_owned(),
        password: Some(DatabasePassword::new("secret")),
        database: String::new(),
    };
    DatabaseContext::new(&workload(OrderSql::Stored), &server, &[], RealClock::start()).unwrap()
}

/// Returns the reason why no session can be opened.
fn refusal(address: SocketAddr) -> String {
    block_on(async {
        let mut driver = DatabaseDriver::new(&context(address));
        let opened = tokio::time::timeout(REFUSED_MAX, driver.open()).await.expect("it hangs");
        opened.expect_err("it was opened").to_string()
    })
}

/// Looks at a stock.
fn look(address: SocketAddr) -> Reply {
    let [reply] = looks(address);
    reply
}

/// Looks at a stock several times, as one terminal.
fn looks<const N: usize>(address: SocketAddr) -> [Reply; N] {
    let district = DistrictKey { warehouse: 1, district: 1 };
    let request =
        OrderRequest { input: TransactionInput::StockLevel(StockLevelInput { district, threshold: 15 }) };
    block_on(async {
        let mut driver = DatabaseDriver::new(&context(address));
        let mut replies = Vec::new();
        for _ in 0..N {
            let work = driver.perform(&request, RealClock::start().now());
            replies.push(tokio::time::timeout(REFUSED_MAX, work).await.expect("it hangs"));
        }
        replies.try_into().expect("one reply each")
    })
}

#[test]
fn peers_that_are_no_database_are_named_as_such() {
    let other = "the reply does not follow the database's protocol";
    let authentication = "the database asks for an authentication method that Plimsoll does not support";
    let hello = || greeting(CAPABILITIES);
    let version = hello().windows(7).position(|part| part == b"MariaDB").unwrap();
    let mut mysql = hello();
    mysql[version..version + 7].copy_from_slice(b"0ubuntu");
    let switch = |number, plugin: &[u8]| {
        packet(number, &[&b"\xfe"[..], plugin, b"\x0012345678901234567890\0"].concat())
    };
    let native = |number| switch(number, b"mysql_native_password");
    for (what, steps, expected) in [
        ("it closes", vec![], "the database closed the session"),
        ("HTTP", vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()], other),
        ("a packet out of order", vec![packet(5, &hello()[4..])], other),
        ("an empty packet", vec![packet(0, b"")], other),
        ("MySQL", vec![mysql], "the server speaks MariaDB's protocol, but is not MariaDB"),
        ("half a greeting", vec![packet(0, &hello()[4..30])], other),
        ("a server of 2003", vec![greeting(0x0000_ffff)], other),
        (
            "too many connections",
            vec![packet(0, b"\xff\x10\x04Too many connections")],
            "SQLSTATE 08004: Too many connections (1040)",
        ),
        (
            "an unknown plugin",
            vec![hello(), switch(2, b"dialog")],
            "by `dialog`, which Plimsoll does not support",
        ),
        (
            "a plugin for the password in clear",
            vec![hello(), switch(2, b"mysql_clear_password")],
            "by `mysql_clear_password`, which Plimsoll does not support",
        ),
        (
            "the whole password",
            vec![hello(), packet(2, b"\x01\x04")],
            "by `the password in clear`, which Plimsoll does not support",
        ),
        (
            "plugins without end",
            [hello()].into_iter().chain((0..20).map(|index| native(2 + 2 * index))).collect(),
            authentication,
        ),
        (
            "other parameters",
            vec![hello(), done(2), prepared(5)],
            "the database expects other parameters for the statement than those given",
        ),
        ("a file of ours", vec![hello(), done(2), packet(1, b"\xfb/etc/passwd")], other),
        (
            "half an answer",
            vec![hello(), done(2), prepared(6)[..40].to_vec()],
            "the connection ended within a reply",
        ),
    ] {
        let found = refusal(serve(steps, Duration::from_millis(200)));
        assert!(found.ends_with(expected), "{what}: {found}");
        assert!(!found.contains("secret"), "{what}");
    }
}

/// Goal: a transaction that a refused call has left open is undone, and the session goes on; where the server refuses even
/// that, the next transaction has a session of its own.
#[test]
fn a_session_ends_where_its_transaction_cannot_be_undone() {
    // Error 1114 ends a procedure past all its handlers.
    let full = || packet(1, b"\xff\x5a\x04#HY000The table 'stock' is full");
    let refused: Vec<Vec<u8>> = script().into_iter().take(7).chain([full()]).collect();
    let with = |more: [Vec<u8>; 2]| [&refused[..], &more].concat();
    for (what, clients, n_expected) in [
        ("it is undone", vec![with([done(1), result()])], 1),
        ("it is not", vec![with([full(), result()]), script()], 2),
    ] {
        let (address, n_clients) = serve_each(clients, REFUSED_MAX);
        let outcomes = looks::<2>(address).map(|reply| reply.outcome);
        assert_eq!(outcomes, [Outcome::Busy, Outcome::Ok], "{what}");
        assert_eq!(n_clients.load(Ordering::SeqCst), n_expected, "{what}");
    }
}

/// Goal: an order that may be committed is in doubt, whatever the server says. A procedure may be interrupted when it has
/// committed, and a connection end between a proxy and its server.
#[test]
fn a_refusal_that_does_not_say_what_was_committed_leaves_the_order_in_doubt() {
    for (refusal, n_in_doubt) in [
        (&b"\xff\x5a\x04#HY000The table 'stock' is full"[..], 0),
        (b"\xff\x25\x05#70100Query execution was interrupted", 1),
        (b"\xff\xdd\x07#08S01Lost connection to backend server", 1),
    ] {
        let steps = script().into_iter().take(7).chain([packet(1, refusal), done(1)]).collect();
        let context = context(serve(steps, REFUSED_MAX));
        block_on(async {
            let mut driver = DatabaseDriver::new(&context);
            let request = Inputs::of(1).next(TransactionType::NewOrder);
            let work = driver.perform(&request, RealClock::start().now());
            let reply = tokio::time::timeout(REFUSED_MAX, work).await.expect("it hangs");
            assert_ne!(reply.outcome, Outcome::Ok);
        });
        let counts = context.counts();
        assert_eq!((counts.placed, counts.placed_in_doubt), (0, n_in_doubt), "{}", refusal.escape_ascii());
    }
}

/// Goal: whatever bytes a server sends, a transaction has an outcome.
#[test]
fn spoilt_replies_have_an_outcome() {
    assert_eq!(look(serve(script(), REFUSED_MAX)).outcome, Outcome::Ok, "what is spoilt below is right");
    let mut rng = Rng::new(11, StreamPurpose::User, 0);
    let mut n_failed = 0;
    for _ in 0..300 {
        let mut steps = script();
        spoil(&mut steps, &mut rng);
        n_failed += u32::from(look(serve(steps, Duration::from_millis(30))).outcome != Outcome::Ok);
    }
    assert!(150 < n_failed, "most of what was spoilt is noticed: {n_failed}");
}
