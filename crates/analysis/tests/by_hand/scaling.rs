//! Passes on groups of CPUs.

use analysis::Analysis;
use analysis::compare::{MismatchPolicy, RunInput, compare};
use model::{Load, Plan};
use units::Nanos;

use super::compare::seen_as;
use crate::record::{RecordedRun, ms, plan, users};

/// A pass of a server on `cpus` CPUs that carried `rate`, its CPUs `busy`.
fn pass(name: &str, cpus: u32, rate: f64, busy: f64) -> (Plan, Analysis) {
    let mut plan = plan(Load::Users(4), 1, 12);
    plan.sut.name = name.to_owned();
    plan.sut.cpus = (0..cpus).collect();
    plan.sut.quota = None;
    let operations = users(&plan, 4, |_, _| ms(60), Nanos::ZERO);
    let mut analysis = RecordedRun::of(plan.clone(), &operations).analyze();
    (analysis.load_points[0].score, analysis.load_points[0].sut_busy) = (Some(rate), Some(busy));
    (plan, analysis)
}

fn compared(passes: &[(Plan, Analysis)]) -> Vec<RunInput<'_>> {
    passes.iter().map(|pass| seen_as(&pass.0.sut.name, &pass.0.sut.name, pass)).collect()
}

/// The example of the order-entry specification, 9.7: X = 1000, 1900, 3400, 5200 on 1, 2, 4, 8 CPUs; S = 1, 1.9, 3.4,
/// 5.2; E = 1, 0.95, 0.85, 0.65; Karp–Flatt 0.05263, 0.05882, 0.07692; Amdahl λ 1050.559, σ 0.0870945; USL λ
/// 997.5327, σ 0.0395061, κ 0.00460886, with one degree of freedom and so a warning.
#[test]
fn speed_up_and_laws_follow_from_the_peaks() {
    let rates = [(1, 1000.0), (2, 1900.0), (4, 3400.0), (8, 5200.0)];
    let passes: Vec<_> = rates.iter().map(|(cpus, rate)| pass("nginx", *cpus, *rate, 0.99)).collect();
    let comparison = compare(&compared(&passes), MismatchPolicy::Refuse).unwrap();
    let [scaling] = &comparison.scalings[..] else { panic!("one server") };
    let of = |of: fn(&stats::SpeedUp) -> f64| -> Vec<f64> {
        scaling.groups.iter().map(|group| of(group.speed_up.as_ref().unwrap())).collect()
    };
    assert_eq!(of(|one| one.speed_up), [1.0, 1.9, 3.4, 5.2]);
    assert_eq!(of(|one| one.efficiency.0), [1.0, 0.95, 0.85, 0.65]);
    let serial = of(|one| one.serial_share.unwrap_or(0.0));
    for (found, expected) in serial.iter().zip([0.0, 0.05263, 0.05882, 0.07692]) {
        assert!((found - expected).abs() < 1e-5, "{found} for {expected}");
    }
    let amdahl = scaling.amdahl.as_ref().unwrap();
    let usl = scaling.usl.as_ref().unwrap();
    assert!((amdahl.lambda.value - 1050.559).abs() < 1e-3 && (amdahl.sigma.value - 0.0870945).abs() < 1e-6);
    assert!((usl.lambda.value - 997.5327).abs() < 1e-3 && (usl.kappa.value - 0.00460886).abs() < 1e-7);
    assert!(usl.quality.few_points);
}

/// Medians of repeats: 90, 100, 120 → 100; 190, 210 → 200.
#[test]
fn repeats_of_a_group_count_by_their_median() {
    let passes = [(1, 90.0), (2, 190.0), (1, 120.0), (2, 210.0), (1, 100.0)]
        .map(|(cpus, rate)| pass("nginx", cpus, rate, 0.97));
    let scaling = &compare(&compared(&passes), MismatchPolicy::Refuse).unwrap().scalings[0];
    let groups: Vec<(usize, f64, usize)> =
        scaling.groups.iter().map(|group| (group.cpus, group.score, group.scores.len())).collect();
    assert_eq!(groups, [(1, 100.0, 3), (2, 200.0, 2)]);
    assert!(scaling.usl.is_err(), "two sizes are too few for a law with three parameters");
}

#[test]
fn a_pass_whose_cpus_were_not_full_is_marked() {
    let passes = [pass("nginx", 1, 100.0, 0.96), pass("nginx", 2, 150.0, 0.80)];
    let scaling = &compare(&compared(&passes), MismatchPolicy::Refuse).unwrap().scalings[0];
    let bound: Vec<bool> = scaling.groups.iter().map(|group| group.is_bound_by_cpus()).collect();
    assert_eq!(bound, [true, false]);
}

/// The pass on four CPUs has its load thread on the last of them: a ratio of rates, and no evidence of scaling.
#[test]
fn a_pass_that_shares_its_cpus_with_the_load_is_in_no_law() {
    let mut passes: Vec<_> = [(1, 100.0), (2, 150.0), (3, 250.0), (4, 300.0)]
        .into_iter()
        .map(|(cpus, rate)| pass("nginx", cpus, rate, 0.99))
        .collect();
    for (plan, _) in &mut passes {
        plan.agents[0].cpus = vec![3];
    }
    let scaling = &compare(&compared(&passes), MismatchPolicy::Refuse).unwrap().scalings[0];
    let shared: Vec<bool> = scaling.groups.iter().map(|group| group.generator.is_some()).collect();
    assert_eq!(shared, [false, false, false, true]);
    let shared = &scaling.groups[3];
    assert!(!shared.is_bound_by_cpus() && shared.speed_up.as_ref().unwrap().speed_up == 3.0);
    let expected = compare(&compared(&passes[..3]), MismatchPolicy::Refuse).unwrap();
    assert_eq!(scaling.amdahl.as_ref().unwrap(), expected.scalings[0].amdahl.as_ref().unwrap());
}

#[test]
fn servers_are_told_apart_and_one_size_does_not_scale() {
    let passes = [("nginx", 1), ("apache", 1), ("nginx", 2), ("caddy", 2)]
        .map(|(name, cpus)| pass(name, cpus, 100.0 * f64::from(cpus), 0.99));
    let comparison = compare(&compared(&passes), MismatchPolicy::Refuse).unwrap();
    let servers: Vec<&str> = comparison.scalings.iter().map(|one| one.server.as_str()).collect();
    assert_eq!(servers, ["nginx"]);
}
