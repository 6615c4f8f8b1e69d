//! The parser of price lists: a list, or everything that is wrong with its text.

use languages::reader::{TomlTable, ValueError, kind, read_toml, toml_schema};
use languages::spec::{ValueSpec, choice, line, text, whole_u32};
use languages::{Diagnostics, NamedValues};
use serde_json::{Value, json};
use toml::de::DeValue;
use toml::value::Datetime;
use units::{Currency, Decimal, Money};

use super::item::{maintenance_amount, price_amount};
use super::{Discount, Maintenance, PRICE_LIST_FORMAT, Price, PriceItem, PriceList, Term, TermUnit};

/// The most items; more are probably a mistake.
const ITEMS_MAX: usize = 1000;

/// The most pieces of one item; more are probably a mistake.
const QUANTITY_MAX: u32 = 1_000_000;

/// The longest term, in years, months or hours; a longer one is probably a mistake.
const TERM_MAX: u32 = 1_000_000;

impl PriceList {
    /// Reads a price list; `file_name` is what messages call the text.
    ///
    /// # Errors
    ///
    /// Everything that is wrong, as far as it can be found at once: syntax, unknown and missing keys, what is no
    /// amount, date or currency, and amounts that are too large.
    pub fn parse(file_name: &str, text: &str) -> Result<PriceList, Diagnostics> {
        read_toml("a price list", file_name, text, read_list)
    }
}

/// Returns the JSON Schema (2020-12) of price lists.
pub fn price_list_schema() -> Value {
    toml_schema("Plimsoll price list", read_list)
}

/// The defaults of items.
struct Standard {
    currency: Currency,
    date: Option<String>,
    source: Option<String>,
}

/// Every key is read before the first `?`, so that all mistakes are found; `None` means that one was reported.
fn read_list(mut top: TomlTable) -> Option<PriceList> {
    top.describe("PriceList", "What a system under test costs.");
    let formats = whole_u32(PRICE_LIST_FORMAT..=PRICE_LIST_FORMAT);
    let format = top.required("format", "The version of this language: 1.", formats);
    let title = top.required("title", "The title: what is priced.", line());
    let currency = top.required("currency", "The currency of all amounts, by its code: `USD`.", currency());
    let date = top.required("date", "The day for which the prices hold.", day());
    let available =
        top.optional("available", "The day from which all of it can be had, if that is later.", day());
    let source = top.optional("source", "The source of the prices, where an item does not name one.", line());
    // Without a currency the list is refused; its items are read all the same, for their own mistakes.
    let any = Currency::parse("XXX").expect("three letters");
    let standard = Standard { currency: currency.unwrap_or(any), date: date.clone(), source };
    let items = read_items(&mut top, &standard);
    top.report_unknown();
    format?;
    let list = PriceList { title: title?, currency: currency?, date: date?, available, items: items? };
    if list.sum(|_| true).is_none() {
        top.reject("item", ValueError::new("the total is too large"));
        return None;
    }
    Some(list)
}

fn read_items(top: &mut TomlTable, standard: &Standard) -> Option<Vec<PriceItem>> {
    let tables = top.required_tables("item", "The items.")?;
    top.describe_rule("item", "maxItems", ITEMS_MAX);
    if ITEMS_MAX < tables.len() {
        let error = ValueError::new(format!("expected 1 to {ITEMS_MAX} items, found {}", tables.len()));
        top.reject("item", error.hint("each item begins with `[[item]]`"));
    }
    // All items are read, so that all mistakes are found.
    let items: Vec<Option<PriceItem>> = tables.into_iter().map(|table| read_item(table, standard)).collect();
    items.into_iter().collect()
}

