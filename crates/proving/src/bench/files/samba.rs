//! Samba by its recipe, with its files in memory, on the server's CPU.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use observe::private_folder::private_folder_in;
use tempfile::TempDir;
use testbed::{Recipe, ResourceLimits, RunningSut, SutRequest, SutServer, WebParts, make_private_folder};

use crate::bench::SERVER_CPU;
use crate::shell::root;

/// User and share of the recipe.
pub(super) const USER: &str = "plimsoll";

/// A line of the recipe, and the one that is put behind it: smbtorture speaks SMB1.
const BEFORE: &str = "map to guest = never\n";
const OLD_DIALECT: &str = "server min protocol = NT1\n";

/// The longest that the server takes to answer.
const READY_MAX: Duration = Duration::from_secs(30);

/// A running server, which ends when it is dropped.
pub(super) struct Samba {
    sut: RunningSut,
    _folder: TempDir,
}

impl Samba {
    /// Starts a server without files.
    pub(super) fn start() -> Result<Samba> {
        let recipe = fs::read_to_string(root().join("recipes/samba.toml"))?;
        ensure!(recipe.contains(BEFORE), "expected `{}` in the recipe of Samba", BEFORE.trim());
        let recipe = recipe.replacen(BEFORE, &format!("{BEFORE}{OLD_DIALECT}"), 1);
        let recipe = Recipe::parse("samba.toml", &recipe)?;
        // The server's own account has to reach its data.
        let open = Permissions::from_mode(0o755);
        let folder = tempfile::Builder::new().permissions(open).tempdir_in("/dev/shm")?;
        let private = |name: &str| -> Result<PathBuf> {
            let path = folder.path().join(name);
            fs::create_dir(&path)?;
            Ok(make_private_folder(&private_folder_in(&path))?)
        };
        let request = SutRequest {
            server: SutServer::Recipe(Box::new(recipe)),
            work_dir: private("work")?,
            data_dir: private("data")?,
            limits: ResourceLimits { cpus: vec![SERVER_CPU.parse()?], ..ResourceLimits::default() },
            port: None,
            search_path: Vec::new(),
            profile: None,
            variant: None,
            users: 1,
            web: WebParts::default(),
            program: PathBuf::new(),
        };
        let mut sut = RunningSut::start(request)?;
        sut.wait_ready(READY_MAX)?;
        Ok(Samba { sut, _folder: folder })
    }

    /// Returns the share for `--target`.
    pub(super) fn target(&self) -> String {
        format!("smb://{USER}@{}/{USER}", self.sut.addr())
    }

    /// Returns the port on the loopback interface.
    pub(super) fn port(&self) -> u16 {
        self.sut.addr().port()
    }

    /// Returns the password of the user.
    pub(super) fn password(&self) -> &str {
        self.sut.password()
    }
}
