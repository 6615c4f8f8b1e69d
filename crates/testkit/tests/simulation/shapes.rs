//! Loads over time: users come and go with the level and keep their place, and schedules follow it.

use analysis::VerdictState;
use model::{
    AgentPlan, Arrivals, IntervalRecord, Load, Overrides, Plan, Shape, Stage, SutPlan, ThinkTime,
    WebWorkload, parse_limits, parse_stages,
};
use testkit::{
    ServiceTimeDistribution, SimServer, Simulation, assert_conserved, benchmark_plan, closed_plan,
    one_object, open_plan, phases, with_seed, with_workload,
};
use units::Nanos;

use super::{ms, s};

/// Returns a plan whose only load point has these stages.
fn shaped(plan: Plan, stages: &str) -> Plan {
    let shape = Shape::of(&parse_stages(stages).expect("stages"), Vec::new());
    let mut plan = Plan { phases: phases(0, shape.length().0 / 1_000_000_000), ..plan };
    plan.load_points[0].load = plan.load_points[0].load.at_level(shape.level_max());
    plan.shape = Some(shape);
    plan
}

/// Users who think for 700 ms and are served in 100 ms.
fn thinkers(seed: u64, stages: &str) -> Plan {
    let workload = WebWorkload { think: ThinkTime::Fixed(ms(700)), ..one_object() };
    shaped(with_workload(closed_plan(seed, &[1], phases(0, 1)), workload), stages)
}

fn server() -> SimServer {
    SimServer::new(ServiceTimeDistribution::Fixed(ms(100)), None)
}

/// Returns the sum of a figure over the load threads for each interval.
fn by_interval(records: &[IntervalRecord], of: fn(&IntervalRecord) -> u128) -> Vec<u128> {
    let mut sums = Vec::new();
    for record in records {
        sums.resize(sums.len().max(record.index as usize + 1), 0);
        sums[record.index as usize] += of(record);
    }
    sums
}

/// The mean number of users at work in each second is the level's: a user is either in flight or thinking while it is
/// present, but for the tenth of a second in which its last operation may end.
#[test]
fn as_many_users_are_at_work_as_the_shape_says() {
    const STAGES: &str = "10s:0..40,5s:40,3s:8,6s:8..24,1s:60,5s:24..0";
    with_seed(101, |seed| {
        for blocks in [false, true] {
            let plan = thinkers(seed, STAGES);
            let shape = plan.shape.clone().expect("a shape");
            let recording = Simulation { blocks, ..Simulation::new(plan, server()) }.record();
            assert_conserved(&recording.intervals);
            let present = by_interval(&recording.intervals, |record| {
                record.flow.in_flight_ns + record.flow.thinking_ns
            });
            for second in 0..30 {
                let found = present[second as usize] as f64 / 1e9;
                let level = shape.level_mean(s(second)..s(second + 1));
                // Of the users who have left, one in eight is in flight, for half of its 100 ms.
                let before = shape.level_at(s(second).saturating_sub(Nanos(1)));
                let late = (before - level).max(0.0) / 8.0 * 0.1 + 0.1;
                assert!((found - level).abs() <= 0.5 + late, "{found} at {second} s, level {level}");
            }
            let last = recording.intervals.last().expect("records").flow;
            assert_eq!((last.in_flight_at_end, last.abandoned), (0, 0));
        }
    });
}

/// By hand: operations of 100 ms, and 700 ms of thinking after each. User 1 is there from 0 to 2 and from 5 to 9 s. Its pauses end
/// at 0.8, 1.6 and 2.4 s; the last one is interrupted at 2 s, with 0.4 s to go, which it makes from 5 s on.
#[test]
fn who_comes_back_makes_the_rest_of_the_pause() {
    for blocks in [false, true] {
        let plan = thinkers(1, "2s:2,3s:1,4s:2");
        let recording = Simulation { blocks, ..Simulation::new(plan, server()) }.record();
        let sent: Vec<Nanos> = recording
            .requests
            .iter()
            .filter(|request| request.user == 1)
            .map(|request| request.sent)
            .collect();
        assert_eq!(sent, [0, 800, 1_600, 5_400, 6_200, 7_000, 7_800, 8_600].map(ms));
        let thinking = by_interval(&recording.intervals, |record| record.flow.thinking_ns);
        // Meanwhile user 0 thinks until 2.4, from 2.5 to 3.2, and from 3.3 to 4 s.
        assert_eq!(thinking[2..4], [900_000_000, 900_000_000]);
        assert!(recording.intervals[3..5].iter().all(|record| record.flow.in_flight_at_end <= 1));
    }
}

