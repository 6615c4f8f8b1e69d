//! Performs operations on a simulated server.

use std::cell::RefCell;
use std::rc::Rc;

use engine::{Driver, Timers};
use model::{Marks, Outcome, Reply, WebRequest};
use units::{Clock, Nanos, SimClock};

use crate::server::Station;

/// Bytes of every reply's head.
pub(crate) const HEAD_BYTES: u64 = 100;

/// The status of replies that are to be wrong.
const WRONG_STATUS: u64 = 503;

/// The connection of one user, or of one place of an open loop, to the simulated server.
pub(crate) struct SimDriver {
    pub(crate) station: Rc<RefCell<Station>>,
    pub(crate) timers: Rc<Timers>,
    pub(crate) clock: SimClock,
    pub(crate) origin: Nanos,
    pub(crate) user: u32,
}

impl Driver for SimDriver {
    type Operation = WebRequest;

    async fn perform(&mut self, operation: &WebRequest, sent: Nanos) -> Reply {
        let fate = self.station.borrow_mut().admit(self.user, *operation, sent - self.origin);
        self.timers.sleep_until(self.origin + fate.done).await;
        // As in a real driver: the reply is done when we see it, which is later if we are held up.
        let done = self.clock.now();
        let connected = self.origin + fate.connected;
        let (head_bytes, detail) = match fate.outcome {
            Outcome::Ok => (HEAD_BYTES, 0),
            Outcome::WrongStatus => (HEAD_BYTES, WRONG_STATUS),
            _ => (0, 0),
        };
        let marks = Marks { sent, connected, first_byte: done, last_byte: done, done };
        Reply { outcome: fate.outcome, marks, head_bytes, body_bytes: fate.body_bytes, detail }
    }

    fn give_up(&mut self) {}

    fn describe(&self, operation: &WebRequest, reply: &Reply) -> String {
        format!("object {}: {} ({})", operation.kind, reply.outcome.name(), reply.detail)
    }
}
