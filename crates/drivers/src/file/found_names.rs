//! The names that a search found, held against those that it must find.

use files::{Expectation, FilePath, FindSize};

/// The verdict on the number of names that a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundNames {
    /// As many as there must be.
    Right,
    /// None, which counts as a name that is missing.
    Missing,
    /// Another number than there must be.
    Wrong,
}

impl FoundNames {
    /// Judges the number of names that a search found, at most so many as it wanted. In a captured mix the number that it
    /// must find is that of another server, whose folders may have had others.
    pub(crate) fn of(n_names: u64, expected: Expectation, path: FilePath, size: FindSize) -> FoundNames {
        let must_succeed = expected == Expectation::Success;
        let is_known = must_succeed && matches!(path, FilePath::Populated(_));
        match n_names {
            0 if must_succeed && (size.found == Some(0) || size.wanted == 0) => FoundNames::Right,
            0 => FoundNames::Missing,
            _ if is_known && size.found.is_some_and(|all| u64::from(all.min(size.wanted)) != n_names) => {
                FoundNames::Wrong
            }
            _ => FoundNames::Right,
        }
    }
}

#[cfg(test)]
mod tests {
    use files::{CapturedPath, Entry, Folder, Owner};

    use super::*;

    #[test]
    fn only_the_number_of_a_populated_folder_is_known() {
        use Expectation::{Failure, Success};
        use FoundNames::{Missing, Right, Wrong};
        let populated = FilePath::new(Owner::Client(0), Folder::Bulk, Entry::File(0));
        let captured = FilePath::Captured(CapturedPath { client: 0, text: 0 });
        for (n_names, expected, path, wanted, found, verdict) in [
            (3, Success, populated, 10, Some(3), Right),
            (2, Success, populated, 2, Some(3), Right),
            (2, Success, populated, 10, Some(3), Wrong),
            (2, Success, populated, 10, None, Right),
            (2, Success, captured, 10, Some(3), Right),
            (2, Failure, populated, 10, Some(3), Right),
            (0, Success, populated, 10, Some(0), Right),
            (0, Success, captured, 0, None, Right),
            (0, Success, populated, 10, Some(3), Missing),
            (0, Failure, populated, 10, Some(0), Missing),
        ] {
            let size = FindSize { wanted, found };
            assert_eq!(FoundNames::of(n_names, expected, path, size), verdict, "{n_names} of {size:?}");
        }
    }
}
