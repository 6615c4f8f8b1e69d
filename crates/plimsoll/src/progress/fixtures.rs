//! States in the middle of runs, for tests.

use analysis::Analyzer;
use fleet::Event;
use model::{
    Arrivals, Counter, IntervalRecord, Load, LoadPoint, Outcome, Phase, Plan, Reading, Score, Shape, Stage,
    Words, web_measure,
};
use testkit::{closed_plan, open_plan, phases};
use units::Nanos;

use super::state::{State, testing};

/// Length of the settle and of the steady phase, in s.
const SETTLE: u64 = 5;
const STEADY: u64 = 60;

/// The state of a display, and the analyzers of the runs that it shows: its judges.
pub(super) struct LiveRuns {
    pub state: State,
    analyzers: Vec<Analyzer>,
}

/// Returns a closed loop at 24 s of the steady phase of the third of four load points, with three failed operations.
pub(super) fn closed() -> State {
    live_closed().state
}

/// Returns the same with its judge.
pub(super) fn live_closed() -> LiveRuns {
    let plan = plan(closed_plan(1, &[10, 20, 30, 40], phases(SETTLE, STEADY)));
    let mut live = LiveRuns::new(&[plan], &["nginx".to_owned()]);
    live.ready(0, "nginx 1.26.3", 8080);
    for (index, users, rate) in [(0, 10, 260), (1, 20, 301)] {
        live.begin(0, index, Load::Users(users));
        live.run(SETTLE + STEADY, |second| closed_second(second, users.into(), rate));
        live.finish();
    }
    live.begin(0, 2, Load::Users(30));
    live.run(SETTLE + 24, |second| {
        let record = closed_second(second, 30, 304 + second % 3);
        if second == 20 { with_failures(record, 3) } else { record }
    });
    live.state.event(&Event::Warning("the server's clock has stopped".to_owned()));
    live
}

/// Returns an open loop whose server completes too few operations.
pub(super) fn open() -> State {
    let plan = plan(open_plan(1, 500.0, Arrivals::Constant, phases(SETTLE, STEADY)));
    let load = plan.load_points[0].load;
    let mut live = LiveRuns::new(&[plan], &["built-in".to_owned()]);
    live.ready(0, "built-in", 8080);
    live.begin(0, 0, load);
    live.run(SETTLE + 30, |second| {
        let n = 500 - (second * 4).min(80);
        let mut record = spread(second, n, Nanos::from_millis(20 + second * 30));
        record.flow.due = 500;
        record.flow.waiting_at_start = (0..second).map(|second| (second * 4).min(80)).sum();
        record.flow.waiting_at_end = record.flow.waiting_at_start + 500 - n;
        record.lateness = testing::histogram(n, Nanos::from_micros(80));
        record
    });
    live.state
}

/// Returns a closed loop of a benchmark with words of its own and a throughput as its score, with one load point done.
pub(super) fn throughput() -> State {
    let mut plan = plan(closed_plan(1, &[1, 20], phases(SETTLE, STEADY)));
    let words = Words {
        score: "megabits per second".to_owned(),
        score_heading: "Mbit/second".to_owned(),
        ..Words::of_rate("transfer", "station")
    };
    plan.catalog.score = Score::Throughput { measures: vec![web_measure::REPLY_BYTES] };
    plan.catalog.words = words;
    let mut live = LiveRuns::new(&[plan], &["built-in".to_owned()]);
    live.ready(0, "built-in", 8080);
    for (index, users, rate) in [(0, 1, 250), (1, 20, 500)] {
        live.begin(0, index, Load::Users(users));
        live.run(SETTLE + 30, |second| closed_second(second, users.into(), rate));
    }
    live.state
}

/// Returns two interleaved runs; the second is in the settle phase of its second load point.
pub(super) fn interleaved() -> State {
    let plan = plan(closed_plan(1, &[10, 20], phases(SETTLE, STEADY)));
    let labels = ["nginx, php-fpm × 4", "apache"].map(str::to_owned);
    let mut live = LiveRuns::new(&[plan.clone(), plan], &labels);
    live.ready(0, "nginx 1.26.3", 8080);
    live.ready(1, "apache 2.4.66", 8081);
    for (turn, rate) in [(0, 260), (1, 190)] {
        live.begin(turn, 0, Load::Users(10));
        live.run(SETTLE + STEADY, |second| closed_second(second, 10, rate));
        live.finish();
    }
    live.begin(1, 1, Load::Users(20));
    live.run(3, |second| closed_second(second, 20, 230));
    live.state
}

