//! A session beside the terminals: it restores the data and has their consistency checked.

use std::rc::Rc;
use std::time::Duration;

use orders::wire::{ConditionResult, DataDescription, OrderEntryOperation, WireError, read_totals};
use orders::{ConsistencyCondition, OrderTotals};
use thiserror::Error;

use super::call::OrderCall;
use super::{OrderContext, OrderSession, describe, verify};
use crate::net::OperationFailure;

/// The longest that a request may take: to restore the largest data, or to read all of them for a condition.
const REQUEST_MAX: Duration = Duration::from_secs(600);

/// The number of the terminal that the session says to be; the first, whose user has no session yet or none any more.
const TERMINAL: u32 = 0;

/// A request beside the transactions that failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{operation}: {text}")]
pub struct OrderCallError {
    /// The operation: `LOAD`.
    pub operation: &'static str,
    /// The description of the failure.
    pub text: String,
}

impl OrderCallError {
    fn of(operation: OrderEntryOperation, text: String) -> OrderCallError {
        OrderCallError { operation: operation.name(), text }
    }
}

/// A session with a server that has the data which the workload needs.
#[derive(Debug)]
pub struct OrderControl {
    context: Rc<OrderContext>,
    /// `None` after a request that failed.
    session: Option<OrderSession>,
    /// The data of the server, as it described them last.
    pub data: DataDescription,
}

impl OrderControl {
    /// Opens a session.
    ///
    /// # Errors
    /// There is no connection, or the server has data of another size, or none.
    pub async fn open(context: Rc<OrderContext>) -> Result<OrderControl, OrderCallError> {
        let opened = within(OrderEntryOperation::Hello, OrderSession::open(&context, TERMINAL)).await;
        let (session, data) = opened?;
        Ok(OrderControl { context, session: Some(session), data })
    }

    /// Brings the data back to their first state.
    ///
    /// # Errors
    /// The server cannot do so, or does not answer.
    pub async fn restore(&mut self) -> Result<(), OrderCallError> {
        let payload = self.call(OrderCall::restore()).await?;
        self.data = read(OrderEntryOperation::Load, DataDescription::read(&payload))?;
        Ok(())
    }

    /// Finds the rows that violate a condition.
    ///
    /// # Errors
    /// The server cannot check it, or does not answer.
    pub async fn violations(
        &mut self,
        condition: ConsistencyCondition,
    ) -> Result<ConditionResult, OrderCallError> {
        let payload = self.call(OrderCall::check(condition)).await?;
        read(OrderEntryOperation::Check, ConditionResult::read(&payload))
    }

    /// Counts the orders.
    ///
    /// # Errors
    /// The server cannot count them, or does not answer.
    pub async fn totals(&mut self) -> Result<OrderTotals, OrderCallError> {
        let payload = self.call(OrderCall::totals()).await?;
        read(OrderEntryOperation::Check, read_totals(&payload))
    }

    /// Makes a request; returns the payload of its reply.
    async fn call(&mut self, call: OrderCall<'_>) -> Result<Vec<u8>, OrderCallError> {
        let operation = call.operation;
        let lost = || OrderCallError::of(operation, "the session ended with the previous request".to_owned());
        let session = self.session.take().ok_or_else(lost)?;
        let (session, reply, _) = within(operation, session.exchange(&self.context, &call)).await?;
        if let Some(fault) = reply.fault {
            return Err(OrderCallError::of(operation, describe::failure(&fault)));
        }
        self.session = Some(session);
        Ok(reply.payload)
    }
}

/// Waits for the result of a request, not forever.
async fn within<T>(
    operation: OrderEntryOperation,
    request: impl Future<Output = Result<T, OperationFailure>>,
) -> Result<T, OrderCallError> {
    let error = |text| OrderCallError::of(operation, text);
    match tokio::time::timeout(REQUEST_MAX, request).await {
        Ok(result) => result.map_err(|failure| error(describe::failure(&failure))),
        Err(_) => Err(error(format!("no complete reply within {} s", REQUEST_MAX.as_secs()))),
    }
}

fn read<T>(operation: OrderEntryOperation, read: Result<T, WireError>) -> Result<T, OrderCallError> {
    let describe = |error| describe::failure(&verify::not_of_protocol(error));
    read.map_err(|error| OrderCallError::of(operation, describe(error)))
}
