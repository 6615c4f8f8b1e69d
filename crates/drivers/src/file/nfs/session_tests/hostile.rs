//! Wrong replies: each has a named outcome and code, and lets the session go on or ends it.

use files::{ExistingFile, FileAnswer, FileVersion, FindSize, InfoLevel};
use model::{Outcome, file_measure};

use super::server::{
    Act, COMMIT, CREATE_SESSION, Call, EXCHANGE_ID, GETATTR, LOCK, LOOKUP, OPEN, READ, READDIR, SEQUENCE,
    Serve, VERIFIER, WRITE, fragments, start,
};
use super::*;
use crate::file::nfs::code_name;

const READ_RANGE: FileAction = FileAction::Read(HANDLE, RANGE);
const WRITE_RANGE: FileAction = FileAction::Write(HANDLE, RANGE);
const QUERY: FileAction = FileAction::FileQuery(HANDLE, InfoLevel::BASIC);
const FLUSH: FileAction = FileAction::Flush(HANDLE);

fn open() -> FileAction {
    FileAction::Open(HANDLE, path())
}

fn find(wanted: u32) -> FileAction {
    let pattern = FilePath::new(Owner::Shared, Folder::Listed, Entry::EveryFile);
    FileAction::Find(pattern, FindSize { wanted, found: None })
}

/// Changes the bytes of a right reply to a read.
fn changed(call: &Call, change: impl Fn(&mut Vec<u8>)) -> Option<Act> {
    let mut record = call.data(&[7; 20_000], false).bytes();
    change(&mut record);
    Some(Act::Record(record, usize::MAX))
}

/// The offset of the result of `SEQUENCE` in a reply, that of `PUTFH`, and that of the operation.
const SEQUENCE_AT: usize = 36;
const OP_AT: usize = SEQUENCE_AT + 8 + 16 + 20 + 8;

/// A behavior: its name, the operation that is answered so, the answer, the action that gets it, its outcome, its code, and
/// whether the session ends.
type Behavior = (&'static str, u32, Serve, FileAction, Outcome, &'static str, bool);

