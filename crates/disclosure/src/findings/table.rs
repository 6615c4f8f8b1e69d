//! The wording of differences between a stated result table and the recomputed one.

use analysis::audit::{DifferenceKind, TableDifference};

/// Returns the sentence of a difference: a clause without a full stop, with what is stated and what the records give.
pub fn table_difference_text(difference: &TableDifference) -> String {
    match &difference.kind {
        DifferenceKind::ExtraRow { load_point } => {
            format!("load point {} is stated, but was not recorded", load_point + 1)
        }
        DifferenceKind::MissingRow { load_point } => {
            format!("load point {} was recorded, but is not stated", load_point + 1)
        }
        DifferenceKind::ExchangedColumns { one, other } => {
            let everywhere = if difference.row.is_none() { " in every row" } else { "" };
            format!("`{one}` and `{other}` are exchanged{everywhere}")
        }
        DifferenceKind::ChangedCell { column, stated, recomputed } => {
            format!("`{column}` is stated as {stated}, the records give {recomputed}")
        }
        DifferenceKind::MissingCell { column, recomputed } => {
            format!("`{column}` is not stated, the records give {recomputed}")
        }
        DifferenceKind::ExtraCell { column, stated } => {
            format!("`{column}` is stated as {stated}, the records give none")
        }
    }
}
