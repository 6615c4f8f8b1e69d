//! A third-party server with its own files: Python's.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Python's web server, serving a directory. It is killed when dropped.
pub(crate) struct Website {
    child: Child,
    pub url: String,
}

impl Website {
    pub(crate) fn start(folder: &Path) -> Website {
        let port = free_port();
        let mut child = Command::new("/usr/bin/python3")
            .args(["-m", "http.server", "--bind", "127.0.0.1", "--directory"])
            .arg(folder)
            .arg(port.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .env("PYTHONUNBUFFERED", "1")
            .spawn()
            .expect("install it with `apt-get install python3`");
        // It prints its first line once it is listening.
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Website { child, url: format!("http://127.0.0.1:{port}/") }
    }
}

impl Drop for Website {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
