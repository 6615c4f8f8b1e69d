//! Whether a connection still goes forward.

use std::cell::Cell;
use std::future::pending;
use std::mem;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use h2::{Ping, PingPong};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use units::Nanos;

use super::progress::Moved;

/// What a look at a connection shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// It may have been idle.
    Idle,
    /// It may be dead.
    Ping,
}

/// Looks at a connection at times of its own: one to two time limits pass before a limit is taken for exceeded.
///
/// Two timers that are set again only when they have run out: timers per request would cost more.
#[derive(Debug)]
pub(super) struct Watch {
    idle: Interval,
    /// When a client is asked whether it is there, and what by.
    ping: Option<(Interval, PingPong)>,
    moved: Rc<Cell<Moved>>,
    /// Requests and bytes at the last look for idleness.
    last_idle: (u64, Moved),
    /// Bytes at the last look for life.
    last_alive: Moved,
    is_asked: bool,
}

impl Watch {
    pub(super) fn new(
        idle_timeout: Nanos,
        ping_interval: Option<Nanos>,
        pings: Option<PingPong>,
        moved: Rc<Cell<Moved>>,
    ) -> Watch {
        let (idle, ping) = (every(idle_timeout), ping_interval.map(every).zip(pings));
        let (last_idle, last_alive) = Default::default();
        Watch { idle, ping, moved, last_idle, last_alive, is_asked: false }
    }

    /// Waits for the next look. Nothing is lost if the wait is given up.
    pub(super) async fn next(&mut self) -> Look {
        let ping = async {
            match &mut self.ping {
                Some((ping, _)) => ping.tick().await,
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.idle.tick() => Look::Idle,
            _ = ping => Look::Ping,
        }
    }

    /// Tells whether nothing has been asked for or sent since the last call, after so many requests in all.
    pub(super) fn is_idle(&mut self, requests: u64) -> bool {
        let moved = self.moved.get();
        let (requests_before, before) = mem::replace(&mut self.last_idle, (requests, moved));
        requests_before == requests && !moved.has_replied_since(before)
    }

    /// Asks a client that sent and took nothing since the last call whether it is there. Tells whether it is gone: it
    /// has been asked before.
    pub(super) fn is_gone(&mut self) -> bool {
        let moved = self.moved.get();
        let before = mem::replace(&mut self.last_alive, moved);
        let is_alive = moved.read != before.read || moved.has_replied_since(before);
        let is_gone = !is_alive && self.is_asked;
        self.is_asked = !is_alive;
        if let Some((_, pings)) = self.ping.as_mut().filter(|_| !is_alive) {
            // The answer to the one before has to be taken first. One that is still to come will do as well.
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
