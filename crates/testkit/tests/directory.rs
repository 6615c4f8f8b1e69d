//! Drivers that block, in real time: the files of a directory, read by this process.
//!
//! A binary of its own, because it loads all CPUs and measures the CPU time of the process.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use analysis::VerdictState;
use benchmarks::web::pages::Pages;
use engine::{
    BlockingDriver, BlockingRuntime, LoadThreadUse, NoticeOutbox, PointSetup, RecordSink, SessionError,
    run_blocking_point,
};
use model::{
    AgentPlan, Example, HasKind, IntervalRecord, Outcome, Page, Plan, Reply, Request, WebRequest,
    WebWorkload, partition, web_measure,
};
use testkit::{analyze, assert_conserved, closed_plan, one_object, phases, with_workload};
use units::{Clock, Nanos, RealClock, thread_cpu};

/// Sizes of the files. Reading the larger costs far more than the loop around it.
const BYTES: [usize; 2] = [64 << 10, 1 << 20];

/// A driver that reads files as they are, and has no connections.
struct FileReader {
    folder: PathBuf,
    clock: RealClock,
}

impl BlockingDriver for FileReader {
    type Operation = WebRequest;

    fn open(&mut self) -> Result<(), SessionError> {
        std::fs::read_dir(&self.folder)?;
        Ok(())
    }

    fn perform(&mut self, operation: &WebRequest, sent: Nanos) -> Reply {
        let kind = usize::from(operation.kind());
        let bytes = std::fs::read(self.folder.join(kind.to_string())).map_or(0, |content| content.len());
        let done = self.clock.now();
        let outcome = if bytes == BYTES[kind] { Outcome::Ok } else { Outcome::WrongLength };
        let measured = web_measure::measured(Nanos::ZERO, done - sent, 0, bytes as u64);
        Reply { outcome, sent, done, measured, answer: 0, code: 0, detail: 0 }
    }

    fn describe(&self, _: &WebRequest, reply: &Reply) -> String {
        reply.outcome.name().to_owned()
    }
}

struct Outbox(Sender<IntervalRecord>);

impl RecordSink for Outbox {
    fn interval(&mut self, record: IntervalRecord) {
        self.0.send(record).expect("the test waits");
    }

    fn example(&mut self, example: Example) {
        panic!("a file was not read: {}", example.text);
    }
}

/// Runs the only load point of a plan, and returns the records of its load threads.
fn run<D>(
    plan: &Plan,
    web: &WebWorkload,
    driver: impl Fn(RealClock) -> D + Sync,
) -> io::Result<Vec<IntervalRecord>>
where
    D: BlockingDriver<Operation = WebRequest> + Send + 'static,
{
    let (sender, records) = channel();
    let clock = RealClock::start();
    let point = plan.load_points[0];
    let mix = Arc::new(Pages::new(web, plan.seed, point.load));
    let origin = clock.now() + Nanos::from_millis(50);
    thread::scope(|scope| {
        let mut shares = Vec::new();
        for assignment in partition(point.index, point.load, plan.load_threads()) {
            let mut outbox = Outbox(sender.clone());
            let mix = Arc::clone(&mix);
            let setup = PointSetup {
                point,
                agent: 0,
                assignment,
                schedule: plan.schedule(point),
                budget: None,
                phases: plan.phases,
                shape: None,
                catalog: plan.catalog.clone(),
                seed: plan.seed,
                time_limit: plan.time_limit,
                notices: NoticeOutbox::default(),
            };
            let driver = &driver;
            shares.push(scope.spawn(move || {
                let probe = Box::new(|| LoadThreadUse { cpu: thread_cpu(), ..LoadThreadUse::default() });
                let runtime = BlockingRuntime { clock, probe };
                let driver = |_| driver(clock);
                let stop = AtomicBool::new(false);
                run_blocking_point(&setup, runtime, &mix, driver, origin, &mut outbox, &stop)
            }));
        }
        shares.into_iter().try_for_each(|share| share.join().expect("no panic"))
    })?;
    drop(sender);
    let mut all: Vec<_> = records.into_iter().collect();
    all.sort_by_key(|record| (record.index, record.thread));
    Ok(all)
}

/// Returns the CPU time of this process, in s, to a clock tick.
fn process_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

/// More users than CPUs read without a pause: all CPUs are busy, nearly all of it within reads. The run is valid: what a
/// user waits for a CPU is the price of a system under test that shares the machine, and stands in its response times.
#[test]
fn a_directory_at_saturation_is_valid_and_its_cpu_time_is_divided() {
    let folder = tempfile::tempdir().unwrap();
    let files = (0..).zip(BYTES);
    for (index, bytes) in files.clone() {
        std::fs::write(folder.path().join(format!("{index}")), vec![7; bytes]).unwrap();
    }
    let web = WebWorkload {
        requests: files.map(|(index, bytes)| Request::file(&format!("/{index}"), bytes as u64)).collect(),
        pages: vec![Page { weight: 1, requests: vec![0, 1] }],
        ..one_object()
    };
    let users = 4 * u32::try_from(thread::available_parallelism().unwrap().get()).unwrap();
    let plan = with_workload(closed_plan(1, &[users], phases(1, 5)), web.clone());
    let plan = Plan { agents: vec![AgentPlan::only(2)], ..plan };
    let before = process_cpu();
    let records = run(&plan, &web, |clock| FileReader { folder: folder.path().to_owned(), clock }).unwrap();
    let used = process_cpu() - before;
    assert_conserved(&records);

    let sum = |of: fn(&IntervalRecord) -> u128| records.iter().map(of).sum::<u128>();
    let in_flight = sum(|record| record.flow.in_flight_ns);
    let responses = sum(|record| record.kinds.iter().map(|kind| kind.response.sum).sum());
    assert_eq!(in_flight, responses, "Little's law to the nanosecond");
    let own = sum(|record| record.health.cpu.0.into()) as f64 / 1e9;
    let sut = sum(|record| record.sut.unwrap().cpu.0.into()) as f64 / 1e9;
    assert!((own + sut - used).abs() <= 0.05 * used, "{own} s + {sut} s of {used} s");
    assert!(own < 0.2 * sut, "{own} s of the generator beside {sut} s");

    let analysis = analyze(&plan, records);
    assert_eq!(analysis.verdict.state, VerdictState::Valid, "{:#?}", analysis.verdict.reasons);
}

/// A driver whose calls do not return in the time of a test, as of a file system whose server is gone.
struct Stuck;

impl BlockingDriver for Stuck {
    type Operation = WebRequest;

    fn perform(&mut self, _: &WebRequest, _: Nanos) -> Reply {
        loop {
            thread::park();
        }
    }

    fn describe(&self, _: &WebRequest, _: &Reply) -> String {
        unreachable!("no operation ends")
    }
}

#[test]
fn a_call_that_never_returns_ends_the_run_with_an_error() {
    let mut phases = phases(0, 1);
    phases.drain = Nanos::ZERO;
    let plan = Plan { time_limit: Nanos::from_millis(200), ..closed_plan(1, &[3], phases) };
    let error = run(&plan, &one_object(), |_| Stuck).unwrap_err();
    assert!(error.to_string().contains("the operations of 3 users have not returned"), "{error}");
}
