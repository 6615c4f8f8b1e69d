//! Servers that answer a user's own statements and their commit in ways that a client has to look at: what counts as
//! committed, and what the rows are.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use drivers::database::{DatabasePassword, DatabasePlace, DatabaseServer};
use drivers::sql::{SqlDriver, SqlSessions};
use model::{
    DatabaseProduct, ExpectedText, ExpectedValue, Outcome, Reply, SqlRequest, SqlStatement, SqlTransaction,
    SqlWorkload, ThinkTime, UserPage,
};
use units::RealClock;

use super::{hostile_mariadb as mariadb, hostile_postgres as postgres};
use crate::common::{TRANSACTION_MAX, perform_all};

/// The most bytes of a message that is kept.
const MESSAGE_MAX: usize = 64 << 20;

/// Serves one client: of MariaDB the server begins; each other step comes after something has arrived, and the connection
/// ends behind the last.
fn serve(product: DatabaseProduct, steps: Vec<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.set_read_timeout(Some(TRANSACTION_MAX)).unwrap();
        let mut buffer = [0; 4096];
        for (index, step) in steps.into_iter().enumerate() {
            let is_first = index == 0 && product == DatabaseProduct::MariaDb;
            let is_asked = is_first || client.read(&mut buffer).is_ok_and(|read| 0 < read);
            if !is_asked || client.write_all(&step).is_err() {
                return;
            }
        }
        let _ = client.read(&mut buffer);
    });
    address
}

fn server(product: DatabaseProduct, address: SocketAddr) -> DatabaseServer {
    DatabaseServer {
        product,
        place: DatabasePlace::Tcp(address),
        encryption: None,
        user: "me".to_owned(),
        password: Some(DatabasePassword::new("secret")),
        database: "shop".to_owned(),
    }
}

fn statement(sql: &str) -> SqlStatement {
    SqlStatement { sql: sql.to_owned(), rows: None, expect: Vec::new(), line: 7 }
}

/// Performs a transaction with these statements once on a server that answers in these steps; returns the reply and its
/// description.
fn perform(
    product: DatabaseProduct,
    statements: Vec<SqlStatement>,
    is_atomic: bool,
    steps: Vec<Vec<u8>>,
) -> (Reply, String) {
    let workload = SqlWorkload {
        transactions: vec![SqlTransaction {
            name: "one".to_owned(),
            weight: 1,
            is_atomic,
            statements,
            parameters: Vec::new(),
            share_gap_max: None,
            limits: Vec::new(),
        }],
        think: ThinkTime::None,
        data: Vec::new(),
        allows_writes: true,
        is_encrypted: false,
    };
    let clock = RealClock::start();
    let sessions =
        SqlSessions::new(&workload, &[], &server(product, serve(product, steps)), &[], clock).unwrap();
    let request =
        SqlRequest { kind: 0, picks: Vec::new(), at: UserPage { seed: 1, user: 0, users: 1, page: 0 } };
    let replies = perform_all(SqlDriver::new(&sessions), clock, &[request], TRANSACTION_MAX).unwrap();
    replies.into_iter().next().flatten().expect("it hangs")
}

/// The end of a reply of PostgreSQL: the tag, and the state of the transaction.
fn tagged(tag: &str, state: &[u8]) -> Vec<u8> {
    let tag = [tag.as_bytes(), b"\0"].concat();
    [postgres::message(b'C', &tag), postgres::message(b'Z', state)].concat()
}

/// The reply of PostgreSQL to a statement that is executed, in these rows.
fn executed(rows: &[&[u8]], tag: &str, state: &[u8]) -> Vec<u8> {
    let rows: Vec<u8> = rows.iter().flat_map(|row| postgres::message(b'D', row)).collect();
    [postgres::message(b'2', b""), rows, tagged(tag, state)].concat()
}

/// A packet of MariaDB without rows, with the status of the session.
fn ok(status: u8) -> Vec<u8> {
    mariadb::packet(1, &[0, 1, 0, status, 0, 0, 0])
}

/// A result of MariaDB with a number of 64 bits in each of these rows, and the status behind them.
fn rows_of(rows: &[&[u8]], status: u8) -> Vec<u8> {
    let mut number = 2;
    let mut next = |content: &[u8]| {
        number += 1;
        mariadb::packet(number, content)
    };
    let rows: Vec<u8> = rows.iter().flat_map(|row| next(row)).collect();
    let end = next(&[0xfe, 0, 0, status, 0, 0, 0]);
    [mariadb::packet(1, b"\x01"), mariadb::column(2), rows, end].concat()
}

