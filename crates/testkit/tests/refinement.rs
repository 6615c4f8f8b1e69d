//! Load points that a run adds, against simulated servers whose capacity is known.

use analysis::LoadPointResult;
use analysis::refinement::next_load;
use model::{LoadPoint, Plan, Refinement, Rules};
use testkit::{ServiceTimeDistribution, SimServer, Simulation, closed_plan, phases};
use units::Nanos;

/// The loads of a run of a URL that names none.
const PLANNED: [u32; 4] = [1, 10, 50, 100];

/// Runs one load point against a server that serves so many at once, 20 ms each.
fn run(plan: &Plan, point: LoadPoint, n_at_once: u32) -> LoadPointResult {
    let plan = Plan { load_points: vec![point], refinement: None, ..plan.clone() };
    let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(20)), Some(n_at_once));
    Simulation::new(plan, server).analyze().load_points.remove(0)
}

/// Returns the loads that are added to the planned ones, as `3 (1-10)`: between which two.
fn added(planned: &[u32], n_at_once: u32, added_max: u32) -> String {
    let refinement = Some(Refinement { n_planned: planned.len() as u32, added_max });
    let rules = Rules { operations_min: 40, ..Rules::default() };
    let mut plan = Plan { refinement, rules, ..closed_plan(7, planned, phases(1, 1)) };
    let mut results: Vec<LoadPointResult> = Vec::new();
    let mut texts = Vec::new();
    loop {
        if let Some(point) = plan.load_points.get(results.len()) {
            results.push(run(&plan, *point, n_at_once));
            continue;
        }
        let Some(next) = next_load(&plan, &results) else { break };
        let [load, below, saturated] = [next.load, next.below, next.saturated].map(|load| load.level());
        texts.push(format!("{load} ({below}-{saturated})"));
        plan.add_load_point(LoadPoint { index: results.len() as u32, load: next.load });
    }
    texts.join(", ")
}

/// By hand: with n at once the rate of N users is 50·min(N, n), and the server saturates at the lowest load with 97 % of the
/// highest. 2: between 1 and 10, where 3 users have all of it, so between 1 and 3. 4: 3 users have 150 of 200, so between 3
/// and 10. 12: between 10 and 50, where 22 users have all of it, so between 10 and 22.
#[test]
fn loads_are_added_where_a_server_saturates() {
    assert_eq!(added(&PLANNED, 2, 2), "3 (1-10), 2 (1-3)");
    assert_eq!(added(&PLANNED, 4, 2), "3 (1-10), 5 (3-10)");
    assert_eq!(added(&PLANNED, 12, 2), "22 (10-50), 15 (10-22)");
}

#[test]
fn no_load_is_added_beyond_the_plan_or_without_need() {
    assert_eq!(added(&PLANNED, 4, 1), "3 (1-10)", "no more than the plan allows");
    assert_eq!(added(&[1, 10], 20, 2), "", "the rate grows to the end");
    assert_eq!(added(&[1, 10], 1, 2), "", "it never grows");
    assert_eq!(added(&[5, 10, 20], 10, 2), "", "the gap is no wider than between loads that double");
}
