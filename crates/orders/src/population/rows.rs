//! Rows of the nine tables. Numbers count from 1.

use units::WallTime;

use crate::{BasisPoints, Cents, ShortText};

/// The key of a district.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DistrictKey {
    /// Number of the warehouse.
    pub warehouse: u32,
    /// Number within the warehouse, at most 10.
    pub district: u32,
}

/// An address of a warehouse, district or customer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PostalAddress {
    /// First line of the street.
    pub street_1: ShortText<20>,
    /// Second line of the street.
    pub street_2: ShortText<20>,
    /// The city.
    pub city: ShortText<20>,
    /// The state: two letters.
    pub state: ShortText<2>,
    /// The zip code: nine digits.
    pub zip: ShortText<9>,
}

/// The credit of a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credit {
    /// `GC`.
    Good,
    /// `BC`: payments are also written into the customer's data.
    Bad,
}

impl Credit {
    /// Returns its two letters.
    pub fn code(self) -> &'static str {
        match self {
            Credit::Good => "GC",
            Credit::Bad => "BC",
        }
    }

    /// Returns the credit of two letters; `None` if they mean none.
    pub fn of_code(code: &str) -> Option<Credit> {
        [Credit::Good, Credit::Bad].into_iter().find(|credit| credit.code() == code)
    }
}

/// A warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarehouseRow {
    /// Its number.
    pub id: u32,
    /// The name.
    pub name: ShortText<10>,
    /// The address.
    pub address: PostalAddress,
    /// The sales tax.
    pub tax: BasisPoints,
    /// Payments received, year to date.
    pub ytd: Cents,
}

/// A district.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistrictRow {
    /// Its key.
    pub key: DistrictKey,
    /// The name.
    pub name: ShortText<10>,
    /// The address.
    pub address: PostalAddress,
    /// The sales tax.
    pub tax: BasisPoints,
    /// Payments received, year to date.
    pub ytd: Cents,
    /// Number of the next order.
    pub next_order: u32,
}

/// A customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CustomerRow {
    /// The district.
    pub district: DistrictKey,
    /// Number within the district.
    pub id: u32,
    /// First name.
    pub first: ShortText<16>,
    /// Middle name: `OE`.
    pub middle: ShortText<2>,
    /// Last name.
    pub last: ShortText<16>,
    /// The address.
    pub address: PostalAddress,
    /// The phone number: 16 digits.
    pub phone: ShortText<16>,
    /// Time of the first entry.
    pub since: WallTime,
    /// The credit.
    pub credit: Credit,
    /// The limit of the credit.
    pub credit_limit: Cents,
    /// The discount on orders.
    pub discount: BasisPoints,
    /// Deliveries less payments.
    pub balance: Cents,
    /// Payments, year to date.
    pub ytd_payment: Cents,
    /// Number of payments.
    pub n_payments: u32,
    /// Number of deliveries.
    pub n_deliveries: u32,
    /// Other data.
    pub data: ShortText<500>,
}

/// A payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryRow {
    /// The district of the customer.
    pub customer_district: DistrictKey,
    /// The customer who paid.
    pub customer: u32,
    /// The district that was paid.
    pub district: DistrictKey,
    /// Time of the payment.
    pub date: WallTime,
    /// The amount.
    pub amount: Cents,
    /// Other data.
    pub data: ShortText<24>,
}

/// An order that is not delivered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewOrderRow {
    /// The district.
    pub district: DistrictKey,
    /// Number of the order.
    pub order: u32,
}

/// An order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderRow {
    /// The district.
    pub district: DistrictKey,
    /// Number within the district.
    pub id: u32,
    /// The customer, of the same district.
    pub customer: u32,
    /// Time of entry.
    pub entered: WallTime,
    /// Number of the carrier; `None` if not delivered.
    pub carrier: Option<u32>,
    /// Number of its lines.
    pub n_lines: u32,
    /// Whether the own warehouse supplies all lines.
    pub is_local: bool,
}

/// A line of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderLineRow {
    /// The district of the order.
    pub district: DistrictKey,
    /// Number of the order.
    pub order: u32,
    /// Number within the order.
    pub number: u32,
    /// The item.
    pub item: u32,
    /// The warehouse whose stock supplies it.
    pub supply_warehouse: u32,
    /// Time of delivery; `None` if not delivered.
    pub delivered: Option<WallTime>,
    /// Number of pieces.
    pub quantity: u32,
    /// The amount of all pieces.
    pub amount: Cents,
    /// Data of the supplying stock about the district.
    pub district_info: ShortText<24>,
}

/// An item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemRow {
    /// Its number.
    pub id: u32,
    /// Number of its image.
    pub image: u32,
    /// The name.
    pub name: ShortText<24>,
    /// The price of a piece.
    pub price: Cents,
    /// Other data; see [`crate::is_original`].
    pub data: ShortText<50>,
}

/// The stock of an item in a warehouse before the first order: nothing sold yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StockRow {
    /// The warehouse.
    pub warehouse: u32,
    /// The item.
    pub item: u32,
    /// Number of pieces.
    pub quantity: u32,
    /// Data about each district of the warehouse, by its number less 1.
    pub district_info: [ShortText<24>; 10],
    /// Other data; see [`crate::is_original`].
    pub data: ShortText<50>,
}
