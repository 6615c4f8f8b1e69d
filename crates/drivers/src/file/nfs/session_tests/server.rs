//! A server of version 4.1 on a socket that has every file, and does to one kind of operation what a test says.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};

use super::super::xdr::XdrReader;
use crate::file::frame_buffer::FrameBuffer;

/// The numbers of operations, as RFC 8881 has them.
pub(super) const CLOSE: u32 = 4;
pub(super) const COMMIT: u32 = 5;
pub(super) const CREATE: u32 = 6;
pub(super) const GETATTR: u32 = 9;
pub(super) const GETFH: u32 = 10;
pub(super) const LOCK: u32 = 12;
pub(super) const LOOKUP: u32 = 15;
pub(super) const OPEN: u32 = 18;
pub(super) const PUTFH: u32 = 22;
pub(super) const PUTROOTFH: u32 = 24;
pub(super) const READ: u32 = 25;
pub(super) const READDIR: u32 = 26;
pub(super) const REMOVE: u32 = 28;
pub(super) const SETATTR: u32 = 34;
pub(super) const WRITE: u32 = 38;
pub(super) const EXCHANGE_ID: u32 = 42;
pub(super) const CREATE_SESSION: u32 = 43;
pub(super) const DESTROY_SESSION: u32 = 44;
pub(super) const SEQUENCE: u32 = 53;
pub(super) const DESTROY_CLIENTID: u32 = 57;
pub(super) const RECLAIM_COMPLETE: u32 = 58;

pub(super) const SESSION_ID: [u8; 16] = *b"a session's name";
pub(super) const LEASE_SECONDS: u32 = 90;
pub(super) const DATA_BYTE: u8 = 7;
pub(super) const VERIFIER: [u8; 8] = *b"started1";

/// The most slots that a session is granted.
pub(super) const SLOTS_MAX: u64 = 3;

/// A call of a client: what a reply depends on.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) number: u32,
    /// The number of the call in its slot.
    pub(super) sequence: u32,
    /// The slot, and the highest one that the client may use.
    pub(super) slot: u32,
    pub(super) highest_slot: u32,
    /// The operation that the call is about: the one after the current file was set, or the only one.
    pub(super) op: u32,
    /// The bytes asked for or sent, for a read or a write; the cookie of a page; the slots that a session is to have.
    pub(super) argument: u64,
    /// The place in the file of a read.
    pub(super) offset: u64,
}

/// An act of a server in place of its usual answer.
pub(super) enum Act {
    /// It sends this record, in fragments of so many bytes.
    Record(Vec<u8>, usize),
    /// It sends these bytes as they are.
    Bytes(Vec<u8>),
    /// It sends nothing more, and ends the connection.
    End,
}

/// The reaction of a server to a call of the operation, the n-th one from 1 on; `None` for the usual one.
pub(super) type Serve = fn(&Call, usize) -> Option<Act>;

impl Call {
    fn read(record: &[u8]) -> Call {
        let mut reader = XdrReader::new(record);
        let number = reader.number().unwrap();
        reader.bytes(5 * 4).unwrap();
        assert_eq!(reader.number().unwrap(), 1, "AUTH_SYS");
        reader.opaque(400).unwrap();
        assert_eq!(reader.long().unwrap(), 0, "no verifier");
        assert_eq!(reader.opaque(0).unwrap(), b"", "no tag");
        assert_eq!(reader.number().unwrap(), 1, "minor version 1");
        let n_ops = reader.number().unwrap();
        let op = reader.number().unwrap();
        let mut call = Call { number, sequence: 0, slot: 0, highest_slot: 0, op, argument: 0, offset: 0 };
        if call.op == CREATE_SESSION {
            // The client, the number of the call, flags, and limits before the number of slots.
            reader.bytes(8 + 2 * 4 + 5 * 4).unwrap();
            call.argument = reader.number().unwrap().into();
        }
        if call.op != SEQUENCE {
            return call;
        }
        assert_eq!(reader.fixed::<16>().unwrap(), SESSION_ID);
        call.sequence = reader.number().unwrap();
        call.slot = reader.number().unwrap();
        call.highest_slot = reader.number().unwrap();
        assert!(call.slot <= call.highest_slot && u64::from(call.highest_slot) < SLOTS_MAX);
        assert_eq!(reader.number().unwrap(), 0, "the reply is not to be kept");
        if n_ops == 1 {
            return call;
        }
        call.op = reader.number().unwrap();
        if call.op == PUTFH {
            assert!(!reader.handle().unwrap().bytes().is_empty());
            call.op = reader.number().unwrap();
        }
        match call.op {
            READ => {
                reader.bytes(16).unwrap();
                call.offset = reader.long().unwrap();
                call.argument = reader.number().unwrap().into();
            }
            WRITE => {
                reader.bytes(16 + 8 + 4).unwrap();
                call.argument = reader.number().unwrap().into();
            }
            READDIR => call.argument = reader.long().unwrap(),
            _ => {}
        }
        call
    }

