//! One item of a price list.

use languages::{NamedValues, names};
use units::{Currency, Decimal, Money};

/// A priced item. Its amount follows from what is written, exactly, and is rounded once.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceItem {
    /// The name of the item.
    pub name: String,
    /// The kind of the item.
    pub kind: PriceKind,
    /// Number of pieces.
    pub quantity: u32,
    /// The price of one piece, before the discount.
    pub price: Price,
    /// The discount on the price.
    pub discount: Option<Discount>,
    /// The maintenance.
    pub maintenance: Option<Maintenance>,
    /// The source of the price: a quotation, a price list, an address.
    pub source: String,
    /// The date of the price: `2026-11-01`.
    pub date: String,
    /// quantity × price × (1 − discount), and × hours if it is paid for by the hour.
    pub amount: Money,
}

impl PriceItem {
    /// Returns the price per hour of all pieces; `None` if they are bought or have maintenance.
    pub(super) fn per_hour(&self) -> Option<Decimal> {
        match (&self.price, &self.maintenance) {
            (Price::PerHour { price, .. }, None) => {
                product(self.quantity, *price, Decimal::ONE, self.discount.as_ref())
            }
            _ => None,
        }
    }
}

names! {
    /// The kind of an item.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PriceKind without serde {
        /// Machines and their parts.
        Hardware = "hardware",
        /// Licenses and subscriptions.
        Software = "software",
        /// Maintenance of either: support, repair, new versions.
        Maintenance = "maintenance",
        /// Rented machines and services.
        Cloud = "cloud",
        /// All else.
        Other = "other",
    }
}

/// The price of one piece, in whole units of the list's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Price {
    /// To be paid once.
    Once(Decimal),
    /// To be paid by the hour.
    PerHour {
        /// Per hour.
        price: Decimal,
        /// The term of payment.
        term: Term,
    },
}

/// The term for which an item is paid by the hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Number of units.
    pub number: Decimal,
    /// Hours, months or years.
    pub unit: TermUnit,
}

/// The unit of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermUnit {
    /// Hours.
    Hours,
    /// Months of 730.5 h, a twelfth of a year.
    Months,
    /// Years of 8,766 h: 365.25 days, the mean year of the Julian calendar.
    Years,
}

impl NamedValues for TermUnit {
    const NAMES: &'static [(&'static str, TermUnit)] =
        &[("hours", TermUnit::Hours), ("months", TermUnit::Months), ("years", TermUnit::Years)];
}

impl TermUnit {
    /// Returns how many hours one has.
    fn hours(self) -> Decimal {
        let text = match self {
            TermUnit::Hours => "1",
            TermUnit::Months => "730.5",
            TermUnit::Years => "8766",
        };
        Decimal::parse(text).expect("these are numbers")
    }
}

/// A discount on a price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discount {
    /// The discount as a ratio from 0 to 1.
    pub ratio: Decimal,
    /// The reason for the discount and its recipients.
    pub reason: String,
}

/// The price of maintenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// The price for one piece and one year, in whole units of the list's currency, before the discount.
    pub per_year: Decimal,
    /// Number of years.
    pub years: Decimal,
    /// The discount on maintenance.
    pub discount: Option<Discount>,
    /// quantity × per year × years × (1 − discount).
    pub amount: Money,
}

/// Returns the price of all pieces; `None` if it is too large.
pub(super) fn price_amount(
    quantity: u32,
    price: Price,
    discount: Option<&Discount>,
    currency: Currency,
) -> Option<Money> {
    let (price, times) = match price {
        Price::Once(price) => (price, Decimal::ONE),
        Price::PerHour { price, term } => (price, term.number.checked_mul(term.unit.hours())?),
    };
    Money::rounded(product(quantity, price, times, discount)?, currency)
}

/// Returns the price of maintenance for all pieces; `None` if it is too large.
pub(super) fn maintenance_amount(
    quantity: u32,
    per_year: Decimal,
    years: Decimal,
    discount: Option<&Discount>,
    currency: Currency,
) -> Option<Money> {
    Money::rounded(product(quantity, per_year, years, discount)?, currency)
}

/// Returns quantity × price × times × (1 − discount); `None` if it has too many digits.
fn product(quantity: u32, price: Decimal, times: Decimal, discount: Option<&Discount>) -> Option<Decimal> {
    let part = discount.map_or(Some(Decimal::ONE), |discount| discount.ratio.complement())?;
    Decimal::from(quantity).checked_mul(price)?.checked_mul(times)?.checked_mul(part)
}
