//! Several requests in flight, with a server that answers them as a test says. It grants three slots.

use files::{FileAnswer, FileVersion};
use model::{Outcome, file_measure};

use super::server::{Act, Call, READ, SLOTS_MAX, Serve, fragments, start};
use super::*;
use crate::file::nfs::{NfsWindowDriver, code_name};

/// The size of the blocks.
const PAGE: u64 = 4096;

/// The reads in flight: one more than there are slots.
const N_READS: usize = 4;

fn read(place: usize) -> FileAction {
    FileAction::Read(HANDLE, FileRange { offset: place as u64 * PAGE, length: PAGE })
}

/// The bytes that a read must return.
fn block(call: &Call) -> Vec<u8> {
    let mut bytes = vec![0; call.argument as usize];
    let version = FileVersion { file: path().file_id(), generation: 0 };
    FileContent::new(CONTENT_SEED, 50).fill(version, call.offset, &mut bytes);
    bytes
}

/// The right reply to a read.
fn page(call: &Call) -> Vec<u8> {
    fragments(&call.data(&block(call), false).bytes(), usize::MAX)
}

/// Returns the first call in a slot, where the call is the first in the last one. In the first slot calls were made before, of
/// which the first had the number 3.
fn in_slot(call: &Call, slot: u32) -> Call {
    let number = call.number + slot + 1 - SLOTS_MAX as u32;
    let sequence = if slot == 0 { number - 2 } else { 1 };
    Call { number, sequence, slot, offset: u64::from(slot) * PAGE, ..call.clone() }
}

/// Returns the act of a server that sends these bytes.
fn bytes(bytes: Vec<u8>) -> Option<Act> {
    Some(Act::Bytes(bytes))
}

/// The end of an operation: its place, its reply, and that in words.
type Ended = (usize, (Reply, String));

/// Opens the file, and reads blocks with all in flight. Then the operation at a place is given up, if at one. Returns the ends
/// in their order. With two sessions, the file is opened once more.
fn perform(n_sessions: usize, serve: Serve, given_up: Option<usize>) -> Vec<Ended> {
    let (address, server) = start(n_sessions, READ, serve);
    let context = context(address, Verify::Full, Durability::Flush);
    let clock = context.clock;
    let mut driver = NfsWindowDriver::new(Rc::clone(&context), 1, N_READS, PAGE as u32);
    let open = FileOperation::of(FileAction::Open(HANDLE, path()));
    let reads: Vec<FileOperation> = (0..N_READS).map(|place| FileOperation::of(read(place))).collect();
    let ended = runtime().block_on(async {
        driver.open().await.unwrap();
        assert_eq!(driver.perform(&open, clock.now()).await.outcome, Outcome::Ok);
        for (place, read) in reads.iter().enumerate() {
            driver.begin(place, read, clock.now());
        }
        given_up.into_iter().for_each(|place| driver.give_up_place(place));
        let mut ended = Vec::new();
        for _ in usize::from(given_up.is_some())..N_READS {
            let (place, reply) = driver.end().await;
            let text = driver.describe(&reads[place], &reply);
            ended.push((place, (reply, text)));
        }
        if n_sessions == 2 {
            assert_eq!(driver.perform(&open, clock.now()).await.outcome, Outcome::Ok);
        }
        ended
    });
    drop((driver, context));
    server.join().unwrap();
    ended
}

fn outcomes(ended: &[Ended]) -> Vec<(usize, Outcome, Option<&'static str>, FileAnswer)> {
    let outcome = |(place, (reply, _)): &Ended| {
        let code = code_name(NfsVersion::V4_1, reply.code).filter(|_| reply.code != 0);
        (*place, reply.outcome, code, FileAnswer::from_u64(reply.answer))
    };
    ended.iter().map(outcome).collect()
}

fn ok(place: usize) -> (usize, Outcome, Option<&'static str>, FileAnswer) {
    (place, Outcome::Ok, None, FileAnswer::Done)
}

/// Goal: replies belong to their calls by their numbers, in any order, and are taken apart where they arrive together. A call
/// waits while no slot is free, and is then the next one in a slot.
#[test]
fn replies_come_in_any_order_and_calls_wait_for_slots() {
    let serve: Serve = |call, n_calls| match n_calls {
        1 | 2 => bytes(Vec::new()),
        3 => bytes([2, 0, 1].map(|slot| page(&in_slot(call, slot))).concat()),
        _ => {
            assert_eq!((call.slot, call.sequence), (2, 2));
            bytes(page(call))
        }
    };
    let ended = perform(1, serve, None);
    assert_eq!(outcomes(&ended), [2, 0, 1, 3].map(ok));
    for (_, (reply, _)) in &ended {
        assert_eq!(reply.measured.get(file_measure::EXCHANGES), Some(1));
        assert_eq!(reply.measured.get(file_measure::READ_BYTES), Some(PAGE));
    }
}

