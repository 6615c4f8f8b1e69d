//! Data of users: the rows of a file, of which each user takes one per page.
//!
//! A run's plan has the name of the file, its hash and its number of rows. The values are in a
//! [`DataTable`](super::DataTable), which cannot be written down.

use languages::names;
use serde::{Deserialize, Serialize};
use units::{Rng, StreamPurpose, mix_bits};

names! {
    /// The rows that a user takes, page by page.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum RowPick {
        /// Every user takes the rows one after another, from the first.
        #[default]
        Sequential = "sequential",
        /// Any row, each as likely as the others.
        Random = "random",
        /// Rows that no other user takes: row u + U · i for page i of user u among U.
        Unique = "unique",
    }
}

names! {
    /// The end of the rows.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum RowsEnd {
        /// The first row follows the last.
        #[default]
        Wrap = "wrap",
        /// The user leaves.
        Leave = "leave",
    }
}

/// Data of users, as a plan has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSet {
    /// Its name in placeholders.
    pub name: String,
    /// The file as the definition names it.
    pub file: String,
    /// Hash of the file's bytes (BLAKE3, hexadecimal).
    pub hash: String,
    /// Number of its rows; above zero.
    pub rows: u64,
    /// The rows that a user takes.
    pub pick: RowPick,
    /// The end of the rows.
    pub at_end: RowsEnd,
}

/// A page of a user: the place from which its rows follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserPage {
    /// Seed of the run.
    pub seed: u64,
    /// The number of the user, from 0.
    pub user: u32,
    /// Number of users; above zero.
    pub users: u32,
    /// The number of the user's page, from 0.
    pub page: u64,
}

impl DataSet {
    /// Returns the row of a page; `None` if there is none left. `index` is that of the data in the workload.
    pub fn row(&self, index: usize, at: UserPage) -> Option<u64> {
        let index = match self.pick {
            RowPick::Random => {
                let user = mix_bits((index as u64) << 32 | u64::from(at.user));
                return Some(
                    Rng::new(at.seed, StreamPurpose::Data, user ^ mix_bits(at.page)).below(self.rows),
                );
            }
            RowPick::Sequential => u128::from(at.page),
            RowPick::Unique => u128::from(at.user) + u128::from(at.users) * u128::from(at.page),
        };
        let rows = u128::from(self.rows);
        let row = match self.at_end {
            RowsEnd::Wrap => index % rows,
            RowsEnd::Leave => Some(index).filter(|index| *index < rows)?,
        };
        u64::try_from(row).ok()
    }

    /// Returns the number of pages after which a user has no row left; `None` if there always is one.
    pub fn pages_max(&self, user: u32, users: u32) -> Option<u64> {
        match (self.at_end, self.pick) {
            (RowsEnd::Wrap, _) | (_, RowPick::Random) => None,
            (RowsEnd::Leave, RowPick::Sequential) => Some(self.rows),
            (RowsEnd::Leave, RowPick::Unique) => {
                Some(self.rows.saturating_sub(u64::from(user)).div_ceil(u64::from(users)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn data(rows: u64, pick: RowPick, at_end: RowsEnd) -> DataSet {
        DataSet { name: "users".into(), file: "users.csv".into(), hash: String::new(), rows, pick, at_end }
    }

    fn rows(data: &DataSet, user: u32, users: u32) -> Vec<Option<u64>> {
        (0..4).map(|page| data.row(0, UserPage { seed: 1, user, users, page })).collect()
    }

    /// Five rows, two users.
    #[test]
    fn rows_follow_from_user_and_page() {
        let of = |pick, at_end| data(5, pick, at_end);
        let sequential = [Some(0), Some(1), Some(2), Some(3)];
        assert_eq!(rows(&of(RowPick::Sequential, RowsEnd::Leave), 1, 2), sequential);
        let unique = of(RowPick::Unique, RowsEnd::Leave);
        assert_eq!(rows(&unique, 0, 2), [Some(0), Some(2), Some(4), None]);
        assert_eq!(rows(&unique, 1, 2), [Some(1), Some(3), None, None]);
        assert_eq!(
            (unique.pages_max(0, 2), unique.pages_max(1, 2), unique.pages_max(5, 7)),
            (Some(3), Some(2), Some(0))
        );
        let wrapped = of(RowPick::Unique, RowsEnd::Wrap);
        assert_eq!(rows(&wrapped, 1, 2), [Some(1), Some(3), Some(0), Some(2)]);
        let random = of(RowPick::Random, RowsEnd::Leave);
        assert_eq!((rows(&random, 1, 2), random.pages_max(1, 2)), (rows(&random, 1, 9), None));
    }

    proptest! {
        #[test]
        fn a_user_has_rows_for_as_many_pages_as_announced(
            rows in 1u64..200, users in 1u32..40, user in 0u32..40, unique: bool,
        ) {
            let user = user % users;
            let pick = if unique { RowPick::Unique } else { RowPick::Sequential };
            let data = data(rows, pick, RowsEnd::Leave);
            let pages = data.pages_max(user, users).unwrap();
            let row = |page| data.row(0, UserPage { seed: 1, user, users, page });
            prop_assert!((0..pages).all(|page| row(page).is_some_and(|row| row < rows)));
            prop_assert_eq!(row(pages), None);
        }

        #[test]
        fn unique_rows_are_taken_once(rows in 1u64..100, users in 1u32..20) {
            let data = data(rows, RowPick::Unique, RowsEnd::Leave);
            let mut taken: Vec<u64> = (0..users)
                .flat_map(|user| (0..rows).map(move |page| (user, page)))
                .filter_map(|(user, page)| data.row(0, UserPage { seed: 1, user, users, page }))
                .collect();
            taken.sort_unstable();
            prop_assert_eq!(taken, (0..rows).collect::<Vec<_>>());
        }
    }
}