/// The reply of MariaDB to a statement that is prepared: no parameters, and this number of columns.
fn prepared_by_mariadb(n_columns: u8) -> Vec<u8> {
    let head = mariadb::packet(1, &[0, 1, 0, 0, 0, n_columns, 0, 0, 0, 0, 0, 0]);
    [head, (0..n_columns).flat_map(|index| mariadb::column(2 + index)).collect()].concat()
}

// The states of a session of MariaDB.
const ALONE: u8 = 0x02;
const IN_TRANSACTION: u8 = 0x03;

/// Checks the outcome and the code of a transaction of one change, and that its description says what became of the commit.
#[track_caller]
fn check_commit(product: DatabaseProduct, steps: Vec<Vec<u8>>, (outcome, code): (Outcome, u32), what: &str) {
    let update = statement("UPDATE items SET n = n + 1");
    let (reply, text) = perform(product, vec![update], true, steps);
    assert_eq!((reply.outcome, reply.code), (outcome, code), "{what}: {text}");
    assert_eq!(text.contains("not committed"), outcome == Outcome::NotCommitted, "{what}: {text}");
}

/// Goal: a commit counts only where the server says so; else it is not committed, with the code of what was wrong. Where no
/// answer to it came, the connection was lost.
#[test]
fn a_commit_of_postgresql_counts_where_tag_and_state_say_so() {
    for (what, begun, changed, ended, outcome, code) in [
        ("it commits", b"T", b"T", Some(tagged("COMMIT", b"I")), Outcome::Ok, 0),
        ("it had failed before", b"T", b"T", Some(tagged("ROLLBACK", b"I")), Outcome::NotCommitted, 1),
        ("it stays open", b"T", b"T", Some(tagged("COMMIT", b"T")), Outcome::NotCommitted, 2),
        ("it fails without a word", b"T", b"E", None, Outcome::NotCommitted, 3),
        ("it does not begin", b"I", b"I", None, Outcome::NotCommitted, 4),
        ("a pooler changes the server", b"T", b"I", None, Outcome::NotCommitted, 4),
        ("another answer", b"T", b"T", Some(tagged("SELECT 1", b"I")), Outcome::NotCommitted, 5),
        ("no answer", b"T", b"T", None, Outcome::SessionLost, 0),
    ] {
        let prepared = postgres::prepared(0);
        let steps =
            vec![postgres::greeting(), prepared, tagged("BEGIN", begun), executed(&[], "UPDATE 1", changed)];
        let steps = steps.into_iter().chain(ended).collect();
        check_commit(DatabaseProduct::PostgreSql, steps, (outcome, code), what);
    }
}

#[test]
fn a_commit_of_mariadb_counts_where_the_status_says_so() {
    for (what, begun, changed, ended, outcome, code) in [
        ("it commits", IN_TRANSACTION, IN_TRANSACTION, Some(ok(ALONE)), Outcome::Ok, 0),
        ("it stays open", IN_TRANSACTION, IN_TRANSACTION, Some(ok(IN_TRANSACTION)), Outcome::NotCommitted, 2),
        ("it does not begin", ALONE, IN_TRANSACTION, None, Outcome::NotCommitted, 4),
        ("a proxy changes the server", IN_TRANSACTION, ALONE, None, Outcome::NotCommitted, 4),
        (
            "a result set",
            IN_TRANSACTION,
            IN_TRANSACTION,
            Some(rows_of(&[b"\0\0\x2a\0\0\0\0\0\0\0"], ALONE)),
            Outcome::NotCommitted,
            5,
        ),
        ("no answer", IN_TRANSACTION, IN_TRANSACTION, None, Outcome::SessionLost, 0),
    ] {
        let greeting = mariadb::greeting(mariadb::CAPABILITIES);
        let steps = vec![greeting, mariadb::done(2), prepared_by_mariadb(0), ok(begun), ok(changed)];
        let steps = steps.into_iter().chain(ended).collect();
        check_commit(DatabaseProduct::MariaDb, steps, (outcome, code), what);
    }
}

