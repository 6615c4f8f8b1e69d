//! Limits against load points with known numbers.

use analysis::{Compliance, LevelKind, LoadPointResult, NoData, SearchGoal, comply, judge};
use model::{Rules, parse_limits};
use testkit::{ServiceTimeDistribution, SimServer, phases};
use units::Nanos;

use super::scenario::{Noise, Scenario};

/// One user, 10 ms each, `error_ratio` of the replies wrong: 100/s for 10 s.
fn point(error_ratio: f64) -> LoadPointResult {
    let server: fn(f64) -> SimServer = match error_ratio {
        0.0 => |_| SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(10)), Some(1)),
        1.0 => |_| SimServer {
            error_ratio: 1.0,
            ..SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(10)), Some(1))
        },
        _ => unreachable!("none or all"),
    };
    let kind = LevelKind::Users;
    let goal = SearchGoal::HighestPass;
    let least = 1.0;
    let most = 1.0;
    let phases = phases(1, 10);
    let noise = Noise::Shared;
    Scenario { name: "", seed: 31, kind, goal, limits: "", least, most, phases, server, noise }.run(1.0, 0)
}

fn check_limit(limit: &str, result: &LoadPointResult) -> Compliance {
    comply(parse_limits(limit).unwrap()[0], result)
}

#[test]
fn limits_are_met_and_missed_with_the_numbers() {
    let result = point(0.0);
    for (limit, is_met, value, interval) in [
        ("p50<11ms", true, 0.01, Some((0.01, 0.01))),
        ("p99<9ms", false, 0.01, Some((0.01, 0.01))),
        ("max<=10ms", true, 0.01, None),
        ("max<10ms", false, 0.01, None),
        ("errors<=0%", true, 0.0, Some((0.0, 0.002))),
        ("rate>=99/s", true, 100.0, Some((100.0, 100.0))),
        ("rate>101/s", false, 100.0, Some((100.0, 100.0))),
    ] {
        let found = check_limit(limit, &result);
        let (Compliance::Met(measured) | Compliance::Missed(measured)) = found else {
            panic!("{limit}: {found:?}");
        };
        assert_eq!((found.is_met(), measured.limit.to_string().as_str()), (is_met, limit));
        // Times are those of a histogram's slot.
        let near = |one: f64, other: f64| (one - other).abs() <= 1e-3 * other;
        assert!(near(measured.value, value), "{measured:?}");
        assert_eq!(measured.interval.is_some(), interval.is_some());
        for ((low, high), (from, to)) in measured.interval.into_iter().zip(interval) {
            assert!(near(low, from) && near(high, to), "{measured:?}");
        }
    }
}

#[test]
fn unmeasured_values_meet_no_limit() {
    let some = point(0.0);
    let none = point(1.0);
    assert_eq!(
        check_limit("p99.9<1s", &some),
        Compliance::Undecided(NoData::TooFew { n: 1000, needed: 3688 })
    );
    assert_eq!(check_limit("delivered>=95%", &some), Compliance::Undecided(NoData::ClosedLoop));
    for limit in ["p50<1h", "mean<1h", "max<1h", "rate>=1"] {
        assert!(!check_limit(limit, &none).is_met(), "{limit}");
        assert!(!check_limit(limit, &none).is_clear(), "{limit}");
    }
    assert!(
        matches!(check_limit("errors<100%", &none), Compliance::Missed(measured) if measured.value == 1.0)
    );
}

#[test]
fn a_percentile_near_its_limit_is_not_clear() {
    let result = point(0.0);
    let clear = |limit| check_limit(limit, &result).is_clear();
    assert!(clear("p99<20ms") && clear("p99<5ms") && !clear("p99<10.5ms") && !clear("max<20ms"));
    // No error in 1,000 shows that fewer than 2 in 1,000 are likely, not fewer than 1.
    assert!(clear("errors<1%") && !clear("errors<0.1%"));
}

#[test]
fn the_rate_limit_does_not_decide_whether_a_load_point_passes() {
    let rules = Rules::default();
    let judged =
        |limits: &str, result: &LoadPointResult| judge(result, &parse_limits(limits).unwrap(), &rules);
    let good = point(0.0);
    let bad = point(1.0);
    assert!(judged("p99.9<20ms", &good).has_too_few && !judged("p99.9<20ms,max<1ms", &good).has_too_few);
    let passes = judged("p99<20ms,rate>=5000", &good);
    assert!(passes.passes && passes.is_clear && !passes.is_generator_limited);
    assert!((passes.throughput - 100.0).abs() < 1.0);
    assert!(!judged("p99<20ms,errors<=0%,mean<5ms", &good).passes);
    // Validity is decided by rules, which it misses clearly.
    let fails = judged("errors<=100%", &bad);
    assert!(!fails.passes && fails.is_clear);
}