/// Golden check 20 with several in flight: a flipped byte, a short block and a refusal fail their own operation, and no other.
#[test]
fn a_wrong_block_is_found_among_others() {
    let serve: Serve = |call, n_calls| {
        let mut block = block(call);
        match n_calls {
            2 => block[2000] ^= 1,
            3 => block.truncate(1000),
            4 => return call.refusal(5),
            _ => {}
        }
        Some(call.data(&block, false).act())
    };
    let ended = perform(1, serve, None);
    assert_eq!(
        outcomes(&ended),
        [
            ok(0),
            (1, Outcome::WrongBytes, None, FileAnswer::WrongBytes),
            (2, Outcome::Truncated, Some("NFS_SHORT"), FileAnswer::Failed),
            (3, Outcome::WrongStatus, Some("NFS4ERR_IO"), FileAnswer::Failed),
        ]
    );
    assert_eq!(ended[1].1.0.detail, PAGE + 2000);
}

/// The end of a session: its name, the acts of the server, and the outcome and code of the oldest operation.
type EndOfSession = (&'static str, Serve, (Outcome, Option<&'static str>));

/// Goal: what ends the session ends all operations: the oldest for that reason, the others because the session is lost. The next
/// operation opens another one.
#[test]
fn a_session_that_ends_loses_all_operations() {
    let other_reply = (Outcome::MalformedHead, Some("NFS_OTHER_REPLY"));
    let table: [EndOfSession; 6] = [
        (
            "the end of the connection",
            |_, n_calls| if n_calls < 3 { bytes(Vec::new()) } else { Some(Act::End) },
            (Outcome::SessionLost, None),
        ),
        (
            "a reply to a call that nobody made",
            |call, n_calls| {
                let unknown = Call { number: call.number + 70, ..call.clone() };
                bytes(if n_calls < 3 { Vec::new() } else { page(&unknown) })
            },
            other_reply,
        ),
        (
            "another slot",
            |call, n_calls| {
                let other = Call { slot: 1, ..in_slot(call, 0) };
                bytes(if n_calls < 3 { Vec::new() } else { page(&other) })
            },
            other_reply,
        ),
        (
            "another call of the slot",
            |call, n_calls| {
                let first = in_slot(call, 0);
                let other = Call { sequence: first.sequence + 1, ..first };
                bytes(if n_calls < 3 { Vec::new() } else { page(&other) })
            },
            other_reply,
        ),
        (
            "a fragment of 2 GB",
            |_, n_calls| bytes(if n_calls < 3 { Vec::new() } else { vec![0xff; 4] }),
            (Outcome::OversizedHead, Some("NFS_RECORD_TOO_LONG")),
        ),
        (
            "two bytes",
            |_, n_calls| bytes(if n_calls < 3 { Vec::new() } else { fragments(&[0; 2], 9) }),
            (Outcome::MalformedHead, Some("NFS_NOT_A_REPLY")),
        ),
    ];
    for (what, serve, (outcome, code)) in table {
        let ended = perform(2, serve, None);
        let lost = |place| (place, Outcome::SessionLost, None, FileAnswer::SessionLost);
        let first = (0, outcome, code, FileAnswer::SessionLost);
        assert_eq!(outcomes(&ended), [first, lost(1), lost(2), lost(3)], "{what}");
    }
}

/// Goal: a second reply to a call is none to another that is in flight.
#[test]
fn a_call_is_answered_once() {
    let serve: Serve = |call, n_calls| bytes(if n_calls == 3 { page(call).repeat(2) } else { Vec::new() });
    let ended = perform(2, serve, None);
    let lost = |place| (place, Outcome::SessionLost, None, FileAnswer::SessionLost);
    let first = (0, Outcome::MalformedHead, Some("NFS_OTHER_REPLY"), FileAnswer::SessionLost);
    assert_eq!(outcomes(&ended), [ok(2), first, lost(1), lost(3)]);
}

/// Goal: an operation whose time limit has passed takes its session with it, and is not told again.
#[test]
fn an_operation_that_is_given_up_loses_the_others() {
    let ended = perform(2, |_, _| bytes(Vec::new()), Some(1));
    let lost = |place| (place, Outcome::SessionLost, None, FileAnswer::SessionLost);
    assert_eq!(outcomes(&ended), [0, 2, 3].map(lost));
}
