//! Transactions in each form of SQL.

use std::rc::Rc;

use drivers::orders::{DatabaseContext, DatabaseDriver};
use engine::Driver;
use model::{DatabaseProduct, OrderRequest, OrderSql, Outcome, Reply, order_measure};
use orders::{CustomerSelector, TransactionInput, TransactionKind, TransactionType};
use units::{Clock, RealClock};

use super::fixture::{Database, Inputs, PRODUCTS, fresh, scale};
use crate::common::block_on;

/// Transactions of each of several terminals at once.
const N_TRANSACTIONS: u32 = 150;

async fn perform(driver: &mut DatabaseDriver, request: &OrderRequest) -> Reply {
    let reply = driver.perform(request, RealClock::start().now()).await;
    assert_eq!(reply.outcome, Outcome::Ok, "{request:?}: {}", driver.describe(request, &reply));
    reply
}

/// Returns the round trips of a transaction that no other one disturbs, by the tables of the forms.
fn round_trips(product: DatabaseProduct, form: OrderSql, input: &TransactionInput) -> u64 {
    // Updates of MariaDB do not return what they have changed.
    let reads_again = u64::from(product == DatabaseProduct::MariaDb);
    let by_name = |selector| u64::from(matches!(selector, CustomerSelector::LastName(_)));
    match (form, input) {
        (OrderSql::Stored, _) => 1,
        (OrderSql::Client, TransactionInput::NewOrder(input)) => {
            let rolled_back = if input.is_rolled_back { 3 } else { 0 };
            8 + 4 * input.items.len() as u64 - rolled_back
        }
        (OrderSql::Client, TransactionInput::Payment(input)) => 9 + by_name(input.customer),
        (OrderSql::Client, TransactionInput::Delivery(_)) => 2 + 7 * 10,
        (OrderSql::Client, TransactionInput::StockLevel(_)) => 4,
        (OrderSql::Batched, TransactionInput::NewOrder(_)) => 10 + reads_again,
        (OrderSql::Batched, TransactionInput::Payment(input)) => 6 + reads_again + by_name(input.customer),
        (OrderSql::Batched, TransactionInput::Delivery(_)) => 7 + reads_again,
        (OrderSql::Batched, TransactionInput::StockLevel(_)) => 1,
        (_, TransactionInput::OrderStatus(input)) => 5 + by_name(input.customer),
        (OrderSql::Request, _) => panic!("no form of a database"),
    }
}

/// Draws an input of a kind.
fn input_of(inputs: &mut Inputs, kind: TransactionKind) -> OrderRequest {
    loop {
        let request = inputs.next(kind.transaction_type());
        if request.input.kind() == kind {
            return request;
        }
    }
}

#[test]
fn every_transaction_takes_the_round_trips_of_its_form() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        for form in product.forms().iter().copied() {
            block_on(async {
                let mut driver = DatabaseDriver::new(&database.context(form));
                driver.open().await.unwrap();
                let mut inputs = Inputs::of(3);
                for kind in TransactionKind::ALL.into_iter().chain(TransactionKind::ALL) {
                    let request = input_of(&mut inputs, kind);
                    let measured = perform(&mut driver, &request).await.measured;
                    let value = |measure| measured.get(order_measure::slot(measure, false));
                    assert_eq!(
                        value(order_measure::ROUND_TRIPS),
                        Some(round_trips(product, form, &request.input)),
                        "{form} {request:?}"
                    );
                    assert_eq!(value(order_measure::RETRIES), Some(0));
                    let is_placed = kind == TransactionKind::NewOrder;
                    let is_payment = kind == TransactionKind::Payment;
                    assert_eq!(
                        value(order_measure::LINES).is_some(),
                        is_placed || is_payment,
                        "what was entered"
                    );
                    assert!(value(order_measure::SENT_BYTES).unwrap() < 10_000, "{form} {kind:?}");
                    assert!(20 < value(order_measure::RECEIVED_BYTES).unwrap(), "{form} {kind:?}");
                }
            });
        }
    }
}

