//! The wording of differences between runs other than the server, and of why runs cannot be compared.

use analysis::compare::{CompareError, PlanDifference};

/// Returns a clause without a full stop: "`other` differs from `one` in seed (7, not 1)".
pub fn plan_difference_text(difference: &PlanDifference) -> String {
    let PlanDifference { what, run, from, here, there } = difference;
    let values = match (here.as_str(), there.as_str()) {
        ("", "") => String::new(),
        (here, "") => format!(" ({here})"),
        (here, there) => format!(" ({here}, not {there})"),
    };
    format!("`{run}` differs from `{from}` in {what}{values}")
}

/// Returns the message of an error, with a line for each difference.
pub fn compare_error_text(error: &CompareError) -> String {
    match error {
        CompareError::TooFew { found } => format!("expected two runs or more to compare, found {found}"),
        CompareError::Shaped { name } => format!(
            "`{name}` is a run with stages: runs are compared at loads that stay the same, and its load changes over time"
        ),
        CompareError::Differ { differences } => {
            let lines = differences.iter().map(|one| format!("\n  {}", plan_difference_text(one)));
            format!("the runs differ in more than the server:{}", lines.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_the_values_that_fit_into_a_line() {
        let difference = |here: &str, there: &str| PlanDifference {
            what: "seed",
            run: "b".to_owned(),
            from: "a".to_owned(),
            here: here.to_owned(),
            there: there.to_owned(),
        };
        let texts = [("7", "1"), ("7", ""), ("", "")]
            .map(|(here, there)| plan_difference_text(&difference(here, there)));
        assert_eq!(
            texts,
            [
                "`b` differs from `a` in seed (7, not 1)",
                "`b` differs from `a` in seed (7)",
                "`b` differs from `a` in seed"
            ]
        );
        let differences = vec![difference("7", "1"), difference("", "")];
        assert_eq!(
            compare_error_text(&CompareError::Differ { differences }),
            format!("the runs differ in more than the server:\n  {}\n  {}", texts[0], texts[2])
        );
    }
}
