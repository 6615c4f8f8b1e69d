//! `soak-accelerator`: checks that the accelerator serves correct bytes for a long time under disturbances,
//! and that its memory does not grow.
//!
//! Clients of many kinds request objects whose content changes all the time and follows from the response's
//! metadata, so that every byte can be compared. Meanwhile the origin is restarted, objects are purged, the
//! configuration is reloaded, and in the first quarter the accelerator is killed (SIGKILL), with its cache on
//! disk. A failed response counts as dropped unless the origin or the accelerator was down.
//!
//! - `fixture`: the objects, and the shared state
//! - `origin`: the origin server
//! - `accelerator`: the accelerator process: started, administered, killed
//! - `client`, `client_connection`: clients, and one request with its response
//! - `memory`: the trend of memory use

mod accelerator;
mod client;
mod client_connection;
mod fixture;
mod memory;
mod origin;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use units::Nanos;

use self::accelerator::AcceleratorProcess;
use self::fixture::Fixture;
use self::memory::MemoryTrend;
use self::origin::SoakOrigin;
use crate::bench::machine;
use crate::build::packaged_binary;
use crate::options::number;
use crate::shell::write_page;

/// Number of concurrent clients.
const CLIENTS: u64 = 16;

/// Intervals of the disturbances.
const PURGE: Nanos = Nanos::from_millis(300);
const RELOAD: Nanos = Nanos::from_secs(7);
const RESTART: Nanos = Nanos::from_secs(20);
const KILL: Nanos = Nanos::from_secs(11);
const LOOK: Nanos = Nanos::from_secs(1);

/// Downtime of the origin.
const AWAY: Duration = Duration::from_millis(700);

/// Options of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoakOptions {
    minutes: u32,
    write: bool,
}

impl SoakOptions {
    /// Parses the command line.
    ///
    /// # Errors
    /// Unknown options, and missing or invalid values.
    pub fn parse(arguments: &[&str]) -> Result<SoakOptions> {
        let mut options = SoakOptions { minutes: 20, write: false };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            match *name {
                "--minutes" => {
                    let value = rest.next().context("expected a value after `--minutes`")?;
                    options.minutes = number(name, value)?;
                }
                "--write" => options.write = true,
                other => bail!("unknown option `{other}`"),
            }
        }
        Ok(options)
    }
}

/// Runs the soak test, prints the results, and fails on any error.
///
/// # Errors
/// The test cannot be set up, or finds an error.
pub fn perform(options: &SoakOptions) -> Result<()> {
    let plimsoll = packaged_binary()?;
    let folder = tempfile::Builder::new().prefix("plimsoll-soak-").tempdir_in("/var/tmp")?;
    let fixture = Arc::new(Fixture::new());
    let mut origin = SoakOrigin::start(&fixture)?;
    let mut accelerator = AcceleratorProcess::start(&plimsoll, folder.path(), origin.address())?;
    let clients: Vec<_> =
        (0..CLIENTS).map(|seed| client::start(&fixture, accelerator.address(), seed)).collect();
    let memory = disturb(options, &fixture, &mut origin, &mut accelerator);
    fixture.end();
    for client in clients {
        client.join().map_err(|_| anyhow::anyhow!("a client panicked"))?;
    }
    let memory = memory?;
    let n_read = accelerator.figure("disk_operations_total{operation=\"read\"}")?;
    let text = report(options, &fixture, &accelerator, n_read, &memory)?;
    println!("\n{text}");
    if options.write {
        write_page("docs/recorded/soak-accelerator.md", &text)?;
    }
    let counts = fixture.counts();
    for what in fixture.wrong() {
        println!("wrong: {what}");
    }
    for what in fixture.dropped() {
        println!("dropped: {what}");
    }
    ensure!(counts.wrong == 0, "{} wrong replies", counts.wrong);
    ensure!(counts.dropped == 0, "{} requests were dropped", counts.dropped);
    ensure!(0 < counts.right, "no request was answered");
    ensure!(0 < n_read, "no copy was read from disk");
    accelerator.check_conduct()?;
    ensure!(memory.is_flat(), "memory grows: {memory}");
    Ok(())
}

