//! The operations of protocol families in a simulation, and the measures of each.

#[cfg(feature = "echo")]
use model::{EchoMessage, echo_measure};
use model::{Kinded, MeasuredValues, WebRequest, web_measure};
use units::Nanos;

/// An exchange with a simulated server that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimExchange {
    /// Time to connect; zero on a kept connection.
    pub(crate) connect: Nanos,
    /// Time to the first byte of the reply, which arrives at once.
    pub(crate) first_byte: Nanos,
    pub(crate) head_bytes: u64,
    pub(crate) body_bytes: u64,
}

/// An operation that simulated drivers can perform.
pub(crate) trait SimOperation: Kinded + 'static {
    /// Returns the measures of an exchange.
    fn measured(exchange: &SimExchange) -> MeasuredValues;
}

impl SimOperation for WebRequest {
    fn measured(exchange: &SimExchange) -> MeasuredValues {
        let SimExchange { connect, first_byte, head_bytes, body_bytes } = *exchange;
        web_measure::measured(connect, first_byte, head_bytes, body_bytes)
    }
}

#[cfg(feature = "echo")]
impl SimOperation for EchoMessage {
    fn measured(exchange: &SimExchange) -> MeasuredValues {
        let mut measured = MeasuredValues::default();
        measured.set(echo_measure::SENT_BYTES, exchange.body_bytes);
        measured.set(echo_measure::RECEIVED_BYTES, exchange.body_bytes);
        measured
    }
}
