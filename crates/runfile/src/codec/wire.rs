//! The form in which records travel from load agents to the controller, and plans to load agents.
//!
//! Layout, all numbers of variable length: version; indexes of the load point, of the agent, and of its thread plus one (0:
//! all of its threads); index of the interval, number of the phase, start, and length; the record as in run files, with its
//! version; 0, or 1 and the detail as in run files, with its version.
//!
//! A record that was read is well-formed, no more: [`IntervalRecord::check_counts`] and [`IntervalRecord::merge`] find what
//! contradicts itself or others.

use model::{AgentFault, CatalogFault, IntervalRecord, PLAN_FORMAT, Phase, Plan, check_agents};
use thiserror::Error;
use units::Nanos;

use super::CodecError;
use super::detail::{put_detail, read_detail};
use super::interval::{put_interval, read_interval};
use super::number::{ByteReader, put};
use crate::rows::RecordKey;

/// The version; any change of the layout that is not one of the record or its detail raises it.
const VERSION: u64 = 1;

/// The greatest length of a record, in bytes: several times that of a thousand kinds of operations with a hundred
/// different response times each. Lists that are read take at most a hundred times their bytes.
pub const RECORD_BYTES_MAX: usize = 4 << 20;

/// The most memory that the histograms of a record take, in bytes: those of 500 with a value in every octave.
pub const HISTOGRAM_BYTES_MAX: usize = 128 << 20;

/// Writes a record with its detail; equal records give equal bytes.
pub fn encode(record: &IntervalRecord) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4096);
    let into = &mut bytes;
    put(VERSION, into);
    put(record.load_point, into);
    put(record.agent, into);
    put(record.thread.map_or(0, |thread| u64::from(thread) + 1), into);
    put(record.index, into);
    put(record.phase as u8, into);
    put(record.start.0, into);
    put(record.end.saturating_sub(record.start).0, into);
    put_interval(record, into);
    put(u8::from(record.detail.is_some()), into);
    if let Some(detail) = &record.detail {
        put_detail(detail, into);
    }
    bytes
}

/// Reads a record back. Any bytes are safe to pass: they cost no more time and memory than
/// [`RECORD_BYTES_MAX`] and [`HISTOGRAM_BYTES_MAX`] allow.
///
/// # Errors
/// The bytes are not a record of this version, or exceed one of the bounds.
pub fn decode(bytes: &[u8]) -> Result<IntervalRecord, CodecError> {
    if RECORD_BYTES_MAX < bytes.len() {
        return Err(CodecError::TooLarge);
    }
    let mut from = ByteReader::new(bytes, VERSION)?.with_memory(HISTOGRAM_BYTES_MAX);
    let load_point = from.u32()?;
    let agent = from.u32()?;
    let thread = thread(from.u64()?)?;
    let index = from.u32()?;
    let phase = phase(from.u64()?)?;
    let start = Nanos(from.u64()?);
    let end = Nanos(start.0.checked_add(from.u64()?).ok_or(CodecError::TooLarge)?);
    let key = RecordKey { load_point, agent, phase, start, end };
    let record = read_interval(&key, index, &mut from)?;
    let detail = match from.u64()? {
        0 => None,
        1 => Some(read_detail(&mut from)?),
        _ => return Err(CodecError::TooLarge),
    };
    from.finish()?;
    Ok(IntervalRecord { thread, detail, ..record })
}

/// Writes a plan, as run files have it.
pub fn encode_plan(plan: &Plan) -> Vec<u8> {
    serde_json::to_vec(plan).expect("a plan can be written")
}

/// Reads a plan back. Any bytes are safe to pass.
///
/// # Errors
/// The bytes are no plan of this format, or its catalog or its load agents cannot be.
pub fn decode_plan(bytes: &[u8]) -> Result<Plan, PlanError> {
    let plan: Plan = serde_json::from_slice(bytes)?;
    if plan.format != PLAN_FORMAT {
        return Err(PlanError::Format(plan.format));
    }
    check_plan(&plan)?;
    Ok(plan)
}

