//! The file set, the origin server, and accelerators in front of it: all in memory.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use model::{FileSet, SetFile};
use tempfile::TempDir;
use testbed::{
    Origin, PopulatedFiles, Recipe, ResourceLimits, RunningSut, SutRequest, SutServer, WebParts, populate,
};

use crate::bench::rounds::{Contender, OURS};
use crate::bench::{LOAD_CPU, SERVER_CPU, nginx, scripts};
use crate::shell::root;

/// The directories of the file set: 488 MiB.
const DIRECTORIES: usize = 100;

/// Time limit for a server to answer.
const READY_MAX: Duration = Duration::from_secs(30);

/// Name of the definition with which Plimsoll requests the mix.
pub(super) const DEFINITION: &str = "mix.toml";
/// Name of the script with which wrk requests the mix.
pub(super) const SCRIPT: &str = "mix.lua";
/// The same script with another random seed.
pub(super) const OTHER_SCRIPT: &str = "other-mix.lua";

/// Files of one size, besides the mix.
pub(super) const SMALL: (&str, u64) = ("/510.bin", 510);
/// As above.
pub(super) const LARGE: (&str, u64) = ("/512000.bin", 512_000);

/// State shared by all turns.
pub(super) struct Fixture {
    /// The program that is measured, and that generates load.
    pub plimsoll: PathBuf,
    /// All files on disk.
    pub files: FileSet,
    populated: PopulatedFiles,
    server: RunningSut,
    folder: TempDir,
}

impl Fixture {
    /// Creates the files and starts nginx as the origin, on the generator's CPU: with a warm cache it is
    /// idle.
    pub(super) fn new(plimsoll: &Path) -> Result<Fixture> {
        let folder = tempfile::Builder::new()
            .prefix("plimsoll-bench-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .tempdir_in("/dev/shm")?;
        let path = |name: &str| folder.path().join(name);
        let definition = definition()?;
        std::fs::write(path(DEFINITION), &definition)?;
        let script = scripts::web96(DIRECTORIES);
        std::fs::write(path(OTHER_SCRIPT), script.replace("randomseed(1)", "randomseed(2)"))?;
        std::fs::write(path(SCRIPT), script)?;
        let files = file_set(&definition)?;
        let populated = populate(&path("files"), &files, |_| {})?;
        let nginx = Box::new(Recipe::load("nginx")?);
        let mut request = request(plimsoll, folder.path(), LOAD_CPU, &files, nginx)?;
        request.web.root = Some(populated.clone());
        let mut server = RunningSut::start(request)?;
        server.wait_ready(READY_MAX)?;
        Ok(Fixture { plimsoll: plimsoll.to_owned(), files, populated, server, folder })
    }

    /// Returns the folder with everything.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the size of the file set, in files and bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.populated.files, self.populated.bytes)
    }

    /// Returns a cache size larger than all files, with any overhead per response.
    pub(super) fn roomy(&self) -> u64 {
        self.populated.bytes + self.populated.bytes / 4 + (64 << 20)
    }

    /// Returns the number of requests received by the origin, including this query.
    pub(super) fn requests_behind(&self) -> Result<u64> {
        nginx::requests(self.server.addr(), "/plimsoll-status")
    }

    /// Starts an accelerator in front of the origin, with every file in its cache as far as it fits. Traffic
    /// Server writes to its disk first and takes into memory what it reads from there, so every file is
    /// requested twice.
    pub(super) fn warm(&self, contender: &Contender, cache_bytes: u64) -> Result<RunningSut> {
        let mut accelerator = self.start(contender, cache_bytes, self.server.addr())?;
        accelerator.warm(&self.files, false)?;
        accelerator.warm(&self.files, false)?;
        Ok(accelerator)
    }

    /// Starts an accelerator in front of an origin, with an empty cache.
    pub(super) fn start(
        &self,
        contender: &Contender,
        cache_bytes: u64,
        origin: SocketAddr,
    ) -> Result<RunningSut> {
        // Builds of Plimsoll have one recipe, whatever they are called.
        let name = contender.program.as_ref().map_or(contender.name, |_| OURS);
        let program = contender.program.as_ref().unwrap_or(&self.plimsoll);
        let recipe = Box::new(Recipe::load_accelerator(name)?);
        let mut request = request(program, self.folder(), SERVER_CPU, &self.files, recipe)?;
        request.web.origin = Some(Origin { address: origin, cache_bytes });
        let mut accelerator = RunningSut::start(request)?;
        accelerator.wait_ready(READY_MAX)?;
        Ok(accelerator)
    }
}

fn request(
    plimsoll: &Path,
    folder: &Path,
    cpu: &str,
    files: &FileSet,
    recipe: Box<Recipe>,
) -> Result<SutRequest> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(SutRequest {
        server: SutServer::Recipe(recipe),
        work_dir: folder.join("work"),
        data_dir: folder.join("data"),
        limits: ResourceLimits { cpus: vec![cpu.parse()?], ..ResourceLimits::default() },
        port: None,
        search_path: std::env::split_paths(&path).collect(),
        profile: None,
        variant: None,
        users: 1,
        web: WebParts { files: Some(files.clone()), ..WebParts::default() },
        program: plimsoll.to_owned(),
    })
}

/// Returns web96 with a file set that does not grow with the load.
fn definition() -> Result<String> {
    let path = root().join("crates/benchmarks/src/web/web96/definition.toml");
    let text = std::fs::read_to_string(path)?;
    Ok(text.replace("\"sqrt(20 * load)\"", &DIRECTORIES.to_string()).replace("\"web96\"", "\"mix\""))
}

/// Returns the files of the definition, and one of each size that is requested alone.
fn file_set(definition: &str) -> Result<FileSet> {
    let no_filelist =
        |_: &str| -> std::io::Result<&[u8]> { Err(std::io::Error::from(std::io::ErrorKind::NotFound)) };
    let benchmark = benchmarks::from_definition(DEFINITION, definition, no_filelist)?;
    let mut files = benchmark.workload.file_set(1.0);
    for (path, bytes) in [SMALL, LARGE] {
        let object = u32::try_from(files.files.len())?;
        files.files.push(SetFile { object, path: path.to_owned(), bytes });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_set_is_that_of_100_directories_whatever_the_load() {
        let files = file_set(&definition().unwrap()).unwrap();
        assert_eq!(files.files.len(), 3602);
        // 100 times the bytes of a directory of web96.
        assert_eq!(files.bytes(), 100 * 5_119_484 + 510 + 512_000);
        let paths: std::collections::HashSet<&str> =
            files.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths.len(), 3602);
    }
}
