//! Closed loops: the actions of a user follow from plan, seed and user alone.

use model::{Page, Plan, Request, ThinkTime, WebWorkload};
use stats::{Histogram, Moments};
use testkit::{
    Recording, ServiceTimeDistribution, SimServer, Simulation, closed_plan, one_object, phases, with_seed,
    with_workload,
};

use super::ms;

fn plan(seed: u64, threads: u32) -> Plan {
    let object = |index: u64| Request::file(&format!("/{index}"), 100 * index);
    let page = |requests: &[u32]| Page { weight: 1, requests: requests.to_vec() };
    let mut plan = closed_plan(seed, &[20], phases(1, 4));
    plan.agents[0].threads = threads;
    let workload = WebWorkload {
        requests: (1..=4).map(object).collect(),
        pages: vec![page(&[0]), page(&[1, 2]), page(&[3])],
        think: ThinkTime::Exponential(ms(30)),
        ..one_object()
    };
    with_workload(plan, workload)
}

fn run(plan: Plan) -> Recording {
    let server = SimServer::new(ServiceTimeDistribution::Exponential(ms(20)), Some(10));
    Simulation::new(plan, server).record()
}

fn objects_of(recording: &Recording, user: u32) -> Vec<u32> {
    recording.requests.iter().filter(|request| request.user == user).map(|request| request.object).collect()
}

/// The server's random numbers depend on the order in which users send requests, so one gets further than
/// another; but its requests and their order are the same.
#[test]
fn user_17_does_the_same_however_many_slices() {
    with_seed(91, |seed| {
        let alone = run(plan(seed, 1));
        for threads in [2, 3] {
            let sliced = run(plan(seed, threads));
            for user in 0..20 {
                let one = objects_of(&alone, user);
                let other = objects_of(&sliced, user);
                let n = one.len().min(other.len());
                assert!(30 < n);
                assert_eq!(one[..n], other[..n], "user {user} of {threads} slices");
            }
        }
        assert_ne!(objects_of(&alone, 17)[..30], objects_of(&alone, 16)[..30], "users differ");
    });
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_another() {
    with_seed(92, |seed| {
        let one = run(plan(seed, 2));
        let other = run(plan(seed, 2));
        assert_eq!(one.requests, other.requests);
        assert!(one.intervals == other.intervals);
        let different = run(plan(seed + 1, 2));
        assert_ne!(objects_of(&one, 17)[..30], objects_of(&different, 17)[..30]);
    });
}

/// By hand: 4 users of 100 operations a second each on a server with room for all, over 4 s; the moments of 1, 2 or 3 load
/// threads are those of all clients together. A server that is slower for one of two by chance is less than fair.
#[test]
fn operations_of_clients_merge_exactly() {
    let clients = |threads: u32, users: u32, law: ServiceTimeDistribution| {
        let mut plan = closed_plan(3, &[users], phases(1, 4));
        plan.agents[0].threads = threads;
        let server = SimServer::new(law, None);
        let analysis = Simulation::new(plan, server).analyze();
        let point = &analysis.load_points[0];
        let found = point.clients.expect("a closed loop");
        assert_eq!((found.mean * found.n as f64).round() as u64, point.total.n);
        found
    };
    for threads in 1..=3 {
        let found = clients(threads, 4, ServiceTimeDistribution::Fixed(ms(10)));
        assert_eq!((found.n, found.least, found.greatest), (4, 400, 400), "{threads} threads");
        assert_eq!((found.mean, found.fairness), (400.0, Some(1.0)));
    }
    let found = clients(2, 4, ServiceTimeDistribution::Exponential(ms(10)));
    assert!(found.least < found.greatest && found.fairness.unwrap() < 1.0, "{found:?}");
}

/// By hand: 3 users, 20 ms of service each for itself and 80 ms of thinking, so that each begins to think every 100 ms, from
/// 20 ms on: 50 times in 5 s.
#[test]
fn think_times_are_recorded_as_drawn() {
    let plan = closed_plan(3, &[3], phases(0, 5));
    let web = WebWorkload { think: ThinkTime::Fixed(ms(80)), ..one_object() };
    let server = SimServer::new(ServiceTimeDistribution::Fixed(ms(20)), None);
    let intervals = Simulation::new(with_workload(plan, web), server).record().intervals;
    let mut drawn = Moments::default();
    let mut spread = Histogram::new();
    for record in &intervals {
        drawn.merge(&record.pauses[0]);
        spread.merge(&record.detail.as_ref().unwrap().pauses[0]).unwrap();
    }
    let of = 80_000_000;
    assert_eq!((drawn.n, drawn.sum, drawn.min, drawn.max), (150, 150 * u128::from(of), of, of));
    assert_eq!((spread.n(), spread.sum()), (drawn.n, drawn.sum));
}
