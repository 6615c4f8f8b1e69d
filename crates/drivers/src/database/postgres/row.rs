//! Values as PostgreSQL has them: parameters by the type that a statement gives them, and columns of a row.

use std::error::Error;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::BytesMut;
use postgres_types::{Format, FromSql, IsNull, Kind, Oid, ToSql, Type, to_sql_checked};
use units::WallTime;

use super::message::{Content, MALFORMED};
use crate::database::connection::{SqlRow, SqlValue};
use crate::database::failure::{SqlFailure, WRONG_VALUE};
use crate::database::row_scan::{RowLayout, RowPart};

/// Returns a type by its identifier; one that a user has made is unknown.
pub(super) fn type_of(kind: Oid) -> Type {
    Type::from_oid(kind).unwrap_or(Type::UNKNOWN)
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        let is_array = matches!(kind.kind(), Kind::Array(_));
        match *self {
            SqlValue::Integers(_) | SqlValue::Texts(_) if !is_array => Err("not an array".into()),
            SqlValue::Integer(number) => {
                match binary_length(number, kind) {
                    Some(length) => out.extend_from_slice(&number.to_be_bytes()[8 - length..]),
                    None => out.extend_from_slice(number.to_string().as_bytes()),
                }
                Ok(IsNull::No)
            }
            SqlValue::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
            SqlValue::Time(time) => system_time(time).to_sql(kind, out),
            SqlValue::Integers(numbers) if *kind == Type::INT4_ARRAY => {
                let numbers = numbers.iter().map(|number| i32::try_from(*number));
                numbers.collect::<Result<Vec<i32>, _>>()?.to_sql(kind, out)
            }
            SqlValue::Integers(numbers) => numbers.to_sql(kind, out),
            SqlValue::Texts(texts) => texts.to_sql(kind, out),
            SqlValue::Null => Ok(IsNull::Yes),
        }
    }

    /// A text, and a number for anything but a whole number that has room for it, is read by the server as the type that it
    /// has found: it refuses what that type cannot have.
    fn encode_format(&self, kind: &Type) -> Format {
        match self {
            SqlValue::Text(_) => Format::Text,
            SqlValue::Integer(number) if binary_length(*number, kind).is_none() => Format::Text,
            _ => Format::Binary,
        }
    }

    fn accepts(_: &Type) -> bool {
        // Other values than numbers and texts go only to statements of our own, whose types are known.
        true
    }

    to_sql_checked!();
}

/// Returns the length in bytes of a whole number of this type; `None` if it is another type, or has no room for the
/// number.
fn binary_length(number: i64, kind: &Type) -> Option<usize> {
    match *kind {
        Type::INT2 => i16::try_from(number).ok().map(|_| 2),
        Type::INT4 => i32::try_from(number).ok().map(|_| 4),
        Type::INT8 => Some(8),
        _ => None,
    }
}

/// A row of a result.
#[derive(Debug)]
pub(crate) struct PostgresRow {
    columns: Rc<[Oid]>,
    /// The place of each value in the bytes; `None` of null.
    values: Vec<Option<Range<usize>>>,
    bytes: Box<[u8]>,
}

impl PostgresRow {
    /// Reads a row with these types of columns: their number, and for each its length, −1 of null, with the value.
    ///
    /// # Errors
    /// It has other columns, or lengths that it has no room for.
    pub(super) fn read(columns: &Rc<[Oid]>, content: &[u8]) -> Result<PostgresRow, SqlFailure> {
        let mut rest = Content(content);
        if rest.count()? != columns.len() {
            return Err(MALFORMED);
        }
        let value = |rest: &mut Content<'_>| match rest.int4()? {
            -1 => Ok::<_, SqlFailure>(None),
            length => {
                let begin = content.len() - rest.0.len();
                let length = rest.bytes(usize::try_from(length).map_err(|_| MALFORMED)?)?.len();
                Ok(Some(begin..begin + length))
            }
        };
        let values = (0..columns.len()).map(|_| value(&mut rest)).collect::<Result<_, _>>()?;
        rest.end()?;
        Ok(PostgresRow { columns: Rc::clone(columns), values, bytes: content.into() })
    }

    /// Returns the bytes of a value; `None` of null, and of a column that does not exist.
    pub(super) fn bytes_of(&self, index: usize) -> Option<&[u8]> {
        self.values.get(index)?.clone().map(|place| &self.bytes[place])
    }

    /// Returns a value of any type that the library knows.
    ///
    /// # Errors
    /// The column has another type.
    pub(crate) fn value<'r, T: FromSql<'r>>(&'r self, index: usize) -> Result<T, SqlFailure> {
        let (place, kind) = self.values.get(index).zip(self.columns.get(index)).ok_or(WRONG_VALUE)?;
        let kind = type_of(*kind);
        if !T::accepts(&kind) {
            return Err(WRONG_VALUE);
        }
        let bytes = place.clone().map(|place| &self.bytes[place]);
        if matches!(kind.kind(), Kind::Array(_)) && bytes.is_some_and(|bytes| !has_elements(bytes)) {
            return Err(WRONG_VALUE);
        }
        T::from_sql_nullable(&kind, bytes).map_err(|_| WRONG_VALUE)
    }
}

