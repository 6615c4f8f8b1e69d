//! Rows on their way into tables: their values in the order of the columns.

use orders::{
    CustomerRow, DistrictRow, HistoryRow, ItemRow, NewOrderRow, OrderLineRow, OrderRow, PostalAddress,
    StockRow, WarehouseRow,
};
use units::WallTime;

use crate::database::failure::SqlFailure;

/// A format of rows.
pub(crate) trait RowWriter {
    /// Begins a row of so many columns.
    fn begin(&mut self, n_columns: i16);

    fn integer(&mut self, value: u32);

    fn bigint(&mut self, value: i64);

    fn text(&mut self, text: &str);

    fn time(&mut self, time: WallTime);

    fn null(&mut self);
}

/// Rows on their way into a table. Where it is dropped with its session, they are undone.
pub(crate) trait RowSink {
    /// The format of the rows.
    type Writer: RowWriter;

    /// Returns what the next row is written to.
    fn writer(&mut self) -> &mut Self::Writer;

    /// Returns whether the rows so far are enough to be sent.
    fn is_full(&self) -> bool;

    /// Sends the rows so far.
    async fn send(&mut self) -> Result<(), SqlFailure>;

    /// Sends the rest, and waits until all rows are in the table.
    async fn end(self) -> Result<(), SqlFailure>;
}

fn write_address(to: &mut impl RowWriter, address: &PostalAddress) {
    let PostalAddress { street_1, street_2, city, state, zip } = address;
    for text in [street_1.as_str(), street_2.as_str(), city.as_str(), state.as_str(), zip.as_str()] {
        to.text(text);
    }
}

/// A row with its values in the order of the table's columns.
pub(crate) trait CopiedRow {
    /// Writes it.
    fn write(&self, to: &mut impl RowWriter);
}

impl CopiedRow for WarehouseRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(9);
        to.integer(self.id);
        to.text(self.name.as_str());
        write_address(to, &self.address);
        to.integer(self.tax.0.into());
        to.bigint(self.ytd.0);
    }
}

impl CopiedRow for DistrictRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(11);
        to.integer(self.key.warehouse);
        to.integer(self.key.district);
        to.text(self.name.as_str());
        write_address(to, &self.address);
        to.integer(self.tax.0.into());
        to.bigint(self.ytd.0);
        to.integer(self.next_order);
    }
}

impl CopiedRow for CustomerRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(21);
        for key in [self.district.warehouse, self.district.district, self.id] {
            to.integer(key);
        }
        for text in [self.first.as_str(), self.middle.as_str(), self.last.as_str()] {
            to.text(text);
        }
        write_address(to, &self.address);
        to.text(self.phone.as_str());
        to.time(self.since);
        to.text(self.credit.code());
        to.bigint(self.credit_limit.0);
        to.integer(self.discount.0.into());
        let counts = [i64::from(self.n_payments), i64::from(self.n_deliveries)];
        for number in [self.balance.0, self.ytd_payment.0].into_iter().chain(counts) {
            to.bigint(number);
        }
        to.text(self.data.as_str());
    }
}

impl CopiedRow for HistoryRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(8);
        let of = self.customer_district;
        let by = self.district;
        for key in [of.warehouse, of.district, self.customer, by.warehouse, by.district] {
            to.integer(key);
        }
        to.time(self.date);
        to.bigint(self.amount.0);
        to.text(self.data.as_str());
    }
}

impl CopiedRow for NewOrderRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(3);
        for key in [self.district.warehouse, self.district.district, self.order] {
            to.integer(key);
        }
    }
}

impl CopiedRow for OrderRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(8);
        for key in [self.district.warehouse, self.district.district, self.id, self.customer] {
            to.integer(key);
        }
        to.time(self.entered);
        match self.carrier {
            Some(carrier) => to.integer(carrier),
            None => to.null(),
        }
        to.bigint(self.n_lines.into());
        to.bigint(self.is_local.into());
    }
}

impl CopiedRow for OrderLineRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(10);
        let district = self.district;
        for key in [district.warehouse, district.district, self.order, self.number, self.item] {
            to.integer(key);
        }
        to.integer(self.supply_warehouse);
        match self.delivered {
            Some(time) => to.time(time),
            None => to.null(),
        }
        to.bigint(self.quantity.into());
        to.bigint(self.amount.0);
        to.text(self.district_info.as_str());
    }
}

impl CopiedRow for ItemRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(5);
        to.integer(self.id);
        to.integer(self.image);
        to.text(self.name.as_str());
        to.bigint(self.price.0);
        to.text(self.data.as_str());
    }
}

impl CopiedRow for StockRow {
    fn write(&self, to: &mut impl RowWriter) {
        to.begin(17);
        to.integer(self.warehouse);
        to.integer(self.item);
        to.bigint(self.quantity.into());
        for info in &self.district_info {
            to.text(info.as_str());
        }
        // Nothing has been sold yet: no pieces, no orders, none from elsewhere.
        for _ in 0..3 {
            to.bigint(0);
        }
        to.text(self.data.as_str());
    }
}
