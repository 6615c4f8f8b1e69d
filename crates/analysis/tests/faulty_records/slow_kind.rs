//! A kind of operation that misses the limits of the benchmark.

use analysis::Finding;
use model::{Load, parse_limits};
use units::Nanos;

use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, remarks, rules_broken, users};

/// Ten users in turn of two kinds: 5 of 100 ms, 200 times each in 20 s, and 5 of 40 ms, 500 times each.
fn recorded(limits: [&str; 2]) -> RecordedRun {
    let mut plan = plan(Load::Users(10), 2, 20);
    for (kind, limits) in plan.catalog.kinds.iter_mut().zip(limits) {
        kind.limits = if limits.is_empty() { Vec::new() } else { parse_limits(limits).unwrap() };
    }
    let time = |user: u32| if user.is_multiple_of(2) { ms(100) } else { ms(40) };
    let operations = users(&plan, 10, |user, _| time(user), Nanos::ZERO);
    RecordedRun::of(plan, &operations)
}

#[test]
fn limits_that_are_kept_pass() {
    let analysis = recorded(["p99<110ms,mean<=101ms,max<102ms,errors<1%", "p90<41ms"]).analyze();
    assert_valid(&analysis);
    assert_eq!(remarks(&analysis, "kind-limits"), []);
}

#[test]
fn a_limit_holds_for_its_kind_alone() {
    let analysis = recorded(["p99<90ms", "p99<50ms"]).analyze();
    let found = assert_caught(&analysis, "kind-limits");
    let Finding::KindLimit { kind, limit, value } = found else { panic!("{found:?}") };
    assert_eq!(
        (kind.as_str(), limit.to_string().as_str()),
        (analysis.load_points[0].kinds[0].name.as_str(), "p99<90ms")
    );
    assert!((0.1..0.102).contains(&value), "{value}");
    assert_eq!(rules_broken(&analysis), ["kind-limits"]);
    for missed in ["mean<99ms", "max<100ms"] {
        assert_caught(&recorded([missed, ""]).analyze(), "kind-limits");
    }
}

/// p99.99 needs more than the 1,000 operations of the kind.
#[test]
fn a_percentile_of_too_few_values_is_not_judged() {
    let analysis = recorded(["p99.99<1ms", ""]).analyze();
    assert_valid(&analysis);
    let [Finding::KindLimitNotJudged { n: 1_000, needed, .. }] = remarks(&analysis, "kind-limits")[..] else {
        panic!("{:?}", remarks(&analysis, "kind-limits"))
    };
    assert!(10_000 <= needed, "{needed}");
}
