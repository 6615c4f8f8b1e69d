//! Order of events of whole runs in laboratories that only write down what they are asked for.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use drivers::Trust;
use model::{
    AgentPlan, CheckMoment, IntervalRecord, Load, Notes, Plan, Refinement, RunEnding, Search, Secrets, Shape,
    Stage, parse_limits,
};
use runfile::{Record, Run};
use testkit::{closed_plan, phases};
use units::Nanos;

use crate::disk_use::DiskUse;
use crate::error::FleetError;
use crate::fake::{FakeLab, InjectedFault, Transcript};
use crate::family::ExternalServer;
use crate::order::StepOrder;
use crate::request::{LoadMachines, Monitoring, RunRequest, ServerChoice};
use crate::run::run_in;
use crate::turns::TurnOrder;

/// Lines of transcripts are indented so in this file.
const INDENT: &str = "        ";

/// A second at each load point.
fn plan(users: &[u32]) -> Plan {
    closed_plan(7, users, phases(0, 1))
}

/// Runs plans in turns, with something that goes wrong in the first, and checks what happened in which order: what the
/// laboratories were asked for, what the observer was told, how the runs ended and what their files hold.
#[track_caller]
fn check(plans: &[Plan], trouble: Option<InjectedFault>, expected: &str) {
    check_in(&StepOrder::STATELESS, plans, trouble, expected);
}

/// Does the same in the order that a family states.
#[track_caller]
fn check_in(order: &'static StepOrder, plans: &[Plan], trouble: Option<InjectedFault>, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<_> = (0..plans.len()).map(|index| folder.path().join(format!("{index}.plim"))).collect();
    let requests: Vec<_> = plans.iter().zip(&files).map(|(plan, file)| request(plan, file)).collect();
    let transcript = Transcript::default();
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let mut n_started = 0;
    let endings =
        run_in(&requests, TurnOrder::of(requests.len()), &mut transcript.clone(), stop, |request, _, _| {
            n_started += 1;
            let trouble = trouble.filter(|_| n_started == 1);
            Ok(FakeLab::start(request, trouble, order, &transcript, stop))
        });
    for (index, (ending, file)) in endings.iter().zip(&files).enumerate() {
        let ending = match ending {
            Ok(ending) => format!("{ending:?}"),
            Err(error) => {
                format!("error: {}", error.to_string().replace(&*folder.path().to_string_lossy(), ""))
            }
        };
        transcript.add(format!("run {index}: {ending}; {}", contents(file)));
    }
    let found = transcript.text();
    let expected: Vec<&str> =
        expected.trim().lines().map(|line| line.strip_prefix(INDENT).unwrap_or(line)).collect();
    assert_eq!(found.lines().collect::<Vec<_>>(), expected, "found:\n{found}\n");
    assert_eq!(stop.load(Ordering::Relaxed), matches!(trouble, Some(InjectedFault::Interrupt(..))));
}