/// Returns a closed loop 3 s into the second of two stages: 10 users for 10 s, then up to 30 in another 10 s.
pub(super) fn stages() -> State {
    let mut plan = plan(closed_plan(1, &[30], phases(0, 20)));
    let stage = |from, to| Stage { length: Nanos::from_secs(10), from, to };
    plan.shape = Some(Shape { stages: vec![stage(10.0, 10.0), stage(10.0, 30.0)], until: Vec::new() });
    let mut live = LiveRuns::new(&[plan], &["nginx".to_owned()]);
    live.ready(0, "nginx 1.26.3", 8080);
    live.begin(0, 0, Load::Users(30));
    live.run(13, |second| {
        let record = closed_second(second, 10, 10 * (10 + 2 * second.saturating_sub(9)));
        IntervalRecord { phase: Phase::Steady, ..record }
    });
    live.state
}

/// Returns a run whose server is being started.
pub(super) fn preparing() -> State {
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

impl LiveRuns {
    fn new(plans: &[Plan], labels: &[String]) -> LiveRuns {
        LiveRuns { state: State::new(plans, labels), analyzers: plans.iter().map(Analyzer::new).collect() }
    }

    fn ready(&mut self, turn: usize, server: &str, port: u16) {
        self.state.event(&Event::Turn(turn));
        let address = format!("http://127.0.0.1:{port}/");
        self.state.event(&Event::Ready { address, server: server.to_owned() });
    }

    fn begin(&mut self, turn: usize, index: u32, load: Load) {
        self.state.event(&Event::Turn(turn));
        self.state.event(&Event::LoadPoint(LoadPoint { index, load }));
        self.judge();
    }

    /// Feeds records and readings of `seconds` seconds into the state.
    fn run(&mut self, seconds: u64, record: impl Fn(u64) -> IntervalRecord) {
        for second in 0..seconds {
            let at = Nanos::from_secs(second);
            self.state.event(&Event::Readings { machine: 0, at, readings: &readings(second) });
            self.second(record(second));
        }
    }

    /// Feeds the record of a second of the running load point, as a run does.
    pub(super) fn second(&mut self, record: IntervalRecord) {
        let record = IntervalRecord { load_point: self.index(), ..record };
        self.state.event(&Event::Interval(&record));
        self.analyzers[self.state.turn].interval(&record);
        self.judge();
    }

    /// Feeds another second of the running load point of [`closed`].
    pub(super) fn advance(&mut self) {
        let second = self.state.point.as_ref().map_or(0, |point| point.at.0 / 1_000_000_000);
        let at = Nanos::from_secs(second);
        self.state.event(&Event::Readings { machine: 0, at, readings: &readings(second) });
        self.second(closed_second(second, 30, 304 + second % 3));
    }

    fn judge(&mut self) {
        let status = self.analyzers[self.state.turn].status(self.index()).expect("it is planned");
        self.state.event(&Event::Status(&status));
    }

    fn finish(&mut self) {
        let index = self.index();
        let status = self.analyzers[self.state.turn].final_status(index, false).expect("it has records");
        self.state.event(&Event::Status(&status));
    }

    fn index(&self) -> u32 {
        self.state.point.as_ref().expect("a load point is running").index
    }
}

/// Returns the record of a second in which users complete `rate` operations and are always in flight.
pub(super) fn closed_second(second: u64, users: u64, rate: u64) -> IntervalRecord {
    let mut record = spread(second, rate, Nanos(users * 1_000_000_000 / rate));
    record.flow.in_flight_at_end = users;
    record.kinds[0].in_flight_at_end = users;
    record.flow.in_flight_at_start = if second == 0 { 0 } else { users };
    let first = if second == 0 { users } else { 0 };
    record.flow.due += first;
    record.flow.started += first;
    record
}

/// Returns the record of one second with response times from half the mean to one and a half times the mean.
fn spread(second: u64, n: u64, mean: Nanos) -> IntervalRecord {
    let phase = if second < SETTLE { Phase::Settle } else { Phase::Steady };
    let times = (0..n).map(|k| Nanos(mean.0 / 2 + mean.0 * k / n));
    let mut record = testing::timed(second as u32, phase, times);
    record.flow.in_flight_ns = u128::from(n * mean.0);
    record
}

fn with_failures(mut record: IntervalRecord, n: u64) -> IntervalRecord {
    record.flow.failed = n;
    record.flow.due += n;
    record.flow.started += n;
    record.kinds[0].failed.insert(Outcome::Reset, n);
    let detail = record.detail.as_mut().unwrap();
    detail.failed.insert((0, Outcome::Reset), testing::histogram(n, Nanos::from_millis(1)));
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
