//! The served files and all other files of the measurement, in memory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use tempfile::TempDir;

use super::LOAD_CPU;
use super::load_tools::PlimsollRun;
use super::scripts;
use crate::shell::{output, root, run};

/// Users or clients where there are few, and connections where each has one.
pub(super) const FEW: u32 = 100;

/// The same where there are many.
pub(super) const MANY: u32 = 10_000;

/// Name of the server's certificate.
pub(super) const CERTIFICATE: &str = "certificate.pem";
/// Name of its key.
pub(super) const KEY: &str = "key.pem";

/// The one file of 500 bytes, which `webstone-2.0.1` has as well.
const FILE_500: &str = "/file500.html 1 #500\n";

/// √(20 · 100), rounded up: the directories of web96 for 100 users.
const DIRECTORIES: usize = 45;

/// A folder in memory with the file sets of the benchmarks, scripts, and a certificate.
pub(super) struct Site {
    /// The program that is measured.
    pub plimsoll: PathBuf,
    folder: TempDir,
}

impl Site {
    /// Creates a folder without files.
    pub(super) fn empty(plimsoll: &Path) -> Result<Site> {
        let folder = tempfile::Builder::new().prefix("plimsoll-bench-").tempdir_in("/dev/shm")?;
        Ok(Site { plimsoll: plimsoll.to_owned(), folder })
    }

    /// Creates the folder with its files.
    pub(super) fn new(plimsoll: &Path) -> Result<Site> {
        let site = Site::empty(plimsoll)?;
        std::fs::write(site.path("500.filelist"), FILE_500)?;
        let list = root().join("crates/benchmarks/src/web/webstone/filelist-2.0.1.txt");
        std::fs::write(site.path(scripts::WEBSTONE), scripts::filelist(&std::fs::read_to_string(list)?)?)?;
        std::fs::write(site.path(scripts::WEB96), scripts::web96(DIRECTORIES))?;
        let most = FEW.to_string();
        for (benchmark, more) in
            [("one-object", None), ("webstone-2.0.1", None), ("web96", Some(["--max-load", &most]))]
        {
            let mut populate = Command::new(plimsoll);
            populate.args(["populate", benchmark]).args(more.iter().flatten());
            run(populate.arg("--dir").arg(site.path(benchmark)))?;
        }
        site.certify()?;
        Ok(site)
    }

    fn certify(&self) -> Result<()> {
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"]);
        command.args(["-days", "30", "-subj", "/CN=localhost", "-keyout", KEY, "-out", CERTIFICATE]);
        output(command.current_dir(self.folder()).stdin(Stdio::null())).map(drop)
    }

    /// Returns a run of Plimsoll in the folder, whose memory is read after a second.
    pub(super) fn run<'a>(&'a self, arguments: &'a str, target: &'a str) -> PlimsollRun<'a> {
        let program = &self.plimsoll;
        let folder = self.folder();
        PlimsollRun {
            program,
            folder,
            environment: &[],
            network: None,
            cpus: LOAD_CPU,
            arguments,
            target,
            look_after: 1.0,
        }
    }

    /// Returns the path of a file in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the folder.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}
