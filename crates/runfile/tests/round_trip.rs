//! Everything that is written is read back.

use std::collections::BTreeMap;

use model::{
    Counter, DetailRecord, Example, Fact, FactSection, FactState, IntervalRecord, LimitInForce, Load,
    LoadPoint, MachineRole, MonitoredSource, Outcome, Phase, Plan, Refinement, ResourceRecord, RunEnding,
    Search, Series, ServerLimit,
};
use runfile::{Record, Run, RunFileError, Writer, summary};
use rusqlite::Connection;
use stats::Histogram;
use units::{Nanos, WallTime};

use crate::support::{self, Synthesis, finished_run, header, records};

#[test]
fn everything_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a run #1 50%?.plim");
    let mut header = header(2);
    let example = Example {
        load_point: 1,
        at: Nanos(17),
        kind: 4,
        outcome: Outcome::WrongBytes,
        text: "byte 7 of /file500 is 0x00, expected `a`".to_owned(),
    };
    let found = FactSection::new("Server", [("version", "nginx 1.22\nwith two lines".to_owned())]);
    let found = FactSection { facts: [found.facts, facts_of_every_state()].concat(), ..found };
    header.testbed.sections.push(found);
    let mut writer = Writer::create(&path, &header).unwrap();
    let points = &header.plan.load_points;
    writer.load_point(points[0], WallTime(5)).unwrap();
    writer.load_point(points[1], WallTime(6)).unwrap();
    writer.example(&example).unwrap();
    writer.event(WallTime(7), "The server was restarted.").unwrap();
    writer.finish(WallTime(8), &RunEnding::Stopped("interrupted".to_owned())).unwrap();

    let run = Run::open(&path).unwrap();
    assert_eq!(run.header(), &header);
    assert_eq!(run.ending(), &RunEnding::Stopped("interrupted".to_owned()));
    assert_eq!(
        (run.ended(), run.load_points().unwrap()),
        (Some(WallTime(8)), vec![(0, WallTime(5)), (1, WallTime(6))])
    );
    assert_eq!(run.examples().unwrap(), [example]);
    assert_eq!(run.events().unwrap()[0].text, "The server was restarted.");
    assert_eq!(run.verify(), []);
}

fn facts_of_every_state() -> Vec<Fact> {
    let fact = |state: FactState| Fact { state, ..Fact::found(state.name(), "a value").from("/proc/x") };
    FactState::ALL.map(fact).into()
}

/// Goal: the readings of two machines are read back unchanged, over load points, with series that come later and one
/// that goes.
#[test]
fn readings_of_machines_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let machines = [("this machine", MachineRole::Load), ("http://sut:9100/metrics", MachineRole::Sut)]
        .map(|(name, role)| MonitoredSource { name: name.to_owned(), role });
    let series = [(0, Counter::CpuUser, "0"), (1, Counter::CpuUser, "0"), (1, Counter::DiskReads, "sda")]
        .map(|(machine, counter, instance)| Series { machine, counter, instance: instance.to_owned() });
    let rows = [
        (0, 0, vec![(0, 100)]),
        (0, 1, vec![(1, u64::MAX)]),
        (0, 1, vec![(1, 7), (2, 5)]),
        (0, 0, vec![(0, 100)]),
        (1, 1, vec![(2, 5)]),
        (1, 1, vec![]),
    ];
    let told = rows.map(|(load_point, machine, values)| ResourceRecord {
        load_point,
        machine,
        at: Nanos::from_secs(3),
        values,
    });
    let mut writer = Writer::create(&path, &header(2)).unwrap();
    (0..).zip(&machines).for_each(|(number, machine)| writer.machine(number, machine).unwrap());
    (0..).zip(&series).for_each(|(number, series)| writer.series(number, series).unwrap());
    told.iter().for_each(|record| writer.resource(record).unwrap());
    writer.finish(WallTime(0), &RunEnding::Complete).unwrap();

    let run = Run::open(&path).unwrap();
    assert_eq!((run.machines().unwrap(), run.series().unwrap()), (machines.to_vec(), series.to_vec()));
    assert_eq!(records(&path), told.map(Record::Resource));
    assert_eq!(run.verify(), []);
    Connection::open(&path).unwrap().execute("UPDATE resource SET at_ns = 1 WHERE id = 2", []).unwrap();
    let findings = Run::open(&path).unwrap().verify();
    assert_eq!(findings, [runfile::VerifyFinding::TableChanged { table: "resource" }]);
}

