//! The files that are served, and where everything lies: in memory.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use crate::shell::run;

/// The one file of 500 bytes, which `webstone-2.0.1` has as well.
const FILE_500: &str = "/file500.html 1 #500\n";

/// A folder in memory with the file sets of both benchmarks.
pub struct Site {
    /// The program that is measured.
    pub plimsoll: PathBuf,
    folder: TempDir,
}

impl Site {
    /// Lays the files out.
    pub fn new(plimsoll: &Path) -> Result<Site> {
        let folder = tempfile::Builder::new().prefix("plimsoll-bench-").tempdir_in("/dev/shm")?;
        let site = Site { plimsoll: plimsoll.to_owned(), folder };
        std::fs::write(site.path("500.filelist"), FILE_500)?;
        for benchmark in ["one-object", "webstone-2.0.1"] {
            let dir = site.path(benchmark);
            run(Command::new(plimsoll).args(["populate", benchmark, "--dir"]).arg(dir))?;
        }
        Ok(site)
    }

    /// Returns the path of something in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
