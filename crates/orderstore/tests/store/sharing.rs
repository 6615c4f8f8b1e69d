//! Several connections to the same data.

use std::sync::{Arc, Barrier};
use std::thread;

use orders::{
    Cents, CustomerSelector, DeliveryInput, DistrictKey, OrderStatusInput, TransactionInput,
    TransactionOutput,
};
use orderstore::{OrderStore, StoreCounts, Synchronous};
use rusqlite::Connection;

use crate::fixture::{Counts, Fixture, NOW, User, violated};

/// Goal: nothing is lost or done twice. Method: four threads with a connection each, and their counts against the data.
#[test]
fn transactions_of_several_connections_do_not_disturb_each_other() {
    let fixture = Fixture::new(1);
    let before = fixture.open().totals().unwrap();
    let start = Barrier::new(4);
    let work = |user| {
        let store = fixture.open();
        let mut session = store.session().unwrap();
        start.wait();
        User::new(user, store.population()).perform(&mut session, 230)
    };
    let counts: Vec<Counts> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|user| scope.spawn(move || work(user))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sum = counts.iter().fold(Counts::default(), Counts::join);
    assert_eq!(sum.placed + sum.rolled_back.cast_signed(), 400);
    sum.assert_stored(&fixture.open(), &before);
}

#[test]
fn readers_do_not_wait_for_a_writer_and_writers_do() {
    let fixture = Fixture::new(1);
    let store = fixture.open();
    let mut session = store.session().unwrap();
    let other = Connection::open(&fixture.path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE customer SET c_balance = 0").unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let store = fixture.open();
            let delivery = TransactionInput::Delivery(DeliveryInput { warehouse: 1, carrier: 1 });
            store.session().unwrap().perform(&delivery, NOW).unwrap()
        });
        for number in 1..=30 {
            let district = DistrictKey { warehouse: 1, district: 3 };
            let customer = CustomerSelector::Number(number);
            let status = TransactionInput::OrderStatus(OrderStatusInput { district, customer });
            let performed = session.perform(&status, NOW).unwrap();
            let TransactionOutput::OrderStatus(output) = performed.output else { panic!() };
            assert_eq!((output.customer.balance, performed.n_retries), (Cents(-1_000), 0));
        }
        assert!(!waiting.is_finished());
        other.execute_batch("ROLLBACK").unwrap();
        waiting.join().unwrap();
    });
    assert_eq!(violated(&store), [11]);
}

/// Goal: checkpoints happen by themselves and are counted. Method: as many commits as fill the log several times.
#[test]
fn checkpoints_of_a_writer_are_counted() {
    let fixture = Fixture::new(1);
    let counts = Arc::new(StoreCounts::default());
    let mut store = fixture.open();
    store.count_in(Arc::clone(&counts)).unwrap();
    let mut session = store.session().unwrap();
    let mut user = User::new(0, store.population());
    let mut n_transactions = 0;
    while counts.checkpoints() < 2 && n_transactions < 5_000 {
        user.perform(&mut session, 23);
        n_transactions += 23;
    }
    assert!(2 <= counts.checkpoints(), "no two checkpoints in {n_transactions} transactions");
    assert!(2_000 <= counts.checkpoint_pages(), "{counts:?}");
    assert_eq!(violated(&store), [11]);
}

#[test]
fn a_connection_without_a_session_performs_the_same() {
    let fixtures = [Fixture::new(1), Fixture::new(1)];
    let [one, other] = fixtures.each_ref().map(Fixture::open);
    let mut session = one.session().unwrap();
    let mut user = User::new(0, one.population());
    for _ in 0..230 {
        let input = user.input();
        assert_eq!(other.perform(&input, NOW).unwrap(), session.perform(&input, NOW).unwrap(), "{input:?}");
    }
    assert_eq!(other.totals().unwrap(), one.totals().unwrap());
    assert_eq!(violated(&other), [11]);
}

#[test]
fn every_durability_has_a_name_and_works() {
    assert_eq!(Synchronous::ALL.map(Synchronous::name), ["off", "normal", "full"]);
    let fixture = Fixture::new(1);
    for synchronous in Synchronous::ALL {
        let store = OrderStore::open(&fixture.path, synchronous).unwrap();
        let performed = User::new(0, store.population()).perform(&mut store.session().unwrap(), 23);
        assert!(0 < performed.placed);
    }
    assert!(orderstore::database_name().starts_with("SQLite 3."));
}
