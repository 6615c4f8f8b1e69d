//! Transactions of sessions beside each other, and of clients that go away.

use std::io::Write;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use orders::wire::{OrderEntryOperation, OrderEntryStatus};
use orders::{TransactionInput, TransactionKind, TransactionOutput, TransactionType};
use rusqlite::Connection;
use servers::orders::OrderOptions;

use super::client::{Client, Counts, User, on_disk, options, request, start};
use super::data::only_file;

/// The time for which a test holds a lock that a transaction waits for.
const LOCKED: Duration = Duration::from_millis(50);

#[test]
fn every_transaction_is_performed() {
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut client = Client::connect(server.address());
    let data = client.hello();
    assert_eq!((data.warehouses, data.divisor, data.readers, data.is_untouched), (2, 100, 2, true));
    assert!(data.database.as_str().ends_with(", WAL, synchronous normal"), "{}", data.database);
    assert_eq!(data.rows[..2], [2, 20]);
    let mut user = User::new(0, &data);
    for kind in [TransactionType::OrderStatus, TransactionType::StockLevel] {
        client.transact(&user.input_of(kind)).unwrap();
        assert!(client.hello().is_untouched, "it has only read");
    }
    let before = client.totals();
    let mut counts = Counts::default();
    for kind in TransactionType::ALL {
        let input = user.input_of(kind);
        let output = client.transact(&input).unwrap();
        assert_eq!(output.kind(), input.kind());
        counts.add(&output);
    }
    assert_eq!(counts.placed + counts.rolled_back, 1);
    assert_eq!((client.totals().placed_since(&before), counts.delivered), (counts.placed, 10));
    assert!(!client.hello().is_untouched);
    assert_eq!(client.status(OrderEntryOperation::Bye, 0, &[]), OrderEntryStatus::Ok);
    assert!(client.rest().is_empty());
    server.stop().unwrap();
}

/// An order with an item that does not exist is an answer and no failure, and changes nothing.
#[test]
fn an_order_is_rolled_back() {
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut client = Client::open(&server, 0);
    let before = client.totals();
    let mut user = User::new(0, &client.hello());
    let is_rolled_back =
        |input: &TransactionInput| matches!(input, TransactionInput::NewOrder(order) if order.is_rolled_back);
    let mut inputs = std::iter::repeat_with(|| user.input_of(TransactionType::NewOrder));
    let input = inputs.by_ref().take(10_000).find(is_rolled_back).unwrap();
    let output = client.transact(&input).unwrap();
    assert_eq!(output.kind(), input.kind());
    assert_eq!(client.totals(), before);
    assert_eq!(client.violated(), [0; 0]);
}

/// Goal: nothing is lost or done twice, and queue, service and the sum of all are counted. Method: six sessions at once,
/// and their counts against the server's data.
#[test]
fn sessions_at_once_leave_consistent_data() {
    const SESSIONS: u32 = 6;
    const TRANSACTIONS: u32 = 138;
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut observer = Client::open(&server, 7);
    assert_eq!(observer.violated(), [0; 0]);
    let before = observer.totals();
    let performed = observer.idle_stats().performed;
    let begin = Barrier::new(SESSIONS as usize);
    let work = |number: u32| {
        let mut client = Client::open(&server, number.into());
        let mut user = User::new(number, &client.hello());
        let mut counts = Counts::default();
        begin.wait();
        for _ in 0..TRANSACTIONS {
            let input = user.input();
            let output = client.transact(&input).unwrap();
            assert_eq!(output.kind(), input.kind());
            counts.add(&output);
        }
        counts
    };
    let counts = thread::scope(|scope| {
        let sessions: Vec<_> = (0..SESSIONS).map(|number| scope.spawn(move || work(number))).collect();
        let counts = sessions.into_iter().map(|session| session.join().unwrap());
        counts.fold(Counts::default(), Counts::join)
    });
    // A deck of 23 cards has ten new orders.
    assert_eq!(counts.placed + counts.rolled_back, i64::from(SESSIONS * TRANSACTIONS / 23 * 10));
    let totals = observer.totals();
    assert_eq!(totals.placed_since(&before), counts.placed);
    let scale = observer.hello().population().unwrap();
    assert_eq!(totals.delivered_since_load(scale.scale()), counts.delivered);
    assert_eq!(observer.violated(), [11]);
    let stats = observer.idle_stats();
    // Each session said `HELLO` twice; the observer asked for totals, data and twelve conditions.
    let expected = u64::from(SESSIONS * (TRANSACTIONS + 2)) + 1 + 1 + 12;
    assert_eq!((stats.performed - performed, stats.refused), (expected, 0));
    assert_eq!((stats.threads, stats.queue_max), (3, 1024));
    server.stop().unwrap();
}

