//! The application server family: sessions over TCP in the protocol of [`frame::app`].
//!
//! Each virtual user is a client of the server: one connection, opened and introduced before the load point begins, and
//! one request in flight on it. A session that is lost is opened again by the next transaction, whose response time
//! includes that.
//!
//! - `request`: transactions as frames
//! - `exchange`: sending a frame and receiving the reply
//! - `verify`: the checks of a reply
//! - `results`: what computations must give
//! - `describe`: failures in words

mod describe;
mod exchange;
mod request;
mod results;
mod verify;

use std::cell::RefCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use engine::Driver;
use frame::app::{AppOperation, PREPARE};
use model::{AppRequest, AppWorkload, MeasuredValues, Outcome, Reply};
use units::{Clock, Nanos, RealClock};

use crate::net::tcp::{self, TcpTransport};
use crate::net::{OperationFailure, SourceAddressError, TargetEndpoint, TargetPolicy};
use exchange::ReplyBuffer;
use request::{AppFrame, FileCursor};

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub struct AppContext {
    endpoint: TargetEndpoint,
    clock: RealClock,
    workload: AppWorkload,
    /// The results of computations, by their seeds; empty if the suite has none.
    results: Arc<[u64]>,
    /// The frame to be sent.
    frame: RefCell<Vec<u8>>,
    received: ReplyBuffer,
}

impl AppContext {
    /// Prepares the transactions of a workload for a server at an address that the policy has allowed. Where the suite
    /// computes, the first call of a process computes the result of every seed, some tens of milliseconds of CPU time.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses.
    pub fn new(
        workload: &AppWorkload,
        address: SocketAddr,
        source_addresses: &[IpAddr],
        clock: RealClock,
    ) -> Result<Rc<AppContext>, SourceAddressError> {
        let computes = workload.suite.transactions().iter().any(|(one, _)| request::is_computation(*one));
        Ok(Rc::new(AppContext {
            endpoint: TargetEndpoint::new(address, TargetPolicy, source_addresses)?,
            clock,
            results: if computes { results::results(workload.rounds) } else { Arc::default() },
            workload: workload.clone(),
            frame: RefCell::default(),
            received: ReplyBuffer::default(),
        }))
    }
}

/// A driver of one client; owns the client's connection.
#[derive(Debug)]
pub struct AppDriver {
    context: Rc<AppContext>,
    /// The number of the client.
    client: u32,
    transport: Option<TcpTransport>,
    /// The number of the last request.
    number: u64,
    cursor: FileCursor,
}

impl AppDriver {
    /// Creates the driver of a client, without a connection.
    pub fn new(context: Rc<AppContext>, client: u32) -> AppDriver {
        AppDriver { context, client, transport: None, number: 0, cursor: FileCursor::default() }
    }

    /// Opens a session: connects, says who the client is, and has its data made ready.
    async fn connect(&mut self) -> Result<TcpTransport, OperationFailure> {
        let (socket, is_established) = self.context.endpoint.begin()?;
        let socket = if is_established { socket } else { tcp::established(socket).await? };
        let transport = TcpTransport::new(socket)?;
        let hello = AppFrame::hello(self.client, &self.context.workload);
        let transport = self.introduce(transport, hello).await?;
        self.introduce(transport, AppFrame::new(AppOperation::Phase, PREPARE)).await
    }

    /// Sends a frame of the session's beginning, which must succeed.
    async fn introduce(
        &mut self,
        transport: TcpTransport,
        frame: AppFrame,
    ) -> Result<TcpTransport, OperationFailure> {
        self.number += 1;
        let (transport, reply, _) = exchange::exchange(&self.context, transport, &frame, self.number).await?;
        verify::header(&reply.header, frame.operation, self.number)?;
        Ok(transport)
    }

    /// Performs a transaction; returns its measures.
    async fn transact(&mut self, request: &AppRequest, sent: Nanos) -> Result<Measured, OperationFailure> {
        let context = Rc::clone(&self.context);
        let transport = match self.transport.take().filter(TcpTransport::is_fresh) {
            Some(transport) => transport,
            None => self.connect().await?,
        };
        self.number += 1;
        let frame = AppFrame::of(request, &context.workload, &mut self.cursor);
        let (transport, reply, sent_bytes) = exchange::exchange(&context, transport, &frame, self.number).await?;
        let done = context.clock.now();
        // The reply was complete: whatever is wrong with it, the session goes on.
        self.transport = Some(transport);
        verify::header(&reply.header, frame.operation, self.number)?;
        verify::content(&context, request, frame.argument, &reply)?;
        let (queue, service) = verify::times(&reply.header, done.saturating_sub(sent))?;
        Ok(Measured { done, queue, service, sent_bytes, received_bytes: reply.bytes() })
    }
}

/// The measures of a transaction that succeeded.
struct Measured {
    done: Nanos,
    queue: u64,
    service: u64,
    sent_bytes: u64,
    received_bytes: u64,
}

impl Measured {
    fn values(&self) -> MeasuredValues {
        use model::app_measure::{QUEUE, RECEIVED_BYTES, SENT_BYTES, SERVICE};
        let mut values = MeasuredValues::default();
        values.set(QUEUE, self.queue);
        values.set(SERVICE, self.service);
        values.set(SENT_BYTES, self.sent_bytes);
        values.set(RECEIVED_BYTES, self.received_bytes);
        values
    }
}

impl Driver for AppDriver {
    type Operation = AppRequest;

    /// Opens the session, so that no transaction waits for it or for the client's file.
    async fn open(&mut self) -> Result<(), String> {
        match self.connect().await {
            Ok(transport) => self.transport = Some(transport),
            Err(failure) => return Err(describe::opening(&failure)),
        }
        Ok(())
    }

    async fn perform(&mut self, request: &AppRequest, sent: Nanos) -> Reply {
        match self.transact(request, sent).await {
            Ok(measured) => OperationFailure::NONE.into_reply(sent, measured.done, measured.values()),
            Err(failure) => {
                let done = self.context.clock.now();
                let code = verify::code(&failure);
                Reply { code, ..failure.into_reply(sent, done, MeasuredValues::default()) }
            }
        }
    }

    fn give_up(&mut self) {
        self.transport = None;
    }

    fn describe(&self, request: &AppRequest, reply: &Reply) -> String {
        let failure = OperationFailure::new(reply.outcome, reply.detail);
        let text = match reply.outcome {
            Outcome::TimedOut => format!("no complete reply after {}", reply.done - reply.sent),
            _ => describe::failure(&failure),
        };
        format!("{}: {text}", request::name(request.transaction))
    }
}
