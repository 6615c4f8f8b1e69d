//! `build-figures`: what a newcomer's build costs, and how large the programs are.

use std::fs;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use units::{Clock, Nanos, RealClock};

use super::{Commit, NEWCOMER, PACKAGED, checked_out, executable_of};
use crate::noise;
use crate::shell::{cargo, output, root, write_page};

/// The page with the table, which ends it.
const PAGE: &str = "docs/build.md";

/// The most CPU time of the newcomer's build, as a multiple of that of the commit before a change.
const RATIO_MAX: f64 = 1.05;

/// Options of `build-figures`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BuildFigureOptions {
    /// The commit before a change.
    against: Option<Commit>,
    /// Adds a row to the page.
    write: bool,
}

impl BuildFigureOptions {
    /// Parses a command line.
    ///
    /// # Errors
    /// Unknown options, one without its value, or no such commit.
    pub fn parse(arguments: &[&str]) -> Result<BuildFigureOptions> {
        match arguments {
            [] => Ok(BuildFigureOptions::default()),
            ["--write"] => Ok(BuildFigureOptions { write: true, ..BuildFigureOptions::default() }),
            ["--against", commit] => {
                Ok(BuildFigureOptions { against: Some(Commit::find(commit)?), write: false })
            }
            other => bail!("expected `--write` or `--against COMMIT`, found `{}`", other.join(" ")),
        }
    }
}

/// The cost of one build, from an empty target folder.
struct BuildCost {
    /// User and system time of all its processes.
    cpu: Nanos,
    wall: Nanos,
    /// Size of the program.
    bytes: u64,
}

/// Measures the builds and prints the row of the page; or, against another commit, only the newcomer's of both.
///
/// # Errors
/// A build fails, or the newcomer's takes too much more CPU time than that of the other commit.
pub fn perform(options: &BuildFigureOptions) -> Result<()> {
    let Some(other) = &options.against else { return table_row(options.write) };
    let seconds = |build| Ok::<_, anyhow::Error>(cost_of(build)?.cpu.as_secs_f64());
    let before = seconds(other.newcomers_build()?)?;
    let now = seconds(cargo(&NEWCOMER))?;
    println!("{before:.0} s of CPU time before, {now:.0} s now, ratio {:.3}", now / before);
    require_small_addition(before, now)
}

/// Measures both builds of this checkout.
fn table_row(is_written: bool) -> Result<()> {
    let newcomer = cost_of(cargo(&NEWCOMER))?;
    let packaged = cost_of(cargo(&PACKAGED))?;
    let date = output(Command::new("git").args(["show", "-s", "--format=%cs"]).current_dir(root()))?;
    let row = row(date.trim(), &checked_out(), &newcomer, &packaged);
    print!("{row}");
    if is_written {
        write_page(PAGE, &(fs::read_to_string(root().join(PAGE))? + &row))?;
    }
    Ok(())
}

/// Builds in an empty folder.
fn cost_of(mut build: Command) -> Result<BuildCost> {
    let folder = root().join("target/build-figures");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    build.arg("--target-dir").arg(&folder);
    let clock = RealClock::start();
    let cpu = noise::own()?;
    let program = executable_of(build)?;
    let cpu = noise::own()?.saturating_sub(cpu);
    let wall = clock.now();
    let bytes = fs::metadata(program)?.len();
    fs::remove_dir_all(&folder)?;
    Ok(BuildCost { cpu, wall, bytes })
}

/// Returns a row of the table.
fn row(date: &str, commit: &str, newcomer: &BuildCost, packaged: &BuildCost) -> String {
    let seconds = |time: Nanos| format!("{:.0}", time.as_secs_f64());
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let cells = [
        date.to_owned(),
        commit.to_owned(),
        seconds(newcomer.cpu),
        seconds(newcomer.wall),
        megabytes(newcomer.bytes),
        seconds(packaged.cpu),
        megabytes(packaged.bytes),
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn require_small_addition(before: f64, now: f64) -> Result<()> {
    ensure!(
        now <= before * RATIO_MAX,
        "the newcomer's build takes {now:.0} s of CPU time, more than {RATIO_MAX} times the {before:.0} s before\n\
         hint: make what was added a feature that is not a default one"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_seconds_and_megabytes() {
        let cost = |cpu, wall, bytes| BuildCost {
            cpu: Nanos::from_millis(cpu),
            wall: Nanos::from_millis(wall),
            bytes,
        };
        let text =
            row("2026-11-29", "abc", &cost(250_400, 140_600, 26_878_576), &cost(700_000, 1, 19_960_000));
        assert_eq!(text, "| 2026-11-29 | abc | 250 | 141 | 26.9 | 700 | 20.0 |\n");
    }

    #[test]
    fn an_addition_of_more_than_five_percent_is_refused() {
        assert!(require_small_addition(200.0, 210.0).is_ok());
        let error = require_small_addition(200.0, 211.0).unwrap_err().to_string();
        assert!(error.starts_with("the newcomer's build takes 211 s"), "{error}");
    }

    #[test]
    fn what_is_written_is_about_this_checkout_alone() {
        assert_eq!(
            BuildFigureOptions::parse(&["--write"]).unwrap(),
            BuildFigureOptions { write: true, against: None }
        );
        let error = BuildFigureOptions::parse(&["--against", "main", "--write"]).unwrap_err().to_string();
        assert!(error.starts_with("expected `--write` or `--against COMMIT`"), "{error}");
    }

    /// A row is added behind the last one.
    #[test]
    fn the_table_ends_the_page() {
        let page = fs::read_to_string(root().join(PAGE)).unwrap();
        let last = page.lines().last().unwrap_or_default();
        assert!(page.ends_with("|\n") && last.split('|').count() == 9, "{last}");
    }
}
