//! Outputs of the transactions, value by value as their types list them.
//!
//! Amounts and times have 8 bytes, rates 2, numbers of orders, items, warehouses and pieces 4, pieces in stock 8, lists
//! the number of their values (1 byte) before them, and what may be missing a flag. A `NEW-ORDER` begins with a flag: 1 for
//! a placed order, 0 for one that has been rolled back.

use super::bytes::{Reader, WireError, Writer};
use crate::{
    CustomerDetails, DeliveryOutput, NewOrderOutput, OrderDetails, OrderStatusLine, OrderStatusOutput,
    PaymentOutput, PlacedOrder, PricedLine, RolledBackOrder, StockLevelOutput, TransactionOutput,
    TransactionType,
};

/// Appends the output of a transaction to a payload.
pub fn write_output(output: &TransactionOutput, payload: &mut Vec<u8>) {
    let mut writer = Writer::new(payload);
    match output {
        TransactionOutput::NewOrder(NewOrderOutput::Placed(order)) => write_placed(order, &mut writer),
        TransactionOutput::NewOrder(NewOrderOutput::RolledBack(order)) => {
            writer.flag(false);
            writer.u32(order.order);
            writer.text(&order.customer_last);
            writer.credit(order.credit);
            writer.u32(order.missing_item);
        }
        TransactionOutput::Payment(output) => write_payment(output, &mut writer),
        TransactionOutput::OrderStatus(output) => {
            write_customer(&output.customer, &mut writer);
            writer.optional(output.order.as_ref(), |writer, order| write_order(order, writer));
        }
        TransactionOutput::Delivery(output) => {
            output.orders.into_iter().for_each(|order| writer.optional(order, Writer::u32));
        }
        TransactionOutput::StockLevel(output) => writer.u32(output.n_low),
    }
}

/// Reads the payload of the reply to a type of transaction.
///
/// # Errors
/// The payload is not such an output.
pub fn read_output(kind: TransactionType, payload: &[u8]) -> Result<TransactionOutput, WireError> {
    let mut reader = Reader::new(payload);
    let output = match kind {
        TransactionType::NewOrder => TransactionOutput::NewOrder(read_new_order(&mut reader)?),
        TransactionType::Payment => TransactionOutput::Payment(Box::new(read_payment(&mut reader)?)),
        TransactionType::OrderStatus => TransactionOutput::OrderStatus(OrderStatusOutput {
            customer: read_customer(&mut reader)?,
            order: reader.optional(read_order)?,
        }),
        TransactionType::Delivery => {
            let mut orders = [None; 10];
            for order in &mut orders {
                *order = reader.optional(Reader::u32)?;
            }
            TransactionOutput::Delivery(DeliveryOutput { orders })
        }
        TransactionType::StockLevel => {
            TransactionOutput::StockLevel(StockLevelOutput { n_low: reader.u32()? })
        }
    };
    reader.end(output)
}

fn write_placed(order: &PlacedOrder, writer: &mut Writer<'_>) {
    writer.flag(true);
    writer.u32(order.order);
    writer.time(order.entered);
    writer.text(&order.customer_last);
    writer.credit(order.credit);
    writer.rate(order.discount);
    writer.rate(order.warehouse_tax);
    writer.rate(order.district_tax);
    writer.list(&order.lines, |writer, line| {
        writer.text(&line.name);
        writer.i64(line.in_stock);
        writer.flag(line.is_original);
        writer.cents(line.price);
        writer.cents(line.amount);
    });
    writer.cents(order.total);
}

fn read_new_order(reader: &mut Reader<'_>) -> Result<NewOrderOutput, WireError> {
    if !reader.flag()? {
        return Ok(NewOrderOutput::RolledBack(RolledBackOrder {
            order: reader.u32()?,
            customer_last: reader.text()?,
            credit: reader.credit()?,
            missing_item: reader.u32()?,
        }));
    }
    Ok(NewOrderOutput::Placed(PlacedOrder {
        order: reader.u32()?,
        entered: reader.time()?,
        customer_last: reader.text()?,
        credit: reader.credit()?,
        discount: reader.rate()?,
        warehouse_tax: reader.rate()?,
        district_tax: reader.rate()?,
        lines: reader.list(|reader| {
            Ok(PricedLine {
                name: reader.text()?,
                in_stock: reader.i64()?,
                is_original: reader.flag()?,
                price: reader.cents()?,
                amount: reader.cents()?,
            })
        })?,
        total: reader.cents()?,
    }))
}

fn write_payment(output: &PaymentOutput, writer: &mut Writer<'_>) {
    writer.time(output.paid);
    writer.address(&output.warehouse);
    writer.address(&output.district);
    write_customer(&output.customer, writer);
    writer.address(&output.address);
    writer.text(&output.phone);
    writer.time(output.since);
    writer.credit(output.credit);
    writer.cents(output.credit_limit);
    writer.rate(output.discount);
    writer.optional(output.data.as_ref(), |writer, data| writer.text(data));
}

fn read_payment(reader: &mut Reader<'_>) -> Result<PaymentOutput, WireError> {
    Ok(PaymentOutput {
        paid: reader.time()?,
        warehouse: reader.address()?,
        district: reader.address()?,
        customer: read_customer(reader)?,
        address: reader.address()?,
        phone: reader.text()?,
        since: reader.time()?,
        credit: reader.credit()?,
        credit_limit: reader.cents()?,
        discount: reader.rate()?,
        data: reader.optional(Reader::text)?,
    })
}

fn write_customer(customer: &CustomerDetails, writer: &mut Writer<'_>) {
    let CustomerDetails { id, first, middle, last, balance } = customer;
    writer.u32(*id);
    writer.text(first);
    writer.text(middle);
    writer.text(last);
    writer.cents(*balance);
}

fn read_customer(reader: &mut Reader<'_>) -> Result<CustomerDetails, WireError> {
    Ok(CustomerDetails {
        id: reader.u32()?,
        first: reader.text()?,
        middle: reader.text()?,
        last: reader.text()?,
        balance: reader.cents()?,
    })
}

fn write_order(order: &OrderDetails, writer: &mut Writer<'_>) {
    writer.u32(order.id);
    writer.time(order.entered);
    writer.optional(order.carrier, Writer::u32);
    writer.list(&order.lines, |writer, line| {
        writer.u32(line.item);
        writer.u32(line.supply_warehouse);
        writer.u32(line.quantity);
        writer.cents(line.amount);
        writer.optional(line.delivered, Writer::time);
    });
}

fn read_order(reader: &mut Reader<'_>) -> Result<OrderDetails, WireError> {
    Ok(OrderDetails {
        id: reader.u32()?,
        entered: reader.time()?,
        carrier: reader.optional(Reader::u32)?,
        lines: reader.list(|reader| {
            Ok(OrderStatusLine {
                item: reader.u32()?,
                supply_warehouse: reader.u32()?,
                quantity: reader.u32()?,
                amount: reader.cents()?,
                delivered: reader.optional(Reader::time)?,
            })
        })?,
    })
}
