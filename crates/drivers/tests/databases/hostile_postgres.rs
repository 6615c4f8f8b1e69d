//! A peer that speaks some of PostgreSQL's protocol, and then something else: each has an outcome, and nothing hangs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use drivers::database::{DatabasePassword, DatabasePlace, DatabaseServer};
use drivers::orders::{DatabaseContext, DatabaseDriver};
use engine::Driver;
use model::{DatabaseProduct, OrderRequest, OrderSql, Outcome, Reply};
use orders::{DistrictKey, NewOrderInput, OrderedItem, OrderedItems, StockLevelInput, TransactionInput};
use units::{Clock, RealClock, Rng, StreamPurpose};

use super::fixture::{spoil, workload};
use crate::common::block_on;

/// The longest that a session takes to be refused.
const REFUSED_MAX: Duration = Duration::from_secs(20);

/// The time after which a peer closes the connection where nothing arrives.
const PATIENCE: Duration = Duration::from_millis(200);

/// The parameters of the procedures, in the order in which their calls are prepared.
const PARAMETERS: [u16; 5] = [7, 9, 4, 3, 4];

/// Makes a message of the server: its type, its length with that of the length itself, its content.
pub(super) fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len() + 4).unwrap();
    [&[kind][..], &length.to_be_bytes(), content].concat()
}

/// The messages up to the first request: the client is who it says, the key for its cancellation, ready.
pub(super) fn greeting() -> Vec<u8> {
    [message(b'R', &0u32.to_be_bytes()), message(b'K', &[0; 8]), ready()].concat()
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// The reply to the choice of a schema, which is the first request.
fn chosen() -> Vec<u8> {
    [message(b'C', b"SET\0"), ready()].concat()
}

/// The reply to a statement that is prepared: parameters of 32 bits, and a column of 64.
pub(super) fn prepared(n_parameters: u16) -> Vec<u8> {
    let types = [23u32.to_be_bytes()].repeat(n_parameters.into()).concat();
    let parameters = [&n_parameters.to_be_bytes()[..], &types].concat();
    let column = b"\0\x01n\0\0\0\0\0\0\0\0\0\0\x14\0\x08\xff\xff\xff\xff\0\0";
    [message(b'1', b""), message(b't', &parameters), message(b'T', column), ready()].concat()
}

/// The reply to a call, with this row.
fn result(row: &[u8]) -> Vec<u8> {
    [message(b'2', b""), message(b'D', row), message(b'C', b"SELECT 1\0"), ready()].concat()
}

/// A row of one number: three.
const ROW: &[u8] = b"\0\x01\0\0\0\x08\0\0\0\0\0\0\0\x03";

/// All that a server says to a terminal that looks at a stock, with this reply to the call.
fn script(reply: Vec<u8>) -> Vec<Vec<u8>> {
    [greeting(), chosen()].into_iter().chain(PARAMETERS.map(prepared)).chain([reply]).collect()
}

/// Serves one client: sends the bytes of each step after something has arrived. Closes the connection where nothing does
/// for some time.
fn serve(steps: Vec<Vec<u8>>, patience: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let Ok((mut client, _)) = listener.accept() else { return };
        let _ = client.set_read_timeout(Some(patience));
        let mut buffer = [0; 4096];
        for step in steps {
            if !client.read(&mut buffer).is_ok_and(|read| 0 < read) || client.write_all(&step).is_err() {
                return;
            }
        }
        let _ = client.read(&mut buffer);
    });
    address
}

