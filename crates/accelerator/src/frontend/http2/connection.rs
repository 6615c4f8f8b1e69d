//! An HTTP/2 connection: accepts its streams, watches its progress, ends it.

use std::cell::Cell;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use cache_policy::Scheme;
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use http1::HEAD_BYTES_MAX;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::Instant;
use units::{Nanos, RealClock};

use super::inspector::{FrameInspector, StreamErrors};
use super::keep_alive::{KeepAlive, KeepAliveEvent};
use super::metered_stream::{ByteCounts, MeteredStream};
use super::request::ClientContext;
use super::settings::Http2Settings;
use super::stream::{StreamContext, StreamOutcome, answer};
use crate::frontend::{ClientLimits, Service};
use crate::message::DisconnectReason;

/// The largest flow-control window (RFC 9113 §6.9.1).
const WINDOW_BYTES_MAX: u32 = (1 << 31) - 1;

/// The most streams that may wait to be accepted though their client has reset them; one more ends the connection.
const PENDING_RESETS_MAX: usize = 20;

/// The most streams that this side may reset because of a client's errors; one more ends the connection.
const LOCAL_RESETS_MAX: usize = 1000;

/// The most locally reset streams whose late frames are ignored, for as long as a round trip may take.
const REMEMBERED_RESETS_MAX: usize = 50;

/// The longest time to send the last frames of a connection that is ended.
const GOAWAY_TIMEOUT: Duration = Duration::from_secs(1);

/// The shortest time after which a client is checked for silence in a graceful stop.
const SILENCE_MIN: Duration = Duration::from_millis(50);

/// The reason for which a connection ended.
#[derive(Debug)]
pub enum ConnectionEnd {
    /// Either side closed it, in order or not.
    Closed,
    /// It was idle for too long.
    Idle,
    /// The client did not send the HTTP/2 preface in time.
    NoPreface,
    /// The client did not answer a ping.
    Gone,
    /// The client reset more requests than it may.
    ResetFlood,
    /// A protocol error of the client, or a flood that `h2` detects.
    Failed(h2::Error),
}

impl ConnectionEnd {
    fn of(error: h2::Error) -> ConnectionEnd {
        if error.is_io() { ConnectionEnd::Closed } else { ConnectionEnd::Failed(error) }
    }

    /// Returns the reason, for metrics, if the client was not the one to end it, or did so too early.
    pub fn reason(&self) -> Option<DisconnectReason> {
        match self {
            ConnectionEnd::Closed | ConnectionEnd::Idle => None,
            ConnectionEnd::NoPreface => Some(DisconnectReason::Http2Preface),
            ConnectionEnd::Gone => Some(DisconnectReason::Http2Gone),
            ConnectionEnd::ResetFlood => Some(DisconnectReason::Http2Resets),
            ConnectionEnd::Failed(_) => Some(DisconnectReason::Http2Failed),
        }
    }
}

/// Serves a connection until either side ends it, on a thread with local tasks.
///
/// `unacknowledged` returns the bytes written to the stream that the client's machine has not acknowledged.
///
/// Once `stopping` is done, the client gets GOAWAY, and the connection ends after the requests in progress; a client
/// without any that does not respond has as long as a tunnel. Dropping the future ends it at
/// once.
pub async fn serve<S, V: Service>(
    (stream, unacknowledged): (S, fn(&S) -> u64),
    (client, scheme): (SocketAddr, Scheme),
    service: &Rc<V>,
    limits: &ClientLimits,
    settings: &Http2Settings,
    stopping: impl Future,
) -> ConnectionEnd
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    let byte_counts = Rc::<Cell<ByteCounts>>::default();
    let stream_errors = Rc::<StreamErrors>::default();
    let stream =
        MeteredStream::new(stream, Rc::clone(&byte_counts), FrameInspector::new(Rc::clone(&stream_errors)));
    let gauge = stream.gauge(unacknowledged);
    let handshake = builder(limits, settings).handshake(stream);
    let in_time = tokio::time::timeout(duration(limits.head_timeout), handshake);
    let mut connection = match in_time.await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return ConnectionEnd::of(error),
        Err(_) => return ConnectionEnd::NoPreface,
    };
    let keep_alive =
        KeepAlive::new(limits.idle_timeout, settings.ping_interval, connection.ping_pong(), byte_counts);
    let client_context = ClientContext { client, scheme, body_bytes_max: limits.body_bytes_max };
    let service = Rc::clone(service);
    let clock = RealClock::start();
    let shared = StreamContext { service, client_context, limits: *limits, clock, gauge, stream_errors };
    let serving = Http2Connection {
        connection,
        shared: Rc::new(shared),
        streams: JoinSet::new(),
        keep_alive,
        requests: 0,
        resets_max: settings.resets_max,
        resets_left: settings.resets_max,
        is_leaving: false,
    };
    serving.run(stopping).await
}

