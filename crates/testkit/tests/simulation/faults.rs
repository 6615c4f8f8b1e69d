//! Injected leaks, errors and refusals are found by the analysis.

use analysis::Finding;
use analysis::finding::SteadyFigure;
use model::{Arrivals, Outcome, Page, Phase, Request, WebWorkload};
use testkit::{
    ServiceTimeDistribution, SimServer, Simulation, assert_conserved, closed_plan, one_object, open_plan,
    phases, with_seed, with_workload,
};

use super::{assert_valid, close, ms, reasons, remarks, us};

/// Three standard deviations of a binomial count.
#[track_caller]
fn binomial(what: &str, found: u64, n: u64, p: f64) {
    let expected = n as f64 * p;
    let n = n as f64;
    let deviation = (n * p * (1.0 - p)).sqrt();
    assert!((found as f64 - expected).abs() <= 3.0 * deviation, "{what}: {found}, expected {expected}");
}

/// The service time grows by 1 % per second, from second 5 to 45: from 1.05 to 1.45 of its initial value, by
/// 0.40 of 1.25 on average, about a third.
#[test]
fn a_leak_is_not_a_steady_state() {
    with_seed(6, |seed| {
        let server =
            SimServer { leak: 0.01, ..SimServer::new(ServiceTimeDistribution::Exponential(ms(2)), None) };
        let plan = open_plan(seed, 500.0, Arrivals::Constant, phases(5, 40));
        let found = Simulation::new(plan.clone(), server).analyze();
        let point = &found.load_points[0];
        assert!(remarks(point).contains(&"steady-state"), "{:?}", point.verdict);
        let drift =
            &point.verdict.remarks.iter().find(|remark| remark.rule() == "steady-state").unwrap().finding;
        let Finding::Drift { figure: SteadyFigure::ResponseMean, by } = drift else { panic!("{drift:?}") };
        assert!((0.30..0.40).contains(&by.value), "{by:?}");

        let healthy = Simulation::new(plan, SimServer { leak: 0.0, ..server }).analyze();
        assert!(!remarks(&healthy.load_points[0]).contains(&"steady-state"), "{:?}", healthy.verdict);
    });
}

#[test]
fn random_errors_are_counted_with_their_first_example() {
    with_seed(7, |seed| {
        let faulty = SimServer {
            error_ratio: 0.01,
            refusal_ratio: 0.02,
            network: us(50),
            ..SimServer::new(ServiceTimeDistribution::Fixed(ms(1)), None)
        };
        let plan = open_plan(seed, 500.0, Arrivals::Constant, phases(1, 20));
        let simulation = Simulation::new(plan, faulty);
        let found = simulation.analyze();
        let point = &found.load_points[0];
        let count = |outcome| point.failures.iter().find(|(one, _)| *one == outcome).map_or(0, |(_, n)| *n);
        assert_eq!(point.completed(), 10_000);
        binomial("refused", count(Outcome::Refused), 10_000, 0.02);
        binomial("wrong status", count(Outcome::WrongStatus), 10_000, 0.98 * 0.01);
        assert_eq!(reasons(point), ["errors"]);

        let recording = simulation.record();
        assert_conserved(&recording.intervals);
        let mut kinds: Vec<Outcome> = recording.examples.iter().map(|example| example.outcome).collect();
        kinds.sort();
        assert_eq!(kinds, [Outcome::Refused, Outcome::WrongStatus], "one example each");
        let wrong = recording.examples.iter().find(|one| one.outcome == Outcome::WrongStatus).unwrap();
        assert_eq!(wrong.text, "object 0: wrong status (503)");
        let n_before = recording.requests.iter().filter(|request| request.sent < wrong.at).count();
        assert!(n_before < 1_000, "the first of many, not number {n_before}");
    });
}

/// A page of three files: each file but the first is requested only if the previous one succeeded, with
/// probability 1 − p; so a page is complete with probability (1 − p)³.
#[test]
fn a_failure_skips_the_rest_of_the_page() {
    with_seed(8, |seed| {
        let p = 0.1;
        let object = |index: u64| Request::file(&format!("/{index}"), 100 * index);
        let workload = WebWorkload {
            requests: (1..=3).map(object).collect(),
            pages: vec![Page { weight: 1, requests: vec![0, 1, 2] }],
            ..one_object()
        };
        let plan = with_workload(closed_plan(seed, &[10], phases(1, 20)), workload);
        let server = SimServer {
            error_ratio: p,
            ..SimServer::new(ServiceTimeDistribution::Exponential(ms(10)), None)
        };
        let recording = Simulation::new(plan, server).record();
        assert_conserved(&recording.intervals);
        let asked =
            |object| recording.requests.iter().filter(|request| request.object == object).count() as u64;
        binomial("second files", asked(1), asked(0), 1.0 - p);
        binomial("third files", asked(2), asked(1), 1.0 - p);
        // In the drain users have left: an operation still ends, but its page does not count.
        let counted = || recording.intervals.iter().filter(|record| record.phase != Phase::Drain);
        let units = counted().flat_map(|record| &record.units);
        let (ok, failed) = units.fold((0, 0), |(ok, failed), unit| (ok + unit.ok, failed + unit.failed));
        binomial("complete pages", ok, ok + failed, (1.0 - p).powi(3));
        let failures: u64 = counted().map(|record| record.flow.failed).sum();
        assert_eq!(failures, failed, "each failure ends one page, and nothing is tried again");
    });
}

#[test]
fn network_delay_is_part_of_connect_and_response_time() {
    with_seed(9, |seed| {
        let server =
            SimServer { network: ms(5), ..SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), None) };
        let found = Simulation::new(closed_plan(seed, &[4], phases(1, 10)), server).analyze();
        assert_valid(&found);
        let point = &found.load_points[0];
        close("connect", point.spreads[0].as_ref().unwrap().mean.unwrap(), 0.010, 1e-9);
        close("response", point.response.mean.unwrap(), 0.030, 1e-9);
        close("rate", point.rate, 4.0 / 0.030, 0.01);
    });
}