/// A reason why a plan cannot be read.
#[derive(Debug, Error)]
pub enum PlanError {
    /// It has another form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It has another format.
    #[error("the plan has format {0}, expected {PLAN_FORMAT}")]
    Format(u32),
    /// Its catalog cannot be.
    #[error(transparent)]
    Catalog(#[from] CatalogFault),
    /// Its load agents cannot be.
    #[error(transparent)]
    Agents(#[from] AgentFault),
}

/// Checks what a stored plan must have to be read by anybody.
///
/// # Errors
/// The first fault.
pub(crate) fn check_plan(plan: &Plan) -> Result<(), PlanError> {
    plan.catalog.check()?;
    Ok(check_agents(&plan.agents)?)
}

/// Returns the thread with this index plus one; `None` for 0.
fn thread(number: u64) -> Result<Option<u32>, CodecError> {
    let index = number.checked_sub(1).map(u32::try_from).transpose();
    index.map_err(|_| CodecError::TooLarge)
}

fn phase(number: u64) -> Result<Phase, CodecError> {
    let phase = u8::try_from(number).ok().and_then(Phase::from_number);
    phase.ok_or(CodecError::TooLarge)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{KindHistograms, Outcome};
    use stats::Histogram;

    use super::*;

    /// Makes the record of an interval in which nothing happened, from 2 s to 3 s.
    fn record(detail: Option<KindHistograms>) -> IntervalRecord {
        IntervalRecord {
            thread: Some(4),
            index: 2,
            phase: Phase::Steady,
            start: Nanos::from_secs(2),
            end: Nanos::from_secs(3),
            detail,
            ..IntervalRecord::empty(1, 3)
        }
    }

    /// By hand: version 1, load point 1, agent 3, thread 4 + 1, interval 2, phase 2. 2 · 10⁹ in groups of seven bits, lowest
    /// first, is 0, 0x28, 0x56, 0x39, 7, and 10⁹ is 0, 0x14, 0x6b, 0x5c, 3.
    #[test]
    fn the_key_of_a_record_by_hand() {
        let bytes = encode(&record(None));
        assert_eq!(bytes[..6], [1, 1, 3, 5, 2, 2]);
        assert_eq!(bytes[6..16], [0x80, 0xa8, 0xd6, 0xb9, 7, 0x80, 0x94, 0xeb, 0xdc, 3]);
        assert_eq!(bytes.last(), Some(&0), "no detail");
        assert_eq!(decode(&bytes), Ok(record(None)));
        let whole = IntervalRecord { thread: None, ..record(Some(KindHistograms::default())) };
        assert_eq!(decode(&encode(&whole)), Ok(whole));
    }

    /// Each number of the key has its range, and each part its version.
    #[test]
    fn keys_that_cannot_be_are_refused() {
        let with = |place: usize, number: &[u8]| {
            let mut bytes = encode(&record(None));
            bytes.splice(place..=place, number.iter().copied());
            decode(&bytes)
        };
        let large = [0xff, 0xff, 0xff, 0xff, 0x7f];
        for place in 1..5 {
            assert_eq!(with(place, &large), Err(CodecError::TooLarge), "number {place}");
        }
        assert_eq!(with(5, &[5]), Err(CodecError::TooLarge), "there are five phases");
        let last_moment = [&[0xff; 9][..], &[1, 0x80]].concat();
        assert_eq!(with(6, &last_moment), Err(CodecError::TooLarge), "its end has no number");
        assert_eq!(with(0, &[2]), Err(CodecError::Version { found: 2, expected: 1 }));
        assert!(matches!(with(16, &[99]), Err(CodecError::Version { found: 99, .. })));
        let mut bytes = encode(&record(None));
        bytes.pop();
        assert_eq!(decode(&bytes), Err(CodecError::Truncated));
        assert_eq!(
            decode(&[&*bytes, &[2]].concat()),
            Err(CodecError::TooLarge),
            "neither with nor without detail"
        );
    }

    /// Goal: bytes that claim much cost little. One value in every octave is some hundred bytes, and takes 8 KB each.
    #[test]
    fn records_that_would_take_too_much_memory_are_refused() {
        assert_eq!(decode(&vec![1; RECORD_BYTES_MAX + 1]), Err(CodecError::TooLarge));
        let mut wide = Histogram::new();
        (0..42).for_each(|power| wide.record(Nanos(1 << power)));
        let n_allowed = HISTOGRAM_BYTES_MAX / wide.memory();
        let with = |n: usize| {
            let failed: BTreeMap<_, _> =
                (0..n as u16).map(|kind| ((kind, Outcome::Reset), wide.clone())).collect();
            encode(&record(Some(KindHistograms { failed, ..KindHistograms::default() })))
        };
        let bytes = with(n_allowed + 1);
        assert!(bytes.len() < RECORD_BYTES_MAX / 4, "{} bytes", bytes.len());
        assert_eq!(decode(&bytes), Err(CodecError::TooLarge));
        assert!(decode(&with(n_allowed - 2)).is_ok());
    }
}
