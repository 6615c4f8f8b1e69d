//! Requests to the kernel over netlink sockets.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

/// The maximum time for an answer of the kernel.
const ANSWER_MAX: Duration = Duration::from_millis(200);

/// The maximum size of a datagram from the kernel.
///
/// Source: Linux, net/netlink/af_netlink.c, `netlink_dump`.
const DATAGRAM_BYTES_MAX: usize = 32 * 1024;

/// The maximum number of datagrams of one answer: some hundred thousand entries, as of as many connections.
const DATAGRAMS_MAX: usize = 1024;

const HEADER_BYTES: usize = 16;

/// Message types and flags. Source: Linux, include/uapi/linux/netlink.h.
const ERROR: u16 = 2;
const DONE: u16 = 3;
const REQUEST: u16 = 1;
const DUMP: u16 = 0x300;

/// A netlink socket.
#[derive(Debug)]
pub(crate) struct Socket {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Socket {
    /// Opens a socket for a protocol; `None` is number 0, `NETLINK_ROUTE`.
    pub(crate) fn open(protocol: Option<Protocol>) -> io::Result<Socket> {
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_MAX))?;
        Ok(Socket { socket, sequence: 0, buffer: vec![0; DATAGRAM_BYTES_MAX] })
    }

    /// Requests all objects of a kind and passes the payload of each message to `each`. An error from the
    /// kernel, as for an unsupported address family, is an empty answer.
    pub(crate) fn dump(&mut self, kind: u16, request: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let message = message(kind, self.sequence, request);
        sendto(&self.socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        for _ in 0..DATAGRAMS_MAX {
            let (length, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            let ours = messages(&self.buffer[..length]).filter(|one| one.sequence == self.sequence);
            for message in ours {
                match message.kind {
                    DONE | ERROR => return Ok(()),
                    _ => each(message.payload),
                }
            }
        }
        Err(io::Error::other("the answer is endless"))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Builds a request for all objects of a kind.
fn message(kind: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER_BYTES + payload.len());
    message.extend(((HEADER_BYTES + payload.len()) as u32).to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((REQUEST | DUMP).to_ne_bytes());
    message.extend(sequence.to_ne_bytes());
    message.extend(0u32.to_ne_bytes());
    message.extend(payload);
    message
}

/// A message in a datagram.
#[derive(Debug, PartialEq, Eq)]
struct Message<'a> {
    kind: u16,
    sequence: u32,
    payload: &'a [u8],
}

/// Returns the messages of a datagram, up to the first incomplete one.
fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let length = u32_at(rest, 0)? as usize;
        let payload = rest.get(HEADER_BYTES..length)?;
        let message = Message { kind: u16_at(rest, 4)?, sequence: u32_at(rest, 8)?, payload };
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// Returns type and value of the attributes in a payload, up to the first incomplete one.
pub(crate) fn attributes(payload: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    /// The upper bits are flags for the interpretation of the value.
    const KIND: u16 = 0x3fff;
    let mut rest = payload;
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let kind = u16_at(rest, 2)? & KIND;
        let value = rest.get(4..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// Returns the value of the first attribute of a kind in a payload.
pub(crate) fn attribute(payload: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(payload).find_map(|(known, value)| (known == kind).then_some(value))
}

/// Returns a number in the byte order of this machine; `None` beyond the end.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Returns a number in the byte order of this machine; `None` beyond the end.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Returns a 32-bit number as one of 64 bits; `None` beyond the end.
pub(crate) fn u64_of_u32(bytes: &[u8], at: usize) -> Option<u64> {
    u32_at(bytes, at).map(u64::from)
}

#[cfg(test)]
pub(crate) mod testing {
    /// Builds an attribute as the kernel writes it.
    pub(crate) fn attribute_bytes(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn messages_round_trip() {
        let mut datagram = message(20, 7, b"odd");
        datagram.push(0);
        datagram.extend(message(DONE, 7, b""));
        datagram.extend(b"rest");
        let found: Vec<_> = messages(&datagram).collect();
        let expected = [
            Message { kind: 20, sequence: 7, payload: b"odd" },
            Message { kind: DONE, sequence: 7, payload: b"" },
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn attributes_are_padded_to_four_bytes() {
        let number = |number: u16| number.to_ne_bytes().to_vec();
        let bytes = [number(7), number(0x8001), b"abc\0".to_vec(), number(4), number(2)].concat();
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(1, &b"abc"[..]), (2, &b""[..])]);
    }

    proptest! {
        #[test]
        fn any_datagram_is_parsed_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0u32..300) {
            let mut framed = bytes.clone();
            framed.splice(0..framed.len().min(4), length.to_ne_bytes());
            for datagram in [bytes, framed] {
                messages(&datagram).for_each(|message| attributes(message.payload).for_each(drop));
                attributes(&datagram).for_each(drop);
            }
        }
    }
}
