//! The echo family: messages over a kept TCP connection, each with its length before it, that come back as they are, or are
//! refused with a code.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use engine::Driver;
use model::echo::{EchoMessage, EchoWorkload, echo_measure};
use model::{Content, MeasuredValues, Outcome, Reply};
use rustix::io::Errno;
use units::{Clock, Nanos, RealClock};

use crate::net::{OperationFailure, SourceAddressError, TargetEndpoint, TargetPolicy, TcpTransport};

/// Seed of the content of messages.
const CONTENT_SEED: u64 = 862;

/// Length of the length of a message: a number in network byte order.
const LENGTH_BYTES: usize = 4;

/// The bit of a length that says that it is none, but the code of a refusal, which has no content.
const REFUSAL: u32 = 1 << 31;

/// The outcomes of refusals by their codes, from 1.
const REFUSALS: [Outcome; 4] = [Outcome::Denied, Outcome::Conflict, Outcome::Gone, Outcome::Full];

/// Size of the read buffer that all connections of a thread use in turn.
const READ_BUFFER_BYTES: usize = 64 * 1024;

/// The state that all connections of a load thread to one echo server share.
#[derive(Debug)]
pub struct EchoContext {
    endpoint: TargetEndpoint,
    clock: RealClock,
    /// Lengths of the contents, by kind.
    bytes: Box<[usize]>,
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
            bytes: workload.messages.iter().map(|message| message.bytes as usize).collect(),
            content: Content::new(CONTENT_SEED),
            message: RefCell::default(),
            buffer: RefCell::new(vec![0; READ_BUFFER_BYTES]),
        }))
    }

    /// Writes a message into the buffer of the thread; returns the number that determines its content.
    fn write(&self, operation: &EchoMessage) -> u32 {
        let bytes = self.bytes[usize::from(operation.kind)];
        let object = Content::object(self.bytes.len(), operation.kind, operation.number);
        let mut message = self.message.borrow_mut();
        message.resize(LENGTH_BYTES + bytes, 0);
        message[..LENGTH_BYTES].copy_from_slice(&(bytes as u32).to_be_bytes());
        self.content.fill(object, 0, &mut message[LENGTH_BYTES..]);
        object
    }
}

/// A message that has come back.
struct Received {
    /// The number of its bytes.
    bytes: u64,
    /// The moment at which the first of them had arrived.
    first_byte: Nanos,
}

/// A driver of one virtual user; owns the user's connection between messages.
#[derive(Debug)]
pub struct EchoDriver {
    context: Rc<EchoContext>,
    transport: Option<TcpTransport>,
}

impl EchoDriver {
    /// Creates a driver without a connection.
    pub fn new(context: Rc<EchoContext>) -> EchoDriver {
        EchoDriver { context, transport: None }
    }

    async fn connect(&self) -> Result<TcpTransport, Errno> {
        TcpTransport::new(self.context.endpoint.connect().await?)
    }

    /// Sends a message and checks what comes back.
    async fn exchange(&mut self, operation: &EchoMessage) -> Result<Received, OperationFailure> {
        let context = Rc::clone(&self.context);
        let transport = match self.transport.take().filter(TcpTransport::is_fresh) {
            Some(transport) => transport,
            None => self.connect().await?,
        };
        // All users of the thread write into one buffer: nothing is waited for between here and the sending.
        let object = context.write(operation);
        let rest = transport.send_now(&context.message.borrow())?;
        let transport = match rest {
            Some(rest) => transport.send_rest(rest).await?,
            None => transport,
        };
        let received = context.receive(&transport, operation, object).await?;
        self.transport = Some(transport);
        Ok(received)
    }
}

impl EchoContext {
    /// Reads a message that must be the one that was sent.
    async fn receive(
        &self,
        transport: &TcpTransport,
        operation: &EchoMessage,
        object: u32,
    ) -> Result<Received, OperationFailure> {
        let bytes = self.bytes[usize::from(operation.kind)];
        let length = (bytes as u32).to_be_bytes();
        let expected = LENGTH_BYTES + bytes;
        let (mut done, mut first_byte) = (0, None);
        while done < expected {
            let read = transport.read(&self.buffer, &[]).await?;
            first_byte.get_or_insert_with(|| self.clock.now());
            let buffer = self.buffer.borrow();
            let part = &buffer[..read.bytes];
            if let Some(refusal) = refusal(part).filter(|_| done == 0) {
                return Err(refusal);
            }
            if expected - done < part.len() {
                return Err(OperationFailure::new(Outcome::WrongLength, (done + part.len()) as u64));
            }
            let (head, content) = part.split_at(LENGTH_BYTES.saturating_sub(done).min(part.len()));
            let is_head = head == &length[done.min(LENGTH_BYTES)..][..head.len()];
            let offset = (done + head.len()).saturating_sub(LENGTH_BYTES) as u64;
            let is_content = content.is_empty() || self.content.matches(object, offset, content);
            if !(is_head && is_content) {
                return Err(OperationFailure::new(Outcome::WrongBytes, done as u64));
            }
            done += part.len();
            if read.is_end && done < expected {
                return Err(OperationFailure::new(Outcome::Truncated, done as u64));
            }
        }
        Ok(Received { bytes: done as u64, first_byte: first_byte.unwrap_or_default() })
    }
}

/// Returns the refusal that came in place of a message, with its code.
fn refusal(received: &[u8]) -> Option<OperationFailure> {
    let number = u32::from_be_bytes(received.try_into().ok()?);
    let code = number.checked_sub(REFUSAL)?;
    let outcome = REFUSALS.get((code as usize).checked_sub(1)?)?;
    Some(OperationFailure::new(*outcome, code.into()))
}

impl Driver for EchoDriver {
    type Operation = EchoMessage;

    /// Connects, so that no message waits for it.
    async fn open(&mut self) -> Result<(), String> {
        let connected = self.connect().await;
        self.transport = Some(connected.map_err(|error| error.to_string())?);
        Ok(())
    }

    async fn perform(&mut self, operation: &EchoMessage, sent: Nanos) -> Reply {
        let result = self.exchange(operation).await;
        let done = self.context.clock.now();
        let mut measured = MeasuredValues::default();
        let failure = match result {
            Ok(received) => {
                // The bytes received equal the bytes sent.
                measured.set(echo_measure::SENT_BYTES, received.bytes);
                measured.set(echo_measure::RECEIVED_BYTES, received.bytes);
                measured.set(echo_measure::FIRST_BYTE, received.first_byte.saturating_sub(sent).0);
                OperationFailure::NONE
            }
            Err(failure) => failure,
        };
        failure.into_reply(sent, done, measured)
    }

    fn give_up(&mut self) {
        self.transport = None;
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
