//! Upgrades: a new process takes over the listening sockets of the old one.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::fixture::{RunningAccelerator, end, get, origin, program};
use crate::load::Load;

/// Returns arguments of an accelerator that can be replaced.
fn arguments<'a>(origin: &'a str, control: &'a Path) -> Vec<&'a str> {
    let control = control.to_str().unwrap();
    vec!["--origin", origin, "--listen", "127.0.0.1:0", "--upgrade-socket", control]
}

#[test]
fn no_connection_is_refused_by_upgrades() {
    let folder = tempfile::tempdir().unwrap();
    let origin = origin();
    let control = folder.path().join("control");
    let arguments = arguments(&origin, &control);
    let mut running = RunningAccelerator::start(&arguments);
    let address = running.address.clone();
    let load = Load::start(&running.address);
    for workers in ["1", "2", "3", "2", "2"] {
        load.wait_for(100);
        let next = RunningAccelerator::start(&[&arguments[..], &["--workers", workers]].concat());
        assert_eq!(next.address, address);
        let said = running.wait();
        assert!(said.contains(&format!("Process {} has taken over.", next.child.id())), "{said}");
        running = next;
    }
    load.wait_for(100);
    assert!(4 <= load.end(), "connections were kept, and closed with an announcement");
    assert_eq!(std::fs::metadata(&control).unwrap().permissions().mode() & 0o777, 0o600);
    running.stop();
    assert!(TcpStream::connect(address).is_err(), "nobody has kept the sockets");
}

#[test]
fn a_new_process_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let origin = origin();
    let control = folder.path().join("control");
    let arguments = arguments(&origin, &control);
    let running = RunningAccelerator::start(&arguments);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let admin = taken.local_addr().unwrap().to_string();
    end(&[&arguments[..], &["--admin", &admin]].concat(), 4);
    assert!(get(&running.address).ends_with("hello"));
    // It can still be replaced.
    let next = RunningAccelerator::start(&arguments);
    let mut running = running;
    assert!(running.wait().contains("warning: a new process has not taken over: "));
    assert!(get(&next.address).ends_with("hello"));
    next.stop();
}

/// Goal: a disk tier is never used by two processes, and its responses outlive the first.
#[test]
fn a_disk_tier_and_the_admin_page_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let control = folder.path().join("control");
    let config = folder.path().join("a.toml");
    let text = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n[[origin.server]]\nurl = \"{}\"\n\
         [disk]\nfolder = \"cache\"\nsize = \"16 MiB\"\n[admin]\nlisten = \"127.0.0.2:0\"\n",
        origin()
    );
    std::fs::write(&config, text).unwrap();
    let arguments = ["--config", config.to_str().unwrap(), "--upgrade-socket", control.to_str().unwrap()];
    let mut running = RunningAccelerator::start(&arguments);
    assert!(get(&running.address).contains("fwd=uri-miss; stored"));
    let next = RunningAccelerator::start(&arguments);
    running.wait();
    assert!(get(&next.address).contains("Cache-Status: plimsoll; hit"));
    assert_eq!((&next.address, &next.admin), (&running.address, &running.admin));
    next.stop();
}

#[test]
fn sigusr2_starts_the_program_anew_and_systemd_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let control = folder.path().join("control");
    let manager = folder.path().join("manager");
    let notified = UnixDatagram::bind(&manager).unwrap();
    let next_notice = || {
        let mut room = [0; 100];
        let length = notified.recv(&mut room).unwrap();
        String::from_utf8(room[..length].to_vec()).unwrap()
    };
    let mut command = program();
    command.arg("--json").args(arguments(&origin(), &control)).env("NOTIFY_SOCKET", &manager);
    let mut running = RunningAccelerator::spawn(command);
    assert_eq!(next_notice(), "READY=1");
    running.signal(Signal::USR2);
    let mut notices = [next_notice(), next_notice()];
    notices.sort();
    let successor = notices[0].strip_prefix("MAINPID=").unwrap_or_else(|| panic!("{notices:?}"));
    let successor = Pid::from_raw(successor.parse().unwrap()).unwrap();
    assert_eq!(notices[1], "READY=1");
    // Its standard error, which the new process has too, ends with the last of both.
    running.child.wait().unwrap();
    assert!(get(&running.address).ends_with("hello"));
    kill_process(successor, Signal::TERM).unwrap();
    assert_eq!(next_notice(), "STOPPING=1");
    let said = running.wait();
    assert!(said.contains("has taken over.") && said.contains("Press Ctrl-C again"), "{said}");
    while test_kill_process(successor).is_ok() {
        std::thread::yield_now();
    }
}
