//! Sizing rules: the size of the data follows the score, because users belong to parts of the data.

use serde::{Deserialize, Serialize};

use crate::{Noun, Score};

/// A sizing rule: the parts of the data to which users belong, with the range of the score of one part with all of its
/// users. It holds of the pauses of users that the benchmark's original has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizingRule {
    /// The noun for a part: `warehouse`.
    pub part: Noun,
    /// The number of parts in the data.
    pub n_parts: u32,
    /// The users of each.
    pub users: u32,
    /// The least score of a part, of a server that carries its users.
    pub floor: f64,
    /// The score of a part if responses took no time, which none is above.
    pub ceiling: f64,
}

impl SizingRule {
    /// Returns whether it is of parts and users that can be, with a range, and of a score that adds up over parts.
    pub(crate) fn fits(&self, score: &Score) -> bool {
        let is_range = 0.0 <= self.floor && self.floor < self.ceiling && self.ceiling.is_finite();
        let adds_up = matches!(score, Score::Rate { .. });
        self.part.is_usable() && 0 < self.n_parts && 0 < self.users && is_range && adds_up
    }
}