/// Goal: whatever a server sends in place of a right reply has a named outcome; nothing hangs, and nobody panics. An action
/// that ends the session says so; behind one that does not, the next reply is the one to the next call.
#[test]
fn each_wrong_reply_has_its_outcome_and_its_code() {
    use Outcome::{
        Busy, Conflict, Denied, Full, Gone, MalformedBody, MalformedHead, OversizedHead, SessionLost,
        Truncated, WrongLength, WrongStatus,
    };
    let table: &[Behavior] = &[
        (
            "two bytes",
            READ,
            |_, _| Some(Act::Record(vec![0; 2], 9)),
            READ_RANGE,
            MalformedHead,
            "NFS_NOT_A_REPLY",
            true,
        ),
        (
            "another protocol",
            READ,
            |_, _| Some(Act::Bytes(b"HTTP/1.1 200 OK\r\n\r\n".to_vec())),
            READ_RANGE,
            OversizedHead,
            "NFS_RECORD_TOO_LONG",
            true,
        ),
        (
            "a fragment of 2 GB",
            READ,
            |_, _| Some(Act::Bytes(vec![0xff; 4])),
            READ_RANGE,
            OversizedHead,
            "NFS_RECORD_TOO_LONG",
            true,
        ),
        (
            "fragments that together are too long",
            READ,
            |_, _| Some(Act::Record(vec![0; 30_000], 1000)),
            READ_RANGE,
            OversizedHead,
            "NFS_RECORD_TOO_LONG",
            true,
        ),
        (
            "a call",
            READ,
            |call, _| changed(call, |record| record[7] = 0),
            READ_RANGE,
            MalformedHead,
            "NFS_NOT_A_REPLY",
            true,
        ),
        (
            "the reply to another call",
            READ,
            |call, _| changed(call, |record| record[3] ^= 1),
            READ_RANGE,
            MalformedHead,
            "NFS_OTHER_REPLY",
            true,
        ),
        (
            "two replies",
            READ,
            |call, _| {
                let record = call.data(&[7; 20_000], false).bytes();
                Some(Act::Bytes(fragments(&record, usize::MAX).repeat(2)))
            },
            READ_RANGE,
            MalformedHead,
            "NFS_OTHER_REPLY",
            true,
        ),
        (
            "another credential is wanted",
            READ,
            |call, _| {
                let denied = [call.number, 1, 1, 1, 5].map(u32::to_be_bytes).concat();
                Some(Act::Record(denied, 99))
            },
            READ_RANGE,
            Denied,
            "RPC_AUTH_ERROR",
            true,
        ),
        (
            "an error of the server’s own",
            READ,
            |call, _| {
                let failed = [call.number, 1, 0, 0, 0, 5].map(u32::to_be_bytes).concat();
                Some(Act::Record(failed, 99))
            },
            READ_RANGE,
            WrongStatus,
            "RPC_SYSTEM_ERR",
            false,
        ),
        (
            "another session",
            READ,
            |call, _| changed(call, |record| record[SEQUENCE_AT + 8] ^= 1),
            READ_RANGE,
            MalformedHead,
            "NFS_OTHER_REPLY",
            true,
        ),
        (
            "the reply to another call in the slot",
            READ,
            |call, _| changed(call, |record| record[SEQUENCE_AT + 8 + 19] ^= 1),
            READ_RANGE,
            MalformedHead,
            "NFS_OTHER_REPLY",
            true,
        ),
        (
            "the result of another operation",
            READ,
            |call, _| changed(call, |record| record[OP_AT + 3] = 38),
            READ_RANGE,
            MalformedHead,
            "NFS_OTHER_REPLY",
            true,
        ),
        (
            "fewer results",
            READ,
            |call, _| Some(call.reply_about_file().act()),
            READ_RANGE,
            MalformedHead,
            "NFS_OTHER_REPLY",
            true,
        ),
        (
            "a number of results that lies",
            READ,
            |call, _| changed(call, |record| record[32] = 0xff),
            READ_RANGE,
            MalformedBody,
            "NFS_LYING_LENGTH",
            true,
        ),
        (
            "more data than asked for",
            READ,
            |call, _| Some(call.data(&[7; 20_001], false).act()),
            READ_RANGE,
            MalformedBody,
            "NFS_LYING_LENGTH",
            true,
        ),
        (
            "data of 4 GB",
            READ,
            |call, _| changed(call, |record| record[OP_AT + 12..OP_AT + 16].fill(0xff)),
            READ_RANGE,
            MalformedBody,
            "NFS_LYING_LENGTH",
            true,
        ),
        (
            "half of a reply",
            READ,
            |call, _| changed(call, |record| record.truncate(OP_AT + 100)),
            READ_RANGE,
            MalformedBody,
            "NFS_LYING_LENGTH",
            true,
        ),
        (
            "a short read at the end of the file",
            READ,
            |call, _| Some(call.data(&[7; 10_000], true).act()),
            READ_RANGE,
            Truncated,
            "NFS_SHORT",
            false,
        ),
        (
            "no data, and no end of the file",
            READ,
            |call, _| Some(call.data(&[], false).act()),
            READ_RANGE,
            Truncated,
            "NFS_SHORT",
            false,
        ),
        ("a stale handle", READ, |call, _| call.refusal(70), READ_RANGE, Gone, "NFS4ERR_STALE", false),
        ("a bad state", READ, |call, _| call.refusal(10025), READ_RANGE, Gone, "NFS4ERR_BAD_STATEID", false),
        (
            "an expired lease",
            READ,
            |call, _| call.refusal(10011),
            READ_RANGE,
            SessionLost,
            "NFS4ERR_EXPIRED",
            true,
        ),
        (
            "an expired session",
            GETATTR,
            |call, _| {
                let mut reply = Call { sequence: 0, ..call.clone() }.reply();
                reply.result(SEQUENCE, 10052);
                Some(reply.act())
            },
            QUERY,
            SessionLost,
            "NFS4ERR_BADSESSION",
            true,
        ),
        ("a delay, forever", READ, |call, _| call.refusal(10008), READ_RANGE, Busy, "NFS4ERR_DELAY", false),
        (
            "a grace period",
            LOCK,
            |call, _| call.refusal(10013),
            FileAction::Lock(HANDLE, RANGE),
            Busy,
            "NFS4ERR_GRACE",
            false,
        ),
        (
            "a lock of somebody else",
            LOCK,
            |call, _| call.refusal(10010),
            FileAction::Lock(HANDLE, RANGE),
            Conflict,
            "NFS4ERR_DENIED",
            false,
        ),
        ("a full disk", WRITE, |call, _| call.refusal(28), WRITE_RANGE, Full, "NFS4ERR_NOSPC", false),
        ("a read-only export", WRITE, |call, _| call.refusal(30), WRITE_RANGE, Denied, "NFS4ERR_ROFS", false),
        (
            "a status without a name",
            WRITE,
            |call, _| call.refusal(99_999),
            WRITE_RANGE,
            WrongStatus,
            "",
            false,
        ),
        (
            "more written than sent",
            WRITE,
            |call, _| call.written(20_001, 0, VERIFIER),
            WRITE_RANGE,
            MalformedBody,
            "NFS_LYING_LENGTH",
            true,
        ),
        (
            "nothing written",
            WRITE,
            |call, _| call.written(0, 0, VERIFIER),
            WRITE_RANGE,
            Truncated,
            "NFS_SHORT",
            false,
        ),
        (
            "an empty page that is not the last",
            READDIR,
            |call, _| call.page(std::iter::empty(), false),
            find(512),
            WrongLength,
            "NFS_ENDLESS_LISTING",
            false,
        ),
        (
            "a listing in a circle of pages",
            READDIR,
            |call, n| call.page((0..3).map(|index| 1 + (3 * (n as u64 - 1) + index) % 9), false),
            find(u32::MAX),
            WrongLength,
            "NFS_ENDLESS_LISTING",
            false,
        ),
        (
            "a page that repeats itself",
            READDIR,
            |call, _| call.page(1..100, false),
            find(u32::MAX),
            WrongLength,
            "NFS_ENDLESS_LISTING",
            false,
        ),
        (
            "a listing without an end",
            READDIR,
            |call, _| call.page(call.argument + 1..call.argument + 1001, false),
            find(u32::MAX),
            WrongLength,
            "NFS_ENDLESS_LISTING",
            false,
        ),
        (
            "a name longer than names are",
            READDIR,
            |call, _| {
                let mut reply = call.reply_about_file();
                let frame = reply.result(READDIR, 0);
                frame.put(&VERIFIER);
                frame.number(1);
                frame.long(1);
                frame.opaque(&[b'a'; 256]);
                frame.numbers(&[0, 0, 0, 1]);
                Some(reply.act())
            },
            find(512),
            MalformedBody,
            "NFS_LYING_LENGTH",
            true,
        ),
        (
            "attributes that nobody asked for",
            GETATTR,
            |call, _| {
                let mut reply = call.reply_about_file();
                reply.result(GETATTR, 0).numbers(&[1, 1 << 12, 4, 0]);
                Some(reply.act())
            },
            QUERY,
            MalformedHead,
            "NFS_OTHER_REPLY",
            true,
        ),
        (
            "the server was restarted between write and flush",
            COMMIT,
            |call, _| {
                let mut reply = call.reply_about_file();
                reply.result(COMMIT, 0).put(b"started2");
                Some(reply.act())
            },
            FLUSH,
            Outcome::NotCommitted,
            "NFS_LOST_WRITES",
            false,
        ),
        ("nothing", READ, |_, _| Some(Act::End), READ_RANGE, SessionLost, "", true),
        (
            "the beginning of a reply",
            READ,
            |_, _| Some(Act::Bytes(vec![0x80, 0, 1, 0, 0, 0])),
            READ_RANGE,
            Truncated,
            "",
            false,
        ),
    ];
    for (name, op, serve, action, outcome, code, ends) in table {
        let (address, server) = start(2, *op, *serve);
        let replies = runtime().block_on(async {
            let context = context(address, Verify::Off, Durability::Flush);
            let mut driver = NfsDriver::new(context, 3);
            let mut actions = vec![open()];
            if *op == COMMIT {
                actions.push(WRITE_RANGE);
            }
            actions.push(*action);
            // The server cannot send the rest.
            if *name == "the beginning of a reply" {
                let waiting = perform(&mut driver, &actions);
                let waited = tokio::time::timeout(std::time::Duration::from_millis(200), waiting).await;
                assert!(waited.is_err(), "{name}: it waits for the rest, until its time is over");
                driver.give_up();
                return Vec::new();
            }
            let replies = perform(&mut driver, &actions).await;
            // Behind a reply that does not end the session, the file is still open.
            let next = perform(&mut driver, &[FileAction::Close(HANDLE)]).await;
            let is_open = next[0].0.outcome == Outcome::Ok;
            assert_eq!(is_open, !ends, "{name}: {}", next[0].1);
            if *ends {
                // The next session works.
                let again = perform(&mut driver, &[open()]).await;
                assert_eq!(again[0].0.outcome, Outcome::Ok, "{name}: {}", again[0].1);
            }
            replies
        });
        if let Some((reply, text)) = replies.last() {
            let found = (reply.outcome, code_name(NfsVersion::V4_1, reply.code).unwrap_or(""));
            assert_eq!(found, (*outcome, *code), "{name}: {text}");
            let is_lost = FileAnswer::from_u64(reply.answer) == FileAnswer::SessionLost;
            assert_eq!(is_lost, *ends, "{name}");
        }
        if !ends {
            // Nobody comes for the second session.
            let _ = std::net::TcpStream::connect(address);
        }
        server.join().unwrap();
    }
}

