//! The echo family: messages over a kept TCP connection, each with its length before it, that come back as they are, or
//! are refused with a code. Where a message asks for it, a notice of it comes later on the same connection, which a user
//! that thinks listens to.
//!
//! - `wire`: messages and notices as bytes
//! - `connection`: what comes on a connection

mod connection;
mod wire;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::future::pending;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use engine::{Driver, SessionError};
use futures::FutureExt;
use model::echo::{EchoMessage, EchoWorkload, echo_measure};
use model::{Content, MeasuredValues, Outcome, Reply, UserNotice};
use rustix::io::Errno;
use units::{Clock, Nanos, RealClock};

use crate::net::{OperationFailure, SourceAddressError, TargetEndpoint, TargetPolicy, TcpTransport};
use connection::{EchoConnection, EchoReply, NoticeQueue};

/// Seed of the content of messages.
const CONTENT_SEED: u64 = 862;

/// Size of the read buffer that all connections of a thread use in turn.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// The state that all connections of a load thread to one echo server share.
#[derive(Debug)]
pub struct EchoContext {
    endpoint: TargetEndpoint,
    clock: RealClock,
    n_kinds: usize,
    content: Content,
    /// The message to be sent.
    message: RefCell<Vec<u8>>,
    buffer: RefCell<Vec<u8>>,
}

impl EchoContext {
    /// Prepares the messages of a workload for a server at an address that the policy has allowed.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses.
    pub fn new(
        workload: &EchoWorkload,
        address: SocketAddr,
        source_addresses: &[IpAddr],
        clock: RealClock,
    ) -> Result<Rc<EchoContext>, SourceAddressError> {
        Ok(Rc::new(EchoContext {
            endpoint: TargetEndpoint::new(address, TargetPolicy, source_addresses)?,
            clock,
            n_kinds: workload.messages.len(),
            content: Content::new(CONTENT_SEED),
            message: RefCell::default(),
            buffer: RefCell::new(vec![0; READ_BUFFER_BYTES]),
        }))
    }

    /// Writes a message into the buffer of the thread; returns the number that determines its content.
    fn write(&self, operation: &EchoMessage) -> u32 {
        let object = Content::object(self.n_kinds, operation.kind, operation.number);
        let mut message = self.message.borrow_mut();
        message.clear();
        wire::write_head(operation, &mut message);
        let start = message.len();
        message.resize(start + operation.bytes as usize, 0);
        self.content.fill(object, 0, &mut message[start..]);
        object
    }
}

/// A driver of one virtual user; owns the user's connection between messages.
#[derive(Debug)]
pub struct EchoDriver {
    context: Rc<EchoContext>,
    connection: Option<EchoConnection>,
    notices: NoticeQueue,
}

impl EchoDriver {
    /// Creates a driver without a connection.
    pub fn new(context: Rc<EchoContext>) -> EchoDriver {
        EchoDriver { context, connection: None, notices: NoticeQueue::new() }
    }

    async fn connect(&self) -> Result<EchoConnection, Errno> {
        Ok(EchoConnection::new(TcpTransport::new(self.context.endpoint.connect().await?)?))
    }

    /// Returns the connection of the message before, if it can still be used, and takes what has come on it since.
    fn kept_connection(&mut self) -> Option<EchoConnection> {
        let mut connection = self.connection.take()?;
        while !connection.transport.is_fresh() {
            let read = connection.transport.read(&self.context.buffer, &[]).now_or_never();
            let Some(read) = read else { break };
            if !connection.take_at_rest(read, &self.context, &mut self.notices) {
                return None;
            }
        }
        Some(connection)
    }

    /// Sends a message and checks what comes back.
    async fn exchange(
        &mut self,
        operation: &EchoMessage,
        sent: Nanos,
    ) -> Result<EchoReply, OperationFailure> {
        let context = Rc::clone(&self.context);
        let mut connection = match self.kept_connection() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        // All users of the thread write into one buffer: nothing is waited for between here and the sending.
        let object = context.write(operation);
        let rest = connection.transport.send_now(&context.message.borrow())?;
        if let Some(rest) = rest {
            connection.transport = connection.transport.send_rest(rest).await?;
        }
        let reply = EchoReply::of(operation, object, sent);
        let reply = connection.receive(reply, &context, &mut self.notices).await?;
        self.connection = Some(connection);
        Ok(reply)
    }
}

impl Driver for EchoDriver {
    type Operation = EchoMessage;

    const RESTS: bool = true;

    /// Connects, so that no message waits for it.
    async fn open(&mut self) -> Result<(), SessionError> {
        let connected = self.connect().await;
        self.connection = Some(connected.map_err(io::Error::from)?);
        Ok(())
    }

    async fn perform(&mut self, operation: &EchoMessage, sent: Nanos) -> Reply {
        let result = self.exchange(operation, sent).await;
        let done = self.context.clock.now();
        let mut measured = MeasuredValues::default();
        let failure = match result {
            Ok(reply) => {
                measured.set(echo_measure::SENT_BYTES, operation.sent_bytes());
                measured.set(echo_measure::RECEIVED_BYTES, reply.bytes as u64);
                measured.set(echo_measure::FIRST_BYTE, reply.first_byte.saturating_sub(sent).0);
                OperationFailure::NONE
            }
            Err(failure) => failure,
        };
        failure.into_reply(sent, done, measured)
    }

    /// Listens to the connection. One that ends, or on which anything but notices comes, is closed; what was awaited on
    /// it will not come.
    async fn rest(&mut self) -> UserNotice {
        loop {
            if let Some(notice) = self.notices.pop_front() {
                return notice;
            }
            let Some(connection) = &mut self.connection else { return pending().await };
            let read = connection.transport.read(&self.context.buffer, &[]).await;
            if !connection.take_at_rest(read, &self.context, &mut self.notices) {
                self.connection = None;
            }
        }
    }

    fn give_up(&mut self) {
        self.connection = None;
    }

    fn describe(&self, _: &EchoMessage, reply: &Reply) -> String {
        let detail = reply.detail;
        match reply.outcome {
            Outcome::WrongLength => format!("{detail} bytes came back, more than were sent"),
            Outcome::WrongBytes => format!("other bytes came back, at or after byte {detail}"),
            Outcome::Truncated => format!("connection ended after {detail} bytes"),
            Outcome::Denied | Outcome::Conflict | Outcome::Gone | Outcome::Full => {
                format!("the server refused the message with code {detail}")
            }
            Outcome::TimedOut => format!("no complete message after {}", reply.done - reply.sent),
            _ => Errno::from_raw_os_error(detail as i32).to_string(),
        }
    }
}
