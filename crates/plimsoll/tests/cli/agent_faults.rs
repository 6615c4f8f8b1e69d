//! Load agents and their controller where something fails between them, or at the controller.
//!
//! `cargo xtask fleet-faults` runs these tests with faults of full length as well, which take minutes.

use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use units::Nanos;

use crate::agents::agents_of;
use crate::support::{
    Fixture, OtherMachine, RunningCommand, SshServer, free_port, in_own_network, wait_for, wait_within,
};

/// The variable that asks for faults of full length.
const FULL_LENGTH: &str = "PLIMSOLL_FULL_LENGTH";

fn is_full_length() -> bool {
    std::env::var_os(FULL_LENGTH).is_some()
}

/// A part of the command line of load agents.
const AGENT: &str = "agent\0--stdio";

/// A machine with a server, a controller and a load agent, and another one with a load agent behind `ssh`.
struct TwoMachines {
    fixture: Fixture,
    other: OtherMachine,
    ssh: SshServer,
    target: String,
    _web: RunningCommand,
}

impl TwoMachines {
    /// Makes them of the network of a test.
    fn connect() -> TwoMachines {
        let fixture = Fixture::new();
        let other = OtherMachine::connect();
        let ssh = SshServer::start(&fixture, OtherMachine::ADDRESS, |program| other.command(program));
        ssh.install(None);
        let listen = format!("{}:{}", OtherMachine::TEST_ADDRESS, free_port());
        let (web, _) = fixture.serve(&["one-object", "--listen", &listen]);
        TwoMachines { fixture, other, ssh, target: format!("http://{listen}/"), _web: web }
    }

    /// Starts a run of 200 operations per second for so many seconds behind one of settling; returns when it is recorded.
    fn start(&self, seconds: &str) -> RunningCommand {
        let agents = format!("local=1,ssh=root@{}", OtherMachine::ADDRESS);
        let load = ["run", "one-object", "--rate", "200", "--arrivals", "constant", "--duration", seconds];
        let machines = ["--target", &self.target, "--agents", &agents, "--monitor", "off"];
        let output = ["--progress", "plain", "--out", "run.plim"];
        let path = SshServer::search_path(&self.fixture);
        let controller =
            self.fixture.start_with(&[&load[..], &machines, &output].concat(), &[("PATH", &path)]);
        wait_for("the run", || self.fixture.path("run.plim").is_file());
        controller
    }
}

/// Runs a test with two machines, in a network of its own; not where the user may not make one.
fn with_two_machines(test: impl FnOnce(&TwoMachines) + Send) {
    if rustix::process::geteuid().is_root() {
        in_own_network(|| test(&TwoMachines::connect()));
    }
}

/// Goal: an interruption of 3 s of the way to an agent costs nothing: neither a record nor an operation. Method: the packets of
/// its connection are dropped meanwhile, and TCP sends them again; those of its load are not. Its records are half of the 2,000
/// operations that are due.
#[test]
fn an_interruption_of_three_seconds_costs_nothing() {
    with_two_machines(|machines| {
        let controller = machines.start("10");
        controller.keep_running_for(Duration::from_secs(2));
        let interruption = machines.other.interrupt(machines.ssh.port);
        controller.keep_running_for(Duration::from_secs(3));
        drop(interruption);
        let ended = controller.end().expect_run();
        assert!(!ended.stderr.contains("has sent no record"), "{}", ended.stderr);
        let fixture = &machines.fixture;
        fixture.run(&["audit", "run.plim"]).expect(0);
        let report = fixture.report(&fixture.path("run.plim"));
        let point = &report["load_points"][0];
        let offered = point["offered_per_s"].as_f64().unwrap();
        assert!(
            (offered - 200.0).abs() < 0.2,
            "{offered} operations per second: one more or less at the ends"
        );
        let checks = point["checks"].to_string();
        assert!(!checks.contains("records complete"), "{checks}");
        let started = |agent: u32| {
            point["counts"][format!("load agent {agent}, operations started")].as_u64().unwrap_or_default()
        };
        // With those of settling. On a busy machine the last ones are not started in time; a record has a hundred.
        let n_started = started(0) + started(1);
        assert!((2150..=2200).contains(&n_started), "{n_started} operations: {point}");
    });
}

