//! Notices in whole runs against an echo server: from the wire to the report.

use std::ops::RangeInclusive;
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

/// The time limit where no notice is to be lost, however busy the machine is.
const AMPLE: Nanos = Nanos::from_secs(5);

/// The number of users.
const USERS: u32 = 2;

/// Two users that think for 10 ms after each message, for a second. They ask for a notice after a time, and it is lost when
/// it is later than the time limit.
fn plan(after: Nanos, time_limit: Nanos, drain: Nanos) -> Plan {
    let notice = Some(EchoNotice { after });
    let messages =
        vec![EchoMessageKind { name: "short".to_owned(), bytes: 64, weight: 1, counts_as: 1, notice }];
    let workload = Workload::Echo(EchoWorkload { messages, think: ThinkTime::Fixed(MS(10)) });
    let phases = Phases { drain, ..phases(0, 1) };
    Plan { time_limit, ..with_workload(closed_plan(7, &[USERS], phases), workload) }
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
    let (after, late) = (MS(500), MS(30));
    let server = StubNotices { late: Duration::from_nanos(late.0), lost_of: u32::MAX };
    let (found, section) = notices(&plan(after, AMPLE, MS(20_000)), server);
    assert_eq!((found.ended, found.lost, found.pending), (found.begun, 0, 0));
    let least = found.percentile(0.001).unwrap();
    // A percentile is that of its slot in the histogram, which may begin earlier. On a busy machine the others may be later.
    let slot = MS(1);
    assert!(late <= least + slot && least < after, "{least}");
    let mean = found.mean.unwrap();
    assert!(late.as_secs_f64() <= mean, "{mean}");
    let begun = found.begun.to_string();
    assert_eq!(row(&section)[..5], ["2", &begun, &begun, "0", "0"], "{section}");
}

/// Every fourth of a connection never comes: it is lost two seconds after it was expected, within the drain.
#[test]
fn a_notice_that_never_comes_is_lost() {
    let plan = plan(MS(20), MS(2_000), MS(20_000));
    let (found, section) = notices(&plan, StubNotices { late: Duration::ZERO, lost_of: 4 });
    assert!(never_come(&found).contains(&found.lost), "{found:?}");
    assert_eq!(found.pending, 0);
    assert!(found.percentile(0.5).is_some());
    assert_eq!(found.percentile(1.0), None, "longer than all others");
    assert_eq!(row(&section)[3], found.lost.to_string(), "{section}");
}

/// Every fourth of a connection never comes, and the drain of 100 ms ends before the time limit: it is not known to be lost.
#[test]
fn a_notice_that_has_not_come_when_the_drain_ends_is_pending() {
    let plan = plan(MS(20), AMPLE, MS(100));
    let (found, section) = notices(&plan, StubNotices { late: Duration::ZERO, lost_of: 4 });
    assert_eq!(found.lost, 0);
    // Those of the last messages may be pending, too, where the machine is busy.
    assert!(*never_come(&found).start() <= found.pending && 0 < found.ended, "{found:?}");
    assert_eq!(row(&section)[4], found.pending.to_string(), "{section}");
}

/// Returns how many notices never come where these are every fourth of each connection.
fn never_come(found: &NoticeResult) -> RangeInclusive<u64> {
    // Of each connection up to three messages are left over.
    (found.begun / 4 + 1).saturating_sub(u64::from(USERS))..=found.begun / 4
}
