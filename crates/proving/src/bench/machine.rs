//! The machine and programs of a measurement.

use std::process::Command;

use anyhow::{Context, Result};

use crate::build::checked_out;
use crate::shell::{line, output};

/// A program in a table: its title, its name, and the option with which it prints its version.
pub(crate) type Program = (&'static str, &'static str, &'static str);

/// nginx.
pub(super) const NGINX: Program = ("nginx", "nginx", "-v");

/// Returns the load average of the last minute.
pub(crate) fn load_average() -> Result<String> {
    let averages = std::fs::read_to_string("/proc/loadavg").context("cannot read /proc/loadavg")?;
    Ok(averages.split(' ').next().unwrap_or("unknown").to_owned())
}

/// Returns the start of a table: processor, kernel, Plimsoll and nginx.
pub(crate) fn table() -> Result<String> {
    programs(&[NGINX])
}

/// Returns the start of a table: processor, kernel, Plimsoll and other programs.
pub(crate) fn programs(others: &[Program]) -> Result<String> {
    let mut table = without_servers()?;
    for (title, program, option) in others {
        table += &row(title, program, option)?;
    }
    Ok(table)
}

/// Returns a row of the table: a program with its version.
pub(super) fn row(title: &str, program: &str, option: &str) -> Result<String> {
    Ok(format!("| {title} | {} |\n", version(program, option)?))
}

/// Returns the start of a table: processor, kernel and Plimsoll.
fn without_servers() -> Result<String> {
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
        | Plimsoll | commit {}, {} |\n",
        kernel.trim(),
        checked_out(),
        output(Command::new("rustc").arg("--version"))?.trim(),
    ))
}

/// Returns the first line of a program's version output on either stream; wrk exits with code 1.
fn version(program: &str, option: &str) -> Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command.arg(option).env("PATH", format!("{path}:/usr/sbin"));
    let output = command.output().with_context(|| format!("cannot start `{}`", line(&command)))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or("unknown");
    let text = first.trim_start_matches("nginx version: ").split(" Copyright").next().unwrap_or(first);
    Ok(text.trim_end_matches(" -").to_owned())
}
