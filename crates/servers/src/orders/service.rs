//! The service of the order-entry server: what its threads do with requests.

use std::ops::ControlFlow;

use frame::FrameFormat;
use orders::wire::{
    CHECK_ROWS_MAX, ConditionResult, ExpectedData, MAGIC, OrderEntryOperation, OrderEntryStatus,
    OrderServerStats, PAYLOAD_MAX, VERSION, write_output, write_totals,
};
use orders::{ConsistencyCondition, TransactionInput, TransactionType};
use orderstore::{OrderStore, StoreSession};
use units::wall;

use super::action::Action;
use super::data::{CurrentData, OrderData};
use super::options::OrderServerError;
use crate::framed::{FrameProtocol, FrameRequest, FrameService, Requests, ServerLoad};

/// The lanes of the queue: that of the only thread that writes, and that of the others.
const WRITER: usize = 0;
const READERS: usize = 1;

/// The service of an order-entry server.
pub(super) struct OrderService {
    terminals_max: u32,
    data: OrderData,
}

/// A session that `HELLO` has opened.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenSession;

type Request = FrameRequest<OpenSession>;

/// A reason why a thread closes its connection to the data.
enum Leave {
    /// The server is to stop.
    Stop,
    /// The data are other ones now, or a request is to load them: it has not been performed.
    Reopen(Option<Request>),
}

impl FrameService for OrderService {
    const PROTOCOL: FrameProtocol = FrameProtocol {
        format: FrameFormat { magic: MAGIC, version: VERSION, payload_max: PAYLOAD_MAX },
        name: "orders",
        stats: OrderEntryOperation::Stats as u8,
        bye: OrderEntryOperation::Bye as u8,
        busy: OrderEntryStatus::Busy as u16,
        bad_request: OrderEntryStatus::BadRequest as u16,
        is_measured: |operation| transaction(operation).is_some(),
    };

    type Session = OpenSession;

    fn lane(&self, operation: u8) -> usize {
        let is_load = operation == OrderEntryOperation::Load as u8;
        if is_load || transaction(operation).is_some_and(TransactionType::writes) { WRITER } else { READERS }
    }

    fn run(&self, _lane: usize, mut requests: Requests<'_, OrderService>) {
        let mut pending = None;
        loop {
            let (generation, opened) = self.data.open_generation();
            let left = match opened {
                Ok(store) => self.serve(&store, generation, pending, &mut requests),
                Err(why) => self.refuse(why.status(), pending, &mut requests),
            };
            let Leave::Reopen(request) = left else { return };
            pending = request.and_then(|request| self.load_if_asked(request, &mut requests));
        }
    }

    fn write_load(&self, load: &ServerLoad, payload: &mut Vec<u8>) {
        let counts = self.data.counts();
        let stats = OrderServerStats {
            threads: load.threads,
            busy_threads: load.busy_threads,
            queued: load.queued,
            queue_max: load.queue_max,
            connections: load.connections,
            queued_writes: load.queued_in_first,
            performed: load.performed,
            refused: load.refused,
            lock_waits: counts.lock_waits(),
            checkpoints: counts.checkpoints(),
            checkpoint_pages: counts.checkpoint_pages(),
        };
        stats.write(payload);
    }
}

impl OrderService {
    /// Creates the service of data.
    pub(super) fn new(data: OrderData, terminals_max: u32) -> OrderService {
        OrderService { terminals_max, data }
    }

    /// Performs requests, the pending one first, as long as the data are those of a load.
    fn serve(
        &self,
        store: &OrderStore,
        generation: u64,
        pending: Option<Request>,
        requests: &mut Requests<'_, OrderService>,
    ) -> Leave {
        let mut session = match store.session() {
            Ok(session) => session,
            Err(why) => return self.refuse(why.status(), pending, requests),
        };
        let mut next = pending;
        loop {
            let Some(request) = next.take().or_else(|| requests.next_request()) else { return Leave::Stop };
            let current = self.data.current();
            let action = self.action(&request);
            if current.generation != generation || matches!(action, Ok(Action::Load { .. })) {
                return Leave::Reopen(Some(request));
            }
            let result = match (requests.refusal(), action) {
                (Some(status), _) => Err(status),
                (None, Err(status)) => Err(status as u16),
                (None, Ok(action)) => {
                    let opened = Opened { service: self, current: &current, store, session: &mut session };
                    opened.perform(action, &request, requests.reply()).map_err(|status| status as u16)
                }
            };
            drop(current);
            requests.answer(request, result);
        }
    }

