//! On what it was measured.

use std::process::Command;

use anyhow::{Context, Result};

use super::Options;
use crate::shell::{line, output, root};

/// Returns the head of the page: what this is, machine and programs.
pub fn facts(options: &Options) -> Result<String> {
    let Options { rounds, seconds, cases, .. } = options;
    let cases: String = cases.iter().map(|name| format!(" --case {name}")).collect();
    let load = std::fs::read_to_string("/proc/loadavg").context("cannot read /proc/loadavg")?;
    let load = load.split(' ').next().unwrap_or("unknown");
    Ok(format!(
        "# The load generator, measured\n\n\
        Made by `cargo xtask bench-generator --rounds {rounds} --seconds {seconds}{cases}`; the machine should do nothing else \
        (load average before: {load}).\n\n\
        nginx with one worker has CPU {server} and its files in memory. Plimsoll and the other generator, wrk or h2load, \
        take turns on CPU {client}, in changing order; each turn has one thread and {seconds} s, in the open loop and \
        the stall as stated. nginx counts the requests. CPU time is that of the whole process: Plimsoll's includes its \
        start, one second of settling where the benchmark has it, checking every byte, recording, the analysis, and \
        the HTML report. The others check and store nothing. wrk draws the files of a mix in a script, from tables. TLS \
        is version 1.3 with TLS_AES_128_GCM_SHA256 for all; HTTP/2 is in the clear, known beforehand. The generator is meant to be saturated here, so these runs are not valid \
        as measurements of nginx.\n\n\
        {}| wrk | {} |\n\
        | h2load | {} |\n\n",
        table()?,
        version("wrk", "-v")?,
        version("h2load", "--version")?,
        server = super::SERVER_CPU,
        client = super::LOAD_CPU,
    ))
}

/// Returns the begin of a table: processor, kernel, programs.
pub fn table() -> Result<String> {
    let read = |path: &str| std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"));
    let processors = read("/proc/cpuinfo")?;
    let named = |name: &str| processors.lines().filter(|line| line.starts_with(name)).collect::<Vec<_>>();
    let model = named("model name").first().and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown");
    let n_processors = named("processor").len();
    let kernel = read("/proc/sys/kernel/osrelease")?;
    Ok(format!(
        "| | |\n|---|---|\n\
        | processor | {model}, {n_processors} CPUs |\n\
        | kernel | {} |\n\
        | Plimsoll | commit {}, {} |\n\
        | nginx | {} |\n",
        kernel.trim(),
        commit(),
        output(Command::new("rustc").arg("--version"))?.trim(),
        version("nginx", "-v")?,
    ))
}

fn commit() -> String {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty"]).current_dir(root());
    output(&mut git).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// They say their version on the first line of either stream, wrk with exit code 1.
pub fn version(program: &str, option: &str) -> Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command.arg(option).env("PATH", format!("{path}:/usr/sbin"));
    let output = command.output().with_context(|| format!("cannot start `{}`", line(&command)))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or("unknown");
    Ok(first.trim_start_matches("nginx version: ").split(" Copyright").next().unwrap_or(first).to_owned())
}
