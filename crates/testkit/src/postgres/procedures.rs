//! The stored procedures of order entry: types of parameters and columns, and rows that fit their inputs.

use std::io::Result;

use orders::DISTRICTS;

use super::data::StubData;
use super::message::oid::{
    BOOL, BOOL_ARRAY, INT4, INT4_ARRAY, INT8, INT8_ARRAY, TEXT, TEXT_ARRAY, TIMESTAMPTZ, TIMESTAMPTZ_ARRAY,
};
use super::message::{RowValues, malformed, number, numbers};

/// The price of every item, in cents.
const PRICE: i64 = 100;

/// The last name of customers whose name nobody knows.
const NAME: &str = "BARBARBAR";

/// The SQLSTATE by which a procedure says that an item does not exist.
const ROLLED_BACK: &str = "OE001";

/// A stored procedure.
pub(super) struct Procedure {
    pub(super) name: &'static str,
    /// The types of its parameters.
    pub(super) parameters: &'static [u32],
    /// The columns of its row.
    pub(super) columns: &'static [(&'static str, u32)],
    /// Returns its answer to parameters, all of which are there.
    pub(super) answer: fn(&[&[u8]], &StubData) -> Result<Answer>,
}

/// An answer to a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// A row, and whether an order has been placed.
    Row(RowValues, bool),
    /// A refusal: its SQLSTATE, and its text.
    Refused(&'static str, String),
}

/// All of them, as `procedures.sql` of the driver declares them.
pub(super) const PROCEDURES: [Procedure; 5] = [
    Procedure {
        name: "new_order",
        parameters: &[INT4, INT4, INT4, INT4_ARRAY, INT4_ARRAY, INT8_ARRAY, TIMESTAMPTZ],
        columns: &[
            ("r_order", INT4),
            ("r_last", TEXT),
            ("r_credit", TEXT),
            ("r_discount", INT4),
            ("r_warehouse_tax", INT4),
            ("r_district_tax", INT4),
            ("r_names", TEXT_ARRAY),
            ("r_stocks", INT8_ARRAY),
            ("r_originals", BOOL_ARRAY),
            ("r_prices", INT8_ARRAY),
            ("r_amounts", INT8_ARRAY),
        ],
        answer: new_order,
    },
    Procedure {
        name: "payment",
        parameters: &[INT4, INT4, INT4, INT4, INT4, TEXT, INT8, TEXT, TIMESTAMPTZ],
        columns: &[
            ("r_c", INT4),
            ("r_first", TEXT),
            ("r_middle", TEXT),
            ("r_last", TEXT),
            ("r_balance", INT8),
            ("r_street_1", TEXT),
            ("r_street_2", TEXT),
            ("r_city", TEXT),
            ("r_state", TEXT),
            ("r_zip", TEXT),
            ("r_phone", TEXT),
            ("r_since", TIMESTAMPTZ),
            ("r_credit", TEXT),
            ("r_credit_lim", INT8),
            ("r_discount", INT4),
            ("r_data", TEXT),
            ("r_d_street_1", TEXT),
            ("r_d_street_2", TEXT),
            ("r_d_city", TEXT),
            ("r_d_state", TEXT),
            ("r_d_zip", TEXT),
            ("r_w_street_1", TEXT),
            ("r_w_street_2", TEXT),
            ("r_w_city", TEXT),
            ("r_w_state", TEXT),
            ("r_w_zip", TEXT),
        ],
        answer: payment,
    },
    Procedure {
        name: "order_status",
        parameters: &[INT4, INT4, INT4, TEXT],
        columns: &[
            ("r_c", INT4),
            ("r_first", TEXT),
            ("r_middle", TEXT),
            ("r_last", TEXT),
            ("r_balance", INT8),
            ("r_order", INT4),
            ("r_entered", TIMESTAMPTZ),
            ("r_carrier", INT4),
            ("r_items", INT4_ARRAY),
            ("r_supplies", INT4_ARRAY),
            ("r_pieces", INT8_ARRAY),
            ("r_amounts", INT8_ARRAY),
            ("r_delivered", TIMESTAMPTZ_ARRAY),
        ],
        answer: order_status,
    },
    Procedure {
        name: "delivery",
        parameters: &[INT4, INT4, TIMESTAMPTZ],
        columns: &[("delivery", INT4_ARRAY)],
        answer: delivery,
    },
    Procedure {
        name: "stock_level",
        parameters: &[INT4, INT4, INT8, INT4],
        columns: &[("stock_level", INT8)],
        answer: stock_level,
    },
];

