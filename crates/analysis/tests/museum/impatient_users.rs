//! Users who do not think as long as they should: a load point with N of them is a higher load than it says.

use model::{Load, Plan, Think};
use units::Nanos;

use crate::record::{Scene, assert_caught, assert_valid, ms, plan, remarks, rules_broken, users};

/// Ten users, 30 ms of response; 90 ms of thinking are meant.
fn scene(think: Think, thought: Nanos) -> Scene {
    let mut plan: Plan = plan(Load::Users(10), 2, 20);
    plan.workload.think = think;
    let operations = users(&plan, 10, |_, _| ms(30), thought);
    Scene::of(plan, &operations)
}

#[test]
fn the_right_think_time_passes() {
    for think in [Think::Fixed(ms(90)), Think::Exponential(ms(90))] {
        let analysis = scene(think, ms(90)).analyze();
        assert_valid(&analysis);
        assert_eq!(remarks(&analysis, "think"), [""; 0]);
    }
}

#[test]
fn a_think_time_that_is_off_is_a_remark() {
    let analysis = scene(Think::Fixed(ms(90)), ms(80)).analyze();
    assert_valid(&analysis);
    let text = &remarks(&analysis, "think")[0];
    assert!(text.starts_with("users thought for 80.") && text.ends_with("90.0 ms are meant"), "{text}");
    // 1,700 exponential times: chance and 2 % allow 9 %, 80 ms is 11 % off.
    assert_eq!(remarks(&scene(Think::Exponential(ms(90)), ms(80)).analyze(), "think").len(), 1);
    assert_eq!(remarks(&scene(Think::Exponential(ms(90)), ms(84)).analyze(), "think").len(), 0);
}

/// Lateness is no think time: back 12 ms late after 90 ms, counted in response times already.
#[test]
fn being_late_is_not_thinking_longer() {
    let mut late = plan(Load::Users(10), 2, 20);
    late.workload.think = Think::Fixed(ms(90));
    let mut operations = users(&late, 10, |_, _| ms(42), ms(90));
    operations.iter_mut().for_each(|operation| operation.sent += ms(12));
    let analysis = Scene::of(late, &operations).analyze();
    assert_valid(&analysis);
    assert_eq!(remarks(&analysis, "think"), [""; 0]);
}

/// Ten users who never think turn 333 times per second; ten who think for 90 ms cannot pass 111, whatever the
/// server.
#[test]
fn more_turns_than_the_interactive_law_allows_are_caught() {
    let analysis = scene(Think::Fixed(ms(90)), Nanos::ZERO).analyze();
    let text = assert_caught(&analysis, "interactive-law");
    assert!(text.ends_with("10 users who think for 90.0 ms can turn 111.11 times at most"), "{text}");
    assert_eq!(rules_broken(&analysis), ["interactive-law"]);
}
