//! Scripted servers, and helpers for requests to them.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use accelerator::message::{BodyError, NoBody, RequestBody};
use accelerator::origin::{
    OriginClient, OriginFailure, OriginServer, OriginSettings, Servers, UpstreamRequest, UpstreamResponse,
};
use bytes::Bytes;
use http1::HeaderLines;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket};

/// A step of a server's script; at the end of the script it closes the connection.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Reads up to the end of a head.
    Read,
    /// Reads this many bytes.
    ReadBody(usize),
    /// Reads until the other side has closed.
    ReadEnd,
    /// Sends this.
    Send(Vec<u8>),
    /// Sends this, byte by byte.
    Drip(Vec<u8>),
    /// Sends back its input until it ends.
    Echo,
    /// Does nothing more, and keeps the connection open.
    Hold,
}

/// Sends this text.
pub(crate) fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

/// A 200 response with this body.
pub(crate) fn reply(body: &str) -> Step {
    send(&format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

/// A server that runs one script per connection, and accepts no more after the last.
#[derive(Debug)]
pub(crate) struct ScriptedOrigin {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
}

impl ScriptedOrigin {
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> ScriptedOrigin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
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
        ScriptedOrigin { address, received }
    }

    /// Returns the input of each `Hear`, `HearBody` and `HearEnd`, in the order in which they ended.
    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until so many have ended.
    pub(crate) async fn wait_for_received(&self, n: usize) -> Vec<String> {
        while self.received().len() < n {
            tokio::task::yield_now().await;
        }
        self.received()
    }
}

/// Runs a script. A broken connection ends it: the test notices by the missing input.
pub(crate) async fn play<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    script: Vec<Step>,
    received: Arc<Mutex<Vec<String>>>,
) {
    for step in script {
        match take_step(stream, step).await {
            Ok(Some(text)) => received.lock().unwrap().push(text),
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
        Step::Read => {
            while !bytes.ends_with(b"\r\n\r\n") {
                bytes.push(stream.read_u8().await?);
            }
        }
        Step::ReadBody(length) => {
            bytes.resize(length, 0);
            stream.read_exact(&mut bytes).await?;
        }
        Step::ReadEnd => {
            // A reset is an end, too.
            let _ = stream.read_to_end(&mut bytes).await;
        }
        Step::Send(bytes) => {
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
pub(crate) fn settings(addresses: &[SocketAddr]) -> OriginSettings {
    let server = |address: &SocketAddr| OriginServer { address: address.to_string(), weight: 1, tls: false };
    OriginSettings { servers: addresses.iter().map(server).collect(), ..OriginSettings::default() }
}

/// Makes the client of one thread, and the shared servers.
pub(crate) fn origins(settings: OriginSettings) -> (OriginClient, Arc<Servers>) {
    let servers = Servers::new(settings, Box::new(|_| ())).unwrap();
    (OriginClient::new(Arc::clone(&servers)), servers)
}

/// Returns an address at which nothing listens, as long as the returned socket is held.
pub(crate) fn dead_address() -> (SocketAddr, TcpSocket) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    (socket.local_addr().unwrap(), socket)
}

/// A request without a body for `/`.
pub(crate) fn request(method_name: &str) -> UpstreamRequest {
    UpstreamRequest {
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

/// Requests `/`.
pub(crate) async fn get(origins: &OriginClient) -> Result<UpstreamResponse, OriginFailure> {
    origins.send(&request("GET"), NoBody).await
}

/// Reads a whole body.
pub(crate) async fn body(reply: &mut UpstreamResponse) -> Result<Vec<u8>, BodyError> {
    let mut whole = Vec::new();
    while let Some(piece) = reply.body.next().await? {
        assert!(!piece.is_empty());
        whole.extend_from_slice(&piece);
    }
    assert!(reply.body.is_ended());
    Ok(whole)
}

/// Requests `/` and reads the whole body, which must be text.
pub(crate) async fn get_text(origins: &OriginClient) -> String {
    String::from_utf8(body(&mut get(origins).await.unwrap()).await.unwrap()).unwrap()
}

/// The body of a request: these pieces, then an error if there is one.
pub(crate) struct Pieces(VecDeque<Bytes>, Option<BodyError>);

pub(crate) fn pieces(pieces: &[&str], error: Option<BodyError>) -> Pieces {
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

/// Runs a test on a runtime like that of the accelerator's threads. A test that would wait for ever fails.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(Duration::from_secs(60), test).await };
    runtime.block_on(limited).expect("the test ends");
}