/// Runs disturbances until the time is over; returns the trend of the accelerator's memory.
fn disturb(
    options: &SoakOptions,
    fixture: &Fixture,
    origin: &mut SoakOrigin,
    accelerator: &mut AcceleratorProcess,
) -> Result<MemoryTrend> {
    let end = Nanos::from_secs(60 * u64::from(options.minutes));
    // The last process lives long enough to show whether it grows.
    let last_kill = Nanos(end.0 / 4);
    let mut purge = PURGE;
    let mut reload = RELOAD;
    let mut restart = RESTART;
    let mut kill = KILL;
    let mut look = LOOK;
    let mut memory = MemoryTrend::new();
    let mut n_orders = 0;
    let mut minute = 0;
    while fixture.now() < end {
        let now = fixture.now();
        if is_due(&mut purge, PURGE, now) {
            n_orders += 1;
            accelerator.purge(fixture, n_orders)?;
        }
        if is_due(&mut reload, RELOAD, now) {
            accelerator.reload()?;
        }
        if is_due(&mut restart, RESTART, now) {
            let outage = fixture.begin_outage();
            origin.stop();
            std::thread::sleep(AWAY);
            origin.listen()?;
            accelerator.wait_for_origin()?;
            fixture.end_outage(outage);
        }
        if now < last_kill && is_due(&mut kill, KILL, now) {
            let outage = fixture.begin_outage();
            accelerator.kill_and_start()?;
            fixture.end_outage(outage);
            memory = MemoryTrend::new();
        }
        if is_due(&mut look, LOOK, now) {
            accelerator.check_alive()?;
            memory.note(fixture.now(), accelerator.resident_bytes()?);
        }
        if minute < now.as_secs_f64() as u64 / 60 {
            minute = now.as_secs_f64() as u64 / 60;
            println!("minute {minute}: {}; {memory}", fixture.counts());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(memory)
}

/// Returns whether an event is due, and advances its due time.
fn is_due(due: &mut Nanos, every: Nanos, now: Nanos) -> bool {
    let is_due = *due <= now;
    if is_due {
        *due = now + every;
    }
    is_due
}

/// Returns the page; `n_read` is the number of objects the last process read from its disk.
fn report(
    options: &SoakOptions,
    fixture: &Fixture,
    accelerator: &AcceleratorProcess,
    n_read: u64,
    memory: &MemoryTrend,
) -> Result<String> {
    let counts = fixture.counts();
    let row = |name: &str, value: String| format!("| {name} | {value} |\n");
    Ok(format!(
        "# Soak test of the accelerator\n\n\
        Generated by `cargo xtask soak-accelerator --minutes {}`: {CLIENTS} clients request objects that \
        change all the time and compare every byte, while the origin is restarted every {} s, objects are \
        purged every {} s, the configuration is reloaded every {} s, and the accelerator is killed (SIGKILL) \
        every {} s of the first quarter. \
        The cache is in memory and on disk. Requests that fail while the origin or the accelerator is down \
        are excused, wrong bytes never.\n\n{}\n\
        | | |\n|---|---:|\n{}",
        options.minutes,
        RESTART.as_secs_f64(),
        PURGE.as_secs_f64(),
        RELOAD.as_secs_f64(),
        KILL.as_secs_f64(),
        machine::table()?,
        [
            row("correct responses", counts.right.to_string()),
            row("bytes compared", counts.bytes.to_string()),
            row("responses not modified (304)", counts.unchanged.to_string()),
            row("ranges", counts.ranges.to_string()),
            row("aborted by the client before the response", counts.left.to_string()),
            row("truncated by the origin, and detected", counts.cut.to_string()),
            row("excused", counts.excused.to_string()),
            row("wrong", counts.wrong.to_string()),
            row("dropped", counts.dropped.to_string()),
            row("purges, reloads, restarts, kills", accelerator.commands()),
            row("requests at the origin", fixture.n_origin_requests().to_string()),
            row("objects read from disk since the last kill", n_read.to_string()),
            row("memory", memory.to_string()),
        ]
        .concat()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_a_response_is_not_always_excused() {
        let outage = AWAY + Duration::from_nanos(fixture::AFTERMATH.0);
        assert!(outage + client_connection::TIMEOUT < Duration::from_nanos(RESTART.0) / 2);
    }

    #[test]
    fn options_have_defaults_and_unknown_ones_are_refused() {
        assert_eq!(SoakOptions::parse(&[]).unwrap(), SoakOptions { minutes: 20, write: false });
        assert_eq!(
            SoakOptions::parse(&["--minutes", "2", "--write"]).unwrap(),
            SoakOptions { minutes: 2, write: true }
        );
        for wrong in [&["--minutes"][..], &["--minutes", "0"], &["--hours", "1"]] {
            assert!(SoakOptions::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
