//! Short runs of the engine with the web driver.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use drivers::Trust;
use drivers::web::PlainDriver;
use engine::{
    Driver, LoadThreadUse, NoticeOutbox, PointSetup, RecordSink, ThreadMeters, run_point_on_this_thread,
};
use model::{
    Arrivals, ConnectionLifetime, Example, Flow, IntervalRecord, Load, LoadPoint, Mix, Outcome,
    POISSON_LANES, Phases, Schedule, Step, User, UserReply, WebRequest, partition,
};
use units::{Clock, Nanos, Rng};

use super::fixture::{clock, context, protocol, workload};

/// A user that fetches the same objects in turn, without think time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundRobin {
    pub n_objects: u16,
    next: u16,
}

impl RoundRobin {
    pub(crate) fn over(n_objects: u16) -> RoundRobin {
        RoundRobin { n_objects, next: 0 }
    }
}

impl User for RoundRobin {
    type Operation = WebRequest;

    fn next(&mut self, _: Option<UserReply>, _: &mut Rng) -> Step<WebRequest> {
        let object = self.next;
        self.next = (self.next + 1) % self.n_objects;
        Step::Perform(WebRequest::first(object))
    }
}

impl Mix for RoundRobin {
    type Operation = WebRequest;
    type User = RoundRobin;

    fn user(&self, _: u32) -> RoundRobin {
        *self
    }

    fn scheduled(&self, k: u64) -> WebRequest {
        WebRequest::first((k % u64::from(self.n_objects)) as u16)
    }

    fn n_kinds(&self) -> usize {
        self.n_objects as usize
    }

    fn n_units(&self) -> usize {
        0
    }
}

/// The records of a run.
#[derive(Debug, Default)]
pub(crate) struct CollectedRecords {
    pub intervals: Vec<IntervalRecord>,
    pub examples: Vec<Example>,
}

impl RecordSink for CollectedRecords {
    fn interval(&mut self, record: IntervalRecord) {
        self.intervals.push(record);
    }

    fn example(&mut self, example: Example) {
        self.examples.push(example);
    }
}

impl CollectedRecords {
    /// Sums a count over all intervals.
    pub(crate) fn sum(&self, count: impl Fn(&Flow) -> u64) -> u64 {
        self.intervals.iter().map(|record| count(&record.flow)).sum()
    }

    /// Returns how many operations failed with this outcome.
    pub(crate) fn n_failed(&self, outcome: Outcome) -> u64 {
        let kinds = self.intervals.iter().flat_map(|record| &record.kinds);
        kinds.filter_map(|kind| kind.failed.get(&outcome)).sum()
    }

    /// Checks that no operation is lost: within each interval, from one to the next, and in total.
    pub(crate) fn check_conservation(&self) {
        let mut waiting = 0;
        let mut in_flight = 0;
        for (index, record) in self.intervals.iter().enumerate() {
            let flow = record.flow;
            assert_eq!((record.index as usize, record.start), (index, self.end_before(index)));
            assert_eq!((flow.waiting_at_start, flow.in_flight_at_start), (waiting, in_flight), "{flow:?}");
            assert_eq!(waiting + flow.due, flow.started + flow.skipped + flow.waiting_at_end, "{flow:?}");
            let left = flow.ok + flow.failed + flow.timed_out + flow.abandoned;
            assert_eq!(in_flight + flow.started, left + flow.in_flight_at_end, "{flow:?}");
            let ok: u64 = record.kinds.iter().map(|kind| kind.response.n).sum();
            let failed: u64 = record.kinds.iter().flat_map(|kind| kind.failed.values()).sum();
            assert_eq!((ok, failed), (flow.ok, flow.failed + flow.timed_out));
            assert_eq!(record.response.n(), ok);
            (waiting, in_flight) = (flow.waiting_at_end, flow.in_flight_at_end);
        }
        assert_eq!((waiting, in_flight), (0, 0), "nothing is left after the drain");
    }

    fn end_before(&self, index: usize) -> Nanos {
        index.checked_sub(1).map_or(Nanos::ZERO, |before| self.intervals[before].end)
    }
}

/// Phases with only a steady phase and time to drain.
pub(crate) fn phases(steady: Nanos) -> Phases {
    let zero = Nanos::ZERO;
    let drain = Nanos::from_secs(20);
    Phases { quiet: zero, ramp_up: zero, settle: zero, steady, ramp_down: zero, drain }
}

pub(crate) fn closed(users: u32) -> Load {
    Load::Users(users)
}

pub(crate) fn open(per_second: f64, in_flight_max: u32) -> Load {
    Load::Rate { per_second, arrivals: Arrivals::Constant, in_flight_max }
}

/// Runs one load point on this thread; returns its records and how long it took.
pub(crate) fn run_point(
    address: SocketAddr,
    load: Load,
    phases: Phases,
    connection: ConnectionLifetime,
    time_limit: Nanos,
    mix: RoundRobin,
) -> (CollectedRecords, Nanos) {
    let shared = context(address, &protocol(connection), &workload(), &Trust::Any);
    run_drivers(|| PlainDriver::new(Rc::clone(&shared)), load, phases, time_limit, mix)
}

/// Does the same with any driver.
pub(crate) fn run_drivers<D: Driver<Operation = WebRequest> + 'static>(
    mut driver: impl FnMut() -> D,
    load: Load,
    phases: Phases,
    time_limit: Nanos,
    mix: RoundRobin,
) -> (CollectedRecords, Nanos) {
    let clock = clock();
    let began = clock.now();
    let point = LoadPoint { index: 0, load };
    let seed = 1;
    let setup = PointSetup {
        point,
        agent: 0,
        assignment: partition(0, load, 1).remove(0),
        schedule: Schedule::new(point, &phases, seed, POISSON_LANES),
        budget: None,
        phases,
        shape: None,
        catalog: workload().catalog(),
        seed,
        time_limit,
        notices: NoticeOutbox::default(),
    };
    let start = clock.now() + Nanos::from_millis(20);
    let mut collected = CollectedRecords::default();
    let probe = Box::new(LoadThreadUse::default);
    let stop = AtomicBool::new(false);
    let meters = ThreadMeters { clock, probe };
    run_point_on_this_thread(&setup, meters, mix, |_| driver(), start, &mut collected, &stop).unwrap();
    (collected, clock.now() - began)
}
