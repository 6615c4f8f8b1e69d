//! Load agents: processes of this machine, and of others through `ssh`.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{
    ExitedCommand, Fixture, RunningCommand, SshServer, free_port, in_own_network, wait_for,
};

/// The address of the machine in the network of a test.
const ADDRESS: &str = "10.77.0.1";

/// Returns the load agents that a command has started, in the order of their ids.
pub(crate) fn agents_of(controller: u32) -> Vec<Pid> {
    let read = |id: i32, file: &str| {
        let bytes = fs::read(format!("/proc/{id}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    // Behind the name: state, parent.
    let parent = |id: i32| read(id, "stat").rsplit(") ").next()?.split(' ').nth(1)?.parse::<u32>().ok();
    let ids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_agent =
        |id: &i32| parent(*id) == Some(controller) && read(*id, "cmdline").contains("agent\0--stdio");
    let mut agents: Vec<i32> = ids.filter(is_agent).collect();
    agents.sort_unstable();
    agents.into_iter().filter_map(Pid::from_raw).collect()
}

/// Goal: two agents need nothing installed, and their run is one like any other.
#[test]
fn two_agents_on_this_machine_perform_a_run() {
    let fixture = Fixture::new();
    let arguments =
        ["run", "one-object", "--quick", "--agents", "local=2", "--monitor", "off", "--out", "run.plim"];
    let ended = fixture.run(&arguments).expect_run();
    assert!(ended.stderr.contains("2 threads of 2 load agents"), "{}", ended.stderr);
    let run = fixture.path("run.plim");
    fixture.run(&["audit", "run.plim"]).expect(0);
    for title in ["Load agent 0", "Load agent 1"] {
        assert_eq!(fixture.fact(&run, title, "machine").as_deref(), Some("this machine"));
        assert_eq!(fixture.fact(&run, title, "load threads").as_deref(), Some("1"));
    }
    let report = fixture.report(&run);
    assert!(
        report.to_string().contains("load agents start together"),
        "the check of the starts is in the report"
    );
    // The first load point has one user.
    let point = report["load_points"].as_array().unwrap().last().unwrap();
    for agent in ["load agent 0", "load agent 1"] {
        let figure = |name: &str| point["counts"][format!("{agent}, {name}")].as_u64();
        assert!(
            figure("operations started").is_some_and(|n| 0 < n),
            "{}",
            report["load_points"][0]["counts"]
        );
        assert!(
            figure("CPU time in µs") <= figure("time of load threads in µs").map(|time| time + time / 10)
        );
    }
    let page = fixture.run(&["report", "run.plim", "--format", "markdown"]).expect(0).stdout;
    for text in
        ["Load machines, as they describe themselves", "Load of the load machines", "Clock known to ±"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("load agent 0, CPU time"), "the figures have a table of their own");
}

/// Goal: what the web has of agents, other families have, too: their servers are loaded, and checked by the controller.
#[test]
fn servers_of_other_families_are_loaded_by_agents() {
    let fixture = Fixture::new();
    let short = ["--quick", "--load", "4", "--duration", "2", "--agents", "local=2", "--monitor", "off"];
    for (benchmark, settings) in [
        ("serverbench", ["--set", "suite=net", "--set", "range=64 KiB"]),
        ("orderentry", ["--set", "warehouses=2", "--set", "pacing=flat"]),
    ] {
        let out = format!("{benchmark}.plim");
        fixture.run(&[&["run", benchmark, "--out", &out], &settings[..], &short].concat()).expect_measured();
        fixture.run(&["audit", &out]).expect(0);
        let report = fixture.report(&fixture.path(&out));
        let point = &report["load_points"][0];
        assert_eq!(point["total"]["errors"], 0, "{point}");
        let started = |agent: u32| {
            point["counts"][format!("load agent {agent}, operations started")].as_u64().unwrap_or_default()
        };
        assert!(0 < started(0) && 0 < started(1), "{point}");
        let checks = point["checks"].as_array().unwrap();
        assert!(checks.iter().all(|check| check["holds"] == true), "{point}");
    }
}

/// Starts a run of one load point with two agents; returns when it is recorded.
fn start_long_run(fixture: &Fixture, seconds: &str) -> RunningCommand {
    let load = ["run", "one-object", "--quick", "--load", "4", "--duration", seconds, "--agents", "local=2"];
    let output = ["--monitor", "off", "--progress", "plain", "--out", "run.plim"];
    let controller = fixture.start(&[&load[..], &output].concat());
    let is_recorded = || fixture.path("run.plim").is_file() && 2 == agents_of(controller.pid()).len();
    wait_for("the run", is_recorded);
    controller
}

/// Goal: an agent that dies ends the run with its name, and what was recorded stays.
#[test]
fn an_agent_that_is_killed_ends_the_run_by_name() {
    let fixture = Fixture::new();
    let controller = start_long_run(&fixture, "20");
    std::thread::sleep(Duration::from_secs(3));
    kill_process(agents_of(controller.pid())[1], Signal::KILL).unwrap();
    let ended = controller.end().expect(4);
    let ended = ended.expect_stderr("load agent 1 on this machine was lost: its process was killed");
    let report = fixture.report(&fixture.path("run.plim"));
    assert_eq!(report["ending"]["kind"], "stopped", "{}", ended.stderr);
    // What it had in flight is missing.
    fixture.run(&["audit", "run.plim"]).expect(6).expect_stdout("conservation: interval");
}

/// Goal: an agent that stands still for longer than the watermark makes the load point invalid, by name and second; one that
/// stands still for less loses nothing. Method: two runs at the same time.
#[test]
fn an_agent_that_stands_still_is_named_with_the_second() {
    let check = |(seconds, length, is_missing): (u64, &str, bool)| {
        let fixture = Fixture::new();
        let controller = start_long_run(&fixture, length);
        std::thread::sleep(Duration::from_secs(2));
        let agent = agents_of(controller.pid())[1];
        kill_process(agent, Signal::STOP).unwrap();
        std::thread::sleep(Duration::from_secs(seconds));
        kill_process(agent, Signal::CONT).unwrap();
        let ended = controller.end();
        let said = "load agent 1 has sent no record of interval";
        assert_eq!(ended.stderr.contains(said), is_missing, "{seconds} s: {}", ended.stderr);
        let report = fixture.report(&fixture.path("run.plim")).to_string();
        assert_eq!(report.contains(said), is_missing, "{seconds} s");
        if is_missing {
            ended.expect(3);
        }
        // What the missing records had in flight is missing, too.
        fixture.run(&["audit", "run.plim"]).expect(if is_missing { 6 } else { 0 });
    };
    std::thread::scope(|scope| {
        for case in [(3, "7", false), (13, "17", true)] {
            scope.spawn(move || check(case));
        }
    });
}

/// Goal: agents of a controller that is killed end by themselves.
#[test]
fn agents_end_with_their_controller() {
    let fixture = Fixture::new();
    let controller = start_long_run(&fixture, "20");
    let id = controller.pid();
    let agents = agents_of(id);
    kill_process(Pid::from_raw(id.cast_signed()).unwrap(), Signal::KILL).unwrap();
    let has_ended = |agent: &Pid| rustix::process::test_kill_process(*agent).is_err();
    wait_for("the end of agents", || agents.iter().all(has_ended));
}

/// Goal: Ctrl-C ends the run and all agents, and keeps what was recorded.
#[test]
fn an_interruption_ends_all_agents() {
    let fixture = Fixture::new();
    let controller = start_long_run(&fixture, "20");
    let agents = agents_of(controller.pid());
    std::thread::sleep(Duration::from_secs(2));
    controller.signal(Signal::INT);
    controller.end().expect(130).expect_stdout("INCOMPLETE");
    let has_ended = |agent: &Pid| rustix::process::test_kill_process(*agent).is_err();
    assert!(agents.iter().all(has_ended), "before the controller does");
    fixture.run(&["audit", "run.plim"]).expect(0);
}

/// Goal: mistakes are refused before anything is started.
#[test]
fn agents_that_cannot_load_a_server_are_refused() {
    let fixture = Fixture::new();
    let run = |more: &[&str]| fixture.run(&[&["run", "one-object", "--quick"], more].concat());
    run(&["--agents", "ssh=me@gen2"])
        .expect(2)
        .expect_stderr("the load agent on `me@gen2` cannot reach built-in: a server that Plimsoll starts");
    run(&["--agents", "ssh=me@gen2", "--target", "http://127.0.0.1:9/"])
        .expect(2)
        .expect_stderr("the load agent on `me@gen2` would load itself: `127.0.0.1`");
    run(&["--agents", "local=0"]).expect(2).expect_stderr("a number of load agents from 1 to 64");
    run(&["--agents", "gen2"]).expect(2).expect_stderr("expected `ssh=USER@HOST` or `local=NUMBER`");
    let twice = ["--agents", "ssh=me@gen2,ssh=me@gen2", "--target", "http://10.1.2.3/"];
    run(&twice).expect(2).expect_stderr("load agent 1 on `me@gen2`: the same machine is named twice");
    fixture
        .run(&["run", "netbench", "--quick", "--agents", "local=2", "--target", "file:///srv"])
        .expect(2)
        .expect_stderr("`--agents` cannot load a directory");
    fixture
        .run(&["run", "notes-mail", "--quick", "--agents", "local=2"])
        .expect(2)
        .expect_stderr("load agents cannot load mail servers yet");
}

/// Runs a benchmark with an agent through `ssh`.
fn run_through_ssh(fixture: &Fixture, target: &str, more: &[&str]) -> ExitedCommand {
    let agents = format!("ssh=root@{ADDRESS}");
    let arguments = ["run", "one-object", "--quick", "--load", "2", "--duration", "2", "--monitor", "off"];
    let mut command =
        fixture.command(&[&arguments[..], &["--agents", &agents, "--target", target], more].concat());
    command.env("PATH", SshServer::search_path(fixture));
    fixture.end(command)
}

/// Goal: an agent on another machine performs a run through `ssh`, and whatever is wrong with that machine has its message.
#[test]
fn agents_are_reached_through_ssh() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    in_own_network(|| {
        let added = Command::new("ip").args(["address", "add", "10.77.0.1/24", "dev", "lo"]).status();
        assert!(added.unwrap().success());
        let fixture = Fixture::new();
        let server = SshServer::start(&fixture, ADDRESS, |program| Command::new(program));
        let listen = format!("{ADDRESS}:{}", free_port());
        let target = format!("http://{listen}/");
        let run = |more: &[&str]| run_through_ssh(&fixture, &target, more);
        run(&[])
            .expect(4)
            .expect_stderr("there is no `plimsoll` on that machine")
            .expect_stderr("hint: copy this one");
        server.install(Some("#!/bin/sh\necho Welcome to gen2\n"));
        run(&[]).expect(4).expect_stderr("the shell there prints `Welcome to gen2`");
        server.install(None);
        let authorized = fixture.path("ssh/authorized");
        let key = fs::read_to_string(&authorized).unwrap();
        fs::write(&authorized, "").unwrap();
        run(&[]).expect(4).expect_stderr("`ssh` is not let in without a password");
        fs::write(&authorized, key).unwrap();
        let (_web, address) = fixture.serve(&["one-object", "--listen", &listen]);
        assert!(address.contains(ADDRESS), "{address}");
        run(&["--out", "ssh.plim"]).expect_run();
        let first = fixture.fact(&fixture.path("ssh.plim"), "Load agent 0", "machine").unwrap();
        assert_eq!(first, "machine 1", "without its name");
        let known = fixture.path("ssh/known");
        let key = fs::read_to_string(&known).unwrap();
        fs::write(&known, "").unwrap();
        run(&[]).expect(4).expect_stderr("`ssh` does not accept the key of the host");
        fs::write(&known, key).unwrap();
        SshServer::slow_down(&fixture);
        let found = ", its clock known to ± ";
        let ended = run(&["--out", "slow.plim"]).expect(3);
        let report = fixture.report(&fixture.path("slow.plim")).to_string();
        assert!(report.contains(found), "{}\n{report}", ended.stderr);
        fixture.run(&["audit", "slow.plim"]).expect(0);
    });
}

/// Goal: what a report says of agents is what the run file has.
#[test]
fn a_dry_run_says_how_many_agents_there_are() {
    let fixture = Fixture::new();
    let arguments = ["run", "one-object", "--quick", "--agents", "local=2", "--dry-run", "--json"];
    let mut command = fixture.command(&arguments);
    command.stdin(Stdio::null());
    let plan: Value = fixture.end(command).expect(0).json();
    assert_eq!(plan["plan"]["agents"].as_array().unwrap().len(), 2, "{plan}");
}