/// Reads succeed however the reply arrives, in how many fragments and replies; a flipped byte in the middle of a block is found,
/// and the session goes on. Golden check 20.
#[test]
fn reads_are_verified_where_they_arrive() {
    fn content(offset: usize, n_bytes: usize) -> Vec<u8> {
        let mut bytes = vec![0; n_bytes];
        let version = FileVersion { file: path().file_id(), generation: 0 };
        FileContent::new(CONTENT_SEED, 50).fill(version, RANGE.offset + offset as u64, &mut bytes);
        bytes
    }
    let serve: Serve = |call, n| {
        let right = call.data(&content(0, 20_000), false).bytes();
        match n {
            1 => Some(Act::Record(right, 999)),
            2 => Some(Act::Record(right, 60_000)),
            3 => {
                let mut wrong = content(0, 20_000);
                wrong[9_000] ^= 1;
                Some(call.data(&wrong, false).act())
            }
            // Fewer bytes than were asked for, which a server may do: the rest is asked for.
            4 => Some(call.data(&content(0, 4_000), false).act()),
            _ => Some(call.data(&content(4_000, 16_000), true).act()),
        }
    };
    let (address, server) = start(1, READ, serve);
    let replies = runtime().block_on(async {
        let mut driver = NfsDriver::new(context(address, Verify::Full, Durability::Flush), 3);
        perform(&mut driver, &[open(), READ_RANGE, READ_RANGE, READ_RANGE, READ_RANGE]).await
    });
    server.join().unwrap();
    let outcomes: Vec<_> = replies.iter().map(|(reply, _)| reply.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Ok, Outcome::Ok, Outcome::WrongBytes, Outcome::Ok]);
    assert_eq!(
        replies[3].1,
        "client 3: read 0: 20000 at 4096: the byte at 13096 of the file is not the one that was written"
    );
    let exchanges = |index: usize| replies[index].0.measured.get(file_measure::EXCHANGES);
    assert_eq!((exchanges(1), exchanges(4)), (Some(1), Some(2)));
}

