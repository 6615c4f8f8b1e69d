//! A driver with a server on a socket that opens sessions and then does what a test says.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::thread;

use engine::Driver;
use files::{
    Baseline, Entry, ExistingFile, FileAction, FileAnswer, FileContent, FileOperation, FilePath, FileRange,
    FileVersion, FindSize, Folder, Handle, InfoLevel, Owner, Verify,
};
use model::{Outcome, Reply, file_measure};
use smb2::msg::close::CloseResponse;
use smb2::msg::create::{CreateAction, CreateResponse};
use smb2::msg::directory_info::{DirectoryInfoEntry, pack_entries};
use smb2::msg::query_directory::{FileInformationClass, QueryDirectoryResponse};
use smb2::msg::query_info::QueryInfoResponse;
use smb2::msg::read::ReadResponse;
use smb2::pack::{FileTime, ReadCursor, Unpack};
use smb2::types::OplockLevel;
use tokio::runtime::Builder;
use units::{Clock, RealClock};

use super::super::failure::code_name;
use super::super::target::{SmbDialect, SmbOptions};
use super::super::{SmbContext, SmbDriver};
use super::opening::{LoginAnswers, target};
use super::*;
use crate::file::{Durability, FileClientOptions};

pub(super) const CONTENT_SEED: u64 = 5;

/// The reaction of a server to the requests of a frame, after it has opened the folder of the run.
pub(super) type Serve = fn(&[Header], usize) -> ServerAct;

/// A reaction of a server to a frame.
pub(super) enum ServerAct {
    /// It answers, in pieces of so many bytes.
    Answer(Vec<Answer>, usize),
    /// It answers with these bytes.
    Bytes(Vec<u8>),
    /// It ends the connection.
    End,
}

fn read_frame(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).ok()?;
    let mut frame = vec![0; u32::from_be_bytes(head) as usize];
    stream.read_exact(&mut frame).ok()?;
    Some(frame)
}

pub(super) fn framed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

fn headers(frame: &[u8]) -> Vec<Header> {
    let mut headers = Vec::new();
    let mut start = 0;
    loop {
        let header = Header::unpack(&mut ReadCursor::new(&frame[start..])).unwrap();
        let next = header.next_command as usize;
        headers.push(header);
        if next == 0 {
            return headers;
        }
        start += next;
    }
}

/// The answer to a request of a server that has every file.
pub(super) fn usual(header: &Header) -> Answer {
    let number = header.message_id.0;
    match header.command {
        Command::Create => Answer::of(number, header.command, &opened()),
        Command::Close => Answer::of(number, header.command, &closed()),
        Command::QueryInfo => {
            Answer::of(number, header.command, &QueryInfoResponse { output_buffer: vec![0; 40] })
        }
        command => Answer::failure(number, command, 0xC000_0002),
    }
}

fn opened() -> CreateResponse {
    CreateResponse {
        oplock_level: OplockLevel::None,
        flags: 0,
        create_action: CreateAction::FileOpened,
        creation_time: FileTime(0),
        last_access_time: FileTime(0),
        last_write_time: FileTime(0),
        change_time: FileTime(0),
        allocation_size: 0,
        end_of_file: 0,
        file_attributes: 0x20,
        file_id: FILE,
        create_contexts: Vec::new(),
    }
}

fn closed() -> CloseResponse {
    CloseResponse {
        flags: 0,
        creation_time: FileTime(0),
        last_access_time: FileTime(0),
        last_write_time: FileTime(0),
        change_time: FileTime(0),
        allocation_size: 0,
        end_of_file: 0,
        file_attributes: 0,
    }
}

pub(super) fn answers(headers: &[Header]) -> ServerAct {
    ServerAct::Answer(headers.iter().map(usual).collect(), usize::MAX)
}

fn serve(listener: &TcpListener, n_sessions: usize, act: Serve) {
    let login = LoginAnswers::of(SmbDialect::V2_1);
    for _ in 0..n_sessions {
        let (mut stream, _) = listener.accept().unwrap();
        let mut n_frames = 0;
        while let Some(frame) = read_frame(&mut stream) {
            let headers = headers(&frame);
            let act = match headers[0].message_id.0 {
                number @ 0..=3 => ServerAct::Answer(vec![login.answer(number)], usize::MAX),
                4 => answers(&headers),
                _ => {
                    n_frames += 1;
                    act(&headers, n_frames)
                }
            };
            match act {
                ServerAct::Answer(answers, n_piece) => {
                    for piece in framed(&frame_of(Kind::Plain, &answers)).chunks(n_piece) {
                        stream.write_all(piece).unwrap();
                        if piece.len() == n_piece {
                            thread::yield_now();
                        }
                    }
                }
                ServerAct::Bytes(bytes) => stream.write_all(&bytes).unwrap(),
                ServerAct::End => break,
            }
        }
    }
}

