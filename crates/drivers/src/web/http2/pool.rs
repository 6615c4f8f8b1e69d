//! The connection pool of a load thread; each connection is shared by as many users as the plan says.
//!
//! | a connection is | when | then |
//! |---|---|---|
//! | none | no request yet | the first user connects, the others wait |
//! | in use | it is established | every user of the slot has streams on it |
//! | ended | the server ends it, it fails, it has carried all its requests, an operation on it timed out | open streams go on as far as possible; the next request opens another |

use std::cell::{Cell, RefCell};
use std::net::TcpStream as StdStream;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use http1::HEAD_BYTES_MAX;
use model::{ConnectionLifetime as ConnectionReuse, Outcome, Request, WebProtocol};
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;

use super::failure::{failure, io_failure};
use super::request::RequestTemplate;
use crate::net::OperationFailure;
use crate::net::tcp;
use crate::web::context::WebContext;
use crate::web::tls::{HandshakeCounts, TlsSettings};

/// Flow-control window per stream and connection: enough for 10 Gbit/s and 0.8 ms, and small enough to stay
/// in a cache. With 16 MiB, 100 KiB objects over 50 streams took up to 40 % more CPU.
const WINDOW_BYTES: u32 = 1 << 20;

/// Concurrent streams until the server has announced its limit (RFC 9113 §6.5.2 recommends no fewer).
const STREAMS_BEFORE_SETTINGS: usize = 100;

/// The shared connections of a load thread, and their request templates.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(super) templates: Vec<RequestTemplate>,
    /// Host and port of the server.
    pub(super) host: String,
    users_per_slot: usize,
    /// Requests after which a connection is replaced.
    requests_max: Option<u32>,
    n_users: Cell<usize>,
    slots: RefCell<Vec<Rc<ConnectionSlot>>>,
}

/// A slot for one connection after another, shared by a fixed group of users.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    current: RefCell<Option<Rc<SharedConnection>>>,
    /// Held by the user who connects.
    connecting: Mutex<()>,
    tls: Option<Arc<ClientConfig>>,
    /// Whether it belongs to one user only.
    pub(super) is_exclusive: bool,
}

/// An established connection that users share.
#[derive(Debug)]
pub(super) struct SharedConnection {
    sender: SendRequest<Bytes>,
    requests: Cell<u32>,
    requests_max: Option<u32>,
    end: Arc<ConnectionEnd>,
    /// Whether it has ended in place of a reply.
    is_lost: Cell<bool>,
    task: AbortHandle,
}

/// Closes the connection when it is no longer used. h2 is not left to do so, because it waits until the peer
/// has read all pending frames: a peer that does not read would keep the connection open forever.
impl Drop for SharedConnection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The end of a connection.
#[derive(Debug, Default)]
struct ConnectionEnd {
    is_over: AtomicBool,
    /// The error that ended it, if any.
    error: OnceLock<h2::Error>,
}

impl SharedConnection {
    /// Returns the error that ended the connection, if the server sent one. Streams only see that the
    /// connection is gone.
    pub(super) fn error(&self) -> Option<&h2::Error> {
        self.end.error.get().filter(|error| error.is_go_away() || error.is_io())
    }

    /// Returns a sender for requests.
    pub(super) fn sender(&self) -> SendRequest<Bytes> {
        self.sender.clone()
    }

    /// Counts a request; returns whether the connection accepts it.
    pub(super) fn admit(&self) -> bool {
        let requests = self.requests.get();
        let has_room = self.requests_max.is_none_or(|max| requests < max);
        self.requests.set(requests + u32::from(has_room));
        has_room && !self.end.is_over.load(Ordering::Relaxed)
    }

    /// Returns whether it has carried a request before the current one.
    pub(super) fn has_served(&self) -> bool {
        1 < self.requests.get()
    }

    /// Notes that it has ended in place of a reply; returns whether that is new.
    pub(super) fn is_first_loss(&self) -> bool {
        !self.is_lost.replace(true)
    }

    /// Makes the connection refuse further requests.
    fn end(&self) {
        self.end.is_over.store(true, Ordering::Relaxed);
    }
}

impl Pool {
    pub(crate) fn new(
        requests: &[Request],
        protocol: &WebProtocol,
        host: &str,
        tls: Option<&TlsSettings>,
    ) -> Pool {
        let template = |request| RequestTemplate::new(request, host, tls.is_some());
        let (users_per_slot, requests_max) = match protocol.connection {
            ConnectionReuse::PerRequest => (1, Some(1)),
            ConnectionReuse::Sessions => (1, None),
            ConnectionReuse::KeepAlive { requests_max } => (protocol.streams.max(1) as usize, requests_max),
        };
        Pool {
            templates: requests.iter().map(template).collect(),
            host: host.to_owned(),
            users_per_slot,
            requests_max,
            n_users: Cell::new(0),
            slots: RefCell::default(),
        }
    }

