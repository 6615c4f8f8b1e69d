//! The echo family in a simulation, and a server of it over TCP.

mod stub;
#[cfg(test)]
mod tests;

use model::MeasuredValues;
use model::echo::{EchoMessage, echo_measure};

pub use stub::{EchoStub, StubNotices};

use crate::family::{SimExchange, SimOperation};

impl SimOperation for EchoMessage {
    fn measured(&self, exchange: &SimExchange) -> MeasuredValues {
        let mut measured = MeasuredValues::default();
        measured.set(echo_measure::SENT_BYTES, self.sent_bytes());
        measured.set(echo_measure::RECEIVED_BYTES, self.received_bytes());
        measured.set(echo_measure::FIRST_BYTE, exchange.first_byte.0);
        measured
    }
}