/// Goal: a stream with four requests in flight takes their answers with it into an absence, and goes on behind them: it reads
/// every block once, with four in flight while it is present.
#[test]
fn a_stream_keeps_its_place_and_its_requests_in_flight() {
    let overrides = Overrides { load: Some(vec![2]), ..Overrides::new(SutPlan::of("simulated")) };
    let settings = [("transport", "smb"), ("in-flight", "4"), ("file", "32 MiB")];
    let plan = shaped(benchmark_plan("seqread", &settings, overrides), "2s:2,3s:1,3s:2");
    let server = SimServer::new(ServiceTimeDistribution::Fixed(ms(30)), None);
    let recording = Simulation::new(plan, server).record();
    assert_conserved(&recording.intervals);
    let in_flight = by_interval(&recording.intervals, |record| record.flow.in_flight_ns);
    for (second, users) in [2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0].into_iter().enumerate() {
        let found = in_flight[second] as f64 / 1e9;
        // After an absence up to 30 ms of the last requests; a file is opened and closed alone.
        assert!((users * 4.0 - found).abs() < 0.45, "{found} in second {second}");
    }
    let kinds = |from, to| -> Vec<u32> {
        let of = recording.requests.iter().filter(|request| request.user == 1);
        of.filter(|request| (from..to).contains(&request.sent)).map(|request| request.object).collect()
    };
    assert_eq!(kinds(ms(2_030), s(5)), [0; 0], "nothing is sent in an absence");
    assert!(100 < kinds(s(5), s(6)).len());
}

/// An operation in flight when its user is to leave is finished, and one that lasts beyond the absence ends it.
#[test]
fn operations_in_flight_outlast_an_absence() {
    let plan = shaped(closed_plan(1, &[1], phases(0, 1)), "2s:2,1s:1,3s:2");
    let server = SimServer::new(ServiceTimeDistribution::Fixed(ms(1_500)), None);
    for blocks in [false, true] {
        let recording = Simulation { blocks, ..Simulation::new(plan.clone(), server) }.record();
        assert_conserved(&recording.intervals);
        let sent = |user| -> Vec<Nanos> {
            recording
                .requests
                .iter()
                .filter(|request| request.user == user)
                .map(|request| request.sent)
                .collect()
        };
        assert_eq!(sent(0), [0, 1_500, 3_000, 4_500].map(ms));
        // Sent at 1.5 s and done at 3 s, when the absence is just over.
        assert_eq!(sent(1), [0, 1_500, 3_000, 4_500].map(ms));
    }
}

/// Goal: what a user does is its own whatever the threads; a server without a queue serves all alike, so that the records are the
/// same when they are merged.
#[test]
fn the_records_are_the_same_however_many_threads_and_agents() {
    let plans = [
        thinkers(5, "6s:0..30,3s:30,3s:3,4s:20..0"),
        shaped(open_plan(5, 1.0, Arrivals::Constant, phases(0, 1)), "6s:0..300/s,3s:40/s,4s:200..0/s"),
        shaped(open_plan(5, 1.0, Arrivals::Poisson, phases(0, 1)), "6s:0..300/s,3s:40/s,4s:200..0/s"),
    ];
    for plan in plans {
        let merged = |agents: &[u32]| -> Vec<(u128, u128, u128, u128)> {
            let agents = AgentPlan::in_sequence(agents.iter().map(|threads| AgentPlan::only(*threads)));
            let recording = Simulation::new(Plan { agents, ..plan.clone() }, server()).record();
            assert_conserved(&recording.intervals);
            let of = |of| by_interval(&recording.intervals, of).into_iter();
            let due = of(|record| record.flow.due.into());
            let ok = of(|record| record.flow.ok.into());
            let in_flight = of(|record| record.flow.in_flight_ns);
            let thinking = of(|record| record.flow.thinking_ns);
            due.zip(ok)
                .zip(in_flight)
                .zip(thinking)
                .map(|(((due, ok), one), other)| (due, ok, one, other))
                .collect()
        };
        let alone = merged(&[1]);
        for agents in [&[2][..], &[7], &[1, 1], &[2, 1, 4]] {
            assert!(merged(agents) == alone, "{:?} by {agents:?}", plan.load_points[0].load);
        }
    }
}

