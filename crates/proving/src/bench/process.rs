//! Processes with measured costs.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

use super::SERVER_CPU;
use crate::namespace::{NetworkNamespace, command_in};
use crate::shell::line;

/// Maximum number of readiness checks, a hundredth of a second apart.
const LOOKS_MAX: u32 = 500;

/// The costs and output of a finished process.
#[derive(Debug)]
pub(super) struct FinishedProcess {
    /// User and system time of all its threads, in s.
    pub cpu_s: f64,
    /// User and system time of the processes that it has waited for, and of those that these have, in s.
    pub children_cpu_s: f64,
    /// Maximum resident memory until the requested time, in KiB.
    pub rss_kib: f64,
    /// Its exit code.
    pub code: Option<i32>,
    /// Its standard output.
    pub output: String,
}

/// Returns a command pinned to one CPU.
pub(super) fn pinned(cpu: &str, program: &Path) -> Command {
    pinned_in(None, cpu, program)
}

/// Returns a command pinned to one CPU, which runs in a network namespace if there is one.
pub(super) fn pinned_in(network: Option<&NetworkNamespace>, cpu: &str, program: &Path) -> Command {
    let mut command = command_in(network, Path::new("taskset"));
    command.args(["-c", cpu]).arg(program);
    command
}

/// Runs a command to its end; reads its memory `look_after` its start.
pub(super) fn measure(command: &mut Command, folder: &Path, look_after: Duration) -> Result<FinishedProcess> {
    let stdout = folder.join("stdout");
    let stderr = folder.join("stderr");
    command.stdin(Stdio::null()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
    let mut child = command.spawn().with_context(|| format!("cannot start `{}`", line(command)))?;
    std::thread::sleep(look_after);
    let rss = status_kib(child.id(), "VmHWM:");
    // Not reaped yet, so that its counters can be read.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), options)?;
    let CpuSeconds { own: cpu_s, children: children_cpu_s } = cpu_seconds(child.id())?;
    let status = child.wait()?;
    let rss_kib = rss.with_context(|| {
        let error = fs::read_to_string(&stderr).unwrap_or_default();
        format!("`{}` ended at once ({status}): {error}", line(command))
    })?;
    Ok(FinishedProcess {
        cpu_s,
        children_cpu_s,
        rss_kib,
        code: status.code(),
        output: fs::read_to_string(&stdout)?,
    })
}

/// User and system time of a process and all its threads, and of the processes that it has waited for, in s.
struct CpuSeconds {
    own: f64,
    children: f64,
}

fn cpu_seconds(pid: u32) -> Result<CpuSeconds> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let ticks = cpu_ticks(&text).with_context(|| format!("cannot read `{text}`"))?;
    let [own, children] = ticks.map(|ticks| ticks as f64 / rustix::param::clock_ticks_per_second() as f64);
    Ok(CpuSeconds { own, children })
}

/// The sums of fields 14 and 15, and of 16 and 17, counted after the name, which may contain spaces and parentheses. Source:
/// proc(5).
fn cpu_ticks(stat: &str) -> Option<[u64; 2]> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some([next()? + next()?, next()? + next()?])
}

fn status_kib(pid: u32, name: &str) -> Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next());
    Ok(value.with_context(|| format!("no `{name}` in its status"))?.parse()?)
}

/// A background process that is killed when dropped.
#[derive(Debug)]
pub(crate) struct BackgroundProcess(pub Child);

impl Drop for BackgroundProcess {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

impl BackgroundProcess {
    /// Starts the process.
    pub(crate) fn start(command: &mut Command) -> Result<BackgroundProcess> {
        let child = command.spawn().with_context(|| format!("cannot start `{}`", line(command)))?;
        Ok(BackgroundProcess(child))
    }

    /// Waits until it is ready, for five seconds at most.
    pub(super) fn wait_until(&mut self, is_ready: impl Fn() -> bool) -> Result<()> {
        for _ in 0..LOOKS_MAX {
            self.check()?;
            if is_ready() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!("the server does not answer")
    }

    /// Fails if the process has ended.
    pub(crate) fn check(&mut self) -> Result<()> {
        let ended = self.0.try_wait()?;
        ensure!(ended.is_none(), "the server ended: {ended:?}");
        Ok(())
    }
}

/// Returns different free ports of the loopback interface.
pub(super) fn free_ports<const N: usize>() -> Result<[u16; N]> {
    // All are held until the last one is known.
    let listeners = [(); N].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let mut ports = [0; N];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        *port = listener.as_ref().map_err(|error| anyhow!("no free port: {error}"))?.local_addr()?.port();
    }
    Ok(ports)
}

/// Starts a built-in server of a build of Plimsoll, on the server's CPU; returns it with the address that it listens on.
pub(crate) fn serve(plimsoll: &Path, arguments: &[&str]) -> Result<(BackgroundProcess, String)> {
    serve_by(pinned(SERVER_CPU, plimsoll), arguments)
}

/// Starts a built-in server by a command that is a build of Plimsoll; returns it with the address that it listens on.
pub(crate) fn serve_by(mut command: Command, arguments: &[&str]) -> Result<(BackgroundProcess, String)> {
    // The server ends when its standard input does.
    command.arg("serve").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = BackgroundProcess::start(&mut command)?;
    let output = server.0.stdout.take().context("the server has no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let address = ready_address(&line).with_context(|| format!("the server printed `{line}`"))?;
    Ok((server, address))
}

/// Returns the address in the line that a server prints once it listens.
fn ready_address(line: &str) -> Result<String> {
    let ready: Value = serde_json::from_str(line)?;
    Ok(ready["ready"]["address"].as_str().context("expected its address")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_in_the_line_of_a_server_that_listens() {
        let line = "{\"ready\":{\"address\":\"127.0.0.1:7000\"}}\n";
        assert_eq!(ready_address(line).unwrap(), "127.0.0.1:7000");
        assert!(ready_address("").is_err());
        assert!(ready_address("{\"ready\":{}}").is_err());
    }

    #[test]
    fn ticks_are_parsed_after_any_name() {
        let stat = "17 (a (b) c) R 1 2 3 4 5 6 7 8 9 10 120 34 7 8 20 0 1 0 5";
        assert_eq!(cpu_ticks(stat), Some([154, 15]));
        assert_eq!(cpu_ticks("17 (short) R 1 2"), None);
    }

    #[test]
    fn a_busy_process_is_measured_and_its_output_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; exit 3"]);
        let ended = measure(&mut command, folder.path(), Duration::ZERO).unwrap();
        assert!(0.01 <= ended.cpu_s, "{ended:?}");
        assert!(0.0 < ended.rss_kib, "{ended:?}");
        assert_eq!((ended.code, ended.output.as_str()), (Some(3), "done\n"));
    }
}