/// Goal: writes that must be durable and are not are found; other writes go on where the server stopped.
#[test]
fn writes_are_as_durable_as_they_are_meant_to_be() {
    let serve: Serve = |call, n| match n {
        1 => call.written(20_000, 0, VERIFIER),
        2 => call.written(20_000, 2, VERIFIER),
        3 => call.written(5_000, 2, VERIFIER),
        _ => call.written(15_000, 1, VERIFIER),
    };
    let (address, server) = start(1, WRITE, serve);
    let replies = runtime().block_on(async {
        let mut driver = NfsDriver::new(context(address, Verify::Off, Durability::Write), 3);
        let create = FileAction::Create(HANDLE, path(), ExistingFile::Truncate);
        perform(&mut driver, &[create, WRITE_RANGE, WRITE_RANGE, WRITE_RANGE, FLUSH]).await
    });
    server.join().unwrap();
    let found: Vec<_> = replies.iter().map(|(reply, _)| (reply.outcome, reply.code)).collect();
    let ok = (Outcome::Ok, 0);
    assert_eq!(found[..1], [ok]);
    assert_eq!(found[1].0, Outcome::Inconsistent);
    assert_eq!(code_name(NfsVersion::V4_1, found[1].1), Some("NFS_NOT_DURABLE"));
    assert_eq!(found[2..], [ok, ok, ok]);
    assert_eq!(replies[3].0.measured.get(file_measure::EXCHANGES), Some(2));
}