/// Goal: a transaction between the user's own `BEGIN` and `COMMIT` is begun again where the server reports a conflict at its
/// end, and a statement by itself is committed where the server says so.
#[test]
fn statements_by_themselves_are_committed_by_the_server() {
    let product = DatabaseProduct::PostgreSql;
    let own = ["BEGIN", "UPDATE items SET n = 1", "COMMIT"].map(statement).to_vec();
    let prepared = || std::iter::repeat_n(postgres::prepared(0), 3);
    let conflict = postgres::message(b'E', b"SERROR\0VERROR\0C40001\0Mcould not serialize\0\0");
    let attempt = |end: Vec<u8>| [executed(&[], "BEGIN", b"T"), executed(&[], "UPDATE 1", b"T"), end];
    let refused = [postgres::message(b'2', b""), conflict, postgres::message(b'Z', b"I")].concat();
    let steps = |ends: [Vec<u8>; 2]| {
        std::iter::once(postgres::greeting()).chain(prepared()).chain(ends.map(attempt).into_iter().flatten())
    };
    let again = steps([refused, executed(&[], "COMMIT", b"I")]).collect();
    let (reply, text) = perform(product, own.clone(), false, again);
    assert_eq!(reply.outcome, Outcome::Ok, "{text}");
    assert_eq!(reply.measured.get(model::sql_measure::RETRIES), Some(1));
    let failed = steps([executed(&[], "ROLLBACK", b"I"), Vec::new()]).collect();
    let (reply, _) = perform(product, own, false, failed);
    assert_eq!((reply.outcome, reply.code), (Outcome::NotCommitted, 1), "the tag of the user's own commit");
    for (state, outcome) in [(b"I", Outcome::Ok), (b"T", Outcome::NotCommitted)] {
        let steps = vec![postgres::greeting(), postgres::prepared(0), executed(&[], "UPDATE 1", state)];
        let (reply, text) = perform(product, vec![statement("UPDATE items SET n = 1")], false, steps);
        assert_eq!(reply.outcome, outcome, "{text}");
    }
}

/// Goal: rows that are counted are checked for their columns, and not kept, whatever their size; expected values are
/// compared.
#[test]
fn rows_of_postgresql_are_looked_at() {
    let product = DatabaseProduct::PostgreSql;
    let huge =
        [&b"\0\x01"[..], &(MESSAGE_MAX as u32 + 1).to_be_bytes(), &vec![b'7'; MESSAGE_MAX + 1]].concat();
    let with = |mut select: SqlStatement, value: Option<&str>| {
        let expected =
            |text: &str| ExpectedValue { column: "n".to_owned(), value: ExpectedText::Is(text.to_owned()) };
        select.expect = value.map(expected).into_iter().collect();
        select
    };
    for (what, expected, rows, outcome) in [
        ("rows", None, vec![&b"\0\x01\0\0\0\x017"[..]; 2], Outcome::Ok),
        ("a row of more than 64 MiB", None, vec![&huge[..]], Outcome::Ok),
        ("two columns", None, vec![b"\0\x02\0\0\0\x017\0\0\0\x017"], Outcome::MalformedHead),
        ("a length beyond the row", None, vec![b"\0\x01\0\0\0\x027"], Outcome::MalformedHead),
        ("the expected value", Some("7"), vec![b"\0\x01\0\0\0\x017"], Outcome::Ok),
        ("another value", Some("7"), vec![b"\0\x01\0\0\0\x018"], Outcome::WrongBytes),
        (
            "another value in the last row",
            Some("7"),
            vec![b"\0\x01\0\0\0\x017", b"\0\x01\0\0\0\x018"],
            Outcome::WrongBytes,
        ),
        ("no value", Some("7"), vec![b"\0\x01\xff\xff\xff\xff"], Outcome::WrongBytes),
        ("no row", Some("7"), vec![], Outcome::WrongBytes),
        ("a row of more than 64 MiB that is looked at", Some("7"), vec![&huge[..]], Outcome::MalformedHead),
    ] {
        let reply = executed(&rows, &format!("SELECT {}", rows.len()), b"I");
        let steps = vec![postgres::greeting(), postgres::prepared(0), reply];
        let select = with(statement("SELECT n FROM items"), expected);
        let (reply, text) = perform(product, vec![select], false, steps);
        assert_eq!(reply.outcome, outcome, "{what}: {text}");
        if outcome == Outcome::WrongBytes {
            assert!(
                text.contains("statement 1 (line 7): expected `7` in `n`, found another value"),
                "{text}"
            );
        }
    }
}

