//! The program that is tried: built like a package where it is measured.
//!
//! - [`packaged_binary`]: of this checkout; [`Commit::packaged_binary`]: of another commit, with the same profiles
//! - [`figures`]: what the builds cost
//! - [`linked_packages`]: the crates in a program

mod commit;
pub mod figures;
mod linked;
mod profiles;

pub use commit::Commit;
pub(crate) use commit::{checked_out, committed_at};
pub use linked::{LinkedPackage, linked_packages};

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell::{cargo, line, output};

/// The build of a newcomer: `cargo run --release` does it.
const NEWCOMER: [&str; 4] = ["build", "--release", "--bin", "plimsoll"];

/// The build that is handed out and measured.
const PACKAGED: [&str; 5] = ["build", "--profile", "packaged", "--bin", "plimsoll"];

/// Builds `plimsoll` like a package and returns its path.
///
/// # Errors
/// The build fails.
pub fn packaged_binary() -> Result<PathBuf> {
    packaged_binary_with(&[])
}

/// Builds `plimsoll` like a package with more arguments for cargo, such as features, and returns its path.
///
/// # Errors
/// The build fails.
pub(crate) fn packaged_binary_with(arguments: &[&str]) -> Result<PathBuf> {
    executable_of(cargo(&[&PACKAGED, arguments].concat()))
}

/// The features of development builds: the protocol family that only tests have. All of them have the same ones, so that
/// nothing is built twice (`.cargo/config.toml` has them for this command).
pub const DEVELOPMENT_FEATURES: [&str; 2] = ["--features", "plimsoll/echo,xtask/echo"];

/// Builds `plimsoll` as its tests do and returns its path. What all its requests go through is optimized.
///
/// # Errors
/// The build fails.
pub fn development_binary() -> Result<PathBuf> {
    executable_of(cargo(&[&["build", "--bin", "plimsoll"], &DEVELOPMENT_FEATURES[..]].concat()))
}

/// Runs a build of `plimsoll` and returns its path.
///
/// # Errors
/// The build fails.
pub fn executable_of(build: Command) -> Result<PathBuf> {
    executable_named(build, "plimsoll")
}

/// Runs a build and returns the path of the program of this name in it.
///
/// # Errors
/// The build fails, or has no such program.
pub(crate) fn executable_named(mut build: Command, name: &str) -> Result<PathBuf> {
    build.args(["--message-format", "json"]);
    // Not to standard output, on which `cargo xtask packaged-binary` prints the path alone.
    eprintln!("{}", line(&build));
    // Progress and errors are inherited; the messages contain the path of the program.
    let messages = output(build.stderr(Stdio::inherit()))?;
    for message in messages.lines() {
        let message: serde_json::Value = serde_json::from_str(message).context("cargo's messages")?;
        let path = message["executable"].as_str().filter(|_| message["target"]["name"] == name);
        if let Some(path) = path {
            return Ok(path.into());
        }
    }
    bail!("cargo did not report the path of `{name}`")
}
