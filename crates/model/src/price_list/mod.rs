//! Price lists: the price of a system under test, item by item, in one currency.
//!
//! - [`PriceList`]: the list; its sums
//! - `item`: the price of an item and its computation
//! - `parse`: text → [`PriceList`], or everything that is wrong with it; the published JSON Schema

mod item;
mod parse;

pub use item::{Discount, Maintenance, Price, PriceItem, PriceKind, Term, TermUnit};
pub use parse::price_list_schema;
use units::{Currency, Decimal, Money};

/// The version of the price list language.
pub const PRICE_LIST_FORMAT: u32 = 1;

/// A priced configuration. A list that exists is valid: it has items, and its total is an amount of money.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceList {
    /// The title: the priced configuration.
    pub title: String,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The day for which the prices hold: `2026-11-01`.
    pub date: String,
    /// The day from which all items are available, if that is later.
    pub available: Option<String>,
    /// The items in the order of the list; not empty.
    items: Vec<PriceItem>,
}

impl PriceList {
    /// Returns the items, in the order of the list; there is at least one.
    pub fn items(&self) -> &[PriceItem] {
        &self.items
    }

    /// Returns the sum of all items and their maintenance.
    pub fn total(&self) -> Money {
        self.sum(|_| true).expect("a list is read only if its total fits")
    }

    /// Returns the sum of each kind that the list has, in the order of [`PriceKind::ALL`]. Maintenance of an item
    /// counts as maintenance, whatever kind the item is of.
    pub fn subtotals(&self) -> Vec<(PriceKind, Money)> {
        let has = |kind: &PriceKind| self.amounts().any(|(of, _)| of == *kind);
        let sum = |kind| self.sum(|of| of == kind).expect("no part is more than the whole");
        PriceKind::ALL.into_iter().filter(has).map(|kind| (kind, sum(kind))).collect()
    }

    /// Returns the price of all items per hour; `None` if any is bought rather than paid for by the hour.
    pub fn per_hour(&self) -> Option<Decimal> {
        self.items.iter().try_fold(Decimal::ZERO, |sum, item| sum.checked_add(item.per_hour()?))
    }

    /// Returns every amount with its kind.
    fn amounts(&self) -> impl Iterator<Item = (PriceKind, Money)> {
        self.items.iter().flat_map(|item| {
            let maintenance = item.maintenance.as_ref().map(|one| (PriceKind::Maintenance, one.amount));
            [(item.kind, item.amount)].into_iter().chain(maintenance)
        })
    }

    /// Returns the sum of the items of certain kinds; `None` if it is too large.
    fn sum(&self, counts: impl Fn(PriceKind) -> bool) -> Option<Money> {
        let counted = self.amounts().filter(|(kind, _)| counts(*kind));
        counted.map(|(_, amount)| amount).try_fold(Money::zero(self.currency), Money::checked_add)
    }
}