/// Returns a parameter.
fn parameter<'a>(parameters: &[&'a [u8]], index: usize) -> Result<&'a [u8]> {
    parameters.get(index).copied().ok_or_else(malformed)
}

/// Places an order of the items, whose last one may not exist.
fn new_order(parameters: &[&[u8]], data: &StubData) -> Result<Answer> {
    let items = numbers(parameter(parameters, 3)?)?;
    let pieces = numbers(parameter(parameters, 5)?)?;
    let order = i32::try_from(data.n_placed + 1).map_err(|_| malformed())?;
    let last_item = data.scale().map_or(i64::MAX, |scale| scale.items().into());
    if let Some(missing) = items.iter().find(|item| last_item < **item) {
        return Ok(Answer::Refused(ROLLED_BACK, format!("{order}|{NAME}|GC|{missing}")));
    }
    let mut row = RowValues::default();
    row.int4(order);
    row.text(NAME);
    row.text("GC");
    // Neither discount nor taxes.
    for zero in [0; 3] {
        row.int4(zero);
    }
    let each = |value: &[u8]| vec![Some(value.to_vec()); items.len()];
    row.array(TEXT, &each(b"item"));
    row.array(INT8, &each(&50i64.to_be_bytes()));
    row.array(BOOL, &each(&[0]));
    row.array(INT8, &each(&PRICE.to_be_bytes()));
    let amount = |pieces: &i64| Some(pieces.saturating_mul(PRICE).to_be_bytes().to_vec());
    row.array(INT8, &pieces.iter().map(amount).collect::<Vec<_>>());
    Ok(Answer::Row(row, true))
}

/// Adds the customer whom two parameters select: the number, or 0 and the last name.
fn customer(row: &mut RowValues, id: &[u8], name: &[u8]) -> Result<()> {
    let id = i32::try_from(number(id)?).map_err(|_| malformed())?;
    let name = std::str::from_utf8(name).map_err(|_| malformed())?;
    let (id, name) = if id == 0 { (1, name) } else { (id, NAME) };
    row.int4(id);
    for text in ["first", "OE", name] {
        row.text(text);
    }
    row.int8(-1000);
    Ok(())
}

fn address(row: &mut RowValues) {
    for text in ["street", "street", "city", "NY", "123411111"] {
        row.text(text);
    }
}

fn payment(parameters: &[&[u8]], _: &StubData) -> Result<Answer> {
    let mut row = RowValues::default();
    customer(&mut row, parameter(parameters, 4)?, parameter(parameters, 5)?)?;
    address(&mut row);
    row.text("1234567890123456");
    // Since the beginning of 2000.
    row.int8(0);
    row.text("GC");
    row.int8(5_000_000);
    row.int4(0);
    row.null();
    address(&mut row);
    address(&mut row);
    Ok(Answer::Row(row, false))
}

/// Tells an order of one line that has not been delivered.
fn order_status(parameters: &[&[u8]], _: &StubData) -> Result<Answer> {
    let mut row = RowValues::default();
    customer(&mut row, parameter(parameters, 2)?, parameter(parameters, 3)?)?;
    row.int4(1);
    row.int8(0);
    row.null();
    // Its item and the warehouse that supplies it, pieces and amount.
    for number in [1i32, 1] {
        row.array(INT4, &[Some(number.to_be_bytes().to_vec())]);
    }
    for number in [5, 5 * PRICE] {
        row.array(INT8, &[Some(number.to_be_bytes().to_vec())]);
    }
    row.array(TIMESTAMPTZ, &[None]);
    Ok(Answer::Row(row, false))
}

/// Finds no order in any of the ten districts.
fn delivery(_: &[&[u8]], _: &StubData) -> Result<Answer> {
    let mut row = RowValues::default();
    row.array(INT4, &vec![None; DISTRICTS as usize]);
    Ok(Answer::Row(row, false))
}

fn stock_level(_: &[&[u8]], _: &StubData) -> Result<Answer> {
    let mut row = RowValues::default();
    row.int8(0);
    Ok(Answer::Row(row, false))
}
