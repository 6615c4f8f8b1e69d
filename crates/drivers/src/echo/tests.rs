//! Refusals in terms of any protocol, with the server's own code beside them.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use model::Think;
use model::echo::EchoMessageKind;
use tokio::runtime::Builder;

use super::*;

/// Length of a message on the wire: of its length, and of its content.
const MESSAGE_BYTES: usize = 4 + 4;

/// A server that refuses each message with the next code; code 5 is one that the protocol does not have.
#[test]
fn refusals_are_named_outcomes_with_the_code_of_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        for code in 1..=5_u32 {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; MESSAGE_BYTES]).unwrap();
            stream.write_all(&(1 << 31 | code).to_be_bytes()).unwrap();
        }
    });
    let kind = EchoMessageKind { name: "short".to_owned(), bytes: 4, weight: 1 };
    let workload = EchoWorkload { messages: vec![kind], think: Think::Fixed(Nanos::ZERO) };
    let clock = RealClock::start();
    let mut driver = EchoDriver::new(EchoContext::new(&workload, address, &[], clock).unwrap());
    let message = workload.message(0, 0);
    let replies = Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let mut replies = Vec::new();
        for _ in 0..5 {
            let reply = driver.perform(&message, clock.now()).await;
            replies.push((reply.outcome, reply.code, driver.describe(&message, &reply)));
        }
        replies
    });
    server.join().unwrap();
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
