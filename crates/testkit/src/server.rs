//! A server with known law and faults: first come, first served, by one or several workers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::Outcome;
use units::{Nanos, Rng, StreamPurpose};

use crate::law::ServiceTimeDistribution;

/// A period of time from the start of the load point; `to` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeWindow {
    /// Its start.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
}

/// The times that a simulated application server states in its replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatedTimes {
    /// Those in the queue and of service.
    Both,
    /// That of service.
    Service,
    /// Both, and together a nanosecond more than the response took.
    TooLong,
    /// None of them.
    None,
}

/// The description of a simulated server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimServer {
    /// Service time of an operation.
    pub law: ServiceTimeDistribution,
    /// Number of workers; further operations queue. `None`: unlimited.
    pub workers: Option<u32>,
    /// Network delay in one direction. Connecting takes a round trip, request and response another.
    pub network: Nanos,
    /// A period without completions and without work.
    pub freeze: Option<TimeWindow>,
    /// Growth of the service time per second since the start of the load point, relative to the law.
    pub leak: f64,
    /// Probability of a wrong status instead of a correct reply, after the usual service.
    pub error_ratio: f64,
    /// Probability that a connection is refused, after a round trip.
    pub refusal_ratio: f64,
    /// The times in its replies, where the protocol has them.
    pub stated: StatedTimes,
    /// The notices that users get after successful operations; `None`: no notices.
    pub notices: Option<SimNotices>,
}

/// Notices of a simulated server, of the first measure of user scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimNotices {
    /// The time from the end of an operation to its notice.
    pub after: Nanos,
    /// The notice of each so many operations of a user never comes.
    pub lost_of: u64,
    /// Whether an observer beside the users sees them, so that nobody has to rest.
    pub is_observed: bool,
}

/// A request as the server saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SimRequest {
    /// Time it was sent, from the start of the load point.
    pub sent: Nanos,
    /// The user, or the in-flight slot of an open loop.
    pub user: u32,
    /// The requested object.
    pub object: u32,
}

impl SimServer {
    /// Creates a healthy server without network delay.
    pub fn new(law: ServiceTimeDistribution, workers: Option<u32>) -> SimServer {
        SimServer {
            law,
            workers,
            network: Nanos::ZERO,
            freeze: None,
            leak: 0.0,
            error_ratio: 0.0,
            refusal_ratio: 0.0,
            stated: StatedTimes::Both,
            notices: None,
        }
    }

    /// Returns the maximum rate of a healthy server, in operations/s: c ÷ S.
    pub fn capacity(&self) -> f64 {
        self.workers.map_or(f64::INFINITY, |workers| f64::from(workers) / self.law.mean())
    }
}

/// The state of a simulated server.
pub(crate) struct ServerState {
    server: SimServer,
    rng: Rng,
    object_bytes: Vec<u64>,
    /// Time at which each worker becomes idle; unused if the number is unlimited.
    free: BinaryHeap<Reverse<Nanos>>,
    /// Every request, in order.
    pub(crate) requests: Vec<SimRequest>,
}

/// The reply to an operation. Times from the start of the load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SimReply {
    pub(crate) outcome: Outcome,
    pub(crate) connected: Nanos,
    pub(crate) done: Nanos,
    pub(crate) body_bytes: u64,
    pub(crate) stated: StatedTimes,
}

impl ServerState {
    pub(crate) fn new(server: SimServer, object_bytes: Vec<u64>, seed: u64, load_point: u32) -> ServerState {
        let workers = server.workers.unwrap_or(0);
        ServerState {
            server,
            rng: Rng::new(seed, StreamPurpose::Simulation, load_point.into()),
            object_bytes,
            free: (0..workers).map(|_| Reverse(Nanos::ZERO)).collect(),
            requests: Vec::new(),
        }
    }

    /// Returns the notices that users get.
    pub(crate) fn notices(&self) -> Option<SimNotices> {
        self.server.notices
    }

    /// Computes the reply to a request. Requests arrive in the order in which they are sent, and the network
    /// delays all equally, so that the first sent is the first served.
    pub(crate) fn admit(&mut self, user: u32, kind: u16, sent: Nanos) -> SimReply {
        self.requests.push(SimRequest { sent, user, object: u32::from(kind) });
        let SimServer { law, network, leak, error_ratio, refusal_ratio, stated, .. } = self.server;
        let round_trip = network + network;
        let refused = self.rng.uniform() < refusal_ratio;
        let wrong = self.rng.uniform() < error_ratio;
        let drawn = law.draw(&mut self.rng);
        if refused {
            let done = sent + round_trip;
            return SimReply { outcome: Outcome::Refused, connected: sent, done, body_bytes: 0, stated };
        }
        let arrival = sent + round_trip + network;
        let work = Nanos((drawn.0 as f64 * (1.0 + leak * arrival.as_secs_f64())).round() as u64);
        SimReply {
            outcome: if wrong { Outcome::WrongStatus } else { Outcome::Ok },
            connected: sent + round_trip,
            done: self.serve(arrival, work) + network,
            body_bytes: if wrong { 0 } else { self.object_bytes[usize::from(kind)] },
            stated,
        }
    }

    /// Returns when the work on a request that arrives at `arrival` is finished.
    fn serve(&mut self, arrival: Nanos, work: Nanos) -> Nanos {
        let Some(mut free) = self.free.peek_mut() else {
            return after_freeze(self.server.freeze, arrival, work);
        };
        let finished = after_freeze(self.server.freeze, arrival.max(free.0), work);
        *free = Reverse(finished);
        finished
    }
}

/// Returns when work is finished that only a freeze interrupts.
fn after_freeze(freeze: Option<TimeWindow>, start: Nanos, work: Nanos) -> Nanos {
    let end = start + work;
    match freeze {
        Some(TimeWindow { from, to }) if start < to && from <= end => {
            let already = from.saturating_sub(start);
            to + work.saturating_sub(already)
        }
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Nanos {
        Nanos::from_millis(milliseconds)
    }

    fn done(server: SimServer, sent: &[u64]) -> Vec<u64> {
        let mut server_state = ServerState::new(server, vec![500], 1, 0);
        sent.iter().map(|at| server_state.admit(0, 0, ms(*at)).done.0 / 1_000_000).collect()
    }

    #[test]
    fn operations_queue_for_the_first_idle_worker() {
        let server = |workers| SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), workers);
        assert_eq!(done(server(Some(1)), &[0, 0, 5, 50]), [10, 20, 30, 60]);
        assert_eq!(done(server(Some(2)), &[0, 0, 5, 50]), [10, 10, 20, 60]);
        assert_eq!(done(server(None), &[0, 0, 5, 50]), [10, 10, 15, 60]);
    }

    /// Frozen from 12 to 100: the second operation has 8 ms left then, and nothing completes in between.
    #[test]
    fn a_freeze_stops_work_and_completions() {
        let freeze = Some(TimeWindow { from: ms(12), to: ms(100) });
        let server = SimServer { freeze, ..SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), Some(1)) };
        assert_eq!(done(server, &[0, 0, 20]), [10, 108, 118]);
        assert_eq!(done(SimServer { workers: None, ..server }, &[2, 3, 40, 100]), [100, 101, 110, 110]);
    }

    #[test]
    fn a_leak_and_the_network_lengthen_operations() {
        let server = SimServer {
            network: ms(1),
            leak: 0.5,
            ..SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), None)
        };
        // Arrival at 2,003 ms: 10·(1 + 0.5·2.003) = 20.015 ms of work, and 4 ms on the way.
        assert_eq!(done(server, &[2_000]), [2_024]);
    }
}
