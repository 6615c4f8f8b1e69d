//! Servers that do what a script says, and what is needed to ask them.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use accelerator::message::{BodyError, HeaderLines, NoBody, RequestBody};
use accelerator::origin::{
    OriginFailure, OriginReply, OriginServer, OriginSettings, Origins, Outgoing, Servers,
};
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

/// What a server does with a connection; at the end of the script it closes it.
#[derive(Debug, Clone)]
pub enum Step {
    /// Reads up to the end of a head.
    Hear,
    /// Reads this many bytes.
    HearBody(usize),
    /// Reads until the other side has ended.
    HearEnd,
    /// Says this.
    Say(Vec<u8>),
    /// Says this, byte by byte.
    Drip(Vec<u8>),
    /// Sends back what comes until it ends.
    Echo,
    /// Does nothing any more, and keeps the connection open.
    Hold,
}

/// Says this text.
pub fn say(text: &str) -> Step {
    Step::Say(text.as_bytes().to_vec())
}

/// A reply of 200 with this body.
pub fn reply(body: &str) -> Step {
    say(&format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

/// A server that plays one script per connection, and accepts no more after the last.
#[derive(Debug)]
pub struct Scripted {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    pub async fn start(scripts: Vec<Vec<Step>>) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        tokio::spawn(async move {
            for script in scripts {
                let (mut stream, _) = listener.accept().await.unwrap();
                let log = Arc::clone(&log);
                tokio::spawn(async move {
                    play(&mut stream, script, log).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Scripted { address, heard }
    }

    /// Returns what each `Hear`, `HearBody` and `HearEnd` has heard, in the order in which they ended.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// Waits until as many have ended.
    pub async fn heard_as_many_as(&self, n: usize) -> Vec<String> {
        while self.heard().len() < n {
            tokio::task::yield_now().await;
        }
        self.heard()
    }
}

/// Plays a script. A connection that breaks ends it: the test sees that by what is missing.
pub async fn play<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    script: Vec<Step>,
    heard: Arc<Mutex<Vec<String>>>,
) {
    for step in script {
        match take_step(stream, step).await {
            Ok(Some(text)) => heard.lock().unwrap().push(text),
            Ok(None) => {}
            Err(_) => return,
        }
    }
}

async fn take_step<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    step: Step,
) -> std::io::Result<Option<String>> {
    let mut bytes = Vec::new();
    match step {
        Step::Hear => {
            while !bytes.ends_with(b"\r\n\r\n") {
                bytes.push(stream.read_u8().await?);
            }
        }
        Step::HearBody(length) => {
            bytes.resize(length, 0);
            stream.read_exact(&mut bytes).await?;
        }
        Step::HearEnd => {
            // A reset is an end, too.
            let _ = stream.read_to_end(&mut bytes).await;
        }
        Step::Say(bytes) => {
            stream.write_all(&bytes).await?;
            stream.flush().await?;
            return Ok(None);
        }
        Step::Drip(bytes) => {
            for byte in bytes {
                stream.write_all(&[byte]).await?;
                tokio::task::yield_now().await;
            }
            return Ok(None);
        }
        Step::Echo => {
            while stream.read_buf(&mut bytes).await? != 0 {
                stream.write_all(&bytes).await?;
                bytes.clear();
            }
            return Ok(None);
        }
        Step::Hold => std::future::pending().await,
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Settings for these servers.
pub fn settings(addresses: &[SocketAddr]) -> OriginSettings {
    let server = |address: &SocketAddr| OriginServer { address: address.to_string(), weight: 1, tls: false };
    OriginSettings { servers: addresses.iter().map(server).collect(), ..OriginSettings::default() }
}

/// Makes the servers as one thread asks them, and as all share them.
pub fn origins(settings: OriginSettings) -> (Origins, Arc<Servers>) {
    let servers = Servers::new(settings, Box::new(|_| ())).unwrap();
    (Origins::new(Arc::clone(&servers)), servers)
}

/// An address at which nobody listens, as long as the socket is held that has it.
pub fn dead_address() -> (SocketAddr, TcpSocket) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    (socket.local_addr().unwrap(), socket)
}

/// A request without a body for `/`.
pub fn request(method_name: &str) -> Outgoing {
    Outgoing {
        method_name: method_name.as_bytes().to_vec(),
        target: b"/".to_vec(),
        authority: b"example.org".to_vec(),
        lines: HeaderLines::new(),
        content_length: None,
        has_body: false,
        is_safe: matches!(method_name, "GET" | "HEAD"),
        upgrade: None,
        key_hash: 0,
    }
}

/// Asks for `/`.
pub async fn get(origins: &Origins) -> Result<OriginReply, OriginFailure> {
    origins.send(&request("GET"), NoBody).await
}

/// Takes a whole body.
pub async fn body(reply: &mut OriginReply) -> Result<Vec<u8>, BodyError> {
    let mut whole = Vec::new();
    while let Some(piece) = reply.body.next().await? {
        assert!(!piece.is_empty());
        whole.extend_from_slice(&piece);
    }
    assert!(reply.body.is_ended());
    Ok(whole)
}

/// Asks for `/` and takes the whole body, which has to be text.
pub async fn get_text(origins: &Origins) -> String {
    String::from_utf8(body(&mut get(origins).await.unwrap()).await.unwrap()).unwrap()
}

/// The body of a request: these pieces, then an error if there is one.
pub struct Pieces(VecDeque<Bytes>, Option<BodyError>);

pub fn pieces(pieces: &[&str], error: Option<BodyError>) -> Pieces {
    Pieces(pieces.iter().map(|piece| Bytes::copy_from_slice(piece.as_bytes())).collect(), error)
}

impl RequestBody for Pieces {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        match (self.0.pop_front(), self.1.take()) {
            (Some(piece), error) => {
                self.1 = error;
                Ok(Some(piece))
            }
            (None, Some(error)) => Err(error),
            (None, None) => Ok(None),
        }
    }
}

/// Runs a test on a thread's run time as the accelerator's threads have it. A test that would wait for ever fails.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(60), test).await };
    runtime.block_on(limited).expect("the test ends");
}
