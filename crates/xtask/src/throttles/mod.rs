//! `throttles`: servers and generators that are held back on purpose, and what Plimsoll calls it.

mod around;
mod table;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::bench::{machine, number};
use crate::noise::{Precedence, Tried as Outcome, is_noise, until_quiet};
use crate::packages;
use crate::shell::{line, root};
use crate::test::{NEEDED, release_binary};
use around::Held;
use table::{THROTTLES, Throttle};

/// What a throttle is called that this machine's kernel does not enforce.
const LEFT_OUT: &str = "left out, not enforced here";

/// The share that has to be named right over all rounds.
const RIGHT_MIN: f64 = 0.95;

/// How often, which, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    rounds: usize,
    write: bool,
    /// Parts of names; empty: all.
    chosen: Vec<String>,
}

/// What came of one try.
struct Tried {
    named: String,
    evidence: String,
    is_valid: bool,
    /// The rules that its load points broke.
    rules: Vec<String>,
}

/// What the test command changes in a throttle's arguments: a bottleneck that is there from the first second is named
/// after a few.
///
/// Not changed where the name rests on a rate to a few percent ([`NEED_TIME`]).
const BRIEFLY: [&str; 4] = ["--settle", "1s", "--duration", "4s"];

impl Options {
    /// Reads the command line.
    pub fn parse(arguments: &[&str]) -> Result<Options> {
        let mut options = Options { rounds: 1, write: false, chosen: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            match *name {
                "--rounds" => {
                    let value = rest.next().context("expected a value after `--rounds`")?;
                    options.rounds = number(name, value)? as usize;
                }
                "--write" => options.write = true,
                other if other.starts_with('-') => bail!("unknown option `{other}`"),
                part => options.chosen.push(part.to_owned()),
            }
        }
        ensure!(
            !options.write || options.chosen.is_empty(),
            "`--write` writes the whole page: not with a name"
        );
        Ok(options)
    }

    fn wants(&self, throttle: &Throttle) -> bool {
        self.chosen.is_empty() || self.chosen.iter().any(|part| throttle.name.contains(part))
    }
}

/// Bottlenecks that are named by how exactly a rate is met, or does not grow.
const NEED_TIME: [&str; 2] = ["none", "lock or other waiting"];

/// Tries every throttle once and briefly, as the test command does. One that is named wrong is tried again only where
/// others used the machine, and all are tried even if one is wrong.
///
/// # Errors
/// Which were named wrong, and which could not be tried here: that is no success.
pub fn once() -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "not run: control groups and network namespaces need root\nhint: `sudo cargo xtask test`"
    );
    let plimsoll = release_binary()?;
    let _precedence = Precedence::take();
    let mut wrong = Vec::new();
    for throttle in THROTTLES {
        let tried = until_quiet(throttle.name, || {
            let changes = if NEED_TIME.contains(&throttle.bottleneck) { &[][..] } else { &BRIEFLY };
            let one = attempt(throttle, &plimsoll, changes).with_context(|| throttle.name)?;
            println!("{}: {} ({})", throttle.name, one.named, one.evidence);
            ensure!(one.named != LEFT_OUT, "{}: {LEFT_OUT}", throttle.name);
            let why = format!("called {}, expected {}", one.named, throttle.bottleneck);
            Ok(match is_right(throttle, &one) {
                true => Outcome::Right,
                // That a generator had to wait is what one of the throttles is about.
                false if throttle.bottleneck != "generator" && is_noise(&one.rules) => Outcome::Spoilt(why),
                false => Outcome::Wrong(why),
            })
        });
        if let Err(error) = tried {
            println!("{error:#}");
            wrong.push(format!("{error:#}"));
        }
    }
    ensure!(wrong.is_empty(), "{} of {} throttles: {}", wrong.len(), THROTTLES.len(), wrong.join("; "));
    Ok(())
}

