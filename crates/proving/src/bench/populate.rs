//! Creation of a file set compared with the write speed of the file system.
//!
//! `dd` writes as many bytes of zeros into one file. Neither waits for the disk: the comparison is about
//! generating the bytes and passing them to the kernel, thousands of files against one. Earlier writes are on
//! disk when a turn begins.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use units::{Clock, RealClock};

use super::GeneratorBenchOptions;
use super::figures::{over, word};
use super::site::Site;
use crate::shell::{output, run};

/// The minimum share of dd's rate.
const BAR: f64 = 0.70;

/// The default location of file sets, too: a file system that is not in memory.
const BASE: &str = "/var/tmp";

/// 1 MiB, dd's `bs=1M`.
const BLOCK: u64 = 1 << 20;

/// Both turns of a round, in s.
struct Round {
    plimsoll: f64,
    dd: f64,
}

/// Runs the measurement and returns the table.
pub(super) fn perform(site: &Site, options: &GeneratorBenchOptions) -> Result<String> {
    println!("populate");
    let folder = tempfile::Builder::new().prefix("plimsoll-bench-").tempdir_in(BASE)?;
    // The first time determines the size, and is not measured.
    populate(site, &folder.path().join("files"))?;
    let bytes = bytes_below(folder.path())?;
    let mut rounds = Vec::new();
    for n in 0..options.rounds {
        // Everything stays until the end: ext4 searches for inodes that were not deleted in the last seconds,
        // which would cost the files of a round as much as writing them.
        let (files, zeros) =
            (folder.path().join(format!("files-{n}")), folder.path().join(format!("zeros-{n}")));
        let plimsoll = || timed(|| populate(site, &files));
        let dd = || timed(|| dd(&zeros, bytes));
        let round = if n % 2 == 1 {
            let dd = dd()?;
            Round { plimsoll: plimsoll()?, dd }
        } else {
            Round { plimsoll: plimsoll()?, dd: dd()? }
        };
        println!("round {}: {:.3}", n + 1, round.dd / round.plimsoll);
        rounds.push(round);
    }
    Ok(table(bytes, &rounds))
}

/// Returns the duration of `work`; syncs the disk first.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    run(&mut Command::new("sync"))?;
    let clock = RealClock::start();
    work()?;
    Ok(clock.now().as_secs_f64())
}

fn populate(site: &Site, dir: &Path) -> Result<()> {
    let mut command = Command::new(&site.plimsoll);
    output(command.args(["populate", "web96", "--max-load", "500", "--dir"]).arg(dir)).map(drop)
}

fn dd(file: &Path, bytes: u64) -> Result<()> {
    let mut command = Command::new("dd");
    command.args(["if=/dev/zero", "bs=1M"]).arg(format!("count={}", bytes.div_ceil(BLOCK)));
    run(command.arg(format!("of={}", file.display())).stderr(Stdio::null()))
}

fn bytes_below(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { bytes_below(&entry.path())? } else { about.len() };
    }
    ensure!(0 < bytes, "nothing in `{}`", folder.display());
    Ok(bytes)
}

fn table(bytes: u64, rounds: &[Round]) -> String {
    let over = |value: fn(&Round) -> f64| over(rounds, value);
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
    let ratio = over(|round| round.dd / round.plimsoll);
    format!(
        "\n## Creating a file set\n\n\
        `plimsoll populate web96 --max-load 500` ({:.0} MB) compared with `dd bs=1M` of as many zeros into \
        one file in {BASE}, in \
        turns; neither waits for the disk (no fsync), and earlier writes are on disk when a turn begins. \
        Medians \
        of {} rounds; the ratio is the median of the rounds' ratios.\n\n\
        | Plimsoll, MB/s | dd, MB/s | ratio | bar | |\n|---:|---:|---:|---:|---|\n\
        | {:.0} | {:.0} | {ratio:.3} | ≥ {BAR:.2} | {} |\n",
        bytes as f64 / 1e6,
        rounds.len(),
        rate(over(|round| round.plimsoll)),
        rate(over(|round| round.dd)),
        word(BAR <= ratio),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 MB in 1.25 s beside 1 s, and the same in a slow round: 400 and 500 MB/s, ratio 0.8.
    #[test]
    fn rates_and_their_ratio_are_printed() {
        let round = |plimsoll, dd| Round { plimsoll, dd };
        let text = table(500_000_000, &[round(1.25, 1.0), round(2.5, 2.0), round(1.0, 0.5)]);
        assert!(text.ends_with("| 400 | 500 | 0.800 | ≥ 0.70 | met |\n"), "{text}");
        assert!(table(1, &[round(2.0, 1.0)]).contains("missed"));
    }
}
