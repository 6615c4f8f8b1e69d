//! Echo workloads: messages over TCP that a server sends back as they are (RFC 862, with a length before each), and of
//! which it sends a notice later where the message asks for one.
//!
//! The smallest family that is a family: it shows which rooms a protocol family has to furnish, and tests that the
//! others know nothing of it.

use serde::{Deserialize, Serialize};
use units::Nanos;

use super::family_workload::{FamilyWorkload, IN_FLIGHT_MAX};
use crate::{
    Catalog, ExpectedMeasure, Family, HasKind, Measure, MeasureUnit, NoticeKind, OperationKind, Outcome,
    RateTime, Score, ThinkTime, Words, with_serde,
};

/// The measures of a message besides its response time, by their indexes in the catalog.
pub mod echo_measure {
    /// The bytes sent: length, delay of the notice if there is one, and content.
    pub const SENT_BYTES: usize = 0;
    /// The bytes received, length and content.
    pub const RECEIVED_BYTES: usize = 1;
    /// The time to the first of them, from sent.
    pub const FIRST_BYTE: usize = 2;
}

/// The outcomes of messages that did not come back as they were.
const OUTCOMES: [Outcome; 14] = [
    Outcome::Refused,
    Outcome::Reset,
    Outcome::Unreachable,
    Outcome::TimedOut,
    Outcome::Truncated,
    Outcome::WrongLength,
    Outcome::WrongBytes,
    Outcome::NoLocalPort,
    Outcome::NoDescriptor,
    Outcome::Forbidden,
    Outcome::Denied,
    Outcome::Conflict,
    Outcome::Gone,
    Outcome::Full,
];

/// Length of what stands before the content of a message: its length in bytes.
const LENGTH_BYTES: u64 = 4;

/// Length of the delay of a notice, behind the length of a message that asks for one.
const DELAY_BYTES: u64 = 8;

/// The messages of a benchmark and their weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EchoWorkload {
    /// The kinds of messages; not empty, names all different.
    pub messages: Vec<EchoMessageKind>,
    /// The pause after each message.
    pub think: ThinkTime,
}

/// A kind of message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EchoMessageKind {
    /// The name in reports.
    pub name: String,
    /// Length of the content in bytes.
    pub bytes: u32,
    /// Its share of all messages is this divided by the sum of all weights. Above zero.
    pub weight: u64,
    /// The number of messages for which it stands in a weighted score. Above zero.
    pub counts_as: u32,
    /// The notice that the server sends of it; `None` if it sends none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<EchoNotice>,
}

/// A notice that a server sends on the connection of a message, after this has come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EchoNotice {
    /// The time from the message to its notice.
    #[serde(with = "with_serde::nanos")]
    pub after: Nanos,
}

/// One message to an echo server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EchoMessage {
    /// Index into the workload's messages.
    pub kind: u16,
    /// The number that determines its content.
    pub number: u64,
    /// Length of the content in bytes.
    pub bytes: u32,
    /// The notice that the server is to send of it.
    pub notice: Option<EchoNotice>,
}

impl EchoMessage {
    /// Returns its bytes on the way to the server.
    pub fn sent_bytes(&self) -> u64 {
        self.received_bytes() + self.notice.map_or(0, |_| DELAY_BYTES)
    }

    /// Returns its bytes on the way back.
    pub fn received_bytes(&self) -> u64 {
        LENGTH_BYTES + u64::from(self.bytes)
    }
}

impl HasKind for EchoMessage {
    fn kind(&self) -> u16 {
        self.kind
    }
}

impl EchoWorkload {
    /// Returns the message of a kind with a number.
    ///
    /// # Panics
    /// There is no such kind.
    pub fn message(&self, kind: u16, number: u64) -> EchoMessage {
        let EchoMessageKind { bytes, notice, .. } = self.messages[usize::from(kind)];
        EchoMessage { kind, number, bytes, notice }
    }

    /// Returns what a run of the workload counts and measures.
    pub fn catalog(&self) -> Catalog {
        let total: f64 = self.messages.iter().map(|message| message.weight as f64).sum();
        let kind = |(index, kind): (u16, &EchoMessageKind)| {
            let message = self.message(index, 0);
            OperationKind {
                name: kind.name.clone(),
                share: Some(kind.weight as f64 / total),
                share_gap_max: None,
                limits: Vec::new(),
                measures: Vec::new(),
                expected: vec![
                    always(echo_measure::SENT_BYTES, message.sent_bytes()),
                    always(echo_measure::RECEIVED_BYTES, message.received_bytes()),
                ],
            }
        };
        let weights = self.messages.iter().map(|message| f64::from(message.counts_as)).collect();
        let has_notices = self.messages.iter().any(|message| message.notice.is_some());
        let notice = NoticeKind { name: "notice".to_owned() };
        let first_byte =
            Measure { has_spread: true, ..Measure::always("first byte", MeasureUnit::Nanoseconds) };
        Catalog {
            kinds: (0..).zip(&self.messages).map(kind).collect(),
            units: Vec::new(),
            pauses: self.think.pauses(),
            measures: vec![
                Measure::always("sent bytes", MeasureUnit::Bytes),
                Measure::always("received bytes", MeasureUnit::Bytes),
                first_byte,
            ],
            transferred: vec![echo_measure::SENT_BYTES, echo_measure::RECEIVED_BYTES],
            response_parts: Vec::new(),
            notices: has_notices.then_some(notice).into_iter().collect(),
            bands: Vec::new(),
            codes: Vec::new(),
            in_flight: None,
            sizing: None,
            outcomes: OUTCOMES.into(),
            score: Score::Weighted { weights, per: RateTime::Minute },
            words: Words {
                score: "weighted messages per minute".to_owned(),
                score_heading: "Weighted messages/minute".to_owned(),
                ..Words::of_rate("message", "terminal")
            },
        }
    }
}

/// Returns the expectation that a measure always has a value.
fn always(measure: usize, value: u64) -> ExpectedMeasure {
    ExpectedMeasure { measure, least: value, most: value, mean: value as f64 }
}

impl FamilyWorkload for EchoWorkload {
    fn family(&self) -> Family {
        Family::Echo
    }

    fn in_flight_max(&self) -> u32 {
        IN_FLIGHT_MAX
    }

    fn catalog(&self) -> Catalog {
        EchoWorkload::catalog(self)
    }

    fn think(&self) -> ThinkTime {
        self.think
    }

    fn has_user_state(&self) -> bool {
        false
    }

    fn is_encrypted(&self) -> bool {
        false
    }

    fn has_one_writer(&self, _: &str) -> bool {
        false
    }

    fn grows_with_load(&self) -> bool {
        false
    }

    fn data_text(&self) -> Option<String> {
        None
    }

    fn mode_text(&self) -> Option<String> {
        None
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }
}