/// Goal: a delegation, which nobody could give back, is refused; a folder that is opened has no state on the server.
#[test]
fn what_is_opened_is_as_it_was_asked_for() {
    let serve: Serve = |call, n| match n {
        1 => call.refusal(21),
        _ => {
            let mut reply = call.reply_about_file();
            let frame = reply.result(OPEN, 0);
            frame.put_zeros(16 + 24);
            // A delegation to write.
            frame.numbers(&[0, 2]);
            frame.put_zeros(64);
            Some(reply.act())
        }
    };
    let (address, server) = start(1, OPEN, serve);
    let replies = runtime().block_on(async {
        let mut driver = NfsDriver::new(context(address, Verify::Off, Durability::Write), 3);
        perform(&mut driver, &[open(), FileAction::Close(HANDLE), open()]).await
    });
    server.join().unwrap();
    let exchanges = replies.iter().map(|(reply, _)| reply.measured.get(file_measure::EXCHANGES));
    assert_eq!(exchanges.collect::<Vec<_>>(), [Some(5), Some(0), Some(1)]);
    assert_eq!(replies[2].0.outcome, Outcome::MalformedBody);
    assert_eq!(code_name(NfsVersion::V4_1, replies[2].0.code), Some("NFS_UNASKED"));
}

/// Goal: a session that cannot be opened says why, in words that lead to the remedy.
#[test]
fn sessions_that_cannot_be_opened_say_why() {
    type Refused = (u32, Serve, &'static str);
    let table: [Refused; 5] = [
        (
            EXCHANGE_ID,
            |call, _| {
                let failed = [call.number, 1, 0, 0, 0, 2, 3, 3].map(u32::to_be_bytes).concat();
                Some(Act::Record(failed, 99))
            },
            "the server does not speak NFS 4.1\nhint: choose another by",
        ),
        (
            EXCHANGE_ID,
            |call, _| {
                let head = [call.number, 1, 0, 0, 0, 0, 10021, 0, 0];
                Some(Act::Record(head.map(u32::to_be_bytes).concat(), 99))
            },
            "the server does not speak NFS 4.1",
        ),
        (
            CREATE_SESSION,
            |call, _| {
                let mut reply = call.reply();
                reply.result(CREATE_SESSION, 10022);
                Some(reply.act())
            },
            "opening a session: the server answered NFS4ERR_STALE_CLIENTID",
        ),
        (LOOKUP, |call, _| call.refusal(1), "needs the option `insecure`"),
        (LOOKUP, |call, _| call.refusal(2), "the server has no `export` to work in"),
    ];
    for (op, serve, text) in table {
        let (address, server) = start(1, op, serve);
        let error = runtime().block_on(async {
            let mut driver = NfsDriver::new(context(address, Verify::Off, Durability::Flush), 3);
            driver.open().await.unwrap_err().to_string()
        });
        server.join().unwrap();
        assert!(error.contains(text), "{error}");
    }
}
