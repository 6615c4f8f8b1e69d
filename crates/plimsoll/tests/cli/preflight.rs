//! Everything is looked at before anything is measured.

use crate::support::Lab;

/// A recipe for a server that nobody has.
const MISSING: &str = r#"
format = 1
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

/// Runs something that cannot be run to its end, with `--dry-run` and without; returns what is said. Nothing may have
/// been started by then, nor calibrated, nor written.
#[track_caller]
fn refused(lab: &Lab, arguments: &[&str], code: i32, text: &str) {
    for more in [&[][..], &["--dry-run"]] {
        let ended = lab.run(&[arguments, more].concat()).expect(code).says(text);
        for begun in ["Starting", "Calibrating", "Preparing", "Server: "] {
            assert!(!ended.stderr.contains(begun), "{begun}: {}", ended.stderr);
        }
        assert_eq!(ended.stdout, "");
        assert!(!lab.path("runs").exists() && !lab.path("run.plim").exists() && !lab.path("all").exists());
    }
}

#[test]
fn every_server_is_looked_for_before_the_first_is_measured() {
    let lab = Lab::new();
    lab.write("missing.toml", MISSING);
    let both = ["run", "one-object", "--sut", "built-in,./missing.toml", "--load", "1", "--out", "all"];
    refused(&lab, &both, 4, "Nobody's server is not installed; looked for `no-such-server`");
    refused(&lab, &both, 4, "hint: install it with `apt-get install no-such-server`");
}

#[test]
fn transports_of_servers_and_accelerators_are_looked_for_as_well() {
    let lab = Lab::new();
    let varnish = ["run", "one-object", "--sut", "nginx", "--accelerator", "none,varnish", "--tls", "full"];
    refused(&lab, &varnish, 2, "Varnish has no transport `tls`; there are `plain`");
    let prefork = ["run", "web-modern", "--sut", "nginx,apache-prefork"];
    refused(&lab, &prefork, 2, "Apache (prefork MPM) has no transport `tls-http2`");
}

#[test]
fn a_place_where_nothing_can_be_written_is_refused() {
    let lab = Lab::new();
    let proc = ["run", "one-object", "--load", "1", "--out", "/proc/x.plim"];
    refused(&lab, &proc, 2, "cannot write `/proc/x.plim`: `/proc`: ");
    lab.write("file", "");
    let below_file = ["run", "one-object", "--load", "1", "--out", "file/run.plim"];
    refused(&lab, &below_file, 2, "it is not a folder");
    lab.run(&["run", "one-object", "--load", "1", "--out", "new/run.plim", "--dry-run"]).expect(0);
    assert!(!lab.path("new").exists(), "a dry run makes nothing");
}

#[test]
fn more_users_than_the_machine_can_connect_are_refused_with_the_remedy() {
    let lab = Lab::new();
    // Beyond what any machine has ports for, if not files.
    refused(&lab, &["run", "one-object", "--load", "1,1000000"], 4, "1000000 users");
    let ended = lab.shell(r#"ulimit -n 200; "$plimsoll" run one-object --load 1,1000"#).expect(4);
    let ended = ended.says("error: open files: 200 allowed; 1000 users + 100 = 1100 needed");
    let ended = ended.says("hint: raise the hard limit: `ulimit -Hn 1100`");
    assert!(!ended.stderr.contains("Starting") && ended.stdout.is_empty(), "{}", ended.stderr);
}

#[test]
fn a_dry_run_names_every_server_with_what_it_is_given_and_the_time() {
    let lab = Lab::new();
    let several =
        ["run", "one-object", "--sut", "nginx,apache", "--sut-cpus", "0", "--load", "1,2", "--dry-run"];
    let ended = lab.run(&[&several[..], &["--settle", "0", "--duration", "3000"]].concat()).expect(0);
    let ended = ended
        .prints("server        nginx, CPUs 0, not limited (set by a calibration, which the run makes first)");
    let ended = ended.prints("server        apache, CPUs 0, ");
    let ended = ended.prints("total time    3 h 20 min of load: 2 load points for each of 2 servers");
    assert_eq!(ended.stdout.matches("load points   1, 2 users").count(), 1, "{}", ended.stdout);
    assert!(!ended.stderr.contains("Calibrating"), "{}", ended.stderr);
    let quota = lab.run(&[&several[..], &["--sut-quota", "0.4"]].concat()).expect(0);
    quota.prints("server        nginx, CPUs 0, limited to 0.4 CPUs (asked for)");
    let json = lab.run(&[&several[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(json["plans"][1]["server"], "apache");
    assert_eq!(json["plans"][1]["plan"]["sut"]["name"], "apache");
}

#[test]
fn a_long_run_says_so_first() {
    let lab = Lab::new();
    let running = lab.start(&["run", "one-object", "--load", "1,2", "--settle", "0", "--duration", "301"]);
    let first = running.wait_for("");
    assert_eq!(first, "This takes about 10 min 02 s. Ctrl-C ends it and keeps what was recorded.");
    running.wait_for("Server: ");
    running.signal(rustix::process::Signal::INT);
    running.end().expect(130);
}
