//! Inputs of the transactions.
//!
//! | transaction | values |
//! |---|---|
//! | `NEW-ORDER` | district, customer (4 bytes), flag: rolled back, list of lines: item, warehouse, quantity (4 each) |
//! | `PAYMENT` | district paid, district of the customer, customer, amount (8) |
//! | `ORDER-STATUS` | district, customer |
//! | `DELIVERY` | warehouse (4), carrier (4) |
//! | `STOCK-LEVEL` | district, threshold (4) |
//!
//! A district is its warehouse and its number, 4 bytes each; a customer a flag, 0 for a number and 1 for a last name, and
//! the number of either, 4 bytes.

use super::bytes::{Reader, WireError, Writer};
use crate::{
    CustomerSelector, DeliveryInput, NewOrderInput, OrderStatusInput, OrderedItem, OrderedItems,
    PaymentInput, StockLevelInput, TransactionInput, TransactionType,
};

/// Appends the input of a transaction to a payload.
pub fn write_input(input: &TransactionInput, payload: &mut Vec<u8>) {
    let mut writer = Writer::new(payload);
    match input {
        TransactionInput::NewOrder(input) => write_new_order(input, &mut writer),
        TransactionInput::Payment(input) => {
            writer.district(input.district);
            writer.district(input.customer_district);
            write_customer(input.customer, &mut writer);
            writer.cents(input.amount);
        }
        TransactionInput::OrderStatus(input) => {
            writer.district(input.district);
            write_customer(input.customer, &mut writer);
        }
        TransactionInput::Delivery(input) => {
            writer.u32(input.warehouse);
            writer.u32(input.carrier);
        }
        TransactionInput::StockLevel(input) => {
            writer.district(input.district);
            writer.u32(input.threshold);
        }
    }
}

/// Reads the payload of a type of transaction. Its numbers need not be in any data ([`TransactionInput::is_within`]).
///
/// # Errors
/// The payload is not such an input.
pub fn read_input(kind: TransactionType, payload: &[u8]) -> Result<TransactionInput, WireError> {
    let mut reader = Reader::new(payload);
    let input = match kind {
        TransactionType::NewOrder => TransactionInput::NewOrder(read_new_order(&mut reader)?),
        TransactionType::Payment => TransactionInput::Payment(PaymentInput {
            district: reader.district()?,
            customer_district: reader.district()?,
            customer: read_customer(&mut reader)?,
            amount: reader.cents()?,
        }),
        TransactionType::OrderStatus => TransactionInput::OrderStatus(OrderStatusInput {
            district: reader.district()?,
            customer: read_customer(&mut reader)?,
        }),
        TransactionType::Delivery => {
            TransactionInput::Delivery(DeliveryInput { warehouse: reader.u32()?, carrier: reader.u32()? })
        }
        TransactionType::StockLevel => TransactionInput::StockLevel(StockLevelInput {
            district: reader.district()?,
            threshold: reader.u32()?,
        }),
    };
    reader.end(input)
}

fn write_new_order(input: &NewOrderInput, writer: &mut Writer<'_>) {
    let NewOrderInput { district, customer, items, is_rolled_back } = input;
    writer.district(*district);
    writer.u32(*customer);
    writer.flag(*is_rolled_back);
    writer.list(items.iter().as_slice(), |writer, line| {
        writer.u32(line.item);
        writer.u32(line.supply_warehouse);
        writer.u32(line.quantity);
    });
}

fn read_new_order(reader: &mut Reader<'_>) -> Result<NewOrderInput, WireError> {
    let district = reader.district()?;
    let customer = reader.u32()?;
    let is_rolled_back = reader.flag()?;
    let lines_at = reader.position();
    let lines = reader.list(|reader| {
        Ok(OrderedItem { item: reader.u32()?, supply_warehouse: reader.u32()?, quantity: reader.u32()? })
    })?;
    let items = OrderedItems::new(&lines).ok_or(WireError::Value(lines_at))?;
    Ok(NewOrderInput { district, customer, items, is_rolled_back })
}

fn write_customer(customer: CustomerSelector, writer: &mut Writer<'_>) {
    let (is_name, number) = match customer {
        CustomerSelector::Number(number) => (false, number),
        CustomerSelector::LastName(number) => (true, number),
    };
    writer.flag(is_name);
    writer.u32(number);
}

fn read_customer(reader: &mut Reader<'_>) -> Result<CustomerSelector, WireError> {
    let is_name = reader.flag()?;
    let number = reader.u32()?;
    Ok(if is_name { CustomerSelector::LastName(number) } else { CustomerSelector::Number(number) })
}
