//! Archives: the static programs for any Linux, and the layer of an image.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::files::write_programs;
use super::licenses;
use super::programs::{BuildKind, Programs};
use super::release::Release;
use crate::shell::{output, run};

/// Makes an archive of the static programs in a folder and returns its path.
///
/// # Errors
/// A file cannot be written.
pub(super) fn make(programs: &Programs, release: &Release, folder: &Path) -> Result<PathBuf> {
    let staging = tempfile::tempdir()?;
    let name = format!("plimsoll-{}-x86_64-linux-static", release.version);
    write_programs(&staging.path().join(&name), programs, &licenses::text(BuildKind::Static)?)?;
    run(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(staging.path()))?;
    let archive = staging.path().join("archive.tar");
    tar(staging.path(), &name, release, &archive)?;
    let path = folder.join(format!("{name}.tar.gz"));
    compress(&archive, &path)?;
    Ok(path)
}

/// Writes an uncompressed archive of something in a folder, the same one for the same content.
///
/// # Errors
/// `tar` fails.
pub(super) fn tar(folder: &Path, name: &str, release: &Release, path: &Path) -> Result<()> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--format=gnu", "--numeric-owner", "--owner=0", "--group=0"]);
    tar.arg(format!("--mtime=@{}", release.seconds)).arg("-cf").arg(path).arg("-C").arg(folder).arg(name);
    output(&mut tar).map(drop)
}

/// Compresses an archive into another file.
///
/// # Errors
/// `gzip` fails, or the file cannot be written.
pub(super) fn compress(archive: &Path, path: &Path) -> Result<()> {
    let compressed = File::create(path).with_context(|| path.display().to_string())?;
    run(Command::new("gzip").args(["-9", "--no-name", "--stdout"]).arg(archive).stdout(compressed))
}
