//! The user's bounds for the changes of a comparison: their outcomes on the terminal, and the exit code.

use analysis::compare::{BoundOutcome, Comparison, JudgedBound};

use crate::exit::{Exit, Failure};
use crate::stderr::eprint;
use crate::stdout::print;

/// Prints the outcomes of the bounds, and the caveat of single runs.
pub(crate) fn print_bounds(comparison: &Comparison, judged: &[JudgedBound]) -> Result<(), Failure> {
    if judged.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> =
        judged.iter().map(|one| disclosure::judged_bound_text(comparison, one)).collect();
    print(&format!("\n{}", lines.join("\n")))?;
    let caveat = disclosure::single_runs_text(judged);
    if let Some(caveat) = &caveat {
        print(caveat)?;
    }
    match disclosure::runs_needed(judged) {
        Some(n) => {
            eprint(format!("hint: `plimsoll run … --repeat {n}` for each side would probably decide it"))
        }
        None if caveat.is_some() => {
            eprint("hint: `plimsoll run … --repeat 3` measures the scatter between runs");
        }
        None => {}
    }
    Ok(())
}

/// Returns the exit code: that of a missed limit if a bound is exceeded, or in strict mode undecided; else that of an
/// invalid run if a bound could not be judged.
pub(crate) fn exit(judged: &[JudgedBound], is_strict: bool) -> Exit {
    let any = |outcome| judged.iter().any(|one| one.outcome == outcome);
    if any(BoundOutcome::Exceeded) || is_strict && any(BoundOutcome::Undecided) {
        Exit::Limit
    } else if any(BoundOutcome::NotMeasured) {
        Exit::Invalid
    } else {
        Exit::Valid
    }
}
