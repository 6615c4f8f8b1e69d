//! The benchmarks of file servers on a share of Samba: dialects and protection of messages in turns, and refusals.

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

const RECIPE: &str = include_str!("../../../../recipes/samba.toml");

/// A line of the recipe, after which further global settings are put.
const MARKER: &str = "map to guest = never\n";

/// A load point of two seconds with small workspaces.
const SHORT: [&str; 9] =
    ["--quick", "--load", "2", "--duration", "2", "--set", "workspace=15 MiB", "--monitor", "off"];

/// A running Samba with its data in memory, and a fixture of runs against it.
struct Samba {
    sut: RunningSut,
    base: TempDir,
    fixture: Fixture,
}

impl Samba {
    fn start(settings: &str) -> Samba {
        let text = RECIPE.replacen(MARKER, &format!("{MARKER}{settings}\n"), 1);
        assert!(text.len() > RECIPE.len());
        let recipe = Recipe::parse("samba.toml", &text).unwrap_or_else(|error| panic!("{error}"));
        let base = tempfile::tempdir_in("/dev/shm").unwrap();
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
            web: WebParts::default(),
            program: PathBuf::new(),
        };
        let mut sut = RunningSut::start(request).unwrap_or_else(|error| panic!("{error}"));
        sut.wait_ready(READY_MAX).unwrap_or_else(|error| panic!("{error}"));
        Samba { sut, base, fixture: Fixture::new() }
    }

    fn target(&self) -> String {
        format!("smb://plimsoll@{}/plimsoll", self.sut.addr())
    }

    /// Runs a benchmark on the share, with this password.
    fn run_with(&self, password: &str, benchmark: &str, arguments: &[&str]) -> ExitedCommand {
        let target = self.target();
        let arguments = [&["run", benchmark, "--target", &target], arguments].concat();
        let mut command = self.fixture.command(&arguments);
        command.env("PLIMSOLL_PASSWORD", password);
        self.fixture.end(command)
    }

    fn run(&self, benchmark: &str, arguments: &[&str]) -> ExitedCommand {
        self.run_with(self.sut.password(), benchmark, arguments)
    }

    /// Returns the folders of runs that are left in the share.
    fn left(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        folders_named("plimsoll-files", self.base.path(), &mut found);
        found
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

/// Goal: signatures are compared in one run, on one folder of the share, which goes with it; what is recorded says how
/// messages were protected, and has no password.
#[test]
fn signing_takes_turns_on_a_share_and_nothing_is_left() {
    let samba = Samba::start("");
    let turns = ["--set", "signing=off,on", "--out", "turns"];
    samba.run("netbench", &[&SHORT[..], &turns].concat()).assert_run();
    assert_eq!(samba.left(), Vec::<PathBuf>::new());
    let fixture = &samba.fixture;
    let html = std::fs::read_to_string(fixture.path("turns/comparison.html")).unwrap();
    assert!(html.contains("signing on") && !html.contains(samba.sut.password()));
    let mut protections = Vec::new();
    for name in std::fs::read_dir(fixture.path("turns")).unwrap().map(|entry| entry.unwrap().path()) {
        if name.extension().is_none_or(|extension| extension != "plim") {
            continue;
        }
        let report = fixture.report(&name);
        let point = &report["load_points"][0];
        assert_eq!(point["total"]["errors"], 0, "{}", name.display());
        assert!(0.0 < point["score"].as_f64().unwrap());
        let held = point["checks"].as_array().unwrap().iter().all(|check| check["holds"] == true);
        assert!(held && point["checks"].as_array().unwrap().len() == 2, "{point}");
        let name = name.to_str().unwrap();
        let html = fixture.run(&["report", name, "--out", "-"]).expect(0).stdout;
        assert!(!html.contains(samba.sut.password()) && !report.to_string().contains(samba.sut.password()));
        protections.push(html.contains("SMB 3.1.1, signed, a session of each client"));
    }
    protections.sort_unstable();
    assert_eq!(protections, [false, true]);
}

#[test]
fn encrypted_and_old_sessions_work_in_a_folder_of_a_share() {
    let samba = Samba::start("server signing = mandatory");
    for (settings, out) in [
        (&["--set", "encryption=on"][..], "encrypted.plim"),
        (&["--set", "dialect=2.1", "--set", "signing=on"], "old.plim"),
    ] {
        let short = ["--quick", "--load", "2", "--duration", "1", "--monitor", "off", "--out", out];
        let test = ["--set", "test=stat"];
        samba.run("file-micro", &[&short[..], &test, settings].concat()).assert_run();
        let total = &samba.fixture.report(&samba.fixture.path(out))["load_points"][0]["total"];
        assert!(total["errors"] == 0 && total["n"].as_u64().unwrap() != 0, "{settings:?}: {total}");
    }
    assert_eq!(samba.left(), Vec::<PathBuf>::new());
    samba
        .run("netbench", &[&SHORT[..], &["--out", "x.plim"]].concat())
        .expect(4)
        .expect_stderr("the server requires signatures")
        .expect_stderr("hint: use `signing = on`");
    assert!(!samba.fixture.path("x.plim").exists());
}

#[test]
fn shares_that_cannot_be_used_are_refused_with_a_remedy() {
    let samba = Samba::start("");
    let password = samba.sut.password();
    let refused = |password: &str, more: &[&str], code: i32, error: &str, hint: &str| {
        let arguments = [&SHORT[..], &["--out", "x.plim"], more].concat();
        let ended = samba.run_with(password, "netbench", &arguments).expect(code);
        assert!(!ended.stderr.contains(samba.sut.password()));
        ended.expect_stderr(error).expect_stderr(hint);
        assert!(!samba.fixture.path("x.plim").exists());
    };
    refused("wrong", &[], 4, "the server does not let `plimsoll` in", "hint: check user and password");
    let contradiction = "which contradicts `transport=directory`";
    refused(password, &["--set", "transport=directory"], 2, contradiction, "it follows from the server");
    let old = ["--set", "encryption=on", "--set", "dialect=2.1"];
    refused(password, &old, 2, "SMB 2.1 has no encryption", "hint: encrypt SMB 3.1.1");

    let fixture = &samba.fixture;
    let refused = |arguments: &[&str], error: &str, hint: &str| {
        let arguments = [&["run", "netbench", "--quick", "--out", "x.plim"], arguments].concat();
        let mut command = fixture.command(&arguments);
        command.env_remove("PLIMSOLL_PASSWORD").env_remove("PLIMSOLL_PASSWORD_FILE");
        fixture.end(command).expect(2).expect_stderr(error).expect_stderr(hint);
    };
    let target = samba.target();
    refused(&["--target", &target], "there is no password for `smb://", "set `PLIMSOLL_PASSWORD`");
    refused(&["--set", "transport=smb"], "`transport=smb` applies to a share", "hint: name a share");
    refused(&["--set", "signing=on"], "the setting `signing` does not apply", "hint: leave it out");
    let file = fixture.write("password", samba.sut.password());
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let with_file = |arguments: &[&str]| {
        let arguments = [&["run", "netbench", "--target", &target], &SHORT[..], arguments].concat();
        let mut command = fixture.command(&arguments);
        command.env_remove("PLIMSOLL_PASSWORD").env("PLIMSOLL_PASSWORD_FILE", &file);
        fixture.end(command)
    };
    with_file(&["--out", "x.plim"]).expect(2).expect_stderr("users other than its owner can read");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    with_file(&["--dry-run"]).expect(0);
}
