//! A web server within the test that Plimsoll did not start, with pages of several kinds; it notes its requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// The server. Its threads end with their connections, or with the test.
pub(crate) struct Pages {
    pub url: String,
    log: Arc<Log>,
}

/// The number of connections from which on `/full` shows an error page.
const FULL: u64 = 20;

/// The number of requests for `/four` that are worked on at once, and the time that each takes: 800 a second in all.
const WORKERS: u32 = 4;
const SERVICE: Duration = Duration::from_millis(5);

#[derive(Default)]
struct Log {
    n: AtomicU64,
    n_connections: AtomicU64,
    first: Mutex<Vec<String>>,
    n_busy: Mutex<u32>,
    worker_is_free: Condvar,
}

impl Log {
    /// Takes the time of a request to a server with a few workers, behind those that came before.
    fn work(&self) {
        let busy = self.n_busy.lock().unwrap();
        *self.worker_is_free.wait_while(busy, |n| WORKERS <= *n).unwrap() += 1;
        thread::sleep(SERVICE);
        *self.n_busy.lock().unwrap() -= 1;
        self.worker_is_free.notify_one();
    }
}

impl Pages {
    pub(crate) fn start() -> Pages {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let log = Arc::new(Log::default());
        let of_server = Arc::clone(&log);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&of_server);
                thread::spawn(move || {
                    log.n_connections.fetch_add(1, Ordering::Relaxed);
                    serve(&stream, &log);
                    log.n_connections.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        Pages { url, log }
    }

    /// Returns the number of requests so far.
    pub(crate) fn n_requests(&self) -> u64 {
        self.log.n.load(Ordering::Relaxed)
    }

    /// Returns the first requests, each as its head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.log.first.lock().unwrap().clone()
    }
}

fn serve(stream: &TcpStream, log: &Log) -> Option<()> {
    let mut input = BufReader::new(stream);
    loop {
        let request = read_request(&mut input)?;
        let n = log.n.fetch_add(1, Ordering::Relaxed);
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        {
            let mut first = log.first.lock().unwrap();
            if first.len() < 10 {
                first.push(request);
            }
        }
        let (status, field, body) = match path.split('?').next().unwrap_or_default() {
            "/full" if FULL <= log.n_connections.load(Ordering::Relaxed) => {
                ("200 OK", "Content-Type: text/html; charset=utf-8", "<p>too many visitors".to_owned())
            }
            "/" | "/full" => {
                ("200 OK", "Content-Type: text/html; charset=utf-8", "<p>always the same".to_owned())
            }
            "/four" => {
                log.work();
                ("200 OK", "X: y", "four at a time".to_owned())
            }
            "/time" => ("200 OK", "Content-Type: text/plain", format!("request {n}")),
            "/old" => ("301 Moved Permanently", "Location: /time", String::new()),
            "/post" => ("201 Created", "Content-Type: application/json", "{}".to_owned()),
            "/fails" => ("500 Internal Server Error", "X: y", String::new()),
            "/turns" if n.is_multiple_of(2) => ("202 Accepted", "X: y", String::new()),
            "/turns" => ("200 OK", "X: y", String::new()),
            _ => ("404 Not Found", "X: y", String::new()),
        };
        let reply = format!("HTTP/1.1 {status}\r\n{field}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        (&mut &*stream).write_all(reply.as_bytes()).ok()?;
    }
}

fn read_request(input: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut head = String::new();
    let mut length = 0;
    loop {
        let before = head.len();
        if input.read_line(&mut head).ok()? == 0 {
            return None;
        }
        let line = head[before..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}