#[test]
fn intervals_are_read_back_without_detail_and_details_as_their_sum() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 2, 25);
    let mut intervals = Vec::new();
    let mut details = Vec::new();
    let mut synthesis = Synthesis::new(1, 40);
    for load_point in 0..2 {
        for index in 0..25 {
            let phase = if index < 2 { Phase::RampUp } else { Phase::Steady };
            let mut record = synthesis.second(load_point, 0, index, phase);
            let IntervalRecord { load_point, agent, phase, start, end, .. } = record;
            let detail = record.detail.take().unwrap();
            details.push(DetailRecord { load_point, agent, phase, start, end, detail });
            intervals.push(record);
        }
    }
    let (mut read, mut batches): (Vec<IntervalRecord>, Vec<DetailRecord>) = (Vec::new(), Vec::new());
    for record in records(&path) {
        match record {
            Record::Interval(interval) => read.push(interval),
            Record::Detail(detail) => batches.push(detail),
            Record::Resource(_) => unreachable!("none was written"),
        }
    }
    assert_eq!(read, intervals);
    assert_eq!(totals(&batches), totals(&details));
    // Ramp-up of 2 s, then 23 s of steady phase, at each of two load points.
    let lengths: Vec<u64> =
        batches.iter().map(|detail| (detail.end - detail.start).0 / 1_000_000_000).collect();
    assert_eq!(lengths, [2, 10, 10, 3, 2, 10, 10, 3]);
}

/// All histograms of details, per load point, phase, kind and outcome (or connect).
fn totals(details: &[DetailRecord]) -> BTreeMap<(u32, Phase, Option<u16>, Option<Outcome>), Histogram> {
    let mut totals: BTreeMap<_, Histogram> = BTreeMap::new();
    let mut add = |key, histogram| totals.entry(key).or_default().merge(histogram).unwrap();
    for detail in details {
        let key = |kind, outcome| (detail.load_point, detail.phase, kind, outcome);
        for (kind, histogram) in detail.detail.response.iter().enumerate() {
            add(key(Some(kind as u16), Some(Outcome::Ok)), histogram);
        }
        for ((kind, outcome), histogram) in &detail.detail.failed {
            add(key(Some(*kind), Some(*outcome)), histogram);
        }
        add(key(None, None), &detail.detail.spreads[0]);
    }
    totals
}

/// Goal: two load agents whose seconds alternate, one of them a second behind at the change of load point.
#[test]
fn records_of_several_agents_keep_their_order_and_join_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut writer = Writer::create(&path, &header(2)).unwrap();
    let mut synthesis = Synthesis::new(2, 10);
    for load_point in 0..2 {
        for index in 0..12 {
            for agent in 0..2 {
                writer.interval(&synthesis.second(load_point, agent, index, Phase::Steady)).unwrap();
            }
        }
    }
    writer.finish(WallTime(0), &RunEnding::Complete).unwrap();
    let order: Vec<(bool, u32, u32, u64)> = records(&path)
        .iter()
        .map(|record| match record {
            Record::Interval(one) => (false, one.load_point, one.agent, one.start.0 / 1_000_000_000),
            Record::Detail(one) => (true, one.load_point, one.agent, one.start.0 / 1_000_000_000),
            Record::Resource(_) => unreachable!("none was written"),
        })
        .collect();
    let mut expected = Vec::new();
    for load_point in 0..2 {
        expected.extend((0..24).map(|k| (false, load_point, k % 2, u64::from(k / 2))));
        expected.extend([(true, load_point, 0, 0), (true, load_point, 1, 0)]);
        expected.extend([(true, load_point, 0, 10), (true, load_point, 1, 10)]);
    }
    assert_eq!(order, expected);
    assert_eq!(Run::open(&path).unwrap().verify(), []);
}

