//! Requests to the servers, with another attempt where that does no harm.

use std::rc::Rc;
use std::sync::Arc;

use http1::BodyReader;
use units::{Nanos, wall};

use super::balance::{Balancer, Candidate};
use super::body::OriginBody;
use super::connect::connect;
use super::connection::Connection;
use super::failure::OriginFailure;
use super::outgoing::Outgoing;
use super::pool::Pool;
use super::reply::OriginReply;
use super::seat::Seat;
use super::servers::{Server, Servers};
use super::tunnel::OriginTunnel;
use super::upload::{Answer, Limits, Question, ask};
use crate::message::RequestBody;
use crate::policy::Times;

/// The servers as one thread asks them: with connections of its own. Clones share them.
#[derive(Debug, Clone)]
pub struct Origins {
    servers: Arc<Servers>,
    balancer: Rc<Balancer>,
    pool: Rc<Pool>,
}

/// A reply that has begun.
struct Heard {
    answer: Answer,
    connection: Connection,
    times: Times,
}

impl Origins {
    /// Makes them for the calling thread.
    pub fn new(servers: Arc<Servers>) -> Origins {
        let balancer = Rc::new(Balancer::new(servers.settings.balance, servers.all.len()));
        let pool = Rc::new(Pool::new(&servers.settings));
        Origins { servers, balancer, pool }
    }

    /// Sends a request to one of the servers; returns once the head of the reply is there. The client behind `body` gets
    /// the interim responses before it (RFC 9110 §15.2).
    ///
    /// May be dropped while it waits: the request is given up. Another server is asked, at most
    /// [`retries`](super::OriginSettings::retries) times, if nothing was sent, as there was no connection; or if the
    /// request is safe and has no body, and the connection ended before anything of a reply came. If such a connection
    /// was a kept one, the same server is first asked once more over a new one: it had closed it meanwhile, which says
    /// nothing about the server.
    ///
    /// # Errors
    /// Why no server replied; of several attempts that of the last.
    pub async fn send<B: RequestBody>(
        &self,
        request: &Outgoing,
        mut body: B,
    ) -> Result<OriginReply, OriginFailure> {
        let started = self.servers.now();
        let mut tried = Vec::new();
        let mut failed = OriginFailure::AllDown;
        while tried.len() <= self.servers.settings.retries as usize {
            let Some(index) = self.choose(request.key_hash, &tried) else { return Err(failed) };
            let seat = Seat::take(&self.servers, &self.pool, index).await?;
            failed = match self.ask(&seat, request, &mut body).await {
                Ok(heard) => {
                    seat.replied();
                    return Ok(self.reply(seat, heard, started));
                }
                Err(failure) => failure,
            };
            if failed.is_of_server() {
                seat.failed(&failed);
            } else if failed == OriginFailure::NotTaken {
                seat.broke_off();
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

    /// Closes connections that have been idle for too long, which else happens only when others are used. To be called
    /// every second or so.
    pub fn sweep(&self) {
        self.pool.sweep(self.servers.now());
    }

    /// Returns the index of the server to ask; `None` if all are down or have been tried. Those that have a place free
    /// go first.
    fn choose(&self, key_hash: u64, tried: &[usize]) -> Option<usize> {
        let now = self.servers.now();
        let mut candidates: Vec<_> = self.candidates(now).filter(|one| !tried.contains(&one.index)).collect();
        let has_place = |one: &Candidate| one.in_use < self.servers.settings.connections_max;
        if candidates.iter().any(has_place) {
            candidates.retain(has_place);
        }
        loop {
            let index = self.balancer.choose(&candidates, key_hash)?;
            if self.servers.all[index].health.enter(now) {
                return Some(index);
            }
            // It is down, and another thread is just trying it.
            candidates.retain(|one| one.index != index);
        }
    }

    fn candidates(&self, now: Nanos) -> impl Iterator<Item = Candidate> {
        let settings = &self.servers.settings;
        let is_candidate =
            move |(_, server): &(usize, &Server)| server.weight != 0 && server.health.is_candidate(now);
        self.servers.all.iter().enumerate().filter(is_candidate).map(move |(index, server)| Candidate {
            index,
            weight: server.weight,
            in_use: server.in_use(settings),
            salt: server.salt,
        })
    }

    /// Asks one server, over a kept connection if there is one.
    async fn ask<B: RequestBody>(
        &self,
        seat: &Seat,
        request: &Outgoing,
        body: &mut B,
    ) -> Result<Heard, OriginFailure> {
        let server = seat.server();
        let question = Question::new(request, self.host(request, server))?;
        let is_repeatable = request.is_repeatable();
        if let Some(kept) = self.pool.take(seat.index, is_repeatable, self.servers.now()) {
            match self.converse(kept, &question, body).await {
                Err(OriginFailure::Closed) if is_repeatable => {}
                outcome => return outcome,
            }
        }
        let limit = self.servers.settings.connect_timeout;
        let connection = connect(server, self.servers.now(), limit).await?;
        self.converse(connection, &question, body).await
    }

    async fn converse<B: RequestBody>(
        &self,
        mut connection: Connection,
        question: &Question,
        body: &mut B,
    ) -> Result<Heard, OriginFailure> {
        let requested = wall();
        let limits = Limits::from(&self.servers.settings);
        let Connection { stream, buffer } = &mut connection;
        let answer = ask(stream, buffer, question, body, limits).await?;
        Ok(Heard { answer, connection, times: Times { requested, received: wall() } })
    }

    /// Returns what `Host` says.
    fn host<'a>(&'a self, request: &'a Outgoing, server: &'a Server) -> &'a [u8] {
        match &self.servers.settings.host {
            Some(host) => host.as_bytes(),
            None if request.authority.is_empty() => server.address.as_bytes(),
            None => &request.authority,
        }
    }

    fn reply(&self, seat: Seat, heard: Heard, started: Nanos) -> OriginReply {
        let Heard { answer, connection, times } = heard;
        let head = answer.head.head;
        let body = if head.status == 101 {
            let Connection { stream, buffer } = connection;
            OriginBody::upgraded(OriginTunnel::new(buffer.freeze(), stream, seat.into_place()))
        } else {
            let between_bytes = self.servers.settings.between_bytes_timeout;
            let is_reusable = head.keep_alive && answer.is_sent;
            OriginBody::new(seat, connection, BodyReader::new(head.framing), is_reusable, between_bytes)
        };
        OriginReply {
            status: head.status,
            version: head.version,
            lines: answer.head.lines,
            content_length: answer.head.content_length,
            times,
            waited: self.servers.now().saturating_sub(started),
            body,
        }
    }
}
