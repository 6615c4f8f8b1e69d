//! The stored form of an interval record without its detail.
//!
//! Layout, all numbers of variable length: version; the fields of the flow in the order of their
//! declaration; number of kinds, and for each the moments of the response times of its successful operations, the
//! number of its measures and the moments of each, the number of its failures, and for each outcome and n, number of its protocol codes, and for each outcome, code
//! and n, and the n of codes without room; number of
//! unit kinds, and for each ok and failed; number of kinds of pauses, and the moments of each; number of kinds of notices, and for each those awaited at the start, begun, of these in the steady phase,
//! those that came, the moments of the times of those of them that began in the steady phase, lost, awaited at the end; moments of the amounts of clients; histograms of response time, service time and lateness, each behind its
//! length; threads, CPU time, run-queue time; 0, or 1 and the SUT's CPU and throttled time.
//!
//! A moment is n, and if that is not zero: the smallest value a, and unless all values are a: the
//! largest less a, the sum less n·a, and Σ(x − a)², which are small where values are close together.
//! They are computed modulo 2¹²⁸, so that any moments come back as they were. The n is stored as 2·d,
//! or 2·d + 1 if all values are a, where d counts 0, −1, 1, −2, 2 … from the n that was before it in
//! its kind: mostly it is the same.

use std::collections::BTreeMap;

use model::{
    CODES_MAX, FailureCodes, Flow, Health, IntervalRecord, KindTotals, NoticeTotals, SutUse, UnitTotals,
};
use stats::Moments;
use units::Nanos;

use super::CodecError;
use super::number::{ByteReader, put, put_histogram};
use crate::rows::RecordKey;

/// The version; any change of the layout raises it.
const VERSION: u64 = 7;

/// Writes all fields without a column of their own; equal records give equal bytes.
pub(crate) fn encode_interval(record: &IntervalRecord) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2048);
    put_interval(record, &mut bytes);
    bytes
}

/// Appends them, with their version.
pub(super) fn put_interval(record: &IntervalRecord, into: &mut Vec<u8>) {
    put(VERSION, into);
    put_flow(&record.flow, into);
    put(record.kinds.len() as u64, into);
    record.kinds.iter().for_each(|kind| put_kind(kind, into));
    put(record.units.len() as u64, into);
    for unit in &record.units {
        put(unit.ok, into);
        put(unit.failed, into);
    }
    put(record.pauses.len() as u64, into);
    record.pauses.iter().for_each(|pause| put_moments(pause, 0, into));
    put(record.notices.len() as u64, into);
    record.notices.iter().for_each(|notice| put_notice(notice, into));
    put_moments(&record.clients, 0, into);
    for histogram in [&record.response, &record.service, &record.lateness] {
        put_histogram(histogram, into);
    }
    put_health(&record.health, into);
    put_sut(record.sut.as_ref(), into);
}

/// Reads a record back. Any bytes are safe to pass.
pub(crate) fn decode_interval(
    key: &RecordKey,
    index: u32,
    bytes: &[u8],
) -> Result<IntervalRecord, CodecError> {
    let mut from = ByteReader::new(bytes, VERSION)?;
    let record = read_fields(key, index, &mut from)?;
    from.finish()?;
    Ok(record)
}

/// Reads what [`put_interval`] appends.
pub(super) fn read_interval(
    key: &RecordKey,
    index: u32,
    from: &mut ByteReader,
) -> Result<IntervalRecord, CodecError> {
    from.version(VERSION)?;
    read_fields(key, index, from)
}

fn read_fields(key: &RecordKey, index: u32, from: &mut ByteReader) -> Result<IntervalRecord, CodecError> {
    Ok(IntervalRecord {
        load_point: key.load_point,
        agent: key.agent,
        thread: None,
        index,
        phase: key.phase,
        start: key.start,
        end: key.end,
        flow: flow(from)?,
        kinds: list(from, kind)?,
        units: list(from, |from| Ok(UnitTotals { ok: from.u64()?, failed: from.u64()? }))?,
        pauses: list(from, |from| moments(0, from))?,
        notices: list(from, notice)?,
        clients: moments(0, from)?,
        response: from.histogram()?,
        service: from.histogram()?,
        lateness: from.histogram()?,
        health: Health { threads: from.u32()?, cpu: Nanos(from.u64()?), run_queue: Nanos(from.u64()?) },
        sut: sut(from)?,
        detail: None,
    })
}

