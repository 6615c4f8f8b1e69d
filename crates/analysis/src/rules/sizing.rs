//! The score of a part of the data: no more than its users can make, and as much as a server that carries them lets them
//! make.

use model::{Load, Score, SizingRule};

use super::{Evidence, RuleFinding};
use crate::finding::{Finding, ScoreOfPart};

/// Standard errors of a count that are chance.
const ERRORS: f64 = 3.0;

/// Compares the score of one part with all of its users with floor and ceiling of the sizing rule.
///
/// With N users and score S, those u of a part have the score S · u ÷ N, also where the users are not as many as the parts
/// have. Chance may move a count n by 3 · √n, and each user may begin the phase anywhere in its cycle, and so make one
/// operation more or less of all m: both ends are judged beyond the part 3 ÷ √n + N ÷ m of them.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let catalog = &evidence.plan.catalog;
    let (Some(rule), Score::Rate { per, .. }, Load::Users(users)) =
        (&catalog.sizing, &catalog.score, evidence.load())
    else {
        return Vec::new();
    };
    // Without any success it is zero; `operations` reports that.
    let Some(score) = evidence.figures.score.filter(|score| 0.0 < *score) else { return Vec::new() };
    let n = score / per.seconds() * evidence.figures.length.as_secs_f64();
    let tolerance = ERRORS / n.sqrt() + f64::from(users) / evidence.figures.n as f64;
    let of_part = score * f64::from(rule.users) / f64::from(users);
    judge(rule, of_part, &catalog.words.score, tolerance).into_iter().collect()
}

fn judge(rule: &SizingRule, score: f64, unit: &str, tolerance: f64) -> Option<RuleFinding> {
    let SizingRule { part, users, floor, ceiling, .. } = rule;
    let of_part =
        |bound| ScoreOfPart { part: part.one.clone(), users: *users, score, unit: unit.to_owned(), bound };
    if ceiling * (1.0 + tolerance) < score {
        return Some(RuleFinding::invalid(Finding::SizingCeiling(of_part(*ceiling))));
    }
    let is_below = score < floor * (1.0 - tolerance);
    is_below.then(|| RuleFinding::remark(Finding::SizingFloor(of_part(*floor))))
}
