//! Rows in the binary form of `COPY`.
//!
//! A stream is a head, rows and an end; a row is its number of columns and for each its length in bytes with the bytes,
//! all numbers in network order. Times are microseconds since 2000. Source: the documentation of PostgreSQL 15, `COPY`.

use bytes::{BufMut, Bytes, BytesMut};
use orders::{
    CustomerRow, DistrictRow, HistoryRow, ItemRow, NewOrderRow, OrderLineRow, OrderRow, PostalAddress,
    StockRow, WarehouseRow,
};
use units::WallTime;

/// The head: a signature, no flags, and no extension.
const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// In place of the number of columns, the end.
const END: i16 = -1;

/// In place of a length, null.
const NULL: i32 = -1;

/// 2000-01-01 00:00 UTC, in milliseconds since 1970: 10,957 days.
const EPOCH_MS: i64 = 10_957 * 24 * 3600 * 1000;

/// The bytes that are collected before they are sent.
const CHUNK_BYTES: usize = 64 * 1024;

/// Rows on their way.
#[derive(Debug)]
pub(super) struct CopyBuffer(BytesMut);

impl CopyBuffer {
    /// Begins a stream.
    pub(super) fn begin() -> CopyBuffer {
        CopyBuffer(BytesMut::from(HEAD))
    }

    /// Returns what is to be sent, if it is enough.
    pub(super) fn full_chunk(&mut self) -> Option<Bytes> {
        (CHUNK_BYTES <= self.0.len()).then(|| self.0.split().freeze())
    }

    /// Ends the stream, and returns the rest.
    pub(super) fn end(mut self) -> Bytes {
        self.0.put_i16(END);
        self.0.freeze()
    }

    fn columns(&mut self, n_columns: i16) {
        self.0.put_i16(n_columns);
    }

    fn integer(&mut self, value: u32) {
        self.0.put_i32(4);
        self.0.put_u32(value);
    }

    fn bigint(&mut self, value: i64) {
        self.0.put_i32(8);
        self.0.put_i64(value);
    }

    fn text(&mut self, text: &str) {
        self.0.put_i32(text.len() as i32);
        self.0.put_slice(text.as_bytes());
    }

    fn time(&mut self, time: WallTime) {
        self.bigint((time.0 - EPOCH_MS) * 1000);
    }

    fn null(&mut self) {
        self.0.put_i32(NULL);
    }

    fn address(&mut self, address: &PostalAddress) {
        let PostalAddress { street_1, street_2, city, state, zip } = address;
        for text in [street_1.as_str(), street_2.as_str(), city.as_str(), state.as_str(), zip.as_str()] {
            self.text(text);
        }
    }
}

/// A row with its values in the order of the table's columns.
pub(super) trait CopiedRow {
    /// Writes it.
    fn write(&self, to: &mut CopyBuffer);
}

impl CopiedRow for WarehouseRow {
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(9);
        to.integer(self.id);
        to.text(self.name.as_str());
        to.address(&self.address);
        to.integer(self.tax.0.into());
        to.bigint(self.ytd.0);
    }
}

impl CopiedRow for DistrictRow {
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(11);
        to.integer(self.key.warehouse);
        to.integer(self.key.district);
        to.text(self.name.as_str());
        to.address(&self.address);
        to.integer(self.tax.0.into());
        to.bigint(self.ytd.0);
        to.integer(self.next_order);
    }
}

impl CopiedRow for CustomerRow {
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(21);
        for key in [self.district.warehouse, self.district.district, self.id] {
            to.integer(key);
        }
        for text in [self.first.as_str(), self.middle.as_str(), self.last.as_str()] {
            to.text(text);
        }
        to.address(&self.address);
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
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(8);
        let (of, by) = (self.customer_district, self.district);
        for key in [of.warehouse, of.district, self.customer, by.warehouse, by.district] {
            to.integer(key);
        }
        to.time(self.date);
        to.bigint(self.amount.0);
        to.text(self.data.as_str());
    }
}

impl CopiedRow for NewOrderRow {
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(3);
        for key in [self.district.warehouse, self.district.district, self.order] {
            to.integer(key);
        }
    }
}

impl CopiedRow for OrderRow {
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(8);
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
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(10);
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
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(5);
        to.integer(self.id);
        to.integer(self.image);
        to.text(self.name.as_str());
        to.bigint(self.price.0);
        to.text(self.data.as_str());
    }
}

impl CopiedRow for StockRow {
    fn write(&self, to: &mut CopyBuffer) {
        to.columns(17);
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

#[cfg(test)]
mod tests {
    use orders::{DataScale, DistrictKey, OrderTable, Population};

    use super::*;

    /// Returns the number of columns that a row has after all, and checks that each has its length.
    fn columns_of(row: &impl CopiedRow) -> usize {
        let mut buffer = CopyBuffer::begin();
        row.write(&mut buffer);
        let mut bytes = &buffer.0[HEAD.len()..];
        let stated = i16::from_be_bytes(bytes[..2].try_into().unwrap());
        bytes = &bytes[2..];
        let mut n_columns = 0;
        while !bytes.is_empty() {
            let length = i32::from_be_bytes(bytes[..4].try_into().unwrap());
            bytes = &bytes[4 + usize::try_from(length.max(0)).unwrap()..];
            n_columns += 1;
        }
        assert_eq!(usize::try_from(stated).unwrap(), n_columns);
        n_columns
    }

    #[test]
    fn rows_have_the_columns_of_their_tables() {
        let population = Population::new(1, DataScale::new(1, 100).unwrap(), WallTime(0));
        let district = DistrictKey { warehouse: 1, district: 1 };
        let found = [
            columns_of(&population.warehouse(1)),
            columns_of(&population.district(district)),
            columns_of(&population.customers(district).next().unwrap()),
            columns_of(&population.history(district).next().unwrap()),
            columns_of(&population.new_orders(district).next().unwrap()),
            columns_of(&population.orders(district).next().unwrap()),
            columns_of(&population.order_lines(district).last().unwrap()),
            columns_of(&population.items().next().unwrap()),
            columns_of(&population.stock(1).next().unwrap()),
        ];
        assert_eq!(found, OrderTable::ALL.map(|table| table.schema().columns.len()));
    }

    /// A new order by hand: three integers of four bytes.
    #[test]
    fn a_stream_is_a_head_rows_and_an_end() {
        let mut buffer = CopyBuffer::begin();
        NewOrderRow { district: DistrictKey { warehouse: 1, district: 2 }, order: 3 }.write(&mut buffer);
        assert_eq!(buffer.full_chunk(), None);
        let expected = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\
                         \0\x03\0\0\0\x04\0\0\0\x01\0\0\0\x04\0\0\0\x02\0\0\0\x04\0\0\0\x03\xff\xff";
        assert_eq!(&buffer.end()[..], expected);
    }

    /// 2000-01-01 is 946,684,800 s after 1970.
    #[test]
    fn times_count_from_2000() {
        assert_eq!(EPOCH_MS, 946_684_800_000);
        let mut buffer = CopyBuffer::begin();
        buffer.time(WallTime(EPOCH_MS + 1));
        assert_eq!(&buffer.0[HEAD.len()..], b"\0\0\0\x08\0\0\0\0\0\0\x03\xe8");
    }
}
