//! A Samba that is no server of a run, with a fixture of runs against its share.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use observe::private_folder::private_folder_in;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testbed::{Recipe, RunningSut, SutRequest, SutServer, make_private_folder};

use super::{ExitedCommand, Fixture};

/// Time limit for the server to answer; the machine may be busy.
const READY_MAX: Duration = Duration::from_secs(30);

const RECIPE: &str = include_str!("../../../../../recipes/samba.toml");

/// A line of the recipe, after which further global settings are put.
const MARKER: &str = "map to guest = never\n";

/// A running Samba with its share in memory, and a fixture of runs against it.
pub(crate) struct Samba {
    pub sut: RunningSut,
    pub fixture: Fixture,
    base: TempDir,
}

impl Samba {
    pub(crate) fn start(settings: &str) -> Samba {
        let text = RECIPE.replacen(MARKER, &format!("{MARKER}{settings}\n"), 1);
        assert!(text.len() > RECIPE.len());
        let recipe = Recipe::parse("samba.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
        std::fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
        let folder = || make_private_folder(&private_folder_in(base.path())).unwrap();
        let request = SutRequest::new(SutServer::Recipe(Box::new(recipe)), folder(), folder());
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        Samba { sut, base, fixture: Fixture::new() }
    }

    pub(crate) fn target(&self) -> String {
        format!("smb://plimsoll@{}/plimsoll", self.sut.addr())
    }

    /// Runs a benchmark on the share, with this password.
    pub(crate) fn run_with(&self, password: &str, benchmark: &str, arguments: &[&str]) -> ExitedCommand {
        let target = self.target();
        let arguments = [&["run", benchmark, "--target", &target], arguments].concat();
        let mut command = self.fixture.command(&arguments);
        command.env("PLIMSOLL_PASSWORD", password);
        self.fixture.end(command)
    }

    pub(crate) fn run(&self, benchmark: &str, arguments: &[&str]) -> ExitedCommand {
        self.run_with(self.sut.password(), benchmark, arguments)
    }

    /// Returns the folders of runs that are left in the share.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        self.folders_named("plimsoll-files")
    }

    /// Returns the directory that the share is.
    pub(crate) fn share(&self) -> PathBuf {
        self.folders_named("share").remove(0)
    }

    fn folders_named(&self, name: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        folders_named(name, self.base.path(), &mut found);
        found
    }

    /// Has the share be read only from now on, for sessions that are open, too.
    pub(crate) fn make_read_only(&self) {
        let directory = self.folders_named("ncalrpc").remove(0);
        let config = directory.with_file_name("smb.conf");
        let text = std::fs::read_to_string(&config).unwrap().replace("read only = no", "read only = yes");
        std::fs::write(&config, text).unwrap();
        for message in [&["reload-config"][..], &["close-share", "plimsoll"]] {
            let mut control = Command::new("smbcontrol");
            control.arg(format!("--configfile={}", config.display())).arg("smbd").args(message);
            let output = control.output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    }

    /// Kills all processes of the server.
    pub(crate) fn kill(&self) {
        for process in observe::process::family_of(&self.sut.watched().leaders) {
            let pid = Pid::from_raw(process.pid as i32).expect("a process has a number");
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn folders_named(name: &str, folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|one| one.path())
    {
        if path.file_name().is_some_and(|found| found == name) {
            found.push(path.clone());
        }
        folders_named(name, &path, found);
    }
}
