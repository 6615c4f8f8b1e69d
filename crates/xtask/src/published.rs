//! `cargo xtask published-changes`: every cell of the published reports, changed like misprints.

use anyhow::Result;
use proving::shell::{cargo, run};

/// The variable that selects all changes instead of a sample.
const ALL: &str = "PLIMSOLL_PUBLISHED_CHANGES";

/// Makes every change, and prints which share of those that contradict the report is found, and which are
/// missed.
pub(crate) fn perform() -> Result<()> {
    let test = "mutations::changes_that_contradict_something_printed_are_found";
    let arguments = [
        "test",
        "--profile",
        "packaged",
        "-p",
        "published",
        "--test",
        "published",
        "--",
        "--exact",
        test,
        "--nocapture",
    ];
    run(cargo(&arguments).env(ALL, "1"))
}