#[test]
fn a_run_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    std::fs::write(&path, "mine").unwrap();
    assert!(matches!(Writer::create(&path, &header(1)), Err(RunFileError::Exists { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The reported case: somebody deleted the file of a run that was killed, and the `-wal` file stayed.
#[test]
fn what_is_left_of_another_run_does_not_become_a_part_of_this_one() {
    for ending in ["-wal", "-shm", "-journal"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.plim");
        let left = folder.path().join(format!("run.plim{ending}"));
        std::fs::write(&left, "others").unwrap();
        let refused = Writer::create(&path, &header(1)).err().expect("the name is taken");
        assert!(matches!(&refused, RunFileError::Exists { path } if *path == left), "{refused}");
        assert_eq!(std::fs::read(&left).unwrap(), b"others");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_finished_run_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    finished_run(&folder.path().join("run.plim"), 1, 12);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A second that comes twice is a mistake of the caller's: the first one stays, and the recording ends.
#[test]
fn no_interval_is_accepted_twice_and_an_error_ends_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut writer = Writer::create(&path, &header(1)).unwrap();
    let mut synthesis = Synthesis::new(3, 10);
    let record = synthesis.second(0, 0, 0, Phase::Steady);
    writer.interval(&record).unwrap();
    assert!(matches!(writer.interval(&record), Err(RunFileError::Database { .. })));
    let next = synthesis.second(0, 0, 1, Phase::Steady);
    assert!(matches!(writer.interval(&next), Err(RunFileError::Closed { .. })));
    writer.finish(WallTime(0), &RunEnding::Stopped("a second came twice".to_owned())).unwrap();
    let run = Run::open(&path).unwrap();
    assert_eq!(support::intervals(&run), [(0, 0)]);
    assert_eq!(run.verify(), []);
}

#[test]
fn a_summary_has_what_a_list_shows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    finished_run(&path, 2, 3);
    let facts = summary(&path).unwrap();
    assert_eq!((facts.benchmark.id.as_str(), facts.sut.as_str()), ("webstone-2.0.1", "built-in"));
    assert_eq!((facts.load_points_planned, facts.load_points_begun, facts.modified), (2, 2, true));
    assert_eq!((facts.ending, facts.created), (RunEnding::Complete, WallTime(1_700_000_000_000)));
    assert_eq!(facts.ended, Some(WallTime(1_700_000_099_000)));
}

/// Goal: a search adds load points to its plan while it runs; a reader gets them with the plan.
#[test]
fn the_plan_of_a_search_has_the_load_points_that_began() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("search.plim");
    let mut header = header(1);
    header.plan.load_points.clear();
    header.plan.search = Some(Search { least: Load::Users(1), most: Load::Users(900) });
    let mut writer = Writer::create(&path, &header).unwrap();
    let points = [(0, 1), (1, 8), (2, 8)].map(|(index, users)| LoadPoint { index, load: Load::Users(users) });
    for point in points {
        writer.load_point(point, WallTime(5)).unwrap();
    }
    writer.finish(WallTime(8), &RunEnding::Complete).unwrap();
    assert_eq!(Run::open(&path).unwrap().plan().load_points, points);
}

/// Goal: what a run adds between its loads follows the planned ones, which a run that was stopped still has; what the plan
/// does not allow is not part of it.
#[test]
fn load_points_that_were_added_follow_those_of_the_plan() {
    let place = tempfile::tempdir().unwrap();
    let read = |name: &str, n_begun: u32| {
        let path = place.path().join(name);
        let mut header = header(2);
        header.plan.refinement = Some(Refinement { n_planned: 2, added_max: 1 });
        let mut writer = Writer::create(&path, &header).unwrap();
        let mut points = header.plan.load_points.clone();
        points.extend([(2, 3), (3, 4)].map(|(index, users)| LoadPoint { index, load: Load::Users(users) }));
        for point in &points[..n_begun as usize] {
            writer.load_point(*point, WallTime(5)).unwrap();
        }
        writer.finish(WallTime(8), &RunEnding::Complete).unwrap();
        let found = Run::open(&path).unwrap().plan().load_points.clone();
        assert_eq!(found[..2], points[..2]);
        found[2..].iter().map(|point| point.load).collect::<Vec<_>>()
    };
    assert_eq!(read("stopped.plim", 1), []);
    assert_eq!(read("added.plim", 3), [Load::Users(3)]);
    assert_eq!(read("forged.plim", 4), [Load::Users(3)]);
}

/// Goal: what a machine does not allow stands beside the plan, which stays as it was made.
#[test]
fn limits_in_force_replace_those_of_the_plan_for_readers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut writer = Writer::create(&path, &header(1)).unwrap();
    let limit =
        LimitInForce { limit: ServerLimit::CpuQuota, value: None, reason: "no control groups".to_owned() };
    writer.limit_in_force(&limit).unwrap();
    writer.finish(WallTime(8), &RunEnding::Complete).unwrap();
    let run = Run::open(&path).unwrap();
    assert_eq!((run.plan().sut.quota, run.plan().sut.quota_reason.as_str()), (None, "no control groups"));
    assert_eq!(run.verify(), []);
    let plan: String = Connection::open(&path)
        .unwrap()
        .query_row("SELECT plan_json FROM header", [], |row| row.get(0))
        .unwrap();
    let plan: Plan = serde_json::from_str(&plan).unwrap();
    assert_eq!(plan.sut.quota, Some(0.4));
}

#[test]
fn a_discarded_run_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.plim");
    let mut writer = Writer::create(&path, &header(1)).unwrap();
    writer.event(WallTime(1), "warm").unwrap();
    assert!(path.exists());
    writer.discard();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