/// Starts a server that opens so many sessions, and returns what its clients share.
pub(super) fn start(n_sessions: usize, act: Serve) -> (Rc<SmbContext>, thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || serve(&listener, n_sessions, act));
    let options = SmbOptions::new(SmbDialect::V2_1, false, false).unwrap();
    let clients = FileClientOptions {
        content: FileContent::new(CONTENT_SEED, 50),
        verify: Verify::Full,
        baseline: Baseline::Populated,
        last_generation: 0,
        durability: Durability::Flush,
        times_first_data: false,
        loadfile: None,
    };
    let clock = RealClock::start();
    let target = super::super::SmbTarget { address, ..target(options) };
    (SmbContext::new(target, &[], clients, clock).unwrap(), server)
}

/// Performs operations with a server that opens so many sessions.
fn perform(n_sessions: usize, act: Serve, operations: &[FileOperation]) -> Vec<(Reply, String)> {
    let (context, server) = start(n_sessions, act);
    let clock = context.clock;
    let mut driver = SmbDriver::new(Rc::clone(&context), 3);
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let replies = runtime.block_on(async {
        let mut replies = Vec::new();
        for operation in operations {
            let reply = driver.perform(operation, clock.now()).await;
            let text =
                if reply.outcome == Outcome::Ok { String::new() } else { driver.describe(operation, &reply) };
            replies.push((reply, text));
        }
        drop(driver);
        replies
    });
    server.join().unwrap();
    replies
}

pub(super) fn path() -> FilePath {
    FilePath::new(Owner::Client(1), Folder::Bulk, Entry::File(0))
}

fn operations(actions: &[FileAction]) -> Vec<FileOperation> {
    actions.iter().map(|action| FileOperation::of(*action)).collect()
}

pub(super) fn summary(replies: &[(Reply, String)]) -> Vec<(Outcome, Option<&'static str>, FileAnswer)> {
    let of = |reply: &Reply| (reply.outcome, code_name(reply.code), FileAnswer::from_u64(reply.answer));
    replies
        .iter()
        .map(|(reply, _)| of(reply))
        .map(|(outcome, code, answer)| (outcome, code.filter(|code| *code != "STATUS_SUCCESS"), answer))
        .collect()
}

pub(super) const RANGE: FileRange = FileRange { offset: 4096, length: 20_000 };

fn content(n_bytes: usize) -> Vec<u8> {
    let mut bytes = vec![0; n_bytes];
    let version = FileVersion { file: path().file_id(), generation: 0 };
    FileContent::new(CONTENT_SEED, 50).fill(version, RANGE.offset, &mut bytes);
    bytes
}

pub(super) fn data(number: u64, data: Vec<u8>) -> Answer {
    Answer::of(number, Command::Read, &ReadResponse { data_offset: 80, data_remaining: 0, flags: 0, data })
}

/// Reads succeed however the reply arrives; a flipped byte in the middle of a block and a short read are found, and the
/// session goes on. Golden check 20.
#[test]
fn reads_are_verified_where_they_arrive() {
    let act: Serve = |headers, n_frames| {
        let number = headers[0].message_id.0;
        let mut right = content(20_000);
        match (headers[0].command, n_frames) {
            (Command::Read, 2) => ServerAct::Answer(vec![data(number, right)], 999),
            (Command::Read, 3) => {
                right[9_000] ^= 1;
                ServerAct::Answer(vec![data(number, right)], usize::MAX)
            }
            (Command::Read, 4) => {
                right.truncate(10_000);
                ServerAct::Answer(vec![data(number, right)], usize::MAX)
            }
            (Command::Read, _) => ServerAct::Answer(vec![data(number, right)], 60_000),
            _ => answers(headers),
        }
    };
    let read = FileAction::Read(Handle(2), RANGE);
    let actions = [FileAction::Open(Handle(2), path()), read, read, read, read, FileAction::Close(Handle(2))];
    let replies = perform(1, act, &operations(&actions));
    let ok = (Outcome::Ok, None, FileAnswer::Done);
    assert_eq!(
        summary(&replies),
        [
            ok,
            ok,
            (Outcome::WrongBytes, None, FileAnswer::WrongBytes),
            (Outcome::Truncated, Some("SMB_SHORT"), FileAnswer::Failed),
            ok,
            ok,
        ]
    );
    assert_eq!(replies[2].0.detail, 4096 + 9_000);
    assert_eq!(
        replies[2].1,
        "client 3: read 2: 20000 at 4096: the byte at 13096 of the file is not the one that was written"
    );
    assert_eq!(replies[3].0.detail, 10_000);
    assert_eq!(replies[1].0.measured.get(file_measure::READ_BYTES), Some(20_000));
    assert!(replies.iter().all(|(reply, _)| reply.measured.get(file_measure::EXCHANGES) == Some(1)));
}

