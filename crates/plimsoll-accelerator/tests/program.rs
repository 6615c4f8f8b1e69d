//! The real program: a response from the origin, a hit, a stop; exit codes and help.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll-accelerator"));
    command.env_remove("NOTIFY_SOCKET").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn end(arguments: &[&str], code: i32) -> Output {
    let output = program().args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A running accelerator; it is killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts an origin server that answers every connection with one cacheable response, and returns its URL.
fn origin() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            // The health of an origin server is not probed by default: each connection brings a request.
            BufReader::new(&stream).read_line(&mut line).unwrap();
            let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nConnection: close\r\nContent-Length: 5\r\n\r\n";
            stream.write_all(format!("{head}hello").as_bytes()).unwrap();
        }
    });
    url
}

/// Fetches a page and returns the whole response.
fn get(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /a HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn it_serves_from_its_cache_until_it_is_told_to_stop() {
    let arguments = ["--json", "--origin", &origin(), "--listen", "127.0.0.1:0", "--workers", "1"];
    let mut running = Running(program().args(arguments).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let address = ready["ready"]["address"].as_str().unwrap();

    for expected in ["plimsoll; fwd=uri-miss; stored", "plimsoll; hit"] {
        let response = get(address);
        assert!(
            response.starts_with("HTTP/1.1 200 OK\r\n") && response.ends_with("\r\n\r\nhello"),
            "{response}"
        );
        let status = response.lines().find_map(|line| line.strip_prefix("Cache-Status: ")).unwrap();
        assert!(status.starts_with(expected), "{status}");
    }

    kill_process(Pid::from_child(&running.0), Signal::TERM).unwrap();
    let mut said = String::new();
    running.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("Stopping after the requests in flight."), "{said}");
    assert_eq!(running.0.wait().unwrap().code(), Some(0), "{said}");
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
