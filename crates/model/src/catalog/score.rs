//! The score of a benchmark: the figure that it is known by, and how that follows from what a load point counts.
//!
//! With T the length of the steady phase (s), n_k the successful operations of kind k, R̄_k their mean response time (s),
//! N the number of users:
//!
//! | score | formula |
//! |---|---|
//! | rate | Σ n_k ÷ T over the kinds that count, or 60 times that per minute |
//! | weighted | Σ w_k·n_k ÷ T with weights w_k, the operations for which one of kind k stands; or 60 times that per minute |
//! | throughput | 8 · Σ b ÷ (10⁶ · T), with Σ b the bytes of the measures that count |
//! | harmonic | N ÷ Σ w_k·R̄_k with weights w_k whose sum is 1: the mix's drift does not move it |

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::catalog::ROUNDING;
use crate::{Catalog, MeasureUnit};

/// The greatest number of kinds of a harmonic score: the analysis keeps sums of each per second.
const HARMONIC_KINDS_MAX: usize = 64;

/// The greatest weight of a kind in a weighted score, so that no sum of weighted operations is infinite.
const WEIGHT_MAX: f64 = 1e6;

/// The score of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Score {
    /// The rate of successful operations.
    Rate {
        /// Indexes of the kinds that count; empty for all.
        kinds: Vec<usize>,
        /// The time that the rate is per.
        per: RateTime,
    },
    /// The rate of successful operations, each counted with the weight of its kind.
    Weighted {
        /// The weight of each kind, in the order of the catalog: from 0 to 10⁶, not all 0.
        weights: Vec<f64>,
        /// The time that the rate is per.
        per: RateTime,
    },
    /// Bytes of successful operations, in 10⁶ bits per second.
    Throughput {
        /// Indexes of the measures whose sum counts; not empty.
        measures: Vec<usize>,
    },
    /// The weighted harmonic mean of the rates that the users would reach with each kind alone, N ÷ R̄_k. Of a closed
    /// loop only.
    Harmonic {
        /// The weight of each kind, in the order of the catalog: from 0 to 1, in sum 1.
        weights: Vec<f64>,
    },
}

/// The time that a rate is per.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateTime {
    /// Per second.
    Second,
    /// Per minute.
    Minute,
}

impl RateTime {
    /// Returns the time in s.
    pub fn seconds(self) -> f64 {
        match self {
            RateTime::Second => 1.0,
            RateTime::Minute => 60.0,
        }
    }
}

impl Default for Score {
    /// The rate of all operations per second.
    fn default() -> Score {
        Score::Rate { kinds: Vec::new(), per: RateTime::Second }
    }
}

impl Score {
    /// Returns whether the score is the rate of all operations per second, which every run has.
    pub fn is_operation_rate(&self) -> bool {
        matches!(self, Score::Rate { kinds, per: RateTime::Second } if kinds.is_empty())
    }

    /// Returns whether the score can be computed of what a catalog counts.
    pub(crate) fn fits(&self, catalog: &Catalog) -> bool {
        let is_bytes = |measure: &usize| {
            catalog.measures.get(*measure).is_some_and(|measure| measure.unit == MeasureUnit::Bytes)
        };
        match self {
            Score::Rate { kinds, .. } => {
                kinds.iter().all(|kind| *kind < catalog.kinds.len()) && are_different(kinds)
            }
            Score::Weighted { weights, .. } => {
                weights.len() == catalog.kinds.len()
                    && weights.iter().all(|weight| (0.0..=WEIGHT_MAX).contains(weight))
                    && weights.iter().any(|weight| 0.0 < *weight)
            }
            Score::Throughput { measures } => {
                !measures.is_empty() && measures.iter().all(is_bytes) && are_different(measures)
            }
            Score::Harmonic { weights } => {
                let sum: f64 = weights.iter().sum();
                weights.len() == catalog.kinds.len()
                    && weights.len() <= HARMONIC_KINDS_MAX
                    && weights.iter().all(|weight| (0.0..=1.0).contains(weight))
                    && (sum - 1.0).abs() <= ROUNDING
            }
        }
    }
}

