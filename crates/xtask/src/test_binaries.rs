//! The tests of all crates: built by cargo, then run here, so that those that need quiet run alone.
//!
//! Crates that only compute run two binaries at a time; their tests pass on any machine. The others have
//! servers, sockets and clocks: each of their binaries runs alone. Its tests disturb each other, since several of them
//! load the CPUs at a time; so those that fail are run again, one after the other, and that attempt decides. It is
//! repeated if others used the CPUs meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use proving::noise::{AttemptResult, RaisedPriority, until_quiet};
use proving::shell::{self, cargo, root, run, say};
use serde_json::Value;
use units::{Clock, RealClock};

/// Crates whose tests neither wait nor measure.
const COMPUTING: [&str; 15] = [
    "analysis",
    "benchmarks",
    "cache-policy",
    "disclosure",
    "http1",
    "languages",
    "model",
    "pdf",
    "proving",
    "published",
    "runfile",
    "stats",
    "testkit",
    "units",
    "xtask",
];

/// Number of their binaries that run at a time. Each also has a thread per CPU, which its longest test often
/// leaves idle.
const AT_A_TIME: usize = 2;

/// The crate whose tests wait most of the time, for servers and runs of seconds, and the number of its tests per CPU
/// that run at a time. Its first attempt takes 110 s instead of 180 on two CPUs.
const MOSTLY_WAITING: (&str, usize) = ("plimsoll", 2);

/// A test binary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Binary {
    package: String,
    target: String,
    folder: PathBuf,
    executable: PathBuf,
}

/// Builds all tests and runs them.
///
/// # Errors
/// The binaries that failed.
pub(crate) fn perform() -> Result<()> {
    let binaries = build()?;
    let (computing, alone): (Vec<Binary>, Vec<Binary>) =
        binaries.into_iter().partition(|one| COMPUTING.contains(&one.package.as_str()));
    ensure!(!computing.is_empty() && !alone.is_empty(), "cargo named no test binaries");
    let mut failed = run_together(&computing);
    let precedence = RaisedPriority::take();
    failed.extend(alone.iter().filter_map(|one| one.perform_alone().err()));
    drop(precedence);
    failed.extend(documentation_tests().err());
    for error in &failed {
        println!("{error:#}");
    }
    ensure!(failed.is_empty(), "{} of {} test binaries failed", failed.len(), computing.len() + alone.len());
    Ok(())
}

/// Builds all test binaries and returns them.
fn build() -> Result<Vec<Binary>> {
    let mut build = cargo(&["test", "--workspace", "--no-run", "--message-format", "json"]);
    let messages = shell::output(say(&mut build).stderr(Stdio::inherit()))?;
    let messages = messages.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>();
    let mut binaries: Vec<Binary> =
        messages.context("cargo's messages")?.iter().filter_map(Binary::from_message).collect();
    binaries.sort();
    Ok(binaries)
}

fn run_together(binaries: &[Binary]) -> Vec<anyhow::Error> {
    let (rest, failed) = (Mutex::new(binaries.iter()), Mutex::new(Vec::new()));
    let next = || rest.lock().expect("no thread panics while holding it").next();
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(binary) = next() {
                    if let Err(error) = binary.perform() {
                        failed.lock().expect("no thread panics while holding it").push(error);
                    }
                }
            });
        }
    });
    failed.into_inner().expect("no thread panics while holding it")
}

