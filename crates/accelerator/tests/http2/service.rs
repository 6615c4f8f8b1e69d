//! A scripted service, and a connection to it.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;

use accelerator::exchange::{Response, ResponseBody};
use accelerator::frontend::http2::{ConnectionEnd, Http2Settings, serve};
use accelerator::frontend::{ClientLimits, Service};
use accelerator::message::{
    BodyError, ClientRequest, ProxyReason, RequestBody, RequestHandling, ResponsePath,
};
use accelerator::observation::LogEntry;
use bytes::Bytes;
use cache_policy::Scheme;
use h2::client::SendRequest;
use http1::HeaderLines;
use tokio::io::DuplexStream;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use units::Nanos;

/// The size of `/large` in bytes.
pub(crate) const LARGE_BYTES: usize = 3 << 20;

/// The capacity of the duplex pipe between client and server.
const PIPE_BYTES: usize = 64 * 1024;

/// The service and its records.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub requests: RefCell<Vec<ClientRequest>>,
    /// The outcomes of the bodies that were read.
    pub bodies: RefCell<Vec<Result<Vec<u8>, BodyError>>>,
    pub notes: RefCell<Vec<(ResponsePath, u16, u64)>>,
    pub lines: RefCell<Vec<String>>,
    /// Requests in progress, and the most at a time.
    pub under_way: Cell<usize>,
    pub under_way_max: Cell<usize>,
    /// Notified of every request.
    pub asked: Notify,
    /// Releases `/hold`.
    pub go: Notify,
}

/// Counts a request while its response is wanted.
struct UnderWay<'a>(&'a Script);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.set(self.0.under_way.get() - 1);
    }
}

impl Script {
    fn begin(&self, request: &ClientRequest) -> UnderWay<'_> {
        self.requests.borrow_mut().push(request.clone());
        self.under_way.set(self.under_way.get() + 1);
        self.under_way_max.set(self.under_way_max.get().max(self.under_way.get()));
        self.asked.notify_one();
        UnderWay(self)
    }

    async fn read<B: RequestBody>(&self, mut body: B) -> Result<Vec<u8>, BodyError> {
        let mut content = Vec::new();
        let outcome = loop {
            match body.next().await {
                Ok(Some(piece)) => content.extend_from_slice(&piece),
                Ok(None) => break Ok(content),
                Err(error) => break Err(error),
            }
        };
        self.bodies.borrow_mut().push(outcome.clone());
        outcome
    }
}

fn reply(status: u16, lines: &[(&str, &str)], body: ResponseBody) -> Response {
    let mut written = HeaderLines::new();
    for (name, value) in lines {
        written.push(name.as_bytes(), value.as_bytes());
    }
    let handling =
        RequestHandling { path: ResponsePath::Memory, reason: ProxyReason::Fresh.into(), origin_time: None };
    Response { status, lines: written, body, handling, memo: None }
}

