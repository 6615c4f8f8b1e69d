//! The programs that are handed out, built in three ways.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::build::executable_of;
use crate::shell::cargo;

/// The target of the static build. It is named although it is that of this machine, so that procedural macros and build
/// scripts, which cannot be static, are not built with its flags.
const STATIC_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Largest program without PDF and without the C library, in bytes: 20 MiB.
const PROGRAM_BYTES_MAX: u64 = 20 << 20;

/// A way to build the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuildKind {
    /// With the C library of the system.
    Dynamic,
    /// Without libraries of the system.
    Static,
    /// With the C library of the system, and with PDF.
    WithPdf,
}

/// The two programs of one build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    pub(super) plimsoll: PathBuf,
    pub(super) accelerator: PathBuf,
}

impl Programs {
    /// Builds them.
    ///
    /// # Errors
    /// The build fails, or a program with neither PDF nor the C library is too large.
    pub(super) fn build(kind: BuildKind) -> Result<Programs> {
        let plimsoll = executable_of(cargo(&words(kind).iter().map(String::as_str).collect::<Vec<_>>()))?;
        let accelerator = plimsoll.with_file_name("plimsoll-accelerator");
        if kind == BuildKind::Dynamic {
            require_small(&plimsoll)?;
        }
        Ok(Programs { plimsoll, accelerator })
    }

    /// Returns both paths.
    pub(super) fn paths(&self) -> [&Path; 2] {
        [&self.plimsoll, &self.accelerator]
    }
}

/// Returns the arguments of cargo.
fn words(kind: BuildKind) -> Vec<String> {
    let common = "build --profile packaged --package plimsoll --package plimsoll-accelerator --bins";
    let mut words: Vec<String> = common.split(' ').map(str::to_owned).collect();
    match kind {
        BuildKind::Dynamic => {}
        BuildKind::Static => {
            let flags = format!("target.{STATIC_TARGET}.rustflags=[\"-Ctarget-feature=+crt-static\"]");
            words.extend(["--target", STATIC_TARGET, "--config", &flags].map(str::to_owned));
        }
        BuildKind::WithPdf => words.extend(["--features", "plimsoll/pdf"].map(str::to_owned)),
    }
    words
}

/// Returns the arguments that select the packages of a build for `cargo tree`.
pub(super) fn selection(kind: BuildKind) -> &'static [&'static str] {
    match kind {
        BuildKind::Dynamic | BuildKind::Static => {
            &["--package", "plimsoll", "--package", "plimsoll-accelerator"]
        }
        BuildKind::WithPdf => {
            &["--package", "plimsoll", "--package", "plimsoll-accelerator", "--features", "plimsoll/pdf"]
        }
    }
}

fn require_small(program: &Path) -> Result<()> {
    let bytes = program.metadata().with_context(|| program.display().to_string())?.len();
    ensure!(
        bytes <= PROGRAM_BYTES_MAX,
        "`{}` has {bytes} bytes, more than {PROGRAM_BYTES_MAX}\n\
         hint: make what was added a feature that is not a default one, or optimize it for size in `Cargo.toml`",
        program.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_static_build_names_its_target() {
        let line = |kind| words(kind).join(" ");
        assert!(!line(BuildKind::Dynamic).contains("--target"));
        assert!(line(BuildKind::Static).contains("--target x86_64-unknown-linux-gnu --config target."));
        assert!(line(BuildKind::WithPdf).ends_with("--features plimsoll/pdf"));
    }

    #[test]
    fn a_program_that_is_too_large_is_refused() {
        let program = tempfile::NamedTempFile::new().unwrap();
        program.as_file().set_len(PROGRAM_BYTES_MAX).unwrap();
        assert!(require_small(program.path()).is_ok());
        program.as_file().set_len(PROGRAM_BYTES_MAX + 1).unwrap();
        let error = require_small(program.path()).unwrap_err().to_string();
        assert!(error.contains("has 20971521 bytes") && error.contains("\nhint: "), "{error}");
    }
}
