//! Calls and replies of version 3, held against another implementation: the crate `nfs3_types`.

use std::fmt::Debug;
use std::io::Cursor;

use files::ExistingFile;
use model::Outcome;
use nfs3_types::nfs3::{
    COMMIT3args, COMMIT3resok, CREATE3args, CREATE3resok, FSINFO3args, FSINFO3resok, FSSTAT3args,
    FSSTAT3resok, GETATTR3args, GETATTR3resok, LOOKUP3args, LOOKUP3resok, MKDIR3args, Nfs3Option, READ3args,
    READ3resok, READDIRPLUS3args, READDIRPLUS3resok, REMOVE3args, RENAME3args, RMDIR3args, SETATTR3args,
    WRITE3args, WRITE3resok, cookieverf3, dirlistplus3, entryplus3, fattr3, ftype3, nfs_fh3, nfstime3,
    specdata3, stable_how, wcc_data, writeverf3,
};
use nfs3_types::rpc::{auth_unix, msg_body, rpc_msg};
use nfs3_types::xdr_codec::{List, Opaque, Pack, Unpack};

use super::super::failure::{NfsFailure, Violation};
use super::super::procedure::{
    Answer, EntryPath, FileAttributes, FileSharing, ListPosition, NfsFile, Procedure, Written,
};
use super::super::rpc::FRAGMENT_HEAD_BYTES;
use super::super::v3::V3Calls;
use super::super::xdr::FileHandle;
use super::super::{NfsOwner, NfsVersion};
use crate::file::frame_buffer::FrameBuffer;

const HANDLE: &[u8] = b"a handle of 21 bytes.";

fn handle() -> FileHandle {
    FileHandle::new(HANDLE).unwrap()
}

fn file() -> NfsFile {
    NfsFile { handle: handle(), open: None, locks: None }
}

fn owner() -> NfsOwner {
    NfsOwner { uid: 1000, gid: 100, machine: "here".to_owned() }
}

fn read<T: Unpack>(bytes: &[u8], at: &mut u64) -> T {
    let mut cursor = Cursor::new(bytes);
    cursor.set_position(*at);
    let (value, n_bytes) = T::unpack(&mut cursor).unwrap();
    *at += n_bytes as u64;
    assert_eq!(*at, cursor.position());
    value
}

/// Reads a call with the other implementation: its procedure, and its arguments as text.
fn call<T: Unpack + Debug>(procedure: &Procedure<'_>) -> (u32, String) {
    let mut frame = FrameBuffer::default();
    V3Calls::new().compose(procedure, &owner(), &mut frame);
    if let Procedure::Write(_, _, n_bytes, _) = procedure {
        frame.claim(*n_bytes as usize).fill(7);
        frame.pad(*n_bytes as usize);
    }
    arguments::<T>(&frame)
}

fn arguments<T: Unpack + Debug>(frame: &FrameBuffer) -> (u32, String) {
    let bytes = &frame.filled()[FRAGMENT_HEAD_BYTES..];
    let mut at = 0;
    let message: rpc_msg<'_, '_> = read(bytes, &mut at);
    let msg_body::CALL(head) = message.body else { panic!("a reply") };
    assert_eq!((message.xid, head.rpcvers, head.prog, head.vers), (1, 2, 100_003, 3));
    let credential: auth_unix = read(head.cred.body.as_ref(), &mut 0);
    assert_eq!((credential.machinename.as_ref(), credential.uid, credential.gid), (&b"here"[..], 1000, 100));
    let arguments: T = read(bytes, &mut at);
    assert_eq!(at, bytes.len() as u64, "{arguments:?}");
    (head.proc, format!("{arguments:?}"))
}

