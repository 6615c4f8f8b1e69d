//! Loaded data in a folder of their own, and terminals that use them.

use std::ops::ControlFlow;
use std::path::PathBuf;

use orders::{
    ConsistencyCondition, DataScale, InputGenerator, OrderTotals, Population, RunConstants, Terminal,
    TransactionInput, TransactionKind, TransactionMix, TransactionOutput, TransactionSelector,
};
use orderstore::{OrderStore, StoreSession, Synchronous};
use rusqlite::Connection;
use tempfile::TempDir;
use units::{Rng, StreamPurpose, WallTime};

pub(crate) const LOADED: WallTime = WallTime(1_700_000_000_000);
pub(crate) const NOW: WallTime = WallTime(1_700_000_060_000);

/// Loaded data, which are removed at the end.
pub(crate) struct Fixture {
    pub(crate) path: PathBuf,
    _folder: TempDir,
}

impl Fixture {
    /// Loads warehouses with divisor 100.
    pub(crate) fn new(warehouses: u32) -> Fixture {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("orders.db");
        orderstore::create(&path, &population(warehouses), |_| ControlFlow::Continue(())).unwrap();
        Fixture { path, _folder: folder }
    }

    pub(crate) fn open(&self) -> OrderStore {
        OrderStore::open(&self.path, Synchronous::Normal).unwrap()
    }

    /// Changes the data past the store.
    pub(crate) fn change(&self, sql: &str) {
        let database = Connection::open(&self.path).unwrap();
        assert!(0 < database.execute(sql, []).unwrap(), "nothing changed: {sql}");
    }

    /// Reads one number past the store.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        Connection::open(&self.path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn population(warehouses: u32) -> Population {
    Population::new(42, DataScale::new(warehouses, 100).unwrap(), LOADED)
}

/// Returns the numbers of the conditions that are violated.
pub(crate) fn violated(store: &OrderStore) -> Vec<u32> {
    let is_violated = |one: &ConsistencyCondition| store.violations(*one, 0).unwrap().count != 0;
    ConsistencyCondition::ALL.into_iter().filter(is_violated).map(ConsistencyCondition::number).collect()
}

/// A user of the data, with a random stream of its own.
pub(crate) struct User {
    generator: InputGenerator,
    terminal: Terminal,
    selector: TransactionSelector,
    rng: Rng,
}

impl User {
    pub(crate) fn new(user: u32, population: &Population) -> User {
        let scale = population.scale();
        let constants =
            RunConstants::draw(scale, population.c_load(), &mut Rng::new(1, StreamPurpose::Data, 0));
        User {
            generator: InputGenerator::new(scale, &constants),
            terminal: Terminal::of_user(user, scale),
            selector: TransactionMix::Deck.selector(),
            rng: Rng::new(1, StreamPurpose::User, u64::from(user)),
        }
    }

    pub(crate) fn input(&mut self) -> TransactionInput {
        let kind = self.selector.choose(&mut self.rng);
        self.generator.input(kind, &self.terminal, &mut self.rng)
    }

    /// Performs transactions of the mix.
    pub(crate) fn perform(&mut self, session: &mut StoreSession<'_>, n_transactions: usize) -> Counts {
        let mut counts = Counts::default();
        for _ in 0..n_transactions {
            let input = self.input();
            let performed = session.perform(&input, NOW).unwrap();
            assert_eq!(performed.output.kind(), input.kind());
            counts.add(&performed.output);
        }
        counts
    }
}

/// The results of transactions, as users count them.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) placed: i64,
    pub(crate) rolled_back: u64,
    pub(crate) delivered: i64,
}

impl Counts {
    fn add(&mut self, output: &TransactionOutput) {
        match output {
            TransactionOutput::Delivery(delivery) => self.delivered += delivery.n_delivered() as i64,
            other => match other.kind() {
                TransactionKind::NewOrder => self.placed += 1,
                TransactionKind::NewOrderRolledBack => self.rolled_back += 1,
                _ => {}
            },
        }
    }

    pub(crate) fn join(mut self, other: &Counts) -> Counts {
        self.placed += other.placed;
        self.rolled_back += other.rolled_back;
        self.delivered += other.delivered;
        self
    }

    /// Asserts that the store has counted the same since `before`, and that its data are consistent.
    #[track_caller]
    pub(crate) fn assert_stored(&self, store: &OrderStore, before: &OrderTotals) {
        let scale = store.population().scale();
        let totals = store.totals().unwrap();
        assert_eq!(totals.placed_since(before), self.placed);
        let delivered = totals.delivered_since_load(scale) - before.delivered_since_load(scale);
        assert_eq!(delivered, self.delivered);
        let expected: &[u32] = if totals.delivered_since_load(scale) == 0 { &[] } else { &[11] };
        assert_eq!(violated(store), expected);
    }
}
