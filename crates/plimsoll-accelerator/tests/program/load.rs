//! Load during restarts and upgrades: any request that is not answered fails the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The clients; half of them keep their connections, half have one per request.
const CLIENTS: usize = 8;

/// The pause between requests of one client: some thousand requests a second in all.
const PAUSE: Duration = Duration::from_millis(8);

/// Clients that send requests until they are told to end.
pub(crate) struct Load {
    is_over: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    clients: Vec<JoinHandle<usize>>,
}

impl Load {
    /// Starts the clients.
    pub(crate) fn start(address: &str) -> Load {
        let is_over = Arc::<AtomicBool>::default();
        let answered = Arc::<AtomicUsize>::default();
        let client = |index: usize| {
            let is_over = Arc::clone(&is_over);
            let answered = Arc::clone(&answered);
            let address = address.to_owned();
            let keeps_connections = index.is_multiple_of(2);
            std::thread::spawn(move || {
                let mut kept = None;
                let mut closed = 0;
                while !is_over.load(Ordering::Relaxed) {
                    kept = ask(kept, &address, keeps_connections);
                    closed += usize::from(kept.is_none());
                    answered.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(PAUSE);
                }
                if keeps_connections { closed } else { 0 }
            })
        };
        let clients = (0..CLIENTS).map(client).collect();
        Load { is_over, answered, clients }
    }

    /// Waits until so many more requests have been answered.
    pub(crate) fn wait_for(&self, requests: usize) {
        let before = self.answered.load(Ordering::Relaxed);
        while self.answered.load(Ordering::Relaxed) < before + requests {
            assert!(!self.clients.iter().any(JoinHandle::is_finished), "a request has failed");
            std::thread::sleep(PAUSE);
        }
    }

    /// Ends the load. Returns how many kept connections were closed, which was announced each time.
    pub(crate) fn end(self) -> usize {
        self.is_over.store(true, Ordering::Relaxed);
        self.clients.into_iter().map(|client| client.join().expect("all requests are answered")).sum()
    }
}

/// Sends a request and reads its response. Returns the connection, unless it is closed, which has to be announced.
fn ask(kept: Option<BufReader<TcpStream>>, address: &str, keep_alive: bool) -> Option<BufReader<TcpStream>> {
    let connect = || BufReader::new(TcpStream::connect(address).expect("no connection is refused"));
    let mut stream = kept.unwrap_or_else(connect);
    let end = if keep_alive { "\r\n" } else { "Connection: close\r\n\r\n" };
    let request = format!("GET /a HTTP/1.1\r\nHost: site.example\r\n{end}");
    stream.get_mut().write_all(request.as_bytes()).expect("the request is sent");
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).expect("no connection is reset"), 0, "ended within {head:?}");
    }
    let mut body = [0; 5];
    stream.read_exact(&mut body).expect("the whole body");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && body == *b"hello", "{head}");
    (!head.contains("Connection: close\r\n")).then_some(stream)
}