/// Returns whether the bottleneck has its name, and a starved generator made the load point invalid.
fn is_right(throttle: &Throttle, one: &Tried) -> bool {
    one.named == throttle.bottleneck && !(throttle.bottleneck == "generator" && one.is_valid)
}

/// Tries throttles in rounds.
///
/// # Errors
/// If fewer than 95 % are named right, or a load point is called valid while the generator was starved.
pub fn perform(options: &Options) -> Result<()> {
    packages::install(&NEEDED)?;
    let plimsoll = release_binary()?;
    let chosen: Vec<&Throttle> = THROTTLES.iter().filter(|throttle| options.wants(throttle)).collect();
    ensure!(!chosen.is_empty(), "no throttle has {} in its name", options.chosen.join(" or "));
    let mut tried: Vec<Vec<Tried>> = chosen.iter().map(|_| Vec::new()).collect();
    for round in 1..=options.rounds {
        for (throttle, all) in chosen.iter().zip(&mut tried) {
            let one = attempt(throttle, &plimsoll, &[]).with_context(|| throttle.name)?;
            let mark = if is_right(throttle, &one) { "right" } else { "WRONG" };
            println!("{round}  {mark}  {}: {} ({})", throttle.name, one.named, one.evidence);
            all.push(one);
        }
    }
    let page = page(&chosen, &tried)?;
    println!("\n{page}");
    if options.write {
        let path = root().join("docs/recorded/throttles.md");
        fs::write(&path, page)?;
        println!("{}", path.display());
    }
    judge(&chosen, &tried)
}

fn judge(chosen: &[&Throttle], tried: &[Vec<Tried>]) -> Result<()> {
    let all = || {
        let pairs = chosen.iter().zip(tried);
        let pairs = pairs.flat_map(|(throttle, tried)| tried.iter().map(move |one| (throttle, one)));
        pairs.filter(|(_, one)| one.named != LEFT_OUT)
    };
    let n = all().count();
    let right = all().filter(|(throttle, one)| is_right(throttle, one)).count();
    let deceived = all().any(|(throttle, one)| throttle.bottleneck == "generator" && one.is_valid);
    ensure!(0 < n, "nothing was tried: {LEFT_OUT}");
    ensure!(!deceived, "a load point was called valid although its generator was starved");
    ensure!(RIGHT_MIN * n as f64 <= right as f64, "{right} of {n} bottlenecks were named right");
    Ok(())
}

