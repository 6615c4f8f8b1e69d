//! The real program: a response from the origin, a hit, a stop; exit codes and help; restarts and upgrades.

mod fixture;
mod load;
mod restarts;
mod slow_readers;
mod upgrades;

use std::net::{TcpListener, TcpStream};
use std::process::Output;

use crate::fixture::{RunningAccelerator, end, get, origin};

#[test]
fn it_serves_from_its_cache_until_it_is_told_to_stop() {
    let running =
        RunningAccelerator::start(&["--origin", &origin(), "--listen", "127.0.0.1:0", "--workers", "1"]);
    let address = running.address.as_str();

    for expected in ["plimsoll; fwd=uri-miss; stored", "plimsoll; hit"] {
        let response = get(address);
        assert!(
            response.starts_with("HTTP/1.1 200 OK\r\n") && response.ends_with("\r\n\r\nhello"),
            "{response}"
        );
        let status = response.lines().find_map(|line| line.strip_prefix("Cache-Status: ")).unwrap();
        assert!(status.starts_with(expected), "{status}");
    }

    let address = address.to_owned();
    let said = running.stop();
    assert!(said.contains("Stopping after the requests in flight."), "{said}");
    assert!(TcpStream::connect(address).is_err(), "it no longer listens");
}

#[test]
fn mistakes_and_a_port_in_use_have_a_message_and_an_exit_code() {
    let said = |output: Output| String::from_utf8(output.stderr).unwrap();
    assert!(said(end(&[], 2)).contains("--origin <URL>"));
    assert!(
        said(end(&["--config", "none.toml"], 2))
            .starts_with("error: configuration `none.toml` cannot be read: ")
    );
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let listening = end(&["--origin", "http://127.0.0.1:1", "--listen", &address], 4);
    assert!(said(listening).starts_with(&format!("error: cannot listen on {address}: ")));
    let checked = end(&["--origin", "http://127.0.0.1:1", "--check"], 0);
    assert_eq!(said(checked), "The configuration is valid.\n");
}

#[test]
fn help_and_version_are_those_of_the_program() {
    let help = String::from_utf8(end(&["-h"], 0).stdout).unwrap();
    assert!(help.starts_with("Run a caching reverse proxy in front of a web server\n"), "{help}");
    assert!(help.contains("Usage: plimsoll-accelerator [OPTIONS]"), "{help}");
    let version = String::from_utf8(end(&["--version"], 0).stdout).unwrap();
    assert_eq!(version, format!("plimsoll-accelerator {}\n", env!("CARGO_PKG_VERSION")));
}
