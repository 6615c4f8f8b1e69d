//! A driver for a simulated server.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::pending;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use engine::{BlockingClock, BlockingDriver, Driver, NoticeOutbox, Spawn, Timers};
use model::{Outcome, Reply, UserNotice};
use units::{Clock, Nanos, SimClock};

use crate::executor::SimSpawn;
use crate::family::{SimExchange, SimOperation};
use crate::server::{ServerState, SimNotices, SimReply};
use crate::sim_threads::SimThreads;

/// Size of every reply's head.
pub(crate) const HEAD_BYTES: u64 = 100;

/// The status of wrong replies.
const WRONG_STATUS: u32 = 503;

/// The connection of one user, or of one in-flight slot of an open loop, to the simulated server.
pub(crate) struct SimDriver<O> {
    pub(crate) server_state: Rc<RefCell<ServerState>>,
    pub(crate) timers: Rc<Timers>,
    pub(crate) clock: SimClock,
    pub(crate) origin: Nanos,
    pub(crate) user: u32,
    pub(crate) notices: NoticeQueue,
    pub(crate) observer: Rc<SimObserver>,
    /// The places of operations in flight, where there are several, with their replies as the server makes them.
    pub(crate) in_flight: Vec<(usize, Reply)>,
    pub(crate) operation: PhantomData<O>,
}

/// The notices that a user awaits.
#[derive(Debug, Default)]
pub(crate) struct NoticeQueue {
    /// The number of notices that were begun.
    n: u64,
    /// The beginnings of waits that the engine has not heard of.
    begun: VecDeque<Nanos>,
    /// The beginnings of those whose notices will come, with the times of these; in order.
    coming: VecDeque<(Nanos, Nanos)>,
}

impl NoticeQueue {
    /// Begins the wait for a notice at a time; `observer` sees it come where the user does not.
    fn begin(&mut self, notices: SimNotices, at: Nanos, observer: &SimObserver) {
        self.n += 1;
        let coming = (!self.n.is_multiple_of(notices.lost_of)).then_some(at + notices.after);
        if notices.is_observed {
            return observer.begin(at, coming);
        }
        self.begun.push_back(at);
        self.coming.extend(coming.map(|end| (at, end)));
    }
}

/// An observer beside the users of a load thread, who sees their notices come.
#[derive(Clone)]
pub(crate) struct SimObserver {
    pub(crate) outbox: NoticeOutbox,
    pub(crate) spawn: SimSpawn,
    pub(crate) timers: Rc<Timers>,
    pub(crate) clock: SimClock,
}

impl SimObserver {
    /// Sends the beginning of a wait, and its end when that has come.
    fn begin(&self, begun: Nanos, coming: Option<Nanos>) {
        self.outbox.send(UserNotice { measure: 0, begun, value: None });
        let Some(end) = coming else { return };
        let SimObserver { outbox, spawn, timers, clock } = self.clone();
        spawn.spawn(async move {
            timers.sleep_until(end).await;
            outbox.send(UserNotice { measure: 0, begun, value: Some((clock.now() - begun).0) });
        });
    }
}

impl<O: SimOperation> Driver for SimDriver<O> {
    type Operation = O;

    const RESTS: bool = true;
    const HAS_WINDOW: bool = true;

    async fn rest(&mut self) -> UserNotice {
        if let Some(begun) = self.notices.begun.pop_front() {
            return UserNotice { measure: 0, begun, value: None };
        }
        let Some((begun, at)) = self.notices.coming.front().copied() else { return pending().await };
        self.timers.sleep_until(at).await;
        self.notices.coming.pop_front();
        UserNotice { measure: 0, begun, value: Some((self.clock.now() - begun).0) }
    }

    async fn perform(&mut self, operation: &O, sent: Nanos) -> Reply {
        let fate = self.server_state.borrow_mut().admit(self.user, operation.kind(), sent - self.origin);
        self.timers.sleep_until(self.origin + fate.done).await;
        // As in a real driver, the reply is done when the generator sees it, which is later if it is paused.
        let reply = reply(operation, &fate, sent, self.clock.now(), self.origin);
        let notices = self.server_state.borrow().notices().filter(|_| reply.outcome == Outcome::Ok);
        if let Some(notices) = notices {
            self.notices.begin(notices, reply.done, &self.observer);
        }
        reply
    }

    fn give_up(&mut self) {
        self.in_flight.clear();
    }

    fn begin(&mut self, place: usize, operation: &O, sent: Nanos) {
        let fate = self.server_state.borrow_mut().admit(self.user, operation.kind(), sent - self.origin);
        let done = self.origin + fate.done;
        self.in_flight.push((place, reply(operation, &fate, sent, done, self.origin)));
    }

    async fn end(&mut self) -> (usize, Reply) {
        let all = self.in_flight.iter().enumerate();
        let first =
            all.min_by_key(|(_, (_, reply))| reply.done).map(|(index, (_, reply))| (index, reply.done));
        let Some((index, done)) = first else { return pending().await };
        self.timers.sleep_until(done).await;
        let (place, reply) = self.in_flight.swap_remove(index);
        (place, Reply { done: self.clock.now(), ..reply })
    }

    fn give_up_place(&mut self, place: usize) {
        self.in_flight.retain(|(one, _)| *one != place);
    }

    fn describe(&self, operation: &O, reply: &Reply) -> String {
        describe(operation, reply)
    }
}

/// The same with calls that block, and with the simulated server as a part of the process: an operation uses the CPU from
/// its sending to its end.
pub(crate) struct SimBlockingDriver<O> {
    pub(crate) server_state: Arc<Mutex<ServerState>>,
    pub(crate) threads: SimThreads,
    pub(crate) origin: Nanos,
    pub(crate) user: u32,
    pub(crate) operation: PhantomData<fn(O)>,
}

impl<O: SimOperation> BlockingDriver for SimBlockingDriver<O> {
    type Operation = O;

    fn perform(&mut self, operation: &O, sent: Nanos) -> Reply {
        let fate = {
            let mut server = self.server_state.lock().expect("a server that does not panic");
            server.admit(self.user, operation.kind(), sent - self.origin)
        };
        self.threads.sleep_until(self.origin + fate.done, &AtomicBool::new(false));
        let done = self.threads.now();
        SimThreads::use_cpu(done - sent);
        reply(operation, &fate, sent, done, self.origin)
    }

    fn describe(&self, operation: &O, reply: &Reply) -> String {
        describe(operation, reply)
    }
}

fn reply<O: SimOperation>(operation: &O, fate: &SimReply, sent: Nanos, done: Nanos, origin: Nanos) -> Reply {
    let head_bytes = match fate.outcome {
        Outcome::Ok | Outcome::WrongStatus => HEAD_BYTES,
        _ => 0,
    };
    let measured = operation.measured(&SimExchange {
        connect: (origin + fate.connected).saturating_sub(sent),
        first_byte: done - sent,
        head_bytes,
        body_bytes: fate.body_bytes,
        stated: fate.stated,
    });
    let answer = operation.answer(fate.outcome);
    let code = if fate.outcome == Outcome::WrongStatus { WRONG_STATUS } else { 0 };
    Reply { outcome: fate.outcome, sent, done, measured, answer, code, detail: code.into() }
}

fn describe(operation: &impl SimOperation, reply: &Reply) -> String {
    format!("object {}: {} ({})", operation.kind(), reply.outcome.name(), reply.detail)
}
