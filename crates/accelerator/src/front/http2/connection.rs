//! One connection: takes its streams, watches it, ends it.

use std::cell::Cell;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, SendResponse};
use h2::{Reason, RecvStream};
use http::Request;
use http1::HEAD_BYTES_MAX;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use units::{Nanos, RealClock};

use super::inspector::{Faults, Inspector};
use super::progress::{Moved, Progress};
use super::request::Asker;
use super::settings::Http2Settings;
use super::stream::{Common, Outcome, answer};
use super::watch::{Look, Watch};
use crate::front::{Limits, Service};
use crate::policy::Scheme;

/// The largest window there is (RFC 9113 §6.9.1).
const WINDOW_BYTES_MAX: u32 = (1 << 31) - 1;

/// Streams that may wait to be taken though their client has reset them; one more ends the connection.
const PENDING_RESETS_MAX: usize = 20;

/// Streams that we may have to reset for a client's mistakes; one more ends the connection.
const MISTAKES_MAX: usize = 1000;

/// Streams that were reset here and of which late frames are ignored, for as long as a round trip may take.
const REMEMBERED_RESETS_MAX: usize = 50;

/// The longest time for the last words of a connection that is ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a connection ended.
#[derive(Debug)]
pub enum Ended {
    /// By either side, in order or not.
    Closed,
    /// It was not used any more.
    Idle,
    /// The client did not begin as HTTP/2 begins, in time.
    NoPreface,
    /// The client was asked whether it is there, and was not.
    Gone,
    /// The client took back more requests than it may.
    ResetFlood,
    /// By a mistake of the client, or a flood that `h2` notices.
    Failed(h2::Error),
}

impl Ended {
    fn of(error: h2::Error) -> Ended {
        if error.is_io() { Ended::Closed } else { Ended::Failed(error) }
    }

    /// Returns its name, for logs and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Ended::Closed => "closed",
            Ended::Idle => "http2-idle",
            Ended::NoPreface => "http2-preface",
            Ended::Gone => "http2-gone",
            Ended::ResetFlood => "http2-resets",
            Ended::Failed(_) => "http2-failed",
        }
    }
}

/// Serves a connection until either side ends it, on a thread with local tasks.
///
/// When `stopping` is done, the client is told so, and the connection ends after the requests that are under way.
/// Dropping the future ends it at once.
pub async fn serve<S, V: Service>(
    stream: S,
    (client, scheme): (SocketAddr, Scheme),
    service: &Rc<V>,
    limits: &Limits,
    settings: &Http2Settings,
    stopping: impl Future,
) -> Ended
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (moved, faults) = (Rc::<Cell<Moved>>::default(), Rc::<Faults>::default());
    let stream = Progress::new(stream, Rc::clone(&moved), Inspector::new(Rc::clone(&faults)));
    let handshake = builder(limits, settings).handshake(stream);
    let in_time = tokio::time::timeout(duration(limits.head_timeout), handshake);
    let mut connection = match in_time.await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return Ended::of(error),
        Err(_) => return Ended::NoPreface,
    };
    let watch = Watch::new(limits.idle_timeout, settings.ping_interval, connection.ping_pong(), moved);
    let asker = Asker { client, scheme, body_bytes_max: limits.body_bytes_max };
    let (service, clock) = (Rc::clone(service), RealClock::start());
    let common = Common { service, asker, limits: *limits, clock, faults };
    let serving = Connection {
        connection,
        common: Rc::new(common),
        streams: JoinSet::new(),
        watch,
        requests: 0,
        resets_max: settings.resets_max,
        resets_left: settings.resets_max,
        is_leaving: false,
    };
    serving.run(stopping).await
}

