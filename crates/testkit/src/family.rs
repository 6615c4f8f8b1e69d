//! The operations of protocol families in a simulation, and the measures of each.

use files::{FileAnswer, FileOperation};
use mail::{MailAction, MailAnswer, MailOperation, PAGE_ENTRIES};
use model::{
    AppRequest, AppTransaction, HasKind, MeasuredValues, OrderRequest, Outcome, SqlRequest, WebRequest,
    app_measure, file_measure, mail_measure, order_measure, sql_measure, web_measure,
};
use units::Nanos;

use crate::server::StatedTimes;

/// An exchange with a simulated server that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimExchange {
    /// Time to connect; zero on a kept connection.
    pub(crate) connect: Nanos,
    /// Time to the first byte of the reply, which arrives at once.
    pub(crate) first_byte: Nanos,
    pub(crate) head_bytes: u64,
    pub(crate) body_bytes: u64,
    /// The times that the server states of itself.
    pub(crate) stated: StatedTimes,
}

/// An operation that simulated drivers can perform.
pub(crate) trait SimOperation: HasKind + 'static {
    /// Returns the measures of an exchange.
    fn measured(&self, exchange: &SimExchange) -> MeasuredValues;

    /// Returns the value for its user of an operation with this outcome; 0 if the family has none.
    fn answer(&self, _: Outcome) -> u64 {
        0
    }
}

impl SimOperation for WebRequest {
    fn measured(&self, exchange: &SimExchange) -> MeasuredValues {
        let SimExchange { connect, first_byte, head_bytes, body_bytes, .. } = *exchange;
        web_measure::measured(connect, first_byte, head_bytes, body_bytes)
    }
}

/// Bytes of a request and of a reply in frames, without their payloads.
const HEADER_BYTES: [u64; 2] = [32, 56];

/// The simulated server does not tell waiting from service: the whole time counts as service.
impl SimOperation for AppRequest {
    fn measured(&self, exchange: &SimExchange) -> MeasuredValues {
        let message = u64::from(self.bytes);
        let (sent, received) = match self.transaction {
            AppTransaction::ClientServer => (message, 0),
            AppTransaction::ServerClient => (0, message),
            AppTransaction::Process => (4, 0),
            _ => (0, 0),
        };
        let mut measured = MeasuredValues::default();
        let (queue, service) = match exchange.stated {
            StatedTimes::Both => (Some(0), Some(exchange.first_byte.0)),
            StatedTimes::Service => (None, Some(exchange.first_byte.0)),
            StatedTimes::TooLong => (Some(1), Some(exchange.first_byte.0)),
            StatedTimes::None => (None, None),
        };
        for (measure, time) in [(app_measure::QUEUE, queue), (app_measure::SERVICE, service)] {
            if let Some(time) = time {
                measured.set(measure, time);
            }
        }
        let [request, reply] = HEADER_BYTES;
        measured.set(app_measure::SENT_BYTES, request + sent);
        measured.set(app_measure::RECEIVED_BYTES, reply + received);
        measured
    }
}

/// The simulated database makes each transaction in one round trip, of the bytes of headers, and never begins one
/// again.
impl SimOperation for OrderRequest {
    fn measured(&self, exchange: &SimExchange) -> MeasuredValues {
        let mut measured = MeasuredValues::default();
        let [sent, received] = HEADER_BYTES;
        for (measure, value) in [
            (order_measure::QUEUE, 0),
            (order_measure::SERVICE, exchange.first_byte.0),
            (order_measure::ROUND_TRIPS, 1),
            (order_measure::RETRIES, 0),
            (order_measure::SENT_BYTES, sent),
            (order_measure::RECEIVED_BYTES, received),
        ]
        .into_iter()
        .chain(order_measure::of_input(&self.input).into_iter().flatten())
        {
            measured.set(order_measure::slot(measure, true), value);
        }
        measured
    }
}

/// The simulated database answers each transaction in one round trip, of the bytes of headers, with one row.
impl SimOperation for SqlRequest {
    fn measured(&self, _: &SimExchange) -> MeasuredValues {
        let mut measured = MeasuredValues::default();
        let [sent, received] = HEADER_BYTES;
        for (measure, value) in [
            (sql_measure::ROUND_TRIPS, 1),
            (sql_measure::RETRIES, 0),
            (sql_measure::ROWS, 1),
            (sql_measure::SENT_BYTES, sent),
            (sql_measure::RECEIVED_BYTES, received),
        ] {
            measured.set(measure, value);
        }
        measured
    }
}

/// The simulated file server has every file, and answers each operation in one exchange.
impl SimOperation for FileOperation {
    fn measured(&self, _: &SimExchange) -> MeasuredValues {
        let mut measured = MeasuredValues::default();
        for (measure, bytes) in [
            (file_measure::READ_BYTES, self.read_bytes()),
            (file_measure::WRITTEN_BYTES, self.written_bytes()),
        ] {
            if 0 < bytes {
                measured.set(measure, bytes);
            }
        }
        measured.set(file_measure::EXCHANGES, 1);
        measured
    }

    fn answer(&self, outcome: Outcome) -> u64 {
        let answer = match outcome {
            Outcome::Ok => FileAnswer::Done,
            Outcome::WrongBytes => FileAnswer::WrongBytes,
            _ => FileAnswer::Failed,
        };
        answer.to_u64()
    }
}

/// The simulated mail server answers each operation in one exchange, of the bytes of headers; its mailboxes have two pages,
/// with an invitation on the first.
impl SimOperation for MailOperation {
    fn measured(&self, _: &SimExchange) -> MeasuredValues {
        let mut measured = MeasuredValues::default();
        let [sent, received] = HEADER_BYTES;
        measured.set(mail_measure::SENT_BYTES, sent);
        measured.set(mail_measure::RECEIVED_BYTES, received);
        measured.set(mail_measure::EXCHANGES, 1);
        measured
    }

    fn answer(&self, outcome: Outcome) -> u64 {
        let answer = match (outcome, self.action) {
            (Outcome::Ok, MailAction::OpenView(_)) => MailAnswer::View(2 * PAGE_ENTRIES),
            (Outcome::Ok, MailAction::ReadPage(..)) => {
                MailAnswer::Page { n: PAGE_ENTRIES as u8, invitations: 1 }
            }
            (Outcome::Ok, _) => MailAnswer::Done,
            _ => MailAnswer::Failed,
        };
        answer.to_u64()
    }
}