    /// Begins a reply.
    pub(super) fn reply(&self) -> ReplyWriter {
        let mut frame = FrameBuffer::default();
        frame.numbers(&[self.number, 1, 0, 0, 0, 0, 0, 0, 0]);
        let mut reply = ReplyWriter { frame, n_results: 0 };
        if self.sequence != 0 {
            let frame = reply.result(SEQUENCE, 0);
            frame.put(&SESSION_ID);
            frame.numbers(&[self.sequence, self.slot, self.highest_slot, self.highest_slot, 0]);
        }
        reply
    }

    /// Begins a reply whose results are about a file.
    pub(super) fn reply_about_file(&self) -> ReplyWriter {
        let mut reply = self.reply();
        reply.result(PUTFH, 0);
        reply
    }

    /// The reply of a server that refuses the operation.
    pub(super) fn refusal(&self, status: u32) -> Option<Act> {
        let mut reply = self.reply_about_file();
        reply.result(self.op, status);
        Some(reply.act())
    }

    /// The reply to a read.
    pub(super) fn data(&self, bytes: &[u8], is_end: bool) -> ReplyWriter {
        let mut reply = self.reply_about_file();
        let frame = reply.result(READ, 0);
        frame.number(is_end.into());
        frame.opaque(bytes);
        reply
    }

    /// The reply to a write.
    pub(super) fn written(&self, n_bytes: u32, stability: u32, verifier: [u8; 8]) -> Option<Act> {
        let mut reply = self.reply_about_file();
        let frame = reply.result(WRITE, 0);
        frame.numbers(&[n_bytes, stability]);
        frame.put(&verifier);
        Some(reply.act())
    }

    /// The reply to a question about a folder: names with these cookies.
    pub(super) fn page(&self, cookies: impl Iterator<Item = u64>, is_last: bool) -> Option<Act> {
        let mut reply = self.reply_about_file();
        let frame = reply.result(READDIR, 0);
        frame.put(&VERIFIER);
        for cookie in cookies {
            frame.number(1);
            frame.long(cookie);
            frame.opaque(format!("f{cookie:05}.bin").as_bytes());
            frame.numbers(&[0, 0]);
        }
        frame.numbers(&[0, is_last.into()]);
        Some(reply.act())
    }

    /// The reply of a server that has every file.
    fn usual(&self) -> Vec<u8> {
        let mut reply = self.reply();
        match self.op {
            EXCHANGE_ID => {
                let frame = reply.result(EXCHANGE_ID, 0);
                frame.long(11);
                frame.numbers(&[1, 0, 0]);
                frame.long(0);
                frame.opaque(b"owner");
                frame.opaque(b"scope");
                frame.number(0);
            }
            CREATE_SESSION => {
                let frame = reply.result(CREATE_SESSION, 0);
                frame.put(&SESSION_ID);
                frame.numbers(&[1, 0]);
                for _ in 0..2 {
                    let n_slots = self.argument.min(SLOTS_MAX) as u32;
                    frame.numbers(&[0, 1 << 17, 1 << 17, 4096, 16, n_slots, 0]);
                }
            }
            RECLAIM_COMPLETE => drop(reply.result(RECLAIM_COMPLETE, 0)),
            PUTROOTFH => {
                reply.result(PUTROOTFH, 0);
                reply.result(GETFH, 0).opaque(b"root");
                let frame = reply.result(GETATTR, 0);
                frame.numbers(&[1, 1 << 10, 4, LEASE_SECONDS]);
            }
            SEQUENCE => {}
            op => {
                reply.result(PUTFH, 0);
                self.usual_of_file(op, &mut reply);
            }
        }
        reply.bytes()
    }

