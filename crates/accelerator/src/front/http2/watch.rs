//! Whether a connection still goes forward.

use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use h2::{Ping, PingPong};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use units::Nanos;

use super::progress::Moved;

/// Fewer bytes than these to the client in the time between two requests are no progress: pings and settings
/// are answered with less.
const IDLE_BYTES: u64 = 1024;

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
    ping: Option<Interval>,
    pings: Option<PingPong>,
    moved: Rc<Moved>,
    /// Requests and bytes written at the last look for idleness.
    last: (u64, u64),
    /// Bytes read at the last look for life.
    last_read: u64,
    is_asked: bool,
}

impl Watch {
    pub(super) fn new(
        idle_timeout: Nanos,
        ping_interval: Option<Nanos>,
        pings: Option<PingPong>,
        moved: Rc<Moved>,
    ) -> Watch {
        let (idle, ping) = (every(idle_timeout), ping_interval.map(every));
        Watch { idle, ping, pings, moved, last: (0, 0), last_read: 0, is_asked: false }
    }

    /// Waits for the next look. Nothing is lost if the wait is given up.
    pub(super) async fn next(&mut self) -> Look {
        let ping = async {
            match &mut self.ping {
                Some(ping) => ping.tick().await,
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
        let (requests_before, written_before) = self.last;
        self.last = (requests, self.moved.written.get());
        requests_before == requests && self.last.1 - written_before < IDLE_BYTES
    }

    /// Asks a client from which nothing came since the last call whether it is there. Tells whether it is gone: it has
    /// been asked before.
    pub(super) async fn is_gone(&mut self) -> bool {
        let read = self.moved.read.get();
        let is_alive = std::mem::replace(&mut self.last_read, read) != read;
        if is_alive || !self.is_asked {
            self.is_asked = !is_alive && self.ask().await;
            return false;
        }
        true
    }

    /// Sends a ping; tells whether there will be an answer to wait for.
    async fn ask(&mut self) -> bool {
        let Some(pings) = &mut self.pings else { return false };
        // The answer to the one before has to be taken first.
        let _ = poll_fn(|context| Poll::Ready(pings.poll_pong(context).is_ready())).await;
        pings.send_ping(Ping::opaque()).is_ok()
    }
}

fn every(period: Nanos) -> Interval {
    let period = Duration::from_nanos(period.0).max(Duration::from_millis(1));
    let mut interval = interval_at(Instant::now() + period, period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}
