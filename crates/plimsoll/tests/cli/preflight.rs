//! Everything is checked before anything is measured.

use crate::support::Fixture;

/// A recipe for a server that does not exist.
const MISSING: &str = r#"
format = 2
family = "web"
name = "missing"
title = "Nobody's server"
ready = "http-get"
reset = "none"
[program]
find = ["no-such-server"]
install = "apt-get install no-such-server"
[start]
arguments = []
"#;

/// Checks that a command is refused, with `--dry-run` and without, before anything is started, calibrated or written.
#[track_caller]
fn refused(fixture: &Fixture, arguments: &[&str], code: i32, text: &str) {
    for more in [&[][..], &["--dry-run"]] {
        let ended = fixture.run(&[arguments, more].concat()).expect(code).expect_stderr(text);
        for begun in ["Starting", "Calibrating", "Preparing", "Server: "] {
            assert!(!ended.stderr.contains(begun), "{begun}: {}", ended.stderr);
        }
        assert_eq!(ended.stdout, "");
        assert!(
            !fixture.path("runs").exists()
                && !fixture.path("run.plim").exists()
                && !fixture.path("all").exists()
        );
    }
}

#[test]
fn all_servers_are_checked_before_the_first_is_measured() {
    let fixture = Fixture::new();
    fixture.write("missing.toml", MISSING);
    let both = ["run", "one-object", "--sut", "built-in,./missing.toml", "--load", "1", "--out", "all"];
    refused(&fixture, &both, 4, "Nobody's server is not installed; searched for `no-such-server`");
    refused(&fixture, &both, 4, "hint: install it with `apt-get install no-such-server`");
}

#[test]
fn variants_of_servers_and_accelerators_are_checked() {
    let fixture = Fixture::new();
    let varnish = ["run", "one-object", "--sut", "nginx", "--accelerator", "none,varnish", "--tls", "full"];
    refused(&fixture, &varnish, 2, "Varnish has no variant `tls`; expected one of `h1`");
    let prefork = ["run", "web-modern", "--sut", "nginx,apache-prefork"];
    refused(&fixture, &prefork, 2, "Apache (prefork MPM) has no variant `h2`");
}

#[test]
fn an_unwritable_path_is_refused() {
    let fixture = Fixture::new();
    let proc = ["run", "one-object", "--load", "1", "--out", "/proc/x.plim"];
    refused(&fixture, &proc, 2, "cannot write `/proc/x.plim`: `/proc`: ");
    fixture.write("file", "");
    let below_file = ["run", "one-object", "--load", "1", "--out", "file/run.plim"];
    refused(&fixture, &below_file, 2, "not a directory");
    fixture.run(&["run", "one-object", "--load", "1", "--out", "new/run.plim", "--dry-run"]).expect(0);
    assert!(!fixture.path("new").exists(), "a dry run creates nothing");
}

#[test]
fn more_users_than_the_machine_can_connect_are_refused_with_a_hint() {
    let fixture = Fixture::new();
    // More than any machine has ports for.
    refused(&fixture, &["run", "one-object", "--load", "1,1000000"], 4, "1000000 users");
    let ended = fixture.shell(r#"ulimit -n 200; "$plimsoll" run one-object --load 1,1000"#).expect(4);
    let ended = ended.expect_stderr("error: open files: 200 allowed; 1000 users + 100 = 1100 needed");
    let ended = ended.expect_stderr("hint: raise the hard limit: `ulimit -Hn 1100`");
    assert!(!ended.stderr.contains("Starting") && ended.stdout.is_empty(), "{}", ended.stderr);
}

#[test]
fn a_dry_run_shows_servers_resources_and_total_time() {
    let fixture = Fixture::new();
    let several =
        ["run", "one-object", "--sut", "nginx,apache", "--sut-cpus", "0", "--load", "1,2", "--dry-run"];
    let ended = fixture.run(&[&several[..], &["--settle", "0", "--duration", "3000"]].concat()).expect(0);
    let ended = ended.expect_stdout(
        "server        nginx, CPUs 0, not limited (set by a calibration at the start of the run)",
    );
    let ended = ended.expect_stdout("server        apache, CPUs 0, ");
    let ended = ended.expect_stdout("total time    3 h 20 min of load: 2 load points for each of 2 servers");
    assert_eq!(ended.stdout.matches("load points   1, 2 users").count(), 1, "{}", ended.stdout);
    assert!(!ended.stderr.contains("Calibrating"), "{}", ended.stderr);
    let quota = fixture.run(&[&several[..], &["--sut-quota", "0.4"]].concat()).expect(0);
    quota.expect_stdout("server        nginx, CPUs 0, limited to 0.4 CPUs (set by the user)");
    let json = fixture.run(&[&several[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(json["plans"][1]["server"], "apache");
    assert_eq!(json["plans"][1]["plan"]["sut"]["name"], "apache");
}

#[test]
fn a_long_run_is_announced_first() {
    let fixture = Fixture::new();
    let running =
        fixture.start(&["run", "one-object", "--load", "1,2", "--settle", "0", "--duration", "301"]);
    let first = running.wait_for("");
    assert_eq!(first, "This takes about 10 min 02 s. Press Ctrl-C to stop and keep the records so far.");
    running.wait_for("Server: ");
    running.signal(rustix::process::Signal::INT);
    running.end().expect(130);
}
