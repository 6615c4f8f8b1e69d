//! The sample: 120 cases of throttled servers that Plimsoll did not start, and some that it did, each with a proof.
//!
//! - `kind`: the kinds of bottleneck, and the names that are right
//! - `case`: the product of what varies, and the sample drawn from it
//! - `setting`: the numbers of a case, and what relaxes them
//! - `server`: servers as somebody starts them by hand; `programs/`: their pages
//! - `network`, `scene`: namespaces, control groups, neighbors
//! - `order`: the command lines of Plimsoll
//! - `proof`: the named resource, relaxed alone, raises the rate
//! - `kept`: the cases that the test command tries
//! - `record`, `page`: results, one line each, and the page made of them

mod case;
mod kept;
mod kind;
mod network;
mod order;
mod page;
mod proof;
mod record;
mod scene;
mod server;
mod setting;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use units::{Clock, Nanos, RealClock};

use super::attempt::Attempt;
use crate::build::release_binary;
use crate::noise::RaisedPriority;
use crate::options::number;
use crate::packages::{self, NEEDED};
use crate::shell::{root, write_page};
use case::{N_CASES, SEED, SampleCase, sample};
pub(super) use kept::try_kept;
use order::{RunAim, try_case};
use proof::CaseProof;
use setting::Setting;

/// The longest part, in minutes.
const MINUTES: u32 = 60;

/// Options of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleOptions {
    seed: u64,
    /// The part, from 1, and the number of parts.
    part: (u32, u32),
    minutes: u32,
    /// The file of results; `None`: one in the build's folder, named by the seed.
    record: Option<PathBuf>,
    binary: Option<PathBuf>,
    write: bool,
    kept: bool,
    /// Parts of names; empty: all that are not recorded yet.
    chosen: Vec<String>,
}

impl SampleOptions {
    /// Parses the command line behind `--sample`.
    ///
    /// # Errors
    /// Unknown options, and missing or invalid values.
    pub fn parse(arguments: &[&str]) -> Result<SampleOptions> {
        let mut options = SampleOptions {
            seed: SEED,
            part: (1, 1),
            minutes: MINUTES,
            record: None,
            binary: None,
            write: false,
            kept: false,
            chosen: Vec::new(),
        };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value =
                || rest.next().copied().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--seed" => options.seed = number(name, value()?)?.into(),
                "--part" => options.part = part(value()?)?,
                "--minutes" => options.minutes = number(name, value()?)?,
                "--record" => options.record = Some(value()?.into()),
                "--binary" => options.binary = Some(value()?.into()),
                "--write" => options.write = true,
                "--kept" => options.kept = true,
                other if other.starts_with('-') => bail!("unknown option `{other}`"),
                text => options.chosen.push(text.to_owned()),
            }
        }
        Ok(options)
    }

    /// Returns the file of results.
    fn record(&self) -> PathBuf {
        let of_seed = || root().join(format!("target/throttle-sample-{}.jsonl", self.seed));
        self.record.clone().unwrap_or_else(of_seed)
    }

    /// Returns the cases to try: those that are named, or all of this part that are not recorded yet.
    fn cases(&self) -> Result<Vec<SampleCase>> {
        let sample = sample(self.seed);
        let recorded = record::read(&self.record(), &sample)?;
        let (part, parts) = (self.part.0 as usize, self.part.1 as usize);
        let is_in_part = |index: usize| index * parts / N_CASES == part - 1;
        let is_named =
            |case: &SampleCase| self.chosen.iter().any(|text| case.to_string().contains(text.as_str()));
        let wanted = sample.iter().enumerate().filter(|(index, case)| match self.chosen.is_empty() {
            true => is_in_part(*index) && recorded[*index].is_none(),
            false => is_named(case),
        });
        Ok(wanted.map(|(_, case)| *case).collect())
    }
}

/// Parses a part: `2/3`.
fn part(text: &str) -> Result<(u32, u32)> {
    let (part, parts) = text.split_once('/').with_context(|| format!("`--part {text}`: expected K/N"))?;
    let (part, parts) = (number("--part", part)?, number("--part", parts)?);
    ensure!(part <= parts, "`--part {text}`: there are {parts} parts");
    Ok((part, parts))
}

