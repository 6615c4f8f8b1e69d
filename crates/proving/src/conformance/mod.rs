//! `conformance`: the public test suite for HTTP caches, run against the accelerator.
//!
//! The suite is `http-tests/cache-tests`, published on npm as `http-cache-tests`. It is neither part of this
//! repository nor downloaded: the caller provides its folder. The expected result of each test, with a reason
//! where it differs from what the suite wants, is in `docs/conformance-accelerator.md`; a worse result is a
//! failure.
//!
//! - `suite`: the folder: its server, its client, its tests
//! - `outcome`: outcomes, by the kind of the test
//! - `expected`: the table of expected results

mod expected;
mod outcome;
mod suite;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use self::expected::{Difference, ExpectedResults};
use self::outcome::outcomes;
use self::suite::Suite;
use crate::shell::{cargo, output, root, say};

/// The file of expected results.
const EXPECTED: &str = "docs/conformance-accelerator.md";

/// A hint on getting what is missing.
const HINT: &str = "hint: `npm pack http-cache-tests` and unpack it, or clone https://github.com/http-tests/cache-tests; \
                    run `npm install` in its folder, and name that by `--suite DIR`";

/// Options of the command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ConformanceOptions {
    /// The folder of the suite.
    suite: Option<PathBuf>,
    /// Whether the results are written down as the expected ones.
    write: bool,
}

impl ConformanceOptions {
    /// Parses the options of the command.
    ///
    /// # Errors
    /// An unknown option, or one without its value.
    pub fn parse(arguments: &[&str]) -> Result<ConformanceOptions> {
        let mut options = ConformanceOptions::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "--suite" => options.suite = Some(rest.next().context("`--suite` takes a folder")?.into()),
                "--write" => options.write = true,
                other => bail!("unknown option `{other}`; expected `--suite DIR` or `--write`"),
            }
        }
        Ok(options)
    }
}

/// Runs the suite and compares the results with the expected ones.
///
/// # Errors
/// A suite that is missing or cannot be run, which never counts as passed; tests that do worse than expected.
pub fn perform(options: &ConformanceOptions) -> Result<()> {
    let Some(folder) = &options.suite else {
        bail!("the conformance suite was not run: no folder of it is given\n{HINT}");
    };
    let suite = Suite::open(folder)?;
    let program = build()?;
    let scratch = tempfile::tempdir()?;
    let server = suite.serve(scratch.path())?;
    let accelerator = AcceleratorProcess::start(&program, scratch.path(), server.address)?;
    let tests = suite.tests()?;
    println!("Running {} tests of {} against {}.", tests.len(), folder.display(), accelerator.address);
    let found = outcomes(&tests, &suite.results(accelerator.address)?)?;
    drop((accelerator, server));

    let path = root().join(EXPECTED);
    let expected = ExpectedResults::parse(&fs::read_to_string(&path).unwrap_or_default())?;
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (test, outcome) in &found {
        *counts.entry((test.kind.name(), outcome.name())).or_default() += 1;
    }
    for ((kind, outcome), n) in &counts {
        println!("  {n:>4} {kind}: {outcome}");
    }
    if options.write {
        fs::write(&path, expected.renewed(&found, &suite.version()?).write())?;
        println!("Wrote {EXPECTED}.");
    }
    let differences = expected.differences(&found);
    differences.iter().for_each(|difference| println!("{difference}"));
    let n_worse =
        differences.iter().filter(|difference| matches!(difference, Difference::Worse { .. })).count();
    ensure!(options.write || n_worse == 0, "{n_worse} tests do worse than expected in {EXPECTED}");
    Ok(())
}

/// Builds `plimsoll` and returns its path; its speed does not matter here.
fn build() -> Result<PathBuf> {
    let messages = output(
        say(&mut cargo(&["build", "--package", "plimsoll", "--message-format", "json"]))
            .stderr(Stdio::inherit()),
    )?;
    let found = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = found.filter(|message| message["target"]["name"] == "plimsoll");
    let program = programs.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    program.context("cargo did not report the path of `plimsoll`")
}

/// An accelerator in front of the suite's server; killed when dropped.
struct AcceleratorProcess {
    address: SocketAddr,
    _process: Process,
}

impl AcceleratorProcess {
    /// Starts it with default settings, except that servers are never marked down: many tests at a time end
    /// connections.
    fn start(program: &PathBuf, scratch: &std::path::Path, origin: SocketAddr) -> Result<AcceleratorProcess> {
        let config = scratch.join("accelerator.toml");
        fs::write(
            &config,
            format!(
                "[[listen]]\naddress = \"127.0.0.1:0\"\n\
                 [[origin.server]]\nurl = \"http://{origin}\"\n[origin.health]\nfall = 0\n"
            ),
        )?;
        let mut command = Command::new(program);
        command.args(["accelerate", "--json", "--config"]).arg(&config);
        let (process, address) = Process::start(&mut command, |line| {
            let ready: serde_json::Value = serde_json::from_str(line).ok()?;
            ready["ready"]["address"].as_str()?.parse().ok()
        })?;
        Ok(AcceleratorProcess { address, _process: process })
    }
}

/// A process that is killed when dropped.
struct Process(Child);

impl Process {
    /// Starts a process and reads its output until `find` returns a value for a line.
    fn start<T>(command: &mut Command, find: impl Fn(&str) -> Option<T>) -> Result<(Process, T)> {
        let shown = crate::shell::line(command);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut process = Process(child.with_context(|| format!("cannot start `{shown}`"))?);
        let mut lines =
            BufReader::new(process.0.stdout.take().context("no output")?).lines().map_while(Result::ok);
        let found = lines.by_ref().find_map(|line| find(&line));
        // Further output is discarded, so that the process never blocks.
        std::thread::spawn(move || lines.for_each(drop));
        Ok((process, found.with_context(|| format!("`{shown}` ended before it reported its address"))?))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_parsed_and_others_refused() {
        let options = ConformanceOptions { suite: Some("x".into()), write: true };
        assert_eq!(ConformanceOptions::parse(&["--write", "--suite", "x"]).unwrap(), options);
        assert!(
            ConformanceOptions::parse(&["--suite"]).is_err() && ConformanceOptions::parse(&["x"]).is_err()
        );
    }

    #[test]
    fn a_missing_suite_is_an_error() {
        let error = perform(&ConformanceOptions::default()).unwrap_err().to_string();
        assert!(
            error.starts_with("the conformance suite was not run: no folder of it is given\nhint: "),
            "{error}"
        );
        let elsewhere = ConformanceOptions { suite: Some("/nowhere/at/all".into()), write: false };
        let error = perform(&elsewhere).unwrap_err().to_string();
        assert!(error.starts_with("the conformance suite was not run: "), "{error}");
    }
}
