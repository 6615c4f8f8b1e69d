//! Rows of a check of the system under test, and what is recorded of them at a load point.

use model::{CheckMoment, ConsistencyCheck, LoadPoint};

/// A row of what was checked: name, whether it holds, what was found.
pub(crate) type CheckedRow = (String, bool, String);

/// Returns what is recorded of rows at a load point.
pub(crate) fn recorded(
    rows: impl IntoIterator<Item = CheckedRow>,
    point: LoadPoint,
    moment: CheckMoment,
) -> Vec<ConsistencyCheck> {
    let check =
        |(name, holds, found)| ConsistencyCheck { load_point: point.index, moment, name, holds, found };
    rows.into_iter().map(check).collect()
}

/// The check of a golden copy, from which the data of each load point are restored: it is made once, and holds for all of
/// them.
#[derive(Debug)]
pub(crate) struct GoldenCheck(Vec<CheckedRow>);

impl GoldenCheck {
    /// Takes the rows that were found in data that have just been restored.
    pub(crate) fn new(rows: Vec<CheckedRow>) -> GoldenCheck {
        let of_copy = |(name, holds, found)| (name, holds, format!("in the golden copy: {found}"));
        GoldenCheck(rows.into_iter().map(of_copy).collect())
    }

    /// Returns what is recorded of it before a load point.
    pub(crate) fn before(&self, point: LoadPoint) -> Vec<ConsistencyCheck> {
        recorded(self.0.iter().cloned(), point, CheckMoment::Before)
    }
}

#[cfg(test)]
mod tests {
    use model::Load;

    use super::*;

    /// A copy that violates a condition makes every load point invalid that is restored from it.
    #[test]
    fn the_check_of_a_golden_copy_stands_before_every_load_point() {
        let rows = [("condition 1", true, "it holds"), ("condition 2", false, "1 row violates it")];
        let golden =
            GoldenCheck::new(rows.map(|(name, holds, found)| (name.into(), holds, found.into())).into());
        for index in [0, 7] {
            let expected = rows.map(|(name, holds, found)| ConsistencyCheck {
                load_point: index,
                moment: CheckMoment::Before,
                name: name.to_owned(),
                holds,
                found: format!("in the golden copy: {found}"),
            });
            assert_eq!(golden.before(LoadPoint { index, load: Load::Users(9) }), expected);
        }
    }
}
