//! The two generators: how they are called and what they must not have met.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::LOAD_CPU;
use super::process::{Ended, measure, pinned};
use super::site::Site;

/// Exit code of a valid run, and of one that is not: here the generator is kept as busy as it can be,
/// and a run with such a load point is rightly not valid.
const CODES: [Option<i32>; 2] = [Some(0), Some(3)];

/// Runs Plimsoll with full recording and body checking; returns its costs and its results.
///
/// `seconds` is when its memory is looked at.
pub fn plimsoll(site: &Site, arguments: &[&str], port: u16, seconds: f64) -> Result<(Ended, Value)> {
    let file = site.path("run.plim");
    for old in [file.clone(), file.with_extension("html")] {
        if old.exists() {
            std::fs::remove_file(old)?;
        }
    }
    let mut command = pinned(LOAD_CPU, &site.plimsoll);
    command.args(["--json", "run"]).args(arguments).args(["--load-cpus", LOAD_CPU]);
    command.args(["--target", &format!("http://127.0.0.1:{port}/"), "--out"]).arg(&file);
    let ended = measure(&mut command, site.folder(), Duration::from_secs_f64(seconds))?;
    if !CODES.contains(&ended.code) {
        let error = std::fs::read_to_string(site.path("stderr")).unwrap_or_default();
        bail!("plimsoll ended with {:?}: {error}", ended.code);
    }
    let result: Value = serde_json::from_str(&ended.output).context("the results of plimsoll")?;
    let errors = result["load_points"][0]["total"]["errors"].as_u64().context("no number of errors")?;
    ensure!(errors == 0, "plimsoll met {errors} errors: {}", result["load_points"][0]["examples"]);
    Ok((ended, result))
}

/// Runs wrk with one thread.
pub fn wrk(folder: &Path, connections: u32, seconds: u32, more: &[String], url: &str) -> Result<Ended> {
    let mut command = pinned(LOAD_CPU, Path::new("wrk"));
    command.args(wrk_arguments(connections, seconds)).args(more).arg(url);
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
        // A busy server may take its time with 10,000 connections; that is no error here.
        "--timeout=60s".to_owned(),
    ]
}

fn complaint(output: &str) -> Option<&str> {
    output
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("Socket errors") || line.starts_with("Non-2xx"))
}

/// Returns a script that lets wrk request the files of a filelist by weight.
pub fn mix_script(filelist: &str) -> Result<String> {
    let mut entries = String::new();
    let mut total = 0_u32;
    for line in filelist.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let path = words.next().context("a line without a path")?;
        let weight: u32 = words.next().context("a line without a weight")?.parse()?;
        total += weight;
        entries += &format!("  {{ {weight}, \"{path}\" }},\n");
    }
    Ok(format!(
        "local files = {{\n{entries}}}
local requests = {{}}
function init()
  math.randomseed(1)
  for i, file in ipairs(files) do requests[i] = wrk.format(\"GET\", file[2]) end
end
function request()
  local u = math.random() * {total}
  for i, file in ipairs(files) do
    u = u - file[1]
    if u < 0 then return requests[i] end
  end
  return requests[#requests]
end
"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_wrk_met_are_seen() {
        let clean = "  1 threads and 100 connections\n  500 requests in 1.00s, 1.00MB read\n";
        assert_eq!(complaint(clean), None);
        let read = "  Socket errors: connect 0, read 3, write 0, timeout 0";
        assert_eq!(complaint(&format!("{clean}{read}\n")), Some(read.trim()));
    }

    #[test]
    fn a_filelist_becomes_a_script_with_its_weights() {
        let script = mix_script("# comment\n/a.html 350 #500\n/b.html 650 #5125\n").unwrap();
        assert!(script.contains("  { 350, \"/a.html\" },\n  { 650, \"/b.html\" },\n"), "{script}");
        assert!(script.contains("math.random() * 1000"), "{script}");
        assert!(mix_script("/a.html\n").is_err());
    }
}