#[test]
fn rows_of_mariadb_are_looked_at() {
    let seven = &b"\0\0\x07\0\0\0\0\0\0\0"[..];
    for (what, expected, rows, outcome) in [
        ("rows", None, vec![seven; 2], Outcome::Ok),
        ("a longer row", None, vec![b"\0\0\x07\0\0\0\0\0\0\0\0"], Outcome::MalformedHead),
        ("a shorter row", None, vec![b"\0\0\x07\0"], Outcome::MalformedHead),
        ("the expected value", Some("7"), vec![seven], Outcome::Ok),
        ("another value", Some("8"), vec![seven], Outcome::WrongBytes),
        ("no value", Some("7"), vec![b"\0\x04"], Outcome::WrongBytes),
        ("no row", Some("7"), vec![], Outcome::WrongBytes),
    ] {
        let mut select = statement("SELECT n FROM items");
        select.expect = expected
            .map(|text: &str| ExpectedValue {
                column: "n".to_owned(),
                value: ExpectedText::Is(text.to_owned()),
            })
            .into_iter()
            .collect();
        let greeting = mariadb::greeting(mariadb::CAPABILITIES);
        // What may be open behind a failure is rolled back.
        let steps =
            vec![greeting, mariadb::done(2), prepared_by_mariadb(1), rows_of(&rows, ALONE), ok(ALONE)];
        let (reply, text) = perform(DatabaseProduct::MariaDb, vec![select], false, steps);
        assert_eq!(reply.outcome, outcome, "{what}: {text}");
    }
}

/// A row of more than 64 MiB comes in several packets. It is counted, and its bytes are not kept; where a value of it is looked
/// at, it is too long.
#[test]
fn rows_of_mariadb_of_more_than_64_mib_are_counted_only() {
    const PART: usize = 0xff_ffff;
    let value = vec![b'7'; MESSAGE_MAX + 1];
    let row = [&b"\0\0\xfe"[..], &(value.len() as u64).to_le_bytes(), &value].concat();
    let parts: Vec<u8> =
        row.chunks(PART).zip(3..).flat_map(|(part, number)| mariadb::packet(number, part)).collect();
    let end = mariadb::packet(3 + row.len().div_ceil(PART) as u8, &[0xfe, 0, 0, ALONE, 0, 0, 0]);
    // A text in place of a number.
    let column = |number| {
        let mut column = mariadb::column(number);
        let kind = column.len() - 6;
        assert_eq!(std::mem::replace(&mut column[kind], 0xfc), 8);
        column
    };
    let reply = [mariadb::packet(1, b"\x01"), column(2), parts, end].concat();
    for (expect, outcome) in [(Vec::new(), Outcome::Ok), (vec![seven()], Outcome::MalformedHead)] {
        let select = SqlStatement { expect, ..statement("SELECT n FROM items") };
        let greeting = mariadb::greeting(mariadb::CAPABILITIES);
        let steps = vec![greeting, mariadb::done(2), prepared_by_mariadb(1), reply.clone()];
        let (reply, text) = perform(DatabaseProduct::MariaDb, vec![select], false, steps);
        assert_eq!(reply.outcome, outcome, "{text}");
    }
}

fn seven() -> ExpectedValue {
    ExpectedValue { column: "n".to_owned(), value: ExpectedText::Is("7".to_owned()) }
}

/// Goal: the time limit of operations holds for log-on and for preparing.
#[test]
fn log_on_and_preparing_end_at_the_time_limit() {
    let limit = Duration::from_millis(100);
    for (what, steps, expected) in [
        ("log-on", vec![Vec::new()], "connecting: no answer within 100 ms"),
        (
            "preparing",
            vec![postgres::greeting(), Vec::new()],
            "preparing the statements: no answer within 100 ms",
        ),
    ] {
        let product = DatabaseProduct::PostgreSql;
        let workload = SqlWorkload {
            transactions: vec![SqlTransaction {
                name: "one".to_owned(),
                weight: 1,
                is_atomic: false,
                statements: vec![statement("SELECT 1")],
                parameters: Vec::new(),
                share_gap_max: None,
                limits: Vec::new(),
            }],
            think: ThinkTime::None,
            data: Vec::new(),
            allows_writes: true,
            is_encrypted: false,
        };
        let server = server(product, serve(product, steps));
        let sessions = SqlSessions::new(&workload, &[], &server, &[], RealClock::start()).unwrap();
        let error = crate::common::block_on(sessions.refusals(limit)).unwrap_err().to_string();
        assert_eq!(error, expected, "{what}");
    }
}
