//! Records are read back as they were, and other bytes are refused.

use std::collections::BTreeMap;

use model::{
    DetailRecord, FailureCodes, Flow, Health, IntervalRecord, KindHistograms, KindTotals, NoticeTotals,
    Outcome, Phase, SutUse, UnitTotals,
};
use proptest::prelude::*;
use stats::{Histogram, Moments};
use units::Nanos;

use super::*;
use crate::rows::RecordKey;

const KEY: RecordKey =
    RecordKey { load_point: 3, agent: 1, phase: Phase::Steady, start: Nanos(1), end: Nanos(1_000_000_001) };

fn histogram() -> impl Strategy<Value = Histogram> {
    prop::collection::vec(any::<u64>(), 0..4).prop_map(|values| {
        let mut histogram = Histogram::new();
        values.into_iter().for_each(|value| histogram.record(Nanos(value)));
        histogram
    })
}

/// Any moments, also impossible ones: the codec must return exactly the recorded ones.
fn moments() -> impl Strategy<Value = Moments> {
    let recorded = prop::collection::vec(any::<u64>(), 0..4).prop_map(|values| {
        let mut moments = Moments::default();
        values.into_iter().for_each(|value| moments.record(value));
        moments
    });
    let any_at_all = (1u64.., any::<u128>(), any::<u128>(), any::<u64>(), any::<u64>())
        .prop_map(|(n, sum, sum_squares, min, max)| Moments { n, sum, sum_squares, min, max });
    prop_oneof![recorded, any_at_all]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(Outcome::ALL.as_slice())
}

fn kind() -> impl Strategy<Value = KindTotals> {
    let failed = prop::collection::btree_map(outcome(), any::<u64>(), 0..3);
    let measures = prop::collection::vec(moments(), 0..4);
    let codes = (prop::collection::vec((outcome(), any::<u32>(), any::<u64>()), 0..3), any::<u64>());
    let parts = (moments(), measures, failed, codes, any::<u64>());
    parts.prop_map(|(response, measures, failed, (counted, others), in_flight_at_end)| {
        let mut codes = FailureCodes::default();
        codes.others = others;
        counted.into_iter().for_each(|(outcome, code, n)| codes.add(outcome, code, n));
        KindTotals { response, measures, failed, codes, in_flight_at_end }
    })
}

fn flow() -> impl Strategy<Value = Flow> {
    (any::<[u64; 11]>(), any::<[u128; 4]>(), 0u64..3, moments()).prop_map(
        |(counts, integrals, left_open, user_wait)| {
            let [waiting_at_start, due, started, skipped, waiting_at_end, ..] = counts;
            let [.., in_flight_at_start, ok, failed, timed_out, abandoned, in_flight_at_end] = counts;
            let [due_span_ns, in_flight_ns, thinking_ns, in_flight_age_ns] = integrals;
            Flow {
                waiting_at_start,
                due,
                started,
                skipped,
                waiting_at_end,
                in_flight_at_start,
                ok,
                failed,
                timed_out,
                abandoned,
                in_flight_at_end,
                left_open,
                user_wait,
                due_span_ns,
                in_flight_ns,
                thinking_ns,
                in_flight_age_ns,
            }
        },
    )
}

fn notice() -> impl Strategy<Value = NoticeTotals> {
    (any::<[u64; 6]>(), moments()).prop_map(|(counts, times)| {
        let [awaited_at_start, begun, begun_in_steady, ended, lost, awaited_at_end] = counts;
        NoticeTotals { awaited_at_start, begun, begun_in_steady, ended, times, lost, awaited_at_end }
    })
}

fn interval() -> impl Strategy<Value = IntervalRecord> {
    let units = prop::collection::vec(any::<(u64, u64)>(), 0..3);
    let pauses = prop::collection::vec(moments(), 0..3);
    let notices = prop::collection::vec(notice(), 0..3);
    let lists = (prop::collection::vec(kind(), 0..3), units, pauses, notices, moments());
    let histograms = (histogram(), histogram(), histogram());
    let health = (any::<u32>(), any::<u64>(), any::<u64>());
    let sut = prop::option::of(any::<(u64, u64)>());
    let parts = (any::<u32>(), flow(), lists, histograms, health, sut);
    parts.prop_map(
        |(
            index,
            flow,
            (kinds, units, pauses, notices, clients),
            (response, service, lateness),
            health,
            sut,
        )| {
            let threads = health.0;
            let cpu = Nanos(health.1);
            let run_queue = Nanos(health.2);
            IntervalRecord {
                load_point: KEY.load_point,
                agent: KEY.agent,
                thread: None,
                index,
                phase: KEY.phase,
                start: KEY.start,
                end: KEY.end,
                flow,
                kinds,
                units: units.into_iter().map(|(ok, failed)| UnitTotals { ok, failed }).collect(),
                pauses,
                notices,
                clients,
                response,
                service,
                lateness,
                health: Health { threads, cpu, run_queue },
                sut: sut.map(|(cpu, throttled)| SutUse { cpu: Nanos(cpu), throttled: Nanos(throttled) }),
                detail: None,
            }
        },
    )
}

