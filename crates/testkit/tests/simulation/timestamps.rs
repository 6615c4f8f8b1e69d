//! The meaning of due, sent and done.

use model::{Arrivals, Load, ThinkTime};
use testkit::{
    ServiceTimeDistribution, SimServer, Simulation, TimeWindow, assert_conserved, closed_plan, open_plan,
    phases, with_seed,
};

use super::{close, ms, reasons, s};

/// One slot, 10 ms of service, operations due every 5 ms from 2.5 ms on for 1 s. Operation k is due at 5k +
/// 2.5 ms and, each having waited for the previous one, done at 10(k + 1) + 2.5 ms.
#[test]
fn a_late_operation_counts_from_due() {
    with_seed(51, |seed| {
        let mut plan = open_plan(seed, 200.0, Arrivals::Constant, phases(0, 1));
        plan.load_points[0].load =
            Load::Rate { per_second: 200.0, arrivals: Arrivals::Constant, in_flight_max: 1 };
        let recording =
            Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), None)).record();
        assert_conserved(&recording.intervals);
        let first = &recording.intervals[0];
        // 99 are done before 1,000 ms, the last of them at 992.5: Σ (5k + 10), k = 0..98, is 25.245 s.
        assert_eq!((first.flow.ok, first.response.sum()), (99, 25_245_000_000));
        assert_eq!(first.service.sum(), 99 * 10_000_000);
        // 100 have been sent, k-th 5k late; the other 100 wait.
        assert_eq!((first.lateness.n(), first.lateness.sum()), (100, 24_750_000_000));
        assert_eq!((first.flow.due, first.flow.waiting_at_end), (200, 100));
    });
}

/// The generator is paused for 200 ms: operations due meanwhile are sent late, counted from due, and the
/// server is not blamed.
#[test]
fn a_paused_generator_is_late_and_invalid() {
    with_seed(52, |seed| {
        let plan = open_plan(seed, 1_000.0, Arrivals::Constant, phases(0, 10));
        let pause = TimeWindow { from: s(5), to: ms(5_200) };
        let simulation = Simulation {
            generator_pause: Some(pause),
            ..Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(1)), None))
        };
        let found = simulation.analyze();
        let point = &found.load_points[0];
        assert_eq!(reasons(point), ["generator-lateness"]);
        let lateness = point.lateness.as_ref().unwrap();
        // 200 of 10,000 were late, by 0.5 to 199.5 ms.
        close("greatest lateness", lateness.max.unwrap().as_secs_f64(), 0.1995, 1e-6);
        close("sum of lateness", lateness.histogram.sum() as f64 / 1e9, 200.0 * 0.100, 1e-6);
        close("greatest response", point.response.max.unwrap().as_secs_f64(), 0.2005, 1e-6);
        assert_eq!(point.total.n, 9_999, "the one due at 9.9995 s is done after the phase");
        assert_conserved(&simulation.record().intervals);
    });
}

/// Due is the end of the think time: a generator that wakes up late from it is late, and its users' response
/// times show it.
#[test]
fn in_a_closed_loop_due_is_the_end_of_the_think_time() {
    with_seed(53, |seed| {
        // One user: 10 ms of service, 30 ms of thinking; due at 0, 40, 80… ms. Paused from 1,035 to 1,055 ms.
        let mut plan = closed_plan(seed, &[1], phases(0, 2));
        plan.workload.web_mut().unwrap().think = ThinkTime::Fixed(ms(30));
        plan.catalog = plan.workload.catalog();
        let simulation = Simulation {
            generator_pause: Some(TimeWindow { from: ms(1_035), to: ms(1_055) }),
            ..Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), None))
        };
        let recording = simulation.record();
        assert_conserved(&recording.intervals);
        let second = &recording.intervals[1];
        assert_eq!(second.lateness.max(), Some(ms(15)), "due at 1,040 ms, sent at 1,055");
        assert_eq!(second.lateness.sum(), u128::from(ms(15).0), "all others on time");
        assert_eq!((second.response.max(), second.service.max()), (Some(ms(25)), Some(ms(10))));
    });
}
