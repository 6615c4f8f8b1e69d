//! How runs end, and what their verdicts say.

use analysis::State;
use model::{Ending, Load, LoadPoint, Modification};
use units::Nanos;

use crate::record::{
    Operation, Scene, assert_caught, assert_valid, ms, plan, records, remarks, rules_broken, scheduled, users,
};

/// Two load points of 4 and 8 users.
fn two_load_points() -> Scene {
    let mut plan = plan(Load::Users(4), 1, 6);
    plan.load_points.push(LoadPoint { index: 1, load: Load::Users(8) });
    let mut all = records(&plan, 0, 0, &users(&plan, 4, |_, _| ms(70), ms(0)));
    all.extend(records(&plan, 1, 0, &users(&plan, 8, |_, _| ms(70), ms(0))));
    Scene { plan, records: all, ending: Ending::Complete }
}

/// Cut after 4 s of the second load point: its steady phase has 3 s of 6, the first is as good as ever.
#[test]
fn a_run_that_died_is_incomplete_and_keeps_its_finished_load_points() {
    let mut scene = two_load_points();
    assert_valid(&scene.analyze());
    scene.records.retain(|record| record.load_point == 0 || record.index < 4);
    scene.ending = Ending::Missing;
    let analysis = scene.analyze();
    assert_eq!(analysis.verdict.state, State::Incomplete);
    let states: Vec<State> = analysis.load_points.iter().map(|point| point.verdict.state).collect();
    assert_eq!(states, [State::Valid, State::Incomplete]);
    assert_eq!(rules_broken(&analysis), ["ending", "steady-length"]);
    assert_eq!(analysis.load_points[1].length, Nanos::from_secs(3));
    // 8 users ÷ 70 ms: what was recorded is divided by what was recorded.
    assert!((analysis.load_points[1].rate - 114.3).abs() < 3.0, "{}", analysis.load_points[1].rate);
    assert_eq!(analysis.headline.unwrap().load_point, 0);
    assert_eq!(analysis.curve.peak, Some(0));
}

#[test]
fn a_run_stopped_between_load_points_is_incomplete() {
    let mut scene = two_load_points();
    scene.records.retain(|record| record.load_point == 0);
    scene.ending = Ending::Stopped("interrupted".to_owned());
    let analysis = scene.analyze();
    assert_eq!(analysis.verdict.state, State::Incomplete);
    assert_eq!(analysis.verdict.reasons[0].text, "the run was stopped: interrupted");
    assert_eq!(rules_broken(&analysis), ["ending"]);
    scene.ending = Ending::Complete;
    assert_caught(&scene.analyze(), "load-points");
}

#[test]
fn a_run_whose_end_lacks_only_the_ramp_down_keeps_its_last_load_point() {
    let mut scene = two_load_points();
    scene.records.retain(|record| record.load_point == 0 || record.index < 7);
    scene.ending = Ending::Missing;
    assert_eq!(scene.analyze().load_points[1].verdict.state, State::Valid);
}

#[test]
fn a_record_of_an_unplanned_load_point_is_found() {
    let mut scene = two_load_points();
    scene.plan.load_points.pop();
    let text = assert_caught(&scene.analyze(), "load-points");
    assert!(text.starts_with("a record belongs to load point 1, which is not in the plan; and"), "{text}");
}

#[test]
fn deviations_from_the_benchmark_are_a_remark() {
    let mut scene = two_load_points();
    let modification =
        |what: &str| Modification { what: what.to_owned(), standard: "a".to_owned(), ours: "b".to_owned() };
    scene.plan.modifications = vec![modification("load"), modification("steady phase")];
    let analysis = scene.analyze();
    assert_valid(&analysis);
    assert_eq!(
        remarks(&analysis, "modified"),
        ["differs from the benchmark's definition in: load, steady phase"]
    );
    assert_eq!(analysis.modifications.len(), 2);
}

/// 200/s offered, 20 places, 125 ms each: 160/s can be delivered.
#[test]
fn an_open_loop_that_is_not_delivered_is_invalid() {
    let plan = Scene::open(Nanos::ZERO).plan;
    let operations = scheduled(&plan, 0, ms(125), Nanos::ZERO);
    let analysis = Scene::of(plan, &operations).analyze();
    let text = assert_caught(&analysis, "delivered");
    assert_eq!(text, "160.0 of 200.0 operations per second were delivered, at least 95 % must be");
    // They were late because the places were taken, which is no fault of the generator.
    assert_eq!(rules_broken(&analysis), ["delivered"]);
}

/// 100/s and 200/s offered, 20 places, 125 ms each: the first load point is delivered, the second cannot be.
fn overloaded_at_the_end() -> Scene {
    let mut plan = Scene::open(Nanos::ZERO).plan;
    let load = |per_second| Load::Rate { per_second, arrivals: model::Arrivals::Constant, in_flight_max: 20 };
    plan.load_points =
        vec![LoadPoint { index: 0, load: load(100.0) }, LoadPoint { index: 1, load: load(200.0) }];
    let of_point = |index: u32| {
        let operations = scheduled(&plan, index as usize, ms(125), Nanos::ZERO);
        records(&plan, index as usize, 0, &operations)
    };
    let records = [0, 1].map(of_point).concat();
    Scene { plan, records, ending: Ending::Complete }
}

/// The last load point shows where the capacity ends. It is invalid itself, and never the headline.
#[test]
fn a_run_stands_without_a_last_load_point_that_was_not_delivered() {
    let analysis = overloaded_at_the_end().analyze();
    assert_valid(&analysis);
    let states: Vec<State> = analysis.load_points.iter().map(|point| point.verdict.state).collect();
    assert_eq!(states, [State::Valid, State::Invalid]);
    assert_eq!(remarks(&analysis, "delivered").len(), 1);
    assert_eq!(analysis.headline.unwrap().load_point, 0);
}

