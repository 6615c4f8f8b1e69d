//! A test binary, and how it is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use proving::noise::{AttemptResult, until_quiet};
use serde_json::Value;
use units::{Clock, RealClock};

use super::LOG_VARIABLE;
use super::output::{TestTime, counts, failures, times};

/// The crate whose tests wait most of the time, for servers and runs of seconds, and the number of its tests per CPU
/// that run at a time. Its first attempt takes 110 s instead of 180 on two CPUs.
const MOSTLY_WAITING: (&str, usize) = ("plimsoll", 2);

/// A test binary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Binary {
    pub package: String,
    target: String,
    folder: PathBuf,
    executable: PathBuf,
}

/// The conditions under which a binary runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditions<'a> {
    /// The file in which tests note the runs that they accept although noise made them invalid.
    pub noise_log: &'a Path,
    /// Whether it leaves the CPUs to others.
    pub is_low: bool,
}

/// The tests of a binary that failed, and the times of all.
pub(super) struct BinaryResult {
    pub failed: Vec<String>,
    pub times: Vec<TestTime>,
    n_run: usize,
}

impl Binary {
    /// Parses cargo's message about a test binary; `None` for any other.
    pub(super) fn from_message(message: &Value) -> Option<Binary> {
        let is_test = message["profile"]["test"].as_bool()?;
        let executable = message["executable"].as_str().filter(|_| is_test)?;
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
        Some(Binary {
            package: folder.file_name()?.to_str()?.to_owned(),
            target: message["target"]["name"].as_str()?.to_owned(),
            folder: folder.to_owned(),
            executable: executable.into(),
        })
    }

    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.package, self.target)
    }

    /// Runs all of its tests, several at a time.
    pub(super) fn perform(&self, conditions: Conditions) -> Result<BinaryResult> {
        let per_cpu = if self.package == MOSTLY_WAITING.0 { MOSTLY_WAITING.1 } else { 1 };
        let n_threads = per_cpu * std::thread::available_parallelism()?.get();
        self.perform_some(&["--test-threads", &n_threads.to_string()], conditions)
    }

    /// Runs the named tests one at a time, again if noise may be the cause of a failure.
    pub(super) fn perform_again(&self, mut left: Vec<String>, conditions: Conditions) -> Result<()> {
        println!("{}: once more, one at a time: {}", self.name(), left.join(", "));
        until_quiet(&self.name(), || {
            let mut arguments = vec!["--exact", "--test-threads", "1"];
            arguments.extend(left.iter().map(String::as_str));
            let performed = self.perform_some(&arguments, conditions)?;
            let n_run = performed.n_run;
            // An unknown name would mean a test that was left out.
            ensure!(
                n_run == left.len(),
                "{}: {} tests to be run again, {n_run} were",
                self.name(),
                left.len()
            );
            left = performed.failed;
            Ok(match left[..] {
                [] => AttemptResult::Right,
                _ => AttemptResult::Wrong(left.join(", ")),
            })
        })?;
        Ok(())
    }

    /// Runs some of its tests, or all.
    ///
    /// # Errors
    /// The binary failed without the name of a test.
    fn perform_some(&self, arguments: &[&str], conditions: Conditions) -> Result<BinaryResult> {
        let clock = RealClock::start();
        let output = self.run(arguments, conditions)?;
        let seconds = clock.now().as_secs_f64();
        let text = String::from_utf8_lossy(&output.stdout);
        let (n_passed, n_failed) = counts(&text);
        println!("{}: {n_passed} passed, {n_failed} failed in {seconds:.1} s", self.name());
        let failed = failures(&text);
        if !output.status.success() {
            println!("{text}{}", String::from_utf8_lossy(&output.stderr));
            ensure!(!failed.is_empty(), "{}: no test failed, but {}", self.name(), output.status);
        }
        Ok(BinaryResult { failed, times: times(&self.name(), &text), n_run: n_passed + n_failed })
    }

    /// Runs it as cargo would, in the folder of its crate.
    fn run(&self, arguments: &[&str], conditions: Conditions) -> Result<Output> {
        let mut command = if conditions.is_low {
            // From the raised priority of this command to a low one.
            Command::new("nice")
        } else {
            Command::new(&self.executable)
        };
        if conditions.is_low {
            command.args(["-n", "20"]).arg(&self.executable);
        }
        // libtest reports the times of tests for those only who say that they know that this may change.
        command.args(["-Zunstable-options", "--report-time"]).env("RUSTC_BOOTSTRAP", "1");
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command.env("CARGO_MANIFEST_DIR", &self.folder).env("CARGO_PKG_NAME", &self.package);
        command.env(LOG_VARIABLE, conditions.noise_log);
        command.output().with_context(|| format!("cannot start `{}`", self.executable.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_binaries_are_found_among_cargos_messages() {
        let message = |test: bool, executable: Value| {
            serde_json::json!({
                "reason": "compiler-artifact", "manifest_path": "/src/crates/stats/Cargo.toml",
                "target": { "name": "all" }, "profile": { "test": test }, "executable": executable,
            })
        };
        let found = Binary::from_message(&message(true, "/target/x".into())).unwrap();
        assert_eq!((found.name().as_str(), found.folder.to_str()), ("stats/all", Some("/src/crates/stats")));
        assert_eq!(Binary::from_message(&message(false, "/target/x".into())), None);
        assert_eq!(Binary::from_message(&message(true, Value::Null)), None);
        assert_eq!(Binary::from_message(&serde_json::json!({ "reason": "build-finished" })), None);
    }
}
