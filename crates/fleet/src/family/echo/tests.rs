//! Notices in whole runs against an echo server: from the wire to the report.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use analysis::{Analysis, Analyzer, NoticeResult};
use disclosure::{Provenance, Report, outline, render};
use model::echo::{EchoMessageKind, EchoNotice, EchoWorkload};
use model::{Notes, Phases, Plan, RunEnding, Secrets, ThinkTime, Workload};
use runfile::{ReadExtent, Record, Run};
use testkit::echo::{EchoStub, StubNotices};
use testkit::{closed_plan, phases, with_workload};
use units::Nanos;

use crate::{
    Event, ExternalServer, LoadMachines, Monitoring, Observer, RunRequest, ServerChoice, TurnOrder, run,
};

const MS: fn(u64) -> Nanos = Nanos::from_millis;

/// The time after which messages ask for a notice.
const AFTER: Nanos = Nanos::from_millis(20);

/// The longest time by which a notice may be later than the server sends it, on a busy machine.
const SLACK: Nanos = Nanos::from_millis(250);

/// The number of users.
const USERS: u32 = 2;

/// Two users that think for 10 ms after each message, for a second. A notice is lost after half a second.
fn plan(drain: Nanos) -> Plan {
    let notice = Some(EchoNotice { after: AFTER });
    let messages =
        vec![EchoMessageKind { name: "short".to_owned(), bytes: 64, weight: 1, counts_as: 1, notice }];
    let workload = Workload::Echo(EchoWorkload { messages, think: ThinkTime::Fixed(MS(10)) });
    let phases = Phases { drain, ..phases(0, 1) };
    Plan { time_limit: MS(500), ..with_workload(closed_plan(7, &[USERS], phases), workload) }
}

/// An observer that ignores all events.
struct SilentObserver;

impl Observer for SilentObserver {
    fn event(&mut self, _: Event<'_>) {}
}

fn request<'a>(plan: &Plan, server: &EchoStub, run_file: &'a Path) -> RunRequest<'a> {
    let folder = run_file.parent().unwrap();
    RunRequest {
        plan: plan.clone(),
        server: ServerChoice::External(ExternalServer::Echo(server.address().to_string().parse().unwrap())),
        secrets: Secrets::default(),
        run_file,
        program: "test".to_owned(),
        command_line: "test".to_owned(),
        work_dir: folder.join("work"),
        data_dir: folder.join("data"),
        search_path: Vec::new(),
        files_dir: folder.join("files"),
        executable: "/nowhere".into(),
        load: LoadMachines::Here,
        monitoring: Monitoring::Off,
        notes: Notes::default(),
        disclose_identity: false,
    }
}

/// Analyzes a run file.
fn analyze(run: &Run) -> Analysis {
    let mut analyzer = Analyzer::new(run.plan());
    let extent = run.records(|record| match record {
        Record::Interval(interval) => analyzer.interval(&interval),
        Record::Detail(detail) => analyzer.detail(&detail),
        Record::Resource(resource) => analyzer.resource(&resource),
    });
    assert_eq!(extent.unwrap(), ReadExtent::All);
    analyzer.finish(run.ending().clone())
}

/// Runs a plan against a server with such notices. Returns the notices that the analysis of the run file finds, and the
/// section of the report.
fn notices(plan: &Plan, notices: StubNotices) -> (NoticeResult, String) {
    static NEVER: AtomicBool = AtomicBool::new(false);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let server = EchoStub::start(notices).unwrap();
    let ended = run(&[request(plan, &server, &path)], TurnOrder::of(1), &mut SilentObserver, &NEVER);
    assert!(matches!(ended[..], [Ok(RunEnding::Complete)]), "{ended:?}");
    let file = Run::open(&path).unwrap();
    let analysis = analyze(&file);
    let report = Report {
        analysis: &analysis,
        plan: file.plan(),
        testbed: file.testbed(),
        provenance: &Provenance::default(),
        price: None,
    };
    let text = render::markdown(&outline(&report));
    let (_, section) = text.split_once("## Notices\n").expect("a section of its own");
    let [point] = &analysis.load_points[..] else { panic!("one load point") };
    let [found] = &point.notices[..] else { panic!("one kind of notices") };
    assert_eq!(found.begun, found.ended + found.lost + found.pending);
    // Each message asks for one; those of the last are awaited after the steady phase.
    assert!(2 * u64::from(USERS) <= point.total.n && point.total.n <= found.begun, "{found:?}");
    (found.clone(), section.split("\n## ").next().unwrap().to_owned())
}

/// Returns the cells of a section's only row: users, begun, came, lost, pending, mean, percentiles.
fn row(section: &str) -> Vec<&str> {
    let row = section.lines().filter(|line| line.starts_with('|')).nth(2).expect("a row");
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// Goal: the time of a notice counts from when it is expected, and is what the server is late by.
#[test]
fn notices_that_users_get_while_they_rest_are_in_the_report() {
    let late = MS(30);
    let server = StubNotices { late: Duration::from_nanos(late.0), lost_of: u32::MAX };
    let (found, section) = notices(&plan(MS(2_000)), server);
    assert_eq!((found.ended, found.lost, found.pending), (found.begun, 0, 0));
    let [least, most] = [0.001, 1.0].map(|q| found.percentile(q).unwrap());
    // A percentile is that of its slot in the histogram, which may begin earlier.
    let slot = MS(1);
    assert!(late <= least + slot && most <= late + SLACK, "{least} to {most}");
    let mean = found.mean.unwrap();
    assert!((late.as_secs_f64()..(late + SLACK).as_secs_f64()).contains(&mean), "{mean}");
    let begun = found.begun.to_string();
    assert_eq!(row(&section)[..5], ["2", &begun, &begun, "0", "0"], "{section}");
}

/// Every fourth of a connection never comes: it is lost half a second after it was expected, within the drain.
#[test]
fn a_notice_that_never_comes_is_lost() {
    let (found, section) = notices(&plan(MS(2_000)), StubNotices { late: Duration::ZERO, lost_of: 4 });
    let least = found.begun / 4 - u64::from(USERS) + 1;
    assert!((least..=found.begun / 4).contains(&found.lost), "{found:?}");
    assert_eq!(found.pending, 0);
    assert!(found.percentile(0.7).is_some_and(|time| time <= SLACK));
    assert_eq!(found.percentile(0.8), None, "longer than all others");
    assert_eq!(row(&section)[3], found.lost.to_string(), "{section}");
}

/// A notice comes 320 ms after its message, so that the drain of 100 ms is too short for those of the last messages.
#[test]
fn a_notice_after_the_drain_is_pending() {
    let late = StubNotices { late: Duration::from_millis(300), lost_of: u32::MAX };
    let (found, section) = notices(&plan(MS(100)), late);
    assert_eq!(found.lost, 0);
    // By hand: those of messages that were sent in the last 220 ms, at one in some 10 ms of each user.
    assert!((u64::from(USERS)..=2 * 23).contains(&found.pending), "{found:?}");
    assert_eq!(row(&section)[4], found.pending.to_string(), "{section}");
}