/// Clients that send an order and close before its reply: it is placed if all of it has been sent, and else not begun.
#[test]
fn clients_that_close_in_a_transaction_leave_consistent_data() {
    let parent = on_disk();
    let server = start(OrderOptions { terminals_max: 64, ..options(parent.path()) });
    let mut observer = Client::open(&server, 63);
    let before = observer.totals();
    let data = observer.hello();
    let mut expected = 0;
    for number in 0..30 {
        let mut client = Client::open(&server, number.into());
        let input = User::new(number, &data).input_of(TransactionType::NewOrder);
        let (operation, payload) = request(&input);
        let frame = client.frame(operation as u8, 0, &payload);
        let is_whole = number % 3 != 0;
        client.stream.write_all(&frame[..frame.len() - usize::from(!is_whole)]).unwrap();
        expected += i64::from(is_whole && input.kind() == TransactionKind::NewOrder);
    }
    // The end of a connection is noticed when its request has been performed.
    while 1 < observer.stats().connections {
        thread::yield_now();
    }
    assert_eq!(observer.totals().placed_since(&before), expected);
    assert_eq!(observer.violated(), [0; 0]);
}

/// Goal: the wait for a lock and for the writer are told apart, and a full queue refuses. Method: another connection holds
/// the lock; one transaction waits for it, one in the queue, and a third one is turned away.
#[test]
fn a_full_queue_answers_busy_and_waits_are_counted() {
    let parent = on_disk();
    let server = start(OrderOptions { queue_max: 1, readers: 1, ..options(parent.path()) });
    let mut clients: Vec<Client> = (0..3).map(|number| Client::open(&server, number)).collect();
    let mut observer = Client::open(&server, 3);
    let mut user = User::new(0, &observer.hello());
    let payment = user.input_of(TransactionType::Payment);
    let other = Connection::open(only_file(parent.path())).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut until = |busy_threads, queued_writes, least_waits| loop {
        let stats = observer.stats();
        if (stats.busy_threads, stats.queued_writes) == (busy_threads, queued_writes) {
            assert_eq!(stats.queued, queued_writes);
            if least_waits <= stats.lock_waits {
                return stats;
            }
        }
        thread::yield_now();
    };
    clients[0].send_input(&payment);
    until(1, 0, 0);
    clients[1].send_input(&payment);
    until(1, 1, 0);
    // The bound is on all requests that wait.
    let order_status = user.input_of(TransactionType::OrderStatus);
    assert_eq!(clients[2].transact(&order_status), Err(OrderEntryStatus::Busy));
    // Longer than a thread takes to be scheduled on a busy machine.
    thread::sleep(LOCKED);
    other.execute_batch("ROLLBACK").unwrap();
    let (header, _) = clients[0].receive();
    let (queue, service) = header.stamps.times().unwrap();
    assert!(queue < service && 0 < header.result, "it waited for the lock: {header:?}");
    let (header, _) = clients[1].receive();
    let (queue, service) = header.stamps.times().unwrap();
    assert!(service < queue && header.result == 0, "it waited for the writer: {header:?}");
    let stats = until(0, 0, 1);
    assert_eq!((stats.threads, stats.queue_max, stats.connections, stats.refused), (2, 1, 4, 1));
}

/// Outputs are those of the data, also where they are long: a payment of a customer with bad credit has the most bytes.
#[test]
fn outputs_of_many_payments_fit() {
    let parent = on_disk();
    let server = start(options(parent.path()));
    let mut client = Client::open(&server, 0);
    let mut user = User::new(0, &client.hello());
    let mut has_data = false;
    for _ in 0..200 {
        let output = client.transact(&user.input_of(TransactionType::Payment)).unwrap();
        let TransactionOutput::Payment(payment) = output else { panic!("no payment") };
        has_data |= payment.data.is_some();
    }
    assert!(has_data, "a tenth of the customers has bad credit");
}
