//! A score that does not fit the data: more than the users of a warehouse can enter, or so little that the server does not
//! carry them.

use analysis::Finding;
use analysis::finding::ScoreOfPart;
use model::{Load, Noun, SizingRule, ThinkTime};

use super::tamper::set_think;
use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, remarks, rules_broken, users};

/// Ten users, 30 ms of response and 90 ms of thinking: 83.3 operations per second, or 41.7 by the five users of a
/// warehouse.
fn recorded(n_parts: u32, floor: f64, ceiling: f64) -> RecordedRun {
    let mut plan = plan(Load::Users(10), 2, 20);
    set_think(&mut plan, ThinkTime::Fixed(ms(90)));
    let part = Noun::regular("warehouse");
    plan.catalog.sizing = Some(SizingRule { part, n_parts, users: 5, floor, ceiling });
    let operations = users(&plan, 10, |_, _| ms(30), ms(90));
    RecordedRun::of(plan, &operations)
}

/// 1,667 operations: chance and the ends of the phase may move their number by 3 ÷ √1,667 + 10 ÷ 1,667 = 7.9 %.
#[test]
fn a_score_within_the_range_or_within_chance_passes() {
    for (floor, ceiling) in [(30.0, 55.6), (44.0, 55.6), (30.0, 39.5)] {
        let analysis = recorded(2, floor, ceiling).analyze();
        assert_valid(&analysis);
        assert_eq!(remarks(&analysis, "sizing"), []);
    }
}

#[test]
fn more_than_users_can_enter_is_caught() {
    let analysis = recorded(2, 30.0, 38.0).analyze();
    let found = assert_caught(&analysis, "sizing");
    let Finding::SizingCeiling(ScoreOfPart { part, users, score, unit, bound }) = found else {
        panic!("{found:?}")
    };
    assert_eq!((part.as_str(), users, unit.as_str(), bound), ("warehouse", 5, "operations per second", 38.0));
    assert!((score - 41.67).abs() < 0.1, "{score}");
    assert_eq!(rules_broken(&analysis), ["sizing"]);
}

#[test]
fn a_server_that_does_not_carry_the_users_is_a_remark() {
    let analysis = recorded(2, 46.0, 55.6).analyze();
    assert_valid(&analysis);
    let [Finding::SizingFloor(ScoreOfPart { bound: 46.0, .. })] = remarks(&analysis, "sizing")[..] else {
        panic!("no remark")
    };
}

/// Ten users at four warehouses, which have room for twenty: the score is less per warehouse, but not that of the users.
#[test]
fn warehouses_with_fewer_users_are_judged_by_these() {
    let analysis = recorded(4, 30.0, 55.6).analyze();
    assert_valid(&analysis);
    assert_eq!(remarks(&analysis, "sizing"), []);
    let per_part = analysis.load_points[0].score_per_part.unwrap();
    assert!((per_part - 20.83).abs() < 0.1, "{per_part}");
}
