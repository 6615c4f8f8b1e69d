//! Outputs of the transactions: everything that a terminal shows.

use units::WallTime;

use super::input::TransactionKind;
use crate::{BasisPoints, Cents, Credit, PostalAddress, ShortText};

/// The output of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub enum TransactionOutput {
    /// Of `NewOrder`.
    NewOrder(NewOrderOutput),
    /// Of `Payment`.
    Payment(Box<PaymentOutput>),
    /// Of `OrderStatus`.
    OrderStatus(OrderStatusOutput),
    /// Of `Delivery`.
    Delivery(DeliveryOutput),
    /// Of `StockLevel`.
    StockLevel(StockLevelOutput),
}

impl TransactionOutput {
    /// Returns the kind of the transaction that happened.
    pub fn kind(&self) -> TransactionKind {
        match self {
            TransactionOutput::NewOrder(NewOrderOutput::Placed(_)) => TransactionKind::NewOrder,
            TransactionOutput::NewOrder(NewOrderOutput::RolledBack(_)) => TransactionKind::NewOrderRolledBack,
            TransactionOutput::Payment(_) => TransactionKind::Payment,
            TransactionOutput::OrderStatus(_) => TransactionKind::OrderStatus,
            TransactionOutput::Delivery(_) => TransactionKind::Delivery,
            TransactionOutput::StockLevel(_) => TransactionKind::StockLevel,
        }
    }
}

/// The output of `NewOrder`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewOrderOutput {
    /// The order is placed.
    Placed(PlacedOrder),
    /// An item does not exist, and nothing has changed.
    RolledBack(RolledBackOrder),
}

/// An order that has been placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedOrder {
    /// Number of the order in its district.
    pub order: u32,
    /// Time of entry.
    pub entered: WallTime,
    /// Last name of the customer.
    pub customer_last: ShortText<16>,
    /// The customer's credit.
    pub credit: Credit,
    /// The customer's discount.
    pub discount: BasisPoints,
    /// Sales tax of the warehouse.
    pub warehouse_tax: BasisPoints,
    /// Sales tax of the district.
    pub district_tax: BasisPoints,
    /// The lines, by number.
    pub lines: Vec<PricedLine>,
    /// The total ([`crate::order_total`]).
    pub total: Cents,
}

/// A line of an order that has been placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricedLine {
    /// Name of the item.
    pub name: ShortText<24>,
    /// Pieces left in stock.
    pub in_stock: i64,
    /// Whether both item and stock are marked as original: brand `B`, else `G`.
    pub is_original: bool,
    /// Price of a piece.
    pub price: Cents,
    /// Price of all pieces.
    pub amount: Cents,
}

/// An order that has been rolled back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolledBackOrder {
    /// The number that the order would have had.
    pub order: u32,
    /// Last name of the customer.
    pub customer_last: ShortText<16>,
    /// The customer's credit.
    pub credit: Credit,
    /// The item that does not exist.
    pub missing_item: u32,
}

/// The name and the balance of a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomerDetails {
    /// Number in the district.
    pub id: u32,
    /// First name.
    pub first: ShortText<16>,
    /// Middle name.
    pub middle: ShortText<2>,
    /// Last name.
    pub last: ShortText<16>,
    /// The balance.
    pub balance: Cents,
}

/// The output of `Payment`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentOutput {
    /// Time of the payment.
    pub paid: WallTime,
    /// Address of the warehouse.
    pub warehouse: PostalAddress,
    /// Address of the district.
    pub district: PostalAddress,
    /// The customer, with the balance after the payment.
    pub customer: CustomerDetails,
    /// Address of the customer.
    pub address: PostalAddress,
    /// Phone number of the customer.
    pub phone: ShortText<16>,
    /// Time of the customer's first entry.
    pub since: WallTime,
    /// Credit of the customer.
    pub credit: Credit,
    /// Limit of the credit.
    pub credit_limit: Cents,
    /// Discount of the customer.
    pub discount: BasisPoints,
    /// Data of a customer with bad credit.
    pub data: Option<ShortText<500>>,
}

/// The output of `OrderStatus`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderStatusOutput {
    /// The customer.
    pub customer: CustomerDetails,
    /// The customer's last order; `None` if there is none.
    pub order: Option<OrderDetails>,
}

/// An order whose status was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderDetails {
    /// Number of the order.
    pub id: u32,
    /// Time of entry.
    pub entered: WallTime,
    /// The carrier; `None` if not delivered.
    pub carrier: Option<u32>,
    /// The lines, by number.
    pub lines: Vec<OrderStatusLine>,
}

/// A line of an order whose status was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderStatusLine {
    /// Number of the item.
    pub item: u32,
    /// The warehouse whose stock supplied it.
    pub supply_warehouse: u32,
    /// Number of pieces.
    pub quantity: u32,
    /// The amount.
    pub amount: Cents,
    /// Time of delivery; `None` if not delivered.
    pub delivered: Option<WallTime>,
}

/// The output of `Delivery`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryOutput {
    /// The order delivered in each district, by its number less 1; `None` if no order was left there, which is a skipped
    /// delivery.
    pub orders: [Option<u32>; 10],
}

impl DeliveryOutput {
    /// Returns the number of orders delivered.
    pub fn n_delivered(&self) -> usize {
        self.orders.iter().flatten().count()
    }

    /// Returns the number of districts in which no order was left.
    pub fn n_skipped(&self) -> usize {
        self.orders.len() - self.n_delivered()
    }
}

/// The output of `StockLevel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockLevelOutput {
    /// Number of items with low stock.
    pub n_low: u32,
}
