//! A client that writes the frames of a protocol itself.

use std::fmt::Debug;
use std::io::{Read, Write};
use std::marker::PhantomData;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use frame::{Crc32c, FrameFormat, REPLY_BYTES, ReplyHeader, RequestHeader};

/// An operation of a protocol.
pub(crate) trait FrameOperation: Copy + Debug {
    const FORMAT: FrameFormat;

    /// A status of the protocol.
    type Status;

    fn number(self) -> u8;

    fn status(number: u16) -> Option<Self::Status>;
}

/// A client with the operations `O`.
pub(crate) struct FrameClient<O> {
    pub(crate) stream: TcpStream,
    number: u64,
    operations: PhantomData<O>,
}

impl<O: FrameOperation> FrameClient<O> {
    pub(crate) fn connect(address: SocketAddr) -> FrameClient<O> {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        FrameClient { stream, number: 0, operations: PhantomData }
    }

    pub(crate) fn frame(&mut self, operation: u8, argument: u64, payload: &[u8]) -> Vec<u8> {
        self.number += 1;
        let header = RequestHeader { operation, number: self.number, argument, ..RequestHeader::default() };
        [&header.with_payload(payload).to_bytes(O::FORMAT), payload].concat()
    }

    pub(crate) fn send(&mut self, operation: O, argument: u64, payload: &[u8]) {
        let frame = self.frame(operation.number(), argument, payload);
        self.stream.write_all(&frame).unwrap();
    }

    pub(crate) fn receive(&mut self) -> (ReplyHeader, Vec<u8>) {
        let mut bytes = [0; REPLY_BYTES];
        self.stream.read_exact(&mut bytes).unwrap();
        let header = ReplyHeader::read(&bytes, O::FORMAT).unwrap().unwrap();
        let mut payload = vec![0; header.payload_bytes as usize];
        self.stream.read_exact(&mut payload).unwrap();
        (header, payload)
    }

    /// Performs an operation; its reply is complete and the answer to it.
    pub(crate) fn perform(&mut self, operation: O, argument: u64, payload: &[u8]) -> (ReplyHeader, Vec<u8>) {
        self.send(operation, argument, payload);
        let (header, payload) = self.receive();
        assert_eq!((header.operation, header.number), (operation.number(), self.number));
        assert_eq!(header.checksum, Crc32c::of(&payload));
        assert!(header.stamps.times().is_some(), "{:?}", header.stamps);
        assert!(header.status == 0 || (header.result, payload.len()) == (0, 0), "{header:?}");
        (header, payload)
    }

    pub(crate) fn status(&mut self, operation: O, argument: u64, payload: &[u8]) -> O::Status {
        O::status(self.perform(operation, argument, payload).0.status).unwrap()
    }

    /// Reads until the server closes the connection; returns the bytes before.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset is an end, too.
        let _ = self.stream.read_to_end(&mut rest);
        rest
    }
}
