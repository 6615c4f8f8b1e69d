//! The checks of a reply that states no failure: it has the right content, and times that can be.

use frame::Crc32;
use model::{AppProtocol, AppRequest, AppTransaction, Outcome};
use units::Nanos;

use super::AppContext;
use super::codec::AppReply;
use super::request::message;
use crate::net::{OperationFailure, frames};

// Codes of `wrong bytes`.
const WRONG_COUNT: u32 = 1;
const WRONG_CONTENT: u32 = 2;
const WRONG_COMPUTATION: u32 = 3;
const WRONG_BLOCK: u32 = 4;

/// Checks payload and result.
pub(super) fn content(
    context: &AppContext,
    request: &AppRequest,
    argument: u64,
    reply: &AppReply,
) -> Result<(), OperationFailure> {
    let protocol = context.workload.protocol;
    let (payload_bytes, result) = match (request.transaction, protocol) {
        (AppTransaction::ClientServer, AppProtocol::Binary) => (0, Some(request.bytes.into())),
        (AppTransaction::ClientServer, AppProtocol::Http) => (0, Some(Crc32::of(&message(request)).into())),
        (AppTransaction::ServerClient, AppProtocol::Binary) => (request.bytes, Some(request.bytes.into())),
        (AppTransaction::ServerClient, AppProtocol::Http) => (request.bytes, None),
        (AppTransaction::Process, _) => (0, context.results.get(argument as usize).copied()),
        (AppTransaction::Append, _) => (0, None),
        _ => (0, Some(argument)),
    };
    if reply.payload.len() != payload_bytes as usize {
        return Err(OperationFailure::new(Outcome::WrongLength, reply.payload.len() as u64));
    }
    let found = reply.result.unwrap_or_default();
    if result.is_some() && result != reply.result {
        return Err(OperationFailure::new(Outcome::WrongBytes, found));
    }
    if reply.payload.is_empty() || reply.payload == message(request) {
        Ok(())
    } else {
        Err(OperationFailure::new(Outcome::WrongBytes, found))
    }
}

/// Checks that the times in the queue and of service, as far as the server states them, are no longer than the response
/// together.
pub(super) fn times(reply: &AppReply, response: Nanos) -> Result<(), OperationFailure> {
    frames::check_times(reply.queue.unwrap_or(0), reply.service.unwrap_or(0), response)
}

/// Returns the code of a failed transaction, as `docs/benchmarks/serverbench.md` lists them: the status of the reply, or the
/// check that found it wrong. 0 without one.
pub(super) fn code(transaction: AppTransaction, failure: &OperationFailure) -> u32 {
    match (failure.outcome, transaction) {
        (Outcome::WrongBytes, AppTransaction::ClientServer) => WRONG_COUNT,
        (Outcome::WrongBytes, AppTransaction::ServerClient) => WRONG_CONTENT,
        (Outcome::WrongBytes, AppTransaction::Process) => WRONG_COMPUTATION,
        (Outcome::WrongBytes, _) => WRONG_BLOCK,
        _ => frames::code(failure),
    }
}
