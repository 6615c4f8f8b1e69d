//! Terminals on a database who think most of the time: the memory that the session of each takes.
//!
//! Alone in its process, because it measures its memory. That of the stub in place of the database is part of it.

use std::sync::atomic::AtomicBool;

use benchmarks::orderentry::OrderTerminals;
use drivers::database::{DatabasePlace, DatabaseServer};
use drivers::orders::{DatabaseContext, DatabaseControl, DatabaseDriver, DatabaseLoad, load_database};
use engine::{LoadThreadUse, NoticeOutbox, PointSetup, RecordSink, ThreadMeters, run_point_on_this_thread};
use model::{
    DatabaseProduct, Example, IntervalRecord, Load, LoadPoint, OrderEntryWorkload, OrderSql, Phase, Phases,
    partition,
};
use orders::{ConsistencyCondition, DataScale, OrderTable, Population};
use testkit::PostgresStub;
use units::{Clock, Nanos, RealClock, thread_cpu, wall};

const USERS: u32 = 2_000;

/// Each makes some transactions, so that buffers are as large as they become.
const THINK: Nanos = Nanos::from_millis(1_500);

/// The most memory that a user may take, in bytes, with its timer and its place in the table of deadlines; 4,933 were
/// measured, with the stub's part.
const BYTES_PER_USER_MAX: u64 = 6_500;

/// The number of transactions, and the memory of the process at the end of the steady phase.
#[derive(Default)]
struct Totals {
    n_ok: u64,
    resident: u64,
}

impl RecordSink for Totals {
    fn interval(&mut self, record: IntervalRecord) {
        self.n_ok += record.flow.ok;
        if record.phase == Phase::Steady {
            self.resident = testkit::resident_bytes();
        }
    }

    fn example(&mut self, example: Example) {
        panic!("{example:?}");
    }
}

fn server(stub: &PostgresStub) -> DatabaseServer {
    DatabaseServer {
        product: DatabaseProduct::PostgreSql,
        place: DatabasePlace::Tcp(stub.address()),
        encryption: None,
        user: "plimsoll".to_owned(),
        password: None,
        database: "plimsoll".to_owned(),
    }
}

fn setup(workload: &OrderEntryWorkload) -> PointSetup {
    let s = Nanos::from_secs;
    let point = LoadPoint { index: 0, load: Load::Users(USERS) };
    PointSetup {
        point,
        agent: 0,
        assignment: partition(0, point.load, 1).remove(0),
        schedule: None,
        budget: None,
        phases: Phases {
            quiet: s(0),
            ramp_up: s(1),
            settle: s(0),
            steady: s(6),
            ramp_down: s(0),
            drain: s(2),
        },
        shape: None,
        catalog: workload.catalog(),
        seed: 1,
        time_limit: s(60),
        notices: NoticeOutbox::default(),
    }
}

/// Goal: a session takes no more memory than is known, and what the terminals say of their orders is what the stub has
/// counted. Method: terminals who think 1.5 s on average, for 7 s.
#[test]
fn two_thousand_terminals_take_little_memory() {
    units::raise_open_files();
    let stub = PostgresStub::start().unwrap();
    let server = server(&stub);
    let scale = DataScale::new(10, 100).unwrap();
    let workload = OrderEntryWorkload {
        scale,
        sql: OrderSql::Stored,
        think_mean: THINK,
        ..OrderEntryWorkload::default()
    };
    let population = Population::new(workload.population_seed, scale, wall());
    let load = DatabaseLoad { server: &server, population, n_connections: 2 };
    load_database(&load, &AtomicBool::new(false), |_| {}).unwrap();

    let clock = RealClock::start();
    let context = DatabaseContext::new(&workload, &server, &[], clock).unwrap();
    let mut totals = Totals::default();
    let probe = || LoadThreadUse { cpu: thread_cpu(), ..LoadThreadUse::default() };
    let meters = ThreadMeters { clock, probe: Box::new(probe) };
    let before = testkit::resident_bytes();
    let start = clock.now() + Nanos::from_secs(3);
    let mix = OrderTerminals::new(&workload, 1);
    let stop = AtomicBool::new(false);
    let driver = |_| DatabaseDriver::new(&context);
    run_point_on_this_thread(&setup(&workload), meters, mix, driver, start, &mut totals, &stop).unwrap();

    let bytes = totals.resident.saturating_sub(before) / u64::from(USERS);
    println!("{bytes} bytes per user, {} transactions", totals.n_ok);
    assert!(u64::from(USERS) < totals.n_ok, "{} transactions", totals.n_ok);
    assert!(bytes <= BYTES_PER_USER_MAX, "{bytes} bytes per user");

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut control = DatabaseControl::open(&context).await.unwrap();
        let found = control.violations(ConsistencyCondition::NextOrder, &scale).await.unwrap();
        assert_eq!(found.n_violations, 0);
        let placed = control.totals().await.unwrap().orders - scale.rows(OrderTable::Orders);
        let counts = context.counts();
        assert!(0 < placed && counts.placed <= placed, "{counts:?}, and {placed} by the stub");
        assert!(placed <= counts.placed + counts.placed_in_doubt, "{counts:?}, and {placed} by the stub");
    });
}
