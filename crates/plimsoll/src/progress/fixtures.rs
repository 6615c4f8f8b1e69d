//! States in the middle of runs, for tests.

use std::collections::BTreeMap;

use fleet::Event;
use model::{
    Arrivals, Counter, FailedTotals, IntervalRecord, KindTotals, Load, LoadPoint, Outcome, Phase, Plan,
    Reading,
};
use stats::Histogram;
use testkit::{closed_plan, open_plan, phases};
use units::Nanos;

use super::state::{State, testing};

/// Length of the settle and of the steady phase, in s.
const SETTLE: u64 = 5;
const STEADY: u64 = 60;

/// Returns a closed loop at 24 s of the steady phase of the third of four load points, with three failed operations.
pub fn closed() -> State {
    let plan = plan(closed_plan(1, &[10, 20, 30, 40], phases(SETTLE, STEADY)));
    let mut state = State::new(&[plan], &["nginx".to_owned()]);
    ready(&mut state, 0, "nginx 1.26.3", 8080);
    for (index, users, rate) in [(0, 10, 260), (1, 20, 301)] {
        begin(&mut state, 0, index, Load::Users(users));
        run(&mut state, SETTLE + STEADY, |second| closed_second(second, users.into(), rate));
    }
    begin(&mut state, 0, 2, Load::Users(30));
    run(&mut state, SETTLE + 24, |second| {
        let record = closed_second(second, 30, 304 + second % 3);
        if second == 20 { with_failures(record, 3) } else { record }
    });
    state.event(&Event::Warning("the server's clock has stopped".to_owned()));
    state
}

/// Returns an open loop whose server completes too few operations.
pub fn open() -> State {
    let plan = plan(open_plan(1, 500.0, Arrivals::Constant, phases(SETTLE, STEADY)));
    let load = plan.load_points[0].load;
    let mut state = State::new(&[plan], &["built-in".to_owned()]);
    ready(&mut state, 0, "built-in", 8080);
    begin(&mut state, 0, 0, load);
    run(&mut state, SETTLE + 30, |second| {
        let n = 500 - (second * 4).min(80);
        let mut record = spread(second, n, Nanos::from_millis(20 + second * 30));
        record.flow.due = 500;
        record.flow.waiting_at_start = (0..second).map(|second| (second * 4).min(80)).sum();
        record.flow.waiting_at_end = record.flow.waiting_at_start + 500 - n;
        record.lateness = testing::histogram(n, Nanos::from_micros(80));
        record
    });
    state
}

/// Returns two interleaved runs; the second is in the settle phase of its second load point.
pub fn interleaved() -> State {
    let plan = plan(closed_plan(1, &[10, 20], phases(SETTLE, STEADY)));
    let labels = ["nginx, php-fpm × 4", "apache"].map(str::to_owned);
    let mut state = State::new(&[plan.clone(), plan], &labels);
    ready(&mut state, 0, "nginx 1.26.3", 8080);
    ready(&mut state, 1, "apache 2.4.66", 8081);
    for (turn, rate) in [(0, 260), (1, 190)] {
        begin(&mut state, turn, 0, Load::Users(10));
        run(&mut state, SETTLE + STEADY, |second| closed_second(second, 10, rate));
    }
    begin(&mut state, 1, 1, Load::Users(20));
    run(&mut state, 3, |second| closed_second(second, 20, 230));
    state
}

/// Returns a run whose server is being started.
pub fn preparing() -> State {
    let plan = plan(closed_plan(1, &[10, 20, 30, 40], phases(SETTLE, STEADY)));
    let mut state = State::new(&[plan], &["nginx".to_owned()]);
    state.event(&Event::Turn(0));
    state.event(&Event::Preparing("starting nginx"));
    state
}

fn plan(mut plan: Plan) -> Plan {
    plan.sut.quota = Some(0.3);
    plan
}

fn ready(state: &mut State, turn: usize, server: &str, port: u16) {
    state.event(&Event::Turn(turn));
    let address = format!("http://127.0.0.1:{port}/");
    state.event(&Event::Ready { address, server: server.to_owned() });
}

fn begin(state: &mut State, turn: usize, index: u32, load: Load) {
    state.event(&Event::Turn(turn));
    state.event(&Event::LoadPoint(LoadPoint { index, load }));
}

/// Feeds records and readings of `seconds` seconds into the state.
fn run(state: &mut State, seconds: u64, record: impl Fn(u64) -> IntervalRecord) {
    for second in 0..seconds {
        let at = Nanos::from_secs(second);
        state.event(&Event::Readings { machine: 0, at, readings: &readings(second) });
        state.event(&Event::Interval(&record(second)));
    }
}

fn closed_second(second: u64, users: u64, rate: u64) -> IntervalRecord {
    let mut record = spread(second, rate, Nanos(users * 1_000_000_000 / rate));
    record.flow.in_flight_at_end = users;
    record.flow.in_flight_at_start = if second == 0 { 0 } else { users };
    let first = if second == 0 { users } else { 0 };
    record.flow.due += first;
    record.flow.started += first;
    record
}

/// Returns the record of one second with response times from half the mean to one and a half times the mean.
fn spread(second: u64, n: u64, mean: Nanos) -> IntervalRecord {
    let phase = if second < SETTLE { Phase::Settle } else { Phase::Steady };
    let mut record = testing::timed(second as u32, phase, n, mean);
    record.response = Histogram::new();
    (0..n).for_each(|k| record.response.record(Nanos(mean.0 / 2 + mean.0 * k / n)));
    record
}

fn with_failures(mut record: IntervalRecord, n: u64) -> IntervalRecord {
    record.flow.failed = n;
    record.flow.due += n;
    record.flow.started += n;
    let failed = FailedTotals { n, bytes: 0, response: testing::histogram(n, Nanos::from_millis(1)) };
    record.kinds =
        vec![KindTotals { failed: BTreeMap::from([(Outcome::Reset, failed)]), ..KindTotals::default() }];
    record
}

fn readings(second: u64) -> Vec<Reading> {
    let cpus = ["0", "1", "2", "3"].into_iter().flat_map(|cpu| {
        let busy = Reading::of(Counter::CpuUser, cpu, second * 400_000);
        [busy, Reading::of(Counter::CpuIdle, cpu, second * 600_000)]
    });
    let others = [
        Reading::of(Counter::DiskBusy, "vda", second * 31_000),
        Reading::of(Counter::NetReceivedBytes, "lo", second * 5_817_375),
        Reading::of(Counter::NetSentBytes, "lo", second * 5_817_375),
    ];
    cpus.chain(others).collect()
}

/// Feeds another second of the running load point of [`closed`] into the state.
pub fn advance(state: &mut State) {
    let second = state.point.as_ref().map_or(0, |point| point.at.0 / 1_000_000_000);
    let at = Nanos::from_secs(second);
    state.event(&Event::Readings { machine: 0, at, readings: &readings(second) });
    state.event(&Event::Interval(&closed_second(second, 30, 304 + second % 3)));
}
