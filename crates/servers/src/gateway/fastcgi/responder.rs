//! The responder's side of one connection as a state machine, without a socket.
//!
//! | state | record | next | note |
//! |---|---|---|---|
//! | idle | begin, as a responder | parameters | |
//! | idle | begin, in another role | idle | ended with `UNKNOWN_ROLE` |
//! | parameters | its parameters | parameters | collected, up to a limit |
//! | parameters | their end | input | |
//! | input | its input | input | ignored: pages depend on the query only |
//! | input | its end | idle | **the request is complete** |
//! | parameters, input | abort | idle | ended as complete |
//! | parameters, input | begin of another request | unchanged | ended with `CANT_MPX_CONN` |
//! | parameters, input | begin of the same request | broken | |
//! | any | get values | unchanged | answered with the limits on connections and requests, and that nothing is multiplexed |
//! | any | other type, without a request | unchanged | `UNKNOWN_TYPE` |
//! | any | anything of an unknown request | unchanged | ignored, as section 3.3 requires |
//!
//! If a completed request does not ask to keep the connection, the connection is closed.

use super::record::{
    ABORT_REQUEST, BEGIN_REQUEST, END_REQUEST, GET_VALUES, GET_VALUES_RESULT, PARAMS, Record, RecordError,
    STDIN, UNKNOWN_TYPE, push_pair, push_record, read_pairs,
};
use crate::gateway::cgi::Variables;

/// The maximum size of a request's parameters.
pub(super) const PARAMETER_BYTES_MAX: usize = 64 * 1024;

/// The role of a program that answers requests (section 6.2).
const RESPONDER: u16 = 1;

/// The flag that asks not to close the connection (section 5.1).
const KEEP_CONNECTION: u8 = 1;

/// Protocol statuses (section 5.5).
pub(super) const REQUEST_COMPLETE: u8 = 0;
const CANT_MPX_CONN: u8 = 1;
const UNKNOWN_ROLE: u8 = 3;

/// The consequence of a record for the connection.
#[derive(Debug)]
pub(super) enum ResponderAction {
    /// Nothing beyond the bytes appended to the output.
    Continue,
    /// Answer this request.
    Answer(Request),
    /// Close the connection once the output has been sent.
    Close,
}

/// A complete request.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: u16,
    pub(super) keep_connection: bool,
    pub(super) variables: Variables,
}

/// The state of one connection.
#[derive(Debug)]
pub(super) struct Responder {
    /// Number of workers of the whole gateway, for get-values records.
    workers: usize,
    pending: Option<PendingRequest>,
}

/// A request whose records have not all arrived.
#[derive(Debug)]
struct PendingRequest {
    id: u16,
    keep_connection: bool,
    parameters: Vec<u8>,
    parameters_complete: bool,
}

impl Responder {
    pub(super) fn new(workers: usize) -> Responder {
        Responder { workers, pending: None }
    }

    /// Returns whether no request is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_none()
    }

    /// Processes a record; output goes to `out`.
    pub(super) fn take(
        &mut self,
        record: Record<'_>,
        out: &mut Vec<u8>,
    ) -> Result<ResponderAction, RecordError> {
        if record.request == 0 {
            return self.manage(record, out);
        }
        if record.kind == BEGIN_REQUEST {
            return self.begin(record, out);
        }
        let Some(pending) = self.pending.as_mut().filter(|pending| pending.id == record.request) else {
            return Ok(ResponderAction::Continue);
        };
        match record.kind {
            PARAMS => pending.collect(record.content)?,
            STDIN if record.content.is_empty() && pending.parameters_complete => return self.complete(),
            ABORT_REQUEST => {
                let keep_connection = pending.keep_connection;
                push_end(out, record.request, REQUEST_COMPLETE);
                self.pending = None;
                return Ok(if keep_connection { ResponderAction::Continue } else { ResponderAction::Close });
            }
            _ => {}
        }
        Ok(ResponderAction::Continue)
    }

    fn begin(&mut self, record: Record<'_>, out: &mut Vec<u8>) -> Result<ResponderAction, RecordError> {
        let &[role_high, role_low, flags, ..] =
            record.content.first_chunk::<8>().ok_or(RecordError::Begin(record.content.len()))?;
        let keep_connection = flags & KEEP_CONNECTION != 0;
        match &self.pending {
            Some(pending) if pending.id == record.request => return Err(RecordError::BegunTwice(pending.id)),
            Some(_) => push_end(out, record.request, CANT_MPX_CONN),
            None if u16::from_be_bytes([role_high, role_low]) != RESPONDER => {
                push_end(out, record.request, UNKNOWN_ROLE);
                return Ok(if keep_connection { ResponderAction::Continue } else { ResponderAction::Close });
            }
            None => {
                let parameters = Vec::new();
                let parameters_complete = false;
                let id = record.request;
                self.pending = Some(PendingRequest { id, keep_connection, parameters, parameters_complete });
            }
        }
        Ok(ResponderAction::Continue)
    }

    fn complete(&mut self) -> Result<ResponderAction, RecordError> {
        let Some(pending) = self.pending.take() else { return Ok(ResponderAction::Continue) };
        let mut variables = Variables::default();
        read_pairs(&pending.parameters, |name, value| variables.set(name, value))?;
        Ok(ResponderAction::Answer(Request {
            id: pending.id,
            keep_connection: pending.keep_connection,
            variables,
        }))
    }

    /// Processes a record that concerns the connection rather than a request.
    fn manage(&self, record: Record<'_>, out: &mut Vec<u8>) -> Result<ResponderAction, RecordError> {
        if record.kind != GET_VALUES {
            push_record(out, UNKNOWN_TYPE, 0, &[record.kind, 0, 0, 0, 0, 0, 0, 0]);
            return Ok(ResponderAction::Continue);
        }
        let workers = self.workers.to_string();
        let known = [("FCGI_MAX_CONNS", &*workers), ("FCGI_MAX_REQS", &*workers), ("FCGI_MPXS_CONNS", "0")];
        let mut asked = [false; 3];
        read_pairs(record.content, |name, _| {
            for (index, (known, _)) in known.iter().enumerate() {
                asked[index] |= known.as_bytes() == name;
            }
        })?;
        let mut pairs = Vec::new();
        for ((name, value), _) in known.iter().zip(asked).filter(|(_, asked)| *asked) {
            push_pair(&mut pairs, name.as_bytes(), value.as_bytes());
        }
        push_record(out, GET_VALUES_RESULT, 0, &pairs);
        Ok(ResponderAction::Continue)
    }
}

impl PendingRequest {
    fn collect(&mut self, content: &[u8]) -> Result<(), RecordError> {
        self.parameters_complete |= content.is_empty();
        self.parameters.extend_from_slice(content);
        if PARAMETER_BYTES_MAX < self.parameters.len() {
            return Err(RecordError::TooManyParameters(PARAMETER_BYTES_MAX));
        }
        Ok(())
    }
}

/// Appends the end-request record (section 5.5): exit status 0, then the protocol status.
pub(super) fn push_end(out: &mut Vec<u8>, request: u16, protocol_status: u8) {
    push_record(out, END_REQUEST, request, &[0, 0, 0, 0, protocol_status, 0, 0, 0]);
}
