//! Peers for behavior that the built-in server lacks: a script per connection, on a thread of its own.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

/// A listener whose connections are handled one after another.
pub(crate) struct Peer {
    pub address: SocketAddr,
    thread: JoinHandle<()>,
}

impl Peer {
    /// Handles connections with the given scripts, in order, then stops listening.
    pub(crate) fn start(scripts: Vec<Box<dyn FnOnce(TcpStream) + Send>>) -> Peer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            for script in scripts {
                let (stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                stream.set_nodelay(true).unwrap();
                script(stream);
            }
        });
        Peer { address, thread }
    }

    /// Waits until all scripts have ended; their failed assertions fail the test.
    pub(crate) fn join(self) {
        self.thread.join().unwrap();
    }
}

/// Creates a script.
pub(crate) fn connection(
    script: impl FnOnce(TcpStream) + Send + 'static,
) -> Box<dyn FnOnce(TcpStream) + Send> {
    Box::new(script)
}

/// Reads up to the end of a request head and returns it; empty if the client has closed instead.
pub(crate) fn read_request(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => {
                break;
            }
            n => head.extend_from_slice(&piece[..n.unwrap()]),
        }
    }
    String::from_utf8(head).unwrap()
}

/// Sends the same bytes until the client closes, at most 256 MiB; returns the number of bytes sent.
pub(crate) fn send_endlessly(stream: &mut TcpStream, bytes: &[u8]) -> u64 {
    let mut sent = 0;
    while sent < 256 << 20 && stream.write_all(bytes).is_ok() {
        sent += bytes.len() as u64;
    }
    sent
}

/// Resets a connection.
pub(crate) fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
}
