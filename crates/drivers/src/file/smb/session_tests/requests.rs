//! Requests as another implementation reads them, and replies as it writes them.

use proptest::prelude::*;
use smb2::msg::close::CloseRequest;
use smb2::msg::create::{
    CreateAction, CreateDisposition, CreateRequest, CreateResponse, ImpersonationLevel, ShareAccess,
};
use smb2::msg::directory_info::{DirectoryInfoEntry, pack_entries};
use smb2::msg::flush::FlushRequest;
use smb2::msg::header::Header;
use smb2::msg::lock::{LockElement, LockRequest};
use smb2::msg::query_directory::{
    FileInformationClass, QueryDirectoryFlags, QueryDirectoryRequest, QueryDirectoryResponse,
};
use smb2::msg::query_info::{InfoType, QueryInfoRequest};
use smb2::msg::read::{ReadRequest, ReadResponse};
use smb2::msg::set_info::SetInfoRequest;
use smb2::msg::write::{WriteRequest, WriteResponse};
use smb2::pack::{FileTime, Pack, ReadCursor, Unpack, WriteCursor};
use smb2::types::OplockLevel;
use smb2::types::flags::FileAccessMask;

use super::super::wire::{InfoClass, LockUse, OpenMode, Request, SAME_FILE, SmbReply};
use super::*;

/// Writes a request and has it read by `smb2`.
fn read_by_other<T: Unpack>(request: &Request<'_>, data: &[u8]) -> T {
    let mut frame = FrameBuffer::default();
    request.write(&mut frame);
    frame.put(data);
    let mut cursor = ReadCursor::new(frame.filled());
    let read = T::unpack(&mut cursor).unwrap();
    assert!(cursor.is_empty(), "{} bytes too many", cursor.remaining());
    read
}

fn create(path: &str, access: u32, disposition: CreateDisposition, options: u32) -> CreateRequest {
    CreateRequest {
        requested_oplock_level: OplockLevel::None,
        impersonation_level: ImpersonationLevel::Impersonation,
        desired_access: FileAccessMask::new(access),
        file_attributes: 0,
        share_access: ShareAccess(7),
        create_disposition: disposition,
        create_options: options,
        name: path.to_owned(),
        create_contexts: Vec::new(),
    }
}

#[test]
fn requests_are_read_by_another_implementation() {
    let opened: CreateRequest = read_by_other(&Request::Create(r"a\ä.bin", OpenMode::EXISTING), &[]);
    assert_eq!(opened, create(r"a\ä.bin", 0x12_019F, CreateDisposition::FileOpen, 0));
    let made: CreateRequest = read_by_other(&Request::Create("f", OpenMode::NEW.durable()), &[]);
    assert_eq!(made, create("f", 0x12_019F, CreateDisposition::FileCreate, 0x42));
    let cut: CreateRequest = read_by_other(&Request::Create("f", OpenMode::NEW_OR_EMPTY), &[]);
    assert_eq!(cut, create("f", 0x12_019F, CreateDisposition::FileOverwriteIf, 0x40));
    let marker: CreateRequest = read_by_other(&Request::Create("m", OpenMode::NEW_MARKER), &[]);
    assert_eq!(marker.share_access, ShareAccess(0));

    let closed: CloseRequest = read_by_other(&Request::Close(FILE), &[]);
    assert_eq!(closed, CloseRequest { flags: 0, file_id: FILE });
    let flushed: FlushRequest = read_by_other(&Request::Flush(SAME_FILE), &[]);
    assert_eq!(flushed, FlushRequest { file_id: FileId::SENTINEL });
    let read: ReadRequest = read_by_other(&Request::Read(FILE, 1 << 40, 61_440), &[]);
    assert_eq!((read.file_id, read.offset, read.length, read.padding), (FILE, 1 << 40, 61_440, 80));
    let written: WriteRequest = read_by_other(&Request::Write(FILE, 4096, 3), &[1, 2, 3]);
    assert_eq!((written.file_id, written.offset, written.data_offset), (FILE, 4096, 112));
    assert_eq!((written.data, written.flags), (vec![1, 2, 3], 0));

    for (lock, flags) in [(LockUse::Lock, 0x12), (LockUse::Unlock, 4)] {
        let found: LockRequest = read_by_other(&Request::Lock(FILE, 1 << 31, 5, lock), &[]);
        let locks = vec![LockElement { offset: 1 << 31, length: 5, flags }];
        assert_eq!(found, LockRequest { lock_sequence: 0, file_id: FILE, locks });
    }
    let volume: QueryInfoRequest = read_by_other(&Request::Query(FILE, InfoClass::Volume(3)), &[]);
    assert_eq!((volume.info_type, volume.file_info_class), (InfoType::Filesystem, 3));
    assert_eq!((volume.file_id, volume.input_buffer), (FILE, Vec::new()));

    let times: SetInfoRequest = read_by_other(&Request::SetTimes(FILE, 77), &[]);
    let mut basic = vec![0; 40];
    basic[16] = 77;
    assert_eq!((times.file_info_class, times.file_id, times.buffer), (4, FILE, basic));
    let deleted: SetInfoRequest = read_by_other(&Request::DeleteOnClose(FILE), &[]);
    assert_eq!((deleted.file_info_class, deleted.buffer), (13, vec![1]));
    let renamed: SetInfoRequest = read_by_other(&Request::Rename(FILE, r"b\c"), &[]);
    let mut rename = vec![0; 16];
    rename.extend([6, 0, 0, 0, b'b', 0, b'\\', 0, b'c', 0]);
    assert_eq!((renamed.info_type, renamed.file_info_class, renamed.buffer), (InfoType::File, 10, rename));

    for (is_first, flags) in [(true, 1), (false, 0)] {
        let search: QueryDirectoryRequest = read_by_other(&Request::Search(FILE, "*.bin", is_first), &[]);
        assert_eq!(search.file_information_class, FileInformationClass::FileBothDirectoryInformation);
        assert_eq!((search.flags, search.file_id), (QueryDirectoryFlags(flags), FILE));
        assert_eq!((search.file_name.as_str(), search.output_buffer_length), ("*.bin", 65_536));
    }
}

