//! Rows in the binary form of `COPY`, in messages.
//!
//! A stream is a head, rows and an end; a row is its number of columns and for each its length in bytes with the bytes,
//! all numbers in network order. Times are microseconds since 2000. It is cut into messages anywhere: a letter, the length
//! with that of the length itself, bytes of the stream. Source: the documentation of PostgreSQL 15, `COPY` and "Message
//! Formats".

use bytes::{BufMut, BytesMut};
use units::WallTime;

use crate::orders::sql::rows::RowWriter;

/// The head: a signature, no flags, and no extension.
const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// In place of the number of columns, the end.
const END: i16 = -1;

/// In place of a length, null.
const NULL: i32 = -1;

/// 2000-01-01 00:00 UTC, in milliseconds since 1970: 10,957 days.
const EPOCH_MS: i64 = 10_957 * 24 * 3600 * 1000;

/// The bytes that are collected before they are sent.
const MESSAGE_BYTES: usize = 64 * 1024;

/// The letter of a message with rows, and the whole message behind the last of them.
const ROWS: u8 = b'd';
const DONE: &[u8] = b"c\0\0\0\x04";

/// The bytes before those of the stream in a message.
const MESSAGE_HEAD_BYTES: usize = 5;

/// Rows on their way: the next message, whose length is not known yet.
#[derive(Debug)]
pub(crate) struct CopyBuffer(BytesMut);

impl CopyBuffer {
    /// Begins a stream.
    pub(super) fn new() -> CopyBuffer {
        let mut buffer = CopyBuffer(BytesMut::with_capacity(MESSAGE_BYTES + MESSAGE_BYTES / 4));
        buffer.begin_message();
        buffer.0.put_slice(HEAD);
        buffer
    }

    /// Begins the next message.
    pub(super) fn begin_message(&mut self) {
        self.0.clear();
        self.0.put_u8(ROWS);
        self.0.put_u32(0);
    }

    /// Returns whether it is enough to be sent.
    pub(super) fn is_full(&self) -> bool {
        MESSAGE_BYTES <= self.0.len()
    }

    /// Returns the message with the rows so far.
    pub(super) fn message(&mut self) -> &[u8] {
        // Rows are sent when there are 64 KiB of them, and none is much longer than the longest text of 500 bytes.
        let length = (self.0.len() - 1) as u32;
        self.0[1..MESSAGE_HEAD_BYTES].copy_from_slice(&length.to_be_bytes());
        &self.0
    }

    /// Ends the stream, and returns the messages that are left.
    pub(super) fn last_messages(&mut self) -> &[u8] {
        self.0.put_i16(END);
        self.message();
        self.0.put_slice(DONE);
        &self.0
    }
}

impl RowWriter for CopyBuffer {
    fn begin(&mut self, n_columns: i16) {
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
}

#[cfg(test)]
mod tests {
    use orders::{DataScale, DistrictKey, NewOrderRow, OrderTable, Population};

    use super::*;
    use crate::orders::sql::rows::CopiedRow;

    /// Returns the number of columns that a row has after all, and checks that each has its length.
    fn columns_of(row: &impl CopiedRow) -> usize {
        let mut buffer = CopyBuffer::new();
        row.write(&mut buffer);
        let mut bytes = &buffer.0[MESSAGE_HEAD_BYTES + HEAD.len()..];
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

    /// A new order by hand: 26 bytes with three integers, between a head of 19 and an end of 2; the length counts its own
    /// 4, too.
    #[test]
    fn a_stream_is_a_head_rows_and_an_end() {
        let mut buffer = CopyBuffer::new();
        NewOrderRow { district: DistrictKey { warehouse: 1, district: 2 }, order: 3 }.write(&mut buffer);
        assert!(!buffer.is_full());
        let expected = b"d\0\0\0\x33PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\
                         \0\x03\0\0\0\x04\0\0\0\x01\0\0\0\x04\0\0\0\x02\0\0\0\x04\0\0\0\x03\xff\xffc\0\0\0\x04";
        assert_eq!(buffer.last_messages(), expected);
    }

    /// 2000-01-01 is 946,684,800 s after 1970.
    #[test]
    fn times_count_from_2000() {
        assert_eq!(EPOCH_MS, 946_684_800_000);
        let mut buffer = CopyBuffer::new();
        buffer.time(WallTime(EPOCH_MS + 1));
        assert_eq!(&buffer.0[MESSAGE_HEAD_BYTES + HEAD.len()..], b"\0\0\0\x08\0\0\0\0\0\0\x03\xe8");
    }
}