fn context(address: SocketAddr) -> std::rc::Rc<DatabaseContext> {
    let server = DatabaseServer {
        product: DatabaseProduct::PostgreSql,
        place: DatabasePlace::Tcp(address),
        encryption: None,
        user: "me".to_owned(),
        password: Some(DatabasePassword::new("secret")),
        database: "shop".to_owned(),
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

const DISTRICT: DistrictKey = DistrictKey { warehouse: 1, district: 1 };

/// Looks at a stock; returns the reply and its description.
fn look(address: SocketAddr) -> (Reply, String) {
    perform(address, TransactionInput::StockLevel(StockLevelInput { district: DISTRICT, threshold: 15 }))
}

/// Performs a transaction; returns the reply and its description.
fn perform(address: SocketAddr, input: TransactionInput) -> (Reply, String) {
    let request = OrderRequest { input };
    block_on(async {
        let mut driver = DatabaseDriver::new(&context(address));
        let work = driver.perform(&request, RealClock::start().now());
        let reply = tokio::time::timeout(REFUSED_MAX, work).await.expect("it hangs");
        let description = driver.describe(&request, &reply);
        (reply, description)
    })
}

#[test]
fn peers_that_are_no_database_are_named_as_such() {
    let other = "the reply does not follow the database's protocol";
    let cut = "the connection ended within a reply";
    let password = message(b'R', &3u32.to_be_bytes());
    let method = |code: u32| message(b'R', &code.to_be_bytes());
    for (what, first, then, expected) in [
        ("it closes", Vec::new(), Vec::new(), "the database closed the session"),
        ("HTTP", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), Vec::new(), other),
        ("a length below its own", b"R\0\0\0\x03".to_vec(), Vec::new(), other),
        ("a length that no message has", b"R\x7f\xff\xff\xff".to_vec(), Vec::new(), other),
        ("a login of 16 MiB", b"R\x01\0\0\0abc".to_vec(), Vec::new(), other),
        ("an unknown message", message(b'?', b"what"), Vec::new(), other),
        ("a method without a number", message(b'R', b"\0"), Vec::new(), other),
        ("passwords without end", password.clone(), password, other),
        ("a salt of three bytes", message(b'R', b"\0\0\0\x05abc"), Vec::new(), other),
        ("an error without fields", message(b'E', b"\0"), Vec::new(), other),
        ("rows that nobody asked for", greeting(), message(b'D', b"\0\x01\0\0\0\x01x"), other),
        ("a description cut short", greeting(), message(b't', b"\0\x09\0\0"), other),
        ("ready without a statement", greeting(), message(b'Z', b"I"), other),
        ("half a message", greeting(), b"1\0\0\0\x40".to_vec(), cut),
        ("the beginning of 64 MiB", greeting(), b"t\x04\0\0\0abc".to_vec(), cut),
        ("a message of more than 64 MiB", greeting(), b"t\x04\0\0\x01abc".to_vec(), other),
    ] {
        let is_greeted = first == greeting();
        let steps = if is_greeted { vec![first, chosen(), then] } else { vec![first, then] };
        let found = refusal(serve(steps, PATIENCE));
        assert!(found.ends_with(expected), "{what}: {found}");
        assert!(!found.contains("secret"), "{what}");
    }
    for (name, first) in
        [("method 99", method(99)), ("GSSAPI", method(7)), ("OTHER", message(b'R', b"\0\0\0\x0aOTHER\0\0"))]
    {
        let found = refusal(serve(vec![first], PATIENCE));
        let expected =
            format!("the database asks for authentication by `{name}`, which Plimsoll does not support");
        assert!(found.ends_with(&expected), "{found}");
    }
}

/// The server asks for SCRAM, and then claims to know the password by a nonce that is not ours.
#[test]
fn servers_that_do_not_know_the_password_are_refused() {
    let asked = message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    let claimed = message(b'R', b"\0\0\0\x0br=somebody else's,s=c2FsdA==,i=4096");
    let found = refusal(serve(vec![asked, claimed], PATIENCE));
    assert!(found.ends_with("an authentication method that Plimsoll does not support"), "{found}");
}

#[test]
fn what_a_server_refuses_it_says() {
    let too_many = message(b'E', b"SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0");
    for (what, first, then) in [
        ("at once", too_many.clone(), Vec::new()),
        ("behind the greeting", [greeting(), too_many.clone()].concat(), Vec::new()),
        ("in place of a reply", greeting(), too_many),
    ] {
        let found = refusal(serve(vec![first, then], PATIENCE));
        let expected = "the database refused it with SQLSTATE 53300: sorry, too many clients already";
        assert!(found.ends_with(expected), "{what}: {found}");
    }
}

/// Replies that arrive byte by byte, with notices and settings between their messages.
#[test]
fn replies_in_many_parts_are_put_together() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let slow = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_nodelay(true).unwrap();
        let mut buffer = [0; 4096];
        let notice = message(b'N', b"SNOTICE\0C00000\0Mhello\0\0");
        let setting = message(b'S', b"TimeZone\0UTC\0");
        let first = [setting.clone(), greeting(), notice.clone()].concat();
        let refused = message(b'E', b"SERROR\0VERROR\0C42883\0Mno such function\0\0");
        let second = [notice, refused, setting, message(b'Z', b"I")].concat();
        for reply in [first, chosen(), second] {
            assert!(0 < client.read(&mut buffer).unwrap());
            for byte in reply {
                client.write_all(&[byte]).unwrap();
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    });
    let found = refusal(address);
    assert!(found.ends_with("SQLSTATE 42883: no such function"), "{found}");
    slow.join().unwrap();
}

