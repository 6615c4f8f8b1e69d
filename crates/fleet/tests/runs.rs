//! Whole runs against servers in this process: the events during them, and the contents of their run files.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use drivers::Trust;
use drivers::web::{Target, TargetAccess};
use fleet::{
    Event, ExternalServer, FleetError, INTERRUPTED, LoadMachines, Monitoring, Observer, RunRequest,
    ServerChoice, TurnOrder, VerifyError, run,
};
use model::{AgentPlan, FileSet, IntervalRecord, Notes, Phase, Plan, RunEnding, Secrets};
use runfile::{ReadExtent, Record, Run};
use servers::web::{WebOptions, WebServer};
use testkit::{closed_plan, phases};

/// The events, in order, without anything that depends on the machine's speed.
#[derive(Default)]
struct EventLog {
    /// `turn 0`, `ready`, `point 0`, `judged 0`, …
    order: Vec<String>,
    intervals: Vec<(u32, u64)>,
    readings: usize,
    /// Set after this many intervals.
    stop_after: Option<(usize, &'static AtomicBool)>,
}

impl Observer for EventLog {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Turn(place) => self.order.push(format!("turn {place}")),
            Event::Ready { .. } => self.order.push("ready".to_owned()),
            Event::LoadPoint(point) => self.order.push(format!("point {}", point.index)),
            Event::Interval(record) => self.intervals.push((record.load_point, record.flow.ok)),
            Event::Readings { .. } => self.readings += 1,
            Event::Status(status) if status.is_over => self.order.push(format!("judged {}", status.index)),
            Event::Preparing(_)
            | Event::Probing(_)
            | Event::Adding(_)
            | Event::Files { .. }
            | Event::Rows { .. }
            | Event::Status(_)
            | Event::Example(_)
            | Event::Warning(_) => {}
        }
        if let Some((n, stop)) = self.stop_after
            && n <= self.intervals.len()
        {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

/// One second at each load point, on two threads.
fn plan(users: &[u32]) -> Plan {
    Plan { agents: vec![AgentPlan::only(2)], ..closed_plan(7, users, phases(0, 1)) }
}

fn serve(files: FileSet) -> (WebServer, Target) {
    let server = WebServer::start(WebOptions::new(files)).unwrap();
    let address = server.address();
    (
        server,
        Target {
            host: address.ip().to_string(),
            port: address.port(),
            secure: false,
            access: TargetAccess::default(),
        },
    )
}

fn request<'a>(plan: &Plan, target: &Target, run_file: &'a Path) -> RunRequest<'a> {
    let folder = run_file.parent().unwrap();
    RunRequest {
        plan: plan.clone(),
        server: ServerChoice::External(ExternalServer::Web(target.clone(), Trust::Any)),
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
        monitoring: Monitoring::On { others: Vec::new(), watched: Vec::new() },
        notes: Notes::default(),
        disclose_identity: false,
    }
}

/// Returns the intervals in a run file.
fn intervals(path: &Path) -> Vec<IntervalRecord> {
    let mut found = Vec::new();
    let extent = Run::open(path).unwrap().records(|record| {
        if let Record::Interval(interval) = record {
            found.push(interval);
        }
    });
    assert_eq!(extent.unwrap(), ReadExtent::All);
    found
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// Goal: nothing is lost between the load threads and the file: all users of both threads are in every
/// record, every reported event is stored, and the server's answers equal the successful operations.
#[test]
fn everything_the_threads_did_is_reported_and_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let plan = plan(&[3, 1]);
    let (server, target) = serve(plan.file_set());
    let mut log = EventLog::default();
    let ended = run(&[request(&plan, &target, &path)], TurnOrder::of(1), &mut log, &NEVER);
    assert!(matches!(ended[..], [Ok(RunEnding::Complete)]), "{ended:?}");
    assert_eq!(
        log.order,
        ["turn 0", "ready", "turn 0", "point 0", "judged 0", "turn 0", "point 1", "judged 1"]
    );
    assert!(4 <= log.readings, "at the beginning and the end of each load point: {}", log.readings);

    let file = Run::open(&path).unwrap();
    assert_eq!((file.ending(), file.plan()), (&RunEnding::Complete, &plan));
    assert_eq!(file.load_points().unwrap().len(), 2);
    assert_eq!(file.machines().unwrap().len(), 1);
    let stored = intervals(&path);
    assert_eq!(stored.iter().map(|one| (one.load_point, one.flow.ok)).collect::<Vec<_>>(), log.intervals);
    for (index, users) in [(0, 3), (1, 1)] {
        let steady = stored.iter().find(|one| one.load_point == index && one.phase == Phase::Steady).unwrap();
        // Without think time every user is in flight, except for moments.
        let busy = steady.flow.in_flight_ns as f64 / (steady.end - steady.start).0 as f64;
        assert!((f64::from(users) - 0.9..=f64::from(users)).contains(&busy), "{busy} of {users} users");
        assert_eq!(steady.health.threads, 2);
    }
    let ok: u64 = stored.iter().map(|one| one.flow.ok).sum();
    let unanswered: u64 =
        stored.iter().map(|one| one.flow.abandoned + one.flow.failed + one.flow.timed_out).sum();
    // One object was fetched before load.
    let served = server.stop().unwrap().requests;
    assert!(
        (ok + 1..=ok + 1 + unanswered).contains(&served),
        "{served} served, {ok} ok, {unanswered} given up"
    );
}