/// Goal: what ends a session loses its files, and the next operation opens a new one.
#[test]
fn a_session_that_ends_is_opened_again_without_its_files() {
    let act: Serve = |headers, n_frames| match (headers[0].command, n_frames) {
        (Command::Flush, 2) => ServerAct::End,
        (Command::Flush, 3) => {
            let status = Answer::failure(headers[0].message_id.0, Command::Flush, 0xC000_035C);
            ServerAct::Answer(vec![status], usize::MAX)
        }
        (Command::Lock, _) => ServerAct::Bytes(vec![0x7f, 0xff, 0xff, 0xff]),
        (Command::SetInfo, _) => ServerAct::Bytes(framed(&[0; 100])),
        _ => answers(headers),
    };
    let open = FileAction::Open(Handle(0), path());
    let flush = FileAction::Flush(Handle(0));
    let query = FileAction::PathQuery(path(), InfoLevel::BASIC);
    let lock = FileAction::Lock(Handle(0), RANGE);
    let set = FileAction::Set(Handle(0), InfoLevel::BASIC);
    let actions = [open, flush, flush, open, query, flush, open, lock, open, set];
    let replies = perform(4, act, &operations(&actions));
    let ok = (Outcome::Ok, None, FileAnswer::Done);
    let lost = |outcome, code| (outcome, code, FileAnswer::SessionLost);
    assert_eq!(
        summary(&replies),
        [
            ok,
            lost(Outcome::SessionLost, None),
            (Outcome::ValueMissing, Some("SMB_NOT_OPEN"), FileAnswer::Failed),
            ok,
            ok,
            lost(Outcome::SessionLost, Some("STATUS_NETWORK_SESSION_EXPIRED")),
            ok,
            lost(Outcome::MalformedHead, Some("SMB_NOT_A_MESSAGE")),
            ok,
            lost(Outcome::MalformedHead, Some("SMB_NOT_A_MESSAGE")),
        ]
    );
}

fn page(number: u64, n_names: usize) -> Answer {
    let entry = |name: usize| DirectoryInfoEntry {
        file_name: format!("f{name:05}.bin"),
        ..DirectoryInfoEntry::default()
    };
    let entries: Vec<_> = (0..n_names).map(entry).collect();
    let class = FileInformationClass::FileBothDirectoryInformation;
    let output_buffer = pack_entries(class, &entries).unwrap();
    Answer::of(number, Command::QueryDirectory, &QueryDirectoryResponse { output_buffer })
}

/// A listing that always has another page ends when it has more names than are wanted, or than any folder has; one with
/// another number of names is found.
#[test]
fn listings_end() {
    let act: Serve = |headers, _| {
        let answer = |header: &Header| match header.command {
            Command::QueryDirectory => page(header.message_id.0, 500),
            _ => usual(header),
        };
        ServerAct::Answer(headers.iter().map(answer).collect(), usize::MAX)
    };
    let pattern = FilePath::new(Owner::Shared, Folder::Listed, Entry::EveryFile);
    let find = |wanted, found| FileAction::Find(pattern, FindSize { wanted, found });
    let actions = [find(10, None), find(100, Some(500)), find(2_000, Some(500)), find(u32::MAX, None)];
    let replies = perform(1, act, &operations(&actions));
    let ok = (Outcome::Ok, None, FileAnswer::Done);
    assert_eq!(
        summary(&replies),
        [
            ok,
            ok,
            (Outcome::WrongLength, Some("SMB_OTHER_LISTING"), FileAnswer::Failed),
            (Outcome::WrongLength, Some("SMB_ENDLESS_LISTING"), FileAnswer::SessionLost),
        ]
    );
    let n_exchanges = |index: usize| replies[index].0.measured.get(file_measure::EXCHANGES);
    assert_eq!([n_exchanges(0), n_exchanges(1)], [Some(1), Some(1)]);
}

/// Goal: misses that are expected are successes, others are not, and a file that must not be there is closed again.
#[test]
fn misses_are_held_against_what_is_expected() {
    let act: Serve = |headers, n_frames| {
        let status = match n_frames {
            1 | 2 => 0xC000_0034,
            3 => 0xC000_0022,
            _ => 0,
        };
        if status == 0 {
            return answers(headers);
        }
        let answer = |header: &Header| Answer::failure(header.message_id.0, header.command, status);
        ServerAct::Answer(headers.iter().map(answer).collect(), usize::MAX)
    };
    let query = FileAction::PathQuery(path(), InfoLevel::BASIC);
    let open = FileAction::Open(Handle(0), path());
    let operations = [
        FileOperation::missing(query),
        FileOperation::of(query),
        FileOperation::missing(query),
        FileOperation::missing(open),
        FileOperation::of(FileAction::Create(Handle(1), path(), ExistingFile::Keep)),
    ];
    let replies = perform(1, act, &operations);
    let ok = (Outcome::Ok, None, FileAnswer::Done);
    assert_eq!(
        summary(&replies),
        [
            ok,
            (Outcome::Gone, Some("STATUS_OBJECT_NAME_NOT_FOUND"), FileAnswer::Failed),
            (Outcome::Denied, Some("STATUS_ACCESS_DENIED"), FileAnswer::Failed),
            (Outcome::WrongStatus, None, FileAnswer::Failed),
            ok,
        ]
    );
    // The file that was open although it must not be there was closed.
    assert_eq!(replies[3].0.measured.get(file_measure::EXCHANGES), Some(2));
}
