//! On what it was measured.

use std::process::Command;

use anyhow::{Context, Result};

use super::Options;
use crate::shell::{output, root};

/// Returns the head of the page: what this is, machine and programs.
pub fn facts(options: &Options) -> Result<String> {
    let Options { rounds, seconds, .. } = options;
    let read = |path: &str| std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"));
    let processors = read("/proc/cpuinfo")?;
    let named = |name: &str| processors.lines().filter(|line| line.starts_with(name)).collect::<Vec<_>>();
    let model = named("model name").first().and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown");
    let n_processors = named("processor").len();
    let kernel = read("/proc/sys/kernel/osrelease")?;
    let load = read("/proc/loadavg")?;
    let load = load.split(' ').next().unwrap_or("unknown");
    Ok(format!(
        "# The load generator, measured\n\n\
        Made by `cargo xtask bench-generator --rounds {rounds} --seconds {seconds}`; the machine should do nothing else \
        (load average before: {load}).\n\n\
        nginx with one worker has CPU {server} and its files in memory. Plimsoll and wrk take turns on CPU {client}, in \
        changing order; each turn has one thread and {seconds} s, in the open loop and the stall as stated. nginx counts \
        the requests. CPU time is that of the whole process: Plimsoll's includes its start, one second of \
        settling where the benchmark has it, checking every byte, recording, the analysis, and the HTML report. \
        wrk checks and stores nothing. The generator is meant to be saturated here, so these runs are not valid \
        as measurements of nginx.\n\n\
        | | |\n|---|---|\n\
        | processor | {model}, {n_processors} CPUs |\n\
        | kernel | {} |\n\
        | Plimsoll | commit {}, {} |\n\
        | nginx | {} |\n\
        | wrk | {} |\n\n",
        kernel.trim(),
        commit(),
        output(Command::new("rustc").arg("--version"))?.trim(),
        version("nginx")?,
        version("wrk")?,
        server = super::SERVER_CPU,
        client = super::LOAD_CPU,
    ))
}

fn commit() -> String {
    let mut git = Command::new("git");
    git.args(["describe", "--always", "--dirty"]).current_dir(root());
    output(&mut git).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// Both programs say their version on the first line of either stream, wrk with exit code 1.
fn version(program: &str) -> Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    let output = command.arg("-v").env("PATH", format!("{path}:/usr/sbin")).output()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or("unknown");
    Ok(first.trim_start_matches("nginx version: ").split(" Copyright").next().unwrap_or(first).to_owned())
}