fn are_different(indexes: &[usize]) -> bool {
    indexes.iter().collect::<BTreeSet<_>>().len() == indexes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{CatalogFault, Headline, Measure, OperationKind, Words};

    fn catalog(score: Score) -> Catalog {
        let kind = |name: &str| OperationKind {
            name: name.to_owned(),
            share: Some(0.5),
            share_gap_max: None,
            limits: Vec::new(),
            measures: Vec::new(),
            expected: Vec::new(),
        };
        let wait = Measure::always("wait", MeasureUnit::Nanoseconds);
        Catalog {
            kinds: ["get", "put"].map(kind).into(),
            measures: vec![wait, Measure::always("sent", MeasureUnit::Bytes)],
            transferred: vec![1],
            score,
            ..Catalog::default()
        }
    }

    fn any_score() -> impl Strategy<Value = Score> {
        let indexes = || prop::collection::vec(0..4_usize, 0..4);
        let per = prop_oneof![Just(RateTime::Second), Just(RateTime::Minute)];
        let weight = prop_oneof![
            Just(0.0),
            Just(0.5),
            Just(1.0),
            Just(-0.5),
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(2.0 * WEIGHT_MAX),
            0.0..1.0
        ];
        let weights = prop::collection::vec(weight, 0..4);
        prop_oneof![
            (indexes(), per.clone()).prop_map(|(kinds, per)| Score::Rate { kinds, per }),
            (weights.clone(), per).prop_map(|(weights, per)| Score::Weighted { weights, per }),
            indexes().prop_map(|measures| Score::Throughput { measures }),
            weights.prop_map(|weights| Score::Harmonic { weights }),
        ]
    }

    proptest! {
        /// The indexes of an accepted score can be used, and its weights are one for each kind: in sum 1 of a harmonic score,
        /// with a sum above zero of a weighted one.
        #[test]
        fn a_score_that_cannot_be_computed_is_refused(score in any_score()) {
            let catalog = catalog(score.clone());
            let is_computable = match score {
                Score::Rate { mut kinds, .. } => {
                    kinds.sort_unstable();
                    kinds.windows(2).all(|pair| pair[0] < pair[1]) && kinds.iter().all(|kind| *kind < 2)
                }
                Score::Weighted { weights, .. } => {
                    let is_weight = |weight: &f64| 0.0 <= *weight && *weight <= WEIGHT_MAX;
                    weights.len() == 2 && weights.iter().all(is_weight) && weights != [0.0, 0.0]
                }
                Score::Throughput { measures } => measures == [1],
                Score::Harmonic { weights } => match weights[..] {
                    [one, other] => {
                        (0.0..=1.0).contains(&one) && 0.0 <= other && (one + other - 1.0).abs() < 1e-9
                    }
                    _ => false,
                },
            };
            prop_assert_eq!(catalog.check(), if is_computable { Ok(()) } else { Err(CatalogFault::Score) });
        }

        /// A word is shown on terminals and in documents.
        #[test]
        fn a_word_that_cannot_be_shown_is_refused(word in "[a-z\\x00-\\x1f\\x{9b}é]{0,70}") {
            let is_word = (1..=64).contains(&word.len()) && !word.contains(char::is_control);
            let words = Words { score: word, ..Words::default() };
            let found = Catalog { words, ..catalog(Score::default()) }.check();
            prop_assert_eq!(found, if is_word { Ok(()) } else { Err(CatalogFault::Word { word: "score" }) });
        }
    }

    #[test]
    fn headlines_state_a_score_of_the_catalog_and_its_words() {
        let applied = |headline: Headline| {
            let catalog = headline.applied(catalog(Score::default()));
            assert_eq!(catalog.check(), Ok(()));
            (catalog.score, catalog.words.score, catalog.words.score_heading, catalog.words.user.many)
        };
        let all = Headline::ALL.map(applied);
        let lines = all.map(|(score, unit, heading, users)| {
            let score = serde_json::to_string(&score).unwrap();
            format!("{unit} | {heading} | {users} | {score}")
        });
        insta::assert_snapshot!(lines.join("\n"), @r#"
        connections per second | Conn/second | clients | {"rate":{"kinds":[],"per":"second"}}
        operations per second | Operations/second | users | {"rate":{"kinds":[],"per":"second"}}
        requests per second | Requests/second | clients | {"rate":{"kinds":[],"per":"second"}}
        transactions per second | Transactions/second | users | {"rate":{"kinds":[],"per":"second"}}
        megabits per second | Mbit/second | users | {"throughput":{"measures":[1]}}
        weighted operations per second | Weighted operations/second | users | {"harmonic":{"weights":[0.5,0.5]}}
        operations per second | Operations/second | users | {"rate":{"kinds":[],"per":"second"}}
        operations per second | Operations/second | users | {"rate":{"kinds":[],"per":"second"}}
        "#);
    }
}
