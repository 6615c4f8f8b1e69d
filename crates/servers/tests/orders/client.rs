//! A client of the order-entry server, and users of its data.

use std::ops::ControlFlow;
use std::path::Path;

use frame::FrameFormat;
use orders::wire::{
    CHECK_TOTALS, ConditionResult, DataDescription, MAGIC, OrderEntryOperation, OrderEntryStatus,
    OrderServerStats, PAYLOAD_MAX, VERSION, check_argument, read_output, read_totals, write_input,
};
use orders::{
    ConsistencyCondition, DataScale, InputGenerator, OrderTotals, RunConstants, Terminal, TransactionInput,
    TransactionKind, TransactionMix, TransactionOutput, TransactionSelector, TransactionType,
};
use servers::FrameFaultPlan;
use servers::orders::{FAULTS, OrderOptions, OrderServer};
use tempfile::TempDir;
use units::{Rng, StreamPurpose};

use crate::frames::{FrameClient, FrameOperation};

pub(crate) const FORMAT: FrameFormat =
    FrameFormat { magic: MAGIC, version: VERSION, payload_max: PAYLOAD_MAX };

pub(crate) type Client = FrameClient<OrderEntryOperation>;

impl FrameOperation for OrderEntryOperation {
    const FORMAT: FrameFormat = FORMAT;

    type Status = OrderEntryStatus;

    fn number(self) -> u8 {
        self as u8
    }

    fn status(number: u16) -> Option<OrderEntryStatus> {
        OrderEntryStatus::from_number(number)
    }
}

impl Client {
    /// Connects and opens the session of a terminal.
    pub(crate) fn open(server: &OrderServer, terminal: u64) -> Client {
        let mut client = Client::connect(server.address());
        assert_eq!(client.status(OrderEntryOperation::Hello, terminal, &[]), OrderEntryStatus::Ok);
        client
    }

    pub(crate) fn send_input(&mut self, input: &TransactionInput) {
        let (operation, payload) = request(input);
        self.send(operation, 0, &payload);
    }

    fn payload(&mut self, operation: OrderEntryOperation, argument: u64) -> Vec<u8> {
        let (header, payload) = self.perform(operation, argument, &[]);
        assert_eq!(header.status, 0, "{operation:?}");
        payload
    }

    /// Performs a transaction; returns its output.
    pub(crate) fn transact(
        &mut self,
        input: &TransactionInput,
    ) -> Result<TransactionOutput, OrderEntryStatus> {
        let (operation, payload) = request(input);
        let (header, payload) = self.perform(operation, 0, &payload);
        match OrderEntryStatus::from_number(header.status).unwrap() {
            OrderEntryStatus::Ok => Ok(read_output(operation.transaction().unwrap(), &payload).unwrap()),
            status => Err(status),
        }
    }

    pub(crate) fn hello(&mut self) -> DataDescription {
        DataDescription::read(&self.payload(OrderEntryOperation::Hello, 0)).unwrap()
    }

    pub(crate) fn load(&mut self, way: u64) -> DataDescription {
        DataDescription::read(&self.payload(OrderEntryOperation::Load, way)).unwrap()
    }

    pub(crate) fn totals(&mut self) -> OrderTotals {
        read_totals(&self.payload(OrderEntryOperation::Check, CHECK_TOTALS)).unwrap()
    }

    pub(crate) fn stats(&mut self) -> OrderServerStats {
        OrderServerStats::read(&self.payload(OrderEntryOperation::Stats, 0)).unwrap()
    }

    /// Returns the load as soon as no request is in service: one is until after its reply.
    pub(crate) fn idle_stats(&mut self) -> OrderServerStats {
        loop {
            let stats = self.stats();
            if (stats.busy_threads, stats.queued) == (0, 0) {
                return stats;
            }
            std::thread::yield_now();
        }
    }

    /// Returns the numbers of the conditions that are violated.
    pub(crate) fn violated(&mut self) -> Vec<u32> {
        let mut violated = Vec::new();
        for condition in ConsistencyCondition::ALL {
            let (header, payload) = self.perform(OrderEntryOperation::Check, check_argument(condition), &[]);
            let found = ConditionResult::read(&payload).unwrap();
            assert_eq!((header.status, header.result), (0, found.n_violations));
            assert_eq!(found.rows.is_empty(), found.n_violations == 0);
            if found.n_violations != 0 {
                violated.push(condition.number());
            }
        }
        violated
    }
}

/// Returns the operation of a transaction, and its payload.
pub(crate) fn request(input: &TransactionInput) -> (OrderEntryOperation, Vec<u8>) {
    let mut payload = Vec::new();
    write_input(input, &mut payload);
    (OrderEntryOperation::of_transaction(input.kind().transaction_type()), payload)
}

pub(crate) fn on_disk() -> TempDir {
    tempfile::tempdir_in("/var/tmp").unwrap()
}

/// Returns the settings of a server with two small warehouses.
pub(crate) fn options(parent: &Path) -> OrderOptions {
    let scale = DataScale::new(2, 100).unwrap();
    OrderOptions { terminals_max: 8, ..OrderOptions::new(scale, parent.to_owned()) }
}

pub(crate) fn start(options: OrderOptions) -> OrderServer {
    OrderServer::start(options, |_| ControlFlow::Continue(())).unwrap()
}

pub(crate) fn faulty(parent: &Path, fault: &str) -> OrderServer {
    let faults = FrameFaultPlan::parse(&FAULTS, [fault]).unwrap();
    start(OrderOptions { faults, ..options(parent) })
}

/// A user of the data, with a random stream of its own.
pub(crate) struct User {
    generator: InputGenerator,
    terminal: Terminal,
    selector: TransactionSelector,
    rng: Rng,
}

impl User {
    pub(crate) fn new(user: u32, data: &DataDescription) -> User {
        let population = data.population().unwrap();
        let scale = population.scale();
        let constants = RunConstants::draw(scale, data.c_load, &mut Rng::new(1, StreamPurpose::Data, 0));
        User {
            generator: InputGenerator::new(scale, &constants),
            terminal: Terminal::of_user(user, scale),
            selector: TransactionMix::Deck.selector(),
            rng: Rng::new(1, StreamPurpose::User, u64::from(user)),
        }
    }

    pub(crate) fn input(&mut self) -> TransactionInput {
        let kind = self.selector.choose(&mut self.rng);
        self.input_of(kind)
    }

    pub(crate) fn input_of(&mut self, kind: TransactionType) -> TransactionInput {
        self.generator.input(kind, &self.terminal, &mut self.rng)
    }
}

/// The results of transactions, as a client counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) placed: i64,
    pub(crate) rolled_back: i64,
    pub(crate) delivered: i64,
}

impl Counts {
    pub(crate) fn add(&mut self, output: &TransactionOutput) {
        match output {
            TransactionOutput::Delivery(delivery) => self.delivered += delivery.n_delivered() as i64,
            other => match other.kind() {
                TransactionKind::NewOrder => self.placed += 1,
                TransactionKind::NewOrderRolledBack => self.rolled_back += 1,
                _ => {}
            },
        }
    }

    pub(crate) fn join(self, other: Counts) -> Counts {
        Counts {
            placed: self.placed + other.placed,
            rolled_back: self.rolled_back + other.rolled_back,
            delivered: self.delivered + other.delivered,
        }
    }
}
