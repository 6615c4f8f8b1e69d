//! Replies that are wrong, each with the outcome and the code that it leads to.

use model::Outcome;
use smb2::msg::read::ReadResponse;
use smb2::types::flags::HeaderFlags;

use super::super::failure::{SmbFailure, code_name};
use super::super::frame::frame_length;
use super::super::session::INTERIM_MAX;
use super::super::wire::{Request, SAME_FILE, SmbReply};
use super::*;

/// The bytes that are asked for.
const ASKED: u32 = 100;

/// The number of the request.
const NUMBER: u64 = 4;

/// The frames with which a server answers the only request, which reads.
type Behavior = fn(Kind) -> Vec<Vec<u8>>;

fn data(n_bytes: usize) -> Answer {
    let response = ReadResponse { data_offset: 80, data_remaining: 0, flags: 0, data: vec![7; n_bytes] };
    Answer::of(NUMBER, Command::Read, &response)
}

fn pending() -> Answer {
    Answer::failure(NUMBER, Command::Read, 0x103).with_flags(HeaderFlags::ASYNC_COMMAND)
}

/// Has a server answer with frames; returns the number of bytes read, or the failure; `None` if it still waits.
fn answered(kind: Kind, frames: Vec<Vec<u8>>) -> Option<Result<usize, SmbFailure>> {
    let mut session = session(kind);
    session.compose(&[Request::Read(FILE, 0, ASKED)], &mut FrameBuffer::default()).unwrap();
    let mut n_read = Ok(0);
    let mut each = |_: usize, reply: SmbReply<'_>| {
        n_read = if reply.status.is_success() {
            Ok(reply.data(ASKED)?.len())
        } else {
            Err(SmbFailure::status(reply.status))
        };
        Ok(())
    };
    for mut frame in frames {
        let head = (frame.len() as u32).to_be_bytes();
        if let Err(failure) = frame_length(&head, session.reply_bytes_max()) {
            return Some(Err(failure));
        }
        match session.take(&mut frame, &mut each) {
            Ok(true) => return Some(n_read),
            Ok(false) => {}
            Err(failure) => return Some(Err(failure)),
        }
    }
    None
}

/// Changes the message of a right reply, and protects it as the server does.
fn changed(kind: Kind, change: impl Fn(&mut Vec<u8>)) -> Vec<Vec<u8>> {
    let flags = if kind == Kind::Signed { HeaderFlags::SIGNED } else { 0 };
    let mut message = data(ASKED as usize).with_flags(flags).message(0);
    change(&mut message);
    match kind {
        Kind::Plain => {}
        Kind::Signed => SigningKey::gmac(&KEY).sign(&mut message, NUMBER, Signer::Server),
        Kind::Encrypted => message = encrypted(&message),
    }
    vec![message]
}

#[test]
fn a_right_reply_is_read_in_every_session() {
    for kind in [Kind::Plain, Kind::Signed, Kind::Encrypted] {
        let right = frame_of(kind, &[data(ASKED as usize)]);
        assert_eq!(answered(kind, vec![right.clone()]), Some(Ok(100)), "{kind:?}");
        // An interim reply before it, too.
        let interim = frame_of(kind, &[pending()]);
        assert_eq!(answered(kind, vec![interim, right]), Some(Ok(100)), "{kind:?}");
        // A short read is a right reply, which the content is held against.
        assert_eq!(answered(kind, vec![frame_of(kind, &[data(99)])]), Some(Ok(99)), "{kind:?}");
    }
    // One that only says that the reply comes later needs no signature.
    let unsigned = pending().message(0);
    let right = frame_of(Kind::Signed, &[data(ASKED as usize)]);
    assert_eq!(answered(Kind::Signed, vec![unsigned, right]), Some(Ok(100)));
}

