//! The inputs of transactions, as terminals draw them.

use orders::{
    CustomerSelector, DataScale, DistrictKey, InputGenerator, LINES_MAX, LINES_MIN, NewOrderInput,
    PaymentInput, RunConstants, Terminal, TransactionInput, TransactionKind, TransactionType,
};
use proptest::prelude::*;
use units::{Rng, StreamPurpose};

const N_INPUTS: usize = 100_000;

struct Fixture {
    scale: DataScale,
    generator: InputGenerator,
    terminal: Terminal,
    rng: Rng,
}

impl Fixture {
    fn new(warehouses: u32, divisor: u32, user: u32) -> Fixture {
        let scale = DataScale::new(warehouses, divisor).unwrap();
        let constants = RunConstants::draw(&scale, 0, &mut Rng::new(1, StreamPurpose::Data, 0));
        let generator = InputGenerator::new(&scale, &constants);
        let terminal = Terminal::of_user(user, &scale);
        Fixture { scale, generator, terminal, rng: Rng::new(1, StreamPurpose::User, u64::from(user)) }
    }

    fn draw(&mut self, kind: TransactionType) -> TransactionInput {
        self.generator.input(kind, &self.terminal, &mut self.rng)
    }

    fn new_order(&mut self) -> NewOrderInput {
        match self.draw(TransactionType::NewOrder) {
            TransactionInput::NewOrder(input) => input,
            other => panic!("{other:?}"),
        }
    }

    fn payment(&mut self) -> PaymentInput {
        match self.draw(TransactionType::Payment) {
            TransactionInput::Payment(input) => input,
            other => panic!("{other:?}"),
        }
    }
}

/// Asserts that a count of n cases of probability p is within four standard deviations.
#[track_caller]
fn assert_share(count: usize, n: usize, p: f64) {
    let deviation = (n as f64 * p * (1.0 - p)).sqrt();
    assert!((count as f64 - n as f64 * p).abs() < 4.0 * deviation, "{count} of {n}, expected a share of {p}");
}

/// Golden check 9.1: 10 lines per order with variance 10, and 9.51611 % of orders with a remote line, which is
/// 1 − the mean of 0.99ⁿ for n from 5 to 15.
#[test]
fn new_orders_have_the_shares_of_the_specification() {
    let mut fixture = Fixture::new(10, 1, 3);
    let orders: Vec<NewOrderInput> = (0..N_INPUTS).map(|_| fixture.new_order()).collect();
    assert_share(orders.iter().filter(|order| order.is_rolled_back).count(), N_INPUTS, 0.01);
    assert_share(orders.iter().filter(|order| !order.is_local()).count(), N_INPUTS, 0.095_161_1);
    let n_lines: usize = orders.iter().map(|order| order.items.len()).sum();
    let mean = n_lines as f64 / N_INPUTS as f64;
    let variance =
        orders.iter().map(|order| (order.items.len() as f64 - mean).powi(2)).sum::<f64>() / N_INPUTS as f64;
    // Four standard errors: 4 · √(10 ÷ 10⁵) of the mean; of the variance 4 · √((178 − 10²) ÷ 10⁵), 178 being the mean
    // fourth power.
    assert!((mean - 10.0).abs() < 0.04 && (variance - 10.0).abs() < 0.112, "{mean}, {variance}");
    assert_share(orders.iter().map(NewOrderInput::n_remote_lines).sum(), n_lines, 0.01);
}

#[test]
fn payments_have_the_shares_of_the_specification() {
    let mut fixture = Fixture::new(10, 1, 3);
    let payments: Vec<PaymentInput> = (0..N_INPUTS).map(|_| fixture.payment()).collect();
    assert_share(payments.iter().filter(|payment| payment.is_remote()).count(), N_INPUTS, 0.15);
    let is_by_name = |payment: &&PaymentInput| matches!(payment.customer, CustomerSelector::LastName(_));
    assert_share(payments.iter().filter(is_by_name).count(), N_INPUTS, 0.6);
    for other in (1..=10).filter(|warehouse| *warehouse != fixture.terminal.home.warehouse) {
        let of = payments.iter().filter(|payment| payment.customer_district.warehouse == other);
        assert_share(of.count(), N_INPUTS, 0.15 / 9.0);
    }
    assert!(payments.iter().all(|one| one.is_remote() || one.customer_district == one.district));
}