/// Goal: another implementation reads our calls as they are meant.
#[test]
fn calls_are_those_of_the_protocol() {
    let handle = handle();
    let place: EntryPath<'_> = (&handle, "name");
    let other: EntryPath<'_> = (&handle, "another");
    let file = file();
    let has = |(number, text): (u32, String), expected: u32, parts: &[&str]| {
        assert_eq!(number, expected, "{text}");
        parts.iter().for_each(|part| assert!(text.contains(part), "{part} in {text}"));
    };
    has(call::<LOOKUP3args<'_>>(&Procedure::Lookup(place)), 3, &[]);
    has(call::<LOOKUP3args<'_>>(&Procedure::Open(place, FileSharing::All)), 3, &[]);
    for (existing, how) in [
        (ExistingFile::Refuse, "GUARDED"),
        (ExistingFile::Keep, "UNCHECKED"),
        (ExistingFile::Truncate, "UNCHECKED"),
    ] {
        let create = Procedure::Create(place, existing, FileSharing::All);
        let size = if existing == ExistingFile::Truncate { "size: Some(0)" } else { "size: None" };
        has(call::<CREATE3args<'_>>(&create), 8, &[how, size, "mode: Some(420)"]);
    }
    has(call::<READ3args>(&Procedure::Read(&file, 5, 4096)), 6, &["offset: 5", "count: 4096"]);
    for (is_durable, how) in [(true, "DATA_SYNC"), (false, "UNSTABLE")] {
        let write = Procedure::Write(&file, 1 << 40, 7, is_durable);
        has(call::<WRITE3args<'_>>(&write), 7, &["offset: 1099511627776", "count: 7", how]);
    }
    has(call::<COMMIT3args>(&Procedure::Commit(&handle)), 21, &["offset: 0, count: 0"]);
    has(call::<GETATTR3args>(&Procedure::Query(&handle)), 1, &[]);
    let set = Procedure::SetTimes(&handle, Some(1_577_836_801));
    has(call::<SETATTR3args>(&set), 2, &["SET_TO_CLIENT_TIME(nfstime3 { seconds: 1577836801", "guard: None"]);
    has(call::<SETATTR3args>(&Procedure::SetTimes(&handle, None)), 2, &["SET_TO_SERVER_TIME", "mode: None"]);
    has(call::<FSSTAT3args>(&Procedure::Volume(&handle)), 18, &[]);
    let position = ListPosition { cookie: 9, verifier: *b"verifier" };
    has(call::<READDIRPLUS3args>(&Procedure::List(&handle, position)), 17, &["cookie: 9", "maxcount: 65536"]);
    has(call::<RENAME3args<'_, '_>>(&Procedure::Rename(place, other)), 14, &[]);
    has(call::<REMOVE3args<'_>>(&Procedure::Remove(place)), 12, &[]);
    has(call::<RMDIR3args<'_>>(&Procedure::RemoveFolder(place)), 13, &[]);
    has(call::<MKDIR3args<'_>>(&Procedure::MakeFolder(place)), 9, &["mode: Some(493)"]);
    let mut frame = FrameBuffer::default();
    V3Calls::new().compose_limits(&handle, &owner(), &mut frame);
    has(arguments::<FSINFO3args>(&frame), 19, &[]);
}

fn attributes(type_: ftype3) -> fattr3 {
    let time = |seconds| nfstime3 { seconds, nseconds: 1 };
    fattr3 {
        type_,
        mode: 0o644,
        nlink: 1,
        uid: 1,
        gid: 2,
        size: 12_345,
        used: 16_384,
        rdev: specdata3 { specdata1: 0, specdata2: 0 },
        fsid: 3,
        fileid: 4,
        atime: time(5),
        mtime: time(1_600_000_000),
        ctime: time(7),
    }
}

const FOUND: FileAttributes =
    FileAttributes { is_folder: false, n_bytes: 12_345, modified_seconds: 1_600_000_000 };

fn other_handle() -> nfs_fh3 {
    nfs_fh3 { data: Opaque::borrowed(HANDLE) }
}

/// Makes a reply of what another implementation writes.
fn reply(status: u32, result: &impl Pack) -> Vec<u8> {
    let mut bytes = [1, 1, 0, 0, 0, 0, status].map(u32::to_be_bytes).concat();
    result.pack(&mut bytes).unwrap();
    bytes
}

/// Reads a reply as that to a procedure, and passes the answer.
fn with_answer<T>(
    procedure: &Procedure<'_>,
    bytes: &[u8],
    use_answer: impl FnOnce(Answer<'_>) -> T,
) -> Result<T, NfsFailure> {
    let mut calls = V3Calls::new();
    calls.compose(procedure, &owner(), &mut FrameBuffer::default());
    calls.answer(procedure, bytes).map(use_answer)
}

/// Goal: we read what another implementation writes, and less of it is found wanting, wherever it is cut off.
#[test]
fn replies_are_read_as_others_write_them() {
    let handle = handle();
    let place: EntryPath<'_> = (&handle, "name");
    let file = file();
    let of_file = || Nfs3Option::Some(attributes(ftype3::NF3REG));
    let found = |answer: Answer<'_>| match answer {
        Answer::Found(found) => (found.file.handle == handle, found.attributes),
        other => panic!("{other:?}"),
    };
    let look_up = Procedure::Lookup(place);
    let ok =
        LOOKUP3resok { object: other_handle(), obj_attributes: of_file(), dir_attributes: Nfs3Option::None };
    let bytes = reply(0, &ok);
    assert_eq!(with_answer(&look_up, &bytes, found), Ok((true, Some(FOUND))));
    for length in 0..bytes.len() - 4 {
        assert!(with_answer(&look_up, &bytes[..length], |_| ()).is_err(), "{length}");
    }
    let create = Procedure::Create(place, ExistingFile::Refuse, FileSharing::All);
    let ok = |obj| CREATE3resok { obj, obj_attributes: of_file(), dir_wcc: wcc_data::default() };
    let bytes = reply(0, &ok(Nfs3Option::Some(other_handle())));
    assert_eq!(with_answer(&create, &bytes, found), Ok((true, Some(FOUND))));
    let bytes = reply(0, &ok(Nfs3Option::None));
    assert_eq!(with_answer(&create, &bytes, |answer| matches!(answer, Answer::Done)), Ok(true));

    let read = Procedure::Read(&file, 0, 5);
    let ok =
        |count| READ3resok { file_attributes: of_file(), count, eof: true, data: Opaque::borrowed(b"abcde") };
    let data = |answer: Answer<'_>| matches!(answer, Answer::Data(b"abcde", true));
    assert_eq!(with_answer(&read, &reply(0, &ok(5)), data), Ok(true));
    let lying = Err(NfsFailure::violation(Violation::LyingLength, 4));
    assert_eq!(with_answer(&read, &reply(0, &ok(4)), data), lying);

    let write = Procedure::Write(&file, 0, 9, true);
    let verf = writeverf3(*b"verifier");
    let ok =
        |count| WRITE3resok { file_wcc: wcc_data::default(), count, committed: stable_how::DATA_SYNC, verf };
    let written = |answer: Answer<'_>| match answer {
        Answer::Written(written) => written,
        other => panic!("{other:?}"),
    };
    let expected = Written { n_bytes: 9, is_durable: true, verifier: *b"verifier" };
    assert_eq!(with_answer(&write, &reply(0, &ok(9)), written), Ok(expected));
    assert!(with_answer(&write, &reply(0, &ok(10)), written).is_err());
    let ok = COMMIT3resok { file_wcc: wcc_data::default(), verf };
    let committed =
        |answer: Answer<'_>| matches!(answer, Answer::Committed(verifier) if verifier == *b"verifier");
    assert_eq!(with_answer(&Procedure::Commit(&handle), &reply(0, &ok), committed), Ok(true));
    let ok = GETATTR3resok { obj_attributes: attributes(ftype3::NF3DIR) };
    let is_folder = |answer: Answer<'_>| matches!(answer, Answer::Attributes(found) if found.is_folder);
    assert_eq!(with_answer(&Procedure::Query(&handle), &reply(0, &ok), is_folder), Ok(true));
    let ok = FSSTAT3resok {
        obj_attributes: of_file(),
        tbytes: 1,
        fbytes: 2,
        abytes: 3,
        tfiles: 4,
        ffiles: 5,
        afiles: 6,
        invarsec: 7,
    };
    assert_eq!(with_answer(&Procedure::Volume(&handle), &reply(0, &ok), |_| ()), Ok(()));
}

#[test]
fn listings_and_limits_are_read_as_others_write_them() {
    let handle = handle();
    let entry = |cookie: u64, name: &'static [u8]| entryplus3 {
        fileid: 1,
        name: name.into(),
        cookie,
        name_attributes: if cookie == 1 {
            Nfs3Option::Some(attributes(ftype3::NF3DIR))
        } else {
            Nfs3Option::None
        },
        name_handle: Nfs3Option::Some(other_handle()),
    };
    let entries = List(vec![entry(1, b"folder"), entry(2, b"file")]);
    let ok = READDIRPLUS3resok {
        dir_attributes: Nfs3Option::None,
        cookieverf: cookieverf3(*b"verifier"),
        reply: dirlistplus3 { entries, eof: true },
    };
    let list = Procedure::List(&handle, ListPosition::default());
    let listed = with_answer(&list, &reply(0, &ok), |answer| {
        let Answer::Page(mut page) = answer else { panic!("{answer:?}") };
        let mut names = Vec::new();
        while let Some(entry) = page.next().unwrap() {
            names.push((entry.name.to_vec(), entry.cookie, entry.is_folder));
        }
        (names, page.verifier, page.is_last().unwrap())
    });
    let names = vec![(b"folder".to_vec(), 1, Some(true)), (b"file".to_vec(), 2, None)];
    assert_eq!(listed, Ok((names, *b"verifier", true)));

    let limits = FSINFO3resok {
        obj_attributes: Nfs3Option::None,
        rtmax: 65_536,
        rtpref: 0,
        rtmult: 0,
        wtmax: u32::MAX,
        wtpref: 0,
        wtmult: 0,
        dtpref: 0,
        maxfilesize: 0,
        time_delta: nfstime3 { seconds: 0, nseconds: 0 },
        properties: 0,
    };
    let mut calls = V3Calls::new();
    calls.compose_limits(&handle, &owner(), &mut FrameBuffer::default());
    calls.take_limits(&reply(0, &limits)).unwrap();
    assert_eq!((calls.read_max, calls.write_max), (65_536, 1 << 20));
}

/// Goal: a failure has the server's status, whatever follows it.
#[test]
fn refusals_have_the_names_of_their_version() {
    let handle = handle();
    for (status, outcome, name) in [
        (2, Outcome::Gone, "NFS3ERR_NOENT"),
        (70, Outcome::Gone, "NFS3ERR_STALE"),
        (10008, Outcome::Busy, "NFS3ERR_JUKEBOX"),
        (28, Outcome::Full, "NFS3ERR_NOSPC"),
    ] {
        let failure = with_answer(&Procedure::Query(&handle), &reply(status, &wcc_data::default()), |_| ())
            .unwrap_err();
        assert_eq!((failure.outcome, failure.ends_session), (outcome, false), "{name}");
        assert_eq!(super::super::code_name(NfsVersion::V3, failure.code), Some(name));
    }
}
