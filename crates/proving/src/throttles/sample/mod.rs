//! The sample: 120 cases of throttled servers that Plimsoll did not start, and some that it did, each with a proof.
//!
//! - `kind`: the kinds of bottleneck, and the names that are right
//! - `case`: the product of what varies, and the sample drawn from it
//! - `moving`: the cases whose bottleneck moves while Plimsoll runs
//! - `setting`: the numbers of a case, and what relaxes them
//! - `work`: the work of one request, and the pace of the users
//! - `server`: servers as somebody starts them by hand; `programs/`: their pages
//! - `network`, `scene`: namespaces, control groups, neighbors
//! - `order`: the command lines of Plimsoll
//! - `proof`: the named resource, relaxed alone, raises the rate
//! - `kept`: the cases that the test command tries
//! - `record`, `page`: results, one line each, and the page made of them
//! - `options`: the options of the command

mod case;
mod kept;
mod kind;
mod moving;
mod network;
mod options;
mod order;
mod page;
mod proof;
mod record;
mod scene;
mod server;
mod setting;
mod work;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::Value;
use units::{Clock, Nanos, RealClock};

use crate::build::packaged_binary;
use crate::noise::RaisedPriority;
use crate::packages::{self, REQUIRED_PACKAGES};
use crate::shell::{root, write_page};
use crate::throttles::brief::try_all;
use case::{SampleCase, sample};
pub(super) use kept::kept_trials;
use options::CaseSet;
pub use options::SampleOptions;
use order::{RunAim, try_case};
use proof::CaseProof;
use record::{CaseResult, RecordedCase, line_of};
use setting::Setting;

/// Tries cases, records them, and says what the record says so far; with `--write`, writes its page and
/// a copy of the record only.
///
/// # Errors
/// The record cannot be written, or a bar is not met.
pub fn perform(options: &SampleOptions) -> Result<()> {
    if options.kept {
        return try_only_kept(options);
    }
    match options.cases {
        CaseSet::Sample(seed) => {
            let cases = sample(seed);
            perform_set(options, &cases, |lines| {
                let results: Vec<Option<CaseResult>> =
                    lines.iter().map(|line| line.as_ref().map(CaseResult::of)).collect();
                page::page(seed, &cases, &results)
            })
        }
        CaseSet::Moving => {
            let cases = moving::cases();
            perform_set(options, &cases, |lines| moving::page(&cases, lines))
        }
    }
}

/// The same, with the cases of a set and the page of their lines.
fn perform_set<C: RecordedCase>(
    options: &SampleOptions,
    cases: &[C],
    page: impl Fn(&[Option<Value>]) -> Result<String>,
) -> Result<()> {
    if !options.write {
        try_cases(options, cases)?;
    }
    let page = page(&record::last_lines(&options.record(), cases)?)?;
    if options.write {
        let name = format!("docs/recorded/{}", options.cases.name());
        record::copy_last_lines(&options.record(), &root().join(format!("{name}.jsonl")), cases)?;
        return write_page(&format!("{name}.md"), &page);
    }
    println!("\n{page}");
    Ok(())
}

fn try_cases<C: RecordedCase>(options: &SampleOptions, all: &[C]) -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "control groups and network namespaces need root\nhint: `sudo cargo xtask throttles --sample`"
    );
    ensure!(
        std::thread::available_parallelism()?.get() >= 2,
        "one CPU is the server's and one the load generator's: this machine has only one"
    );
    let plimsoll = prepare(options)?;
    let record = options.record();
    let recorded = record::last_lines(&record, all)?;
    let wanted = all.iter().enumerate().filter(|(index, case)| {
        options.wants(&case.to_string(), *index, all.len(), recorded[*index].is_some())
    });
    let cases: Vec<&C> = wanted.map(|(_, case)| case).collect();
    ensure!(!cases.is_empty(), "no case is left to try in {}", record.display());
    let _precedence = RaisedPriority::take();
    let clock = RealClock::start();
    for (index, case) in cases.iter().enumerate() {
        if Nanos::from_secs(60 * u64::from(options.minutes)) <= clock.now() {
            println!("{} cases are left after {} minutes", cases.len() - index, options.minutes);
            break;
        }
        let line = case.try_for_record(&plimsoll);
        println!("{}", record::said(&line));
        record::append(&record, &line)?;
    }
    Ok(())
}

/// Tries the cases of the test command as it does, all of them in any case.
fn try_only_kept(options: &SampleOptions) -> Result<()> {
    let plimsoll = prepare(options)?;
    let _precedence = RaisedPriority::take();
    try_all(&kept_trials(&plimsoll)).map(drop)
}

/// Installs what is missing, and returns the program to try.
fn prepare(options: &SampleOptions) -> Result<PathBuf> {
    packages::install(&REQUIRED_PACKAGES)?;
    options.binary.clone().map_or_else(packaged_binary, |path| Ok(fs::canonicalize(path)?))
}

impl RecordedCase for SampleCase {
    fn try_for_record(&self, plimsoll: &Path) -> Value {
        let setting = Setting::of(self);
        let attempt = try_case(self, &setting, plimsoll, RunAim::Name);
        let proof = |attempt| Ok((attempt, CaseProof::measure(self, &setting, plimsoll)?));
        line_of(self, &attempt.and_then(proof))
    }
}
