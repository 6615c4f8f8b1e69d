//! Users who do not think as long as they should: a load point with N of them is a higher load than stated.

use analysis::Finding;
use model::{Load, Plan, ThinkTime};
use units::Nanos;

use super::tamper::set_think;
use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, remarks, rules_broken, users};

/// Ten users, 30 ms of response; the defined think time is 90 ms.
fn recorded(think: ThinkTime, thought: Nanos) -> RecordedRun {
    let mut plan: Plan = plan(Load::Users(10), 2, 20);
    set_think(&mut plan, think);
    let operations = users(&plan, 10, |_, _| ms(30), thought);
    RecordedRun::of(plan, &operations)
}

#[test]
fn the_right_think_time_passes() {
    for think in [ThinkTime::Fixed(ms(90)), ThinkTime::Exponential(ms(90))] {
        let analysis = recorded(think, ms(90)).analyze();
        assert_valid(&analysis);
        assert_eq!(remarks(&analysis, "think"), []);
    }
}

#[test]
fn a_think_time_that_is_off_is_a_remark() {
    let analysis = recorded(ThinkTime::Fixed(ms(90)), ms(80)).analyze();
    assert_valid(&analysis);
    let [Finding::ThinkTime { pause: None, found, expected }] = remarks(&analysis, "think")[..] else {
        panic!("no remark")
    };
    assert!((ms(80)..ms(81)).contains(&found) && expected == ms(90), "{found}, {expected} expected");
    // 1,800 exponential times: chance allows 7 %, 80 ms is 11 % off.
    assert_eq!(remarks(&recorded(ThinkTime::Exponential(ms(90)), ms(80)).analyze(), "think").len(), 1);
    assert_eq!(remarks(&recorded(ThinkTime::Exponential(ms(90)), ms(84)).analyze(), "think").len(), 0);
}

/// 90 ms were drawn, as defined, and the users are back after 80 ms.
#[test]
fn users_who_are_back_too_early_are_a_remark() {
    let mut plan = plan(Load::Users(10), 2, 20);
    set_think(&mut plan, ThinkTime::Fixed(ms(90)));
    let mut operations = users(&plan, 10, |_, _| ms(30), ms(80));
    operations.iter_mut().for_each(|operation| operation.drawn = ms(90));
    let analysis = RecordedRun::of(plan, &operations).analyze();
    assert_valid(&analysis);
    let [Finding::ThinkTime { pause: None, found, expected }] = remarks(&analysis, "think")[..] else {
        panic!("no remark")
    };
    assert!((ms(79)..ms(81)).contains(&found) && expected == ms(90), "{found}, {expected} expected");
}

/// Lateness is no think time: back 12 ms late after 90 ms, counted in response times already.
#[test]
fn being_late_is_not_thinking_longer() {
    let mut late = plan(Load::Users(10), 2, 20);
    set_think(&mut late, ThinkTime::Fixed(ms(90)));
    let mut operations = users(&late, 10, |_, _| ms(42), ms(90));
    operations.iter_mut().for_each(|operation| operation.sent += ms(12));
    let analysis = RecordedRun::of(late, &operations).analyze();
    assert_valid(&analysis);
    assert_eq!(remarks(&analysis, "think"), []);
}

/// Ten users who never think complete 333 cycles per second; ten who think for 90 ms at most 111, whatever the
/// server.
#[test]
fn more_cycles_than_the_interactive_law_allows_are_caught() {
    let analysis = recorded(ThinkTime::Fixed(ms(90)), Nanos::ZERO).analyze();
    let found = assert_caught(&analysis, "interactive-law");
    let Finding::InteractiveLaw { rate, users, think, bound } = found else { panic!("{found:?}") };
    assert_eq!((users, think), (10, ms(90)));
    assert!((bound - 111.11).abs() < 0.01 && (rate - 333.0).abs() < 3.0, "{rate} of {bound}");
    assert_eq!(rules_broken(&analysis), ["interactive-law"]);
}