/// Goal: a chain is one frame, in which each message after the first begins at a multiple of 8, is related to the one
/// before, has a number of its own, and costs its credits; a read of a mebibyte costs 16.
#[test]
fn chains_and_large_requests_have_the_numbers_and_credits_that_they_cost() {
    for kind in [Kind::Plain, Kind::Signed, Kind::Encrypted] {
        let mut session = session(kind);
        let mut frame = FrameBuffer::default();
        let chain = [
            Request::Create("abc", OpenMode::DELETION),
            Request::DeleteOnClose(SAME_FILE),
            Request::Close(SAME_FILE),
        ];
        session.compose(&chain, &mut frame).unwrap();
        let headers = |frame: &mut FrameBuffer| -> Vec<Header> {
            let messages = sent_messages(kind, frame);
            messages.iter().map(|message| Header::unpack(&mut ReadCursor::new(message)).unwrap()).collect()
        };
        let found = headers(&mut frame);
        let numbers: Vec<u64> = found.iter().map(|header| header.message_id.0).collect();
        assert_eq!(numbers, [4, 5, 6], "{kind:?}");
        assert_eq!(
            found.iter().map(|header| header.flags.is_related()).collect::<Vec<_>>(),
            [false, true, true]
        );
        assert!(found.iter().all(|header| header.flags.is_signed() == (kind == Kind::Signed)));
        assert!(found.iter().all(|header| header.credit_charge.0 == 1 && header.session_id.0 == SESSION_ID));

        session.compose(&[Request::Read(FILE, 0, 1 << 20)], &mut frame).unwrap();
        let read = headers(&mut frame).remove(0);
        assert_eq!((read.message_id.0, read.credit_charge.0), (7, 16));
        session.compose(&[Request::Read(FILE, 0, 1)], &mut frame).unwrap();
        let next = headers(&mut frame).remove(0);
        assert_eq!(next.message_id.0, 23);
        // 50 - 3 - 16 - 1 are left, and as many are asked for as make 136.
        assert_eq!(u32::from(next.credits), super::super::session::CREDITS_WANTED - 30);
    }
}

