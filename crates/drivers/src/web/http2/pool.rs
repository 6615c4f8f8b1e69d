//! The connections of a load thread, each shared by as many users as the plan says.
//!
//! | a connection is | when | then |
//! |---|---|---|
//! | none | nobody has asked yet | the first user makes it, the others wait |
//! | in use | it is established | every user of the seat has streams on it |
//! | over | the server ends it, it fails, it has carried all its requests, an operation on it timed out | streams under way go on as far as they come; the next request makes another |

use std::cell::{Cell, RefCell};
use std::net::TcpStream as StdStream;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use h2::client::{Builder, Connection, SendRequest};
use http1::HEAD_BYTES_MAX;
use model::{Connection as Life, Outcome, Protocol, Request};
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;

use super::failure::{failure, io_failure};
use super::request::Form;
use crate::web::connection;
use crate::web::failure::Failure;
use crate::web::origin::Origin;
use crate::web::tls::{HandshakeCounts, TlsSettings};

/// What a server may send before we take note of it, per stream and connection: enough for 10 Gbit/s and 0.8 ms,
/// and no more than stays in a cache. With 16 MiB, 100 KiB objects over 50 streams took up to 40 % more CPU.
const WINDOW_BYTES: u32 = 1 << 20;

/// Streams at a time until the server has said how many it allows (RFC 9113 §6.5.2 asks for no fewer).
const STREAMS_BEFORE_SETTINGS: usize = 100;

/// The shared connections of an origin, and the requests that go over them.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(super) forms: Vec<Form>,
    users_per_seat: usize,
    /// Requests after which a connection is replaced.
    requests_max: Option<u32>,
    n_users: Cell<usize>,
    seats: RefCell<Vec<Rc<Seat>>>,
}

/// The place of one connection after another, for a fixed group of users.
#[derive(Debug)]
pub(super) struct Seat {
    current: RefCell<Option<Rc<Live>>>,
    /// Held by the user who makes a connection.
    making: Mutex<()>,
    tls: Option<Arc<ClientConfig>>,
    /// Whether it has one user only.
    pub(super) is_own: bool,
}

/// An established connection.
#[derive(Debug)]
pub(super) struct Live {
    sender: SendRequest<Bytes>,
    requests: Cell<u32>,
    requests_max: Option<u32>,
    end: Arc<End>,
    task: AbortHandle,
}

/// Closes the connection when nobody uses it any more. Not left to h2, which waits until the peer has taken what
/// is still to be said: one that does not read would keep it for ever.
impl Drop for Live {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The end of a connection.
#[derive(Debug, Default)]
struct End {
    is_over: AtomicBool,
    /// What it ended with, if that was an error.
    error: OnceLock<h2::Error>,
}

impl Live {
    /// Returns what the connection has ended with, where the server said so. A stream is only told that there is
    /// no connection any more.
    pub(super) fn error(&self) -> Option<&h2::Error> {
        self.end.error.get().filter(|error| error.is_go_away() || error.is_io())
    }

    /// Returns a way to send requests.
    pub(super) fn sender(&self) -> SendRequest<Bytes> {
        self.sender.clone()
    }

    /// Counts a request; returns whether the connection takes it.
    pub(super) fn admits(&self) -> bool {
        let requests = self.requests.get();
        let has_room = self.requests_max.is_none_or(|max| requests < max);
        self.requests.set(requests + u32::from(has_room));
        has_room && !self.end.is_over.load(Ordering::Relaxed)
    }

    /// Returns whether it has carried a request before the one of the moment.
    pub(super) fn has_served(&self) -> bool {
        1 < self.requests.get()
    }

    /// Lets no further requests begin.
    fn end(&self) {
        self.end.is_over.store(true, Ordering::Relaxed);
    }
}

impl Pool {
    pub(crate) fn new(
        requests: &[Request],
        protocol: &Protocol,
        host: &str,
        tls: Option<&TlsSettings>,
    ) -> Pool {
        let form = |request| Form::new(request, host, tls.is_some());
        let (users_per_seat, requests_max) = match protocol.connection {
            Life::PerRequest => (1, Some(1)),
            Life::Sessions => (1, None),
            Life::KeepAlive { requests_max } => (protocol.streams.max(1) as usize, requests_max),
        };
        Pool {
            forms: requests.iter().map(form).collect(),
            users_per_seat,
            requests_max,
            n_users: Cell::new(0),
            seats: RefCell::default(),
        }
    }

