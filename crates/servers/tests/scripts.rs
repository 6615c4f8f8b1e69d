//! PHP and Python generate the same pages, byte for byte. Each script runs in the web server that comes with
//! its language, so that status and header fields are checked as sent.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use servers::gateway::GeneratedPage;

/// Serves the module in the working directory on a port of the kernel's choice, which is printed.
const PYTHON: &str = "\
import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server
import dyn
class Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass
server = make_server('127.0.0.1', 0, dyn.application, handler_class=Quiet)
print(f'http://127.0.0.1:{server.server_port})', file=sys.stderr, flush=True)
server.serve_forever()
";

const CASES: [(&str, &str, &str); 25] = [
    ("GET", "/dyn", ""),
    ("GET", "/dyn", "size=1"),
    ("GET", "/dyn", "seed=1&size=1000"),
    ("GET", "/dyn", "size=100000&seed=2147483648"),
    ("GET", "/dyn", "size=200&seed=2147483649"),
    ("GET", "/dyn", "size=200&seed=9223372036854775808"),
    ("GET", "/dyn", "size=200&seed=18446744073709551615"),
    ("GET", "/dyn", "size=200&seed=18446744073709551616"),
    ("GET", "/dyn", "size=200&seed=00000000000000000007"),
    ("GET", "/dyn", "size=200&seed=000000000000000000007"),
    ("GET", "/dyn", "size=0"),
    ("GET", "/dyn", "size=10485761"),
    ("GET", "/dyn", "size=18446744073709551615"),
    ("GET", "/dyn", "size="),
    ("GET", "/dyn", "size=1&size=1"),
    ("GET", "/dyn", "size=+5"),
    ("GET", "/dyn", "size=5&"),
    ("GET", "/dyn", "x=1"),
    ("GET", "/a/file.dyn-send", "seed=3"),
    ("GET", "/cgi-bin/simple", "seed=4"),
    ("GET", "/cgi-bin/simple", "size=64&seed=5"),
    ("GET", "/cgi-bin/simple", "size=63"),
    ("POST", "/dyn", "size=5"),
    ("GET", "/other", "size=5"),
    ("POST", "/other", ""),
];

/// A language's web server, killed when dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts it and reads its address from standard error: the first `http://ADDRESS)`.
    fn start(command: &mut Command, missing: &str) -> Server {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("{error}\nhint: `apt-get install {missing}`"));
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            line.split_once("http://").map(|(_, rest)| rest.split(')').next().unwrap().to_owned())
        });
        // Drains the rest of its output, so that it does not block.
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.unwrap_or_else(|| {
            panic!("{command:?} ended before it listened\nhint: `apt-get install {missing}`")
        });
        Server { child, address }
    }

    /// Returns the head, in lower case, and the body.
    fn ask(&self, method: &str, path: &str, query: &str) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("{method} {path}?{query} HTTP/1.0\r\nContent-Length: 0\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let length = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
        let body = bytes.split_off(length);
        (String::from_utf8(bytes).unwrap().to_lowercase(), body)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn check_all(server: &Server) {
    for (method, path, query) in CASES {
        let (head, body) = server.ask(method, path, query);
        let case = format!("{method} {path}?{query}");
        let page = GeneratedPage::answer(method.as_bytes(), path.as_bytes(), query.as_bytes());
        assert!(head.lines().next().unwrap().contains(&format!(" {} ", page.status)), "{case}: {head}");
        let length = page.body.left();
        assert!(head.contains(&format!("\r\ncontent-length: {length}\r\n")), "{case}: {head}");
        for (name, value) in page.fields() {
            let field = format!("\r\n{name}: {}\r\n", std::str::from_utf8(value).unwrap());
            assert!(head.contains(&field.to_lowercase()), "{case}: {head}");
        }
        assert!(body == page.body.into_bytes(), "{case}: {}", body.escape_ascii());
    }
}

#[test]
fn php_generates_the_same_pages() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("dyn.php"), include_str!("../../../gateways/dyn.php")).unwrap();
    let mut command = Command::new("php");
    command.args(["-n", "-S", "127.0.0.1:0", "dyn.php"]).current_dir(folder.path());
    check_all(&Server::start(&mut command, "php-cli"));
}

#[test]
fn python_generates_the_same_pages() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("dyn.py"), include_str!("../../../gateways/dyn.py")).unwrap();
    let mut command = Command::new("python3");
    command.args(["-c", PYTHON]).current_dir(folder.path());
    check_all(&Server::start(&mut command, "python3"));
}
