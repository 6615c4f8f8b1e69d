//! Comparison of the score and the words that a plan has with those that its benchmark's definition gives. Whether a plan
//! counts what its workload has is verified with the run file.

use model::{Catalog, Score};

/// A difference between the catalog of a plan and the one that its benchmark's definition gives. The crate `disclosure`
/// words it.
#[derive(Debug, Clone, PartialEq)]
pub enum CatalogDifference {
    /// Another score.
    Score {
        /// The score of the plan.
        stored: Score,
        /// The score of the definition.
        defined: Score,
    },
    /// Another word.
    Word {
        /// The thing that it is for: `score`.
        place: &'static str,
        /// The word of the plan.
        stored: String,
        /// The word of the definition.
        defined: String,
    },
}

impl CatalogDifference {
    /// Returns the name of the check that failed: `changed score`, `changed word`…
    pub fn check(&self) -> &'static str {
        match self {
            CatalogDifference::Score { .. } => "changed score",
            CatalogDifference::Word { .. } => "changed word",
        }
    }
}

/// Compares score and words in the catalog of a plan with those that its benchmark's definition gives for its workload.
///
/// The score first, then words in the order of [`model::Words::entries`]; empty if they are equal.
pub fn audit_catalog(stored: &Catalog, defined: &Catalog) -> Vec<CatalogDifference> {
    let score = (stored.score != defined.score)
        .then(|| CatalogDifference::Score { stored: stored.score.clone(), defined: defined.score.clone() });
    let words = stored.words.entries().into_iter().zip(defined.words.entries());
    let changed = words.filter(|((_, stored), (_, defined))| stored != defined);
    let word = |((place, stored), (_, defined)): ((&'static str, &str), (&str, &str))| {
        CatalogDifference::Word { place, stored: stored.to_owned(), defined: defined.to_owned() }
    };
    score.into_iter().chain(changed.map(word)).collect()
}