    /// Gives the next user its seat.
    pub(super) fn seat(&self, tls: Option<&TlsSettings>) -> Rc<Seat> {
        let user = self.n_users.replace(self.n_users.get() + 1);
        let mut seats = self.seats.borrow_mut();
        if seats.len() == user / self.users_per_seat {
            seats.push(Rc::new(Seat {
                current: RefCell::default(),
                making: Mutex::default(),
                tls: tls.map(TlsSettings::of_user),
                is_own: self.users_per_seat == 1,
            }));
        }
        Rc::clone(&seats[user / self.users_per_seat])
    }
}

impl Seat {
    /// Returns the connection, with this request counted, and whether it was made just now.
    pub(super) async fn connection(&self, origin: &Origin, pool: &Pool) -> Result<(Rc<Live>, bool), Failure> {
        if let Some(live) = self.usable() {
            return Ok((live, false));
        }
        let _making = self.making.lock().await;
        if let Some(live) = self.usable() {
            return Ok((live, false));
        }
        self.current.take();
        let live = Rc::new(make(origin, self.tls.as_ref(), pool.requests_max).await?);
        live.admits();
        *self.current.borrow_mut() = Some(Rc::clone(&live));
        Ok((live, true))
    }

    /// Ends a connection, which closes as soon as nobody has a stream on it.
    pub(super) fn end(&self, live: &Rc<Live>) {
        live.end();
        self.current.borrow_mut().take_if(|current| Rc::ptr_eq(current, live));
    }

    fn usable(&self) -> Option<Rc<Live>> {
        self.current.borrow().as_ref().filter(|live| live.admits()).cloned()
    }
}

/// Makes a connection, up to the end of our part of its beginning.
async fn make(
    origin: &Origin,
    tls: Option<&Arc<ClientConfig>>,
    requests_max: Option<u32>,
) -> Result<Live, Failure> {
    let (mut socket, is_established) = origin.begin()?;
    if !is_established {
        socket = connection::established(socket).await?;
    }
    let stream = TcpStream::from_std(StdStream::from(socket)).map_err(connection::errno)?;
    // Small frames of many streams must not wait for each other's acknowledgments.
    stream.set_nodelay(true).map_err(connection::errno)?;
    let settings = origin.tls.as_ref().zip(tls);
    let Some((settings, config)) = settings else { return speak(origin, stream, requests_max).await };
    let connecting = TlsConnector::from(Arc::clone(config)).connect(settings.name.clone(), stream);
    let stream = connecting.await.map_err(|error| match io_failure(origin, &error, 0) {
        Failure { outcome: Outcome::Truncated, .. } => {
            origin.explain(Outcome::TlsFailed, "connection ended in the handshake")
        }
        failure => failure,
    })?;
    let session = stream.get_ref().1;
    HandshakeCounts::count(&origin.handshakes, session.handshake_kind());
    if session.alpn_protocol() != Some(b"h2") {
        return Err(origin.explain(Outcome::Http2Failed, "the server did not agree to `h2` (ALPN)"));
    }
    speak(origin, stream, requests_max).await
}

/// Begins to speak HTTP/2 on a stream.
async fn speak<S>(origin: &Origin, stream: S, requests_max: Option<u32>) -> Result<Live, Failure>
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
    let (sender, connection) = handshake.await.map_err(|error| failure(origin, &error, 0))?;
    let end = Arc::new(End::default());
    let task = tokio::spawn(keep_going(connection, Arc::clone(&end))).abort_handle();
    Ok(Live { sender, requests: Cell::new(0), requests_max, end, task })
}

/// Lets a connection do its work until its end.
async fn keep_going<S>(connection: Connection<S, Bytes>, end: Arc<End>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if let Err(error) = connection.await {
        let _ = end.error.set(error);
    }
    end.is_over.store(true, Ordering::Relaxed);
}