    /// Answers the pending request where there are no data to perform it on. Without one, waits for the next: there may be
    /// data by then.
    fn refuse(
        &self,
        status: OrderEntryStatus,
        pending: Option<Request>,
        requests: &mut Requests<'_, OrderService>,
    ) -> Leave {
        let Some(request) = pending else {
            return requests.next_request().map_or(Leave::Stop, |request| Leave::Reopen(Some(request)));
        };
        let result = match self.action(&request) {
            Ok(Action::Bye) => Ok(0),
            Ok(_) => Err(status as u16),
            Err(status) => Err(status as u16),
        };
        requests.answer(request, result);
        Leave::Reopen(None)
    }

    /// Loads the data if a request asks for it; the thread has no connection to them. Gives other requests back.
    fn load_if_asked(&self, request: Request, requests: &mut Requests<'_, OrderService>) -> Option<Request> {
        let Ok(Action::Load { is_anew }) = self.action(&request) else { return Some(request) };
        let mut progress =
            |_: u64| if requests.is_stopping() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let loaded = self.data.load(is_anew, &mut progress);
        let result = match loaded {
            Ok(()) => self.describe(&self.data.current(), requests.reply()),
            Err(OrderServerError::Room { .. }) => Err(OrderEntryStatus::StorageFull),
            Err(OrderServerError::Store(why)) => Err(why.status()),
            Err(_) => Err(OrderEntryStatus::StorageFailed),
        };
        requests.answer(request, result.map_err(|status| status as u16));
        None
    }

    /// Returns what a request asks for, if its session may ask for it.
    fn action(&self, request: &Request) -> Result<Action, OrderEntryStatus> {
        let action = Action::read(request)?;
        let is_open = matches!(action, Action::Hello { .. }) || request.connection.session().is_some();
        if is_open { Ok(action) } else { Err(OrderEntryStatus::OutOfPhase) }
    }

    /// Appends the description of the data to a reply.
    fn describe(&self, current: &CurrentData, reply: &mut Vec<u8>) -> Result<u64, OrderEntryStatus> {
        let description = self.data.describe(current).ok_or(OrderEntryStatus::NoData)?;
        description.write(reply);
        Ok(0)
    }
}

/// The data as a thread has them open.
struct Opened<'t, 's> {
    service: &'t OrderService,
    current: &'t CurrentData,
    store: &'t OrderStore,
    session: &'t mut StoreSession<'s>,
}

impl Opened<'_, '_> {
    /// Performs what a request asks for; returns its result. A payload is appended to the reply.
    fn perform(
        self,
        action: Action,
        request: &Request,
        reply: &mut Vec<u8>,
    ) -> Result<u64, OrderEntryStatus> {
        match action {
            Action::Hello { terminal, expected } => self.hello(terminal, expected, request, reply),
            Action::Transaction(input) => self.transact(&input, reply),
            Action::Check(condition) => self.check(condition, reply),
            Action::Totals => {
                let totals = self.store.totals().map_err(|why| why.status())?;
                write_totals(&totals, reply);
                Ok(totals.next_orders)
            }
            // The caller loads.
            Action::Load { .. } | Action::Bye => Ok(0),
        }
    }

    fn hello(
        self,
        terminal: u64,
        expected: Option<ExpectedData>,
        request: &Request,
        reply: &mut Vec<u8>,
    ) -> Result<u64, OrderEntryStatus> {
        if u64::from(self.service.terminals_max) <= terminal {
            return Err(OrderEntryStatus::OverLimit);
        }
        if expected.is_some_and(|expected| expected != ExpectedData::of(self.service.data.scale())) {
            return Err(OrderEntryStatus::OtherData);
        }
        request.connection.set_session(OpenSession);
        self.service.describe(self.current, reply)
    }

    fn transact(self, input: &TransactionInput, reply: &mut Vec<u8>) -> Result<u64, OrderEntryStatus> {
        if !input.is_within(self.service.data.scale()) {
            return Err(OrderEntryStatus::OverLimit);
        }
        if input.kind().transaction_type().writes() {
            self.service.data.touch();
        }
        let performed = self.session.perform(input, wall()).map_err(|why| why.status())?;
        write_output(&performed.output, reply);
        Ok(performed.n_retries.into())
    }

    fn check(self, condition: ConsistencyCondition, reply: &mut Vec<u8>) -> Result<u64, OrderEntryStatus> {
        let found = self.store.violations(condition, CHECK_ROWS_MAX).map_err(|why| why.status())?;
        let n_violations = found.count;
        ConditionResult::from(found).write(reply);
        Ok(n_violations)
    }
}

/// Returns the type of transaction that the operation of a number performs; `None` if none.
fn transaction(operation: u8) -> Option<TransactionType> {
    OrderEntryOperation::from_number(operation)?.transaction()
}
