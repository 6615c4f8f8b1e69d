//! The options of the command.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::case::SEED;
use crate::options::number;
use crate::shell::root;

/// The longest part, in minutes.
const MINUTES: u32 = 60;

/// Options of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleOptions {
    pub(super) cases: CaseSet,
    /// The part, from 1, and the number of parts.
    part: (u32, u32),
    pub(super) minutes: u32,
    /// The file of results; `None`: one in the build's folder, named by the set.
    record: Option<PathBuf>,
    pub(super) binary: Option<PathBuf>,
    pub(super) write: bool,
    pub(super) kept: bool,
    /// Parts of names; empty: all that are not recorded yet.
    pub(super) chosen: Vec<String>,
}

/// A set of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseSet {
    /// The sample drawn by a seed.
    Sample(u64),
    /// The cases whose bottleneck moves.
    Moving,
}

impl CaseSet {
    /// Returns the name of its page and its record.
    pub(super) fn name(self) -> String {
        match self {
            CaseSet::Sample(seed) => format!("throttle-sample-{seed}"),
            CaseSet::Moving => "throttle-moving".to_owned(),
        }
    }
}

impl SampleOptions {
    /// Parses the command line behind `--sample`.
    ///
    /// # Errors
    /// Unknown options, missing or invalid values, and options that exclude each other.
    pub fn parse(arguments: &[&str]) -> Result<SampleOptions> {
        let mut options = SampleOptions {
            cases: CaseSet::Sample(SEED),
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
                "--seed" => options.cases = CaseSet::Sample(number(name, value()?)?.into()),
                "--moving" => options.cases = CaseSet::Moving,
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
        let has = |name| arguments.contains(&name);
        ensure!(!(has("--moving") && has("--seed")), "`--moving` draws no cases: not with `--seed`");
        Ok(options)
    }

    /// Returns the file of results.
    pub(super) fn record(&self) -> PathBuf {
        let of_set = || root().join(format!("target/{}.jsonl", self.cases.name()));
        self.record.clone().unwrap_or_else(of_set)
    }

    /// Returns whether a case of `n` is to be tried: one that is named, or one of this part that is not recorded yet.
    pub(super) fn wants(&self, name: &str, index: usize, n: usize, is_recorded: bool) -> bool {
        let part = self.part.0 as usize;
        let parts = self.part.1 as usize;
        if self.chosen.is_empty() {
            index * parts / n == part - 1 && !is_recorded
        } else {
            self.chosen.iter().any(|text| name.contains(text.as_str()))
        }
    }
}

/// Parses a part: `2/3`.
fn part(text: &str) -> Result<(u32, u32)> {
    let (part, parts) = text.split_once('/').with_context(|| format!("`--part {text}`: expected K/N"))?;
    let part = number("--part", part)?;
    let parts = number("--part", parts)?;
    ensure!(part <= parts, "`--part {text}`: there are {parts} parts");
    Ok((part, parts))
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
        let wanted = |text| {
            let options = SampleOptions::parse(&["--part", text]).unwrap();
            (0..14).filter(|index| options.wants("lock", *index, 14, false)).collect::<Vec<usize>>()
        };
        let all: Vec<usize> = ["1/3", "2/3", "3/3"].into_iter().flat_map(wanted).collect();
        assert_eq!(all, (0..14).collect::<Vec<usize>>());
    }

    #[test]
    fn named_cases_are_tried_again_and_others_once() {
        let options = SampleOptions::parse(&["lock", "link"]).unwrap();
        let wants = |name, is_recorded| options.wants(name, 5, 14, is_recorded);
        assert!(wants("003 lock strong node plain", true) && !wants("004 cpu-quota mild nginx plain", false));
        let options = SampleOptions::parse(&[]).unwrap();
        assert!(options.wants("x", 5, 14, false) && !options.wants("x", 5, 14, true));
    }

    #[test]
    fn the_sets_have_records_of_their_own() {
        let record = |arguments: &[&str]| {
            let record = SampleOptions::parse(arguments).unwrap().record();
            record.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(record(&[]), "throttle-sample-18.jsonl");
        assert_eq!(record(&["--seed", "19"]), "throttle-sample-19.jsonl");
        assert_eq!(record(&["--moving"]), "throttle-moving.jsonl");
        assert!(SampleOptions::parse(&["--moving", "--seed", "19"]).is_err());
    }
}
