//! Several requests in flight, with a server that answers them as a test says.

use std::rc::Rc;

use engine::Driver;
use files::{FileAction, FileAnswer, FileContent, FileOperation, FileRange, FileVersion, Handle};
use model::{Outcome, Reply, file_measure};
use tokio::runtime::Builder;
use units::Clock;

use super::super::SmbWindowDriver;
use super::driver::{CONTENT_SEED, Serve, ServerAct, answers, data, framed, path, start, summary};
use super::*;

/// The size of most blocks.
const PAGE: u64 = 4096;

/// Of a block, which costs 16 credits.
const MEBIBYTE: u64 = 1 << 20;

/// The number of the first read: the folder is opened with 4, and the file with 5.
const FIRST_READ: u64 = 6;

/// The reads in flight.
const N_READS: usize = 4;

fn read(place: usize, block_bytes: u64) -> FileAction {
    FileAction::Read(Handle(0), FileRange { offset: place as u64 * block_bytes, length: block_bytes })
}

/// The bytes of a block of the file.
fn block(index: u64, block_bytes: u64) -> Vec<u8> {
    let mut bytes = vec![0; block_bytes as usize];
    let version = FileVersion { file: path().file_id(), generation: 0 };
    FileContent::new(CONTENT_SEED, 50).fill(version, index * block_bytes, &mut bytes);
    bytes
}

/// The right answer to the read of a page.
fn page(number: u64) -> Answer {
    data(number, block(number - FIRST_READ, PAGE))
}

/// Replies with a frame for each.
fn frames(answers: &[Answer]) -> Vec<u8> {
    answers.iter().flat_map(|answer| framed(&frame_of(Kind::Plain, std::slice::from_ref(answer)))).collect()
}

const NO_ANSWER: ServerAct = ServerAct::Bytes(Vec::new());

/// The end of an operation: its place, its reply, and that in words.
type Ended = (usize, (Reply, String));

