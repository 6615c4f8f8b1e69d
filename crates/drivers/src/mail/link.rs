//! A connection to a service of a mail server: commands and messages are sent, and replies taken as they come.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::ops::{AddAssign, Sub};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use mail::Message;
use mailwire::check_upgrade;
use model::Outcome;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::MailSetupError;
use super::codes::Violation;
use super::failure::MailFailure;
use super::target::{Acknowledgment, MailEncryption, MailEndpoint, MailTarget};
use crate::net::{
    CertificateProblem, ClientTls, MeteredStream, OperationFailure, TargetEndpoint, TargetPolicy,
};

/// The size of each of the buffers that all connections of a load thread use in turn.
const BUFFER_BYTES: usize = 64 * 1024;

/// A service of a mail server, as connections to it are made.
#[derive(Debug)]
pub(super) struct MailService {
    endpoint: TargetEndpoint,
    encryption: MailEncryption,
    /// Of a service with encryption.
    tls: Option<ClientTls>,
}

impl MailService {
    /// Prepares connections with a service of a server.
    ///
    /// # Errors
    /// They cannot be made from a source address, or not be encrypted.
    pub(super) fn new(
        target: &MailTarget,
        place: MailEndpoint,
        source_addresses: &[IpAddr],
    ) -> Result<MailService, MailSetupError> {
        let MailEndpoint { address, encryption } = place;
        let endpoint = TargetEndpoint::new(address, TargetPolicy, source_addresses)?;
        let tls = match encryption {
            MailEncryption::None => None,
            // Servers of mail have names in ALPN that none insists on.
            MailEncryption::StartTls | MailEncryption::Implicit => {
                Some(ClientTls::new(&target.host, &target.trust, None, &[])?)
            }
        };
        Ok(MailService { endpoint, encryption, tls })
    }

    /// Returns whether the client has to ask for encryption.
    pub(super) fn starts_tls(&self) -> bool {
        self.encryption == MailEncryption::StartTls
    }

    /// Returns the problem of the last certificate that was refused.
    pub(super) fn certificate_problem(&self) -> Option<CertificateProblem> {
        self.tls.as_ref()?.problem()
    }

    /// Connects, over TLS where that is there from the first byte.
    pub(super) async fn connect(
        &self,
        acknowledgment: Acknowledgment,
        buffers: &Rc<MailBuffers>,
    ) -> Result<MailLink, MailFailure> {
        let stream = MeteredStream::connect(&self.endpoint).await?;
        let link = MailLink { stream, buffers: Rc::clone(buffers), unread: Vec::new(), acknowledgment };
        if self.encryption == MailEncryption::Implicit { self.encrypted(link).await } else { Ok(link) }
    }

    /// Goes on over TLS, to which the server has agreed.
    ///
    /// # Errors
    /// The server has sent more than its agreement without encryption, or the handshake fails.
    pub(super) async fn encrypted(&self, link: MailLink) -> Result<MailLink, MailFailure> {
        check_upgrade(link.unread.len())?;
        let Some(tls) = &self.tls else { return Err(MailFailure::violation(Violation::NoTls, 0)) };
        let MailLink { stream, buffers, unread, acknowledgment } = link;
        let stream = stream.encrypted(tls).await?;
        Ok(MailLink { stream, buffers, unread, acknowledgment })
    }
}

/// The buffers that all connections of a load thread use in turn, as the thread reads or writes for one of them at a time.
#[derive(Debug)]
pub(super) struct MailBuffers {
    received: RefCell<Vec<u8>>,
    sent: RefCell<Vec<u8>>,
}

impl Default for MailBuffers {
    fn default() -> MailBuffers {
        let buffer = || RefCell::new(vec![0; BUFFER_BYTES]);
        MailBuffers { received: buffer(), sent: buffer() }
    }
}

/// Commands and bytes of connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct MailTraffic {
    /// The commands that were sent.
    pub(super) n_exchanges: u64,
    pub(super) sent_bytes: u64,
    pub(super) received_bytes: u64,
}

impl AddAssign for MailTraffic {
    fn add_assign(&mut self, other: MailTraffic) {
        self.n_exchanges += other.n_exchanges;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
    }
}