/// Goal: changes on the machine affect all servers alike: each load point is run with all of them, starting
/// with another one each time. A run that cannot start leaves no file and does not end the others.
#[test]
fn runs_take_turns_and_one_that_cannot_start_does_not_end_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a", "none", "b"].map(|name| folder.path().join(format!("{name}.plim")));
    let plan = plan(&[1, 2]);
    let (_server, target) = serve(plan.file_set());
    let gone = {
        let (server, target) = serve(plan.file_set());
        server.stop().unwrap();
        target
    };
    let requests = [
        request(&plan, &target, &paths[0]),
        request(&plan, &gone, &paths[1]),
        request(&plan, &target, &paths[2]),
    ];
    let mut log = EventLog::default();
    let ended = run(&requests, TurnOrder::of(3), &mut log, &NEVER);
    assert!(
        matches!(ended[0], Ok(RunEnding::Complete)) && matches!(ended[2], Ok(RunEnding::Complete)),
        "{ended:?}"
    );
    assert!(
        matches!(&ended[1], Err(FleetError::Verify(VerifyError::Unreachable { target, .. })) if *target == gone.to_string()),
        "{ended:?}"
    );
    assert!(!paths[1].exists());
    assert_eq!(log.order[..5], ["turn 0", "ready", "turn 1", "turn 2", "ready"]);
    let turn =
        |run: u32, point: u32| [format!("turn {run}"), format!("point {point}"), format!("judged {point}")];
    let rounds = [turn(0, 0), turn(2, 0), turn(2, 1), turn(0, 1)].concat();
    assert_eq!(log.order[5..], rounds);
    for path in [&paths[0], &paths[2]] {
        let points: Vec<u32> = intervals(path).iter().map(|one| one.load_point).collect();
        assert!(points.is_sorted() && points.contains(&0) && points.contains(&1), "{points:?}");
    }
}

/// Goal: an interrupt ends all runs, and keeps everything recorded.
#[test]
fn an_interrupt_ends_all_runs_and_keeps_the_records() {
    static STOP: AtomicBool = AtomicBool::new(false);
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| folder.path().join(format!("{name}.plim")));
    // It would take an hour without the interrupt after a second.
    let plan = Plan { phases: phases(0, 3600), ..plan(&[1]) };
    let (_server, target) = serve(plan.file_set());
    let requests = [request(&plan, &target, &paths[0]), request(&plan, &target, &paths[1])];
    let mut log = EventLog { stop_after: Some((1, &STOP)), ..EventLog::default() };
    let ended = run(&requests, TurnOrder::of(2), &mut log, &STOP);
    let stopped = RunEnding::Stopped(INTERRUPTED.to_owned());
    assert!(ended.iter().all(|one| one.as_ref().is_ok_and(|ending| *ending == stopped)), "{ended:?}");
    assert!(0 < intervals(&paths[0]).iter().map(|one| one.flow.ok).sum::<u64>());
    assert_eq!(intervals(&paths[1]), []);
    for path in &paths {
        assert_eq!(Run::open(path).unwrap().ending(), &stopped);
    }
    assert_eq!(log.order.iter().filter(|one| one.starts_with("point")).count(), 1, "{:?}", log.order);
}

/// Goal: a server with other contents is not loaded.
#[test]
fn a_server_with_other_files_is_refused_before_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let plan = plan(&[1]);
    let mut files = plan.file_set();
    files.content_seed += 1;
    let (server, target) = serve(files);
    let mut log = EventLog::default();
    let ended = run(&[request(&plan, &target, &path)], TurnOrder::of(1), &mut log, &NEVER);
    let Err(FleetError::Verify(VerifyError::Wrong { n_wrong: 1, n_objects: 1, named, .. })) = &ended[0]
    else {
        panic!("{ended:?}")
    };
    assert!(named[0].text.starts_with("GET /object: wrong byte at position "), "{named:?}");
    assert!(!path.exists() && log.order == ["turn 0"], "{:?}", log.order);
    assert_eq!(server.stop().unwrap().requests, 1);
}

/// Goal: an existing run file is never overwritten, and the run ends before any load.
#[test]
fn an_existing_run_file_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    std::fs::write(&path, "precious").unwrap();
    let plan = plan(&[1]);
    let (_server, target) = serve(plan.file_set());
    let mut log = EventLog::default();
    let ended = run(&[request(&plan, &target, &path)], TurnOrder::of(1), &mut log, &NEVER);
    assert!(matches!(ended[0], Err(FleetError::RunFile(_))), "{ended:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(log.intervals, []);
}