/// Tries cases, records them, and says what the record says so far; with `--write`, writes its page and
/// a copy of the record only.
///
/// # Errors
/// The record cannot be written, or a bar is not met.
pub fn perform(options: &SampleOptions) -> Result<()> {
    if options.kept {
        return try_only_kept(options);
    }
    if !options.write {
        try_cases(options)?;
    }
    let sample = sample(options.seed);
    let results = record::read(&options.record(), &sample)?;
    let page = page::page(options.seed, &sample, &results)?;
    if options.write {
        let name = format!("docs/recorded/throttle-sample-{}", options.seed);
        record::copy_last_lines(&options.record(), &root().join(format!("{name}.jsonl")), &sample)?;
        return write_page(&format!("{name}.md"), &page);
    }
    println!("\n{page}");
    Ok(())
}

fn try_cases(options: &SampleOptions) -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "control groups and network namespaces need root\nhint: `sudo cargo xtask throttles --sample`"
    );
    ensure!(
        std::thread::available_parallelism()?.get() >= 2,
        "one CPU is the server's and one the load generator's: this machine has only one"
    );
    let plimsoll = prepare(options)?;
    let (cases, record) = (options.cases()?, options.record());
    ensure!(!cases.is_empty(), "no case is left to try in {}", record.display());
    let _precedence = RaisedPriority::take();
    let clock = RealClock::start();
    for (index, case) in cases.iter().enumerate() {
        if Nanos::from_secs(60 * u64::from(options.minutes)) <= clock.now() {
            println!("{} cases are left after {} minutes", cases.len() - index, options.minutes);
            break;
        }
        let tried = try_with_proof(case, &plimsoll);
        say(case, &tried);
        record::append(&record, &record::line_of(case, &tried))?;
    }
    Ok(())
}

/// Tries the cases of the test command as it does, all of them in any case.
fn try_only_kept(options: &SampleOptions) -> Result<()> {
    let plimsoll = prepare(options)?;
    let _precedence = RaisedPriority::take();
    let tried = try_kept(&plimsoll);
    let wrong: Vec<String> =
        tried.into_iter().filter_map(Result::err).map(|error| format!("{error:#}")).collect();
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

/// Installs what is missing, and returns the program to try.
fn prepare(options: &SampleOptions) -> Result<PathBuf> {
    packages::install(&NEEDED)?;
    options.binary.clone().map_or_else(release_binary, |path| Ok(fs::canonicalize(path)?))
}

fn try_with_proof(case: &SampleCase, plimsoll: &Path) -> Result<(Attempt, CaseProof)> {
    let attempt = try_case(case, &Setting::of(case), plimsoll, RunAim::Name)?;
    Ok((attempt, CaseProof::measure(case, plimsoll)?))
}

fn say(case: &SampleCase, tried: &Result<(Attempt, CaseProof)>) {
    match tried {
        Err(error) => println!("{case}: not tried: {error:#}"),
        Ok((attempt, proof)) => {
            let word = match (proof.holds(), case.is_right(&attempt.named)) {
                (false, _) => "unproven",
                (true, true) => "right",
                (true, false) => "WRONG",
            };
            println!("{word}  {case}: {} ({}); {}", attempt.named, attempt.evidence, proof.json());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_parsed_and_make_up_the_sample() {
        assert_eq!(part("2/3").unwrap(), (2, 3));
        for wrong in ["3/2", "0/2", "2", "a/b"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("none.jsonl");
        let record = record.to_str().unwrap();
        let cases =
            |text| SampleOptions::parse(&["--record", record, "--part", text]).unwrap().cases().unwrap();
        let all: Vec<SampleCase> = ["1/3", "2/3", "3/3"].into_iter().flat_map(cases).collect();
        assert_eq!(all, sample(SEED));
        let named = SampleOptions::parse(&["--record", record, "lock"]).unwrap().cases().unwrap();
        assert!((6..=7).contains(&named.len()));
    }
}
