//! One connection's conversation as a state machine, without a socket.
//!
//! | state | record | next | note |
//! |---|---|---|---|
//! | idle | begin, as a responder | parameters | |
//! | idle | begin, in another role | idle | ended with `UNKNOWN_ROLE` |
//! | parameters | its parameters | parameters | collected, up to a limit |
//! | parameters | their end | input | |
//! | input | its input | input | not looked at: pages are made from the query alone |
//! | input | its end | idle | **the request is complete** |
//! | parameters, input | abort | idle | ended as complete |
//! | parameters, input | begin of another request | as it was | ended with `CANT_MPX_CONN` |
//! | parameters, input | begin of the same request | broken | |
//! | any | get values | as it was | told how many connections and requests, and that nothing is multiplexed |
//! | any | other type, without a request | as it was | `UNKNOWN_TYPE` |
//! | any | anything of an unknown request | as it was | ignored, as section 3.3 asks |
//!
//! Where a request that ends does not ask to keep the connection, the connection ends with it.

use super::record::{
    ABORT_REQUEST, BEGIN_REQUEST, END_REQUEST, GET_VALUES, GET_VALUES_RESULT, Malformed, PARAMS, Record,
    STDIN, UNKNOWN_TYPE, push_pair, push_record, read_pairs,
};
use crate::gateway::cgi::Variables;

/// The most bytes of parameters that are collected.
pub(super) const PARAMETER_BYTES_MAX: usize = 64 * 1024;

/// The role of a program that answers requests (section 6.2).
const RESPONDER: u16 = 1;

/// The flag that asks not to close the connection (section 5.1).
const KEEP_CONNECTION: u8 = 1;

/// Protocol statuses (section 5.5).
pub(super) const REQUEST_COMPLETE: u8 = 0;
const CANT_MPX_CONN: u8 = 1;
const UNKNOWN_ROLE: u8 = 3;

/// What follows from a record.
#[derive(Debug)]
pub(super) enum Step {
    /// Nothing, or what has been appended to the output.
    Continue,
    /// A request is to be answered.
    Answer(Request),
    /// The connection is to be closed once the output has been sent.
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
    /// What a web server that asks is told about the whole gateway.
    workers: usize,
    begun: Option<Begun>,
}

/// A request that is not complete.
#[derive(Debug)]
struct Begun {
    id: u16,
    keep_connection: bool,
    parameters: Vec<u8>,
    parameters_complete: bool,
}

impl Responder {
    pub(super) fn new(workers: usize) -> Responder {
        Responder { workers, begun: None }
    }

    /// Returns whether no request is in progress.
    pub(super) fn is_idle(&self) -> bool {
        self.begun.is_none()
    }

    /// Takes a record; what is to be sent for it is appended to `out`.
    pub(super) fn take(&mut self, record: Record<'_>, out: &mut Vec<u8>) -> Result<Step, Malformed> {
        if record.request == 0 {
            return self.manage(record, out);
        }
        if record.kind == BEGIN_REQUEST {
            return self.begin(record, out);
        }
        let Some(begun) = self.begun.as_mut().filter(|begun| begun.id == record.request) else {
            return Ok(Step::Continue);
        };
        match record.kind {
            PARAMS => begun.collect(record.content)?,
            STDIN if record.content.is_empty() && begun.parameters_complete => return self.complete(),
            ABORT_REQUEST => {
                let keep_connection = begun.keep_connection;
                push_end(out, record.request, REQUEST_COMPLETE);
                self.begun = None;
                return Ok(if keep_connection { Step::Continue } else { Step::Close });
            }
            _ => {}
        }
        Ok(Step::Continue)
    }

    fn begin(&mut self, record: Record<'_>, out: &mut Vec<u8>) -> Result<Step, Malformed> {
        let &[role_high, role_low, flags, ..] =
            record.content.first_chunk::<8>().ok_or(Malformed::Begin(record.content.len()))?;
        let keep_connection = flags & KEEP_CONNECTION != 0;
        match &self.begun {
            Some(begun) if begun.id == record.request => return Err(Malformed::BegunTwice(begun.id)),
            Some(_) => push_end(out, record.request, CANT_MPX_CONN),
            None if u16::from_be_bytes([role_high, role_low]) != RESPONDER => {
                push_end(out, record.request, UNKNOWN_ROLE);
                return Ok(if keep_connection { Step::Continue } else { Step::Close });
            }
            None => {
                let (parameters, parameters_complete) = (Vec::new(), false);
                let id = record.request;
                self.begun = Some(Begun { id, keep_connection, parameters, parameters_complete });
            }
        }
        Ok(Step::Continue)
    }

    fn complete(&mut self) -> Result<Step, Malformed> {
        let Some(begun) = self.begun.take() else { return Ok(Step::Continue) };
        let mut variables = Variables::default();
        read_pairs(&begun.parameters, |name, value| variables.set(name, value))?;
        Ok(Step::Answer(Request { id: begun.id, keep_connection: begun.keep_connection, variables }))
    }

    /// Takes a record that concerns the connection.
    fn manage(&self, record: Record<'_>, out: &mut Vec<u8>) -> Result<Step, Malformed> {
        if record.kind != GET_VALUES {
            push_record(out, UNKNOWN_TYPE, 0, &[record.kind, 0, 0, 0, 0, 0, 0, 0]);
            return Ok(Step::Continue);
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
        Ok(Step::Continue)
    }
}

impl Begun {
    fn collect(&mut self, content: &[u8]) -> Result<(), Malformed> {
        self.parameters_complete |= content.is_empty();
        self.parameters.extend_from_slice(content);
        if PARAMETER_BYTES_MAX < self.parameters.len() {
            return Err(Malformed::TooManyParameters(PARAMETER_BYTES_MAX));
        }
        Ok(())
    }
}

/// Appends the end of a request (section 5.5): exit status 0, then the protocol's status.
pub(super) fn push_end(out: &mut Vec<u8>, request: u16, protocol_status: u8) {
    push_record(out, END_REQUEST, request, &[0, 0, 0, 0, protocol_status, 0, 0, 0]);
}
