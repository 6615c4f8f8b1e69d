//! `bench-generator`: CPU cost per request of Plimsoll compared with wrk and h2load; punctuality; speed of
//! creating file sets.
//!
//! nginx with one worker has CPU 0, the generators take turns on CPU 1. Requests are counted at the server;
//! CPU time is that of the whole process: start, load, recording with all checks, and the report at the end.

pub mod accelerator;
mod against;
pub mod application;
mod case_options;
mod cases;
pub mod fail_if;
mod figures;
mod floor;
mod generator;
pub(crate) mod machine;
mod nginx;
mod open_loop;
pub mod orders;
mod populate;
pub(crate) mod process;
mod scripts;
mod site;
mod stall;
mod tables;

use anyhow::{Context, Result, bail, ensure};

pub use case_options::CaseOptions;

use self::against::OtherBuild;
use crate::build::packaged_binary;
use crate::options::{known, number};
use crate::packages::install;
use crate::shell::write_page;

/// CPU of the server.
const SERVER_CPU: &str = "0";
/// CPU of the generators.
const LOAD_CPU: &str = "1";

/// Names of the measurements besides the cases in which generators take turns.
const OTHERS: [&str; 3] = ["open-loop", "stall", "populate"];

/// Options of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratorBenchOptions {
    /// Number of turns of each generator.
    pub rounds: usize,
    /// Length of a turn in s.
    pub seconds: u32,
    /// Write the result to `docs/`.
    pub write: bool,
    /// Names of the cases to measure; empty: all.
    pub cases: Vec<String>,
    /// Another build of Plimsoll, in place of other generators.
    against: Option<OtherBuild>,
}

impl GeneratorBenchOptions {
    /// Parses the command line.
    ///
    /// # Errors
    /// Unknown options, missing or invalid values, and options that exclude each other.
    pub fn parse(arguments: &[&str]) -> Result<GeneratorBenchOptions> {
        let mut options =
            GeneratorBenchOptions { rounds: 5, seconds: 5, write: false, cases: Vec::new(), against: None };
        let mut rounds = None;
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--rounds" => rounds = Some(number(name, value()?)? as usize),
                "--seconds" => options.seconds = number(name, value()?)?,
                "--write" => options.write = true,
                "--case" => options.cases.push(known("case", value()?, &case_names())?),
                "--against" => options.against = Some(OtherBuild::parse(name, value()?)?),
                other => bail!("unknown option `{other}`"),
            }
        }
        let is_part = !options.cases.is_empty() || options.against.is_some();
        ensure!(
            !(options.write && is_part),
            "`--write` writes the whole page: not with `--case` or `--against`"
        );
        let usual = if options.against.is_some() { against::ROUNDS } else { options.rounds };
        options.rounds = rounds.unwrap_or(usual);
        Ok(options)
    }

    /// Returns whether a case is to be measured.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|case| case == name)
    }
}

fn case_names() -> Vec<&'static str> {
    cases::CASES.iter().map(|case| case.name).chain(OTHERS).collect()
}

/// Runs the selected measurements, prints the result as Markdown, and writes it to `docs/` on request.
///
/// # Errors
/// A program is missing and cannot be installed, a measurement fails, or this build is slower than the other.
pub fn perform(options: &GeneratorBenchOptions) -> Result<()> {
    install(&[
        ("nginx", "nginx-light"),
        ("wrk", "wrk"),
        ("h2load", "nghttp2-client"),
        ("openssl", "openssl"),
        ("taskset", "util-linux"),
    ])?;
    require_open_files()?;
    let plimsoll = packaged_binary()?;
    let site = site::Site::new(&plimsoll)?;
    if let Some(other) = &options.against {
        let compared = cases::against(&site, options, &other.program()?)?;
        println!("\n{}\n{}", machine::facts(options)?, against::table(&compared));
        return against::require_no_slowdown(&compared);
    }
    let mut text = machine::facts(options)?;
    text += &cases::perform(&site, options)?;
    for name in OTHERS.into_iter().filter(|name| options.wants(name)) {
        text += &match name {
            "open-loop" => open_loop::perform(&site)?,
            "stall" => stall::perform(&site)?,
            _ => populate::perform(&site, options)?,
        };
    }
    println!("\n{text}");
    if options.write {
        write_page("docs/bench-generator.md", &text)?;
    }
    Ok(())
}

/// Raises the limit on open files, which must be enough for all cases.
fn require_open_files() -> Result<()> {
    let (_, raised) = units::raise_open_files();
    ensure!(
        cases::OPEN_FILES_MIN <= raised,
        "expected a limit of {} open files, found {raised}\nhint: `ulimit -Hn {}` as root",
        cases::OPEN_FILES_MIN,
        cases::OPEN_FILES_MIN,
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_defaults_and_unknown_ones_are_refused() {
        let usual =
            GeneratorBenchOptions { rounds: 5, seconds: 5, write: false, cases: Vec::new(), against: None };
        assert_eq!(GeneratorBenchOptions::parse(&[]).unwrap(), usual);
        let all = GeneratorBenchOptions::parse(&["--write", "--rounds", "7", "--seconds", "2"]).unwrap();
        assert_eq!(all, GeneratorBenchOptions { rounds: 7, seconds: 2, write: true, ..usual.clone() });
        let some = GeneratorBenchOptions::parse(&["--case", "tls", "--case", "stall"]).unwrap();
        assert_eq!(["tls", "stall", "http2-10"].map(|name| some.wants(name)), [true, true, false]);
        assert!(usual.wants("tls"));
        let this = std::env::current_exe().unwrap();
        let other = GeneratorBenchOptions::parse(&["--against", this.to_str().unwrap()]).unwrap();
        assert_eq!((other.rounds, other.against), (against::ROUNDS, Some(OtherBuild::Program(this.clone()))));
        assert!(GeneratorBenchOptions::parse(&["--against", this.to_str().unwrap(), "--write"]).is_err());
        for wrong in [
            &["--rounds"][..],
            &["--rounds", "0"],
            &["--seconds", "x"],
            &["--fast"],
            &["--against", "/nowhere"],
            &["--case"],
            &["--case", "tsl"],
            &["--case", "tls", "--write"],
        ] {
            assert!(GeneratorBenchOptions::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
