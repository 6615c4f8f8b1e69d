//! The benchmarks of file servers on an export of NFS-Ganesha, and refusals.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use observe::private_folder::private_folder_in;
use tempfile::TempDir;
use testbed::{Recipe, ResourceLimits, RunningSut, SutRequest, SutServer, WebParts, make_private_folder};

use crate::support::{ExitedCommand, Fixture};

/// Time limit for the server to answer; the machine may be busy.
const READY_MAX: Duration = Duration::from_secs(30);

/// A load point of two seconds with small workspaces.
const SHORT: [&str; 9] =
    ["--quick", "--load", "2", "--duration", "2", "--set", "workspace=15 MiB", "--monitor", "off"];

/// A running server, and a fixture of runs against it.
struct Ganesha {
    sut: RunningSut,
    base: TempDir,
    fixture: Fixture,
}

impl Ganesha {
    fn start() -> Ganesha {
        let is_root = rustix::process::geteuid().is_root();
        let text = if is_root {
            include_str!("../../../../recipes/ganesha.toml")
        } else {
            include_str!("../../../../recipes/ganesha-memory.toml")
        };
        let recipe = Recipe::parse("ganesha.toml", text).unwrap_or_else(|error| panic!("{error}"));
        let base = tempfile::tempdir_in("/var/tmp").unwrap();
        std::fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
        let folder = || make_private_folder(&private_folder_in(base.path())).unwrap();
        let request = SutRequest {
            server: SutServer::Recipe(Box::new(recipe)),
            work_dir: folder(),
            data_dir: folder(),
            limits: ResourceLimits::default(),
            port: None,
            search_path: Vec::new(),
            profile: None,
            variant: None,
            users: 1,
            web: WebParts::default(),
            program: PathBuf::new(),
        };
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        Ganesha { sut, base, fixture: Fixture::new() }
    }

    fn run(&self, path: &str, benchmark: &str, arguments: &[&str]) -> ExitedCommand {
        let target = format!("nfs://{}/{path}", self.sut.addr());
        self.fixture.run(&[&["run", benchmark, "--target", &target], &SHORT[..], arguments].concat())
    }
}

/// Returns whether there is a folder of this name below another.
fn has_folder(name: &str, folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).any(|path| path.ends_with(name) || has_folder(name, &path))
}

/// Goal: the Disk Mix runs over NFS 4.1, and its report says so; each run makes its folder, which goes with it.
#[test]
fn an_export_is_loaded_and_nothing_is_left() {
    let ganesha = Ganesha::start();
    for out in ["one.plim", "other.plim"] {
        ganesha.run("plimsoll", "netbench", &["--out", out]).assert_run();
        let report = ganesha.fixture.report(&ganesha.fixture.path(out));
        let point = &report["load_points"][0];
        assert_eq!(point["total"]["errors"], 0, "{point}");
        assert!(0.0 < point["score"].as_f64().unwrap());
        let checks = point["checks"].as_array().unwrap();
        assert!(checks.len() == 2 && checks.iter().all(|check| check["holds"] == true), "{point}");
        assert!(!has_folder("plimsoll-files", ganesha.base.path()));
    }
    let fixture = &ganesha.fixture;
    let html = fixture.run(&["report", "one.plim", "--out", "-"]).expect(0).stdout;
    for text in ["NFS 4.1, a session of each client", "AUTH_SYS, user"] {
        assert!(html.contains(text), "{text}");
    }

    let refused = |path: &str, benchmark: &str, more: &[&str], code: i32, error: &str, hint: &str| {
        let arguments = [&["--out", "x.plim"], more].concat();
        let ended = ganesha.run(path, benchmark, &arguments).expect(code);
        ended.expect_stderr(error).expect_stderr(hint);
        assert!(!fixture.path("x.plim").exists());
    };
    refused("none", "netbench", &[], 4, "the server has no `none` to work in", "hint: `showmount -e`");
    let other = ["--set", "dialect=3.1.1"];
    refused("plimsoll", "netbench", &other, 2, "applies to `transport=smb`", "hint: leave `dialect` out");
    let contradiction = "which contradicts `transport=directory`";
    refused(
        "plimsoll",
        "netbench",
        &["--set", "transport=directory"],
        2,
        contradiction,
        "follows from the server",
    );
    let arguments = ["run", "netbench", "--quick", "--set", "transport=nfs", "--out", "x.plim"];
    let ended = fixture.run(&arguments).expect(2);
    ended.expect_stderr("`transport=nfs` applies to an export").expect_stderr("hint: name an export");
}

/// Goal: a run starts the server, fills its export, and says what was agreed upon. Only root can start it.
#[test]
fn ganesha_is_started_by_a_run() {
    let fixture = Fixture::new();
    let arguments = ["run", "netbench", "--sut", "ganesha"];
    let more = ["--settle", "0.3", "--ramp-up", "0.2", "--out", "x.plim"];
    let ended = fixture.run(&[&arguments[..], &SHORT, &more].concat());
    if !rustix::process::geteuid().is_root() {
        ended.expect(4).expect_stderr("can be started by root only");
        return;
    }
    ended.assert_run();
    let file = fixture.path("x.plim");
    let point = &fixture.report(&file)["load_points"][0];
    assert_eq!(point["total"]["errors"], 0, "{point}");
    let fact = |section: &str, name: &str| fixture.fact(&file, section, name).unwrap_or_default();
    assert_eq!(fact("Session", "dialect"), "NFS 4.1");
    assert_eq!(
        fact("Tuning by this run", "page cache"),
        "emptied of the clients’ files before each load point"
    );
}
