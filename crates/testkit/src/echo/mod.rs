//! The echo family in a simulation.

#[cfg(test)]
mod tests;

use model::MeasuredValues;
use model::echo::{EchoMessage, echo_measure};

use crate::family::{SimExchange, SimOperation};

impl SimOperation for EchoMessage {
    fn measured(&self, exchange: &SimExchange) -> MeasuredValues {
        let mut measured = MeasuredValues::default();
        measured.set(echo_measure::SENT_BYTES, self.wire_bytes());
        measured.set(echo_measure::RECEIVED_BYTES, self.wire_bytes());
        measured.set(echo_measure::FIRST_BYTE, exchange.first_byte.0);
        measured
    }
}