#[test]
fn each_wrong_reply_has_its_outcome_and_its_code() {
    use Kind::{Encrypted, Plain, Signed};
    let all = &[Plain, Signed, Encrypted][..];
    let table: &[(&str, &[Kind], Behavior, Outcome, &str)] = &[
        ("nothing", all, |_| vec![Vec::new()], Outcome::MalformedHead, "SMB_NOT_A_MESSAGE"),
        (
            "another protocol",
            &[Plain, Signed],
            |_| vec![vec![b'H'; 200]],
            Outcome::MalformedHead,
            "SMB_NOT_A_MESSAGE",
        ),
        (
            "SMB 1",
            &[Plain, Signed],
            |_| vec![[&b"\xffSMB"[..], &[0; 100]].concat()],
            Outcome::MalformedHead,
            "SMB_NOT_A_MESSAGE",
        ),
        (
            "half a header",
            &[Plain, Encrypted],
            |kind| changed(kind, |message| message.truncate(63)),
            Outcome::MalformedHead,
            "SMB_NOT_A_MESSAGE",
        ),
        (
            "a request",
            all,
            |kind| changed(kind, |message| message[16] &= !1),
            Outcome::MalformedHead,
            "SMB_NOT_A_MESSAGE",
        ),
        (
            "another message",
            all,
            |kind| changed(kind, |message| message[24] += 1),
            Outcome::MalformedHead,
            "SMB_OTHER_MESSAGE",
        ),
        (
            "another command",
            all,
            |kind| changed(kind, |message| message[12] = 9),
            Outcome::MalformedHead,
            "SMB_OTHER_MESSAGE",
        ),
        (
            "another session",
            all,
            |kind| changed(kind, |message| message[40] += 1),
            Outcome::MalformedHead,
            "SMB_OTHER_MESSAGE",
        ),
        (
            "a notification that nobody asked for",
            all,
            |kind| changed(kind, |message| message[24..32].fill(0xff)),
            Outcome::MalformedHead,
            "SMB_OTHER_MESSAGE",
        ),
        (
            "two replies to one request",
            all,
            |kind| vec![frame_of(kind, &[data(1), data(1)])],
            Outcome::MalformedHead,
            "SMB_OTHER_MESSAGE",
        ),
        (
            "more data than asked for",
            all,
            |kind| vec![frame_of(kind, &[data(101)])],
            Outcome::MalformedBody,
            "SMB_LYING_LENGTH",
        ),
        (
            "data behind the end",
            all,
            |kind| changed(kind, |message| message[66] = 255),
            Outcome::MalformedBody,
            "SMB_LYING_LENGTH",
        ),
        (
            "data in the header",
            all,
            |kind| changed(kind, |message| message[66] = 0),
            Outcome::MalformedBody,
            "SMB_LYING_LENGTH",
        ),
        (
            "a length of 4 GB",
            all,
            |kind| changed(kind, |message| message[68..72].fill(0xff)),
            Outcome::MalformedBody,
            "SMB_LYING_LENGTH",
        ),
        (
            "another structure",
            all,
            |kind| changed(kind, |message| message[64] = 9),
            Outcome::MalformedBody,
            "SMB_LYING_LENGTH",
        ),
        (
            "no body",
            all,
            |kind| changed(kind, |message| message.truncate(64)),
            Outcome::MalformedBody,
            "SMB_LYING_LENGTH",
        ),
        (
            "a next message behind the end",
            all,
            |kind| changed(kind, |message| message[22] = 1),
            Outcome::MalformedBody,
            "SMB_LYING_LENGTH",
        ),
        (
            "a next message in the header",
            all,
            |kind| changed(kind, |message| message[20] = 8),
            Outcome::MalformedBody,
            "SMB_LYING_LENGTH",
        ),
        (
            "a frame that is too long",
            all,
            |_| vec![vec![0; 10_000]],
            Outcome::OversizedHead,
            "SMB_FRAME_TOO_LONG",
        ),
        (
            "no signature",
            &[Signed],
            |_| vec![frame_of(Plain, &[data(1)])],
            Outcome::MalformedHead,
            "SMB_UNSIGNED_REPLY",
        ),
        (
            "a wrong signature",
            &[Signed],
            |kind| {
                let mut frame = frame_of(kind, &[data(1)]);
                frame[48] ^= 1;
                vec![frame]
            },
            Outcome::Inconsistent,
            "SMB_WRONG_SIGNATURE",
        ),
        (
            "a changed byte",
            &[Signed],
            |kind| {
                let mut frame = frame_of(kind, &[data(1)]);
                frame[80] ^= 1;
                vec![frame]
            },
            Outcome::Inconsistent,
            "SMB_WRONG_SIGNATURE",
        ),
        (
            "a changed byte",
            &[Encrypted],
            |kind| {
                let mut frame = frame_of(kind, &[data(1)]);
                frame[100] ^= 1;
                vec![frame]
            },
            Outcome::Inconsistent,
            "SMB_WRONG_ENCRYPTION",
        ),
        (
            "no encryption",
            &[Encrypted],
            |_| vec![frame_of(Plain, &[data(1)])],
            Outcome::MalformedHead,
            "SMB_NOT_ENCRYPTED",
        ),
        (
            "encryption that nobody asked for",
            &[Plain, Signed],
            |_| vec![frame_of(Encrypted, &[data(1)])],
            Outcome::MalformedHead,
            "SMB_NOT_A_MESSAGE",
        ),
        (
            "pending for ever",
            all,
            |kind| (0..=INTERIM_MAX).map(|_| frame_of(kind, &[pending()])).collect(),
            Outcome::Busy,
            "SMB_ENDLESS_PENDING",
        ),
        (
            "a session that has expired",
            all,
            |kind| vec![frame_of(kind, &[Answer::failure(NUMBER, Command::Read, 0xC000_035C)])],
            Outcome::SessionLost,
            "STATUS_NETWORK_SESSION_EXPIRED",
        ),
        (
            "a stale handle",
            all,
            |kind| vec![frame_of(kind, &[Answer::failure(NUMBER, Command::Read, 0xC000_0128)])],
            Outcome::Gone,
            "STATUS_FILE_CLOSED",
        ),
        (
            "a disk that is full",
            all,
            |kind| vec![frame_of(kind, &[Answer::failure(NUMBER, Command::Read, 0xC000_007F)])],
            Outcome::Full,
            "STATUS_DISK_FULL",
        ),
    ];
    for (name, kinds, behavior, outcome, code) in table {
        for kind in *kinds {
            let frames = if kind == &Encrypted && *name == "nothing" { continue } else { behavior(*kind) };
            let failure = answered(*kind, frames).unwrap_or_else(|| panic!("{name}, {kind:?}: it waits"));
            let failure = failure.expect_err(name);
            assert_eq!(
                (failure.outcome, code_name(failure.code)),
                (*outcome, Some(*code)),
                "{name}, {kind:?}"
            );
            let is_statement = code.starts_with("STATUS_") && *outcome != Outcome::SessionLost;
            assert_eq!(failure.ends_session, !is_statement, "{name}, {kind:?}");
        }
    }
}

