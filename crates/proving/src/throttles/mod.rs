//! `throttles`: servers and generators that are throttled on purpose, and the bottlenecks that Plimsoll
//! reports.

mod attempt;
mod brief;
mod environment;
mod limits;
pub mod sample;
mod table;

pub use attempt::rules_of;

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::bench::machine;
use crate::build::{development_binary, packaged_binary};
use crate::noise::{AcceptedRuns, AttemptResult, RaisedPriority, hides_bottleneck};
use crate::options::number;
use crate::packages::{self, REQUIRED_PACKAGES};
use crate::shell::{root, write_page};
use attempt::{Attempt, LEFT_OUT};
use brief::{Trial, broken_rules, try_all};
use environment::ThrottleEnvironment;
use limits::LIMITS;
use table::{THROTTLES, Throttle};

/// The minimum share of correct results over all rounds.
const RIGHT_MIN: f64 = 0.95;

/// Options of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThrottleOptions {
    rounds: usize,
    write: bool,
    /// Whether they are tried as the test command does.
    brief: bool,
    /// Parts of names; empty: all.
    chosen: Vec<String>,
}

/// The changes that the test command makes to a throttle's arguments: a bottleneck present from the first
/// second is found after a few.
///
/// Not changed where the result rests on a rate to a few percent ([`NEED_TIME`]).
const BRIEFLY: [&str; 4] = ["--settle", "1s", "--duration", "3s"];

impl ThrottleOptions {
    /// Parses the command line.
    ///
    /// # Errors
    /// Unknown options, missing or invalid values, and options that exclude each other.
    pub fn parse(arguments: &[&str]) -> Result<ThrottleOptions> {
        let mut options = ThrottleOptions { rounds: 1, write: false, brief: false, chosen: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            match *name {
                "--rounds" => {
                    let value = rest.next().context("expected a value after `--rounds`")?;
                    options.rounds = number(name, value)? as usize;
                }
                "--write" => options.write = true,
                "--brief" => options.brief = true,
                other if other.starts_with('-') => bail!("unknown option `{other}`"),
                part => options.chosen.push(part.to_owned()),
            }
        }
        ensure!(
            !options.write || options.chosen.is_empty(),
            "`--write` writes the whole page: not with a name"
        );
        ensure!(
            !options.brief || (options.chosen.is_empty() && !options.write && options.rounds == 1),
            "`--brief` tries all of them once, and writes nothing"
        );
        Ok(options)
    }

    fn wants(&self, throttle: &Throttle) -> bool {
        self.chosen.is_empty() || self.chosen.iter().any(|part| throttle.name.contains(part))
    }
}

/// Bottlenecks that are recognized by how exactly a rate is met, or does not grow.
const NEED_TIME: [&str; 2] = ["none", "lock or other waiting"];

/// Tries every throttle once and briefly with a build of `plimsoll`, for the test command, and with them the kept cases of
/// the sample. All are tried in any case. Returns the number of runs that noise has made invalid.
///
/// # Errors
/// The throttles with a wrong result, and those that could not be tried: that is not a success.
pub fn once(plimsoll: &Path) -> Result<AcceptedRuns> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "not run: control groups and network namespaces need root\nhint: `sudo cargo xtask test`"
    );
    let _precedence = RaisedPriority::take();
    let mut trials: Vec<Trial<'_>> =
        THROTTLES.iter().map(|throttle| brief_trial(throttle, plimsoll)).collect();
    trials.extend(sample::kept_trials(plimsoll));
    try_all(&trials)
}

/// Makes the trial of a throttle for the test command.
fn brief_trial<'a>(throttle: &'a Throttle, plimsoll: &'a Path) -> Trial<'a> {
    let attempt = move || {
        let changes = if NEED_TIME.contains(&throttle.bottleneck) { &[][..] } else { &BRIEFLY };
        let one = attempt(throttle, plimsoll, changes).with_context(|| throttle.name)?;
        println!("{}: {} ({})", throttle.name, one.named, one.evidence);
        ensure!(one.named != LEFT_OUT, "{}: {LEFT_OUT}", throttle.name);
        let named = &one.named;
        let evidence = &one.evidence;
        let why = format!(
            "called {named} ({evidence}), expected {} {}{}",
            throttle.bottleneck,
            throttle.evidence,
            broken_rules(&one.rules)
        );
        Ok(if is_right(throttle, &one) {
            AttemptResult::Right
        } else if throttle.bottleneck != "generator" && hides_bottleneck(named, &one.rules) {
            // One of the throttles makes the generator wait.
            AttemptResult::Spoilt(why)
        } else {
            AttemptResult::Wrong(why)
        })
    };
    Trial { name: throttle.name.to_owned(), group: throttle.group, attempt: Box::new(attempt) }
}

/// Returns whether the bottleneck is the expected one with the expected evidence, and a starved generator made the load
/// point invalid.
fn is_right(throttle: &Throttle, one: &Attempt) -> bool {
    one.named == throttle.bottleneck
        && one.evidence.contains(throttle.evidence)
        && !(throttle.bottleneck == "generator" && one.is_valid)
}