impl Sub for MailTraffic {
    type Output = MailTraffic;

    fn sub(self, before: MailTraffic) -> MailTraffic {
        MailTraffic {
            n_exchanges: self.n_exchanges - before.n_exchanges,
            sent_bytes: self.sent_bytes - before.sent_bytes,
            received_bytes: self.received_bytes - before.received_bytes,
        }
    }
}

/// The part of what has arrived that was taken, and the reply, if that was the end of it. Without a reply all was taken.
pub(super) struct ReplyProgress<T> {
    pub(super) n_taken: usize,
    pub(super) reply: Option<T>,
}

/// A function that takes what has arrived.
pub(super) type TakeBytes<'a, T> = &'a mut dyn FnMut(&[u8]) -> Result<ReplyProgress<T>, MailFailure>;

/// A connection.
#[derive(Debug)]
pub(super) struct MailLink {
    stream: MeteredStream,
    buffers: Rc<MailBuffers>,
    /// Bytes that came behind the last reply: no more than a buffer.
    unread: Vec<u8>,
    acknowledgment: Acknowledgment,
}

impl MailLink {
    /// Sets the command with which the connection ends when it is dropped.
    pub(super) fn set_farewell(&mut self, farewell: &'static [u8]) {
        self.stream.farewell = farewell;
    }

    /// Takes that command away, and returns it: within another command it would be a part of that.
    pub(super) fn take_farewell(&mut self) -> &'static [u8] {
        std::mem::take(&mut self.stream.farewell)
    }

    /// Returns the bytes so far, with the number of commands that their sender has counted.
    pub(super) fn traffic(&self, n_exchanges: u64) -> MailTraffic {
        let (sent_bytes, received_bytes) = self.stream.bytes.get();
        MailTraffic { n_exchanges, sent_bytes, received_bytes }
    }

    /// Returns whether something has come behind the last reply.
    pub(super) fn has_unread(&self) -> bool {
        !self.unread.is_empty()
    }

    /// Sends a command, or a part of one.
    pub(super) async fn send(&mut self, command: &[u8]) -> Result<(), MailFailure> {
        Ok(self.stream.send(command).await?)
    }

    /// Sends a message, with what comes before and behind it, made a buffer at a time. No line of it begins with a dot, so
    /// that it is the same over SMTP (RFC 5321 section 4.5.2).
    pub(super) async fn send_message(
        &mut self,
        before: &[u8],
        message: &Message,
        behind: &[u8],
    ) -> Result<(), MailFailure> {
        let content = SentContent { before, message, behind };
        let bytes = content.bytes();
        let mut offset = 0;
        while offset < bytes {
            offset += poll_fn(|context| self.poll_send(&content, offset, context)).await?;
        }
        Ok(self.stream.flush().await.map_err(OperationFailure::of_io)?)
    }

    fn poll_send(
        &mut self,
        content: &SentContent<'_>,
        offset: u64,
        context: &mut Context<'_>,
    ) -> Poll<Result<u64, OperationFailure>> {
        let mut buffer = self.buffers.sent.borrow_mut();
        let n_filled = content.fill(offset, &mut buffer);
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, &buffer[..n_filled]));
        Poll::Ready(match written {
            Ok(0) => Err(OperationFailure::of_io(io::ErrorKind::WriteZero.into())),
            Ok(n_written) => Ok(n_written as u64),
            Err(error) => Err(OperationFailure::of_io(error)),
        })
    }

    /// Receives until `take` has a reply.
    ///
    /// # Errors
    /// The connection is lost, or `take` fails. It cannot be used any more.
    pub(super) async fn receive<T>(&mut self, take: TakeBytes<'_, T>) -> Result<T, MailFailure> {
        let mut n_arrived = 0;
        if !self.unread.is_empty() {
            let mut unread = std::mem::take(&mut self.unread);
            let ReplyProgress { n_taken, reply } = take(&unread)?;
            if let Some(reply) = reply {
                unread.drain(..n_taken);
                self.unread = unread;
                return Ok(reply);
            }
            n_arrived = unread.len() as u64;
        }
        poll_fn(|context| self.poll_receive(&mut n_arrived, take, context)).await
    }

    fn poll_receive<T>(
        &mut self,
        n_arrived: &mut u64,
        take: TakeBytes<'_, T>,
        context: &mut Context<'_>,
    ) -> Poll<Result<T, MailFailure>> {
        let mut buffer = self.buffers.received.borrow_mut();
        loop {
            let mut room = ReadBuf::new(&mut buffer);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut room));
            read.map_err(|error| of_read(error, *n_arrived))?;
            let bytes = room.filled();
            if bytes.is_empty() {
                return Poll::Ready(Err(MailFailure::ended(*n_arrived)));
            }
            *n_arrived += bytes.len() as u64;
            let ReplyProgress { n_taken, reply } = take(bytes)?;
            if let Some(reply) = reply {
                self.unread.extend_from_slice(&bytes[n_taken..]);
                return Poll::Ready(Ok(reply));
            }
            if self.acknowledgment == Acknowledgment::AtOnce {
                self.stream.acknowledge();
            }
        }
    }
}

