//! Little's law on a closed loop: N = X·(R + Z), or a gap that is explained.

use super::{Evidence, RuleFinding, Stage};
use crate::Measure;

/// Part of all users' time that may be unaccounted for.
const USER_TIME_GAP_MAX: f64 = 0.01;

const USERS_HINT: &str = "some users did not run, or the generator was too slow to let them";

/// An explanation of a gap that the plain form of Little's law leaves out, in users.
struct Explanation {
    users: f64,
    text: String,
}

/// Checks users' time and Little's law; an open loop has no N.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    if !evidence.load().is_closed() || evidence.figures.length.0 == 0 {
        return Vec::new();
    }
    user_time(evidence).or_else(|| little(evidence)).into_iter().collect()
}

/// Checks that every user is at any moment in flight or thinking (until it is back, however late).
///
/// So N·T = ∫ in flight + ∫ thinking.
fn user_time(evidence: &Evidence) -> Option<RuleFinding> {
    let totals = &evidence.fold.steady;
    let expected = evidence.load().level() * evidence.figures.length.as_secs_f64();
    let found = totals.in_flight_ns.saturating_add(totals.thinking_ns) as f64 / 1e9;
    let gap = (found - expected).abs() / expected;
    // Not `limit < gap`: without users the gap is not a number.
    let holds = gap <= USER_TIME_GAP_MAX;
    (!holds).then(|| {
        let text = format!(
            "users spent {found:.1} s in flight or thinking, but their number times the length is {expected:.1} s"
        );
        RuleFinding::invalid("user-time", text).hint(USERS_HINT)
    })
}

/// Checks the plain law, then with explanations of the gap, the fewest first.
fn little(evidence: &Evidence) -> Option<RuleFinding> {
    let users = evidence.load().level();
    let seen = evidence.fold.steady.users_seen();
    let limit = evidence.plan.rules.little_gap_max;
    let closes = |seen: f64| (users - seen).abs() / users <= limit;
    if closes(seen) {
        return None;
    }
    let gap = format!(
        "X·(R + Z) = {seen:.2} for N = {users}, a gap of {:.1} %",
        100.0 * (users - seen).abs() / users
    );
    let [failed, ends] = explanations(evidence);
    let both = failed.users + ends.users;
    let explained = if closes(seen + failed.users) {
        failed.text
    } else if closes(seen + ends.users) {
        ends.text
    } else if closes(seen + both) {
        format!("{}, and {}", failed.text, ends.text)
    } else {
        let text =
            format!("{gap}; failed operations and those in flight at the ends explain {both:.2} of it");
        let measure = Measure::Users { seen: seen + both, present: users };
        return Some(RuleFinding::invalid("little", text).measured(measure));
    };
    // While the phase grows, operations at its ends explain less and less.
    (evidence.stage != Stage::Running)
        .then(|| RuleFinding::remark("little", format!("{gap}, explained: {explained}")))
}

fn explanations(evidence: &Evidence) -> [Explanation; 2] {
    let totals = &evidence.fold.steady;
    let length = evidence.figures.length.as_secs_f64();
    let failed = totals.failed_seconds() / length;
    let (age_start, age_end) = totals.ages_at_ends_ns();
    let ends = (age_end as f64 - age_start as f64) / 1e9 / length;
    let (_, flying) = totals.in_flight_at_ends();
    [
        Explanation {
            users: failed,
            text: format!("{} failed operations kept {failed:.2} users busy", totals.errors()),
        },
        Explanation {
            users: ends,
            text: format!(
                "long operations were cut off by the ends of the phase ({flying} in flight at its end), {ends:.2} users"
            ),
        },
    ]
}
