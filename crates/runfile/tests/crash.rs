//! A run that is killed at any moment leaves files that open, with everything in them that was finished.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use model::{Phase, RunEnding};
use runfile::{ReadExtent, Run, VerifyFinding, Writer};
use rusqlite::Connection;
use units::{Rng, StreamPurpose, WallTime};

use crate::support::{Synthesis, header, intervals};

/// The variable that tells this test, started again, where to write until it is killed.
const FOLDER_VARIABLE: &str = "PLIMSOLL_TEST_WRITE_INTO";
/// Seconds of each run that the child writes.
const SECONDS: u32 = 23;
/// Recorded seconds between checkpoints.
const CHECKPOINT: usize = 5;
const KILLS: u64 = 24;
const SEED: u64 = 1897;

/// Goal: creating, recording, checkpoints, finishing: none may leave a file that does not open.
///
/// Method: a child writes runs one after another and reports each second; it is killed after a random number
/// of reports and a random delay. The file is read where it is with its side files, and copied alone.
#[test]
fn a_run_killed_at_any_moment_opens_with_every_finished_second() {
    if let Some(folder) = env::var_os(FOLDER_VARIABLE) {
        write_until_killed(Path::new(&folder));
    }
    let mut rng = Rng::new(SEED, StreamPurpose::Simulation, 0);
    let mut n_whole = 0;
    for kill in 0..KILLS {
        let folder = tempfile::tempdir().unwrap();
        let reports = kill_at_random(folder.path(), &mut rng);
        let (last, seconds) = reports.last_key_value().map_or((0, 0), |(run, seconds)| (*run, *seconds));
        // The next run may have been begun, or even its first second finished, without a report.
        for (run, seconds) in [(last, seconds), (last + 1, 0)] {
            let path = folder.path().join(format!("{run}.plim"));
            if seconds == 0 && !path.exists() {
                continue;
            }
            println!("seed {SEED}, kill {kill}, run {run}, {seconds} seconds reported");
            check_with_side_files(&path, seconds);
            n_whole += u64::from(check_alone(&path, seconds));
        }
    }
    // A kill in the middle of a checkpoint may cut the file alone; that must stay a rare thing.
    assert!(KILLS * 3 / 4 <= n_whole, "only {n_whole} files of {KILLS} kills were whole without side files");
}

fn write_until_killed(folder: &Path) -> ! {
    let mut synthesis = Synthesis::new(SEED, 3);
    for run in 0.. {
        let mut writer = Writer::create(&folder.join(format!("{run}.plim")), &header(1)).unwrap();
        for index in 0..SECONDS {
            writer.interval(&synthesis.second(0, 0, index, Phase::Steady)).unwrap();
            println!("second {run} {}", index + 1);
        }
        writer.finish(WallTime(0), &RunEnding::Complete).unwrap();
    }
    unreachable!("there are more numbers than time")
}

/// Returns how many seconds of each run were reported before the kill.
fn kill_at_random(folder: &Path, rng: &mut Rng) -> BTreeMap<u32, usize> {
    let name = "crash::a_run_killed_at_any_moment_opens_with_every_finished_second";
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FOLDER_VARIABLE, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut reports = BTreeMap::new();
    let n_reports = rng.below(60);
    while (reports.values().sum::<usize>() as u64) < n_reports {
        read_report(&mut output, &mut reports);
    }
    (0..rng.below(3_000_000)).for_each(|_| std::hint::spin_loop());
    kill(&mut child);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    // The kill may have cut the last line.
    let whole_lines = rest.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole_lines.for_each(|line| take_report(line, &mut reports));
    reports
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

fn read_report(output: &mut impl BufRead, reports: &mut BTreeMap<u32, usize>) {
    let mut line = String::new();
    assert!(0 < output.read_line(&mut line).unwrap(), "the child ended by itself");
    take_report(&line, reports);
}

fn take_report(line: &str, reports: &mut BTreeMap<u32, usize>) {
    let mut words = line.split_whitespace().skip_while(|word| *word != "second").skip(1);
    if let (Some(run), Some(seconds)) = (words.next(), words.next()) {
        reports.insert(run.parse().unwrap(), seconds.parse().unwrap());
    }
}

/// The file with its side files has every reported second, a whole chain, and stays as it is.
fn check_with_side_files(path: &Path, seconds: usize) {
    let before = contents(path.parent().unwrap());
    let run = Run::open(path).unwrap();
    let found = intervals(&run);
    assert!(seconds <= found.len(), "{} of {seconds}", found.len());
    check_prefix(&found);
    assert_eq!(run.verify(), []);
    if found.len() < SECONDS as usize {
        assert_eq!(run.ending(), &RunEnding::Missing);
    }
    assert_eq!(contents(path.parent().unwrap()), before, "reading changed something");
    assert_eq!(found.len(), recovered_by_sqlite(path), "SQLite's own recovery finds something else");
}

/// The file alone has every second up to the last checkpoint. Returns whether it is whole.
fn check_alone(path: &Path, seconds: usize) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("alone.plim");
    fs::copy(path, &alone).unwrap();
    let run = Run::open(&alone).unwrap();
    let found = intervals(&run);
    check_prefix(&found);
    let broken = |finding: &VerifyFinding| {
        matches!(finding, VerifyFinding::BrokenChain { .. } | VerifyFinding::MissingInterval { .. })
    };
    assert!(!run.verify().iter().any(broken));
    let whole = run.records(drop).unwrap() == ReadExtent::All;
    if whole {
        let at_least = seconds - seconds % CHECKPOINT;
        assert!(at_least <= found.len(), "{} of {at_least}", found.len());
    }
    whole
}

fn check_prefix(found: &[(u32, u32)]) {
    assert!(found.iter().zip(0..).all(|(interval, index)| *interval == (0, index)), "{found:?}");
}

/// Names and contents of all files of a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// Counts the intervals that SQLite itself finds in a copy of the file and its side files.
fn recovered_by_sqlite(path: &Path) -> usize {
    let folder = tempfile::tempdir().unwrap();
    for side in ["", "-wal", "-journal"] {
        let name: &OsStr = path.file_name().unwrap();
        let name = format!("{}{side}", name.to_str().unwrap());
        let from = path.with_file_name(&name);
        if from.exists() {
            fs::copy(from, folder.path().join(name)).unwrap();
        }
    }
    let database = Connection::open(folder.path().join(path.file_name().unwrap())).unwrap();
    let count: u32 = database.query_row("SELECT count(*) FROM interval", [], |row| row.get(0)).unwrap();
    count as usize
}