/// Goal: an interruption that is longer than the watermark is named with the second, and the run goes on. Method: 30 s, of which
/// TCP makes up to 52 s; in the ordinary tests an agent stands still for 13 s, and simulated time has the 30 s.
#[test]
fn an_interruption_of_thirty_seconds_is_named_with_the_second() {
    if !is_full_length() {
        return;
    }
    with_two_machines(|machines| {
        let controller = machines.start("60");
        controller.keep_running_for(Duration::from_secs(2));
        let interruption = machines.other.interrupt(machines.ssh.port);
        controller.keep_running_for(Duration::from_secs(30));
        drop(interruption);
        let said = "load agent 1 has sent no record of interval ";
        let ended = controller.end().expect(3).expect_stderr(said);
        let fixture = &machines.fixture;
        let report = fixture.report(&fixture.path("run.plim"));
        assert!(report["load_points"][0]["checks"].to_string().contains(said), "{}", ended.stderr);
        assert_eq!(report["ending"]["kind"], "complete");
        fixture.run(&["audit", "run.plim"]).expect(6);
    });
}

/// Goal: a way that is too slow for the records of an agent is named. Method: 200 bytes per second.
#[test]
fn a_way_that_is_too_slow_is_named() {
    if !is_full_length() {
        return;
    }
    with_two_machines(|machines| {
        SshServer::throttle(&machines.fixture, 200);
        let controller = machines.start("120");
        let ended = controller.end().expect(4).expect_stderr("over a way that is too slow");
        let ended = ended.expect_stderr("the records of load agent 1 on `root@10.77.1.2` cannot be used");
        assert!(ended.stdout.contains("INCOMPLETE"), "{}", ended.stdout);
        wait_for("the end of the agent", || machines.other.n_processes(AGENT) == 0);
    });
}

/// Goal: an agent on another machine ends with a controller that is killed: at once where its connection does, and where the
/// network keeps that from it after 60 s, which are tried at full length.
#[test]
fn an_agent_behind_ssh_ends_with_its_controller() {
    let lengths = [(false, 0, 10), (true, 55, 75)];
    let n_lengths = if is_full_length() { 2 } else { 1 };
    for (is_interrupted, least, most) in &lengths[..n_lengths] {
        with_two_machines(|machines| {
            let controller = machines.start("20");
            assert_eq!(machines.other.n_processes(AGENT), 1);
            let _interruption = is_interrupted.then(|| machines.other.interrupt(machines.ssh.port));
            controller.signal(Signal::KILL);
            let has_ended = || machines.other.n_processes(AGENT) == 0;
            let waited = wait_within(Nanos::from_secs(*most), "the end of the agent", has_ended);
            assert!(Nanos::from_secs(*least) <= waited, "it has waited for {waited} only");
        });
    }
}

/// Goal: a run file that cannot be written ends the run with the reason, and all agents. Method: a limit on the size of files.
#[test]
fn a_full_disk_of_the_controller_ends_all_agents() {
    let fixture = Fixture::new();
    let line = "trap '' XFSZ; ulimit -f 72; exec \"$0\" run one-object --load 1,2,3,4 --duration 3 --agents local=2 \
                --monitor off --progress plain --out run.plim";
    let mut command = Command::new("bash");
    command.args(["-c", line, env!("CARGO_BIN_EXE_plimsoll")]).current_dir(fixture.path("."));
    command.env("XDG_STATE_HOME", fixture.path("state")).env("XDG_CONFIG_HOME", fixture.path("config"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let controller = RunningCommand::new(command.spawn().unwrap(), &fixture.path("."));
    wait_for("the run", || agents_of(controller.pid()).len() == 2);
    let agents = agents_of(controller.pid());
    let ended = controller.end().expect(4).expect_stdout("INCOMPLETE");
    assert_eq!(ended.stderr.matches("error: ").count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("recording in `run.plim`"), "{}", ended.stderr);
    let has_ended = |agent: &rustix::process::Pid| rustix::process::test_kill_process(*agent).is_err();
    assert!(agents.iter().all(has_ended), "before the controller does");
    assert_eq!(fixture.report(&fixture.path("run.plim"))["verdict"]["state"], "incomplete");
}
