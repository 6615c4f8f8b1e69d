//! The generators: their commands, and the errors that they must not report.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::LOAD_CPU;
use super::process::{FinishedProcess, measure, pinned};

/// Exit codes of valid and invalid runs: here the generator is saturated on purpose, so that its load points
/// are rightly invalid.
const CODES: [Option<i32>; 2] = [Some(0), Some(3)];

/// The result of a generator's turn.
#[derive(Clone, Copy)]
pub(super) struct TurnResult {
    /// CPU seconds per million requests.
    pub cost: f64,
    /// As counted by the server.
    pub requests: u64,
    /// Maximum resident memory, in KiB.
    pub rss_kib: f64,
}

impl TurnResult {
    /// Creates the result of a finished process.
    pub(super) fn of(ended: &FinishedProcess, requests: u64) -> TurnResult {
        TurnResult { cost: ended.cpu_s * 1e6 / requests as f64, requests, rss_kib: ended.rss_kib }
    }
}

/// Runs Plimsoll with full recording and body checking, in a folder; returns its costs and its results.
///
/// `seconds` is when its memory is read.
pub(super) fn plimsoll(
    program: &Path,
    folder: &Path,
    arguments: &[&str],
    url: &str,
    seconds: f64,
) -> Result<(FinishedProcess, Value)> {
    plimsoll_with(&[], program, folder, arguments, url, seconds)
}

/// Does the same with variables in its environment, such as a password.
pub(super) fn plimsoll_with(
    environment: &[(&str, &str)],
    program: &Path,
    folder: &Path,
    arguments: &[&str],
    url: &str,
    seconds: f64,
) -> Result<(FinishedProcess, Value)> {
    let file = folder.join("run.plim");
    for old in [file.clone(), file.with_extension("html")] {
        if old.exists() {
            std::fs::remove_file(old)?;
        }
    }
    let mut command = pinned(LOAD_CPU, program);
    command.args(["--json", "run"]).args(arguments).args(["--load-cpus", LOAD_CPU]);
    command.args(["--target", url, "--out"]).arg(&file).current_dir(folder).envs(environment.iter().copied());
    let ended = measure(&mut command, folder, Duration::from_secs_f64(seconds))?;
    if !CODES.contains(&ended.code) {
        let error = std::fs::read_to_string(folder.join("stderr")).unwrap_or_default();
        bail!("plimsoll ended with {:?}: {error}", ended.code);
    }
    let result: Value = serde_json::from_str(&ended.output).context("the results of plimsoll")?;
    let errors = result["load_points"][0]["total"]["errors"].as_u64().context("no number of errors")?;
    ensure!(errors == 0, "plimsoll met {errors} errors: {}", result["load_points"][0]["examples"]);
    Ok((ended, result))
}

/// Runs wrk with one thread.
pub(super) fn wrk(
    folder: &Path,
    connections: u32,
    seconds: u32,
    more: &[&str],
    url: &str,
) -> Result<FinishedProcess> {
    let mut command = pinned(LOAD_CPU, Path::new("wrk"));
    command.args(wrk_arguments(connections, seconds)).args(more).arg(url).current_dir(folder);
    let ended = measure(&mut command, folder, Duration::from_secs_f64(0.8 * f64::from(seconds)))?;
    ensure!(ended.code == Some(0), "wrk ended with {:?}: {}", ended.code, ended.output);
    match complaint(&ended.output) {
        Some(line) => bail!("wrk met errors: {line}"),
        None => Ok(ended),
    }
}

fn wrk_arguments(connections: u32, seconds: u32) -> [String; 4] {
    [
        "-t1".to_owned(),
        format!("-c{connections}"),
        format!("-d{seconds}s"),
        // A busy server may answer slowly with 10,000 connections; that is not an error here.
        "--timeout=60s".to_owned(),
    ]
}

fn complaint(output: &str) -> Option<&str> {
    output
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("Socket errors") || line.starts_with("Non-2xx"))
}

/// Runs h2load with one thread, over HTTP/2 with prior knowledge.
pub(super) fn h2load(
    folder: &Path,
    connections: u32,
    streams: u32,
    seconds: u32,
    url: &str,
) -> Result<FinishedProcess> {
    let mut command = pinned(LOAD_CPU, Path::new("h2load"));
    let numbers = [format!("-c{connections}"), format!("-m{streams}"), format!("-D{seconds}")];
    command.arg("-t1").args(numbers).arg(url).current_dir(folder);
    let ended = measure(&mut command, folder, Duration::from_secs_f64(0.8 * f64::from(seconds)))?;
    ensure!(ended.code == Some(0), "h2load ended with {:?}: {}", ended.code, ended.output);
    ensure!(h2load_is_clean(&ended.output), "h2load met errors: {}", ended.output);
    Ok(ended)
}

/// Returns whether no request failed and every status was 2xx.
fn h2load_is_clean(output: &str) -> bool {
    let line = |start: &str| output.lines().find_map(|line| line.strip_prefix(start));
    let has = |line: Option<&str>, texts: &[&str]| {
        line.is_some_and(|line| {
            line.split(',').filter(|part| texts.contains(&part.trim())).count() == texts.len()
        })
    };
    has(line("requests: "), &["0 failed", "0 errored", "0 timeout"])
        && has(line("status codes: "), &["0 3xx", "0 4xx", "0 5xx"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_wrk_are_detected() {
        let clean = "  1 threads and 100 connections\n  500 requests in 1.00s, 1.00MB read\n";
        assert_eq!(complaint(clean), None);
        let read = "  Socket errors: connect 0, read 3, write 0, timeout 0";
        assert_eq!(complaint(&format!("{clean}{read}\n")), Some(read.trim()));
    }

    #[test]
    fn errors_of_h2load_are_detected() {
        let clean = "requests: 90 total, 95 started, 90 done, 90 succeeded, 0 failed, 0 errored, 0 timeout\n\
                     status codes: 90 2xx, 0 3xx, 0 4xx, 0 5xx\n";
        assert!(h2load_is_clean(clean));
        for (from, to) in [("0 failed", "10 failed"), ("0 errored", "1 errored"), ("0 4xx", "90 4xx")] {
            assert!(!h2load_is_clean(&clean.replace(from, to)), "{to}");
        }
        assert!(!h2load_is_clean(""));
    }
}