fn pieces(parts: &[&'static str]) -> ResponseBody {
    ResponseBody::Pieces(parts.iter().map(|part| Bytes::from_static(part.as_bytes())).collect())
}

/// Returns the body of `/large`.
pub(crate) fn large() -> Vec<u8> {
    (0..LARGE_BYTES).map(|k| (k % 251) as u8).collect()
}

impl Service for Script {
    fn track_request(&self) -> impl Sized {}

    async fn handle<B: RequestBody>(self: &Rc<Self>, request: ClientRequest, body: B) -> Response {
        let _under_way = self.begin(&request);
        match &request.target[..] {
            b"/hello" if request.method_name == b"HEAD" => {
                reply(200, &[("Content-Length", "5")], ResponseBody::Empty)
            }
            b"/hello" => reply(
                200,
                &[("Content-Length", "5"), ("X-Two", "1"), ("X-Two", "2")],
                pieces(&["he", "", "llo", ""]),
            ),
            b"/nothing" => reply(200, &[("Content-Length", "0")], pieces(&[])),
            b"/current" => reply(304, &[("ETag", "\"a\"")], ResponseBody::Empty),
            b"/large" => reply(200, &[], ResponseBody::Pieces(vec![Bytes::from(large())])),
            b"/hold" => {
                self.go.notified().await;
                reply(200, &[], pieces(&["held"]))
            }
            b"/wait" => pending().await,
            b"/echo" => match self.read(body).await {
                Ok(content) => reply(200, &[], ResponseBody::Pieces(vec![Bytes::from(content)])),
                Err(_) => reply(400, &[], ResponseBody::Empty),
            },
            b"/no-status" => reply(7, &[], ResponseBody::Empty),
            _ => reply(404, &[], ResponseBody::Empty),
        }
    }

    fn refuse(&self, status: u16, reason: ProxyReason, _is_head: bool) -> Response {
        reply(status, &[("X-Reason", reason.name())], ResponseBody::Empty)
    }

    fn note(&self, handling: &RequestHandling, status: u16, bytes_out: u64) {
        self.notes.borrow_mut().push((handling.path, status, bytes_out));
    }

    fn is_logged(&self) -> bool {
        true
    }

    fn log(&self, entry: &LogEntry<'_>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let method = text(entry.method);
        let target = text(entry.target);
        let host = text(entry.authority);
        let agent = entry.user_agent.map_or("-".into(), text);
        let line = format!("{method} {host} {target} {} {} {agent}", entry.status, entry.body_bytes);
        self.lines.borrow_mut().push(line);
    }
}

/// The server's side of a connection, and the client's end of it.
pub(crate) struct Fixture {
    pub script: Rc<Script>,
    pub serving: JoinHandle<ConnectionEnd>,
    /// Triggers a graceful stop.
    pub stopping: Rc<Notify>,
    pub near: DuplexStream,
}

/// Time limits that no test reaches by chance.
pub(crate) fn limits() -> ClientLimits {
    ClientLimits { head_bytes_max: 16 * 1024, body_bytes_max: 1000 * 1000, ..ClientLimits::default() }
}

/// Starts to serve a connection.
pub(crate) fn fixture(limits: ClientLimits, settings: Http2Settings) -> Fixture {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let script = Rc::<Script>::default();
    let stopping = Rc::<Notify>::default();
    let service = Rc::clone(&script);
    let stop = Rc::clone(&stopping);
    let serving = tokio::task::spawn_local(async move {
        let peer = ("192.0.2.1:4711".parse().unwrap(), Scheme::Https);
        serve((far, |_| 0), peer, &service, &limits, &settings, stop.notified()).await
    });
    Fixture { script, serving, stopping, near }
}

/// A client of the `h2` library.
pub(crate) struct Client {
    pub script: Rc<Script>,
    pub serving: JoinHandle<ConnectionEnd>,
    pub stopping: Rc<Notify>,
    pub send: SendRequest<Bytes>,
    /// Ends when the connection does.
    pub connection: JoinHandle<Result<(), h2::Error>>,
}

/// Connects with a window for bodies of so many bytes.
pub(crate) async fn connect(limits: ClientLimits, settings: Http2Settings, window_bytes: u32) -> Client {
    let Fixture { script, serving, stopping, near } = fixture(limits, settings);
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(window_bytes).initial_connection_window_size(1 << 20);
    let (send, connection) = builder.handshake(near).await.unwrap();
    let connection = tokio::task::spawn_local(connection);
    Client { script, serving, stopping, send, connection }
}

/// Connects with default settings.
pub(crate) async fn usual() -> Client {
    connect(limits(), Http2Settings::default(), 65_535).await
}

/// A request for a target of `example.org`.
pub(crate) fn get(target: &str) -> http::Request<()> {
    http::Request::get(format!("https://example.org{target}")).body(()).unwrap()
}

/// Status, fields and body of a reply.
#[derive(Debug)]
pub(crate) struct ServiceReply {
    pub head: http::response::Parts,
    pub body: Vec<u8>,
}

impl Client {
    /// Sends a request without a body and takes the reply, window by window.
    pub(crate) async fn ask(&mut self, request: http::Request<()>) -> Result<ServiceReply, h2::Error> {
        self.send = self.send.clone().ready().await?;
        let (response, _) = self.send.send_request(request, true)?;
        take(response.await?).await
    }
}

/// Reads a response to its end.
pub(crate) async fn take(response: http::Response<h2::RecvStream>) -> Result<ServiceReply, h2::Error> {
    let (head, mut stream) = response.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece?;
        body.extend_from_slice(&piece);
        stream.flow_control().release_capacity(piece.len())?;
    }
    Ok(ServiceReply { head, body })
}

/// Runs a test on a thread with local tasks; none takes long.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_time().build_local(LocalOptions::default()).unwrap();
    runtime
        .block_on(async { tokio::time::timeout(std::time::Duration::from_secs(60), future).await.unwrap() })
}

/// A short time limit, for tests in which one passes.
pub(crate) const SHORT: Nanos = Nanos::from_millis(50);