/// Returns the failure of a read after so many bytes of a reply.
fn of_read(error: io::Error, n_arrived: u64) -> MailFailure {
    match error.kind() {
        // TLS ended without `close_notify`, which for a reply that is not complete is no other end.
        io::ErrorKind::UnexpectedEof => MailFailure::ended(n_arrived),
        io::ErrorKind::InvalidData => OperationFailure::new(Outcome::TlsFailed, 0).into(),
        _ => OperationFailure::of_io(error).into(),
    }
}

/// A message with what comes before and behind it.
struct SentContent<'a> {
    before: &'a [u8],
    message: &'a Message,
    behind: &'a [u8],
}

impl SentContent<'_> {
    fn bytes(&self) -> u64 {
        self.before.len() as u64 + self.message.bytes() + self.behind.len() as u64
    }

    /// Writes the bytes from an offset on, as many as there are and fit; returns how many.
    fn fill(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let message_start = self.before.len() as u64;
        let message_end = message_start + self.message.bytes();
        let mut n_filled = 0;
        if offset < message_start {
            n_filled += copy(&self.before[offset as usize..], buffer);
        }
        let at = offset + n_filled as u64;
        if message_start <= at && at < message_end {
            n_filled += self.message.fill(at - message_start, &mut buffer[n_filled..]);
        }
        let at = offset + n_filled as u64;
        if message_end <= at {
            n_filled += copy(&self.behind[(at - message_end) as usize..], &mut buffer[n_filled..]);
        }
        n_filled
    }
}

/// Copies as many bytes as fit; returns how many.
fn copy(bytes: &[u8], buffer: &mut [u8]) -> usize {
    let n = bytes.len().min(buffer.len());
    buffer[..n].copy_from_slice(&bytes[..n]);
    n
}

#[cfg(test)]
mod tests {
    use mail::{MailDate, MailDirectory, MailMessages, MessageIdentity, MessageKind, MessageNumber};

    use super::*;

    #[test]
    fn a_message_and_what_is_around_it_are_the_same_in_pieces_of_any_size() {
        let directory = MailDirectory::numbered("mail", 9, "bench.test").unwrap();
        let mut messages = MailMessages::new(7, directory, MailDate::from_unix_seconds(0));
        messages.sizes = mail::MailSizes::all(50);
        let number = MessageNumber { user: 1, number: 2 };
        let message = &messages.message(MessageIdentity::new(1, MessageKind::Memo, number));
        let content = SentContent { before: b"before\r\n", message, behind: b".\r\n" };
        let mut text = vec![0; message.bytes() as usize];
        message.fill(0, &mut text);
        let expected = [b"before\r\n", &text[..], b".\r\n"].concat();
        assert_eq!(content.bytes(), expected.len() as u64);
        for size in [1, 2, 3, 7, 8, 9, 100, expected.len(), 2 * expected.len()] {
            let mut buffer = vec![0; size];
            let mut whole = Vec::new();
            while (whole.len() as u64) < content.bytes() {
                let n_filled = content.fill(whole.len() as u64, &mut buffer);
                assert!(0 < n_filled && n_filled <= size);
                whole.extend_from_slice(&buffer[..n_filled]);
            }
            assert!(whole == expected, "in pieces of {size}");
        }
    }
}
