//! `soak-accelerator`: does the accelerator serve right bytes for a long time, whatever happens around it, and does its
//! memory stay?
//!
//! Clients of many kinds ask for objects whose content changes all the time and follows from what the reply says about
//! itself, so that every byte can be compared. Meanwhile the server behind is restarted, objects are purged, the
//! configuration is read again, and in the first quarter the accelerator is killed (SIGKILL), with its copies on disk. A
//! reply that fails counts as dropped, unless the server behind or the accelerator was away.
//!
//! - `world`: the objects, and what everyone knows of one another
//! - `origin`: the server behind
//! - `front`: the accelerator: started, ordered about, killed
//! - `client`, `exchange`: who asks, and one request with its reply
//! - `memory`: whether it stays

mod client;
mod exchange;
mod front;
mod memory;
mod origin;
mod world;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use units::Nanos;

use self::front::Front;
use self::memory::Memory;
use self::origin::Origin;
use self::world::World;
use crate::bench::{machine, number};
use crate::shell::root;
use crate::test::release_binary;

/// How many clients ask at a time.
const CLIENTS: u64 = 16;

/// How often something happens.
const PURGE: Nanos = Nanos::from_millis(300);
const RELOAD: Nanos = Nanos::from_secs(7);
const RESTART: Nanos = Nanos::from_secs(20);
const KILL: Nanos = Nanos::from_secs(11);
const LOOK: Nanos = Nanos::from_secs(1);

/// For how long the server behind is away.
const AWAY: Duration = Duration::from_millis(700);

/// How long, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    minutes: u32,
    write: bool,
}

