//! Benchmarks of Plimsoll itself: what its load generator, its accelerator and its servers cost, beside others.
//!
//! Each is data and a function that performs one turn. What they have in common:
//!
//! - `options`: the command line
//! - `harness`: a measurement of cases, from its options to its page
//! - `rounds`: turns in changing order, and their costs; `against`: two builds of Plimsoll in turns
//! - `figures`: columns, medians, comparisons and bars of the tables; `machine`: the table of programs
//! - `load_tools`, `nginx`, `process`, `scripts`, `site`: what takes turns, and what it needs
//!
//! The server has CPU 0, and the load generators take turns on CPU 1.

mod accelerator;
mod against;
mod application;
mod fail_if;
mod figures;
mod files;
mod generator;
mod harness;
mod load_tools;
pub(crate) mod machine;
mod nginx;
mod options;
mod orders;
pub(crate) mod process;
mod rounds;
mod scripts;
mod site;

use anyhow::{Result, ensure};

use self::accelerator::AcceleratorMeasurement;
use self::application::ApplicationMeasurement;
use self::fail_if::FailIfMeasurement;
use self::files::FileMeasurement;
use self::generator::GeneratorMeasurement;
use self::harness::{Measurement, perform};
use self::orders::OrderMeasurement;

/// CPU of the server.
const SERVER_CPU: &str = "0";
/// CPU of the generators.
const LOAD_CPU: &str = "1";

/// The maximum number of connections, and a reserve for those of the previous turn that are still closing.
const OPEN_FILES_MIN: u64 = 16_000;

/// A command: it is given its options.
pub type BenchCommand = fn(&[&str]) -> Result<()>;

/// All commands by their names.
const COMMANDS: [(&str, BenchCommand); 6] = [
    (GeneratorMeasurement::NAME, perform::<GeneratorMeasurement>),
    (AcceleratorMeasurement::NAME, perform::<AcceleratorMeasurement>),
    (ApplicationMeasurement::NAME, perform::<ApplicationMeasurement>),
    (OrderMeasurement::NAME, perform::<OrderMeasurement>),
    (FileMeasurement::NAME, perform::<FileMeasurement>),
    (FailIfMeasurement::NAME, perform::<FailIfMeasurement>),
];

/// Returns the command of a name, such as `bench-generator`.
pub fn command(name: &str) -> Option<BenchCommand> {
    COMMANDS.iter().find(|(one, _)| *one == name).map(|(_, command)| *command)
}

/// Raises the limit on open files, which must be enough for all cases.
fn require_open_files() -> Result<()> {
    let (_, raised) = units::raise_open_files();
    ensure!(
        OPEN_FILES_MIN <= raised,
        "expected a limit of {OPEN_FILES_MIN} open files, found {raised}\nhint: `ulimit -Hn {OPEN_FILES_MIN}` as root",
    );
    Ok(())
}