/// Goal: what is written stands in the frame where the content was made, and is signed with it.
#[test]
fn the_bytes_of_a_write_are_part_of_what_is_signed() {
    let mut session = session(Kind::Signed);
    let mut frame = FrameBuffer::default();
    session.begin(&mut frame);
    session.add(&Request::Write(FILE, 0, 5), &mut frame).unwrap();
    frame.claim(5).copy_from_slice(b"hello");
    session.seal(&mut frame).unwrap();
    let message = sent_messages(Kind::Signed, &mut frame).remove(0);
    assert!(message.ends_with(b"hello"));
    let mut signed = message.clone();
    SigningKey::gmac(&KEY).sign(&mut signed, 4, Signer::Client);
    assert_eq!(signed, message);
}

fn reply_to(body: &dyn Pack) -> Vec<u8> {
    Answer::of(4, Command::Read, body).message(0)
}

fn reply(message: &[u8]) -> SmbReply<'_> {
    SmbReply { status: super::super::status::NtStatus::SUCCESS, message }
}

fn created(action: CreateAction, attributes: u32) -> CreateResponse {
    CreateResponse {
        oplock_level: OplockLevel::None,
        flags: 0,
        create_action: action,
        creation_time: FileTime(1),
        last_access_time: FileTime(2),
        last_write_time: FileTime(3),
        change_time: FileTime(4),
        allocation_size: 8192,
        end_of_file: 5000,
        file_attributes: attributes,
        file_id: FILE,
        create_contexts: Vec::new(),
    }
}

#[test]
fn replies_of_another_implementation_are_read() {
    for (action, is_new) in [(CreateAction::FileOpened, false), (CreateAction::FileOverwritten, true)] {
        let message = reply_to(&created(action, 0x20));
        let opened = reply(&message).opened().unwrap();
        assert_eq!((opened.id, opened.is_new), (FILE, is_new));
        assert_eq!((opened.length, opened.is_folder), (5000, false));
    }
    let message = reply_to(&created(CreateAction::FileCreated, 0x10));
    assert!(reply(&message).opened().unwrap().is_folder);

    let data = ReadResponse { data_offset: 80, data_remaining: 0, flags: 0, data: vec![7; 100] };
    let message = reply_to(&data);
    assert_eq!(reply(&message).data(100).unwrap(), [7; 100]);
    assert!(reply(&message).data(99).is_err(), "more than was asked for");
    let written =
        WriteResponse { count: 9, remaining: 0, write_channel_info_offset: 0, write_channel_info_length: 0 };
    assert_eq!(reply(&reply_to(&written)).n_written(9), Ok(9));
    assert!(reply(&reply_to(&written)).n_written(8).is_err());

    let named = |name: &str, file_attributes| DirectoryInfoEntry {
        file_name: name.to_owned(),
        file_attributes,
        ..DirectoryInfoEntry::default()
    };
    let names = [named(".", 0x10), named("..", 0x10), named("ä.bin", 0x20), named("folder", 0x10)];
    let class = FileInformationClass::FileBothDirectoryInformation;
    let page = QueryDirectoryResponse { output_buffer: pack_entries(class, &names).unwrap() };
    let message = reply_to(&page);
    let entries: Vec<_> = reply(&message).entries().unwrap().map(Result::unwrap).collect();
    let found: Vec<_> = entries.iter().map(|entry| (entry.text(), entry.is_folder, entry.is_dot())).collect();
    let expected = [(".", true, true), ("..", true, true), ("ä.bin", false, false), ("folder", true, false)];
    assert_eq!(found, expected.map(|(name, is_folder, is_dot)| (name.to_owned(), is_folder, is_dot)));
}

proptest! {
    /// Bytes of a server never cause a panic, and every listing ends.
    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..400), size in prop::sample::select(vec![9_u16, 17, 89]),
    ) {
        let mut message = Answer::failure(4, Command::Read, 0).message(0);
        message.truncate(64);
        message.extend(size.to_le_bytes());
        message.extend(&bytes);
        let reply = reply(&message);
        let _ = (reply.opened(), reply.data(u32::MAX), reply.n_written(5), reply.output());
        if let Ok(entries) = reply.entries() {
            prop_assert!(entries.count() < 10);
        }
        let mut cursor = WriteCursor::new();
        cursor.write_bytes(&bytes);
        let mut frame = bytes.clone();
        for kind in [Kind::Plain, Kind::Signed, Kind::Encrypted] {
            let mut session = session(kind);
            session.compose(&[Request::Flush(FILE)], &mut FrameBuffer::default()).unwrap();
            let taken = session.take(&mut frame, &mut |_, _| Ok(()));
            prop_assert!(taken.is_err());
        }
    }
}
