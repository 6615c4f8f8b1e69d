//! The origin server: a thread per connection, responses by path, and a list of all requests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use http1::{BodyReader, Framing, ParseStatus, parse_request};

/// The size of `/large` in bytes: more than the buffers of a connection hold.
pub(crate) const LARGE: usize = 12 * 1024 * 1024;

/// The server.
pub(crate) struct Origin {
    pub address: SocketAddr,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The requests so far: head, body.
    asked: Mutex<Vec<(String, Vec<u8>)>>,
    changed: Condvar,
    /// Whether `/held` may be answered.
    released: Mutex<bool>,
    release: Condvar,
}

impl Origin {
    /// Starts the server; it ends with the test's process.
    pub(crate) fn start() -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::<State>::default();
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &state));
            }
        });
        Origin { address, state }
    }

    /// Returns the requests so far.
    pub(crate) fn asked(&self) -> Vec<(String, Vec<u8>)> {
        self.state.asked.lock().unwrap().clone()
    }

    /// Returns the request lines so far, without the version.
    pub(crate) fn lines(&self) -> Vec<String> {
        let first = |head: &str| head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
        self.asked().iter().map(|(head, _)| first(head)).collect()
    }

    /// Waits until so many requests have arrived.
    pub(crate) fn wait_for(&self, n: usize) {
        let asked = self.state.asked.lock().unwrap();
        drop(self.state.changed.wait_while(asked, |asked| asked.len() < n).unwrap());
    }

    /// Lets `/held` be answered.
    pub(crate) fn release(&self) {
        *self.state.released.lock().unwrap() = true;
        self.state.release.notify_all();
    }
}

/// Returns the body of `/large`.
pub(crate) fn large() -> Vec<u8> {
    (0..LARGE).map(|at| (at / 7 % 251) as u8).collect()
}

fn serve(mut stream: TcpStream, state: &State) {
    let mut input = Vec::new();
    while let Some((head, body)) = read(&mut stream, &mut input) {
        let target = head.split(' ').nth(1).unwrap().to_owned();
        let mut asked = state.asked.lock().unwrap();
        asked.push((head.clone(), body.clone()));
        drop(asked);
        state.changed.notify_all();
        if !answer(&mut stream, &head, &target, &body, state) {
            return;
        }
    }
}

/// Sends a response; returns whether the connection goes on.
fn answer(stream: &mut TcpStream, head: &str, target: &str, body: &[u8], state: &State) -> bool {
    let method = head.split(' ').next().unwrap();
    let path = target.split('?').next().unwrap();
    let mut send = |lines: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: {}\r\n\r\n", body.len());
        let body = if method == "HEAD" { &[][..] } else { body };
        stream.write_all(&[head.as_bytes(), body].concat()).is_ok()
    };
    match path {
        "/kept" => {
            send("Cache-Control: max-age=1000\r\nETag: \"k\"\r\nSurrogate-Key: all\r\n", target.as_bytes())
        }
        "/large" => send("Cache-Control: max-age=1000\r\n", &large()),
        "/echo" => send("Cache-Control: no-store\r\n", body),
        "/held" => {
            let released = state.released.lock().unwrap();
            drop(state.release.wait_while(released, |released| !*released).unwrap());
            send("Cache-Control: no-store\r\n", b"released")
        }
        "/hints" => {
            let interims = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
            stream.write_all(interims.as_bytes()).is_ok() && {
                let head = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 5\r\n\r\n";
                stream.write_all(format!("{head}hints").as_bytes()).is_ok()
            }
        }
        "/chunked" => {
            let reply = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n\
                         3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n";
            stream.write_all(reply.as_bytes()).is_ok()
        }
        "/cut-length" => {
            let reply = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 100\r\n\r\n1234567890";
            let _ = stream.write_all(reply.as_bytes());
            false
        }
        "/cut-chunked" => {
            let reply = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
            let _ = stream.write_all(reply.as_bytes());
            false
        }
        "/bad-chunk" | "/bad-chunk-to-store" => {
            let lifetime = if path == "/bad-chunk" { "no-store" } else { "max-age=1000" };
            let head =
                format!("HTTP/1.1 200 OK\r\nCache-Control: {lifetime}\r\nTransfer-Encoding: chunked\r\n");
            let _ = stream.write_all(format!("{head}\r\nx\r\nabc\r\n0\r\n\r\n").as_bytes());
            false
        }
        "/peculiar" => {
            let head =
                "HTTP/1.1 200 OK\nA : b\n  c\nTransfer-Encoding: identity, chunked\nContent-Length: 9\n\n";
            stream.write_all(format!("{head}3 \r\nabc\r\n0  ;x\r\n\r\n").as_bytes()).is_ok()
        }
        "/socket" => {
            let reply =
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello ";
            let _ = stream.write_all(reply.as_bytes());
            let _ = std::io::copy(&mut stream.try_clone().unwrap(), stream);
            false
        }
        _ => send("Cache-Control: no-store\r\n", target.as_bytes()),
    }
}

/// Reads a request: head and body, the body without framing.
fn read(stream: &mut TcpStream, input: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let mut room = [0; 16 * 1024];
    let (head, length) = loop {
        match parse_request(input).expect("what the accelerator sends is well formed") {
            ParseStatus::Complete { head, length } => break (head, length),
            ParseStatus::Partial => match stream.read(&mut room) {
                Ok(0) | Err(_) => return None,
                Ok(read) => input.extend_from_slice(&room[..read]),
            },
        }
    };
    let text = String::from_utf8(input.drain(..length).collect()).unwrap();
    assert_ne!(head.framing, Framing::ToEof);
    let mut reader = BodyReader::new(head.framing);
    let mut body = Vec::new();
    while !reader.is_done() {
        if input.is_empty() {
            match stream.read(&mut room) {
                Ok(0) | Err(_) => return None,
                Ok(read) => input.extend_from_slice(&room[..read]),
            }
        }
        let piece = reader.read(input).expect("what the accelerator sends is well formed");
        body.extend_from_slice(&input[piece.data]);
        input.drain(..piece.consumed);
    }
    Some((text, body))
}