/// Only an order that is rolled back has an item that does not exist, and it is its last.
#[test]
fn new_orders_that_are_rolled_back_are_a_kind_of_their_own() {
    let mut fixture = Fixture::new(1, 100, 0);
    let orders: Vec<NewOrderInput> = (0..10_000).map(|_| fixture.new_order()).collect();
    for order in &orders {
        let missing: Vec<usize> =
            (0..).zip(order.items.iter()).filter(|(_, item)| 1000 < item.item).map(|(at, _)| at).collect();
        let expected = if order.is_rolled_back { vec![order.items.len() - 1] } else { Vec::new() };
        assert_eq!(missing, expected);
        let kind = TransactionInput::NewOrder(*order).kind();
        assert_eq!(kind == TransactionKind::NewOrderRolledBack, order.is_rolled_back);
    }
    assert!(orders.iter().any(|order| order.is_rolled_back));
}

#[test]
fn with_one_warehouse_everything_is_home() {
    let mut fixture = Fixture::new(1, 1, 0);
    assert!((0..10_000).all(|_| fixture.new_order().is_local() && !fixture.payment().is_remote()));
}

#[test]
fn users_are_dealt_to_warehouses_and_then_to_districts() {
    let scale = DataScale::new(3, 1).unwrap();
    let homes = [0, 1, 2, 3, 29, 30].map(|user| Terminal::of_user(user, &scale).home);
    let expected = [(1, 1), (2, 1), (3, 1), (1, 2), (3, 10), (1, 1)];
    assert_eq!(homes, expected.map(|(warehouse, district)| DistrictKey { warehouse, district }));
}

/// Goal: no change moves the inputs of a seed. If this fails, the benchmark's version must rise.
#[test]
fn inputs_never_change() {
    let mut fixture = Fixture::new(5, 100, 7);
    let printed = TransactionType::ALL.map(|kind| match fixture.draw(kind) {
        TransactionInput::NewOrder(input) => format!("{} {:?}", input.customer, input.items.iter().last()),
        other => format!("{other:?}"),
    });
    let expected = [
        "3 Some(OrderedItem { item: 32, supply_warehouse: 3, quantity: 6 })",
        "Payment(PaymentInput { district: DistrictKey { warehouse: 3, district: 1 }, \
         customer_district: DistrictKey { warehouse: 4, district: 4 }, customer: LastName(1), \
         amount: Cents(8681) })",
        "OrderStatus(OrderStatusInput { district: DistrictKey { warehouse: 3, district: 6 }, \
         customer: Number(15) })",
        "Delivery(DeliveryInput { warehouse: 3, carrier: 10 })",
        "StockLevel(StockLevelInput { district: DistrictKey { warehouse: 3, district: 2 }, \
         threshold: 11 })",
    ];
    assert_eq!(printed, expected);
}

proptest! {
    #[test]
    fn inputs_name_only_what_exists(seed: u64, warehouses in 1u32..5, divisor in 0usize..9, user: u32) {
        let mut fixture = Fixture::new(warehouses, orders::DIVISORS[divisor], user);
        fixture.rng = Rng::new(seed, StreamPurpose::User, 0);
        let scale = fixture.scale;
        let home = fixture.terminal.home;
        let exists = |key: DistrictKey| (1..=warehouses).contains(&key.warehouse) && (1..=10).contains(&key.district);
        let customer_exists = |customer| match customer {
            CustomerSelector::Number(number) => (1..=scale.customers_per_district()).contains(&number),
            CustomerSelector::LastName(number) => number < scale.n_last_names(),
        };
        for kind in TransactionType::ALL {
            match fixture.draw(kind) {
                TransactionInput::NewOrder(input) => {
                    prop_assert!(exists(input.district) && input.district.warehouse == home.warehouse);
                    prop_assert!(customer_exists(CustomerSelector::Number(input.customer)));
                    prop_assert!((LINES_MIN as usize..=LINES_MAX as usize).contains(&input.items.len()));
                    for item in input.items.iter() {
                        prop_assert!((1..=scale.items() + u32::from(input.is_rolled_back)).contains(&item.item));
                        prop_assert!((1..=warehouses).contains(&item.supply_warehouse));
                        prop_assert!((1..=10).contains(&item.quantity));
                    }
                }
                TransactionInput::Payment(input) => {
                    prop_assert!(exists(input.district) && input.district.warehouse == home.warehouse);
                    prop_assert!(exists(input.customer_district) && customer_exists(input.customer));
                    prop_assert!((100..=500_000).contains(&input.amount.0));
                }
                TransactionInput::OrderStatus(input) => {
                    prop_assert!(exists(input.district) && customer_exists(input.customer));
                }
                TransactionInput::Delivery(input) => {
                    prop_assert!(input.warehouse == home.warehouse && (1..=10).contains(&input.carrier));
                }
                TransactionInput::StockLevel(input) => {
                    prop_assert!(input.district == home && (10..=20).contains(&input.threshold));
                }
            }
        }
    }
}
