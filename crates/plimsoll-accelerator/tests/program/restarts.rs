//! Listening sockets that systemd holds: the next process answers who comes while the last one stops.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::fixture::{RunningAccelerator, get, origin, program, without_service_manager};
use crate::load::Load;

/// Returns a command that becomes the program, with a socket as its descriptor 3, as systemd starts services.
fn with_socket(socket: &TcpListener, arguments: &[&str]) -> Command {
    let script = "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=web exec \"$@\"";
    let mut command = without_service_manager(Command::new("sh"));
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_plimsoll-accelerator"), "--json"]).args(arguments);
    command.stdin(Stdio::from(OwnedFd::from(socket.try_clone().unwrap())));
    command
}

#[test]
fn no_connection_is_refused_by_restarts() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = origin();
    let address = socket.local_addr().unwrap().to_string();
    let start = || {
        RunningAccelerator::spawn(with_socket(
            &socket,
            &["--origin", &origin, "--listen", &address, "--workers", "2"],
        ))
    };
    let mut running = start();
    assert_eq!(running.address, address);
    let load = Load::start(&address);
    for _ in 0..5 {
        load.wait_for(100);
        running.stop();
        running = start();
    }
    load.wait_for(100);
    // Those of each restart but one may have been between requests when they were told.
    assert!(4 <= load.end(), "connections were kept, and closed with an announcement");
    running.stop();
}

#[test]
fn sockets_that_cannot_be_used_are_refused_with_the_reason() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let arguments = ["--origin", "http://127.0.0.1:1", "--listen", "127.0.0.2:0"];
    let said = |mut command: Command, code: i32| {
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    };
    let said_of_address = said(with_socket(&socket, &arguments), 2);
    let expected = format!(
        "error: systemd listens on `{}`, which is the address of no `[[listen]]`\nhint: ",
        socket.local_addr().unwrap()
    );
    assert!(said_of_address.starts_with(&expected), "{said_of_address}");
    let mut no_socket = with_socket(&socket, &arguments);
    let said_of_kind = said(
        {
            no_socket.stdin(Stdio::piped());
            no_socket
        },
        4,
    );
    let expected = "error: cannot use the socket `web` of systemd: it is not a listening TCP socket\n";
    assert_eq!(said_of_kind, expected);
    let mut missing = program();
    missing.args(arguments).env("LISTEN_FDS", "1").env("LISTEN_PID", "1").arg("--check");
    assert_eq!(said(missing, 0), "The configuration is valid.\n", "they are those of another process");
}

/// Goal: systemd's own program passes sockets in the way that is read here.
#[test]
fn a_socket_of_systemd_is_used() {
    const ACTIVATE: &str = "/usr/bin/systemd-socket-activate";
    if !Path::new(ACTIVATE).exists() {
        eprintln!("nothing checked: {ACTIVATE} is missing (`apt-get install systemd`)");
        return;
    }
    // It binds the address itself, and starts the program at the first connection.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = without_service_manager(Command::new(ACTIVATE));
    command.args(["--listen", &address, "--fdname", "web", env!("CARGO_BIN_EXE_plimsoll-accelerator")]);
    command.args(["--json", "--origin", &origin(), "--listen", &address]);
    let first = {
        let address = address.clone();
        std::thread::spawn(move || {
            while std::net::TcpStream::connect(&address).is_err() {
                std::thread::yield_now();
            }
            get(&address)
        })
    };
    let running = RunningAccelerator::spawn(command);
    assert_eq!(running.address, address);
    assert!(first.join().unwrap().ends_with("hello"));
    running.stop();
}
