//! Hostile application servers over HTTP: each behavior in one of three transactions of a client.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use drivers::app::{AppContext, AppDriver};
use frame::app::fill_payload;
use http1::{Framing, ParseStatus, parse_request};
use model::{AppRequest, AppSuite, AppTransaction, Outcome, Reply};
use rustix::net::sockopt::set_tcp_cork;
use units::RealClock;

use crate::alone;
use crate::app_behaviors::{AfterReply, AppBehavior, BEHAVIORS, ok};
use crate::common::{APP_MESSAGE_BYTES, app_workload, perform_all, reset, send_endlessly};
use crate::corpus::{GENEROUS, GROWTH_KIB_MAX, LIMIT, SENT_BYTES_MAX, growth_kib};

/// The transactions of the client, the second of which meets the behavior.
const TRANSACTIONS: u32 = 3;
const AFFECTED: u32 = 2;

/// The period of a drip.
const DRIP: Duration = Duration::from_millis(10);

/// A server with a behavior; ends after its last transaction.
struct HostileServer {
    address: SocketAddr,
    /// Returns the bytes that were sent.
    thread: JoinHandle<u64>,
}

impl HostileServer {
    fn start(behavior: &'static AppBehavior) -> HostileServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let mut n_answered = 0;
            let mut sent = 0;
            while n_answered < TRANSACTIONS {
                let (stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(GENEROUS)).unwrap();
                stream.set_nodelay(true).unwrap();
                sent += serve_connection(stream, behavior, &mut n_answered);
            }
            sent
        });
        HostileServer { address, thread }
    }
}

/// Answers the requests of a connection until it ends; returns the bytes that were sent.
fn serve_connection(mut stream: TcpStream, behavior: &AppBehavior, n_answered: &mut u32) -> u64 {
    let mut sent = 0;
    while *n_answered < TRANSACTIONS
        && let Some((path, message)) = next_request(&mut stream)
    {
        let is_transaction = !path.starts_with("/v1/phase/");
        *n_answered += u32::from(is_transaction);
        let body = right_body(&path, &message);
        let (n, rest) = if is_transaction && *n_answered == AFFECTED {
            deliver(stream, &(behavior.reply)(&body), behavior.then)
        } else {
            deliver(stream, &ok("", &body), AfterReply::GoOn)
        };
        sent += n;
        match rest {
            Some(rest) => stream = rest,
            None => break,
        }
    }
    sent
}

/// Reads a request; returns its path and body, or `None` at the end of the connection.
fn next_request(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Ok(ParseStatus::Complete { head, length }) = parse_request(&bytes)
            && head.framing == Framing::Length((bytes.len() - length) as u64)
        {
            let path = String::from_utf8_lossy(&bytes[head.target]).into_owned();
            return Some((path, bytes.split_off(length)));
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
        }
    }
}

/// Returns the body that a right reply to a request has.
fn right_body(path: &str, message: &[u8]) -> Vec<u8> {
    let argument = |name: &str| -> u64 {
        let found = path.split(['?', '&']).find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_else(|| panic!("`{name}` in {path}")).parse().unwrap()
    };
    match path.split('/').nth(2).unwrap() {
        "phase" => b"0".to_vec(),
        "cs" => frame::Crc32::of(message).to_string().into_bytes(),
        "sc" => {
            let mut content = vec![0; argument("bytes") as usize];
            fill_payload(argument("seed"), &mut content);
            content
        }
        _ => argument("block").to_string().into_bytes(),
    }
}

/// Sends a reply and what follows it; returns the number of bytes, and the connection if it goes on.
fn deliver(mut stream: TcpStream, reply: &[u8], then: AfterReply) -> (u64, Option<TcpStream>) {
    let n = reply.len() as u64;
    if let AfterReply::Close = then {
        // The end of the connection is then in the segment of the last byte.
        set_tcp_cork(&stream, true).unwrap();
    }
    let whole = match then {
        AfterReply::GoOnFromPieces => reply.chunks(1).try_for_each(|piece| stream.write_all(piece)),
        _ => stream.write_all(reply),
    };
    if whole.is_err() {
        return (n, None);
    }
    match then {
        AfterReply::GoOn | AfterReply::GoOnFromPieces => return (n, Some(stream)),
        AfterReply::Close => stream.shutdown(Shutdown::Write).unwrap(),
        AfterReply::Reset => {
            reset(stream);
            return (n, None);
        }
        AfterReply::Stall => {}
        AfterReply::Repeat(bytes) => {
            return (n + send_endlessly(&mut stream, &bytes.repeat(1 + 4096 / bytes.len())), None);
        }
        AfterReply::Drip(bytes) => {
            for byte in bytes.iter().cycle() {
                if stream.write_all(&[*byte]).is_err() {
                    return (n, None);
                }
                std::thread::sleep(DRIP);
            }
        }
    }
    // Until the client closes.
    let _ = stream.read(&mut [0]);
    (n, None)
}

/// Makes the transactions of a client; returns the outcome of each with its code and description.
fn perform(address: SocketAddr, transaction: AppTransaction, limit: Duration) -> Vec<(Outcome, u32, String)> {
    let clock = RealClock::start();
    let workload = app_workload(AppSuite::System);
    let context = AppContext::new(&workload, &address.to_string(), address, &[], clock).unwrap();
    let bytes = if transaction.needs_file() { 0 } else { APP_MESSAGE_BYTES };
    let request = |number| AppRequest { kind: 0, transaction, bytes, number };
    let requests: Vec<_> = (0..u64::from(TRANSACTIONS)).map(request).collect();
    let replies = perform_all(AppDriver::new(context, 0), clock, &requests, limit).unwrap();
    let given_up = || (Outcome::TimedOut, 0, format!("given up after {limit:?}"));
    let outcome = |reply: Option<(Reply, String)>| {
        reply.map_or_else(given_up, |(reply, text)| (reply.outcome, reply.code, text))
    };
    replies.into_iter().map(outcome).collect()
}

/// Goal: every behavior has a named outcome with its code, in bounded time and memory, and costs no other transaction: the
/// session goes on, or a new connection takes its place. Method: one after another, alone in the process.
#[test]
fn every_behavior_over_http_ends_in_its_outcome_and_costs_one_transaction_at_most() {
    let _alone = alone();
    let mut wrong = Vec::new();
    for behavior in BEHAVIORS {
        let AppBehavior { name, transaction, outcome, code, .. } = behavior;
        let server = HostileServer::start(behavior);
        let limit = if *outcome == Outcome::TimedOut { LIMIT } else { GENEROUS };
        let (found, grown) = growth_kib(|| perform(server.address, *transaction, limit));
        let mut check = |holds: bool, what: String| {
            if !holds {
                wrong.push(format!("{name}: {what}"));
            }
        };
        let [before, affected, after] = &found[..] else { panic!("{name}: three transactions") };
        check((affected.0, affected.1) == (*outcome, *code), format!("{affected:?}"));
        let others_succeed = [before, after].iter().all(|(outcome, ..)| *outcome == Outcome::Ok);
        check(others_succeed, format!("{before:?} before, {after:?} after"));
        check(grown < GROWTH_KIB_MAX, format!("memory grew by {grown} KiB"));
        // A server that some transaction did not reach would wait for it.
        if others_succeed {
            let sent = server.thread.join().unwrap();
            check(sent < SENT_BYTES_MAX, format!("took {sent} bytes"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