fn builder(limits: &Limits, settings: &Http2Settings) -> Builder {
    let mut builder = Builder::new();
    builder
        .max_concurrent_streams(settings.streams_max)
        .max_header_list_size(limits.head_bytes_max.min(HEAD_BYTES_MAX) as u32)
        .initial_window_size(settings.stream_window_bytes.min(WINDOW_BYTES_MAX))
        .initial_connection_window_size(settings.connection_window_bytes.min(WINDOW_BYTES_MAX))
        .max_send_buffer_size(settings.send_buffer_bytes.min(WINDOW_BYTES_MAX as usize))
        .max_pending_accept_reset_streams(PENDING_RESETS_MAX)
        .max_local_error_reset_streams(Some(MISTAKES_MAX))
        .max_concurrent_reset_streams(REMEMBERED_RESETS_MAX);
    builder
}

fn duration(time: Nanos) -> Duration {
    Duration::from_nanos(time.0)
}

struct Connection<S: AsyncRead + AsyncWrite + Unpin, V> {
    connection: h2::server::Connection<Progress<S>, Bytes>,
    common: Rc<Common<V>>,
    streams: JoinSet<Outcome>,
    watch: Watch,
    requests: u64,
    resets_max: u32,
    resets_left: u32,
    /// Whether the client has been told that no further request is taken.
    is_leaving: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin, V: Service> Connection<S, V> {
    async fn run(mut self, stopping: impl Future) -> Ended {
        let mut stopping = pin!(stopping);
        let mut is_stopped = false;
        loop {
            tokio::select! {
                biased;
                _ = &mut stopping, if !is_stopped => {
                    is_stopped = true;
                    self.leave();
                }
                Some(outcome) = self.streams.join_next() => {
                    if !self.note(outcome.unwrap_or(Outcome::GivenUp)) {
                        return self.break_off().await;
                    }
                }
                // Before what a flood would never come to the end of.
                look = self.watch.next() => {
                    if let Some(ended) = self.look(look) {
                        return ended;
                    }
                }
                accepted = self.connection.accept() => match accepted {
                    Some(Ok((request, respond))) => self.begin(request, respond),
                    Some(Err(error)) => return Ended::of(error),
                    None => return Ended::Closed,
                },
            }
        }
    }

    fn begin(&mut self, request: Request<RecvStream>, respond: SendResponse<Bytes>) {
        self.requests += 1;
        self.streams.spawn_local(answer(Rc::clone(&self.common), request, respond));
        if self.common.limits.requests_per_connection.is_some_and(|max| max <= self.requests) {
            self.leave();
        }
    }

    /// Tells the client that no further request is taken.
    fn leave(&mut self) {
        if !self.is_leaving {
            self.is_leaving = true;
            self.connection.graceful_shutdown();
        }
    }

    /// Counts the end of a stream; tells whether the client may go on.
    fn note(&mut self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Sent => self.resets_left = self.resets_left.saturating_add(1).min(self.resets_max),
            Outcome::TakenBack if self.resets_left == 0 => return false,
            Outcome::TakenBack => self.resets_left -= 1,
            Outcome::GivenUp => {}
        }
        true
    }

    /// Ends a connection whose client does too much that costs it nothing.
    async fn break_off(mut self) -> Ended {
        self.streams.abort_all();
        self.connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        let words = async { while let Some(Ok(_)) = self.connection.accept().await {} };
        let _ = tokio::time::timeout(LAST_WORDS, words).await;
        Ended::ResetFlood
    }

    /// Does what a look calls for; returns how the connection ended, if it did.
    fn look(&mut self, look: Look) -> Option<Ended> {
        let is_waiting = !self.streams.is_empty();
        match look {
            Look::Idle => {
                if !self.watch.is_idle(self.requests) || is_waiting {
                    return None;
                }
                // The client may say goodbye too, but is not waited for any longer.
                if self.is_leaving {
                    return Some(Ended::Idle);
                }
                self.leave();
                None
            }
            Look::Ping => (is_waiting && self.watch.is_gone()).then_some(Ended::Gone),
        }
    }
}
