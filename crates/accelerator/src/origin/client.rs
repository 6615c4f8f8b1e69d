//! The client of the origin servers, which retries where that does no harm.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cache_policy::ExchangeTimes;
use http1::BodyReader;
use units::{Nanos, wall};

use super::balance::{Balancer, Candidate};
use super::body::OriginBody;
use super::connect::connect;
use super::connection::OriginConnection;
use super::failure::OriginFailure;
use super::health::ServerState;
use super::pool::Pool;
use super::server_permit::ServerPermit;
use super::servers::{Servers, UpstreamServer};
use super::tunnel::OriginTunnel;
use super::upload::{EncodedRequest, UploadOutcome, UploadTimeouts, send_request};
use super::upstream_request::UpstreamRequest;
use super::upstream_response::UpstreamResponse;
use crate::message::RequestBody;

/// A client of the origin servers for one thread, with connections of its own. Clones share them.
#[derive(Debug, Clone)]
pub struct OriginClient {
    servers: Arc<Servers>,
    balancer: Rc<Balancer>,
    pool: Rc<Pool>,
}

/// The one verdict of a request about a server's health: its retry says nothing about another server, since the
/// request itself may be the cause.
struct Verdict {
    url: u64,
    is_given: bool,
}

impl Verdict {
    fn give(&mut self, permit: &ServerPermit, failure: &OriginFailure, since: Nanos) {
        self.is_given = self.is_given || permit.note_health(failure, self.url, since);
    }
}

/// A response whose head has arrived.
struct PendingResponse {
    outcome: UploadOutcome,
    connection: OriginConnection,
    times: ExchangeTimes,
}

impl OriginClient {
    /// Makes a client for the calling thread.
    pub fn new(servers: Arc<Servers>) -> OriginClient {
        let balancer = Rc::new(Balancer::new(servers.settings.balance, servers.all.len()));
        let pool = Rc::new(Pool::new(&servers.settings));
        OriginClient { servers, balancer, pool }
    }

    /// Sends a request to one of the servers and returns once the head of the response has arrived. Interim responses
    /// are forwarded to the client behind `body` (RFC 9110 §15.2).
    ///
    /// Dropping the future aborts the request. It is retried with another server, at most
    /// [`retries`](super::OriginSettings::retries) times, if nothing was sent because there was no connection; or if
    /// the request is safe and has no body, and the connection ended before any byte of a response. If that was a
    /// reused connection, the same server is first tried once more over a new one: it had closed the idle connection
    /// meanwhile, which says nothing about the server.
    ///
    /// # Errors
    /// The reason for which no server responded; of several attempts that of the last.
    pub async fn send<B: RequestBody>(
        &self,
        request: &UpstreamRequest,
        mut body: B,
    ) -> Result<UpstreamResponse, OriginFailure> {
        let started = self.servers.now();
        let mut tried = Vec::new();
        let mut failed = OriginFailure::AllDown;
        let mut verdict = Verdict { url: request.url_hash(), is_given: false };
        while tried.len() <= self.servers.settings.retries as usize {
            let is_unsent = tried.is_empty() || failed.is_before_sending();
            let Some(index) = self.choose(request.key_hash, &tried, is_unsent) else { return Err(failed) };
            let permit = ServerPermit::acquire(&self.servers, &self.pool, index).await?;
            failed = match self.send_watched(&permit, request, &mut body, &mut verdict).await {
                Ok(pending) => {
                    permit.note_response(verdict.url);
                    self.servers.try_those_down(request, pending.outcome.head.head.status);
                    return Ok(self.response(permit, pending, started));
                }
                Err(failure) => failure,
            };
            if failed.is_server_fault() {
                permit.note_failure(&failed);
            } else if failed == OriginFailure::NotTaken {
                permit.note_aborted();
            }
            let did_no_harm =
                failed.is_before_sending() || (failed == OriginFailure::Closed && request.is_repeatable());
            if !did_no_harm {
                return Err(failed);
            }
            tried.push(index);
        }
        Err(failed)
    }

    /// Closes connections that have been idle for too long, which otherwise happens only when others are used. To be
    /// called every second or so.
    pub fn sweep(&self) {
        self.pool.sweep(self.servers.now());
    }