#[test]
fn only_the_last_load_point_may_miss_and_only_its_delivery() {
    let mut first = overloaded_at_the_end();
    for point in &mut first.plan.load_points {
        point.index = 1 - point.index;
    }
    first.plan.load_points.reverse();
    first.records.iter_mut().for_each(|record| record.load_point = 1 - record.load_point);
    first.records.sort_by_key(|record| record.load_point);
    assert_caught(&first.analyze(), "delivered");

    let mut broken = overloaded_at_the_end();
    broken.records.last_mut().unwrap().flow.due += 1;
    assert_eq!(rules_broken(&broken.analyze()), ["conservation", "delivered"]);
}

/// One operation that never fell due, and one that fell due twice.
#[test]
fn an_open_loop_that_leaves_its_schedule_is_invalid() {
    let plan = Scene::open(Nanos::ZERO).plan;
    let right = scheduled(&plan, 0, ms(5), Nanos::ZERO);
    let mut fewer = right.clone();
    fewer.remove(2_000);
    let text = assert_caught(&Scene::of(plan.clone(), &fewer).analyze(), "schedule");
    assert_eq!(text, "3999 operations fell due in the steady phase, the schedule has 4000");
    let mut more = right;
    more.push(Operation { ..more[2_000] });
    assert_eq!(rules_broken(&Scene::of(plan, &more).analyze()), ["schedule"]);
}

/// 70 ms at first, 1 ms more each second: 20 ms over the steady phase, a quarter of the mean.
#[test]
fn a_drift_is_a_remark() {
    let plan = plan(Load::Users(10), 2, 20);
    let mut operations = Vec::new();
    for user in 0..10 {
        let mut due = Nanos::ZERO;
        while due < plan.phases.issuing() {
            let done = due + Nanos(70_000_000 + due.0 / 1_000);
            let outcome = model::Outcome::Ok;
            operations.push(Operation { kind: user % 2, due, sent: due, done, connect: ms(1), outcome });
            due = done;
        }
    }
    let analysis = Scene::of(plan, &operations).analyze();
    assert_valid(&analysis);
    let texts = remarks(&analysis, "drift");
    assert!(texts[0].starts_with("the rate changed by -2"), "{texts:?}");
    assert!(texts[1].starts_with("the mean response time changed by +2"), "{texts:?}");
    assert!(remarks(&Scene::closed().analyze(), "drift").is_empty());
}

/// A body that is shorter than its object would have been a wrong length, not a success.
#[test]
fn bytes_that_are_not_those_of_the_objects_are_caught() {
    let mut scene = two_load_points();
    scene.records[3].kinds[1].ok.body_bytes.sum -= 1;
    let text = assert_caught(&scene.analyze(), "conservation");
    assert!(text.starts_with("interval 3 of agent 0, kind 1: bodies have "), "{text}");
}

/// Each field of the flow, one too many in one second of the steady phase.
#[test]
fn every_miscount_of_the_flow_is_caught() {
    type Count = fn(&mut model::Flow) -> &mut u64;
    let counts: [Count; 11] = [
        |flow| &mut flow.waiting_at_start,
        |flow| &mut flow.due,
        |flow| &mut flow.started,
        |flow| &mut flow.skipped,
        |flow| &mut flow.waiting_at_end,
        |flow| &mut flow.in_flight_at_start,
        |flow| &mut flow.ok,
        |flow| &mut flow.failed,
        |flow| &mut flow.timed_out,
        |flow| &mut flow.abandoned,
        |flow| &mut flow.in_flight_at_end,
    ];
    let right = two_load_points();
    for (index, count) in counts.iter().enumerate() {
        let mut wrong = right.clone();
        *count(&mut wrong.records[3].flow) += 1;
        assert!(rules_broken(&wrong.analyze()).contains(&"conservation"), "count {index}");
    }
}

/// Goal: no panic on any numbers that a damaged file may bring. Everything is as large as it can be.
#[test]
fn damaged_records_are_invalid_and_no_more() {
    let mut scene = two_load_points();
    for record in &mut scene.records {
        let most = u64::MAX;
        let moments =
            stats::Moments { n: most, sum: u128::MAX, sum_squares: u128::MAX, min: most, max: most };
        for kind in &mut record.kinds {
            kind.ok = model::OkTotals {
                response: moments,
                connect: moments,
                body_bytes: moments,
                ..kind.ok.clone()
            };
            kind.failed.entry(model::Outcome::Reset).or_default().n = most;
        }
        record.units.iter_mut().for_each(|unit| unit.ok = most);
        (record.start, record.end) = (Nanos(most), Nanos(most - 1));
        record.flow = model::Flow {
            due: most,
            ok: most,
            failed: most,
            in_flight_at_end: most,
            in_flight_age_ns: u128::MAX,
            in_flight_ns: u128::MAX,
            thinking_ns: u128::MAX,
            ..record.flow
        };
        record.health = model::Health { threads: u32::MAX, cpu: Nanos::MAX, run_queue: Nanos::MAX };
        record.sut = Some(model::SutUse { cpu: Nanos::MAX, throttled: Nanos::MAX });
    }
    assert_caught(&scene.analyze(), "time-axis");
    scene.records.iter_mut().for_each(|record| record.kinds.clear());
    assert_caught(&scene.analyze(), "conservation");
    scene.records.iter_mut().for_each(|record| (record.start, record.end) = (Nanos::ZERO, Nanos::MAX));
    scene.records.reverse();
    assert_caught(&scene.analyze(), "time-axis");
}
