//! `cargo xtask`: what the project does to itself.

mod bench;
mod conformance;
mod fuzz;
mod licenses;
mod noise;
mod packages;
mod pdf;
mod properties;
mod published;
mod record;
mod shell;
mod soak;
mod spdx;
mod test;
mod test_binaries;
mod throttles;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::shell::{cargo, run};

const HELP: &str = "\
usage: cargo xtask COMMAND

commands:
  test             everything that has to pass: format, lints, tests, documentation, licenses, one real run
  properties       every property test with many cases that nobody drew before
                   [CRATE] [--cases 4096] [--seed N]
  licenses         the licenses and duplicates of what is linked, against deny.toml
  pdf              the feature `pdf`: builds it (five minutes more), tests it, and looks into the PDF of a run
  bench-generator  CPU per request of Plimsoll, wrk and h2load against the same nginx; schedule; laying out files
                   [--rounds 5] [--seconds 5] [--case NAME]… [--write]  (--write: to docs/bench-generator.md)
  bench-accelerator  CPU per request, delays, hits and memory of Plimsoll's accelerator and of others
                   [--rounds 5] [--seconds 5] [--case NAME]… [--peer NAME]… [--write]  (--write: to
                   docs/bench-accelerator.md)
  soak-accelerator  mixed load with misses, purges, origin restarts, slow and aborted clients, kill -9; every byte
                   is compared, memory is watched  [--minutes 20] [--write]  (--write: to
                   docs/recorded/soak-accelerator.md)
  conformance      the public suite of tests for caches (https://github.com/http-tests/cache-tests) against the
                   accelerator, on Node  --suite DIR [--write]  (--write: to docs/conformance-accelerator.md)
  record           benchmarks with phases of full length against installed servers, to docs/recorded/  [NAME]…
  throttles        servers and generators that are held back on purpose, and what Plimsoll calls it
                   [PART OF A NAME]… [--rounds 1] [--write]  (--write: to docs/recorded/throttles.md)
  published-changes  every cell of the published reports, changed as misprints change it: which part is found
  fuzz             every parser, or one, against bytes that nobody wrote  [TARGET] [--seconds 20]";

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

/// Commands in which xtask itself makes load or compares every byte, and is to be fast.
const FAST: [&str; 3] = ["bench-generator", "bench-accelerator", "soak-accelerator"];

fn perform(arguments: &[&str]) -> Result<()> {
    match arguments {
        [name, ..] if FAST.contains(name) && cfg!(debug_assertions) => {
            let again = ["run", "--release", "--quiet", "--package", "xtask", "--"];
            run(&mut cargo(&[&again, arguments].concat()))
        }
        ["test"] => test::perform(),
        ["properties", options @ ..] => properties::perform(&properties::Options::parse(options)?),
        ["licenses"] => licenses::perform(&[]),
        ["pdf"] => pdf::perform(),
        ["bench-generator", options @ ..] => bench::perform(&bench::Options::parse(options)?),
        ["bench-accelerator", options @ ..] => {
            bench::accelerator::perform(&bench::accelerator::Options::parse(options)?)
        }
        ["soak-accelerator", options @ ..] => soak::perform(&soak::Options::parse(options)?),
        ["conformance", options @ ..] => conformance::perform(&conformance::Options::parse(options)?),
        ["published-changes"] => published::perform(),
        ["record", names @ ..] => record::perform(names),
        ["throttles", options @ ..] => throttles::perform(&throttles::Options::parse(options)?),
        ["fuzz", options @ ..] => fuzz::perform(&fuzz::Options::parse(options)?),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        [other, ..] => bail!("unknown command `{other}`, or arguments that it does not take\n{HELP}"),
    }
}