    fn usual_of_file(&self, op: u32, reply: &mut ReplyWriter) {
        match op {
            READ => {
                let frame = reply.result(READ, 0);
                frame.number(0);
                frame.opaque(&vec![DATA_BYTE; self.argument as usize]);
            }
            WRITE => {
                let frame = reply.result(WRITE, 0);
                frame.numbers(&[self.argument as u32, 0]);
                frame.put(&VERIFIER);
            }
            COMMIT => reply.result(COMMIT, 0).put(&VERIFIER),
            LOCK | CLOSE => reply.result(op, 0).put(&[3; 16]),
            OPEN => {
                let frame = reply.result(OPEN, 0);
                frame.put(&[9; 16]);
                frame.put_zeros(4 + 8 + 8 + 4);
                // No attributes set, no delegation.
                frame.numbers(&[0, 0]);
                reply.put_found();
            }
            LOOKUP => {
                reply.result(LOOKUP, 0);
                reply.put_found();
            }
            GETATTR => reply.put_attributes(),
            SETATTR => reply.result(SETATTR, 0).number(0),
            REMOVE | CREATE => {
                let frame = reply.result(op, 0);
                frame.put_zeros(4 + 8 + 8 + 4);
            }
            op => drop(reply.result(op, 10004)),
        }
    }
}

/// A reply that is being written.
pub(super) struct ReplyWriter {
    pub(super) frame: FrameBuffer,
    n_results: u32,
}

impl ReplyWriter {
    /// Adds the result of an operation, whose values follow.
    pub(super) fn result(&mut self, op: u32, status: u32) -> &mut FrameBuffer {
        self.n_results += 1;
        let count = self.n_results.to_be_bytes();
        let bytes = self.frame.filled_mut();
        bytes[24..28].copy_from_slice(&status.to_be_bytes());
        bytes[32..36].copy_from_slice(&count);
        self.frame.numbers(&[op, status]);
        &mut self.frame
    }

    fn put_found(&mut self) {
        self.result(GETFH, 0).opaque(b"a file");
        self.put_attributes();
    }

    /// A file of 1 MiB.
    fn put_attributes(&mut self) {
        let frame = self.result(GETATTR, 0);
        frame.numbers(&[1, 1 << 1 | 1 << 4, 12, 1]);
        frame.long(1 << 20);
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        self.frame.filled().to_vec()
    }

    pub(super) fn act(self) -> Act {
        Act::Record(self.bytes(), usize::MAX)
    }
}

/// Puts a record into fragments of at most so many bytes.
pub(super) fn fragments(record: &[u8], n_bytes: usize) -> Vec<u8> {
    let mut stream = Vec::new();
    let n_fragments = record.len().div_ceil(n_bytes).max(1);
    for (index, piece) in record.chunks(n_bytes.min(record.len().max(1))).enumerate() {
        let last = if index + 1 == n_fragments { 1 << 31 } else { 0 };
        stream.extend((piece.len() as u32 | last).to_be_bytes());
        stream.extend(piece);
    }
    stream
}

fn read_record(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).ok()?;
    let head = u32::from_be_bytes(head);
    assert!(head & 1 << 31 != 0, "calls have one fragment");
    let mut record = vec![0; (head & !(1 << 31)) as usize];
    stream.read_exact(&mut record).ok()?;
    Some(record)
}

/// Serves so many sessions. `serve` decides about calls of this operation.
pub(super) fn start(n_sessions: usize, op: u32, serve: Serve) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        for _ in 0..n_sessions {
            let (mut stream, _) = listener.accept().unwrap();
            serve_session(&mut stream, op, serve);
        }
    });
    (address, server)
}

fn serve_session(stream: &mut TcpStream, op: u32, serve: Serve) {
    let mut n_calls = 0;
    while let Some(record) = read_record(stream) {
        let call = Call::read(&record);
        if [DESTROY_SESSION, DESTROY_CLIENTID].contains(&call.op) {
            continue;
        }
        n_calls += usize::from(call.op == op);
        let act = if call.op == op { serve(&call, n_calls) } else { None };
        let sent = match act.unwrap_or_else(|| Act::Record(call.usual(), usize::MAX)) {
            Act::Record(record, n_bytes) => stream.write_all(&fragments(&record, n_bytes)),
            Act::Bytes(bytes) => stream.write_all(&bytes),
            Act::End => return,
        };
        if sent.is_err() {
            return;
        }
    }
}
