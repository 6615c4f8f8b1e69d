//! The pauses of users.

use serde::{Deserialize, Serialize};
use units::{Nanos, Rng};

use crate::{PauseKind, PauseStart, with_serde};

/// The pause that a user of a closed loop makes after each unit of its work: a page, a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Think {
    /// None at all.
    None,
    /// Always the same.
    Fixed(#[serde(with = "with_serde::nanos")] Nanos),
    /// Negative exponential with this mean, not truncated.
    Exponential(#[serde(with = "with_serde::nanos")] Nanos),
}

impl Think {
    /// Returns the mean pause.
    pub fn mean(self) -> Nanos {
        match self {
            Think::None => Nanos::ZERO,
            Think::Fixed(time) | Think::Exponential(time) => time,
        }
    }

    /// Returns the kinds of pauses of users that make this one after a response: one, or none without think time.
    pub(crate) fn pauses(self) -> Vec<PauseKind> {
        match self {
            Think::None => Vec::new(),
            Think::Fixed(_) | Think::Exponential(_) => {
                vec![PauseKind { name: "think time".to_owned(), time: self, from: PauseStart::Done }]
            }
        }
    }

    /// Draws a pause; `None` without think time.
    pub fn draw(self, rng: &mut Rng) -> Option<Nanos> {
        match self {
            Think::None => None,
            Think::Fixed(time) => Some(time),
            Think::Exponential(mean) => Some(rng.exponential(mean)),
        }
    }
}