    /// Assigns a slot to the next user.
    pub(super) fn assign_slot(&self, tls: Option<&TlsSettings>) -> Rc<ConnectionSlot> {
        let user = self.n_users.replace(self.n_users.get() + 1);
        let mut slots = self.slots.borrow_mut();
        if slots.len() == user / self.users_per_slot {
            slots.push(Rc::new(ConnectionSlot {
                current: RefCell::default(),
                connecting: Mutex::default(),
                tls: tls.map(TlsSettings::for_user),
                is_exclusive: self.users_per_slot == 1,
            }));
        }
        Rc::clone(&slots[user / self.users_per_slot])
    }
}

impl ConnectionSlot {
    /// Returns the connection, with this request counted, and whether it is new.
    pub(super) async fn connection(
        &self,
        web: &WebContext,
        pool: &Pool,
    ) -> Result<(Rc<SharedConnection>, bool), OperationFailure> {
        if let Some(connection) = self.usable() {
            return Ok((connection, false));
        }
        let _connecting = self.connecting.lock().await;
        if let Some(connection) = self.usable() {
            return Ok((connection, false));
        }
        self.current.take();
        let connection = Rc::new(connect(web, self.tls.as_ref(), pool.requests_max).await?);
        connection.admit();
        *self.current.borrow_mut() = Some(Rc::clone(&connection));
        Ok((connection, true))
    }

    /// Ends a connection, which closes as soon as it has no open streams.
    pub(super) fn end(&self, connection: &Rc<SharedConnection>) {
        connection.end();
        self.current.borrow_mut().take_if(|current| Rc::ptr_eq(current, connection));
    }

    fn usable(&self) -> Option<Rc<SharedConnection>> {
        self.current.borrow().as_ref().filter(|connection| connection.admit()).cloned()
    }
}

/// Connects, up to the end of the client's part of the handshake.
async fn connect(
    web: &WebContext,
    tls: Option<&Arc<ClientConfig>>,
    requests_max: Option<u32>,
) -> Result<SharedConnection, OperationFailure> {
    let socket = web.endpoint.connect().await?;
    let stream = TcpStream::from_std(StdStream::from(socket)).map_err(tcp::errno)?;
    // Small frames of many streams must not wait for each other's acknowledgements.
    if !web.endpoint.is_socket() {
        stream.set_nodelay(true).map_err(tcp::errno)?;
    }
    let settings = web.tls.as_ref().zip(tls);
    let Some((settings, config)) = settings else { return handshake(web, stream, requests_max).await };
    let connecting = TlsConnector::from(Arc::clone(config)).connect(settings.client.name.clone(), stream);
    let stream = connecting.await.map_err(|error| match io_failure(web, &error, 0) {
        OperationFailure { outcome: Outcome::Truncated, .. } => web.ended_in_handshake(),
        failure => failure,
    })?;
    let session = stream.get_ref().1;
    HandshakeCounts::count(&web.handshakes, session.handshake_kind());
    if session.alpn_protocol() != Some(b"h2") {
        return Err(web.explain(Outcome::Http2Failed, "the server did not select `h2` by ALPN"));
    }
    handshake(web, stream, requests_max).await
}

/// Performs the HTTP/2 handshake on a stream.
async fn handshake<S>(
    web: &WebContext,
    stream: S,
    requests_max: Option<u32>,
) -> Result<SharedConnection, OperationFailure>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let handshake = Builder::new()
        .initial_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .initial_max_send_streams(STREAMS_BEFORE_SETTINGS)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .enable_push(false)
        .handshake::<S, Bytes>(stream);
    let (sender, connection) = handshake.await.map_err(|error| failure(web, &error, 0))?;
    let end = Arc::new(ConnectionEnd::default());
    let task = tokio::spawn(drive(connection, Arc::clone(&end))).abort_handle();
    Ok(SharedConnection {
        sender,
        requests: Cell::new(0),
        requests_max,
        end,
        is_lost: Cell::new(false),
        task,
    })
}

/// Drives a connection until it ends.
async fn drive<S>(connection: Connection<S, Bytes>, end: Arc<ConnectionEnd>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if let Err(error) = connection.await {
        let _ = end.error.set(error);
    }
    end.is_over.store(true, Ordering::Relaxed);
}