/// Runs Plimsoll against one throttle.
fn attempt(throttle: &Throttle, plimsoll: &Path, changes: &[&str]) -> Result<Tried> {
    let folder = tempfile::tempdir()?;
    let held = Held::begin(throttle.around, plimsoll)?;
    let mut command = held.command(plimsoll);
    command.args(["--json", "run"]).args(arguments(throttle, changes)).current_dir(root());
    if let Some(target) = &held.target {
        command.args(["--target", target]);
    }
    command.arg("--out").arg(folder.path().join("run.plim"));
    let output = command.output().with_context(|| format!("cannot start `{}`", line(&command)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("server not limited") || said.contains("cannot enforce the") {
        return Ok(Tried {
            named: LEFT_OUT.to_owned(),
            evidence: said.into_owned(),
            is_valid: false,
            rules: Vec::new(),
        });
    }
    // What is not held back cannot be named; that is another mistake than a wrong name.
    ensure!(!said.contains("memory does not bind"), "the limit on memory does not bind: {said}");
    let printed: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("`{}` printed no JSON: {said}", line(&command)))?;
    // A run that is compared with others stands in a list.
    let run = printed.get("runs").and_then(|runs| runs.get(0)).unwrap_or(&printed);
    let points = run["load_points"].as_array().context("no load points")?;
    let last = points.last().context("no load point")?;
    Ok(Tried {
        named: last["bottleneck"]["name"].as_str().unwrap_or("not watched").to_owned(),
        evidence: evidence(&last["bottleneck"]),
        is_valid: last["verdict"]["state"] == "valid",
        rules: rules_of(run),
    })
}

/// Returns a throttle's arguments with some changed: an option that both have is taken from the changes.
fn arguments<'a>(throttle: &Throttle, changes: &'a [&'a str]) -> Vec<&'a str> {
    let mut arguments: Vec<&str> = throttle.arguments.to_vec();
    for change in changes.chunks(2) {
        match arguments.iter().position(|argument| *argument == change[0]) {
            Some(place) => arguments[place + 1] = change[1],
            None => arguments.extend(change),
        }
    }
    arguments
}

/// Returns the rules that a run's verdict rests on, by its JSON.
pub fn rules_of(run: &Value) -> Vec<String> {
    let reasons = run["verdict"]["reasons"].as_array().into_iter().flatten();
    reasons.filter_map(|reason| Some(reason["rule"].as_str()?.to_owned())).collect()
}

/// Returns the signs that named a bottleneck; all that are known if nothing did.
fn evidence(bottleneck: &Value) -> String {
    let found = bottleneck["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = found.iter().filter_map(|one| Some((one["sign"].as_str()?, one["value"].as_f64()?)));
    let mut texts: Vec<String> = named.map(|(sign, value)| format!("{sign} {value:.3}")).collect();
    if texts.is_empty() {
        let signs = bottleneck["signs"].as_object().into_iter().flatten();
        texts = signs.map(|(sign, value)| format!("{sign} {:.3}", value.as_f64().unwrap_or(0.0))).collect();
    }
    texts.join(", ")
}

fn page(chosen: &[&Throttle], tried: &[Vec<Tried>]) -> Result<String> {
    let mut page = format!(
        "# Throttles\n\nMade by `cargo xtask throttles`: servers and generators that are held back on purpose, and what \
         the last load point's bottleneck is called.\n\n{}\n",
        machine::table()?
    );
    page += "| held back | has to be called | was called | evidence of the last |\n|---|---|---|---|\n";
    let (mut n, mut right) = (0, 0);
    for (throttle, tried) in chosen.iter().zip(tried) {
        let of_it = tried.iter().filter(|one| is_right(throttle, one)).count();
        (n, right) = (n + tried.len(), right + of_it);
        let others: Vec<&str> = tried
            .iter()
            .filter(|one| one.named != throttle.bottleneck)
            .map(|one| one.named.as_str())
            .collect();
        let others = if others.is_empty() { String::new() } else { format!("; else {}", others.join(", ")) };
        let last = tried.last().map_or("", |one| one.evidence.as_str());
        writeln!(
            page,
            "| {} | {} | {of_it} of {}{others} | {last} |",
            throttle.name,
            throttle.bottleneck,
            tried.len()
        )?;
    }
    writeln!(page, "\n{right} of {n} were named right.")?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_replace_options_and_add_others() {
        let throttle = Throttle { arguments: &["x", "--load", "1,8", "--duration", "6s"], ..THROTTLES[0] };
        let changed = arguments(&throttle, &["--settle", "1s", "--duration", "4s"]);
        assert_eq!(changed, ["x", "--load", "1,8", "--duration", "4s", "--settle", "1s"]);
        assert_eq!(arguments(&throttle, &[]), throttle.arguments);
    }

    /// Goal: what this machine does not enforce is never called right.
    #[test]
    fn a_throttle_that_was_left_out_is_not_right() {
        let tried = |named: &str, is_valid| Tried {
            named: named.into(),
            evidence: String::new(),
            is_valid,
            rules: vec![],
        };
        let generator = THROTTLES.iter().find(|one| one.bottleneck == "generator").unwrap();
        assert!(is_right(&THROTTLES[0], &tried("processor", true)));
        assert!(!is_right(&THROTTLES[0], &tried(LEFT_OUT, true)));
        assert!(
            is_right(generator, &tried("generator", false))
                && !is_right(generator, &tried("generator", true))
        );
    }
}
