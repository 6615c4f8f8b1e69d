//! The server on Node.

use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::pairs::PairSetup;
use crate::bench::process::BackgroundProcess;

/// The server: `node server.js PORT ROUNDS`, with so many rounds of work for each page.
const SCRIPT: &str = "\
const [port, rounds] = process.argv.slice(2).map(Number);
function work() {
  let x = 1;
  for (let i = 0; i < rounds; i++) x = (x * 31 + i) % 1000003;
  return x;
}
require('http').createServer((request, response) => {
  response.setHeader('Content-Type', 'text/plain');
  response.end(work() < 0 ? '' : 'page '.repeat(40));
}).listen(port, '127.0.0.1');
";

/// Rounds of work for a page of the server as it was: about half a millisecond.
const ROUNDS: f64 = 120_000.0;

/// Starts a server and waits until it accepts connections.
pub(super) fn start(folder: &Path, port: u16, rounds: f64) -> Result<BackgroundProcess> {
    let script = folder.join("server.js");
    std::fs::write(&script, SCRIPT)?;
    let mut command = Command::new("node");
    command.arg(script).arg(port.to_string()).arg(format!("{rounds:.0}")).stdin(Stdio::null());
    let mut server = BackgroundProcess::start(&mut command)?;
    server.wait_until(|| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok())?;
    Ok(server)
}

/// The CPU time of a page, in s: what it costs without work, and with its work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    without: f64,
    with: f64,
}

impl Work {
    /// Measures pages with once and twice the work.
    pub(super) fn measured(setup: &PairSetup) -> Result<Work> {
        let cost = |rounds| -> Result<f64> {
            let run = setup.run("calibration", rounds, 1)?;
            let cost = run["load_points"][0]["sut"]["cpu_per_operation_s"].as_f64();
            cost.context("the CPU time of the server was not measured")
        };
        let with = cost(ROUNDS)?;
        let twice = cost(2.0 * ROUNDS)?;
        let work = Work { without: 2.0 * with - twice, with };
        println!(
            "a page takes {:.0} µs of CPU time, {:.0} µs without its work",
            with * 1e6,
            work.without * 1e6
        );
        ensure!(0.0 <= work.without && work.without < with / 2.0, "the machine is too busy: {work:?}");
        Ok(work)
    }

    /// Returns the rounds with which a page takes this many times as much CPU time.
    pub(super) fn rounds(&self, times: f64) -> f64 {
        ROUNDS * (times * self.with - self.without) / (self.with - self.without)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 100 µs of which 20 without work: 140 µs need 120 of work, 1.5 times the 80.
    #[test]
    fn work_makes_a_page_slower_by_the_whole_share() {
        let work = Work { without: 20e-6, with: 100e-6 };
        assert!((work.rounds(1.4) / ROUNDS - 1.5).abs() < 1e-9 && (work.rounds(1.0) - ROUNDS).abs() < 1e-6);
    }
}