fn request<'a>(plan: &Plan, run_file: &'a Path) -> RunRequest<'a> {
    let folder = run_file.parent().unwrap();
    RunRequest {
        plan: plan.clone(),
        server: ServerChoice::External(ExternalServer::Web(
            "http://127.0.0.1:1/".parse().unwrap(),
            Trust::Any,
        )),
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

/// Says what a run file holds: how many intervals of which load points, and how it says that the run ended.
fn contents(file: &Path) -> String {
    if !file.exists() {
        return "no file".to_owned();
    }
    let run = Run::open(file).unwrap();
    let mut points: Vec<(u32, usize)> =
        run.load_points().unwrap().iter().map(|(index, _)| (*index, 0)).collect();
    let extent = run.records(|record| {
        if let Record::Interval(interval) = record {
            points.iter_mut().filter(|(index, _)| *index == interval.load_point).for_each(|(_, n)| *n += 1);
        }
    });
    assert!(extent.is_ok(), "{extent:?}");
    let broken = run.checks().unwrap().into_iter().filter(|check| !check.holds);
    let broken: Vec<_> =
        broken.map(|check| format!(", broken at {}: {}", check.load_point, check.name)).collect();
    format!("file: load points and intervals {points:?}, {:?}{}", run.ending(), broken.concat())
}

/// 40 users on a server that does 4 operations of 10 ms at a time: each takes 100 ms. The first window of 5 s breaks the
/// limit: the load ends there, the next stage is not run, and that is a complete run.
#[test]
fn a_limit_that_breaks_ends_the_load_and_not_the_run() {
    let stage = |users| Stage { length: Nanos::from_secs(10), from: users, to: users };
    let until = parse_limits("p99<50ms").unwrap();
    let shape = Shape { stages: vec![stage(40.0), stage(20.0)], until };
    let plan = Plan { shape: Some(shape), ..closed_plan(7, &[40], phases(0, 20)) };
    check(
        &[plan],
        None,
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 40
          prepare 0
          go
          collect: asked to stop after 5 intervals
          judged
          stop
        run 0: Complete; file: load points and intervals [(0, 5)], Complete
        "#,
    );
}

#[test]
fn a_run_goes_from_probe_to_stop() {
    check(
        &[plan(&[1, 2])],
        None,
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 1 at 2
          prepare 1
          go
          collect: 2 intervals
          judged
          stop
        run 0: Complete; file: load points and intervals [(0, 2), (1, 2)], Complete
        "#,
    );
}

#[test]
fn runs_take_turns_and_another_one_begins_each_round() {
    check(
        &[plan(&[1, 2, 4]), plan(&[1, 2])],
        None,
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 1
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 1
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 1
          quiet
          reset
          load point 1 at 2
          prepare 1
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 1 at 2
          prepare 1
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 2 at 4
          prepare 2
          go
          collect: 2 intervals
          judged
          stop
          stop
        run 0: Complete; file: load points and intervals [(0, 2), (1, 2), (2, 2)], Complete
        run 1: Complete; file: load points and intervals [(0, 2), (1, 2)], Complete
        "#,
    );
}

/// A server that is stopped meanwhile is reset before its next load point, also before its first.
#[test]
fn servers_that_must_be_alone_rest_while_others_have_their_turns() {
    check(
        &[plan(&[1, 2]), plan(&[1])],
        Some(InjectedFault::Alone),
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
          rest
        turn of run 1
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          reset
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
          rest
        turn of run 1
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 1 at 2
          prepare 1
          go
          collect: 2 intervals
          judged
          rest
          stop
          stop
        run 0: Complete; file: load points and intervals [(0, 2), (1, 2)], Complete
        run 1: Complete; file: load points and intervals [(0, 2)], Complete
        "#,
    );
}

/// The server carries four users. By hand: √(1·10) = 3, with the rate of 3; then √(3·10) = 5, with that of 4.
#[test]
fn load_points_are_added_where_the_rate_stops_growing() {
    let refinement = Some(Refinement { n_planned: 4, added_max: 2 });
    let planned = closed_plan(7, &[1, 10, 20, 40], phases(1, 2));
    check(
        &[Plan { refinement, ..planned }],
        None,
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 4 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 1 at 10
          prepare 1
          go
          collect: 4 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 2 at 20
          prepare 2
          go
          collect: 4 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 3 at 40
          prepare 3
          go
          collect: 4 intervals
          judged
        turn of run 0
          adding 3 between 1 and 10
          quiet
          reset
          load point 4 at 3
          prepare 4
          go
          collect: 4 intervals
          judged
        turn of run 0
          adding 5 between 3 and 10
          quiet
          reset
          load point 5 at 5
          prepare 5
          go
          collect: 4 intervals
          judged
          stop
        run 0: Complete; file: load points and intervals [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4), (5, 4)], Complete
        "#,
    );
}