fn read_item(mut table: TomlTable, standard: &Standard) -> Option<PriceItem> {
    let about = "A priced item: either `unit-price`, or `per-hour` with `hours`, `months` or `years`.";
    table.describe("Item", about);
    let name = table.required("name", "The name of the item.", line());
    let kind = table.required("kind", "The kind of the item, for subtotals.", choice());
    let pieces = whole_u32(1..=QUANTITY_MAX);
    let quantity = table.optional("quantity", "Number of pieces; if absent: 1.", pieces).unwrap_or(1);
    let price = read_price(&mut table);
    let discount = read_discount(&mut table, "The discount on the price.");
    let maintenance = table.optional_table("maintenance", "The maintenance.");
    let maintenance = maintenance.and_then(|inner| read_maintenance(inner, quantity, standard));
    let source = read_source(&mut table, standard);
    let date = table.optional("date", "The date of the price. If absent: the date of the list.", day());
    let date = date.or_else(|| standard.date.clone());
    let amount = price.and_then(|price| {
        let amount = price_amount(quantity, price, discount.as_ref(), standard.currency);
        in_range(&table, amount)
    });
    table.finish();
    Some(PriceItem {
        name: name?,
        kind: kind?,
        quantity,
        price: price?,
        discount,
        maintenance,
        source: source?,
        date: date?,
        amount: amount?,
    })
}

/// Reads the price of one piece, in one of its two forms.
fn read_price(table: &mut TomlTable) -> Option<Price> {
    let once = table.optional("unit-price", "The price of one piece, paid once.", amount());
    let per_hour = table.optional("per-hour", "The price of one piece by the hour.", amount());
    let term = read_term(table);
    match (table.value("unit-price").is_some(), table.value("per-hour").is_some()) {
        (true, false) => Some(Price::Once(once?)),
        (false, true) => Some(Price::PerHour { price: per_hour?, term: term? }),
        (both, _) => {
            let found = if both { "both" } else { "neither" };
            let error = ValueError::new(format!("expected either `unit-price` or `per-hour`, found {found}"));
            table.reject(if both { "per-hour" } else { "unit-price" }, error);
            None
        }
    }
}

/// Reads for how long something is paid by the hour: what else is bought has no such key.
fn read_term(table: &mut TomlTable) -> Option<Term> {
    let mut number = |(key, unit): &(&'static str, TermUnit)| {
        let about = match unit {
            TermUnit::Hours => "Number of hours paid for.",
            TermUnit::Months => "Number of months of 730.5 hours paid for.",
            TermUnit::Years => "Number of years of 8766 hours paid for.",
        };
        (*key, *unit, table.optional(key, about, term_number()))
    };
    let numbers: Vec<_> = TermUnit::NAMES.iter().map(&mut number).collect();
    let given: Vec<_> = numbers.into_iter().filter(|(key, _, _)| table.value(key).is_some()).collect();
    let is_hourly = table.value("per-hour").is_some();
    let is_bought = table.value("unit-price").is_some();
    match given.as_slice() {
        [] if !is_hourly || is_bought => None,
        [] => {
            let error =
                ValueError::new("expected a term beside it: `hours`, `months` or `years`, found none");
            table.reject("per-hour", error.hint("a month has 730.5 hours, a year 8766"));
            None
        }
        [(key, _, _), ..] if !is_hourly => {
            table.reject(key, ValueError::new("a term is allowed only with `per-hour`"));
            None
        }
        [(_, unit, number)] => Some(Term { number: (*number)?, unit: *unit }),
        [(first, _, _), (second, _, _), ..] => {
            table.reject(second, ValueError::new(format!("expected one term, found `{first}` as well")));
            None
        }
    }
}

fn read_discount(table: &mut TomlTable, about: &str) -> Option<Discount> {
    let mut inner = table.optional_table("discount", about)?;
    inner.describe("Discount", "A discount on a price.");
    let ratio = inner.required("ratio", "The discount as a ratio: 15 % is `0.15`.", exact_ratio());
    let reason = inner.required("reason", "The reason for the discount and its recipients.", line());
    inner.finish();
    Some(Discount { ratio: ratio?, reason: reason? })
}

