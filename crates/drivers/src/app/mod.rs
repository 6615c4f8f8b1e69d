//! The application server family: sessions over TCP in the protocol of [`frame::app`], or the same operations over HTTP.
//!
//! Each virtual user is a client of the server: one connection, opened and introduced before the load point begins, and
//! one request in flight on it. A session that is lost is opened again by the next transaction, whose response time
//! includes that.
//!
//! - `request`: requests, whatever the protocol
//! - `codec`: how they are written and replies read: `binary` as frames, `http` as messages of HTTP/1.1 with the times
//!   of `server_timing`
//! - `exchange`: sending a request and receiving the reply
//! - `verify`: the checks of a reply
//! - `results`: what computations must give
//! - `describe`: failures in words
//! - [`untrusted`]: the parser of what servers send over HTTP, for tests

mod binary;
mod codec;
mod describe;
mod exchange;
mod http;
mod request;
mod results;
mod server_timing;
pub mod untrusted;
mod verify;

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use engine::{Driver, SessionError};
use http1::RequestError;
use model::{AppRequest, AppWorkload, MeasuredValues, Outcome, Reply};
use thiserror::Error;
use units::{Clock, Nanos, RealClock};

use crate::net::{
    ExchangeBuffers, OperationFailure, SourceAddressError, TargetEndpoint, TargetPolicy, TcpTransport,
};
use codec::{AppCodec, AppReply, RequestId};
use request::{AppCall, FileCursor};

/// A reason why transactions with a server cannot be set up.
#[derive(Debug, Error)]
pub enum AppSetupError {
    /// Connections cannot be made from a source address.
    #[error(transparent)]
    Source(#[from] SourceAddressError),
    /// No request over HTTP can name the host.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub struct AppContext {
    endpoint: TargetEndpoint,
    clock: RealClock,
    workload: AppWorkload,
    codec: AppCodec,
    /// The results of computations, by their seeds; empty if the suite has none.
    results: Arc<[u64]>,
    buffers: ExchangeBuffers,
}

impl AppContext {
    /// Prepares the transactions of a workload for a server at an address that the policy has allowed; `host` is its name
    /// in requests over HTTP, with its port. Where the suite computes, the first call of a process computes the result of
    /// every seed, some tens of milliseconds of CPU time.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses, or no request can name the host.
    pub fn new(
        workload: &AppWorkload,
        host: &str,
        address: SocketAddr,
        source_addresses: &[IpAddr],
        clock: RealClock,
    ) -> Result<Rc<AppContext>, AppSetupError> {
        let computes = workload.suite.transactions().iter().any(|(one, _)| request::is_computation(*one));
        Ok(Rc::new(AppContext {
            endpoint: TargetEndpoint::new(address, TargetPolicy, source_addresses)?,
            clock,
            results: if computes { results::results(workload.rounds) } else { Arc::default() },
            codec: AppCodec::new(workload, host)?,
            workload: workload.clone(),
            buffers: ExchangeBuffers::default(),
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
    /// Whether the server knows the client, whose next connection needs no introduction.
    is_known: bool,
    /// The number of the last request.
    number: u64,
    cursor: FileCursor,
}

impl AppDriver {
    /// Creates the driver of a client, without a connection.
    pub fn new(context: Rc<AppContext>, client: u32) -> AppDriver {
        let cursor = FileCursor::default();
        AppDriver { context, client, transport: None, is_known: false, number: 0, cursor }
    }

    /// Opens a session: connects, says who the client is, and has its data made ready.
    async fn open_session(&mut self) -> Result<TcpTransport, OperationFailure> {
        let mut transport = self.connect().await?;
        if self.is_known {
            return Ok(transport);
        }
        let context = Rc::clone(&self.context);
        for call in context.codec.opening(self.client, &context.workload) {
            let id = self.next_request();
            let (used, reply, _) = exchange::exchange(&context, transport, &call, id).await?;
            if let Some(fault) = reply.fault {
                return Err(fault);
            }
            transport = if reply.keeps_alive { used } else { self.connect().await? };
        }
        self.is_known = context.codec.outlives_connections();
        Ok(transport)
    }

    async fn connect(&self) -> Result<TcpTransport, OperationFailure> {
        Ok(TcpTransport::new(self.context.endpoint.connect().await?)?)
    }

    fn next_request(&mut self) -> RequestId {
        self.number += 1;
        RequestId { client: self.client, number: self.number }
    }

    /// Performs a transaction; returns its measures.
    async fn transact(&mut self, request: &AppRequest, sent: Nanos) -> Result<Measured, OperationFailure> {
        let context = Rc::clone(&self.context);
        let transport = match self.transport.take().filter(TcpTransport::is_fresh) {
            Some(transport) => transport,
            // Boxed because it is rare, and the task of every user has room for the largest of its states.
            None => Box::pin(self.open_session()).await?,
        };
        let id = self.next_request();
        let call = AppCall::of(request, &context.workload, &mut self.cursor);
        let (transport, reply, sent_bytes) = exchange::exchange(&context, transport, &call, id).await?;
        let done = context.clock.now();
        // The reply was complete: whatever is wrong with it, the session goes on.
        self.transport = reply.keeps_alive.then_some(transport);
        if let Some(fault) = reply.fault {
            if context.codec.is_unknown_session(fault) {
                (self.transport, self.is_known) = (None, false);
            }
            return Err(fault);
        }
        verify::content(&context, request, call.argument, &reply)?;
        verify::times(&reply, done.saturating_sub(sent))?;
        Ok(Measured { done, sent_bytes, reply })
    }
}

/// The measures of a transaction that succeeded.
struct Measured {
    done: Nanos,
    sent_bytes: u64,
    reply: AppReply,
}

impl Measured {
    fn values(&self) -> MeasuredValues {
        use model::app_measure::{QUEUE, RECEIVED_BYTES, SENT_BYTES, SERVICE};
        let mut values = MeasuredValues::default();
        for (measure, time) in [(QUEUE, self.reply.queue), (SERVICE, self.reply.service)] {
            if let Some(time) = time {
                values.set(measure, time);
            }
        }
        values.set(SENT_BYTES, self.sent_bytes);
        values.set(RECEIVED_BYTES, self.reply.bytes);
        values
    }
}

impl Driver for AppDriver {
    type Operation = AppRequest;

    /// Opens the session, so that no transaction waits for it or for the client's file.
    async fn open(&mut self) -> Result<(), SessionError> {
        match self.open_session().await {
            Ok(transport) => self.transport = Some(transport),
            Err(failure) => return Err(describe::opening(&failure, self.context.workload.protocol)),
        }
        Ok(())
    }

    async fn perform(&mut self, request: &AppRequest, sent: Nanos) -> Reply {
        match self.transact(request, sent).await {
            Ok(measured) => OperationFailure::NONE.into_reply(sent, measured.done, measured.values()),
            Err(failure) => {
                let done = self.context.clock.now();
                let code = verify::code(request.transaction, &failure);
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
            _ => describe::failure(&failure, self.context.workload.protocol),
        };
        format!("{}: {text}", request::name(request.transaction))
    }
}