/// Goal: terminals that work at the same time leave consistent data, and know how many orders they have placed and
/// delivered.
#[test]
fn terminals_at_once_leave_consistent_data_in_every_form() {
    for product in PRODUCTS {
        for form in product.forms().iter().copied() {
            let database = Database::loaded(product);
            block_on(async {
                let context = database.context(form);
                let local: Vec<_> =
                    (0..6).map(|user| tokio::task::spawn_local(work(Rc::clone(&context), user))).collect();
                for task in local {
                    task.await.unwrap();
                }
                let totals = database.consistent_totals(form).await;
                let counts = context.counts();
                assert_eq!((counts.placed_in_doubt, counts.delivered_in_doubt), (0, 0), "{form}");
                assert_eq!(totals.placed_since(&fresh()), i64::try_from(counts.placed).unwrap(), "{form}");
                let delivered = totals.delivered_since_load(&scale());
                assert_eq!(delivered, i64::try_from(counts.delivered).unwrap(), "{form}");
                assert!(100 < counts.placed && 100 < counts.delivered, "{counts:?}");
            });
        }
    }
}

/// Performs transactions of all types as a terminal, all of which succeed.
async fn work(context: Rc<DatabaseContext>, user: u32) {
    let mut driver = DatabaseDriver::new(&context);
    let mut inputs = Inputs::of(user);
    for number in 0..N_TRANSACTIONS {
        let kind = TransactionType::ALL[(number % 5) as usize];
        perform(&mut driver, &inputs.next(kind)).await;
    }
}

/// All forms and databases write the same: sums over what the same inputs of one terminal have changed.
#[test]
fn the_forms_of_all_databases_do_the_same() {
    let sums = |product| {
        let (customers, history) = match product {
            DatabaseProduct::PostgreSql => (
                "STRING_AGG(c_data, '' ORDER BY c_w_id, c_d_id, c_id)",
                "STRING_AGG(h_data, '' ORDER BY h_data COLLATE \"C\")",
            ),
            DatabaseProduct::MariaDb => (
                "GROUP_CONCAT(c_data ORDER BY c_w_id, c_d_id, c_id SEPARATOR '')",
                "GROUP_CONCAT(h_data ORDER BY h_data SEPARATOR '')",
            ),
        };
        format!(
            "SELECT (SELECT SUM(s_quantity * s_i_id + s_ytd + s_order_cnt + s_remote_cnt) FROM stock), \
             (SELECT SUM(ol_amount * ol_number + ol_i_id) FROM order_line), (SELECT SUM(o_all_local * o_id) FROM orders), \
             (SELECT SUM(c_balance * c_id + c_payment_cnt + c_delivery_cnt + LENGTH(c_data)) FROM customer), \
             (SELECT MD5({customers}) FROM customer), (SELECT MD5({history}) FROM history), \
             (SELECT SUM(d_ytd * d_id) FROM district), \
             (SELECT COUNT(*) FROM order_line WHERE ol_delivery_d IS NULL)"
        )
    };
    let mut expected = None;
    for product in PRODUCTS {
        for form in product.forms().iter().copied() {
            let database = Database::loaded(product);
            block_on(work(database.context(form), 1));
            let found = database.query(&sums(product));
            assert_eq!(&found, expected.get_or_insert_with(|| found.clone()), "{product} {form}");
        }
    }
}

#[test]
fn a_driver_without_changes_changes_nothing() {
    for product in PRODUCTS {
        let database = Database::loaded(product);
        let history = || database.query("SELECT COUNT(*), SUM(h_amount) FROM history");
        let before = history();
        for form in product.forms().iter().copied() {
            block_on(async {
                let context = database.context(form);
                let mut driver = DatabaseDriver::without_changes(&context);
                let mut inputs = Inputs::of(0);
                for kind in TransactionKind::ALL {
                    perform(&mut driver, &input_of(&mut inputs, kind)).await;
                }
                assert_eq!(database.consistent_totals(form).await, fresh(), "{form}");
                assert_eq!(context.counts(), Default::default());
            });
        }
        assert_eq!(history(), before);
    }
}