impl SqlRow for PostgresRow {
    fn integer(&self, index: usize) -> Result<Option<i64>, SqlFailure> {
        match self.columns.get(index).and_then(|kind| Type::from_oid(*kind)) {
            Some(Type::INT4) => self.value::<Option<i32>>(index).map(|value| value.map(i64::from)),
            _ => self.value(index),
        }
    }

    fn text(&self, index: usize) -> Result<Option<&str>, SqlFailure> {
        self.value(index)
    }

    fn time(&self, index: usize) -> Result<Option<WallTime>, SqlFailure> {
        self.value::<Option<SystemTime>>(index)?.map(wall_of).transpose()
    }
}

/// The layout of rows with so many values, each with its length before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowOf {
    n_columns: usize,
    /// The values to come; `None` before their number.
    n_left: Option<usize>,
}

impl RowOf {
    pub(super) fn columns(n_columns: usize) -> RowOf {
        RowOf { n_columns, n_left: None }
    }
}

impl RowLayout for RowOf {
    fn next(&mut self, prefix: &[u8]) -> Result<RowPart, SqlFailure> {
        match (self.n_left, prefix) {
            (None, []) => Ok(RowPart::Prefix(2)),
            (None, [a, b]) if usize::from(u16::from_be_bytes([*a, *b])) == self.n_columns => {
                self.n_left = Some(self.n_columns);
                Ok(RowPart::Value(0))
            }
            (Some(0), []) => Ok(RowPart::End),
            (Some(_), []) => Ok(RowPart::Prefix(4)),
            (Some(n_left), [a, b, c, d]) => {
                self.n_left = n_left.checked_sub(1);
                match i32::from_be_bytes([*a, *b, *c, *d]) {
                    // No value.
                    -1 => Ok(RowPart::Value(0)),
                    length => u64::try_from(length).map(RowPart::Value).map_err(|_| MALFORMED),
                }
            }
            _ => Err(MALFORMED),
        }
    }
}

/// Returns whether an array has room for as many elements as it states: the library reserves memory for all of them.
///
/// It begins with the number of its dimensions, whether there are nulls, and the type of the elements; then come the
/// number of elements and the index of the first for each dimension, of which the library reads one, and the elements with
/// their lengths.
fn has_elements(array: &[u8]) -> bool {
    let mut content = Content(array);
    let mut stated = || -> Result<usize, SqlFailure> {
        let n_dimensions = content.int4()?;
        content.bytes(8)?;
        if n_dimensions == 0 {
            return Ok(0);
        }
        let n_elements = usize::try_from(content.int4()?).map_err(|_| MALFORMED)?;
        content.bytes(4)?;
        Ok(n_elements)
    };
    stated().is_ok_and(|n_elements| n_elements <= content.0.len() / 4)
}

/// Returns a point in time as the library has it.
fn system_time(time: WallTime) -> SystemTime {
    let since = Duration::from_millis(time.0.unsigned_abs());
    if time.0 < 0 { UNIX_EPOCH - since } else { UNIX_EPOCH + since }
}

/// Returns a point in time in whole milliseconds.
pub(crate) fn wall_of(time: SystemTime) -> Result<WallTime, SqlFailure> {
    let millis = |since: Duration| i64::try_from(since.as_millis()).map_err(|_| WRONG_VALUE);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => millis(after).map(WallTime),
        Err(before) => millis(before.duration()).map(|millis| WallTime(-millis)),
    }
}

#[cfg(test)]
mod tests {
    use postgres_types::Type;
    use proptest::prelude::*;

    use super::*;
    use crate::database::row_scan;

    fn types(kinds: &[Type]) -> Rc<[Oid]> {
        kinds.iter().map(Type::oid).collect()
    }

    /// An `int4` of 7, a null, and a text.
    const ROW: &[u8] = b"\0\x03\0\0\0\x04\0\0\0\x07\xff\xff\xff\xff\0\0\0\x02ab";

    #[test]
    fn values_are_of_the_types_of_their_columns() {
        let row = PostgresRow::read(&types(&[Type::INT4, Type::TIMESTAMPTZ, Type::TEXT]), ROW).unwrap();
        assert_eq!(row.integer(0), Ok(Some(7)));
        assert_eq!((row.time(1), row.text(2)), (Ok(None), Ok(Some("ab"))));
        // Another type, and no column.
        assert_eq!(
            (row.text(0), row.integer(2), row.integer(3)),
            (Err(WRONG_VALUE), Err(WRONG_VALUE), Err(WRONG_VALUE))
        );
        // A null is no number.
        assert_eq!(row.value::<i32>(1), Err(WRONG_VALUE));
    }

