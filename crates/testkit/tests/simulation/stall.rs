//! A server that freezes once: visible if measured from due, hidden if measured from sending.

use model::Arrivals;
use testkit::{
    ServiceTimeDistribution, SimServer, Simulation, Stall, TimeWindow, closed_plan, open_plan, phases,
    with_seed,
};

use super::{assert_valid, close, quantile, s, us};

const FREEZE: TimeWindow = TimeWindow { from: s(10), to: s(11) };
const RATE: f64 = 2_000.0;

fn stall(capacity: f64) -> Stall {
    Stall { length: 1.0, run: 30.0, rate: RATE, capacity }
}

fn server(workers: Option<u32>) -> SimServer {
    SimServer { freeze: Some(FREEZE), ..SimServer::new(ServiceTimeDistribution::Fixed(us(125)), workers) }
}

/// p99 is 0.70 s for an instant drain; with 8,000/s of capacity 0.70 + 0.30 · 0.25 s.
fn check(seed: u64, workers: Option<u32>) {
    with_seed(seed, |seed| {
        let plan = open_plan(seed, RATE, Arrivals::Constant, phases(0, 30));
        let found = Simulation::new(plan, server(workers)).analyze();
        assert_valid(&found);
        let point = &found.load_points[0];
        let known = stall(server(workers).capacity());
        for q in [0.99, 0.999] {
            let expected = known.response_quantile(q).unwrap() + 125e-6;
            close("quantile", quantile(&point.response, q), expected, 0.01);
        }
        close("median", quantile(&point.response, 0.5), 125e-6, 0.01);
    });
}

#[test]
fn a_freeze_with_an_instant_drain_shows_in_percentiles_from_due() {
    check(3, None);
}

#[test]
fn a_freeze_with_a_queue_behind_it_shows_in_percentiles_from_due() {
    check(10, Some(1));
}

/// Twenty slots for operations in flight, as with a generator that waits for its replies: from sending, only
/// those twenty of 60,000 were slow, and p99.9 is an ordinary service time.
#[test]
fn service_times_hide_what_response_times_show() {
    with_seed(4, |seed| {
        let mut plan = open_plan(seed, RATE, Arrivals::Constant, phases(0, 30));
        plan.load_points[0].load =
            model::Load::Rate { per_second: RATE, arrivals: Arrivals::Constant, in_flight_max: 20 };
        let found = Simulation::new(plan, server(Some(1))).analyze();
        assert_valid(&found);
        let point = &found.load_points[0];
        let expected = stall(8_000.0).response_quantile(0.999).unwrap();
        close("p99.9 from due", quantile(&point.response, 0.999), expected, 0.01);
        assert!(quantile(&point.service, 0.999) < 0.01, "{}", quantile(&point.service, 0.999));
        let lateness = point.lateness.as_ref().expect("an open loop has lateness");
        close("p99.9 of lateness", quantile(lateness, 0.999), expected, 0.01);
    });
}

/// The same server and the same lost second in a closed loop: eight slow operations of 58,000.
#[test]
fn a_closed_loop_hides_the_freeze() {
    with_seed(5, |seed| {
        let mut server = server(Some(8));
        server.law = ServiceTimeDistribution::Fixed(us(4_000));
        let closed = Simulation::new(closed_plan(seed, &[8], phases(0, 30)), server).analyze();
        let open = open_plan(seed, RATE * 0.8, Arrivals::Constant, phases(0, 30));
        let open =
            Simulation::new(open, SimServer { law: ServiceTimeDistribution::Fixed(us(2_000)), ..server })
                .analyze();
        assert_valid(&closed);
        assert_valid(&open);
        let p99 = |found: &analysis::Analysis| quantile(&found.load_points[0].response, 0.99);
        close("p99, closed loop", p99(&closed), 4e-3, 0.01);
        assert!(0.6 < p99(&open), "{}", p99(&open));
        assert!(closed.load_points[0].response.max.unwrap() >= s(1));
    });
}