    /// Returns the index of the server to try; `None` if all are down or have been tried. Servers below their request
    /// limit go first.
    ///
    /// If nothing was sent yet, and no server that is up is left, one that is down is tried all the same: it may be back,
    /// and the alternative is an error.
    fn choose(&self, key_hash: u64, tried: &[usize], is_unsent: bool) -> Option<usize> {
        let is_up = |server: &UpstreamServer| server.health.condition() == ServerState::Up;
        let mut candidates = self.candidates(tried, is_up);
        if candidates.is_empty() && is_unsent {
            candidates = self.candidates(tried, |server| server.health.is_last_resort());
        }
        let has_permit = |one: &Candidate| one.in_use < self.servers.settings.connections_max;
        if candidates.iter().any(has_permit) {
            candidates.retain(has_permit);
        }
        self.balancer.choose(&candidates, key_hash)
    }

    fn candidates(&self, tried: &[usize], is_meant: impl Fn(&UpstreamServer) -> bool) -> Vec<Candidate> {
        let settings = &self.servers.settings;
        let servers = self.servers.all.iter().enumerate();
        let meant = servers
            .filter(|(index, server)| server.weight != 0 && !tried.contains(index) && is_meant(server));
        let candidate = |(index, server): (usize, &UpstreamServer)| Candidate {
            index,
            weight: server.weight,
            in_use: server.in_use(settings),
            salt: server.salt,
        };
        meant.map(candidate).collect()
    }

    /// Sends a request to one server, and notes whether that says something about the server's health.
    async fn send_watched<B: RequestBody>(
        &self,
        permit: &ServerPermit,
        request: &UpstreamRequest,
        body: &mut B,
        verdict: &mut Verdict,
    ) -> Result<PendingResponse, OriginFailure> {
        let since = self.servers.now();
        let overdue_after = self.servers.settings.health.overdue_after;
        let mut sending = pin!(self.send_to(permit, request, body));
        // A body takes as long as the client takes to send it.
        let outcome = if request.has_body || overdue_after == Nanos::ZERO {
            sending.await
        } else {
            match tokio::time::timeout(Duration::from_nanos(overdue_after.0), &mut sending).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    verdict.give(permit, &OriginFailure::TimedOut, since);
                    sending.await
                }
            }
        };
        outcome.inspect_err(|failure| verdict.give(permit, failure, since))
    }

    /// Sends a request to one server, over an idle connection if there is one.
    async fn send_to<B: RequestBody>(
        &self,
        permit: &ServerPermit,
        request: &UpstreamRequest,
        body: &mut B,
    ) -> Result<PendingResponse, OriginFailure> {
        let server = permit.server();
        let encoded = EncodedRequest::new(request, self.servers.host(request, server))?;
        let is_repeatable = request.is_repeatable();
        if let Some(kept) = self.pool.take(permit.index, is_repeatable, self.servers.now()) {
            match self.send_over(kept, &encoded, body).await {
                Err(OriginFailure::Closed) if is_repeatable => {}
                outcome => return outcome,
            }
        }
        let limit = self.servers.settings.connect_timeout;
        let connection = connect(server, self.servers.now(), limit).await?;
        self.send_over(connection, &encoded, body).await
    }

    async fn send_over<B: RequestBody>(
        &self,
        mut connection: OriginConnection,
        encoded: &EncodedRequest,
        body: &mut B,
    ) -> Result<PendingResponse, OriginFailure> {
        let requested = wall();
        let limits = UploadTimeouts::from(&self.servers.settings);
        let OriginConnection { stream, buffer } = &mut connection;
        let outcome = send_request(stream, buffer, encoded, body, limits).await?;
        Ok(PendingResponse { outcome, connection, times: ExchangeTimes { requested, received: wall() } })
    }

    fn response(&self, permit: ServerPermit, pending: PendingResponse, started: Nanos) -> UpstreamResponse {
        let PendingResponse { outcome, connection, times } = pending;
        let head = outcome.head.head;
        let body = if head.status == 101 {
            let OriginConnection { stream, buffer } = connection;
            OriginBody::upgraded(OriginTunnel::new(buffer.freeze(), stream, permit.into_permit()))
        } else {
            let between_bytes = self.servers.settings.between_bytes_timeout;
            let is_reusable = head.keep_alive && outcome.is_sent;
            OriginBody::new(
                permit,
                connection,
                BodyReader::of_response(head.framing),
                is_reusable,
                between_bytes,
            )
        };
        UpstreamResponse {
            status: head.status,
            version: head.version,
            lines: outcome.head.lines,
            content_length: outcome.head.content_length,
            times,
            waited: self.servers.now().saturating_sub(started),
            body,
        }
    }
}