#[test]
fn a_search_goes_on_from_what_was_found() {
    let search = Some(Search { least: Load::Users(1), most: Load::Users(8) });
    check(
        &[Plan { search, ..plan(&[]) }],
        None,
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 1 at 4
          prepare 1
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 2 at 8
          prepare 2
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 3 at 6
          prepare 3
          go
          collect: 2 intervals
          judged
          stop
        run 0: Complete; file: load points and intervals [(0, 2), (1, 2), (2, 2), (3, 2)], Complete
        "#,
    );
}

#[test]
fn a_server_that_serves_something_else_is_not_loaded_and_the_others_are() {
    check(
        &[plan(&[1]), plan(&[1])],
        Some(InjectedFault::WrongObjects),
        r#"
        turn of run 0
          start
          warm
          probe
          stop
        turn of run 1
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 1
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
          stop
        run 0: error: 1 of 1 objects are not served as the benchmark defines them:; no file
        run 1: Complete; file: load points and intervals [(0, 2)], Complete
        "#,
    );
}

#[test]
fn a_server_that_dies_ends_its_own_run_only() {
    check(
        &[plan(&[1, 2]), plan(&[1, 2])],
        Some(InjectedFault::Dies(0, 1)),
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 1
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: asked to stop after 1 intervals
          stop
        turn of run 1
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 1
          quiet
          reset
          load point 1 at 2
          prepare 1
          go
          collect: 2 intervals
          judged
          stop
        run 0: error: a fake ended unexpectedly: signal 9; file: load points and intervals [(0, 1)], Stopped("a fake ended unexpectedly: signal 9")
        run 1: Complete; file: load points and intervals [(0, 2), (1, 2)], Complete
        "#,
    );
}

#[test]
fn a_server_that_does_not_come_up_again_ends_its_run_with_what_was_recorded() {
    check(
        &[plan(&[1, 2])],
        Some(InjectedFault::ResetFails(1)),
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          stop
        run 0: error: a fake ended unexpectedly: signal 9; file: load points and intervals [(0, 2)], Stopped("a fake ended unexpectedly: signal 9")
        "#,
    );
}

/// A second that is wrong is in no sum, and what was recorded before stays.
#[test]
fn a_contradictory_record_ends_its_run_with_an_error_that_names_the_load_thread() {
    let two_threads = Plan { agents: vec![AgentPlan::only(2)], ..closed_plan(7, &[2], phases(0, 4)) };
    check(
        &[two_threads, plan(&[1])],
        Some(InjectedFault::WrongRecords(0, |records| {
            let of_last = |record: &&mut IntervalRecord| (record.index, record.thread) == (2, Some(1));
            records.iter_mut().find(of_last).unwrap().flow.ok += 1;
        })),
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 1
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 2
          prepare 0
          go
          collect: asked to stop after 2 intervals
          stop
        turn of run 1
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
          stop
        run 0: error: load agent 0, load thread 1: the record of interval 2 of load point 0 contradicts itself: it has 101 operations in flight, and 102 in another count of them; file: load points and intervals [(0, 2)], Stopped("load agent 0, load thread 1: the record of interval 2 of load point 0 contradicts itself: it has 101 operations in flight, and 102 in another count of them")
        run 1: Complete; file: load points and intervals [(0, 2)], Complete
        "#,
    );
}

/// The load point goes on, is not valid, and names who was missing from which second on.
#[test]
fn a_load_thread_that_falls_silent_is_named_with_the_second() {
    let two_threads = Plan { agents: vec![AgentPlan::only(2)], ..closed_plan(7, &[2], phases(0, 8)) };
    check(
        &[two_threads],
        Some(InjectedFault::WrongRecords(0, |records| {
            records.retain(|record| record.thread == Some(0) || record.index == 0);
        })),
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 2
          prepare 0
          go
          warning: load agent 0, load thread 1 has sent no record of interval 1, which began at 1.00 s; 7 records are missing
          collect: 9 intervals
          judged
          stop
        run 0: Complete; file: load points and intervals [(0, 9)], Complete, broken at 0: records complete
        "#,
    );
}

