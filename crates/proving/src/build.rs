//! The program that is measured: built for release.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::shell::{cargo, line, output};

/// Arguments of cargo that build the program of README's first command.
pub const RELEASE: [&str; 4] = ["build", "--release", "--package", "plimsoll"];

/// Builds `plimsoll` for release and returns its path.
///
/// # Errors
/// The build fails.
pub fn release_binary() -> Result<PathBuf> {
    release_binary_with(&[])
}

/// Builds `plimsoll` for release with more arguments for cargo, such as features, and returns its path.
///
/// # Errors
/// The build fails.
pub fn release_binary_with(arguments: &[&str]) -> Result<PathBuf> {
    let mut build = cargo(&RELEASE);
    build.args(["--message-format", "json"]).args(arguments);
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
