//! Running programs, and an origin server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The program, without what a service manager of this test might have passed.
pub(crate) fn program() -> Command {
    without_service_manager(Command::new(env!("CARGO_BIN_EXE_plimsoll-accelerator")))
}

/// Takes away what a service manager of this test might have passed, and what the test has open.
pub(crate) fn without_service_manager(mut command: Command) -> Command {
    for name in ["NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
pub(crate) fn end(arguments: &[&str], code: i32) -> Output {
    let output = program().args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A running accelerator; it is killed when dropped.
pub(crate) struct RunningAccelerator {
    pub child: Child,
    /// The address of its first listener.
    pub address: String,
    /// The address of its admin page.
    pub admin: Option<String>,
    said: Option<JoinHandle<String>>,
}

impl Drop for RunningAccelerator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl RunningAccelerator {
    /// Starts the program with these arguments, and waits until it serves.
    pub(crate) fn start(arguments: &[&str]) -> RunningAccelerator {
        let mut command = program();
        command.arg("--json").args(arguments);
        RunningAccelerator::spawn(command)
    }

    /// Starts a command that becomes the program, which prints its addresses.
    #[track_caller]
    pub(crate) fn spawn(mut command: Command) -> RunningAccelerator {
        let mut child = command.spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let mut error = child.stderr.take().unwrap();
        let said = std::thread::spawn(move || {
            let mut said = String::new();
            error.read_to_string(&mut said).unwrap();
            said
        });
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).unwrap();
        let mut running = RunningAccelerator { child, address: String::new(), admin: None, said: Some(said) };
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            panic!("it does not serve: {line}{}", running.wait());
        };
        running.address = ready["ready"]["address"].as_str().unwrap().to_owned();
        running.admin = ready["ready"]["admin"].as_str().map(str::to_owned);
        running
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Stops it by SIGTERM, and returns what it has said once it has ended as it should.
    #[track_caller]
    pub(crate) fn stop(mut self) -> String {
        self.signal(Signal::TERM);
        self.wait()
    }

    /// Waits until it has ended as it should, and returns what it has said.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> String {
        let status = self.child.wait().unwrap();
        let said = self.said.take().unwrap().join().unwrap();
        assert_eq!(status.code(), Some(0), "{said}");
        said
    }
}

/// Starts an origin server that answers every connection with one cacheable response, and returns its URL.
pub(crate) fn origin() -> String {
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
pub(crate) fn get(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /a HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}