#[test]
fn a_full_disk_ends_the_run_and_keeps_what_was_written() {
    let long = closed_plan(7, &[1, 2, 4], phases(0, 8));
    check(
        &[long, plan(&[1])],
        Some(InjectedFault::DiskFull(1 << 10)),
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 1
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: asked to stop after 7 intervals
          stop
        turn of run 1
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
          stop
        run 0: error: the disk that holds `/0.plim` is full; file: load points and intervals [(0, 6)], Missing
        run 1: Complete; file: load points and intervals [(0, 2)], Complete
        "#,
    );
}

/// All was measured, and the results are not in the file: it has no end, but what they follow from.
#[test]
fn a_disk_that_is_full_at_the_end_leaves_all_records() {
    check(
        &[plan(&[1, 2, 4])],
        Some(InjectedFault::DiskFull(2 << 10)),
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 1 at 2
          prepare 1
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 2 at 4
          prepare 2
          go
          collect: 2 intervals
          judged
          stop
        run 0: error: the disk that holds `/0.plim` is full; file: load points and intervals [(0, 2), (1, 2), (2, 2)], Missing
        "#,
    );
}

#[test]
fn an_interrupt_ends_all_runs_and_keeps_what_was_recorded() {
    check(
        &[plan(&[1, 2]), plan(&[1, 2])],
        Some(InjectedFault::Interrupt(1, 1)),
        r#"
        turn of run 0
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 1
          start
          warm
          probe
          watch
          ready: a fake
        turn of run 0
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 1
          quiet
          load point 0 at 1
          prepare 0
          go
          collect: 2 intervals
          judged
        turn of run 1
          quiet
          reset
          load point 1 at 2
          prepare 1
          go
          collect: 2 intervals
          judged
        turn of run 0
          quiet
          reset
          load point 1 at 2
          prepare 1
          go
          collect: asked to stop after 1 intervals
          judged
          stop
          stop
        run 0: Stopped("interrupted by the user"); file: load points and intervals [(0, 2), (1, 1)], Stopped("interrupted by the user")
        run 1: Complete; file: load points and intervals [(0, 2), (1, 2)], Complete
        "#,
    );
}

/// Each load point has its own data, warm caches, probe and checks, and the pause is the last before its first operation.
#[test]
fn systems_with_data_are_reset_warmed_probed_and_checked_for_each_load_point() {
    check_in(
        &StepOrder::STATEFUL,
        &[plan(&[1, 2])],
        None,
        r#"
        turn of run 0
          start
          watch
          ready: a fake
        turn of run 0
          check golden
          warm
          probe
          load point 0 at 1
          check before 0
          prepare 0
          quiet
          go
          collect: 2 intervals
          check after 0
          judged
        turn of run 0
          reset
          check golden
          warm
          probe
          load point 1 at 2
          check before 1
          prepare 1
          quiet
          go
          collect: 2 intervals
          check after 1
          judged
          stop
        run 0: Complete; file: load points and intervals [(0, 2), (1, 2)], Complete
        "#,
    );
}

/// A server that was stopped meanwhile is not in its first state, also before its first load point.
#[test]
fn systems_with_data_that_must_be_alone_are_prepared_after_their_rest() {
    check_in(
        &StepOrder::STATEFUL,
        &[plan(&[1]), plan(&[1])],
        Some(InjectedFault::Alone),
        r#"
        turn of run 0
          start
          watch
          ready: a fake
          rest
        turn of run 1
          start
          watch
          ready: a fake
        turn of run 0
          reset
          check golden
          warm
          probe
          load point 0 at 1
          check before 0
          prepare 0
          quiet
          go
          collect: 2 intervals
          check after 0
          judged
          rest
        turn of run 1
          check golden
          warm
          probe
          load point 0 at 1
          check before 0
          prepare 0
          quiet
          go
          collect: 2 intervals
          check after 0
          judged
          stop
          stop
        run 0: Complete; file: load points and intervals [(0, 2)], Complete
        run 1: Complete; file: load points and intervals [(0, 2)], Complete
        "#,
    );
}

