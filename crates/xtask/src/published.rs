//! `cargo xtask published-changes`: every cell of the published reports, changed as misprints change it.

use anyhow::Result;

use crate::shell::{cargo, run};

/// Asks the test for all changes instead of a sample.
const ALL: &str = "PLIMSOLL_PUBLISHED_CHANGES";

/// Makes every change, and prints which part of those that contradict something printed is found, and what is missed.
pub fn perform() -> Result<()> {
    let test = "mutations::changes_that_contradict_something_printed_are_found";
    let arguments =
        ["test", "--release", "-p", "analysis", "--test", "published", "--", "--exact", test, "--nocapture"];
    run(cargo(&arguments).env(ALL, "1"))
}