/// As many operations fall due in each second as the integral of the level, to one.
#[test]
fn an_open_loop_offers_the_integral_of_the_level() {
    let plan =
        shaped(open_plan(3, 1.0, Arrivals::Constant, phases(0, 1)), "20s:0..300/s,2s:1000/s,8s:300..50/s");
    let shape = plan.shape.clone().expect("a shape");
    assert!(matches!(plan.load_points[0].load, Load::Rate { per_second: 1000.0, .. }));
    let recording = Simulation::new(plan, server()).record();
    assert_conserved(&recording.intervals);
    let due = by_interval(&recording.intervals, |record| record.flow.due.into());
    for second in 0..30 {
        let level = shape.level_mean(s(second)..s(second + 1));
        assert!((due[second as usize] as f64 - level).abs() <= 1.0, "{} at {second} s", due[second as usize]);
    }
    let planned: f64 =
        shape.stages.iter().map(|Stage { length, from, to }| (from + to) / 2.0 * length.as_secs_f64()).sum();
    assert_eq!(due.iter().sum::<u128>(), planned.round() as u128);
}

/// Goal: the analysis finds the capacity that was put in. Four workers of 10 ms do 400 operations per second. The load passes
/// that at 20 s and is 20/s higher every second: 10·t² operations are behind t seconds later, and take longer than 200 ms from
/// 80 on, 2.8 s later. So the window from 18 to 23 s breaks the limit, or the next: at 410/s or 430/s on average.
#[test]
fn a_rising_load_finds_the_capacity_of_a_server() {
    let server = SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), Some(4));
    let mut plan = shaped(open_plan(7, 1.0, Arrivals::Constant, phases(0, 1)), "30s:0..600/s");
    plan.shape.as_mut().unwrap().until = parse_limits("p99<200ms").unwrap();
    let analysis = Simulation::new(plan, server).analyze();
    let point = &analysis.load_points[0];
    let until = point.until.as_ref().unwrap();
    let (broken, held) = (until.broken.unwrap().window, until.held.unwrap());
    assert!((405.0..435.0).contains(&broken.level_mean), "{broken:?}");
    assert_eq!(held.end + s(1), broken.end);
    assert_eq!(point.stages.len(), 6);
    assert_eq!(analysis.verdict.state, VerdictState::Valid, "{:#?}", analysis.verdict.reasons);
    assert!((point.stages[2].rate - 250.0).abs() < 5.0);
}

/// Users who come and go by stages, at a server that serves all at once: every stage is valid, and Little's law closes in those
/// in which nobody comes or goes.
#[test]
fn stages_of_users_are_valid_and_littles_law_closes() {
    let analysis = Simulation::new(thinkers(3, "12s:40,6s:40..80,12s:80,12s:20"), server()).analyze();
    assert_eq!(analysis.verdict.state, VerdictState::Valid, "{:#?}", analysis.verdict.reasons);
    let stages = &analysis.load_points[0].stages;
    for stage in stages.iter().filter(|stage| stage.planned.is_constant()) {
        let expected = stage.planned.from / 0.8;
        assert!((stage.rate / expected - 1.0).abs() < 0.05, "{} for {expected}", stage.rate);
        assert!(stage.little_gap.unwrap().abs() < 0.05, "{:?}", stage.little_gap);
        assert!((stage.users_mean.unwrap() - stage.planned.from).abs() < 0.5, "{:?}", stage.users_mean);
    }
}