#[test]
fn a_system_with_data_that_answers_wrongly_leaves_no_run_file() {
    check_in(
        &StepOrder::STATEFUL,
        &[plan(&[1, 2])],
        Some(InjectedFault::WrongObjects),
        r#"
        turn of run 0
          start
          watch
          ready: a fake
        turn of run 0
          check golden
          warm
          probe
          stop
        run 0: error: 1 of 1 objects are not served as the benchmark defines them:; no file
        "#,
    );
}

#[test]
fn an_interrupted_load_point_is_not_checked_afterwards() {
    check_in(
        &StepOrder::STATEFUL,
        &[plan(&[1, 2])],
        Some(InjectedFault::Interrupt(0, 1)),
        r#"
        turn of run 0
          start
          watch
          ready: a fake
        turn of run 0
          check golden
          warm
          probe
          load point 0 at 1
          check before 0
          prepare 0
          quiet
          go
          collect: asked to stop after 1 intervals
          judged
          stop
        run 0: Stopped("interrupted by the user"); file: load points and intervals [(0, 1)], Stopped("interrupted by the user")
        "#,
    );
}

/// The rule `consistency` judges it; what follows is worth to be known.
#[test]
fn a_condition_that_does_not_hold_is_recorded_and_the_run_goes_on() {
    check_in(
        &StepOrder::STATEFUL,
        &[plan(&[1, 2])],
        Some(InjectedFault::Inconsistent(0, CheckMoment::After)),
        r#"
        turn of run 0
          start
          watch
          ready: a fake
        turn of run 0
          check golden
          warm
          probe
          load point 0 at 1
          check before 0
          prepare 0
          quiet
          go
          collect: 2 intervals
          check after 0
          judged
        turn of run 0
          reset
          check golden
          warm
          probe
          load point 1 at 2
          check before 1
          prepare 1
          quiet
          go
          collect: 2 intervals
          check after 1
          judged
          stop
        run 0: Complete; file: load points and intervals [(0, 2), (1, 2)], Complete, broken at 0: condition after
        "#,
    );
}

/// Each of the first two has room alone, and the last has room beside one of them.
#[test]
fn a_run_without_room_for_its_files_beside_those_of_others_is_refused() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let free = observe::free_bytes(folder.path()).unwrap();
    let files = ["large", "too-large", "small"].map(|name| folder.path().join(format!("{name}.plim")));
    let plan = plan(&[1]);
    let requests = files.each_ref().map(|file| request(&plan, file));
    let mut bytes = [free / 10 * 6, free / 10 * 6, 1 << 20].into_iter();
    let transcript = Transcript::default();
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let endings =
        run_in(&requests, TurnOrder::of(requests.len()), &mut transcript.clone(), stop, |request, _, _| {
            let mut lab = FakeLab::start(request, None, &StepOrder::STATEFUL, &transcript, stop);
            let directory = folder.path().to_owned();
            lab.disk_use = bytes.next().map(|each| DiskUse { users: 1, each, directory });
            Ok(lab)
        });
    let expected = free / 10 * 6;
    assert!(
        matches!(&endings[..], [Ok(RunEnding::Complete), Err(FleetError::NoRoom { others, .. }), Ok(RunEnding::Complete)]
            if *others == expected),
        "{endings:?}"
    );
    assert_eq!(files.map(|file| file.exists()), [true, false, true]);
    let text = transcript.text();
    assert!(text.find("stop") < text.find("load point"), "refused before the load: {text}");
}