/// Tries throttles in rounds.
///
/// # Errors
/// Fewer than 95 % of the results are correct, or a load point is valid although the generator was starved.
pub fn perform(options: &ThrottleOptions) -> Result<()> {
    packages::install(&REQUIRED_PACKAGES)?;
    if options.brief {
        return once(&development_binary()?).map(drop);
    }
    let plimsoll = packaged_binary()?;
    let chosen: Vec<&Throttle> =
        THROTTLES.iter().chain(LIMITS).filter(|throttle| options.wants(throttle)).collect();
    ensure!(!chosen.is_empty(), "no throttle has {} in its name", options.chosen.join(" or "));
    let mut attempts: Vec<Vec<Attempt>> = chosen.iter().map(|_| Vec::new()).collect();
    for round in 1..=options.rounds {
        for (throttle, all) in chosen.iter().zip(&mut attempts) {
            let one = attempt(throttle, &plimsoll, &[]).with_context(|| throttle.name)?;
            let mark = if is_right(throttle, &one) { "right" } else { "WRONG" };
            println!("{round}  {mark}  {}: {} ({})", throttle.name, one.named, one.evidence);
            all.push(one);
        }
    }
    let page = page(&chosen, &attempts)?;
    println!("\n{page}");
    if options.write {
        write_page("docs/recorded/throttles.md", &page)?;
    }
    judge(&chosen, &attempts)
}

fn judge(chosen: &[&Throttle], attempts: &[Vec<Attempt>]) -> Result<()> {
    let all = || {
        let pairs = chosen.iter().zip(attempts);
        let pairs = pairs.flat_map(|(throttle, attempts)| attempts.iter().map(move |one| (throttle, one)));
        pairs.filter(|(_, one)| one.named != LEFT_OUT)
    };
    let n = all().count();
    let right = all().filter(|(throttle, one)| is_right(throttle, one)).count();
    let deceived = all().any(|(throttle, one)| throttle.bottleneck == "generator" && one.is_valid);
    ensure!(0 < n, "nothing could be tried: {LEFT_OUT}");
    ensure!(!deceived, "a load point was judged valid although its generator was starved");
    ensure!(RIGHT_MIN * n as f64 <= right as f64, "{right} of {n} bottlenecks were reported correctly");
    Ok(())
}

/// Runs Plimsoll against one throttle.
fn attempt(throttle: &Throttle, plimsoll: &Path, changes: &[&str]) -> Result<Attempt> {
    let folder = tempfile::tempdir()?;
    let held = ThrottleEnvironment::begin(throttle.environment, plimsoll)?;
    let mut command = held.command(plimsoll);
    command.args(["--json", "run"]).args(arguments(throttle, changes)).current_dir(root());
    command.args(&held.arguments).arg("--out").arg(folder.path().join("run.plim"));
    Attempt::of(&mut command)
}

/// Returns a throttle's arguments with changes: an option in both is taken from the changes.
fn arguments<'a>(throttle: &Throttle, changes: &'a [&'a str]) -> Vec<&'a str> {
    let mut arguments = vec![throttle.benchmark];
    arguments.extend(throttle.arguments.split_whitespace());
    for change in changes.chunks(2) {
        match arguments.iter().position(|argument| *argument == change[0]) {
            Some(place) => arguments[place + 1] = change[1],
            None => arguments.extend(change),
        }
    }
    arguments
}

fn page(chosen: &[&Throttle], attempts: &[Vec<Attempt>]) -> Result<String> {
    let mut page = format!(
        "# Throttles\n\nGenerated by `cargo xtask throttles`: servers and generators that are throttled on \
        purpose, and the bottleneck reported for the last load point.\n\n{}\n",
        machine::table()?
    );
    page += "| throttled resource | expected bottleneck | reported | evidence of the last attempt |\n|---|---|---|---|\n";
    let mut n = 0;
    let mut right = 0;
    for (throttle, attempts) in chosen.iter().zip(attempts) {
        let of_it = attempts.iter().filter(|one| is_right(throttle, one)).count();
        (n, right) = (n + attempts.len(), right + of_it);
        let others: Vec<&str> = attempts
            .iter()
            .filter(|one| one.named != throttle.bottleneck)
            .map(|one| one.named.as_str())
            .collect();
        let others = if others.is_empty() { String::new() } else { format!("; else {}", others.join(", ")) };
        let last = attempts.last().map_or("", |one| one.evidence.as_str());
        writeln!(
            page,
            "| {} | {} | {of_it} of {}{others} | {last} |",
            throttle.name,
            throttle.bottleneck,
            attempts.len()
        )?;
    }
    writeln!(page, "\n{right} of {n} were reported correctly.")?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_replace_and_add_options() {
        let throttle = Throttle { benchmark: "x", arguments: "--load 1,8 --duration 6s", ..THROTTLES[0] };
        let changed = arguments(&throttle, &["--settle", "1s", "--duration", "4s"]);
        assert_eq!(changed, ["x", "--load", "1,8", "--duration", "4s", "--settle", "1s"]);
        assert_eq!(arguments(&throttle, &[]), ["x", "--load", "1,8", "--duration", "6s"]);
    }

    /// Goal: a disk that is named for another reason than the throttle is no correct result.
    #[test]
    fn the_evidence_is_the_expected_one() {
        let attempt = |evidence: &str| Attempt {
            is_valid: true,
            ..Attempt::without_run("disk operations", evidence.into())
        };
        let log = THROTTLES.iter().find(|one| one.evidence == "sessions at the log").unwrap();
        assert!(is_right(log, &attempt("disk requests of their limit 0.980, sessions at the log 0.912")));
        assert!(!is_right(log, &attempt("disk requests of their limit 0.980")));
    }

    /// Goal: a throttle that this machine does not enforce never counts as correct.
    #[test]
    fn a_throttle_that_was_left_out_is_not_correct() {
        let attempts =
            |named: &str, is_valid| Attempt { is_valid, ..Attempt::without_run(named, String::new()) };
        let generator = THROTTLES.iter().find(|one| one.bottleneck == "generator").unwrap();
        assert!(is_right(&THROTTLES[0], &attempts("processor", true)));
        assert!(!is_right(&THROTTLES[0], &attempts(LEFT_OUT, true)));
        assert!(
            is_right(generator, &attempts("generator", false))
                && !is_right(generator, &attempts("generator", true))
        );
    }
}