fn detail() -> impl Strategy<Value = DetailRecord> {
    let failed = prop::collection::btree_map((any::<u16>(), outcome()), histogram(), 0..3);
    let histograms = || prop::collection::vec(histogram(), 0..3);
    let parts = (histograms(), failed, histograms(), histograms(), histograms());
    parts.prop_map(|(response, failed, spreads, pauses, notices)| {
        let RecordKey { load_point, agent, phase, start, end } = KEY;
        let detail = KindHistograms { response, failed, spreads, pauses, notices };
        DetailRecord { load_point, agent, phase, start, end, detail }
    })
}

proptest! {
    // Each histogram that holds something is 270 KB of zeros.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn intervals_are_read_back_unchanged(record in interval()) {
        let bytes = encode_interval(&record);
        prop_assert_eq!(decode_interval(&KEY, record.index, &bytes), Ok(record));
    }

    #[test]
    fn details_are_read_back_unchanged(record in detail()) {
        prop_assert_eq!(decode_detail(&KEY, &encode_detail(&record.detail)), Ok(record));
    }

    #[test]
    fn records_come_back_from_the_wire_unchanged(
        record in interval(),
        detail in prop::option::of(detail()),
        thread: Option<u32>,
        cut in any::<prop::sample::Index>(),
    ) {
        let record = IntervalRecord { thread, detail: detail.map(|detail| detail.detail), ..record };
        let bytes = wire::encode(&record);
        prop_assert!(wire::decode(&bytes[..cut.index(bytes.len())]).is_err());
        prop_assert_eq!(wire::decode(&bytes), Ok(record));
    }

    #[test]
    fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_interval(&KEY, 0, &[&[6], bytes.as_slice()].concat());
        let _ = decode_detail(&KEY, &[&[4], bytes.as_slice()].concat());
        let of_any_second = [1, 0, 0, 0, 0, 2, 0, 1, 6];
        let _ = wire::decode(&[&of_any_second, bytes.as_slice()].concat());
        let _ = wire::decode(&bytes);
    }

    /// A truncated record is never accepted, nor is one with trailing bytes.
    #[test]
    fn cut_and_lengthened_records_are_refused(record in interval(), cut in any::<prop::sample::Index>()) {
        let bytes = encode_interval(&record);
        prop_assert!(decode_interval(&KEY, 0, &bytes[..cut.index(bytes.len())]).is_err());
        let longer = [bytes.as_slice(), &[0]].concat();
        prop_assert_eq!(decode_interval(&KEY, 0, &longer), Err(CodecError::Trailing(1)));
    }
}

/// By hand: 3, 3, 3 has n 3, three above nothing, which is position 6 of 0, −1, 1, −2 …, so 2·6 + 1 for a constant; a
/// 3. Then there are three measures. 1, 5 has n 2, one below 3, which is position 1, so 2·1; a 1, range 4, Σ(x − a) 4,
/// Σ(x − a)² 16. Then n 0, two below 2, which is position 3, so 2·3 + 1, as nothing is constant; and the same n again.
#[test]
fn moments_are_stored_as_distances_from_the_smallest() {
    let mut record = IntervalRecord { kinds: vec![KindTotals::default()], ..empty() };
    [3, 3, 3].into_iter().for_each(|value| record.kinds[0].response.record(value));
    record.kinds[0].measures = vec![Moments::default(); 3];
    [1, 5].into_iter().for_each(|value| record.kinds[0].measures[0].record(value));
    let bytes = encode_interval(&record);
    // Version, 16 numbers of the flow and one of no waits for users, one kind.
    let waits = [1];
    assert_eq!(bytes[..19], [&[7], [0; 12].as_slice(), &waits, &[0; 4], &[1]].concat());
    assert_eq!(bytes[19..29], [13, 3, 3, 2, 1, 4, 4, 16, 7, 1]);
}

#[test]
fn another_form_is_named() {
    for found in [6, 8] {
        let refused = Err(CodecError::Version { found, expected: 7 });
        assert_eq!(decode_interval(&KEY, 0, &[found as u8, 0, 0]), refused);
    }
}

fn empty() -> IntervalRecord {
    IntervalRecord::empty(0, 0)
}

/// Failures stand in order of their outcomes, each once: so one record has one form.
#[test]
fn a_repeated_outcome_is_refused() {
    let failed = BTreeMap::from([(Outcome::Reset, 1)]);
    let kinds = vec![KindTotals { failed, ..KindTotals::default() }];
    let mut bytes = encode_interval(&IntervalRecord { kinds, ..empty() });
    // Behind version, flow, number of kinds, empty moments and no measures: number of failures, outcome, n.
    assert_eq!(bytes[21..24], [1, Outcome::Reset as u8, 1]);
    bytes[21] = 2;
    bytes.splice(24..24, [Outcome::Reset as u8, 1]);
    assert_eq!(decode_interval(&KEY, 0, &bytes), Err(CodecError::Outcome(2)));
}