/// Goal: a reply that never comes is waited for, and nothing is kept of it: the limit on the time of operations cuts it off.
#[test]
fn a_reply_that_stays_pending_is_awaited() {
    for kind in [Kind::Plain, Kind::Signed, Kind::Encrypted] {
        assert_eq!(answered(kind, vec![frame_of(kind, &[pending()])]), None);
    }
}

#[test]
fn a_server_that_grants_no_credits_ends_the_session() {
    let mut session = session_with(Kind::Plain, 2);
    let frame = &mut FrameBuffer::default();
    for number in [4, 5] {
        session.compose(&[Request::Flush(FILE)], frame).unwrap();
        let answer = Answer { credits: 0, ..Answer::failure(number, Command::Flush, 0) };
        let taken = session.take(&mut frame_of(Kind::Plain, &[answer]), &mut |_, _| Ok(()));
        assert_eq!(taken, Ok(true));
    }
    let failure = session.compose(&[Request::Flush(FILE)], frame).unwrap_err();
    assert_eq!((failure.outcome, code_name(failure.code)), (Outcome::Busy, Some("SMB_NO_CREDITS")));
    assert!(failure.ends_session);
}

/// Goal: with few credits reads are split; those that are granted do not add up beyond a limit.
#[test]
fn reads_are_as_large_as_credits_allow() {
    let mut session = session_with(Kind::Plain, 3);
    assert_eq!(
        [100, 65_536, 1 << 20, u64::MAX].map(|length| session.read_piece(length)),
        [100, 65_536, 196_608, 196_608]
    );
    for number in 4..40 {
        session.compose(&[Request::Flush(FILE)], &mut FrameBuffer::default()).unwrap();
        let answer = Answer { credits: u16::MAX, ..Answer::failure(number, Command::Flush, 0) };
        session.take(&mut frame_of(Kind::Plain, &[answer]), &mut |_, _| Ok(())).unwrap();
    }
    assert_eq!(session.read_piece(u64::MAX), 1 << 20, "the server's limit");
}

/// Goal: the replies of a chain come in one frame or several, in any order, with interim ones between.
#[test]
fn the_replies_of_a_chain_come_in_any_frames() {
    for kind in [Kind::Plain, Kind::Signed, Kind::Encrypted] {
        let answer = |number| Answer::failure(number, Command::Flush, 0xC000_0000 + number as u32);
        let later = Answer { flags: 3, status: 0x103, ..answer(5) };
        for frames in [
            vec![vec![answer(4), answer(5), answer(6)]],
            vec![vec![answer(4)], vec![answer(5), answer(6)]],
            vec![vec![answer(6), later.clone()], vec![answer(4)], vec![later], vec![answer(5)]],
        ] {
            let mut session = session(kind);
            session.compose(&[Request::Flush(SAME_FILE); 3], &mut FrameBuffer::default()).unwrap();
            let mut found = Vec::new();
            let n_frames = frames.len();
            for (index, answers) in frames.iter().enumerate() {
                let taken = session.take(&mut frame_of(kind, answers), &mut |request, reply| {
                    found.push((request, reply.status.0));
                    Ok(())
                });
                assert_eq!(taken, Ok(index + 1 == n_frames), "{kind:?}");
            }
            found.sort_unstable();
            assert_eq!(found, [(0, 0xC000_0004), (1, 0xC000_0005), (2, 0xC000_0006)]);
        }
    }
}

/// A listing whose entries lead back cannot be written: each begins behind the one before.
#[test]
fn a_listing_that_leads_out_of_its_page_or_stands_still_is_refused() {
    use smb2::msg::query_directory::QueryDirectoryResponse;
    for (next, is_right) in
        [(0, true), (104, true), (1, false), (93, false), (1 << 20, false), (u32::MAX, false)]
    {
        let mut page = vec![0; 208];
        page[..4].copy_from_slice(&next.to_le_bytes());
        page[60] = 4;
        page[94..98].copy_from_slice(b"a\0b\0");
        page[104 + 60] = 2;
        page[104 + 94] = b'c';
        let response = QueryDirectoryResponse { output_buffer: page };
        let message = Answer::of(4, Command::QueryDirectory, &response).message(0);
        let reply = SmbReply { status: super::super::status::NtStatus::SUCCESS, message: &message };
        let entries: Vec<_> = reply.entries().unwrap().collect();
        assert_eq!(entries.iter().all(Result::is_ok), is_right, "{next}");
        assert!(entries.len() <= 2, "{next}");
    }
}
