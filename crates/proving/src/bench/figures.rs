//! Arithmetic of the tables.

/// Returns the median of a value over rounds.
///
/// # Panics
/// Without rounds.
pub(super) fn over<Round>(rounds: &[Round], value: impl Fn(&Round) -> f64) -> f64 {
    let values: Vec<f64> = rounds.iter().map(value).collect();
    stats::median(&values).expect("there are rounds")
}

/// The figures of the turns of a round, in any order, by the names of the turns.
pub(super) struct Round<Name, Costs> {
    turns: Vec<(Name, Costs)>,
}

impl<Name, Costs> Default for Round<Name, Costs> {
    fn default() -> Round<Name, Costs> {
        Round { turns: Vec::new() }
    }
}

impl<Name: PartialEq, Costs> Round<Name, Costs> {
    /// Adds the costs of a turn.
    pub(super) fn add(&mut self, turn: Name, costs: Costs) {
        self.turns.push((turn, costs));
    }

    /// Returns the costs of a turn, if it was taken.
    pub(super) fn of(&self, turn: Name) -> Option<&Costs> {
        self.turns.iter().find(|(name, _)| *name == turn).map(|(_, costs)| costs)
    }
}

/// Returns the median of a value over the rounds that have it; `None` if none has.
pub(super) fn median<Round>(rounds: &[Round], value: impl Fn(&Round) -> Option<f64>) -> Option<f64> {
    stats::median(&rounds.iter().filter_map(value).collect::<Vec<_>>())
}

/// Returns `met` or `missed`.
pub(super) fn word(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(over(&[3.0, 1.0, 2.0], |value| *value), 2.0);
        assert_eq!(over(&[4.0, 1.0, 2.0, 3.0], |value| *value), 2.5);
    }
}
