//! Terminals, and the inputs that they draw.

use units::Rng;

use super::input::{
    CustomerSelector, DeliveryInput, NewOrderInput, OrderStatusInput, OrderedItem, OrderedItems, PAYMENT_MAX,
    PaymentInput, StockLevelInput, TransactionInput, TransactionType,
};
use crate::random::{NuRand, is_percent, uniform};
use crate::{Cents, DISTRICTS, DataScale, DistrictKey, LINES_MAX, LINES_MIN, RunConstants};

/// Percentages of TPC-C revision 5.11, clauses 2.4.1, 2.5.1 and 2.6.1.
pub(crate) const ROLLED_BACK_PERCENT: u32 = 1;
const REMOTE_LINE_PERCENT: u32 = 1;
const REMOTE_PAYMENT_PERCENT: u32 = 15;
const BY_LAST_NAME_PERCENT: u32 = 60;

/// A terminal, which belongs to a warehouse and asks for the stock of one of its districts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// The warehouse of all its transactions, and the district of `StockLevel`.
    pub home: DistrictKey,
}

impl Terminal {
    /// Returns the terminal of a user, by its number from 0: users are dealt to warehouses in turn, and then to districts,
    /// so that with ten users per warehouse each district has one.
    pub fn of_user(user: u32, scale: &DataScale) -> Terminal {
        let warehouse = 1 + user % scale.warehouses();
        let district = 1 + user / scale.warehouses() % DISTRICTS;
        Terminal { home: DistrictKey { warehouse, district } }
    }
}

/// A generator of inputs: the distributions of a run, the same for all its terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputGenerator {
    warehouses: u32,
    /// An item number that no item has.
    unused_item: u32,
    customers: NuRand,
    items: NuRand,
    last_names: NuRand,
}

impl InputGenerator {
    /// Makes the generator of a run.
    pub fn new(scale: &DataScale, constants: &RunConstants) -> InputGenerator {
        InputGenerator {
            warehouses: scale.warehouses(),
            unused_item: scale.items() + 1,
            customers: scale.customers(constants.customer),
            items: scale.items_ordered(constants.item),
            last_names: scale.last_names(constants.last_name),
        }
    }

    /// Draws the input of a transaction.
    pub fn input(&self, kind: TransactionType, terminal: &Terminal, rng: &mut Rng) -> TransactionInput {
        let warehouse = terminal.home.warehouse;
        match kind {
            TransactionType::NewOrder => TransactionInput::NewOrder(self.new_order(warehouse, rng)),
            TransactionType::Payment => TransactionInput::Payment(self.payment(warehouse, rng)),
            TransactionType::OrderStatus => TransactionInput::OrderStatus(OrderStatusInput {
                district: any_district(warehouse, rng),
                customer: self.customer(rng),
            }),
            TransactionType::Delivery => {
                TransactionInput::Delivery(DeliveryInput { warehouse, carrier: uniform(rng, 1, 10) })
            }
            TransactionType::StockLevel => TransactionInput::StockLevel(StockLevelInput {
                district: terminal.home,
                threshold: uniform(rng, 10, 20),
            }),
        }
    }

    fn new_order(&self, warehouse: u32, rng: &mut Rng) -> NewOrderInput {
        let district = any_district(warehouse, rng);
        let customer = self.customers.draw(rng);
        let n_lines = uniform(rng, LINES_MIN, LINES_MAX);
        let is_rolled_back = is_percent(rng, ROLLED_BACK_PERCENT);
        let mut lines = [OrderedItem::default(); LINES_MAX as usize];
        let lines = &mut lines[..n_lines as usize];
        lines.fill_with(|| self.line(warehouse, rng));
        if let Some(last) = lines.last_mut().filter(|_| is_rolled_back) {
            last.item = self.unused_item;
        }
        let items = OrderedItems::new(lines).expect("there are at most LINES_MAX");
        NewOrderInput { district, customer, items, is_rolled_back }
    }

    fn line(&self, warehouse: u32, rng: &mut Rng) -> OrderedItem {
        let item = self.items.draw(rng);
        let is_remote = is_percent(rng, REMOTE_LINE_PERCENT);
        let supply_warehouse = if is_remote { self.other_warehouse(warehouse, rng) } else { warehouse };
        OrderedItem { item, supply_warehouse, quantity: uniform(rng, 1, 10) }
    }

    fn payment(&self, warehouse: u32, rng: &mut Rng) -> PaymentInput {
        let district = any_district(warehouse, rng);
        let customer = self.customer(rng);
        let customer_district = if is_percent(rng, REMOTE_PAYMENT_PERCENT) {
            any_district(self.other_warehouse(warehouse, rng), rng)
        } else {
            district
        };
        let amount = Cents(i64::from(uniform(rng, 100, PAYMENT_MAX)));
        PaymentInput { district, customer_district, customer, amount }
    }

    fn customer(&self, rng: &mut Rng) -> CustomerSelector {
        if is_percent(rng, BY_LAST_NAME_PERCENT) {
            CustomerSelector::LastName(self.last_names.draw(rng))
        } else {
            CustomerSelector::Number(self.customers.draw(rng))
        }
    }

    /// Draws another warehouse; the same if there is no other.
    fn other_warehouse(&self, warehouse: u32, rng: &mut Rng) -> u32 {
        if self.warehouses == 1 {
            return warehouse;
        }
        let drawn = uniform(rng, 1, self.warehouses - 1);
        if drawn < warehouse { drawn } else { drawn + 1 }
    }
}

fn any_district(warehouse: u32, rng: &mut Rng) -> DistrictKey {
    DistrictKey { warehouse, district: uniform(rng, 1, DISTRICTS) }
}
