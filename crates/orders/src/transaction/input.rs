//! Inputs of the transactions.

use crate::{Cents, DISTRICTS, DataScale, DistrictKey, LINES_MAX};

/// The greatest payment, in hundredths (TPC-C revision 5.11, clause 2.5.1.3).
pub(super) const PAYMENT_MAX: u32 = 500_000;

/// A type of transaction, as terminals choose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionType {
    /// Enters an order.
    NewOrder,
    /// Enters a payment of a customer.
    Payment,
    /// Asks for the last order of a customer.
    OrderStatus,
    /// Has the oldest new order of each district delivered.
    Delivery,
    /// Counts the items of recent orders whose stock is low.
    StockLevel,
}

impl TransactionType {
    /// All types, in the order of the specification.
    pub const ALL: [TransactionType; 5] = [
        TransactionType::NewOrder,
        TransactionType::Payment,
        TransactionType::OrderStatus,
        TransactionType::Delivery,
        TransactionType::StockLevel,
    ];

    /// Returns the name, for people: `new-order`.
    pub fn name(self) -> &'static str {
        match self {
            TransactionType::NewOrder => "new-order",
            TransactionType::Payment => "payment",
            TransactionType::OrderStatus => "order-status",
            TransactionType::Delivery => "delivery",
            TransactionType::StockLevel => "stock-level",
        }
    }

    /// Returns whether transactions of the type write, even where they end by being rolled back.
    pub fn writes(self) -> bool {
        matches!(self, TransactionType::NewOrder | TransactionType::Payment | TransactionType::Delivery)
    }
}

/// A kind of transaction, as results are counted: its type, and new orders that are rolled back apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionKind {
    /// An order that is placed.
    NewOrder,
    /// An order that is rolled back because its last item does not exist.
    NewOrderRolledBack,
    /// A payment.
    Payment,
    /// The status of an order.
    OrderStatus,
    /// A delivery.
    Delivery,
    /// The level of stock.
    StockLevel,
}

impl TransactionKind {
    /// All kinds, in the order of the specification.
    pub const ALL: [TransactionKind; 6] = [
        TransactionKind::NewOrder,
        TransactionKind::NewOrderRolledBack,
        TransactionKind::Payment,
        TransactionKind::OrderStatus,
        TransactionKind::Delivery,
        TransactionKind::StockLevel,
    ];

    /// Returns the type of transaction that it is a kind of.
    pub fn transaction_type(self) -> TransactionType {
        match self {
            TransactionKind::NewOrder | TransactionKind::NewOrderRolledBack => TransactionType::NewOrder,
            TransactionKind::Payment => TransactionType::Payment,
            TransactionKind::OrderStatus => TransactionType::OrderStatus,
            TransactionKind::Delivery => TransactionType::Delivery,
            TransactionKind::StockLevel => TransactionType::StockLevel,
        }
    }

    /// Returns the name, for people: `new-order rolled back`.
    pub fn name(self) -> &'static str {
        match self {
            TransactionKind::NewOrderRolledBack => "new-order rolled back",
            other => other.transaction_type().name(),
        }
    }
}

/// The input of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionInput {
    /// Of `NewOrder`.
    NewOrder(NewOrderInput),
    /// Of `Payment`.
    Payment(PaymentInput),
    /// Of `OrderStatus`.
    OrderStatus(OrderStatusInput),
    /// Of `Delivery`.
    Delivery(DeliveryInput),
    /// Of `StockLevel`.
    StockLevel(StockLevelInput),
}

impl TransactionInput {
    /// Returns the kind of transaction that the input leads to.
    pub fn kind(&self) -> TransactionKind {
        match self {
            TransactionInput::NewOrder(input) if input.is_rolled_back => TransactionKind::NewOrderRolledBack,
            TransactionInput::NewOrder(_) => TransactionKind::NewOrder,
            TransactionInput::Payment(_) => TransactionKind::Payment,
            TransactionInput::OrderStatus(_) => TransactionKind::OrderStatus,
            TransactionInput::Delivery(_) => TransactionKind::Delivery,
            TransactionInput::StockLevel(_) => TransactionKind::StockLevel,
        }
    }

