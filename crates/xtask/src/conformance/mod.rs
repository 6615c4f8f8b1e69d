//! `conformance`: the public suite of tests for HTTP caches, run against the accelerator.
//!
//! The suite is `http-tests/cache-tests`, which npm has as `http-cache-tests`. It is neither part of this repository nor
//! fetched: whoever runs it gets it and names its folder. What is expected of each test, and why where that is not what the
//! suite wants, stands in `docs/conformance-accelerator.md`; a test that does worse than that is a failure.
//!
//! - `suite`: the folder: its server, its client, its tests
//! - `outcome`: what a result means, by the kind of the test
//! - `expected`: the table of what is expected

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

use self::expected::{Difference, Expected};
use self::outcome::outcomes;
use self::suite::Suite;
use crate::shell::{cargo, output, root};
use crate::test::say;

/// What is expected, in the repository.
const EXPECTED: &str = "docs/conformance-accelerator.md";

/// How to get what is missing.
const HINT: &str = "hint: `npm pack http-cache-tests` and unpack it, or clone https://github.com/http-tests/cache-tests; \
                    run `npm install` in its folder, and name that by `--suite DIR`";

/// What the command was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The folder of the suite.
    suite: Option<PathBuf>,
    /// Whether what is found is written down as what is expected.
    write: bool,
}

impl Options {
    /// Reads the options behind the command.
    ///
    /// # Errors
    /// An option that there is not, or one without its value.
    pub fn parse(arguments: &[&str]) -> Result<Options> {
        let mut options = Options::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match *argument {
                "--suite" => options.suite = Some(rest.next().context("`--suite` takes a folder")?.into()),
                "--write" => options.write = true,
                other => bail!("unknown option `{other}`; there are `--suite DIR` and `--write`"),
            }
        }
        Ok(options)
    }
}

/// Runs the suite and compares what comes of it with what is expected.
///
/// # Errors
/// A suite that is not there or cannot be run, which is never taken for passed; tests that do worse than expected.
pub fn perform(options: &Options) -> Result<()> {
    let Some(folder) = &options.suite else {
        bail!("the conformance suite was not run: no folder of it is given\n{HINT}");
    };
    let suite = Suite::open(folder)?;
    let program = build()?;
    let scratch = tempfile::tempdir()?;
    let server = suite.serve(scratch.path())?;
    let accelerator = Accelerator::start(&program, scratch.path(), server.address)?;
    let tests = suite.tests()?;
    println!("Running {} tests of {} against {}.", tests.len(), folder.display(), accelerator.address);
    let found = outcomes(&tests, &suite.results(accelerator.address)?)?;
    drop((accelerator, server));

    let path = root().join(EXPECTED);
    let expected = Expected::parse(&fs::read_to_string(&path).unwrap_or_default())?;
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
    ensure!(options.write || n_worse == 0, "{n_worse} tests do worse than {EXPECTED} says");
    Ok(())
}

/// Builds `plimsoll` and returns where it is; how fast it is does not matter here.
fn build() -> Result<PathBuf> {
    let messages = output(
        say(&mut cargo(&["build", "--package", "plimsoll", "--message-format", "json"]))
            .stderr(Stdio::inherit()),
    )?;
    let found = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = found.filter(|message| message["target"]["name"] == "plimsoll");
    let program = programs.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    program.context("cargo did not say where it put `plimsoll`")
}

/// An accelerator in front of the suite's server; ends when it is dropped.
struct Accelerator {
    address: SocketAddr,
    _process: Process,
}

impl Accelerator {
    /// Starts it with what it does by default. Only that servers are never down: many tests at a time end connections.
    fn start(program: &PathBuf, scratch: &std::path::Path, origin: SocketAddr) -> Result<Accelerator> {
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
        Ok(Accelerator { address, _process: process })
    }
}

/// A process that ends when it is dropped.
struct Process(Child);

impl Process {
    /// Starts a process and reads what it prints until `find` finds in a line what it is for.
    fn start<T>(command: &mut Command, find: impl Fn(&str) -> Option<T>) -> Result<(Process, T)> {
        let shown = crate::shell::line(command);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut process = Process(child.with_context(|| format!("cannot start `{shown}`"))?);
        let mut lines =
            BufReader::new(process.0.stdout.take().context("no output")?).lines().map_while(Result::ok);
        let found = lines.by_ref().find_map(|line| find(&line));
        // What else it prints is thrown away, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Ok((process, found.with_context(|| format!("`{shown}` ended before it said where it listens"))?))
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
    fn options_are_read_and_others_refused() {
        let options = Options { suite: Some("x".into()), write: true };
        assert_eq!(Options::parse(&["--write", "--suite", "x"]).unwrap(), options);
        assert!(Options::parse(&["--suite"]).is_err() && Options::parse(&["x"]).is_err());
    }

    #[test]
    fn without_the_suite_nothing_is_called_passed() {
        let error = perform(&Options::default()).unwrap_err().to_string();
        assert!(
            error.starts_with("the conformance suite was not run: no folder of it is given\nhint: "),
            "{error}"
        );
        let elsewhere = Options { suite: Some("/nowhere/at/all".into()), write: false };
        let error = perform(&elsewhere).unwrap_err().to_string();
        assert!(error.starts_with("the conformance suite was not run: "), "{error}");
    }
}
