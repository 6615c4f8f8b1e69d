//! The real binary as a page generator: as a CGI program, over FastCGI, and behind a proxy.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts a server and returns the process, whose standard input is open, and the address that it prints.
fn serve(arguments: &[&str]) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    command.arg("serve").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
    (child, ready["ready"]["address"].as_str().unwrap().to_owned())
}

/// Stops a server by closing its standard input, as the exit of its parent does.
fn end(mut child: Child) {
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_binary_answers_one_cgi_request_under_the_name_plimsoll_cgi() {
    for name in ["plimsoll-cgi", "/usr/lib/cgi-bin/plimsoll-cgi"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        // CGI passes some queries as arguments, which are ignored.
        command.arg0(name).arg("run").env_clear();
        command.env("REQUEST_METHOD", "GET").env("SCRIPT_NAME", "/dyn");
        command.env("REQUEST_URI", "/dyn?size=8&seed=1").env("QUERY_STRING", "size=8&seed=1");
        let output = command.output().unwrap();
        assert!(output.status.success());
        assert_eq!(
            String::from_utf8(output.stdout).unwrap(),
            "Status: 200 OK\r\nContent-Length: 8\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\n\r\n\
             QMZRHLAJ"
        );
    }
}

#[test]
fn a_gateway_creates_and_removes_its_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.sock");
    let listen = format!("unix:{}", path.display());
    let (child, address) = serve(&["gateway", "--listen", &listen, "--workers", "3"]);
    assert_eq!(address, listen);
    let mut stream = UnixStream::connect(&path).unwrap();
    // FCGI_GET_VALUES of FCGI_MAX_REQS.
    stream.write_all(b"\x01\x09\0\0\0\x0f\0\0\x0d\0FCGI_MAX_REQS").unwrap();
    let mut reply = [0; 24];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"\x01\x0a\0\0\0\x10\0\0\x0d\x01FCGI_MAX_REQS3");
    end(child);
    assert!(!path.exists());
}

#[test]
fn an_app_server_generates_pages_over_http() {
    let (child, address) = serve(&["pages", "--workers", "2"]);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /dyn?size=8 HTTP/1.0\r\n\r\n").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.0 200 OK\r\n") && reply.ends_with("\r\n\r\nASEROBDH"), "{reply}");
    end(child);
}

#[test]
fn an_invalid_address_or_number_of_workers_is_a_usage_error() {
    let says = |arguments: &[&str], text: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
        let output = command.arg("serve").args(arguments).stdin(Stdio::null()).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && errors.contains(text), "{errors}");
    };
    says(&["gateway", "--listen", "0.0.0.0:9000"], "expected `unix:/PATH` or a loopback address");
    says(&["gateway", "--workers", "0"], "expected a number from 1 to 1024");
    says(&["pages", "--workers", "many"], "expected a number from 1 to 1024");
}