fn read_maintenance(mut table: TomlTable, quantity: u32, standard: &Standard) -> Option<Maintenance> {
    table.describe("Maintenance", "The price of maintenance.");
    let per_year = table.required("per-year", "The price for one piece and one year.", amount());
    let years = table.required("years", "Number of years.", term_number());
    let discount = read_discount(&mut table, "The discount on maintenance.");
    let amount = per_year.zip(years).and_then(|(per_year, years)| {
        let amount = maintenance_amount(quantity, per_year, years, discount.as_ref(), standard.currency);
        in_range(&table, amount)
    });
    table.finish();
    Some(Maintenance { per_year: per_year?, years: years?, discount, amount: amount? })
}

/// Reads the source of an item: its own, or that of the list.
fn read_source(table: &mut TomlTable, standard: &Standard) -> Option<String> {
    let about =
        "The source of the price: a quotation, a price list, an address. If absent: that of the list.";
    let own = table.optional("source", about, line());
    let source = own.or_else(|| standard.source.clone());
    if source.is_none() && table.value("source").is_none() {
        let error = ValueError::new("expected a source, here or for the whole list, found neither");
        table.reject("source", error.hint("state who offers it at this price"));
    }
    source
}

/// Passes an amount on, or reports that there is none.
fn in_range(table: &TomlTable, amount: Option<Money>) -> Option<Money> {
    if amount.is_none() {
        table.reject_all(ValueError::new("the amount is too large"));
    }
    amount
}

fn currency() -> ValueSpec<Currency> {
    text().rule("pattern", "^[A-Z]{3}$").and_then(|code| {
        Currency::parse(&code).ok_or_else(|| {
            ValueError::new(format!("expected a code of three capital letters, found `{code}`"))
                .hint("write `USD` or `EUR`")
        })
    })
}

/// Days, as dates of TOML's own or as texts.
fn day() -> ValueSpec<String> {
    let schema = || json!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" });
    let read = |value: &DeValue| {
        let found = match value {
            DeValue::Datetime(date) => Some(*date),
            DeValue::String(text) => text.parse::<Datetime>().ok(),
            other => {
                let error = ValueError::new(format!("expected a day, found {}", kind(other)));
                return Err(error.hint("write `2026-11-01`"));
            }
        };
        match found {
            Some(Datetime { date: Some(day), time: None, offset: None }) => Ok(day.to_string()),
            _ => Err(ValueError::new("expected a day").hint("write year, month and day: `2026-11-01`")),
        }
    };
    ValueSpec::new(schema, read).named("Day", "A day: `2026-11-01`.")
}

/// Amounts of money in whole units of the currency, such as `1250.00`.
fn amount() -> ValueSpec<Decimal> {
    let read = |value: &DeValue| {
        decimal(value).map_err(|found| {
            ValueError::new(format!("expected an amount from 0, found {found}")).hint(
                "write digits and a point, such as `1250.00`, without quotes; the currency is given at the top",
            )
        })
    };
    ValueSpec::new(|| json!({ "type": "number", "minimum": 0 }), read)
        .named("Amount", "An amount in whole units of the currency: `1250.00`.")
}

/// Lengths of time, in units that their keys name.
fn term_number() -> ValueSpec<Decimal> {
    let schema = || json!({ "type": "number", "exclusiveMinimum": 0, "maximum": TERM_MAX });
    let read = |value: &DeValue| {
        let number =
            decimal(value).map_err(|found| ValueError::new(format!("expected a number, found {found}")))?;
        if number == Decimal::ZERO || number.rounded(0).is_none_or(|whole| u128::from(TERM_MAX) < whole) {
            return Err(ValueError::new(format!(
                "expected a number above 0 and up to {TERM_MAX}, found {number}"
            )));
        }
        Ok(number)
    };
    ValueSpec::new(schema, read).named("TermNumber", "A number above zero.")
}

/// Ratios from 0 to 1 as they are written.
fn exact_ratio() -> ValueSpec<Decimal> {
    let read = |value: &DeValue| {
        let error = |found: &dyn std::fmt::Display| {
            ValueError::new(format!("expected a ratio from 0 to 1, found {found}"))
                .hint("write 15 % as `0.15`")
        };
        let ratio = decimal(value).map_err(|found| error(&found))?;
        if ratio.complement().is_some() { Ok(ratio) } else { Err(error(&ratio)) }
    };
    ValueSpec::new(|| json!({ "type": "number", "minimum": 0, "maximum": 1 }), read)
}

