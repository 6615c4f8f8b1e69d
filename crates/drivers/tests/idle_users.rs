//! A hundred thousand users with a session each who hardly ever do anything: what they cost a load thread.
//!
//! Alone in its process, because it measures its memory.

use std::sync::atomic::AtomicBool;

use engine::{
    Driver, LoadThreadUse, NoticeOutbox, PointSetup, RecordSink, SessionError, ThreadMeters,
    run_point_on_this_thread,
};
use model::{
    Catalog, Example, IntervalRecord, Load, LoadPoint, MeasuredValues, Mix, Outcome, PauseKind, PauseStart,
    Phase, Phases, Reply, Step, ThinkTime, User, UserReply, WebRequest, partition,
};
use units::{Nanos, RealClock, Rng, thread_cpu};

const USERS: u32 = 100_000;

/// The operations per second of all users together, where their operations count.
const OPERATIONS_PER_S: u32 = 100;

/// The same, where the cost of their idleness counts. Each operation is of a user who was idle for long, and the host of a
/// virtual machine may have taken away memory that is idle for long: 50 µs for each page that is touched again were seen,
/// and 100 operations per second took up to 6 % of a core, 10 times as much as on other days.
const FEW_OPERATIONS_PER_S: u32 = 1;

/// The most memory that an idle user may take, in bytes, its timer and its place in the table of deadlines included;
/// 953 were measured.
const BYTES_PER_USER_MAX: u64 = 1280;

/// The most CPU time that all of them may take, as a part of a core; 0.006 was measured with 100 operations per second, on a
/// machine that is at times half as fast.
const BUSY_MAX: f64 = 0.02;

/// A user who thinks before each operation.
struct Sleeper {
    is_awake: bool,
    /// The mean pause.
    think: Nanos,
}

impl User for Sleeper {
    type Operation = WebRequest;

    fn next(&mut self, _: Option<UserReply>, rng: &mut Rng) -> Step<WebRequest> {
        self.is_awake = !self.is_awake;
        if self.is_awake {
            Step::Perform(WebRequest::first(0))
        } else {
            Step::think(rng.exponential(self.think))
        }
    }
}

struct Sleepers {
    think: Nanos,
}

impl Mix for Sleepers {
    type Operation = WebRequest;
    type User = Sleeper;

    fn user(&self, _: u32) -> Sleeper {
        Sleeper { is_awake: true, think: self.think }
    }

    fn scheduled(&self, _: u64) -> WebRequest {
        WebRequest::first(0)
    }

    fn n_kinds(&self) -> usize {
        1
    }

    fn n_units(&self) -> usize {
        0
    }
}

/// A driver with a session and without a server.
struct Session {
    is_open: bool,
    clock: RealClock,
}

impl Driver for Session {
    type Operation = WebRequest;

    async fn open(&mut self) -> Result<(), SessionError> {
        self.is_open = true;
        Ok(())
    }

    async fn perform(&mut self, _: &WebRequest, sent: Nanos) -> Reply {
        assert!(self.is_open, "sessions are opened before the load point");
        let done = units::Clock::now(&self.clock).max(sent);
        let measured = MeasuredValues::default();
        Reply { outcome: Outcome::Ok, sent, done, measured, answer: 0, code: 0, detail: 0 }
    }

    fn give_up(&mut self) {}

    fn describe(&self, _: &WebRequest, _: &Reply) -> String {
        String::new()
    }
}

/// Keeps what each second cost, and the memory of the process at its end.
#[derive(Default)]
struct Seconds {
    busy: Vec<f64>,
    n_ok: u64,
    resident: u64,
}

impl RecordSink for Seconds {
    fn interval(&mut self, record: IntervalRecord) {
        if record.phase == Phase::Steady {
            let length = (record.end - record.start).as_secs_f64();
            self.busy.push(record.health.cpu.as_secs_f64() / length);
            self.n_ok += record.flow.ok;
            self.resident = testkit::resident_bytes();
        }
    }

    fn example(&mut self, example: Example) {
        panic!("{example:?}");
    }
}

/// Runs a load point of all users; returns what its seconds cost.
fn seconds_with(operations_per_s: u32) -> Seconds {
    let clock = RealClock::start();
    let s = Nanos::from_secs;
    let think = s(u64::from(USERS / operations_per_s));
    let phases =
        Phases { quiet: s(0), ramp_up: s(1), settle: s(1), steady: s(5), ramp_down: s(0), drain: s(0) };
    let point = LoadPoint { index: 0, load: Load::Users(USERS) };
    let pause = PauseKind {
        name: "think time".to_owned(),
        time: ThinkTime::Exponential(think),
        from: PauseStart::Done,
    };
    let setup = PointSetup {
        point,
        agent: 0,
        assignment: partition(0, point.load, 1).remove(0),
        schedule: None,
        budget: None,
        phases,
        shape: None,
        catalog: Catalog { pauses: vec![pause], ..Catalog::default() },
        seed: 1,
        time_limit: s(60),
        notices: NoticeOutbox::default(),
    };
    let mut seconds = Seconds::default();
    let meters = ThreadMeters {
        clock,
        probe: Box::new(|| LoadThreadUse { cpu: thread_cpu(), ..LoadThreadUse::default() }),
    };
    let driver = |_| Session { is_open: false, clock };
    let start = units::Clock::now(&clock) + s(2);
    let mix = Sleepers { think };
    let stop = AtomicBool::new(false);
    run_point_on_this_thread(&setup, meters, mix, driver, start, &mut seconds, &stop).unwrap();
    seconds
}

#[test]
fn a_hundred_thousand_idle_users_cost_little() {
    let before = testkit::resident_bytes();
    let seconds = seconds_with(OPERATIONS_PER_S);
    let bytes = seconds.resident.saturating_sub(before) / u64::from(USERS);
    let idle = seconds_with(FEW_OPERATIONS_PER_S);
    // The least busy second: others may have used the machine in the rest.
    let least_busy = |seconds: &Seconds| seconds.busy.iter().copied().fold(f64::INFINITY, f64::min);
    let busy = least_busy(&idle);
    println!(
        "{bytes} bytes per idle user, {:.2} % of a core; {:.2} % with {} operations",
        100.0 * busy,
        100.0 * least_busy(&seconds),
        seconds.n_ok
    );
    assert!((300..=700).contains(&seconds.n_ok), "500 operations are due in 5 s: {}", seconds.n_ok);
    assert!(bytes <= BYTES_PER_USER_MAX, "{bytes} bytes per user");
    assert!(busy <= BUSY_MAX, "{:?}", idle.busy);
}
