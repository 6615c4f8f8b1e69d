//! `test`: all checks, in one command.
//!
//! It goes on after a failure, so that one run shows all failures. A step that could not be run has failed.
//! Steps that need quiet say so, and are repeated only if others used the machine ([`proving::noise`]); runs that are
//! invalid for that reason only are accepted and counted. The command starts nothing that outlives it, and stops nothing that it did not start.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use proving::build::{DEVELOPMENT_FEATURES, development_binary};
use proving::noise::{self, AcceptedRuns, AttemptResult, RaisedPriority, is_noise, until_quiet};
use proving::packages::{Installation, REQUIRED_PACKAGES, begin_installation};
use proving::shell::{cargo, line, output, run, say};
use proving::throttles;
use units::{Clock, RealClock};

use crate::{checkout, licenses, test_binaries};

/// Exit code of `plimsoll` after an invalid run.
const NOT_VALID: i32 = 3;

/// A step: its name and its function, which returns the number of runs that were accepted although noise made them invalid.
type Step = (&'static str, Box<dyn FnOnce() -> Result<AcceptedRuns>>);

/// Quick steps first, so that mistakes show at once. Steps that need quiet come when everything is built; packages are
/// installed beside the builds, which need none of them.
///
/// Servers are loaded by the build that the tests use: what a release build would add to what is shown here is its own
/// compilation, which takes as long as all tests together. It has the protocol family that only tests have, and so the
/// lints are checked without it, too.
fn steps(installation: Installation) -> Vec<Step> {
    vec![
        checked("checkout", checkout::check),
        checked("format", || run(say(&mut cargo(&["fmt", "--all", "--check"])))),
        checked("licenses", || licenses::perform(&[])),
        checked("lints", || {
            clippy(&[&["--workspace", "--all-targets"], &DEVELOPMENT_FEATURES[..]].concat())?;
            clippy(&["--package", "plimsoll", "--package", "testkit"])
        }),
        checked("documentation", || {
            let mut doc = cargo(&["doc", "--workspace", "--no-deps"]);
            run(say(doc.env("RUSTDOCFLAGS", "-D warnings")))
        }),
        checked("test build", || run(say(&mut cargo(&test_binaries::build_arguments())))),
        checked("packages", || installation.finish()),
        ("tests", Box::new(test_binaries::perform)),
        ("a real run", Box::new(real_run)),
        ("throttles", Box::new(|| throttles::once(&development_binary()?))),
    ]
}

/// Makes a step without runs.
fn checked(name: &'static str, check: impl FnOnce() -> Result<()> + 'static) -> Step {
    (name, Box::new(|| check().map(|()| 0)))
}

fn clippy(packages: &[&str]) -> Result<()> {
    run(say(&mut cargo(&[&["clippy"], packages, &["--", "-D", "warnings"]].concat())))
}

/// Runs all steps and prints a summary.
pub(crate) fn perform() -> Result<()> {
    let installation = begin_installation(&REQUIRED_PACKAGES)?;
    let clock = RealClock::start();
    let mut summary = Vec::new();
    let mut n_failed = 0;
    let mut n_accepted = 0;
    let steps = steps(installation);
    let n_steps = steps.len();
    for (name, step) in steps {
        println!("\n== {name}");
        let begin = clock.now();
        let cpu_before = noise::own()?;
        let result = step();
        let seconds = clock.now().saturating_sub(begin).as_secs_f64();
        let word = match &result {
            Ok(accepted) => {
                n_accepted += accepted;
                "passed".to_owned()
            }
            Err(error) => {
                n_failed += 1;
                format!("FAILED: {error:#}")
            }
        };
        println!("{name}: {word}");
        let cpu = noise::own()?.saturating_sub(cpu_before).as_secs_f64();
        summary.push(format!("  {name:<14} {seconds:>6.0} s {cpu:>6.0} s  {word}"));
    }
    let seconds = clock.now().as_secs_f64();
    println!(
        "\n== summary, {seconds:.0} s in all; of each step: time, CPU time, result\n{}\n\
        runs accepted in the steps that passed although invalid, because they broke only rules that other load on the \
        machine, as of tests beside them, can break: {n_accepted}",
        summary.join("\n")
    );
    ensure!(n_failed == 0, "{n_failed} of {n_steps} steps failed");
    Ok(())
}

/// The benchmarks that need nothing installed.
const QUICK: [&str; 2] = ["webstone-2.0.1", "orderentry"];

/// Does what README promises: valid runs within a minute each, and audits without findings. If the machine was busy with
/// something else, the verdict rightly says so.
fn real_run() -> Result<AcceptedRuns> {
    let plimsoll = development_binary()?;
    let folder = tempfile::tempdir()?;
    let _precedence = RaisedPriority::take();
    let mut accepted = 0;
    for benchmark in QUICK {
        let file = folder.path().join(format!("{benchmark}.plim"));
        accepted += until_quiet("a quick run", || quick(&plimsoll, benchmark, &file))?;
        run(say(Command::new(&plimsoll).arg("audit").arg(&file)))?;
    }
    Ok(accepted)
}

fn quick(plimsoll: &Path, benchmark: &str, file: &Path) -> Result<AttemptResult> {
    for old in [file.to_owned(), file.with_extension("html")] {
        if old.exists() {
            fs::remove_file(old)?;
        }
    }
    let clock = RealClock::start();
    let mut quick = Command::new(plimsoll);
    quick.args(["run", benchmark, "--quick", "--out"]).arg(file);
    let status = say(&mut quick).status()?;
    let seconds = clock.now().as_secs_f64();
    ensure!(file.with_extension("html").exists(), "no report beside the run file");
    if seconds >= 60.0 {
        return Ok(AttemptResult::Wrong(format!(
            "`{benchmark} --quick` took {seconds:.0} s, more than a minute"
        )));
    }
    if status.success() {
        return Ok(AttemptResult::Right);
    }
    ensure!(status.code() == Some(NOT_VALID), "`{}` ended with {status}", line(&quick));
    let mut report = Command::new(plimsoll);
    let report = output(report.arg("report").arg(file).args(["--format", "json"]))?;
    let rules = throttles::rules_of(&serde_json::from_str(&report).context("the report as JSON")?);
    let why = format!("not valid by {}", rules.join(", "));
    Ok(if is_noise(&rules) { AttemptResult::Spoilt(why) } else { AttemptResult::Wrong(why) })
}
