//! Creation of a file set compared with the write speed of the file system.
//!
//! `dd` writes as many bytes of zeros into one file. Neither waits for the disk: the comparison is about
//! generating the bytes and passing them to the kernel, thousands of files against one. Earlier writes are on
//! disk when a turn begins.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::bench::figures::{Bar, median, median_of_both, seconds_of};
use crate::bench::options::BenchOptions;
use crate::bench::rounds::{Contender, MeasuredRounds, OURS, in_rounds};
use crate::bench::site::Site;
use crate::shell::{output, run};

/// The minimum share of dd's rate.
const BAR: Bar = Bar::AtLeast(0.70);

/// The name of the measurement, and that of the other program.
const CASE: &str = "populate";
const DD: &str = "dd";

/// The default location of file sets, too: a file system that is not in memory.
const BASE: &str = "/var/tmp";

/// 1 MiB, dd's `bs=1M`.
const BLOCK: u64 = 1 << 20;

/// Runs the measurement and returns the table.
pub(super) fn perform(site: &Site, options: &BenchOptions) -> Result<String> {
    let folder = tempfile::Builder::new().prefix("plimsoll-bench-").tempdir_in(BASE)?;
    // The first time determines the size, and is not measured.
    populate(site, &folder.path().join("files"))?;
    let bytes = bytes_below(folder.path())?;
    // Everything stays until the end: ext4 searches for inodes that were not deleted in the last seconds,
    // which would cost the files of a round as much as writing them.
    let mut n_turns = 0;
    let contenders = vec![Contender::build(OURS, &site.plimsoll), Contender::peer(DD)];
    let text = |_, seconds: &f64| format!("{seconds:.2} s");
    let measured = in_rounds(options.rounds, &[(CASE, contenders)], text, |_, contender| {
        n_turns += 1;
        let path = folder.path().join(format!("{}-{n_turns}", contender.name));
        run(&mut Command::new("sync"))?;
        let seconds = match &contender.program {
            Some(_) => seconds_of(|| populate(site, &path)),
            None => seconds_of(|| dd(&path, bytes)),
        };
        seconds.map(Some)
    })?;
    table(bytes, &measured).context("no rounds")
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

fn table(bytes: u64, measured: &MeasuredRounds<f64>) -> Option<String> {
    let ours = measured.ours(CASE);
    let theirs = measured.of(CASE, DD);
    let rate = |rounds| Some(bytes as f64 / 1e6 / median(rounds, |seconds: &f64| *seconds)?);
    let ratio = median_of_both(ours, theirs, |ours, theirs| theirs / ours)?;
    Some(format!(
        "\n## Creating a file set\n\n\
        `plimsoll populate web96 --max-load 500` ({:.0} MB) compared with `dd bs=1M` of as many zeros into \
        one file in {BASE}, in \
        turns; neither waits for the disk (no fsync), and earlier writes are on disk when a turn begins. \
        Medians \
        of {} rounds; the ratio is the median of the rounds' ratios.\n\n\
        | Plimsoll, MB/s | dd, MB/s | ratio | bar | |\n|---:|---:|---:|---:|---|\n\
        | {:.0} | {:.0} | {ratio:.3} | {BAR:.2} | {} |\n",
        bytes as f64 / 1e6,
        ours.len(),
        rate(ours)?,
        rate(theirs)?,
        BAR.judge(ratio),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 MB in 1.25 s beside 1 s, and the same in a slow round: 400 and 500 MB/s, ratio 0.8.
    #[test]
    fn rates_and_their_ratio_are_printed() {
        let of = |ours: &[f64], dd: &[f64]| MeasuredRounds::by_hand(&[(CASE, OURS, ours), (CASE, DD, dd)]);
        let text = table(500_000_000, &of(&[1.25, 2.5, 1.0], &[1.0, 2.0, 0.5])).unwrap();
        assert!(text.ends_with("| 400 | 500 | 0.800 | ≥ 0.70 | met |\n"), "{text}");
        assert!(table(1, &of(&[2.0], &[1.0])).unwrap().contains("missed"));
    }
}