impl Binary {
    /// Parses cargo's message about a test binary; `None` for any other.
    fn from_message(message: &Value) -> Option<Binary> {
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

    fn name(&self) -> String {
        format!("{}/{}", self.package, self.target)
    }

    /// Runs some of its tests, or all, as cargo would.
    fn run(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = Command::new(&self.executable);
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command.env("CARGO_MANIFEST_DIR", &self.folder).env("CARGO_PKG_NAME", &self.package);
        command.output().with_context(|| format!("cannot start `{}`", self.executable.display()))
    }

    /// Runs all of its tests once.
    fn perform(&self) -> Result<()> {
        let (failed, _) = self.failed_of(&[])?;
        ensure!(failed.is_empty(), "{}: {}", self.name(), failed.join(", "));
        Ok(())
    }

    /// Returns the number of its tests that run at a time.
    fn n_threads(&self) -> Result<usize> {
        let per_cpu = if self.package == MOSTLY_WAITING.0 { MOSTLY_WAITING.1 } else { 1 };
        Ok(per_cpu * std::thread::available_parallelism()?.get())
    }

    /// Runs all of its tests, several at a time; then those that failed one at a time, again if noise may be the cause.
    fn perform_alone(&self) -> Result<()> {
        let (mut left, _) = self.failed_of(&["--test-threads", &self.n_threads()?.to_string()])?;
        if left.is_empty() {
            return Ok(());
        }
        println!("{}: once more, one at a time: {}", self.name(), left.join(", "));
        until_quiet(&self.name(), || {
            left = self.failed_again(&left)?;
            Ok(match left[..] {
                [] => AttemptResult::Right,
                _ => AttemptResult::Wrong(left.join(", ")),
            })
        })
    }

    /// Runs the named tests one at a time and returns those that failed.
    fn failed_again(&self, names: &[String]) -> Result<Vec<String>> {
        let mut arguments = vec!["--exact", "--test-threads", "1"];
        arguments.extend(names.iter().map(String::as_str));
        let (failed, n_run) = self.failed_of(&arguments)?;
        // An unknown name would mean a test that was left out.
        ensure!(n_run == names.len(), "{}: {} tests to be run again, {n_run} were", self.name(), names.len());
        Ok(failed)
    }

    /// Runs some of its tests, or all; returns the names of those that failed, and the number that ran.
    ///
    /// # Errors
    /// The binary failed without the name of a test.
    fn failed_of(&self, arguments: &[&str]) -> Result<(Vec<String>, usize)> {
        let clock = RealClock::start();
        let output = self.run(arguments)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let (n_passed, n_failed) = counts(&text);
        let seconds = clock.now().as_secs_f64();
        println!("{}: {n_passed} passed, {n_failed} failed in {seconds:.1} s", self.name());
        let failed = failures(&text);
        if !output.status.success() {
            println!("{text}{}", String::from_utf8_lossy(&output.stderr));
            ensure!(!failed.is_empty(), "{}: no test failed, but {}", self.name(), output.status);
        }
        Ok((failed, n_passed + n_failed))
    }
}

/// Parses the numbers of passed and failed tests: `test result: ok. 3 passed; 0 failed; …`.
fn counts(text: &str) -> (usize, usize) {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("test result: ")).unwrap_or_default();
    let number = |word: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let index = words.iter().position(|one| one.trim_end_matches(';') == word)?;
        words.get(index.checked_sub(1)?)?.parse().ok()
    };
    (number("passed").unwrap_or(0), number("failed").unwrap_or(0))
}

/// Returns the names of the tests that failed: `test NAME ... FAILED`.
fn failures(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    // `#[should_panic]` is appended to the name.
    let names = names.map(|name| name.trim_end_matches(" - should panic").to_owned());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Runs the examples in documentation, if there are any: finding them by `cargo test --doc` takes longer than
/// this.
fn documentation_tests() -> Result<()> {
    let crates = root().join("crates");
    let mut packages = BTreeSet::new();
    for file in shell::sources(&crates)? {
        if has_code_in_documentation(&fs::read_to_string(&file)?) {
            let package = file.strip_prefix(&crates)?.iter().next().context("a source lies in a crate")?;
            packages.insert(package.to_string_lossy().into_owned());
        }
    }
    if packages.is_empty() {
        println!("no code in documentation, so no tests of it");
        return Ok(());
    }
    let mut test = cargo(&["test", "--doc"]);
    for package in &packages {
        test.args(["--package", package]);
    }
    run(say(&mut test))
}

/// Returns whether documentation in a source has a block that is not marked as text.
fn has_code_in_documentation(source: &str) -> bool {
    let fence = |line: &'_ str| -> Option<String> {
        let line = line.trim_start();
        let comment = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "))?;
        comment.strip_prefix("```").map(str::to_owned)
    };
    // Every other fence ends a block.
    source.lines().filter_map(fence).step_by(2).any(|language| language != "text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_text_in_documentation_are_no_code() {
        let text = "//! ```text\n//! a → b\n//! ```\n";
        assert!(!has_code_in_documentation(text));
        assert!(has_code_in_documentation(&format!(
            "{text}    /// ```\n    /// assert!(true);\n    /// ```\n"
        )));
        assert!(!has_code_in_documentation("let fence = \"```\";\n"));
    }

    const TEXT: &str = "\nrunning 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest d - should panic ... FAILED\n\n\
        failures:\n\n---- a::c stdout ----\ntest fake\n\nfailures:\n    a::c\n    d\n\n\
        test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";

    #[test]
    fn the_output_of_a_test_binary_is_parsed() {
        assert_eq!(counts(TEXT), (1, 2));
        assert_eq!(failures(TEXT), ["a::c", "d"]);
        assert_eq!(counts("thread 'main' panicked\n"), (0, 0));
    }

    #[test]
    fn test_binaries_are_found_among_cargos_messages() {
        let message = |test: bool, executable: Value| {
            serde_json::json!({
                "reason": "compiler-artifact", "manifest_path": "/src/crates/stats/Cargo.toml",
                "target": { "name": "coverage" }, "profile": { "test": test }, "executable": executable,
            })
        };
        let found = Binary::from_message(&message(true, "/target/x".into())).unwrap();
        assert_eq!(
            (found.name().as_str(), found.folder.to_str()),
            ("stats/coverage", Some("/src/crates/stats"))
        );
        assert_eq!(Binary::from_message(&message(false, "/target/x".into())), None);
        assert_eq!(Binary::from_message(&message(true, Value::Null)), None);
        assert_eq!(Binary::from_message(&serde_json::json!({ "reason": "build-finished" })), None);
    }

    #[test]
    fn the_listed_computing_crates_exist() {
        for name in COMPUTING {
            assert!(root().join("crates").join(name).is_dir(), "{name}");
        }
    }
}
