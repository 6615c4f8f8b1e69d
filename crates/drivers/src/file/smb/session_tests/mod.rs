//! Sessions against servers that do what they like, and requests against another implementation: all on bytes.
//!
//! - `requests`: each request and reply, held against the crate `smb2`
//! - `hostile`: replies that are wrong, and what becomes of them
//! - `opening`: the opening of a session, and servers that contradict its options
//! - `driver`: a driver with a server that does what a test says
//! - `window`: several requests in flight, with such a server

mod driver;
mod hostile;
mod opening;
mod requests;
mod window;

use smb2::msg::header::Header;
use smb2::pack::{Pack, WriteCursor};
use smb2::types::flags::HeaderFlags;
use smb2::types::status::NtStatus;
use smb2::types::{Command, CreditCharge, FileId, MessageId, SessionId, TreeId};

use super::frame::{FRAME_HEAD_BYTES, FrameBuffer};
use super::protection::{Ciphers, Protection, Signer, SigningKey, TRANSFORM_BYTES};
use super::session::{ServerLimits, SessionStart, SmbSession};

const SESSION_ID: u64 = 0x1122_3344_5566;
const TREE_ID: u32 = 7;
const KEY: [u8; 16] = *b"the key to sign.";
const SENT_KEY: [u8; 16] = *b"client to server";
const RECEIVED_KEY: [u8; 16] = *b"server to client";

const FILE: FileId = FileId { persistent: 5, volatile: 9 };

/// The protection of the messages of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Signed,
    Encrypted,
}

/// Makes a session that has so many credits.
fn session_with(kind: Kind, credits: u32) -> SmbSession {
    let protection = match kind {
        Kind::Plain => Protection::None,
        Kind::Signed => Protection::Signed(SigningKey::gmac(&KEY)),
        Kind::Encrypted => {
            Protection::Encrypted(Box::new(Ciphers::new(&SENT_KEY, &RECEIVED_KEY, SESSION_ID)))
        }
    };
    let limits = ServerLimits { has_large_requests: true, read_max: 1 << 20, write_max: 1 << 20 };
    SmbSession::new(SessionStart {
        session_id: SESSION_ID,
        tree_id: TREE_ID,
        next_number: 4,
        credits,
        limits,
        protection,
    })
}

fn session(kind: Kind) -> SmbSession {
    session_with(kind, 50)
}

/// A reply as a server makes it, which tests change.
#[derive(Debug, Clone)]
struct Answer {
    number: u64,
    command: Command,
    status: u32,
    credits: u16,
    flags: u32,
    session_id: u64,
    body: Vec<u8>,
}

impl Answer {
    /// A success with a body.
    fn of(number: u64, command: Command, body: &dyn Pack) -> Answer {
        let mut cursor = WriteCursor::new();
        body.pack(&mut cursor);
        let flags = HeaderFlags::SERVER_TO_REDIR;
        Answer {
            number,
            command,
            status: 0,
            credits: 1,
            flags,
            session_id: SESSION_ID,
            body: cursor.into_inner(),
        }
    }

    /// A failure.
    fn failure(number: u64, command: Command, status: u32) -> Answer {
        let body = smb2::msg::header::ErrorResponse { error_context_count: 0, error_data: Vec::new() };
        Answer { status, ..Answer::of(number, command, &body) }
    }

    fn with_flags(self, flags: u32) -> Answer {
        Answer { flags: self.flags | flags, ..self }
    }

    /// Returns the message, with the offset of the next one.
    fn message(&self, next: u32) -> Vec<u8> {
        let is_async = self.flags & HeaderFlags::ASYNC_COMMAND != 0;
        let header = Header {
            credit_charge: CreditCharge(1),
            status: NtStatus(self.status),
            command: self.command,
            credits: self.credits,
            flags: HeaderFlags::new(self.flags),
            next_command: next,
            message_id: MessageId(self.number),
            tree_id: (!is_async).then_some(TreeId(TREE_ID)),
            async_id: is_async.then_some(1),
            session_id: SessionId(self.session_id),
            signature: [0; 16],
        };
        let mut cursor = WriteCursor::new();
        header.pack(&mut cursor);
        cursor.write_bytes(&self.body);
        cursor.into_inner()
    }
}

/// Puts replies into a frame, without the length before it, as the server of a session does.
fn frame_of(kind: Kind, answers: &[Answer]) -> Vec<u8> {
    let mut messages = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        let is_last = index + 1 == answers.len();
        let flags = if kind == Kind::Signed { HeaderFlags::SIGNED } else { 0 };
        let answer = answer.clone().with_flags(flags);
        let length = answer.message(0).len().next_multiple_of(8);
        let mut message = answer.message(if is_last { 0 } else { length as u32 });
        if !is_last {
            message.resize(length, 0);
        }
        if kind == Kind::Signed {
            SigningKey::gmac(&KEY).sign(&mut message, answer.number, Signer::Server);
        }
        messages.extend(message);
    }
    if kind == Kind::Encrypted { encrypted(&messages) } else { messages }
}

fn encrypted(messages: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; TRANSFORM_BYTES];
    frame.extend(messages);
    Ciphers::new(&RECEIVED_KEY, &SENT_KEY, SESSION_ID).encrypt(&mut frame);
    frame
}

/// Returns the messages of a frame that a client sends.
fn sent_messages(kind: Kind, frame: &mut FrameBuffer) -> Vec<Vec<u8>> {
    let bytes = &mut frame.filled_mut()[FRAME_HEAD_BYTES..];
    let mut rest = match kind {
        Kind::Encrypted => {
            Ciphers::new(&RECEIVED_KEY, &SENT_KEY, SESSION_ID).decrypt(bytes).unwrap().to_vec()
        }
        Kind::Plain | Kind::Signed => bytes.to_vec(),
    };
    let mut messages = Vec::new();
    loop {
        let next = u32::from_le_bytes(rest[20..24].try_into().unwrap()) as usize;
        if next == 0 {
            messages.push(rest);
            return messages;
        }
        let behind = rest.split_off(next);
        messages.push(rest);
        rest = behind;
    }
}
