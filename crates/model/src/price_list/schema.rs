//! The published JSON Schema of price lists.
//!
//! The types here stand for how a list is written, which has another shape in memory.

#![allow(dead_code, reason = "only the shape of these types is used")]

use languages::schema::without_null;
use schemars::{JsonSchema, Schema};

use super::PriceKind;

/// Returns the JSON Schema (2020-12) of price lists.
pub fn price_list_schema() -> Schema {
    without_null(schemars::schema_for!(List))
}

#[derive(JsonSchema)]
#[schemars(title = "Plimsoll price list", description = "What a system under test costs.")]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
struct List {
    /// The version of this language: 1.
    #[schemars(range(min = 1, max = 1))]
    format: u32,
    /// The title: what is priced.
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// The currency of all amounts, by its code: `USD`.
    #[schemars(regex(pattern = r"^[A-Z]{3}$"))]
    currency: String,
    /// The day for which the prices hold.
    date: Day,
    /// The day from which all of it can be had, if that is later.
    available: Option<Day>,
    /// The source of the prices, where an item does not name one.
    #[schemars(length(min = 1, max = 500))]
    source: Option<String>,
    /// The items.
    #[schemars(length(min = 1, max = 1000))]
    item: Vec<Item>,
}

/// A priced item: either `unit-price`, or `per-hour` with `hours`, `months` or `years`.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
struct Item {
    /// The name of the item.
    #[schemars(length(min = 1, max = 500))]
    name: String,
    /// The kind of the item, for subtotals.
    kind: PriceKind,
    /// Number of pieces; if absent: 1.
    #[schemars(range(min = 1, max = 1_000_000))]
    quantity: Option<u32>,
    /// The price of one piece, paid once.
    unit_price: Option<Amount>,
    /// The price of one piece by the hour.
    per_hour: Option<Amount>,
    /// Number of hours paid for.
    hours: Option<TermNumber>,
    /// Number of months of 730.5 hours paid for.
    months: Option<TermNumber>,
    /// Number of years of 8766 hours paid for.
    years: Option<TermNumber>,
    /// The discount on the price.
    discount: Option<Discount>,
    /// The maintenance.
    maintenance: Option<Maintenance>,
    /// The source of the price: a quotation, a price list, an address. If absent: that of the list.
    #[schemars(length(min = 1, max = 500))]
    source: Option<String>,
    /// The date of the price. If absent: the date of the list.
    date: Option<Day>,
}

/// A discount on a price.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Discount {
    /// The discount as a ratio: 15 % is `0.15`.
    #[schemars(range(min = 0.0, max = 1.0))]
    ratio: f64,
    /// The reason for the discount and its recipients.
    #[schemars(length(min = 1, max = 500))]
    reason: String,
}

/// The price of maintenance.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
struct Maintenance {
    /// The price for one piece and one year.
    per_year: Amount,
    /// Number of years.
    years: TermNumber,
    /// The discount on maintenance.
    discount: Option<Discount>,
}

/// An amount in whole units of the currency: `1250.00`.
#[derive(JsonSchema)]
struct Amount(#[schemars(range(min = 0.0))] f64);

/// A number above zero.
#[derive(JsonSchema)]
struct TermNumber(#[schemars(range(max = 1_000_000), extend("exclusiveMinimum" = 0))] f64);

/// A day: `2026-11-01`.
#[derive(JsonSchema)]
struct Day(#[schemars(regex(pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))] String);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price_list::parse::EVERY_KEY;
    use testkit::{is_published, keys_named, keys_read};

    /// Goal: the schema and the reading code, two lists of the same keys, stay the same. The list with every key is
    /// read without complaint, and unknown keys are refused everywhere (tests of `parse`).
    #[test]
    fn the_schema_names_the_keys_that_are_read_and_no_others() {
        assert_eq!(keys_read(&[EVERY_KEY], &[]), keys_named(price_list_schema()));
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        is_published("price-list.schema.json", price_list_schema());
    }
}