/// Opens the file, and reads blocks with all in flight. Then the operation at a place is given up, if at one. Returns the ends
/// in their order. With two sessions, the file is opened once more.
fn perform(n_sessions: usize, act: Serve, block_bytes: u64, given_up: Option<usize>) -> Vec<Ended> {
    let (context, server) = start(n_sessions, act);
    let clock = context.clock;
    let mut driver = SmbWindowDriver::new(Rc::clone(&context), 3, N_READS, block_bytes as u32);
    let open = FileOperation::of(FileAction::Open(Handle(0), path()));
    let reads: Vec<FileOperation> =
        (0..N_READS).map(|place| FileOperation::of(read(place, block_bytes))).collect();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(async {
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
    let replies: Vec<(Reply, String)> = ended.iter().map(|(_, reply)| reply.clone()).collect();
    let found = summary(&replies).into_iter().zip(ended);
    found.map(|((outcome, code, answer), (place, _))| (*place, outcome, code, answer)).collect()
}

/// Goal: replies belong to their requests by their numbers, in any order, and with an interim reply between them; each block is held against the content at its own place.
#[test]
fn replies_come_in_any_order() {
    let act: Serve = |headers, n_frames| match (headers[0].command, n_frames) {
        (Command::Read, 2..=4) => NO_ANSWER,
        (Command::Read, _) => {
            let pending = Answer::failure(7, Command::Read, 0x103).with_flags(HeaderFlags::ASYNC_COMMAND);
            ServerAct::Bytes(frames(&[page(9), pending, page(6), page(8), page(7)]))
        }
        _ => answers(headers),
    };
    let ended = perform(1, act, PAGE, None);
    let places: Vec<usize> = ended.iter().map(|(place, _)| *place).collect();
    assert_eq!(places, [3, 0, 2, 1]);
    for (place, (reply, text)) in &ended {
        assert_eq!(reply.outcome, Outcome::Ok, "{place}: {text}");
        assert_eq!(reply.measured.get(file_measure::EXCHANGES), Some(1));
        assert_eq!(reply.measured.get(file_measure::READ_BYTES), Some(PAGE));
    }
}

/// Golden check 20 with several in flight: a flipped byte and a short block fail their own operation, and no other.
#[test]
fn a_wrong_block_is_found_among_others() {
    let act: Serve = |headers, _| {
        let number = headers[0].message_id.0;
        if headers[0].command != Command::Read {
            return answers(headers);
        }
        let mut bytes = block(number - FIRST_READ, PAGE);
        match number {
            7 => bytes[2000] ^= 1,
            8 => bytes.truncate(1000),
            _ => {}
        }
        ServerAct::Answer(vec![data(number, bytes)], usize::MAX)
    };
    let ended = perform(1, act, PAGE, None);
    let ok = |place| (place, Outcome::Ok, None, FileAnswer::Done);
    assert_eq!(
        outcomes(&ended),
        [
            ok(0),
            (1, Outcome::WrongBytes, None, FileAnswer::WrongBytes),
            (2, Outcome::Truncated, Some("SMB_SHORT"), FileAnswer::Failed),
            ok(3),
        ]
    );
    assert_eq!(ended[1].1.0.detail, PAGE + 2000);
}

/// Goal: a request waits for the credits that the server has not granted, and is sent when others have brought them. At first
/// there are 36: for two of the reads.
#[test]
fn requests_wait_for_credits() {
    let act: Serve = |headers, n_frames| {
        if headers[0].command != Command::Read {
            return answers(headers);
        }
        let number = headers[0].message_id.0;
        assert_eq!(number, FIRST_READ + 16 * (n_frames as u64 - 2));
        let index = n_frames as u64 - 2;
        let credits = headers[0].credits.min(16);
        let answer = Answer { credits, ..data(number, block(index, MEBIBYTE)) };
        ServerAct::Answer(vec![answer], 100_000)
    };
    let ended = perform(1, act, MEBIBYTE, None);
    let ok = |place| (place, Outcome::Ok, None, FileAnswer::Done);
    assert_eq!(outcomes(&ended), [0, 1, 2, 3].map(ok));
}

/// Goal: what ends the session ends all operations: the oldest for that reason, the others because the session is lost. The next
/// operation opens another one.
#[test]
fn a_session_that_ends_loses_all_operations() {
    let table: [(Serve, Outcome, Option<&str>); 3] = [
        (
            |headers, n_frames| match (headers[0].command, n_frames) {
                (Command::Read, 2..=4) => NO_ANSWER,
                (Command::Read, _) => ServerAct::End,
                _ => answers(headers),
            },
            Outcome::SessionLost,
            None,
        ),
        (
            |headers, n_frames| match (headers[0].command, n_frames) {
                (Command::Read, 2..=4) => NO_ANSWER,
                (Command::Read, _) => ServerAct::Bytes(frames(&[data(77, Vec::new())])),
                _ => answers(headers),
            },
            Outcome::MalformedHead,
            Some("SMB_OTHER_MESSAGE"),
        ),
        (
            |headers, n_frames| match (headers[0].command, n_frames) {
                (Command::Read, 2..=4) => NO_ANSWER,
                (Command::Read, _) => ServerAct::Bytes(vec![0x7f, 0xff, 0xff, 0xff]),
                _ => answers(headers),
            },
            Outcome::MalformedHead,
            Some("SMB_NOT_A_MESSAGE"),
        ),
    ];
    for (act, outcome, code) in table {
        let ended = perform(2, act, PAGE, None);
        let lost = |place| (place, Outcome::SessionLost, None, FileAnswer::SessionLost);
        let first = (0, outcome, code, FileAnswer::SessionLost);
        assert_eq!(outcomes(&ended), [first, lost(1), lost(2), lost(3)]);
    }
}

/// Goal: an operation whose time limit has passed takes its session with it, and is not told again.
#[test]
fn an_operation_that_is_given_up_loses_the_others() {
    let act: Serve = |headers, _| match headers[0].command {
        Command::Read => NO_ANSWER,
        _ => answers(headers),
    };
    let ended = perform(2, act, PAGE, Some(1));
    let lost = |place| (place, Outcome::SessionLost, None, FileAnswer::SessionLost);
    assert_eq!(outcomes(&ended), [0, 2, 3].map(lost));
}
