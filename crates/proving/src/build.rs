//! The program that is tried: built for release where it is measured.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::shell::{cargo, line, output};

/// Builds `plimsoll` for release and returns its path.
///
/// # Errors
/// The build fails.
pub fn release_binary() -> Result<PathBuf> {
    release_binary_with(&[])
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

/// Builds `plimsoll` for release with more arguments for cargo, such as features, and returns its path.
///
/// # Errors
/// The build fails.
pub fn release_binary_with(arguments: &[&str]) -> Result<PathBuf> {
    let mut build = cargo(&["build", "--release", "--package", "plimsoll"]);
    build.args(arguments);
    executable_of(build)
}

/// Runs a build of `plimsoll` and returns its path.
fn executable_of(mut build: Command) -> Result<PathBuf> {
    build.args(["--message-format", "json"]);
    println!("{}", line(&build));
    // Progress and errors are inherited; the messages contain the path of the program.
    let messages = output(build.stderr(Stdio::inherit()))?;
    for message in messages.lines() {
        let message: serde_json::Value = serde_json::from_str(message).context("cargo's messages")?;
        if let (Some("plimsoll"), Some(path)) =
            (message["target"]["name"].as_str(), message["executable"].as_str())
        {
            return Ok(path.into());
        }
    }
    bail!("cargo did not report the path of `plimsoll`")
}
