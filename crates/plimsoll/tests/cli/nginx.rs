//! `--sut nginx`: an installed server is started, monitored, reset and stopped.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use crate::interrupt::ignores_hangup;
use crate::support::{Fixture, Leftovers};

const RECIPE: &str = include_str!("../../../../recipes/nginx.toml");

#[track_caller]
fn need_nginx() {
    let paths = ["/usr/sbin/nginx", "/usr/bin/nginx", "/usr/local/sbin/nginx", "/usr/local/nginx/sbin/nginx"];
    assert!(
        paths.iter().any(|path| Path::new(path).exists()),
        "install it with `apt-get install nginx-light`"
    );
}

const RUN: [&str; 6] = ["run", "webstone-1.1", "--sut", "nginx", "--out", "run.plim"];

#[test]
fn nginx_is_run_disclosed_and_removed() {
    need_nginx();
    let fixture = Fixture::new();
    let arguments = ["--sut-quota", "0.4", "--sut-cpus", "0", "--load", "1,2", "--duration", "1"];
    let running = fixture.start(&[&RUN[..], &arguments].concat());
    let pid = running.pid();
    let ended = running.end();
    ended.assert_run();
    fixture.run(&["audit", "run.plim"]).expect(0);

    let fact = |name: &str| fixture.fact(&fixture.path("run.plim"), "Server", name).unwrap_or_default();
    assert!(fact("version").contains("nginx/"), "{}", fact("version"));
    assert_eq!(fact("access log"), "off");
    assert!(fact("worker processes").starts_with("1, "), "{}", fact("worker processes"));
    assert!(fact("processors").starts_with("0 (pinned"), "{}", fact("processors"));
    assert_eq!(fact("between load points"), "is restarted");
    let config = fixture.fact(&fixture.path("run.plim"), "Server configuration", "nginx.conf").unwrap();
    assert!(config.contains("access_log off;") && config.contains("worker_processes 1;"), "{config}");
    assert!(!config.contains('{') || !config.contains("{port}"), "{config}");

    // The quota is enforced, or the report discloses that it could not be.
    let report = fixture.report(&fixture.path("run.plim"));
    let quota = fact("CPU quota");
    match report["plan"]["sut"]["quota"].as_f64() {
        Some(held) => {
            assert!(held == 0.4 && quota.contains("0.4") && !quota.contains("not enforced"), "{quota}")
        }
        None => assert!(quota.contains("not enforced: "), "{quota}"),
    }
    Leftovers::of(pid, &fact("address")).expect_none();
}

/// A wrapper around nginx records each start.
#[test]
fn nginx_is_restarted_for_each_load_point() {
    need_nginx();
    let fixture = Fixture::new();
    let starts = fixture.path("starts");
    let program = fixture.write(
        "nginx-counted",
        &format!(
            "#!/bin/sh\n[ \"$1\" = -v ] || echo start >> {}\nPATH=$PATH:/usr/sbin:/usr/local/sbin\nexec nginx \"$@\"\n",
            starts.display()
        ),
    );
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let find = RECIPE.lines().find(|line| line.starts_with("find = ")).unwrap();
    fixture.write("counted.toml", &RECIPE.replace(find, &format!("find = [\"{}\"]", program.display())));
    let arguments = [
        "--settle",
        "0",
        "--sut",
        "./counted.toml",
        "--sut-quota",
        "0.4",
        "--load",
        "1,2,3",
        "--duration",
        "1",
    ];
    let ended = fixture.run(&[&["run", "one-object"], &arguments[..]].concat());
    ended.assert_run();
    assert_eq!(fs::read_to_string(starts).unwrap(), "start\n".repeat(3));
}

#[test]
fn nginx_is_stopped_after_an_interrupt() {
    need_nginx();
    let fixture = Fixture::new();
    let arguments = ["--sut-quota", "0.4", "--load", "1,2", "--duration", "2"];
    let running = fixture.start(&[&RUN[..], &arguments].concat());
    let pid = running.pid();
    let line = running.wait_for("Server: nginx, ");
    let url = line.trim_start_matches("Server: nginx, ").to_owned();
    running.wait_for("1/2  1 client");
    running.signal(Signal::INT);
    running.end().expect(130);
    Leftovers::of(pid, &url).expect_none();
    fixture.run(&["report", "run.plim", "--format", "text"]).expect(0).expect_stdout("INCOMPLETE");
    fixture.run(&["audit", "run.plim"]).expect(0);
}