    /// Returns whether its numbers are those of a terminal of these data: warehouses, districts and quantities that are
    /// there, 1 to [`LINES_MAX`] lines, an amount above 0, one of ten carriers. Customers and items need not exist.
    pub fn is_within(&self, scale: &DataScale) -> bool {
        let has_warehouse = |warehouse| (1..=scale.warehouses()).contains(&warehouse);
        let has = |key: DistrictKey| has_warehouse(key.warehouse) && (1..=DISTRICTS).contains(&key.district);
        let is_line =
            |line: &OrderedItem| has_warehouse(line.supply_warehouse) && (1..=10).contains(&line.quantity);
        match self {
            TransactionInput::NewOrder(input) => {
                has(input.district) && !input.items.is_empty() && input.items.iter().all(is_line)
            }
            TransactionInput::Payment(input) => {
                let is_amount = (1..=i64::from(PAYMENT_MAX)).contains(&input.amount.0);
                has(input.district) && has(input.customer_district) && is_amount
            }
            TransactionInput::OrderStatus(input) => has(input.district),
            TransactionInput::Delivery(input) => {
                has_warehouse(input.warehouse) && (1..=10).contains(&input.carrier)
            }
            TransactionInput::StockLevel(input) => has(input.district),
        }
    }
}

/// The input of `NewOrder`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOrderInput {
    /// The district of customer and order.
    pub district: DistrictKey,
    /// Number of the customer.
    pub customer: u32,
    /// The lines of the order.
    pub items: OrderedItems,
    /// Whether the last line's item does not exist, so that the order is rolled back.
    pub is_rolled_back: bool,
}

impl NewOrderInput {
    /// Returns whether the own warehouse supplies all lines.
    pub fn is_local(&self) -> bool {
        self.n_remote_lines() == 0
    }

    /// Returns the number of lines that another warehouse supplies.
    pub fn n_remote_lines(&self) -> usize {
        self.items.iter().filter(|item| item.supply_warehouse != self.district.warehouse).count()
    }
}

/// The lines of an order, at most [`LINES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderedItems {
    length: u8,
    /// Those beyond the length are empty.
    items: [OrderedItem; LINES_MAX as usize],
}

impl OrderedItems {
    /// Makes lines. `None` if there are more than [`LINES_MAX`].
    pub fn new(lines: &[OrderedItem]) -> Option<OrderedItems> {
        let mut items = [OrderedItem::default(); LINES_MAX as usize];
        items.get_mut(..lines.len())?.copy_from_slice(lines);
        Some(OrderedItems { length: u8::try_from(lines.len()).ok()?, items })
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        usize::from(self.length)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the lines, by number.
    pub fn iter(&self) -> std::slice::Iter<'_, OrderedItem> {
        self.items[..self.len()].iter()
    }
}

/// A line of an order that is entered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrderedItem {
    /// Number of the item.
    pub item: u32,
    /// The warehouse whose stock supplies it.
    pub supply_warehouse: u32,
    /// Number of pieces.
    pub quantity: u32,
}

/// The customer of a payment or of an order's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomerSelector {
    /// By number.
    Number(u32),
    /// By the number of the last name ([`crate::last_name`]): of n customers who have it, sorted by first name, number
    /// ⌈n/2⌉.
    LastName(u32),
}

/// The input of `Payment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentInput {
    /// The district that is paid.
    pub district: DistrictKey,
    /// The district of the customer.
    pub customer_district: DistrictKey,
    /// The customer.
    pub customer: CustomerSelector,
    /// The amount.
    pub amount: Cents,
}

impl PaymentInput {
    /// Returns whether the customer belongs to another warehouse.
    pub fn is_remote(&self) -> bool {
        self.customer_district.warehouse != self.district.warehouse
    }
}

/// The input of `OrderStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderStatusInput {
    /// The district of the customer.
    pub district: DistrictKey,
    /// The customer.
    pub customer: CustomerSelector,
}

/// The input of `Delivery`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryInput {
    /// The warehouse.
    pub warehouse: u32,
    /// Number of the carrier, from 1 to 10.
    pub carrier: u32,
}

/// The input of `StockLevel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockLevelInput {
    /// The district.
    pub district: DistrictKey,
    /// The number of pieces below which a stock is low.
    pub threshold: u32,
}
