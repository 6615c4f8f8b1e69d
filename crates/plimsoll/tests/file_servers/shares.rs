//! The benchmarks of file servers on a share of Samba: dialects and protection of messages in turns, and refusals.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::{LOAD_FILE, Samba};

/// A load point of two seconds with small workspaces.
const SHORT: [&str; 9] =
    ["--quick", "--load", "2", "--duration", "2", "--set", "workspace=15 MiB", "--monitor", "off"];

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

    samba.fixture.write("mine.txt", LOAD_FILE);
    let replayed = ["--quick", "--load", "2", "--duration", "1", "--monitor", "off", "--out", "mine.plim"];
    samba.run("netbench", &[&replayed[..], &["--set", "loadfile=mine.txt"]].concat()).assert_run();
    let total = &fixture.report(&fixture.path("mine.plim"))["load_points"][0]["total"];
    assert!(total["errors"] == 0 && 24 < total["n"].as_u64().unwrap(), "{total}");
    assert_eq!(samba.left(), Vec::<PathBuf>::new());
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

/// Goal: what a target names below the share stays, and an account that is let in as a guest is no account.
#[test]
fn a_folder_of_a_share_is_left_as_it_was_and_guests_are_refused() {
    let samba = Samba::start("map to guest = bad user");
    let folder = samba.share().join("mine/deep");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("precious"), "x").unwrap();
    let run = |target: &str, out: &str| {
        let short = ["--quick", "--load", "1", "--duration", "1", "--set", "test=stat", "--monitor", "off"];
        let arguments = [&["run", "file-micro", "--target", target, "--out", out], &short[..]].concat();
        let mut command = samba.fixture.command(&arguments);
        command.env("PLIMSOLL_PASSWORD", samba.sut.password());
        samba.fixture.end(command)
    };
    run(&format!("{}/mine/deep", samba.target()), "folder.plim").assert_run();
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["precious"]);
    run(&format!("{}/none", samba.target()), "x.plim")
        .expect(4)
        .expect_stderr("the share has no folder `none`");
    run(&samba.target().replace("plimsoll@", "stranger@"), "x.plim")
        .expect(4)
        .expect_stderr("the server let `stranger` in as a guest")
        .expect_stderr("hint: give the account a password there");
    assert!(!samba.fixture.path("x.plim").exists());
}

/// Goal: a client has several requests in flight in its one session, and is one client in every figure; Little's law holds
/// (golden check 21); nothing is written that was not read.
#[test]
fn streams_have_several_requests_in_flight_on_a_share() {
    let samba = Samba::start("");
    let short = ["--quick", "--load", "2", "--duration", "2", "--monitor", "off", "--out", "s.plim"];
    let settings = ["--set", "in-flight=4", "--set", "block=16 KiB", "--set", "cache=warm"];
    samba.run("seqread", &[&short[..], &settings].concat()).assert_run();
    let report = samba.fixture.report(&samba.fixture.path("s.plim"));
    let point = &report["load_points"][0];
    assert_eq!(point["total"]["errors"], 0, "{point}");
    let in_flight = point["in_flight_mean"].as_f64().unwrap();
    assert!((in_flight / 8.0 - 1.0).abs() < 0.05, "{in_flight}");
    assert_eq!((&point["clients"]["n"], &point["clients"]["unit"]), (&2.into(), &"bytes".into()));
    assert!(0 < point["first_data"]["n"].as_u64().unwrap());
    let html = samba.fixture.run(&["report", "s.plim", "--out", "-"]).expect(0).stdout;
    for words in ["up to 4 requests of each client in flight", "each was read once", "in-flight"] {
        assert!(html.contains(words), "{words}");
    }
    samba.fixture.run(&["audit", "s.plim"]).expect(0).expect_stdout("no differences found");
    let refused = |load: [&str; 2], settings: &[&str], code: i32, error: &str, hint: &str| {
        let short = ["--quick", "--duration", "1", "--out", "x.plim"];
        let ended = samba.run("seqread", &[&short[..], &load, settings].concat());
        ended.expect(code).expect_stderr(error).expect_stderr(hint);
        assert!(!samba.fixture.path("x.plim").exists());
    };
    refused(
        ["--load", "1"],
        &["--set", "cache=cold"],
        4,
        "the files of a server that was there already cannot be evicted from its cache",
        "hint: restart the server before the run",
    );
    refused(
        ["--rate", "10"],
        &["--set", "in-flight=4"],
        2,
        "operations on a schedule are sent by clients with one request in flight, not 4",
        "hint: give `--load` instead of `--rate`",
    );
    assert_eq!(samba.left(), Vec::<PathBuf>::new());
}

/// A server whose largest read has 64 KiB.
#[test]
fn blocks_that_a_server_does_not_take_whole_are_refused() {
    let samba = Samba::start("smb2 max read = 65536");
    let short = ["--quick", "--load", "1", "--duration", "1", "--out", "x.plim", "--set", "block=1 MiB"];
    samba
        .run("seqread", &short)
        .expect(4)
        .expect_stderr("the server takes reads of up to 64.0 KiB, and those of this run have 1.0 MiB")
        .expect_stderr("hint: choose a smaller block (`--set block=\"64 KiB\"`)");
    assert!(!samba.fixture.path("x.plim").exists());
    assert_eq!(samba.left(), Vec::<PathBuf>::new());
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