/// Goal: every signal but SIGKILL also stops the server, however quickly signals follow one another.
#[track_caller]
fn check_end(signals: &[(Signal, u64)], codes: &[i32]) {
    let fixture = Fixture::new();
    let arguments = ["--sut-quota", "0.4", "--load", "1", "--settle", "0", "--duration", "30"];
    let running = fixture.start(&[&RUN[..], &arguments].concat());
    let pid = running.pid();
    let line = running.wait_for("Server: nginx, ");
    let url = line.trim_start_matches("Server: nginx, ").to_owned();
    for (signal, pause_ms) in signals {
        running.signal(*signal);
        running.keep_running_for(std::time::Duration::from_millis(*pause_ms));
    }
    let ended = running.end();
    assert!(ended.code.is_some_and(|code| codes.contains(&code)), "{signals:?}: {ended:?}");
    Leftovers::of(pid, &url).expect_none();
}

#[test]
fn nginx_is_stopped_after_signals_in_quick_succession() {
    need_nginx();
    check_end(&[(Signal::INT, 10), (Signal::INT, 0)], &[130]);
    check_end(&[(Signal::INT, 1), (Signal::INT, 1), (Signal::INT, 0)], &[130]);
    check_end(&[(Signal::TERM, 3), (Signal::TERM, 0)], &[130]);
    check_end(&[(Signal::INT, 2), (Signal::TERM, 2), (Signal::INT, 2), (Signal::QUIT, 0)], &[130]);
}

#[test]
fn nginx_is_stopped_after_signals_whose_default_action_is_to_terminate() {
    need_nginx();
    for signal in [Signal::QUIT, Signal::USR1, Signal::ALARM, Signal::XCPU] {
        check_end(&[(signal, 0)], &[130]);
    }
}

/// Goal: an interrupt at any moment of the start leaves no orphaned server.
#[test]
fn nginx_is_stopped_when_its_start_is_interrupted_twice() {
    need_nginx();
    for after_ms in [0, 5, 15, 30, 60, 120] {
        let fixture = Fixture::new();
        let running =
            fixture.start(&[&RUN[..], &["--sut-quota", "0.4", "--load", "1", "--duration", "5"]].concat());
        let pid = running.pid();
        running.wait_for("Starting nginx");
        running.keep_running_for(std::time::Duration::from_millis(after_ms));
        running.signal(Signal::INT);
        running.signal(Signal::TERM);
        running.end().expect(130);
        // The address is not known: the port is chosen when the server starts.
        Leftovers::of(pid, "http://127.0.0.1:1/").expect_none();
    }
}

/// Goal: a terminal window that is closed. `script` creates the terminal, which closes when `script` is killed.
#[test]
fn nginx_is_stopped_when_the_terminal_closes() {
    need_nginx();
    if ignores_hangup() {
        return;
    }
    let fixture = Fixture::new();
    let line = r#"
        inside='echo $$ > pid; exec "$plimsoll" run one-object --sut nginx --sut-quota 0.4 --load 1 --duration 60'
        sleep 100 | script -qec "$inside" /dev/null > /dev/null &
        terminal=$!
        until [ -s pid ] && [ -s /dev/shm/plimsoll-$(id -u)/plimsoll-sut-$(cat pid)-0/server.pid ]; do sleep 0.1; done
        kill -9 $terminal
        while kill -0 "$(cat pid)" 2> /dev/null; do sleep 0.1; done
        kill $(jobs -p) 2> /dev/null
        cat pid"#;
    let ended = fixture.shell(line);
    let pid = ended.last_line().parse().unwrap_or_else(|_| panic!("{ended:?}"));
    Leftovers::of(pid, "http://127.0.0.1:1/").expect_none();
}

#[test]
fn the_next_run_stops_the_nginx_of_a_killed_run() {
    need_nginx();
    let fixture = Fixture::new();
    let arguments = ["--sut-quota", "0.4", "--load", "1", "--duration", "5"];
    let running = fixture.start(&[&RUN[..], &arguments].concat());
    let pid = running.pid();
    let line = running.wait_for("Server: nginx, ");
    let url = line.trim_start_matches("Server: nginx, ").to_owned();
    running.keep_running_for(std::time::Duration::from_millis(1300));
    running.signal(Signal::KILL);
    running.end();
    let next = ["run", "one-object", "--load", "1", "--duration", "1", "--out", "next.plim"];
    let ended = fixture.run(&next);
    ended.assert_run();
    Leftovers::of(pid, &url).expect_none();
    fixture.run(&["report", "run.plim", "--format", "text"]).expect(0).expect_stdout("INCOMPLETE");
    fixture.run(&["audit", "run.plim"]).expect(0);
}
