//! The stored form of the readings of a machine: differences from its last record of the same load point.
//!
//! Layout, all numbers of variable length: version; how many values are new or differ, and for each how far its
//! series is beyond the one before it (the first one: beyond 0), and the difference to its last value (a new one: to
//! 0), folded so that small ones of either sign are short; how many series are no longer there, and for each how far
//! it is beyond the one before. Most counters of a machine stand still, and those take no room at all.

use std::collections::BTreeMap;

use model::ResourceRecord;

use super::CodecError;
use super::number::{ByteReader, put};

/// The current version; any change of the layout raises it.
const VERSION: u64 = 1;

/// The last values of each machine in the current load point, from which differences are encoded.
#[derive(Debug, Default)]
pub(crate) struct LastReadings {
    load_point: Option<u32>,
    machines: BTreeMap<u32, BTreeMap<u32, u64>>,
}

impl LastReadings {
    /// Returns the last values of a machine; none at the start of a load point.
    fn of(&mut self, load_point: u32, machine: u32) -> &mut BTreeMap<u32, u64> {
        if self.load_point.replace(load_point) != Some(load_point) {
            self.machines.clear();
        }
        self.machines.entry(machine).or_default()
    }
}

/// Writes the values of a record, whose series must rise, and updates `last_readings`.
pub(crate) fn encode_resource(last_readings: &mut LastReadings, record: &ResourceRecord) -> Vec<u8> {
    let last = last_readings.of(record.load_point, record.machine);
    let now: BTreeMap<u32, u64> = record.values.iter().copied().collect();
    let mut bytes = Vec::with_capacity(256);
    put(VERSION, &mut bytes);
    let changed: Vec<(u32, u64)> = now
        .iter()
        .filter(|(series, value)| last.get(series) != Some(value))
        .map(|(series, value)| (*series, value.wrapping_sub(last.get(series).copied().unwrap_or(0))))
        .collect();
    let gone: Vec<u32> = last.keys().copied().filter(|series| !now.contains_key(series)).collect();
    put(changed.len() as u64, &mut bytes);
    let mut before = 0;
    for (series, difference) in changed {
        put(series - before, &mut bytes);
        put(folded(difference), &mut bytes);
        before = series;
    }
    put(gone.len() as u64, &mut bytes);
    let mut before = 0;
    for series in gone {
        put(series - before, &mut bytes);
        before = series;
    }
    *last = now;
    bytes
}

/// Reads the values of a record back; records must come in the order in which they were written. Any bytes are safe
/// to pass.
pub(crate) fn decode_resource(
    last_readings: &mut LastReadings,
    load_point: u32,
    machine: u32,
    bytes: &[u8],
) -> Result<Vec<(u32, u64)>, CodecError> {
    let last = last_readings.of(load_point, machine);
    let mut from = ByteReader::new(bytes, VERSION)?;
    let mut series = 0u32;
    for _ in 0..from.count()? {
        series = series.checked_add(from.u32()?).ok_or(CodecError::TooLarge)?;
        let difference = unfolded(from.u64()?);
        let value = last.entry(series).or_insert(0);
        *value = value.wrapping_add(difference);
    }
    let mut series = 0u32;
    for _ in 0..from.count()? {
        series = series.checked_add(from.u32()?).ok_or(CodecError::TooLarge)?;
        last.remove(&series);
    }
    from.finish()?;
    Ok(last.iter().map(|(series, value)| (*series, *value)).collect())
}

/// Folds a difference, taken as a number with a sign: 0, −1, 1, −2… become 0, 1, 2, 3…
fn folded(difference: u64) -> u64 {
    let signed = difference.cast_signed();
    ((signed << 1) ^ (signed >> 63)).cast_unsigned()
}

fn unfolded(folded: u64) -> u64 {
    (folded >> 1) ^ (folded & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use units::Nanos;

    use super::*;

    fn record(load_point: u32, machine: u32, values: &[(u32, u64)]) -> ResourceRecord {
        ResourceRecord { load_point, machine, at: Nanos::ZERO, values: values.to_vec() }
    }

    /// By hand: series 3 at 10, 4 at 20; then 3 stands still, 4 fell by 1, 9 is new; then 4 is gone.
    #[test]
    fn only_what_changed_is_written() {
        let mut last_readings = LastReadings::default();
        let bytes = |last_readings: &mut LastReadings, values: &[(u32, u64)]| {
            encode_resource(last_readings, &record(0, 0, values))
        };
        assert_eq!(bytes(&mut last_readings, &[(3, 10), (4, 20)]), [1, 2, 3, 20, 1, 40, 0]);
        assert_eq!(bytes(&mut last_readings, &[(3, 10), (4, 19), (9, 1)]), [1, 2, 4, 1, 5, 2, 0]);
        assert_eq!(bytes(&mut last_readings, &[(3, 10), (9, 1)]), [1, 0, 1, 4]);
        assert_eq!(bytes(&mut last_readings, &[(3, 10), (9, 1)]), [1, 0, 0]);
    }

    proptest! {
        /// Goal: machines in turn, series that come and go, and a new load point do not disturb one another.
        #[test]
        fn records_come_back_in_order(
            rows in prop::collection::vec(
                (0u32..2, 0u32..3, prop::collection::btree_map(0u32..50, any::<u64>(), 0..20)), 1..30),
        ) {
            let mut rows: Vec<ResourceRecord> = rows
                .into_iter()
                .map(|(point, machine, values)| record(point, machine, &values.into_iter().collect::<Vec<_>>()))
                .collect();
            rows.sort_by_key(|row| row.load_point);
            let mut writes = LastReadings::default();
            let mut reads = LastReadings::default();
            for row in rows {
                let bytes = encode_resource(&mut writes, &row);
                let values = decode_resource(&mut reads, row.load_point, row.machine, &bytes).unwrap();
                prop_assert_eq!(values, row.values);
            }
        }

        #[test]
        fn any_bytes_are_values_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = decode_resource(&mut LastReadings::default(), 0, 0, &bytes);
        }

        #[test]
        fn folding_turns_back(difference: u64) {
            prop_assert_eq!(unfolded(folded(difference)), difference);
        }
    }
}
