//! The application server benchmark under a virtual clock: capacity, score and the law of parts of response times.

use model::{Overrides, Plan, SutPlan};
use testkit::{ServiceTimeDistribution, SimServer, Simulation, StatedTimes, benchmark_plan};
use units::Nanos;

fn plan(load: &[u32], suite: &str) -> Plan {
    plan_with(load, &[("suite", suite)])
}

fn plan_with(load: &[u32], settings: &[(&str, &str)]) -> Plan {
    let simulated = Overrides::new(SutPlan::of("simulated"));
    let overrides = Overrides { quick: true, load: Some(load.to_vec()), ..simulated };
    benchmark_plan("serverbench", settings, overrides)
}

/// Two workers with exponential service of 2 ms: at 16 clients they are saturated at 1000/s, and all kinds take the same
/// time R̄ = 16 ÷ 1000 s, so that the score, 16 ÷ R̄, is the rate.
#[test]
fn capacity_and_score_are_recovered() {
    let plan = plan(&[1, 4, 16], "sys");
    let server = SimServer::new(ServiceTimeDistribution::Exponential(Nanos::from_millis(2)), Some(2));
    let found = Simulation::new(plan, server).analyze();
    assert!(found.verdict.reasons.is_empty(), "{:?}", found.verdict.reasons);
    let last = &found.load_points[2];
    assert!((last.rate / server.capacity() - 1.0).abs() < 0.02, "{}", last.rate);
    let headline = found.headline.as_ref().unwrap();
    assert_eq!(headline.load_point, 2);
    let score = last.score.unwrap();
    assert!((score / last.rate - 1.0).abs() < 0.02, "{score} and {}", last.rate);
    let names: Vec<&str> = last.kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names, ["CS", "PROC", "SC", "RREAD", "RWRITE"]);
}

#[test]
fn every_suite_is_valid() {
    for suite in ["net", "cpu", "disk"] {
        let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(1)), Some(2));
        let found = Simulation::new(plan(&[2], suite), server).analyze();
        assert!(found.verdict.reasons.is_empty(), "{suite}: {:?}", found.verdict.reasons);
        assert!((found.load_points[0].rate / 2000.0 - 1.0).abs() < 0.02, "{suite}");
    }
}

/// Every transaction has both of the server's times, and the report has their distributions.
#[test]
fn queue_and_service_have_percentiles() {
    let server = SimServer::new(ServiceTimeDistribution::Exponential(Nanos::from_millis(2)), Some(2));
    let found = Simulation::new(plan(&[4], "sys"), server).analyze();
    let point = &found.load_points[0];
    let [queue, service] = &point.spreads[..] else { panic!("{}", point.spreads.len()) };
    for (measure, spread) in [queue, service].into_iter().enumerate() {
        let spread = spread.as_ref().unwrap();
        assert_eq!(spread.histogram.n(), point.total.n);
        let mean = point.total.measure(measure).mean.unwrap();
        assert!((spread.mean.unwrap() - mean).abs() < 1e-9, "{mean}");
        assert!(spread.percentile(0.99).is_some());
    }
}

/// Over HTTP a server states both of its times, one, or none: an absent one is unknown and never 0, and neither rate nor score
/// depends on it.
#[test]
fn a_time_that_a_server_over_http_does_not_state_is_unknown() {
    for (stated, known) in [
        (StatedTimes::Both, [true, true]),
        (StatedTimes::Service, [false, true]),
        (StatedTimes::None, [false, false]),
    ] {
        let plan = plan_with(&[16], &[("suite", "net"), ("protocol", "http")]);
        let server = SimServer {
            stated,
            ..SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(2)), Some(2))
        };
        let found = Simulation::new(plan, server).analyze();
        assert!(found.verdict.reasons.is_empty(), "{stated:?}: {:?}", found.verdict.reasons);
        let point = &found.load_points[0];
        assert!((point.rate / server.capacity() - 1.0).abs() < 0.02, "{stated:?}: {}", point.rate);
        assert!((point.score.unwrap() / point.rate - 1.0).abs() < 0.02, "{stated:?}");
        for (measure, is_known) in known.into_iter().enumerate() {
            let n = point.spreads[measure].as_ref().map_or(0, |spread| spread.histogram.n());
            assert_eq!(n, if is_known { point.total.n } else { 0 }, "{stated:?}, {measure}");
            assert_eq!(point.total.measure(measure).mean.is_some(), is_known, "{stated:?}, {measure}");
        }
    }
}

/// A driver refuses times that are longer than the response, and frames always have both; in a record, which may come from
/// elsewhere, either fault is found.
#[test]
fn times_that_cannot_be_break_the_rule_of_conservation() {
    for (protocol, stated) in [
        ("http", StatedTimes::TooLong),
        ("binary", StatedTimes::TooLong),
        ("binary", StatedTimes::Service),
        ("binary", StatedTimes::None),
    ] {
        let plan = plan_with(&[2], &[("suite", "net"), ("protocol", protocol)]);
        let server = SimServer {
            stated,
            ..SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(1)), Some(2))
        };
        let found = Simulation::new(plan, server).analyze();
        let rules: Vec<&str> = found.verdict.reasons.iter().map(|reason| reason.rule()).collect();
        assert!(rules.contains(&"conservation"), "{protocol}, {stated:?}: {rules:?}");
    }
}

/// The plan is stored with the run and read by whoever knows the family.
#[test]
fn the_plan_survives_storage() {
    let plan = plan(&[1], "disk");
    let stored = serde_json::to_value(&plan).unwrap();
    assert_eq!(stored["workload"]["app"]["suite"], "disk");
    assert_eq!(serde_json::from_value::<Plan>(stored).unwrap(), plan);
    assert_eq!(plan.catalog.response_parts, [0, 1]);
}