fn list<T>(
    from: &mut ByteReader,
    mut item: impl FnMut(&mut ByteReader) -> Result<T, CodecError>,
) -> Result<Vec<T>, CodecError> {
    let count = from.count()?;
    (0..count).map(|_| item(from)).collect()
}

fn put_flow(flow: &Flow, into: &mut Vec<u8>) {
    for count in [
        flow.waiting_at_start,
        flow.due,
        flow.started,
        flow.skipped,
        flow.waiting_at_end,
        flow.in_flight_at_start,
        flow.ok,
        flow.failed,
        flow.timed_out,
        flow.abandoned,
        flow.in_flight_at_end,
        flow.left_open,
    ] {
        put(count, into);
    }
    put_moments(&flow.user_wait, 0, into);
    for integral in [flow.due_span_ns, flow.in_flight_ns, flow.thinking_ns, flow.in_flight_age_ns] {
        put(integral, into);
    }
}

fn flow(from: &mut ByteReader) -> Result<Flow, CodecError> {
    Ok(Flow {
        waiting_at_start: from.u64()?,
        due: from.u64()?,
        started: from.u64()?,
        skipped: from.u64()?,
        waiting_at_end: from.u64()?,
        in_flight_at_start: from.u64()?,
        ok: from.u64()?,
        failed: from.u64()?,
        timed_out: from.u64()?,
        abandoned: from.u64()?,
        in_flight_at_end: from.u64()?,
        left_open: from.u64()?,
        user_wait: moments(0, from)?,
        due_span_ns: from.u128()?,
        in_flight_ns: from.u128()?,
        thinking_ns: from.u128()?,
        in_flight_age_ns: from.u128()?,
    })
}

fn put_kind(kind: &KindTotals, into: &mut Vec<u8>) {
    put_moments(&kind.response, 0, into);
    put(kind.measures.len() as u64, into);
    let mut n_before = kind.response.n;
    for measure in &kind.measures {
        put_moments(measure, n_before, into);
        n_before = measure.n;
    }
    put(kind.failed.len() as u64, into);
    for (outcome, n) in &kind.failed {
        put(*outcome as u8, into);
        put(*n, into);
    }
    put(kind.codes.iter().len() as u64, into);
    for (outcome, code, n) in kind.codes.iter() {
        put(outcome as u8, into);
        put(code, into);
        put(n, into);
    }
    put(kind.codes.others, into);
    put(kind.in_flight_at_end, into);
}

fn kind(from: &mut ByteReader) -> Result<KindTotals, CodecError> {
    let response = moments(0, from)?;
    let mut n_before = response.n;
    let measures = list(from, |from| {
        let measure = moments(n_before, from)?;
        n_before = measure.n;
        Ok(measure)
    })?;
    let mut failed = BTreeMap::new();
    for _ in 0..from.count()? {
        let outcome = from.outcome()?;
        if failed.last_key_value().is_some_and(|(last, _)| outcome <= *last) {
            return Err(CodecError::Outcome(outcome as u64));
        }
        failed.insert(outcome, from.u64()?);
    }
    let codes = codes(from)?;
    Ok(KindTotals { response, measures, failed, codes, in_flight_at_end: from.u64()? })
}

/// Reads protocol codes: each occurs once, in order, and no more of them than are ever counted.
fn codes(from: &mut ByteReader) -> Result<FailureCodes, CodecError> {
    let mut codes = FailureCodes::default();
    let mut last = None;
    let count = from.count()?;
    for _ in 0..count {
        let outcome = from.outcome()?;
        let code = from.u32()?;
        if Some((outcome, code)) <= last || CODES_MAX < count {
            return Err(CodecError::Outcome(outcome as u64));
        }
        codes.add(outcome, code, from.u64()?);
        last = Some((outcome, code));
    }
    codes.others = from.u64()?;
    Ok(codes)
}