#[test]
fn notices_without_end_are_ended() {
    let notices = message(b'N', b"SNOTICE\0C00000\0Mhello\0\0").repeat(100_000);
    let found = refusal(serve(vec![greeting(), chosen(), notices], REFUSED_MAX));
    assert!(found.ends_with("the database sends notices without end"), "{found}");
}

#[test]
fn results_that_no_call_has_are_named() {
    let other = "the reply does not follow the database's protocol";
    for (what, row, expected) in [
        ("no column", &b"\0\0"[..], other),
        ("two columns", b"\0\x02\0\0\0\x01x\xff\xff\xff\xff", other),
        ("a value longer than the row", b"\0\x01\x7f\xff\xff\xffx", other),
        ("a number of three bytes", b"\0\x01\0\0\0\x03abc", "or has a value of another type"),
        ("no number", b"\0\x01\xff\xff\xff\xff", "or has a value of another type"),
    ] {
        let (reply, description) = look(serve(script(result(row)), PATIENCE));
        assert_ne!(reply.outcome, Outcome::Ok, "{what}");
        assert!(description.ends_with(expected), "{what}: {description}");
    }
    let twice =
        [message(b'2', b""), message(b'D', ROW), message(b'D', ROW), message(b'C', b"SELECT 2\0"), ready()];
    let (_, description) = look(serve(script(twice.concat()), PATIENCE));
    assert!(description.ends_with("a row that the data must have is missing"), "{description}");
}

/// The server says of all parameters that they are numbers, also of those for which an order has arrays.
#[test]
fn parameters_of_other_types_are_named() {
    let line = OrderedItem { item: 1, supply_warehouse: 1, quantity: 1 };
    let items = OrderedItems::new(&[line; 5]).unwrap();
    let order = TransactionInput::NewOrder(NewOrderInput {
        district: DISTRICT,
        customer: 1,
        items,
        is_rolled_back: false,
    });
    let (reply, description) = perform(serve(script(result(ROW)), PATIENCE), order);
    assert_eq!(reply.outcome, Outcome::WrongBytes);
    assert!(description.ends_with("other parameters for the statement than those given"), "{description}");
}

/// A field of 32 MiB is read, and is not what the column can have.
#[test]
fn huge_fields_are_read_to_their_end() {
    let row = [&b"\0\x01\x02\0\0\0"[..], &vec![b'x'; 32 << 20]].concat();
    let (_, description) = look(serve(script(result(&row)), REFUSED_MAX));
    assert!(description.ends_with("or has a value of another type"), "{description}");
}

#[test]
fn rows_without_end_are_ended() {
    let rows = [message(b'2', b""), message(b'D', ROW).repeat(200_000)].concat();
    let (_, description) = look(serve(script(rows), REFUSED_MAX));
    assert!(description.ends_with("the reply does not follow the database's protocol"), "{description}");
}

/// Goal: whatever bytes a server sends, a transaction has an outcome.
#[test]
fn spoilt_replies_have_an_outcome() {
    let right = || script(result(ROW));
    assert_eq!(look(serve(right(), REFUSED_MAX)).0.outcome, Outcome::Ok, "what is spoilt below is right");
    let mut rng = Rng::new(12, StreamPurpose::User, 0);
    let mut n_failed = 0;
    for _ in 0..300 {
        let mut steps = right();
        spoil(&mut steps, &mut rng);
        let (reply, _) = look(serve(steps, Duration::from_millis(30)));
        n_failed += u32::from(reply.outcome != Outcome::Ok);
    }
    assert!(150 < n_failed, "most of what was spoilt is noticed: {n_failed}");
}