/// Reads a number as it is written; else returns what stands there.
fn decimal<'a>(value: &'a DeValue) -> Result<Decimal, &'a str> {
    let written = match value {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        other => return Err(kind(other)),
    };
    Decimal::parse(written.trim_start_matches('+')).ok_or(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use testkit::{is_published, keys_named, keys_read, schema_faults};

    /// A price list with every key.
    const EVERY_KEY: &str = include_str!("every_key.toml");

    fn list() -> PriceList {
        PriceList::parse("prices.toml", EVERY_KEY).unwrap()
    }

    /// Returns the first problem of the list after a piece of it was replaced.
    #[track_caller]
    fn problem(piece: &str, replacement: &str) -> String {
        assert!(EVERY_KEY.contains(piece), "{piece}");
        let text = EVERY_KEY.replacen(piece, replacement, 1);
        let diagnostics = PriceList::parse("prices.toml", &text).expect_err(replacement);
        let first = &diagnostics.problems[0];
        format!("`{}`: {}: {}", &text[first.span.clone()], first.message, first.label)
    }

    /// By hand: 2 × 4,200.00 × 0.85 = 7,140.00; kept 2 × 310.00 × 3 × 0.9 = 1,674.00;
    /// 16 × 0.0416 × 100 = 66.56; 1 × 12.5 × 730.5 × 6 = 54,787.50; 3 × 0.0075 × 8,766 × 1.5 × 0.9 = 266.26725;
    /// 49.90; 900.
    #[test]
    fn amounts_are_computed_exactly_from_the_list() {
        let list = list();
        let amounts: Vec<String> = list.items().iter().map(|item| item.amount.digits()).collect();
        assert_eq!(amounts, ["7140.00", "66.56", "54787.50", "266.27", "49.90", "900.00"]);
        assert_eq!(list.items()[0].maintenance.as_ref().unwrap().amount.digits(), "1674.00");
        assert_eq!(list.total().to_string(), "64,884.23 EUR");
    }

    #[test]
    fn the_sum_of_the_kinds_is_the_total() {
        let list = list();
        let subtotals = list.subtotals();
        let text: Vec<String> =
            subtotals.iter().map(|(kind, sum)| format!("{} {}", kind.name(), sum.digits())).collect();
        let expected =
            ["hardware 7140.00", "software 54787.50", "maintenance 2574.00", "cloud 332.83", "other 49.90"];
        assert_eq!(text, expected);
        let sum = subtotals.iter().map(|(_, sum)| sum.minor).sum::<i64>();
        assert_eq!(sum, list.total().minor);
    }

    #[test]
    fn items_have_source_and_date_of_the_list_unless_they_have_their_own() {
        let list = list();
        let of = |index: usize| (list.items()[index].source.as_str(), list.items()[index].date.as_str());
        assert_eq!(of(0), ("quotation 4711", "2026-10-15"));
        assert_eq!(of(1), ("https://shop.example/prices", "2026-11-01"));
        assert_eq!((list.date.as_str(), list.available.as_deref()), ("2026-11-01", Some("2027-01-31")));
    }

    /// By hand: 16 × 0.0416 + 3 × 0.0075 × 0.9 = 0.6656 + 0.02025.
    #[test]
    fn only_a_list_of_hourly_items_has_a_price_per_hour() {
        assert_eq!(list().per_hour(), None);
        let head = EVERY_KEY.split("[[item]]").next().unwrap();
        let hourly = "[[item]]\nname = \"n\"\nkind = \"cloud\"\nquantity = 16\nper-hour = 0.0416\nyears = 3\n\
                      [[item]]\nname = \"m\"\nkind = \"cloud\"\nquantity = 3\nper-hour = 0.0075\nhours = 1\n\
                      discount = { ratio = 0.1, reason = \"r\" }\n";
        let list = PriceList::parse("prices.toml", &format!("{head}{hourly}")).unwrap();
        assert_eq!(list.per_hour(), Decimal::parse("0.68585"));
    }

    #[test]
    fn wrong_values_have_a_position_and_an_explanation() {
        for (piece, replacement, expected) in [
            ("format = 1", "format = 2", "`2`: `format` is not valid: expected 1, found 2"),
            (
                "\"EUR\"",
                "\"Euro\"",
                "`\"Euro\"`: `currency` is not valid: expected a code of three capital letters, found `Euro`",
            ),
            (
                "date = 2026-11-01",
                "date = 2026",
                "`2026`: `date` is not valid: expected a day, found an integer",
            ),
            ("date = 2026-11-01", "date = \"1 Nov\"", "`\"1 Nov\"`: `date` is not valid: expected a day"),
            (
                "date = 2026-11-01",
                "date = 2026-11-01T12:00:00",
                "`2026-11-01T12:00:00`: `date` is not valid: expected a day",
            ),
            (
                "4200.00",
                "\"4200.00\"",
                "`\"4200.00\"`: `item.unit-price` is not valid: expected an amount from 0, found a string",
            ),
            ("4200.00", "-1", "`-1`: `item.unit-price` is not valid: expected an amount from 0, found -1"),
            ("4200.00", "1e3", "`1e3`: `item.unit-price` is not valid: expected an amount from 0, found 1e3"),
            ("4200.00", "nan", "`nan`: `item.unit-price` is not valid: expected an amount from 0, found nan"),
            (
                "kind = \"hardware\"",
                "kind = \"hardwear\"",
                "`\"hardwear\"`: `item.kind` is not valid: expected `hardware` or `software` or `maintenance` or \
                 `cloud` or `other`, found `hardwear`",
            ),
            (
                "ratio = 0.15",
                "ratio = 15",
                "`15`: `item.discount.ratio` is not valid: expected a ratio from 0 to 1, found 15",
            ),
            (
                ", reason = \"framework contract\"",
                "",
                "`discount`: `item.discount.reason` is missing: `reason` must be given here",
            ),
            (
                "hours = 100",
                "",
                "`0.0416`: `item.per-hour` is not valid: expected a term beside it: `hours`, `months` or `years`, \
                 found none",
            ),
            (
                "hours = 100",
                "hours = 100\nyears = 1",
                "`1`: `item.years` is not valid: expected one term, found `hours` as well",
            ),
            (
                "hours = 100",
                "hours = 0",
                "`0`: `item.hours` is not valid: expected a number above 0 and up to 1000000, found 0",
            ),
            (
                "unit-price = 49.90",
                "unit-price = 49.90\nyears = 3",
                "`3`: `item.years` is not valid: a term is allowed only with `per-hour`",
            ),
            (
                "unit-price = 49.90",
                "unit-price = 49.90\nper-hour = 1",
                "`1`: `item.per-hour` is not valid: expected either `unit-price` or `per-hour`, found both",
            ),
            (
                "unit-price = 49.90",
                "unit-pirce = 49.90",
                "`[[item]]`: `item.unit-price` is not valid: expected either `unit-price` or `per-hour`, found neither",
            ),
            (
                "unit-price = 49.90",
                "unit-price = 999999999999999999",
                "`[[item]]`: `item` is not valid: the amount is too large",
            ),
            (
                "source = \"https://shop.example/prices\"",
                "",
                "`[[item]]`: `item.source` is not valid: expected a source, here or for the whole list, found neither",
            ),
        ] {
            assert_eq!(problem(piece, replacement), expected);
        }
    }

    #[test]
    fn a_list_without_items_is_refused() {
        let head = EVERY_KEY.split("[[item]]").next().unwrap();
        let message = |text: &str| PriceList::parse("prices.toml", text).unwrap_err().to_string();
        assert!(message(head).contains("`item` is missing"), "{}", message(head));
        assert!(message(&format!("{head}item = []")).contains("expected at least one table, found none"));
        assert!(message(&format!("{head}item = 5")).contains("expected tables, found an integer"));
    }

    #[test]
    fn a_total_that_is_too_large_is_refused() {
        let head = EVERY_KEY.split("[[item]]").next().unwrap();
        let item = "[[item]]\nname = \"n\"\nkind = \"other\"\nunit-price = 90000000000000000\n";
        let one = PriceList::parse("prices.toml", &format!("{head}{item}")).unwrap();
        assert_eq!(one.total().digits(), "90000000000000000.00");
        let two = PriceList::parse("prices.toml", &format!("{head}{item}{item}")).unwrap_err();
        assert!(two.to_string().contains("the total is too large"), "{two}");
    }

    #[test]
    fn unknown_keys_are_found_in_every_table() {
        for (piece, path) in [
            ("format = 1\n", ""),
            ("kind = \"hardware\"\n", " in `item`"),
            ("ratio = 0.15, ", " in `item.discount`"),
            ("per-year = 310.00, ", " in `item.maintenance`"),
            ("ratio = 0.1, ", " in `item.maintenance.discount`"),
        ] {
            let end = if piece.ends_with('\n') { "\n" } else { ", " };
            let text = EVERY_KEY.replacen(piece, &format!("{piece}flavor = 1{end}"), 1);
            let diagnostics = PriceList::parse("prices.toml", &text).unwrap_err();
            let messages: Vec<&str> =
                diagnostics.problems.iter().map(|problem| problem.message.as_str()).collect();
            assert_eq!(messages, [format!("unknown key `flavor`{path}")]);
        }
    }

    /// The example of the documentation, with its sums.
    #[test]
    fn the_example_is_read() {
        let text = include_str!("../../../../examples/price-list.toml");
        let list = PriceList::parse("price-list.toml", text).unwrap();
        assert_eq!(list.total().to_string(), "6,126.00 EUR");
    }

    /// Goal: a description asks for every key, in whatever case it is read. The list with every key is read without
    /// complaint, and unknown keys are refused everywhere.
    #[test]
    fn the_schema_names_the_keys_that_are_read_and_no_others() {
        assert_eq!(keys_read(&[EVERY_KEY], &[]), keys_named(price_list_schema()));
    }

    #[test]
    fn the_schema_refuses_what_the_program_refuses() {
        let faults = |text: &str| {
            // JSON has no dates: they are texts there.
            let quoted = |text: String, day: &str| text.replace(&format!("= {day}"), &format!("= \"{day}\""));
            let text = ["2026-11-01", "2026-10-15"].into_iter().fold(text.to_owned(), quoted);
            schema_faults(&price_list_schema(), &toml::from_str::<Value>(&text).unwrap())
        };
        assert_eq!(faults(EVERY_KEY), [""; 0]);
        for (piece, replacement) in [
            ("format = 1", "format = 2"),
            ("format = 1", ""),
            ("kind = \"hardware\"", "kind = \"hardwear\""),
            ("kind = \"hardware\"", "kind = \"hardware\"\nflavor = 1"),
            ("quantity = 2", "quantity = 0"),
            ("4200.00", "-1"),
            ("ratio = 0.15", "ratio = 15"),
            (", reason = \"framework contract\"", ""),
            ("hours = 100", "hours = 0"),
        ] {
            assert!(EVERY_KEY.contains(piece), "{piece}");
            let text = EVERY_KEY.replacen(piece, replacement, 1);
            assert!(!faults(&text).is_empty(), "{replacement}");
            assert!(PriceList::parse("prices.toml", &text).is_err(), "{replacement}");
        }
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        is_published("price-list.schema.json", price_list_schema());
    }

    proptest! {
        /// Goal: no slip in a list is a panic. A piece of a valid one is overwritten.
        #[test]
        fn any_slip_is_answered(at: u16, length in 0usize..12, slip in "\\PC{0,12}") {
            let mut text = EVERY_KEY.to_owned();
            let at = usize::from(at) % text.len();
            text.replace_range(at..(at + length).min(text.len()), &slip);
            match PriceList::parse("any.toml", &text) {
                Ok(list) => prop_assert!(0 <= list.total().minor),
                Err(diagnostics) => prop_assert!(!diagnostics.to_string().is_empty()),
            }
        }
    }
}
