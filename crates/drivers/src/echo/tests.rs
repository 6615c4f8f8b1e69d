//! Refusals in terms of any protocol, with the server's own code beside them, and notices while users rest.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use model::ThinkTime;
use model::echo::{EchoMessageKind, EchoNotice};
use tokio::runtime::Builder;
use tokio::task::yield_now;

use super::*;

/// Length of the content of all messages here.
const CONTENT_BYTES: usize = 4;

/// Length of what stands before the content where a message asks for a notice.
const ASKING_BYTES: usize = 4 + 8;

/// The time after which messages ask for a notice.
const AFTER: Nanos = Nanos::from_millis(1);

fn workload(notice: Option<EchoNotice>) -> EchoWorkload {
    let kind = EchoMessageKind {
        name: "short".to_owned(),
        bytes: CONTENT_BYTES as u32,
        weight: 1,
        counts_as: 1,
        notice,
    };
    EchoWorkload { messages: vec![kind], think: ThinkTime::Fixed(Nanos::ZERO) }
}

/// Runs a test on this thread while a server serves it on another.
fn beside<T>(
    serve: impl FnOnce(TcpListener) + Send + 'static,
    notice: Option<EchoNotice>,
    test: impl AsyncFnOnce(EchoDriver, EchoMessage, RealClock) -> T,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let workload = workload(notice);
    let clock = RealClock::start();
    let server = thread::spawn(move || serve(listener));
    let driver = EchoDriver::new(EchoContext::new(&workload, address, &[], clock).unwrap());
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let found = runtime.block_on(test(driver, workload.message(0, 0), clock));
    server.join().unwrap();
    found
}

/// A server that refuses each message with the next code; code 5 is one that the protocol does not have.
#[test]
fn refusals_are_named_outcomes_with_the_code_of_the_server() {
    let serve = |listener: TcpListener| {
        for code in 1..=5_u32 {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 4 + CONTENT_BYTES]).unwrap();
            stream.write_all(&(1 << 31 | code).to_be_bytes()).unwrap();
        }
    };
    let replies = beside(serve, None, async |mut driver, message, clock| {
        let mut replies = Vec::new();
        for _ in 0..5 {
            let reply = driver.perform(&message, clock.now()).await;
            replies.push((reply.outcome, reply.code, driver.describe(&message, &reply)));
        }
        replies
    });
    let refused = |outcome, code| (outcome, code, format!("the server refused the message with code {code}"));
    assert_eq!(
        replies,
        [
            refused(Outcome::Denied, 1),
            refused(Outcome::Conflict, 2),
            refused(Outcome::Gone, 3),
            refused(Outcome::Full, 4),
            (Outcome::WrongBytes, 0, "other bytes came back, at or after byte 0".to_owned()),
        ]
    );
}

/// Reads a message that asks for a notice, and returns it as it comes back.
fn read_asking(stream: &mut TcpStream) -> Vec<u8> {
    let mut message = [0; ASKING_BYTES + CONTENT_BYTES];
    stream.read_exact(&mut message).unwrap();
    let head = (1 << 30 | CONTENT_BYTES as u32).to_be_bytes();
    assert_eq!(message[..ASKING_BYTES], [&head[..], &AFTER.0.to_be_bytes()].concat());
    [&(CONTENT_BYTES as u32).to_be_bytes(), &message[ASKING_BYTES..]].concat()
}

fn notice(number: u32) -> [u8; 4] {
    (1 << 30 | number).to_be_bytes()
}

/// Rests until the server has ended the connection; no notice comes.
async fn rest_until_closed(driver: &mut EchoDriver) {
    while driver.connection.is_some() {
        assert!(driver.rest().now_or_never().is_none());
        yield_now().await;
    }
}

/// Goal: a notice is taken wherever it comes: in two pieces, one of them before the next message, at once behind its
/// message, and on a new connection, whose numbers begin again.
#[test]
fn notices_are_told_apart_from_messages() {
    let serve = |listener: TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        let first = read_asking(&mut stream);
        stream.write_all(&[&first[..], &notice(0)[..2]].concat()).unwrap();
        let second = read_asking(&mut stream);
        stream.write_all(&[&notice(0)[2..], &second, &notice(1)].concat()).unwrap();
        drop(stream);
        let (mut stream, _) = listener.accept().unwrap();
        let third = read_asking(&mut stream);
        stream.write_all(&[&third[..], &notice(0)].concat()).unwrap();
        // Until the client has gone.
        let _ = stream.read(&mut [0]);
    };
    let asked = Some(EchoNotice { after: AFTER });
    let (replies, notices, ended) = beside(serve, asked, async |mut driver, message, clock| {
        let mut replies = Vec::new();
        let mut notices = Vec::new();
        for n in [0, 4, 2] {
            replies.push(driver.perform(&message, clock.now()).await);
            for _ in 0..n {
                notices.push(driver.rest().await);
            }
            if n == 4 {
                rest_until_closed(&mut driver).await;
            }
        }
        (replies, notices, clock.now())
    });
    assert!(replies.iter().all(|reply| reply.outcome == Outcome::Ok), "{replies:?}");
    let [begun, came] = [false, true]
        .map(|came| notices.iter().filter(|notice| notice.value.is_some() == came).collect::<Vec<_>>());
    // It is awaited from the time for which the message asks.
    let expected = replies.iter().map(|reply| reply.sent + AFTER);
    assert!(expected.eq(begun.iter().map(|notice| notice.begun)), "{notices:?}");
    assert!(
        begun.iter().map(|notice| notice.begun).eq(came.iter().map(|notice| notice.begun)),
        "{notices:?}"
    );
    assert!(came.iter().all(|notice| notice.value.unwrap() < ended.0), "{notices:?}");
}

/// A server that tells of a message of which nobody was to be told.
#[test]
fn a_notice_that_nobody_asked_for_is_wrong() {
    let serve = |listener: TcpListener| {
        let (mut stream, _) = listener.accept().unwrap();
        read_asking(&mut stream);
        stream.write_all(&notice(0)).unwrap();
    };
    let asked = Some(EchoNotice { after: AFTER });
    let reply =
        beside(serve, asked, async |mut driver, message, clock| driver.perform(&message, clock.now()).await);
    assert_eq!(reply.outcome, Outcome::WrongBytes);
}

/// Goal: a user that rests does not wait for a connection that the server has ended, but makes a new one.
#[test]
fn a_connection_that_ends_while_the_user_rests_is_replaced() {
    let serve = |listener: TcpListener| {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            let message = read_asking(&mut stream);
            stream.write_all(&message).unwrap();
        }
    };
    let asked = Some(EchoNotice { after: AFTER });
    let replies = beside(serve, asked, async |mut driver, message, clock| {
        let first = driver.perform(&message, clock.now()).await;
        assert!(driver.rest().await.value.is_none());
        rest_until_closed(&mut driver).await;
        [first, driver.perform(&message, clock.now()).await]
    });
    assert!(replies.iter().all(|reply| reply.outcome == Outcome::Ok), "{replies:?}");
}
