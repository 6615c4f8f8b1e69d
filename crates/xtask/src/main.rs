//! `cargo xtask`: tasks of the project itself.

mod checkout;
mod fleet_faults;
mod fuzz;
mod licenses;
mod pdf;
mod properties;
mod published;
mod spdx;
mod test;
mod test_binaries;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use proving::build::{Commit, figures, packaged_binary};
use proving::shell::{cargo, run};
use proving::{bench, compare_alarms, conformance, examples, packaging, record, soak, throttles};

const HELP: &str = "\
usage: cargo xtask COMMAND

commands:
  test             all checks: format, lints, tests, documentation, licenses, one real run
  properties       every property test with many new random cases
                   [CRATE] [--cases 4096] [--seed N]
  licenses         licenses and duplicates of linked packages, checked against deny.toml
  pdf              builds and tests the feature `pdf` (five extra minutes), and inspects the PDF of a run
  package          a package for Debian, an archive of static programs and a container image, made and tried, to
                   target/packages  [--pdf] [--untried] [--write]  (--pdf: also the package plimsoll-pdf; --untried: made
                   only; --write: to docs/recorded/packages.md)
  packaged-binary  builds the program like a package, as it is measured, and prints its path; that of another commit
                   with the profiles of this checkout  [COMMIT]
  build-figures    CPU time and size of a newcomer's build, and of a package  [--write]  (--write: to docs/build.md)
                   [--against COMMIT]  (the newcomer's build of both; fails above 1.05 of its CPU time)
  bench-generator  CPU per request of Plimsoll, wrk and h2load against the same nginx; punctuality; creating files
                   [--rounds 5] [--seconds 5] [--case NAME]… [--write]  (--write: to docs/bench-generator.md)
                   [--binary PLIMSOLL]  (this program instead of a build of this checkout)
                   [--against COMMIT|BINARY]  (in turns with another build of Plimsoll; fails above 1.03 of its CPU
                   time)
  bench-accelerator  CPU per request, response times, hits and memory of Plimsoll's accelerator and others
                   [--rounds 5] [--seconds 5] [--case NAME]… [--peer NAME]… [--write]  (--write: to
                   docs/bench-accelerator.md)  [--binary PLIMSOLL] [--against COMMIT|BINARY]  (likewise)
  bench-application  CPU per small transaction of the application server and of its load, compared with requests of
                   the same size to nginx; memory per session
                   [--rounds 9] [--seconds 4] [--case NAME]… [--write]  (--write: to docs/bench-application.md)
                   [--binary PLIMSOLL] [--against COMMIT|BINARY]  (likewise)
  bench-orders     CPU per exchange of terminals on PostgreSQL and MariaDB, beside pgbench and sysbench; memory per
                   user; loading compared with that of files, and with restoring
                   [--rounds 5] [--seconds 5] [--case NAME]… [--write]  (--write: to docs/bench-orders.md)
                   [--binary PLIMSOLL] [--against COMMIT|BINARY]  (likewise)
  bench-files      CPU per operation of a captured mix on a directory, beside dbench, and on Samba, beside smbtorture
                   [--rounds 3] [--seconds 20] [--case NAME]… [--write]  (--write: to docs/bench-files.md)
                   [--binary PLIMSOLL] [--against COMMIT|BINARY]  (likewise)
  bench-fail-if    how often `compare --fail-if` fails identical code, and how often it finds a slower server
                   [--rounds 20] [--seconds 10] [--case NAME]… [--binary PLIMSOLL] [--write]  (rounds: pairs;
                   --write: the tables of docs/ci.md)
  compare-alarms   how often `run --compare` calls identical servers different, and how often it finds one that is 5 %
                   slower; an hour  [--rounds 20] [--steady SECONDS] [--binary PLIMSOLL] [--write]  (--write: to
                   docs/recorded/compare-alarms.md)
  soak-accelerator  mixed load with misses, purges, origin restarts, slow and aborted clients, kill -9; every byte
                   is compared, memory is monitored  [--minutes 20] [--write]  (--write: to
                   docs/recorded/soak-accelerator.md)
  conformance      the public test suite for HTTP caches (https://github.com/http-tests/cache-tests) against the
                   accelerator, on Node  --suite DIR [--write]  (--write: to docs/conformance-accelerator.md)
  record           runs of benchmarks, most with full-length phases, to docs/recorded/  [NAME]…
  examples         the run and the picture of the README, and the reports of docs/examples, from this build; half an
                   hour on a quiet machine  [readme | campaign | accelerator]…
  throttles        servers and generators that are throttled on purpose, and the bottleneck that Plimsoll reports
                   [PART OF A NAME]… [--rounds 1] [--write]  (--write: to docs/recorded/throttles.md)
                   [--brief]  (as the test command does: all of them and the kept cases of the sample, several at a time)
                   --sample: 120 cases, most with servers that Plimsoll did not start, each with a proof; those that
                   are not recorded yet  [PART OF A NAME]… [--seed 18] [--part K/N] [--minutes 60]
                   [--record target/throttle-sample-18.jsonl] [--binary PLIMSOLL]  [--write]  (--write: only writes
                   docs/recorded/throttle-sample-18.md and the record beside it)  [--kept]  (only those that the test command
                   tries)  [--moving]  (servers whose throttle is replaced while the run goes on, instead of the 120;
                   to docs/recorded/throttle-moving.md)
  fleet-faults     load agents whose network is interrupted for 30 s or too slow, and whose controller is killed
                   meanwhile; four minutes, as root
  published-changes  changes every cell of the published reports like a misprint: which share is detected
  fuzz             every parser, or one, against arbitrary bytes  [TARGET] [--seconds 20]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match perform(&arguments.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Commands in which this process itself generates load, loads rows or compares every byte, and must be fast.
const FAST: [&str; 4] = ["bench-generator", "bench-accelerator", "bench-orders", "soak-accelerator"];

fn perform(arguments: &[&str]) -> Result<()> {
    match arguments {
        [name, ..] if FAST.contains(name) && cfg!(debug_assertions) => {
            let again = ["run", "--profile", "packaged", "--quiet", "--package", "xtask", "--"];
            run(&mut cargo(&[&again, arguments].concat()))
        }
        ["test"] => test::perform(),
        ["properties", options @ ..] => properties::perform(&properties::PropertyOptions::parse(options)?),
        ["licenses"] => licenses::perform(&[]),
        ["pdf"] => pdf::perform(),
        ["package", options @ ..] => packaging::perform(&packaging::PackageOptions::parse(options)?),
        ["packaged-binary"] => print_path(packaged_binary()),
        ["packaged-binary", commit] => {
            print_path(Commit::find(commit).and_then(|commit| commit.packaged_binary()))
        }
        ["build-figures", options @ ..] => figures::perform(&figures::BuildFigureOptions::parse(options)?),
        ["compare-alarms", options @ ..] => {
            compare_alarms::perform(&compare_alarms::CompareAlarmOptions::parse(options)?)
        }
        ["soak-accelerator", options @ ..] => soak::perform(&soak::SoakOptions::parse(options)?),
        ["conformance", options @ ..] => {
            conformance::perform(&conformance::ConformanceOptions::parse(options)?)
        }
        ["fleet-faults"] => fleet_faults::perform(),
        ["published-changes"] => published::perform(),
        ["record", names @ ..] => record::perform(names),
        ["examples", names @ ..] => examples::perform(names),
        ["throttles", "--sample", options @ ..] => {
            throttles::sample::perform(&throttles::sample::SampleOptions::parse(options)?)
        }
        ["throttles", options @ ..] => throttles::perform(&throttles::ThrottleOptions::parse(options)?),
        ["fuzz", options @ ..] => fuzz::perform(&fuzz::FuzzOptions::parse(options)?),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        [name, options @ ..] => match bench::command(name) {
            Some(bench) => bench(options),
            None => bail!("unknown command `{name}`, or unsupported arguments\n{HELP}"),
        },
    }
}

/// Prints the path of a program that was built.
fn print_path(program: Result<PathBuf>) -> Result<()> {
    println!("{}", program?.display());
    Ok(())
}
