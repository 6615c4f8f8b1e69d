//! The mail benchmarks under a virtual clock: the score that follows from the loop of users.

use mail::{LoopModel, MailScript};
use model::{Overrides, SutPlan};
use testkit::{ServiceTimeDistribution, SimServer, Simulation, benchmark_plan};
use units::Nanos;

/// An hour of 320 users with a sixteenth of the pauses, all operations of whom take 100 ms: 60 · U·N ÷ (Z + n·R) weighted
/// operations per minute, and a loop each in Z + n·R.
#[test]
fn the_score_is_that_of_the_loop() {
    for (id, script) in [("notes-mail", MailScript::Mail), ("notes-maildb", MailScript::MailDb)] {
        let overrides = Overrides { load: Some(vec![320]), ..Overrides::new(SutPlan::of("simulated")) };
        let plan = benchmark_plan(id, &[("pace", "16")], overrides);
        let service = Nanos::from_millis(100);
        let server = SimServer::new(ServiceTimeDistribution::Fixed(service), None);
        let found = Simulation::new(plan, server).analyze();
        assert!(found.verdict.reasons.is_empty(), "{id}: {:?}", found.verdict.reasons);
        let point = &found.load_points[0];
        let model = LoopModel::of(script, 16);
        let expected = model.weighted_per_minute(320.0, service.as_secs_f64());
        let score = point.score.unwrap();
        assert!((score / expected - 1.0).abs() < 0.01, "{id}: {score}, expected {expected}");
    }
}