impl Options {
    /// Reads the command line.
    pub fn parse(arguments: &[&str]) -> Result<Options> {
        let mut options = Options { minutes: 20, write: false };
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

/// Soaks, prints what came of it, and fails if anything was wrong.
pub fn perform(options: &Options) -> Result<()> {
    let plimsoll = release_binary()?;
    let folder = tempfile::Builder::new().prefix("plimsoll-soak-").tempdir_in("/var/tmp")?;
    let world = Arc::new(World::new());
    let mut origin = Origin::start(&world)?;
    let mut front = Front::start(&plimsoll, folder.path(), origin.address())?;
    let clients: Vec<_> = (0..CLIENTS).map(|seed| client::start(&world, front.address(), seed)).collect();
    let memory = disturb(options, &world, &mut origin, &mut front);
    world.end();
    for client in clients {
        client.join().map_err(|_| anyhow::anyhow!("a client broke"))?;
    }
    let memory = memory?;
    let n_read = front.figure("disk_operations_total{operation=\"read\"}")?;
    let text = report(options, &world, &front, n_read, &memory)?;
    println!("\n{text}");
    if options.write {
        let path = root().join("docs/recorded/soak-accelerator.md");
        std::fs::write(&path, &text)?;
        println!("{}", path.display());
    }
    let counts = world.counts();
    for what in world.wrong() {
        println!("wrong: {what}");
    }
    for what in world.dropped() {
        println!("dropped: {what}");
    }
    ensure!(counts.wrong == 0, "{} wrong replies", counts.wrong);
    ensure!(counts.dropped == 0, "{} requests were dropped", counts.dropped);
    ensure!(0 < counts.right, "no request was answered");
    ensure!(0 < n_read, "no copy was read from disk");
    front.check_conduct()?;
    ensure!(memory.is_flat(), "memory grows: {memory}");
    Ok(())
}

/// Lets things happen until the time is over; returns how the memory of the accelerator went.
fn disturb(options: &Options, world: &World, origin: &mut Origin, front: &mut Front) -> Result<Memory> {
    let end = Nanos::from_secs(60 * u64::from(options.minutes));
    // The last process that is started lives long enough to see whether it grows.
    let last_kill = Nanos(end.0 / 4);
    let (mut purge, mut reload, mut restart, mut kill, mut look) = (PURGE, RELOAD, RESTART, KILL, LOOK);
    let mut memory = Memory::new();
    let mut n_orders = 0;
    let mut minute = 0;
    while world.now() < end {
        let now = world.now();
        if is_due(&mut purge, PURGE, now) {
            n_orders += 1;
            front.purge(world, n_orders)?;
        }
        if is_due(&mut reload, RELOAD, now) {
            front.reload()?;
        }
        if is_due(&mut restart, RESTART, now) {
            let trouble = world.begin_trouble();
            origin.stop();
            std::thread::sleep(AWAY);
            origin.listen()?;
            front.wait_for_origin()?;
            world.end_trouble(trouble);
        }
        if now < last_kill && is_due(&mut kill, KILL, now) {
            let trouble = world.begin_trouble();
            front.kill_and_start()?;
            world.end_trouble(trouble);
            memory = Memory::new();
        }
        if is_due(&mut look, LOOK, now) {
            front.check_alive()?;
            memory.note(world.now(), front.resident_bytes()?);
        }
        if minute < now.as_secs_f64() as u64 / 60 {
            minute = now.as_secs_f64() as u64 / 60;
            println!("minute {minute}: {}; {memory}", world.counts());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(memory)
}

/// Returns whether something is to happen, and when next.
fn is_due(due: &mut Nanos, every: Nanos, now: Nanos) -> bool {
    let is_due = *due <= now;
    if is_due {
        *due = now + every;
    }
    is_due
}

/// Returns the page; `n_read` is how many copies the last process read from its disk.
fn report(options: &Options, world: &World, front: &Front, n_read: u64, memory: &Memory) -> Result<String> {
    let counts = world.counts();
    let row = |name: &str, value: String| format!("| {name} | {value} |\n");
    Ok(format!(
        "# The accelerator, soaked\n\n\
        Made by `cargo xtask soak-accelerator --minutes {}`: {CLIENTS} clients ask for objects that change all the time \
        and compare every byte, while the server behind is restarted every {} s, something is purged every {} s, the \
        configuration is read again every {} s, and the accelerator is killed (SIGKILL) every {} s of the first quarter. \
        Copies are in memory and on disk. Requests that fail while the server behind or the accelerator is away are \
        excused, wrong bytes never.\n\n{}\n\
        | | |\n|---|---:|\n{}",
        options.minutes,
        RESTART.as_secs_f64(),
        PURGE.as_secs_f64(),
        RELOAD.as_secs_f64(),
        KILL.as_secs_f64(),
        machine::table()?,
        [
            row("right replies", counts.right.to_string()),
            row("bytes compared", counts.bytes.to_string()),
            row("replies not modified (304)", counts.unchanged.to_string()),
            row("ranges", counts.ranges.to_string()),
            row("left by the client before the reply", counts.left.to_string()),
            row("cut off by the server behind, and seen to be", counts.cut.to_string()),
            row("excused", counts.excused.to_string()),
            row("wrong", counts.wrong.to_string()),
            row("dropped", counts.dropped.to_string()),
            row("purges, reloads, restarts, kills", front.orders()),
            row("requests at the server behind", world.asked_behind().to_string()),
            row("copies read from disk since the last kill", n_read.to_string()),
            row("memory", memory.to_string()),
        ]
        .concat()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_in_vain_is_not_always_excused() {
        let trouble = AWAY + Duration::from_nanos(world::AFTERMATH.0);
        assert!(trouble + exchange::PATIENCE < Duration::from_nanos(RESTART.0) / 2);
    }

    #[test]
    fn options_have_defaults_and_refuse_what_they_do_not_know() {
        assert_eq!(Options::parse(&[]).unwrap(), Options { minutes: 20, write: false });
        assert_eq!(
            Options::parse(&["--minutes", "2", "--write"]).unwrap(),
            Options { minutes: 2, write: true }
        );
        for wrong in [&["--minutes"][..], &["--minutes", "0"], &["--hours", "1"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
