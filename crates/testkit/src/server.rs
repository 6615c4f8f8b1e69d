//! A server whose law and faults are known: first come, first served, by one or several workers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::{Outcome, WebRequest};
use units::{Nanos, Purpose, Rng};

use crate::law::Law;

/// A stretch of time, from the start of the load point; `to` is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Where it begins.
    pub from: Nanos,
    /// Where it ends.
    pub to: Nanos,
}

/// A simulated server, described.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Server {
    /// How long a worker is busy with one operation.
    pub law: Law,
    /// Operations that are served at once; the others queue. `None`: all of them.
    pub workers: Option<u32>,
    /// Time that anything takes in one direction. A new connection is a round trip, request and reply another.
    pub network: Nanos,
    /// Nothing completes in this time, and no work is done.
    pub freeze: Option<Window>,
    /// Growth of the service time per second since the start of the load point, relative to the law.
    pub leak: f64,
    /// Probability of a wrong status instead of a right reply, after the usual service.
    pub error_ratio: f64,
    /// Probability that a connection is refused, at the cost of a round trip.
    pub refusal_ratio: f64,
}

/// A request as the server saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// When it was sent, from the start of the load point.
    pub sent: Nanos,
    /// The user, or the place in an open loop.
    pub user: u32,
    /// What was asked for.
    pub object: u32,
}

impl Server {
    /// Makes a healthy server without a network in between.
    pub fn new(law: Law, workers: Option<u32>) -> Server {
        Server {
            law,
            workers,
            network: Nanos::ZERO,
            freeze: None,
            leak: 0.0,
            error_ratio: 0.0,
            refusal_ratio: 0.0,
        }
    }

    /// Returns the greatest rate that a healthy server carries, in operations/s: c ÷ S.
    pub fn capacity(&self) -> f64 {
        self.workers.map_or(f64::INFINITY, |workers| f64::from(workers) / self.law.mean())
    }
}

/// A simulated server at work.
pub(crate) struct Station {
    server: Server,
    rng: Rng,
    object_bytes: Vec<u64>,
    /// When each worker is free again; not used if there is no limit.
    free: BinaryHeap<Reverse<Nanos>>,
    /// Everything that was asked for, in order.
    pub(crate) requests: Vec<Request>,
}

/// What becomes of an operation. Times from the start of the load point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) outcome: Outcome,
    pub(crate) connected: Nanos,
    pub(crate) done: Nanos,
    pub(crate) body_bytes: u64,
}

impl Station {
    pub(crate) fn new(server: Server, object_bytes: Vec<u64>, seed: u64, load_point: u32) -> Station {
        let workers = server.workers.unwrap_or(0);
        Station {
            server,
            rng: Rng::new(seed, Purpose::Simulation, load_point.into()),
            object_bytes,
            free: (0..workers).map(|_| Reverse(Nanos::ZERO)).collect(),
            requests: Vec::new(),
        }
    }

    /// Decides what becomes of a request. Requests come in the order in which they are sent, and the network
    /// delays all alike, so that what is first here is first served.
    pub(crate) fn admit(&mut self, user: u32, request: WebRequest, sent: Nanos) -> Fate {
        self.requests.push(Request { sent, user, object: u32::from(request.kind) });
        let Server { law, network, leak, error_ratio, refusal_ratio, .. } = self.server;
        let round_trip = network + network;
        let refused = self.rng.uniform() < refusal_ratio;
        let wrong = self.rng.uniform() < error_ratio;
        let drawn = law.draw(&mut self.rng);
        if refused {
            let done = sent + round_trip;
            return Fate { outcome: Outcome::Refused, connected: sent, done, body_bytes: 0 };
        }
        let arrival = sent + round_trip + network;
        let work = Nanos((drawn.0 as f64 * (1.0 + leak * arrival.as_secs_f64())).round() as u64);
        Fate {
            outcome: if wrong { Outcome::WrongStatus } else { Outcome::Ok },
            connected: sent + round_trip,
            done: self.serve(arrival, work) + network,
            body_bytes: if wrong { 0 } else { self.object_bytes[usize::from(request.kind)] },
        }
    }

    /// Returns when the work on what arrives at `arrival` is finished.
    fn serve(&mut self, arrival: Nanos, work: Nanos) -> Nanos {
        let Some(mut free) = self.free.peek_mut() else {
            return after_freeze(self.server.freeze, arrival, work);
        };
        let finished = after_freeze(self.server.freeze, arrival.max(free.0), work);
        *free = Reverse(finished);
        finished
    }
}

/// Returns when work is finished that nothing but a freeze interrupts.
fn after_freeze(freeze: Option<Window>, start: Nanos, work: Nanos) -> Nanos {
    let end = start + work;
    match freeze {
        Some(Window { from, to }) if start < to && from <= end => {
            let already = from.saturating_sub(start);
            to + work.saturating_sub(already)
        }
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: WebRequest = WebRequest { kind: 0, closes: false, number: 0 };

    fn ms(milliseconds: u64) -> Nanos {
        Nanos::from_millis(milliseconds)
    }

    fn done(server: Server, sent: &[u64]) -> Vec<u64> {
        let mut station = Station::new(server, vec![500], 1, 0);
        sent.iter().map(|at| station.admit(0, REQUEST, ms(*at)).done.0 / 1_000_000).collect()
    }

    #[test]
    fn operations_queue_for_the_worker_that_is_free_first() {
        let server = |workers| Server::new(Law::Fixed(ms(10)), workers);
        assert_eq!(done(server(Some(1)), &[0, 0, 5, 50]), [10, 20, 30, 60]);
        assert_eq!(done(server(Some(2)), &[0, 0, 5, 50]), [10, 10, 20, 60]);
        assert_eq!(done(server(None), &[0, 0, 5, 50]), [10, 10, 15, 60]);
    }

    /// Frozen from 12 to 100: the second operation has 8 ms left then, and nobody completes within.
    #[test]
    fn a_freeze_stops_work_and_completions() {
        let freeze = Some(Window { from: ms(12), to: ms(100) });
        let server = Server { freeze, ..Server::new(Law::Fixed(ms(10)), Some(1)) };
        assert_eq!(done(server, &[0, 0, 20]), [10, 108, 118]);
        assert_eq!(done(Server { workers: None, ..server }, &[2, 3, 40, 100]), [100, 101, 110, 110]);
    }

    #[test]
    fn a_leak_and_the_network_make_operations_longer() {
        let server = Server { network: ms(1), leak: 0.5, ..Server::new(Law::Fixed(ms(10)), None) };
        // Arrival at 2,003 ms: 10·(1 + 0.5·2.003) = 20.015 ms of work, and 4 ms on the way.
        assert_eq!(done(server, &[2_000]), [2_024]);
    }
}