    #[test]
    fn rows_of_other_columns_or_lengths_are_refused() {
        let three = types(&[Type::INT4, Type::TEXT, Type::TEXT]);
        for end in 0..ROW.len() {
            assert_eq!(PostgresRow::read(&three, &ROW[..end]).err(), Some(MALFORMED), "{end}");
        }
        assert_eq!(PostgresRow::read(&types(&[Type::INT4]), ROW).err(), Some(MALFORMED));
        for length in [b"\xff\xff\xff\xfe", b"\x7f\xff\xff\xff"] {
            let content = [&b"\0\x01"[..], length].concat();
            assert_eq!(PostgresRow::read(&types(&[Type::TEXT]), &content).err(), Some(MALFORMED));
        }
    }

    #[test]
    fn rows_that_are_counted_are_checked_like_those_that_are_kept() {
        let is_accepted = |n_columns, row: &[u8]| {
            let three = types(&vec![Type::TEXT; n_columns]);
            let counted = row_scan::tests::is_accepted(|| RowOf::columns(n_columns), row);
            assert_eq!(counted, PostgresRow::read(&three, row).is_ok(), "{n_columns}: {row:?}");
            counted
        };
        assert!(is_accepted(3, ROW) && is_accepted(0, b"\0\0"));
        for end in 0..ROW.len() {
            assert!(!is_accepted(3, &ROW[..end]), "{end}");
        }
        for other in [&[ROW, b"x"].concat()[..], b"\0\x03\xff\xff\xff\xfe", b"\0\x03\x7f\xff\xff\xffabc"] {
            assert!(!is_accepted(3, other) && !is_accepted(2, other), "{other:?}");
        }
    }

    #[test]
    fn numbers_are_binary_where_their_type_has_room() {
        let written = |number: i64, kind: Type| {
            let mut out = BytesMut::new();
            let value = SqlValue::Integer(number);
            value.to_sql(&kind, &mut out).unwrap();
            (matches!(value.encode_format(&kind), Format::Binary), out.to_vec())
        };
        assert_eq!(written(-2, Type::INT2), (true, vec![0xff, 0xfe]));
        assert_eq!(written(7, Type::INT4), (true, vec![0, 0, 0, 7]));
        assert_eq!(written(1 << 40, Type::INT8), (true, vec![0, 0, 1, 0, 0, 0, 0, 0]));
        // The server refuses what the type has no room for, and reads the others.
        assert_eq!(written(70_000, Type::INT2), (false, b"70000".to_vec()));
        assert_eq!(written(-5, Type::NUMERIC), (false, b"-5".to_vec()));
    }

    /// An array of two `int4`, 7 and null; then one that states 2³¹ − 1 of them.
    #[test]
    fn arrays_are_read_where_they_have_their_elements() {
        let head = |n: u32| [1, 1, 23, n, 1].map(u32::to_be_bytes).concat();
        let array = [head(2), vec![0, 0, 0, 4, 0, 0, 0, 7], vec![0xff; 4]].concat();
        let read = |array: &[u8]| {
            let length = (array.len() as u32).to_be_bytes();
            let row = [&[0, 1][..], &length, array].concat();
            PostgresRow::read(&types(&[Type::INT4_ARRAY]), &row).unwrap().value::<Vec<Option<i32>>>(0)
        };
        assert_eq!(read(&array), Ok(vec![Some(7), None]));
        assert_eq!(read(&[0u32, 0, 23].map(u32::to_be_bytes).concat()), Ok(vec![]));
        assert_eq!(read(&[head(i32::MAX as u32), vec![0xff; 4]].concat()), Err(WRONG_VALUE));
        assert_eq!(read(&array[..10]), Err(WRONG_VALUE));
    }

    /// The types of our statements, and the values of rows that a hostile server sends for them.
    fn hostile_row() -> impl Strategy<Value = (Vec<Oid>, Vec<u8>)> {
        let kind = prop::sample::select(vec![16, 20, 23, 25, 1000, 1007, 1009, 1016, 1184, 1185, 70_000]);
        let value =
            prop::option::of(prop::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..40));
        prop::collection::vec((kind, value), 0..4).prop_map(|columns| {
            let mut content = (columns.len() as u16).to_be_bytes().to_vec();
            for (_, value) in &columns {
                let length = value.as_ref().map_or(-1, |value| value.len() as i32);
                content.extend(length.to_be_bytes());
                content.extend(value.iter().flatten());
            }
            (columns.into_iter().map(|(kind, _)| kind).collect(), content)
        })
    }

    proptest! {
        #[test]
        fn values_of_a_hostile_server_have_an_outcome((kinds, content) in hostile_row()) {
            let columns: Rc<[Oid]> = kinds.into();
            let row = PostgresRow::read(&columns, &content).unwrap();
            for index in 0..columns.len() {
                let _ = (row.integer(index), row.text(index), row.time(index));
                let _ = row.value::<Option<Vec<Option<i32>>>>(index);
                let _ = (row.value::<Vec<i64>>(index), row.value::<Vec<bool>>(index));
                let _ = (row.value::<Vec<&str>>(index), row.value::<Vec<Option<SystemTime>>>(index));
            }
        }
    }
}