fn put_moments(moments: &Moments, n_before: u64, into: &mut Vec<u8>) {
    let n = u128::from(moments.n);
    let least = u128::from(moments.min);
    let range = moments.max.wrapping_sub(moments.min);
    let sum_above = moments.sum.wrapping_sub(n * least);
    // Σ(x − a)² = Σx² − a·(2·Σ(x − a) + n·a)
    let shift = least.wrapping_mul(sum_above.wrapping_mul(2).wrapping_add(n * least));
    let squares_above = moments.sum_squares.wrapping_sub(shift);
    let is_constant = (range, sum_above, squares_above) == (0, 0, 0);
    put(folded(moments.n, n_before) << 1 | u128::from(is_constant), into);
    if n == 0 {
        return;
    }
    put(moments.min, into);
    if !is_constant {
        put(range, into);
        put(sum_above, into);
        put(squares_above, into);
    }
}

fn moments(n_before: u64, from: &mut ByteReader) -> Result<Moments, CodecError> {
    let first = from.u128()?;
    let n = unfolded(first >> 1, n_before)?;
    let is_constant = first & 1 == 1;
    if n == 0 {
        return Ok(Moments::default());
    }
    let min = from.u64()?;
    let (range, sum_above, squares_above) =
        if is_constant { (0, 0, 0) } else { (from.u64()?, from.u128()?, from.u128()?) };
    let count = u128::from(n);
    let least = u128::from(min);
    let shift = least.wrapping_mul(sum_above.wrapping_mul(2).wrapping_add(count * least));
    Ok(Moments {
        n,
        sum: sum_above.wrapping_add(count * least),
        sum_squares: squares_above.wrapping_add(shift),
        min,
        max: min.wrapping_add(range),
    })
}

/// Returns the position of a number in the order origin, origin − 1, origin + 1, origin − 2, and so on.
fn folded(number: u64, origin: u64) -> u128 {
    let distance = u128::from(number.abs_diff(origin));
    if number < origin { 2 * distance - 1 } else { 2 * distance }
}

fn unfolded(position: u128, origin: u64) -> Result<u64, CodecError> {
    let distance = u64::try_from(position.div_ceil(2)).map_err(|_| CodecError::TooLarge)?;
    let number = if position % 2 == 1 { origin.checked_sub(distance) } else { origin.checked_add(distance) };
    number.ok_or(CodecError::TooLarge)
}

fn put_notice(notice: &NoticeTotals, into: &mut Vec<u8>) {
    put(notice.awaited_at_start, into);
    put(notice.begun, into);
    put(notice.begun_in_steady, into);
    put(notice.ended, into);
    put_moments(&notice.times, notice.ended, into);
    put(notice.lost, into);
    put(notice.awaited_at_end, into);
}

fn notice(from: &mut ByteReader) -> Result<NoticeTotals, CodecError> {
    let awaited_at_start = from.u64()?;
    let begun = from.u64()?;
    let begun_in_steady = from.u64()?;
    let ended = from.u64()?;
    Ok(NoticeTotals {
        awaited_at_start,
        begun,
        begun_in_steady,
        ended,
        times: moments(ended, from)?,
        lost: from.u64()?,
        awaited_at_end: from.u64()?,
    })
}

fn put_health(health: &Health, into: &mut Vec<u8>) {
    put(health.threads, into);
    put(health.cpu.0, into);
    put(health.run_queue.0, into);
}

fn put_sut(sut: Option<&SutUse>, into: &mut Vec<u8>) {
    put(u8::from(sut.is_some()), into);
    if let Some(sut) = sut {
        put(sut.cpu.0, into);
        put(sut.throttled.0, into);
    }
}

fn sut(from: &mut ByteReader) -> Result<Option<SutUse>, CodecError> {
    match from.u64()? {
        0 => Ok(None),
        1 => Ok(Some(SutUse { cpu: Nanos(from.u64()?), throttled: Nanos(from.u64()?) })),
        _ => Err(CodecError::TooLarge),
    }
}
