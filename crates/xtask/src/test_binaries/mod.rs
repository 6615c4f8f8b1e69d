//! The tests of all crates: built by cargo, then run here, so that those that need quiet run alone.
//!
//! There are three kinds of binaries. *Computing* ones neither wait nor measure, and pass on any machine. *Waiting* ones
//! have servers, sockets and clocks: they leave the CPUs idle for most of their time, and so two of them run at a time, and
//! the computing ones beside them at a low priority. *Measuring* ones run alone, afterwards.
//!
//! Tests disturb each other, since several of them load the CPUs at a time; so those that failed are run again at the
//! end, one after the other, and that attempt decides. It is repeated if others used the CPUs meanwhile.

mod binary;
mod output;

use std::fs;
use std::process::Stdio;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use proving::build::DEVELOPMENT_FEATURES;
use proving::noise::{AcceptedRuns, LOG_VARIABLE, RaisedPriority};
use proving::shell::{self, cargo, say};
use serde_json::Value;

use binary::{Binary, Conditions};
use output::{TestTime, slowest};

/// Crates whose tests neither wait nor measure.
const COMPUTING: [&str; 18] = [
    "analysis",
    "benchmarks",
    "cache-policy",
    "disclosure",
    "files",
    "http1",
    "languages",
    "mail",
    "mailwire",
    "model",
    "pdf",
    "proving",
    "published",
    "runfile",
    "stats",
    "testkit",
    "units",
    "xtask",
];

/// Binaries that measure the time or the CPU time of what they do, or load all CPUs or the disk.
const MEASURING: [&str; 7] = [
    "drivers/idle_users",
    "observe/sampling_cost",
    "plimsoll/file_servers",
    "plimsoll/quick",
    "proving/proving",
    "servers/allowance",
    "testkit/directory",
];

/// The waiting binaries that take longest, which begin first.
const LONGEST: [&str; 2] = ["plimsoll/cli", "drivers/all"];

/// Number of waiting binaries that run at a time.
const WAITING_AT_A_TIME: usize = 2;

/// The number of the slowest tests that are listed.
const LISTED: usize = 20;

/// A kind of binary, by what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MachineNeed {
    Nothing,
    IdleCpus,
    Quiet,
}

/// The tests of a binary that failed, in no attempt that decides.
struct Failure<'a> {
    binary: &'a Binary,
    tests: Vec<String>,
}

/// The results of a lane: failures to be tried again, errors, and the times of all tests.
#[derive(Default)]
struct Lane<'a> {
    failures: Vec<Failure<'a>>,
    errors: Vec<anyhow::Error>,
    times: Vec<TestTime>,
}

/// Builds all tests and runs them; prints the slowest, and returns the number of runs within them that were accepted
/// although noise made them invalid.
///
/// # Errors
/// The binaries that failed.
pub(crate) fn perform() -> Result<AcceptedRuns> {
    let binaries = build()?;
    let of = |need: MachineNeed| binaries.iter().filter(move |one| need_of(one) == need).collect::<Vec<_>>();
    let lists = [of(MachineNeed::Nothing), of(MachineNeed::IdleCpus), of(MachineNeed::Quiet)];
    ensure!(lists.iter().all(|list| !list.is_empty()), "cargo named no test binaries");
    let [computing, waiting, measuring] = lists;
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("accepted");
    let precedence = RaisedPriority::take();
    let conditions = Conditions { noise_log: &log, is_low: false };
    let waiting = Mutex::new(waiting.into_iter());
    let next = || waiting.lock().expect("no thread panics while holding it").next();
    let mut lane = std::thread::scope(|scope| {
        let low = Conditions { is_low: true, ..conditions };
        let mut lanes = vec![scope.spawn(move || perform_all(computing.into_iter(), low))];
        for _ in 0..WAITING_AT_A_TIME {
            lanes.push(scope.spawn(|| perform_all(std::iter::from_fn(next), conditions)));
        }
        lanes
            .into_iter()
            .map(|lane| lane.join().expect("a lane does not panic"))
            .fold(Lane::default(), Lane::and)
    });
    lane = lane.and(perform_all(measuring.into_iter(), conditions));
    for Failure { binary, tests } in lane.failures {
        lane.errors.extend(binary.perform_again(tests, conditions).err());
    }
    drop(precedence);
    println!(
        "\nthe slowest tests, by the time from start to end, while others ran beside them:\n{}",
        slowest(lane.times, LISTED)
    );
    let accepted = fs::read_to_string(&log).unwrap_or_default();
    print!("{accepted}");
    for error in &lane.errors {
        println!("{error:#}");
    }
    ensure!(lane.errors.is_empty(), "{} of {} test binaries failed", lane.errors.len(), binaries.len());
    Ok(accepted.lines().count())
}

