//! The release that packages are named after.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::build::committed_at;
use crate::shell::output;

/// The only architecture for which packages are made and tried.
const ARCHITECTURE: &str = "amd64";

/// A version for an architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Release {
    /// The version of the workspace.
    pub(super) version: String,
    /// Debian's name of the architecture.
    pub(super) architecture: String,
    /// The time of the commit, in seconds since 1970: all files in packages have it, so that they can be made again.
    pub(super) seconds: u64,
    /// The same time, as RFC 3339 has it: `2026-11-30T06:00:00Z`.
    pub(super) date: String,
}

impl Release {
    /// Returns that of this checkout.
    ///
    /// # Errors
    /// This machine has another architecture, or git does not know the commit.
    pub(super) fn of_this_checkout() -> Result<Release> {
        let architecture = output(Command::new("dpkg").arg("--print-architecture"))?.trim().to_owned();
        ensure!(
            architecture == ARCHITECTURE,
            "packages are made and tried on {ARCHITECTURE}, and this machine has {architecture}\n\
             hint: docs/packages.md has a recipe for arm64"
        );
        let seconds = committed_at("unix")?.parse().context("the time of the commit")?;
        let date = committed_at("format-local:%Y-%m-%dT%H:%M:%SZ")?;
        Ok(Release { version: env!("CARGO_PKG_VERSION").to_owned(), architecture, seconds, date })
    }
}
