//! Detection of idle and dead connections.

use std::cell::Cell;
use std::future::pending;
use std::mem;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use h2::{Ping, PingPong};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use units::Nanos;

use super::metered_stream::ByteCounts;

/// A timer event of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeepAliveEvent {
    /// It may have been idle.
    Idle,
    /// It may be dead.
    Ping,
}

/// The keep-alive timers of a connection: between one and two time limits pass before a limit counts as exceeded.
///
/// Two timers that are reset only when they have run out: timers per request would cost more.
#[derive(Debug)]
pub(super) struct KeepAlive {
    idle: Interval,
    /// The ping timer, and the handle that sends pings.
    ping: Option<(Interval, PingPong)>,
    byte_counts: Rc<Cell<ByteCounts>>,
    /// Requests and bytes at the last check for idleness.
    last_idle: (u64, ByteCounts),
    /// Bytes at the last check for liveness.
    last_alive: ByteCounts,
    is_asked: bool,
}

impl KeepAlive {
    pub(super) fn new(
        idle_timeout: Nanos,
        ping_interval: Option<Nanos>,
        pings: Option<PingPong>,
        byte_counts: Rc<Cell<ByteCounts>>,
    ) -> KeepAlive {
        let idle = every(idle_timeout);
        let ping = ping_interval.map(every).zip(pings);
        let (last_idle, last_alive) = Default::default();
        KeepAlive { idle, ping, byte_counts, last_idle, last_alive, is_asked: false }
    }

    /// Waits for the next event. Cancel safe.
    pub(super) async fn next(&mut self) -> KeepAliveEvent {
        let ping = async {
            match &mut self.ping {
                Some((ping, _)) => ping.tick().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.idle.tick() => KeepAliveEvent::Idle,
            _ = ping => KeepAliveEvent::Ping,
        }
    }

    /// Returns the bytes transferred so far.
    pub(super) fn byte_counts(&self) -> ByteCounts {
        self.byte_counts.get()
    }

    /// Returns whether no request has come and no response was sent since the last call, after so many requests in
    /// all.
    pub(super) fn is_idle(&mut self, requests: u64) -> bool {
        let byte_counts = self.byte_counts.get();
        let (requests_before, before) = mem::replace(&mut self.last_idle, (requests, byte_counts));
        requests_before == requests && !byte_counts.has_sent_since(before)
    }

    /// Pings a client that has sent and taken nothing since the last call. Returns whether it is gone: it did not
    /// answer the ping before.
    pub(super) fn is_gone(&mut self) -> bool {
        let byte_counts = self.byte_counts.get();
        let before = mem::replace(&mut self.last_alive, byte_counts);
        let is_alive = byte_counts.read != before.read || byte_counts.has_sent_since(before);
        let is_gone = !is_alive && self.is_asked;
        self.is_asked = !is_alive;
        if let Some((_, pings)) = self.ping.as_mut().filter(|_| !is_alive) {
            // The answer to the previous ping has to be taken first. One that is still to come will do as well.
            let _ = pings.poll_pong(&mut Context::from_waker(Waker::noop()));
            let _ = pings.send_ping(Ping::opaque());
        }
        is_gone
    }
}

fn every(period: Nanos) -> Interval {
    let period = Duration::from_nanos(period.0).max(Duration::from_millis(1));
    let mut interval = interval_at(Instant::now() + period, period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
