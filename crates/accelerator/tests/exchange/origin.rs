//! A scripted origin.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::{AbortHandle, spawn_local};

/// A request that the origin has received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub head: String,
    pub body: String,
    /// The number of requests before it.
    pub index: usize,
}

impl ReceivedRequest {
    pub(crate) fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    pub(crate) fn method(&self) -> &str {
        self.head.split(' ').next().unwrap_or_default()
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(one, _)| one.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// A step of the origin's script.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Waits until the test opens the latch.
    Wait(Latch),
    /// Closes the connection.
    Close,
}

/// A latch, closed until it is opened.
#[derive(Debug, Clone)]
pub(crate) struct Latch(Rc<Semaphore>);

impl Latch {
    pub(crate) fn new() -> Latch {
        Latch(Rc::new(Semaphore::new(0)))
    }

    pub(crate) fn open(&self) {
        self.0.close();
    }

    async fn pass(&self) {
        // An error means that the latch is open.
        let _ = self.0.acquire().await;
    }
}

/// Writes a response with a length; `lines` each end with CR LF.
pub(crate) fn reply(status: u16, lines: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    vec![send(&format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\n{lines}\r\n{body}"))]
}

/// A response with a lifetime of a minute.
pub(crate) fn lasting(body: &str) -> Vec<Step> {
    reply(200, "Cache-Control: max-age=60\r\n", body)
}

pub(crate) fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

type Script = Box<dyn Fn(&ReceivedRequest) -> Vec<Step>>;

pub(crate) struct Origin {
    pub address: SocketAddr,
    state: Rc<State>,
}

struct State {
    script: Script,
    received: RefCell<Vec<ReceivedRequest>>,
    arrived: Notify,
    n_received: Cell<usize>,
    tasks: RefCell<Vec<AbortHandle>>,
}

impl Origin {
    pub(crate) async fn start(script: impl Fn(&ReceivedRequest) -> Vec<Step> + 'static) -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Rc::new(State {
            script: Box::new(script),
            received: RefCell::default(),
            arrived: Notify::new(),
            n_received: Cell::new(0),
            tasks: RefCell::default(),
        });
        let accepting = spawn_local(accept(listener, Rc::clone(&state)));
        state.tasks.borrow_mut().push(accepting.abort_handle());
        Origin { address, state }
    }

    /// Returns all requests so far.
    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.state.received.borrow().clone()
    }

    pub(crate) fn n_received(&self) -> usize {
        self.state.n_received.get()
    }

    /// Waits until so many requests have arrived.
    pub(crate) async fn wait_for_requests(&self, n: usize) {
        loop {
            let arrived = self.state.arrived.notified();
            if n <= self.n_received() {
                return;
            }
            arrived.await;
        }
    }

    /// Closes everything: from now on connections are refused.
    pub(crate) async fn die(&self) {
        self.state.tasks.borrow_mut().drain(..).for_each(|task| task.abort());
        while TcpStream::connect(self.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    }
}

async fn accept(listener: TcpListener, state: Rc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let task = spawn_local(converse(stream, Rc::clone(&state)));
        state.tasks.borrow_mut().push(task.abort_handle());
    }
}

async fn converse(mut stream: TcpStream, state: Rc<State>) {
    let mut input = Vec::new();
    while let Some(received) = hear(&mut stream, &mut input, &state).await {
        state.received.borrow_mut().push(received.clone());
        state.n_received.set(state.n_received.get() + 1);
        state.arrived.notify_waiters();
        for step in (state.script)(&received) {
            match step {
                Step::Send(bytes) if stream.write_all(&bytes).await.is_err() => return,
                Step::Send(_) => {}
                Step::Wait(latch) => latch.pass().await,
                Step::Close => return,
            }
        }
    }
}

async fn hear(stream: &mut TcpStream, input: &mut Vec<u8>, state: &State) -> Option<ReceivedRequest> {
    let end = loop {
        if let Some(found) = input.windows(4).position(|four| four == b"\r\n\r\n") {
            break found + 4;
        }
        if stream.read_buf(input).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(input[..end].to_vec()).unwrap();
    let mut received = ReceivedRequest { head, body: String::new(), index: state.n_received.get() };
    let length = received.value("content-length").map_or(0, |value| value.parse().unwrap());
    while input.len() < end + length {
        if stream.read_buf(input).await.ok()? == 0 {
            return None;
        }
    }
    received.body = String::from_utf8(input[end..end + length].to_vec()).unwrap();
    input.drain(..end + length);
    Some(received)
}
