//! The protocol of a server: how requests are written and replies read.

use frame::app::{AppOperation, PREPARE};
use http1::RequestError;
use model::{AppProtocol, AppWorkload};

use super::request::AppCall;
use super::{binary, http};
use crate::net::OperationFailure;

/// A codec of requests and replies, which all sessions of a load thread share.
#[derive(Debug)]
pub(super) enum AppCodec {
    /// Frames.
    Binary,
    /// Messages of HTTP/1.1.
    Http(http::RequestTemplates),
}

/// The origin of a request: a client, and the number of the request among its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestId {
    pub(super) client: u32,
    pub(super) number: u64,
}

/// A complete reply. Its payload is its own, because it is checked while others read; most have none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AppReply {
    /// The failure that it states, or a fault in itself.
    pub(super) fault: Option<OperationFailure>,
    /// The result; `None` where the payload is all.
    pub(super) result: Option<u64>,
    pub(super) payload: Vec<u8>,
    /// The time in the queue, in ns; `None` if the server does not state it.
    pub(super) queue: Option<u64>,
    /// The time of service, in the same way.
    pub(super) service: Option<u64>,
    /// Bytes of head and payload.
    pub(super) bytes: u64,
    /// Whether the connection takes another request.
    pub(super) keeps_alive: bool,
}

impl AppCodec {
    /// Creates the codec of a workload's protocol; `host` is what requests over HTTP name.
    ///
    /// # Errors
    /// No request can name this host.
    pub(super) fn new(workload: &AppWorkload, host: &str) -> Result<AppCodec, RequestError> {
        Ok(match workload.protocol {
            AppProtocol::Binary => AppCodec::Binary,
            AppProtocol::Http => AppCodec::Http(http::RequestTemplates::new(workload, host)?),
        })
    }

    /// Returns the requests that come before the first transaction of a session.
    pub(super) fn opening(&self, client: u32, workload: &AppWorkload) -> Vec<AppCall> {
        let phase = AppCall::new(AppOperation::Phase, PREPARE);
        match self {
            AppCodec::Binary => {
                let hello = AppCall::new(AppOperation::Hello, client.into());
                vec![hello.with_data(workload), phase]
            }
            // Every request names its client.
            AppCodec::Http(_) => vec![phase.with_data(workload)],
        }
    }

    /// Returns whether a session outlives its connection.
    pub(super) fn outlives_connections(&self) -> bool {
        matches!(self, AppCodec::Http(_))
    }

    /// Returns whether a failure says that the server knows nothing of the session.
    pub(super) fn is_unknown_session(&self, failure: OperationFailure) -> bool {
        matches!(self, AppCodec::Http(_)) && failure == http::OUT_OF_PHASE
    }

    /// Writes a request to the end of an empty buffer.
    pub(super) fn write(&self, call: &AppCall, id: RequestId, buffer: &mut Vec<u8>) {
        match self {
            AppCodec::Binary => binary::write(call, id.number, buffer),
            AppCodec::Http(templates) => templates.write(call, id.client, buffer),
        }
    }

    /// Reads the reply to a request from all bytes that have arrived; `None` if more must. `has_ended` is whether none
    /// will.
    ///
    /// # Errors
    /// The bytes are no reply, after which the connection is of no use.
    pub(super) fn read(
        &self,
        bytes: &[u8],
        has_ended: bool,
        call: &AppCall,
        id: RequestId,
    ) -> Result<Option<AppReply>, OperationFailure> {
        match self {
            AppCodec::Binary => binary::read(bytes, call.operation, id.number),
            AppCodec::Http(_) => http::read(bytes, has_ended, call.operation),
        }
    }
}
