//! The pauses of users.

use serde::{Deserialize, Serialize};
use units::{Nanos, Rng};

use crate::{PauseKind, PauseStart, with_serde};

/// The pause that a user of a closed loop makes after each unit of its work: a page, a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkTime {
    /// None at all.
    None,
    /// Always the same.
    Fixed(#[serde(with = "with_serde::nanos")] Nanos),
    /// Negative exponential with this mean, not truncated.
    Exponential(#[serde(with = "with_serde::nanos")] Nanos),
    /// Those of a recording, each of its own length.
    Recorded,
    /// Those of a script, which has several distributions, with this mean of all of them.
    Scripted(#[serde(with = "with_serde::nanos")] Nanos),
}

impl ThinkTime {
    /// Returns the mean pause; zero where it is not known.
    pub fn mean(self) -> Nanos {
        match self {
            ThinkTime::None | ThinkTime::Recorded => Nanos::ZERO,
            ThinkTime::Fixed(time) | ThinkTime::Exponential(time) | ThinkTime::Scripted(time) => time,
        }
    }

    /// Returns the kinds of pauses of users that make this one after a response: one, or none without think time.
    pub(crate) fn pauses(self) -> Vec<PauseKind> {
        match self {
            ThinkTime::None => Vec::new(),
            ThinkTime::Fixed(_)
            | ThinkTime::Exponential(_)
            | ThinkTime::Recorded
            | ThinkTime::Scripted(_) => {
                vec![PauseKind { name: "think time".to_owned(), time: self, from: PauseStart::Done }]
            }
        }
    }

    /// Draws a pause; `None` without think time, and of a recording or a script, whose pauses are not drawn here.
    pub fn draw(self, rng: &mut Rng) -> Option<Nanos> {
        match self {
            ThinkTime::None | ThinkTime::Recorded | ThinkTime::Scripted(_) => None,
            ThinkTime::Fixed(time) => Some(time),
            ThinkTime::Exponential(mean) => Some(rng.exponential(mean)),
        }
    }
}