/// Returns what a binary needs.
fn need_of(binary: &Binary) -> MachineNeed {
    if MEASURING.contains(&binary.name().as_str()) {
        MachineNeed::Quiet
    } else if COMPUTING.contains(&binary.package.as_str()) {
        MachineNeed::Nothing
    } else {
        MachineNeed::IdleCpus
    }
}

/// Runs binaries one after another.
fn perform_all<'a>(binaries: impl Iterator<Item = &'a Binary>, conditions: Conditions) -> Lane<'a> {
    let mut lane = Lane::default();
    for binary in binaries {
        match binary.perform(conditions) {
            Ok(performed) => {
                lane.times.extend(performed.times);
                if !performed.failed.is_empty() {
                    lane.failures.push(Failure { binary, tests: performed.failed });
                }
            }
            Err(error) => lane.errors.push(error),
        }
    }
    lane
}

impl<'a> Lane<'a> {
    fn and(mut self, other: Lane<'a>) -> Lane<'a> {
        self.failures.extend(other.failures);
        self.errors.extend(other.errors);
        self.times.extend(other.times);
        self
    }
}

/// The arguments with which cargo builds all tests.
pub(crate) fn build_arguments() -> Vec<&'static str> {
    [&["test", "--workspace", "--no-run"], &DEVELOPMENT_FEATURES[..]].concat()
}

/// Builds all test binaries and returns them.
fn build() -> Result<Vec<Binary>> {
    let mut build = cargo(&build_arguments());
    build.args(["--message-format", "json"]);
    let messages = shell::output(say(&mut build).stderr(Stdio::inherit()))?;
    let messages = messages.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>();
    let mut binaries: Vec<Binary> =
        messages.context("cargo's messages")?.iter().filter_map(Binary::from_message).collect();
    binaries.sort_by_key(|one| (!LONGEST.contains(&one.name().as_str()), one.clone()));
    Ok(binaries)
}

#[cfg(test)]
mod tests {
    use proving::shell::root;

    use super::*;

    #[test]
    fn the_listed_crates_and_binaries_exist() {
        let crates = root().join("crates");
        for name in COMPUTING {
            assert!(crates.join(name).is_dir(), "{name}");
        }
        for name in MEASURING.into_iter().chain(LONGEST) {
            let (package, target) = name.split_once('/').unwrap();
            let manifest = fs::read_to_string(crates.join(package).join("Cargo.toml")).unwrap();
            let tests = crates.join(package).join("tests");
            let has_file = [format!("{target}.rs"), format!("{target}/main.rs")]
                .iter()
                .any(|file| tests.join(file).is_file());
            assert!(manifest.contains(&format!("name = \"{target}\"\n")) || has_file, "{name}");
        }
    }

    /// Otherwise the tests would build again what this command was built from, or leave out the family of the tests.
    #[test]
    fn this_command_is_built_with_the_features_of_the_tests() {
        let config = fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
        assert!(config.contains(&DEVELOPMENT_FEATURES.join(" ")), "{config}");
    }
}