fn builder(limits: &ClientLimits, settings: &Http2Settings) -> Builder {
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(settings.streams_max)
        .max_header_list_size(limits.head_bytes_max.min(HEAD_BYTES_MAX) as u32)
        .initial_window_size(settings.stream_window_bytes.min(WINDOW_BYTES_MAX))
        .initial_connection_window_size(settings.connection_window_bytes.min(WINDOW_BYTES_MAX))
        .max_send_buffer_size(settings.send_buffer_bytes.min(WINDOW_BYTES_MAX as usize))
        .max_pending_accept_reset_streams(PENDING_RESETS_MAX)
        .max_local_error_reset_streams(Some(LOCAL_RESETS_MAX))
        .max_concurrent_reset_streams(REMEMBERED_RESETS_MAX);
    builder
}

fn duration(time: Nanos) -> Duration {
    Duration::from_nanos(time.0)
}

struct Http2Connection<S: AsyncRead + AsyncWrite + Unpin, V> {
    connection: h2::server::Connection<MeteredStream<S>, Bytes>,
    shared: Rc<StreamContext<V>>,
    streams: JoinSet<StreamOutcome>,
    keep_alive: KeepAlive,
    requests: u64,
    resets_max: u32,
    resets_left: u32,
    /// Whether the client has been told by GOAWAY that no further request is accepted.
    is_leaving: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin, V: Service> Http2Connection<S, V> {
    async fn run(mut self, stopping: impl Future) -> ConnectionEnd {
        let mut stopping = pin!(stopping);
        let mut is_stopped = false;
        let silence_max = duration(self.shared.limits.tunnel_stop_timeout).max(SILENCE_MIN);
        let mut silence = pin!(tokio::time::sleep(silence_max));
        let mut seen = ByteCounts::default();
        loop {
            tokio::select! {
                biased;
                _ = &mut stopping, if !is_stopped => {
                    (is_stopped, seen) = (true, self.keep_alive.byte_counts());
                    silence.as_mut().reset(Instant::now() + silence_max);
                    self.leave();
                }
                () = &mut silence, if is_stopped => {
                    let byte_counts = self.keep_alive.byte_counts();
                    if self.streams.is_empty() && byte_counts == seen {
                        return ConnectionEnd::Idle;
                    }
                    seen = byte_counts;
                    silence.as_mut().reset(Instant::now() + silence_max);
                }
                Some(outcome) = self.streams.join_next() => {
                    if !self.note(outcome.unwrap_or(StreamOutcome::GivenUp)) {
                        return self.break_off().await;
                    }
                }
                // First, because the streams of a flood would never end.
                event = self.keep_alive.next() => {
                    if let Some(ended) = self.on_keep_alive(event) {
                        return ended;
                    }
                }
                accepted = self.connection.accept() => match accepted {
                    Some(Ok((request, respond))) => self.begin(request, respond),
                    Some(Err(error)) => return ConnectionEnd::of(error),
                    None => return ConnectionEnd::Closed,
                },
            }
        }
    }

    fn begin(&mut self, request: http::Request<RecvStream>, respond: SendResponse<Bytes>) {
        self.requests += 1;
        self.streams.spawn_local(answer(Rc::clone(&self.shared), request, respond));
        if self.shared.limits.requests_per_connection.is_some_and(|max| max <= self.requests) {
            self.leave();
        }
    }

    /// Sends GOAWAY: no further request is accepted.
    fn leave(&mut self) {
        if !self.is_leaving {
            self.is_leaving = true;
            self.connection.graceful_shutdown();
        }
    }

    /// Counts the end of a stream; returns whether the client is within its limit of resets.
    fn note(&mut self, outcome: StreamOutcome) -> bool {
        match outcome {
            StreamOutcome::Sent => self.resets_left = self.resets_left.saturating_add(1).min(self.resets_max),
            StreamOutcome::TakenBack if self.resets_left == 0 => return false,
            StreamOutcome::TakenBack => self.resets_left -= 1,
            StreamOutcome::GivenUp => {}
        }
        true
    }

    /// Ends a connection whose client resets too many requests.
    async fn break_off(mut self) -> ConnectionEnd {
        self.streams.abort_all();
        self.connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        let words = async { while let Some(Ok(_)) = self.connection.accept().await {} };
        let _ = tokio::time::timeout(GOAWAY_TIMEOUT, words).await;
        ConnectionEnd::ResetFlood
    }

    /// Handles a timer event; returns the reason if the connection ended.
    fn on_keep_alive(&mut self, event: KeepAliveEvent) -> Option<ConnectionEnd> {
        let is_waiting = !self.streams.is_empty();
        match event {
            KeepAliveEvent::Idle => {
                if !self.keep_alive.is_idle(self.requests) || is_waiting {
                    return None;
                }
                // The client may send GOAWAY too, but is not waited for any longer.
                if self.is_leaving {
                    return Some(ConnectionEnd::Idle);
                }
                self.leave();
                None
            }
            KeepAliveEvent::Ping => (is_waiting && self.keep_alive.is_gone()).then_some(ConnectionEnd::Gone),
        }
    }
}
