//! Merging records of the same interval from several load threads or agents: exact, whatever the order.
//!
//! A record may come from elsewhere. It is checked before anything is added: what contradicts itself or the records that it
//! is merged with is refused, with the name of the thread or agent that sent it.

use stats::{Histogram, HistogramOverflow};
use thiserror::Error;
use units::Nanos;

use crate::{
    Flow, Health, IntervalRecord, KindHistograms, KindTotals, NoticeTotals, Outcome, RecordSource, SutUse,
    UnitTotals,
};

/// A record that cannot be merged with those of other threads and agents.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{of}: the record of interval {index} of load point {load_point} {fault}")]
pub struct MergeError {
    /// The sender of the record.
    pub of: RecordSource,
    /// Index of the load point.
    pub load_point: u32,
    /// Index of the interval.
    pub index: u32,
    /// The fault.
    pub fault: MergeFault,
}

/// A fault of a record that is to be merged with others.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MergeFault {
    /// It is of another interval.
    #[error("has another phase or another time than those of others")]
    OtherInterval,
    /// It has another number of parts.
    #[error("has {found} {parts}, and those of others have {expected}")]
    OtherParts {
        /// The parts: `kinds of operations`.
        parts: &'static str,
        /// Their number in this record.
        found: usize,
        /// Their number in the records of others.
        expected: usize,
    },
    /// Two of its counts must be equal and are not.
    #[error("contradicts itself: it has {left} {what}, and {right} in another count of them")]
    Contradiction {
        /// The operations that are counted twice: `successes`.
        what: &'static str,
        /// Their first count.
        left: u128,
        /// Their second count.
        right: u128,
    },
    /// The sums with those of others do not fit.
    #[error("holds counts that are too large to be added to those of others")]
    TooLarge,
}

impl From<HistogramOverflow> for MergeFault {
    fn from(_: HistogramOverflow) -> MergeFault {
        MergeFault::TooLarge
    }
}

impl IntervalRecord {
    /// Adds the record of another thread or agent for the same interval of the same load point. Any record is safe to pass.
    ///
    /// The interval ends where the longer of the two ends: threads leave a drain at different times.
    ///
    /// # Errors
    /// The other record is of another interval, has other kinds or measures, contradicts itself, or has counts whose sums
    /// do not fit. The record stays as it was.
    pub fn merge(&mut self, other: &IntervalRecord) -> Result<(), MergeError> {
        self.try_merge(other).map_err(|fault| other.refused(fault))
    }

    /// Checks that counts of the record that must be equal are.
    ///
    /// # Errors
    /// The first two that are not.
    pub fn check_counts(&self) -> Result<(), MergeError> {
        contradiction(self).map_or(Ok(()), |fault| Err(self.refused(fault)))
    }

    fn refused(&self, fault: MergeFault) -> MergeError {
        MergeError { of: self.source(), load_point: self.load_point, index: self.index, fault }
    }

    fn try_merge(&mut self, other: &IntervalRecord) -> Result<(), MergeFault> {
        self.check_alike(other)?;
        contradiction(other).map_or(Ok(()), Err)?;
        if !self.has_room_for(other) {
            return Err(MergeFault::TooLarge);
        }
        let sums = SmallSums::of(self, other)?;
        // Everything was checked: nothing fails from here on.
        self.kinds.iter_mut().zip(&other.kinds).try_for_each(|(kind, other)| kind.merge(other))?;
        self.pauses.iter_mut().zip(&other.pauses).for_each(|(pause, other)| pause.merge(other));
        self.clients.merge(&other.clients);
        self.merge_service(other)?;
        self.response.merge(&other.response)?;
        self.lateness.merge(&other.lateness)?;
        if let Some(other) = &other.detail {
            self.detail.get_or_insert_default().merge(other)?;
        }
        self.flow = sums.flow;
        self.units = sums.units;
        self.notices = sums.notices;
        self.health = sums.health;
        self.sut = sums.sut;
        self.end = self.end.max(other.end);
        self.thread = None;
        Ok(())
    }

    /// Checks that the other record is of the same interval and has the same parts.
    fn check_alike(&self, other: &IntervalRecord) -> Result<(), MergeFault> {
        let interval =
            |record: &IntervalRecord| (record.load_point, record.index, record.phase, record.start);
        if interval(self) != interval(other) || other.end < other.start {
            return Err(MergeFault::OtherInterval);
        }
        let measures = self.kinds.iter().zip(&other.kinds).map(|(kind, other)| {
            ("measures of a kind of operations", kind.measures.len(), other.measures.len())
        });
        let parts = [
            ("kinds of operations", self.kinds.len(), other.kinds.len()),
            ("kinds of units", self.units.len(), other.units.len()),
            ("kinds of pauses", self.pauses.len(), other.pauses.len()),
            ("kinds of notices", self.notices.len(), other.notices.len()),
        ];
        match parts.into_iter().chain(measures).find(|(_, expected, found)| expected != found) {
            Some((parts, expected, found)) => Err(MergeFault::OtherParts { parts, found, expected }),
            None => Ok(()),
        }
    }

    /// Returns whether all sums fit, but for those of [`SmallSums`].
    fn has_room_for(&self, other: &IntervalRecord) -> bool {
        let mut kinds = self.kinds.iter().zip(&other.kinds);
        let histograms = [
            (&self.response, &other.response),
            (service_or_response(self), service_or_response(other)),
            (&self.lateness, &other.lateness),
        ];
        kinds.all(|(kind, other)| kind.has_room_for(other))
            && histograms.into_iter().all(|(one, other)| have_room(one, other))
            && self
                .detail
                .as_ref()
                .zip(other.detail.as_ref())
                .is_none_or(|(one, other)| one.has_room_for(other))
    }

    /// Adds the service times of another part; a part without any uses its response times.
    fn merge_service(&mut self, other: &IntervalRecord) -> Result<(), HistogramOverflow> {
        if self.service.n() == 0 && other.service.n() == 0 {
            return Ok(());
        }
        if self.service.n() == 0 {
            self.service = self.response.clone();
        }
        self.service.merge(service_or_response(other))
    }
}

/// Returns the service times of a record; those without any equal its response times.
fn service_or_response(record: &IntervalRecord) -> &Histogram {
    if record.service.n() == 0 { &record.response } else { &record.service }
}

/// Returns the first two counts of a record that must be equal and are not.
fn contradiction(record: &IntervalRecord) -> Option<MergeFault> {
    let flow = &record.flow;
    let kinds = |n: fn(&KindTotals) -> u128| record.kinds.iter().map(n).sum::<u128>();
    let ok = u128::from(flow.ok);
    let codes = kinds(|kind| kind.codes.n().into());
    let failures = u128::from(flow.failed) + u128::from(flow.timed_out);
    let counts = [
        ("operations that were due", flow.due_sides()),
        ("operations in flight", flow.started_sides()),
        ("successes", [ok, kinds(|kind| kind.response.n.into())]),
        ("response times", [ok, record.response.n().into()]),
        ("service times", [ok, service_or_response(record).n().into()]),
        (
            "failures",
            [flow.failed.into(), kinds(|kind| kind.n_failed(|outcome| outcome != Outcome::TimedOut))],
        ),
        (
            "time-outs",
            [flow.timed_out.into(), kinds(|kind| kind.n_failed(|outcome| outcome == Outcome::TimedOut))],
        ),
        // Not every failure has a code, but nothing else has one.
        ("failures with a code", [codes.min(failures), codes]),
        (
            "operations in flight at its end",
            [flow.in_flight_at_end.into(), kinds(|kind| kind.in_flight_at_end.into())],
        ),
    ];
    let notices = record.notices.iter().map(|notice| ("notices that were awaited", notice.sides()));
    let unequal = counts.into_iter().chain(notices).find(|(_, [left, right])| left != right);
    unequal.map(|(what, [left, right])| MergeFault::Contradiction { what, left, right })
}

/// The sums of the parts of two records that are small enough to be computed before anything is added.
struct SmallSums {
    flow: Flow,
    units: Vec<UnitTotals>,
    notices: Vec<NoticeTotals>,
    health: Health,
    sut: Option<SutUse>,
}

impl SmallSums {
    fn of(one: &IntervalRecord, other: &IntervalRecord) -> Result<SmallSums, MergeFault> {
        let IntervalRecord { mut flow, mut health, mut sut, .. } = *one;
        let mut units = one.units.clone();
        let mut notices = one.notices.clone();
        flow.merge(&other.flow)?;
        health.merge(other.health)?;
        if let Some(used) = other.sut {
            sut.get_or_insert_default().merge(used)?;
        }
        units.iter_mut().zip(&other.units).try_for_each(|(unit, other)| unit.merge(*other))?;
        notices.iter_mut().zip(&other.notices).try_for_each(|(notice, other)| notice.merge(other))?;
        Ok(SmallSums { flow, units, notices, health, sut })
    }
}

/// Returns whether the values of both histograms can be counted in one.
fn have_room(one: &Histogram, other: &Histogram) -> bool {
    one.n().checked_add(other.n()).is_some()
}

fn added(one: u64, other: u64) -> Result<u64, MergeFault> {
    one.checked_add(other).ok_or(MergeFault::TooLarge)
}

impl Flow {
    /// Adds the flow of another part of the same interval.
    ///
    /// # Errors
    /// A sum does not fit; the flow stays as it was.
    pub fn merge(&mut self, other: &Flow) -> Result<(), MergeFault> {
        let mut sum = *self;
        let mut more = *other;
        for (count, more) in sum.counts().into_iter().zip(more.counts()) {
            *count = added(*count, *more)?;
        }
        for (integral, more) in sum.integrals().into_iter().zip(more.integrals()) {
            *integral = integral.checked_add(*more).ok_or(MergeFault::TooLarge)?;
        }
        sum.user_wait.merge(&other.user_wait);
        *self = sum;
        Ok(())
    }

    fn counts(&mut self) -> [&mut u64; 12] {
        [
            &mut self.waiting_at_start,
            &mut self.due,
            &mut self.started,
            &mut self.skipped,
            &mut self.waiting_at_end,
            &mut self.in_flight_at_start,
            &mut self.ok,
            &mut self.failed,
            &mut self.timed_out,
            &mut self.abandoned,
            &mut self.in_flight_at_end,
            &mut self.left_open,
        ]
    }

    fn integrals(&mut self) -> [&mut u128; 4] {
        [&mut self.due_span_ns, &mut self.in_flight_ns, &mut self.thinking_ns, &mut self.in_flight_age_ns]
    }
}

impl KindTotals {
    /// Returns the number of its failures with the outcomes that are chosen.
    fn n_failed(&self, is_chosen: fn(Outcome) -> bool) -> u128 {
        let chosen = self.failed.iter().filter(|(outcome, _)| is_chosen(**outcome));
        chosen.map(|(_, n)| u128::from(*n)).sum()
    }

    fn has_room_for(&self, other: &KindTotals) -> bool {
        let own = |outcome| self.failed.get(outcome).copied().unwrap_or_default();
        let mut failed = other.failed.iter().map(|(outcome, n)| (own(outcome), *n));
        failed.all(|(own, n)| own.checked_add(n).is_some())
            && self.in_flight_at_end.checked_add(other.in_flight_at_end).is_some()
    }

    /// Adds the totals of another part.
    fn merge(&mut self, other: &KindTotals) -> Result<(), MergeFault> {
        self.response.merge(&other.response);
        self.measures.iter_mut().zip(&other.measures).for_each(|(measure, other)| measure.merge(other));
        for (outcome, n) in &other.failed {
            let count = self.failed.entry(*outcome).or_default();
            *count = added(*count, *n)?;
        }
        self.codes.merge(&other.codes);
        self.in_flight_at_end = added(self.in_flight_at_end, other.in_flight_at_end)?;
        Ok(())
    }
}

impl KindHistograms {
    /// Adds the detail of another part, or of the next interval; kinds, spreads and pauses that only it has are new.
    ///
    /// # Errors
    /// Two histograms hold too many values to be merged; the detail stays as it was.
    pub fn merge(&mut self, other: &KindHistograms) -> Result<(), HistogramOverflow> {
        if !self.has_room_for(other) {
            return Err(HistogramOverflow);
        }
        merge_all(&mut self.response, &other.response)?;
        merge_all(&mut self.spreads, &other.spreads)?;
        merge_all(&mut self.pauses, &other.pauses)?;
        merge_all(&mut self.notices, &other.notices)?;
        for (key, histogram) in &other.failed {
            self.failed.entry(*key).or_default().merge(histogram)?;
        }
        Ok(())
    }

    fn has_room_for(&self, other: &KindHistograms) -> bool {
        let lists = [
            (&self.response, &other.response),
            (&self.spreads, &other.spreads),
            (&self.pauses, &other.pauses),
            (&self.notices, &other.notices),
        ];
        let mut pairs = lists.into_iter().flat_map(|(own, others)| own.iter().zip(others));
        let own = |key| self.failed.get(key);
        pairs.all(|(own, other)| have_room(own, other))
            && other.failed.iter().all(|(key, other)| own(key).is_none_or(|own| have_room(own, other)))
    }
}

/// Adds histograms one by one.
fn merge_all(histograms: &mut Vec<Histogram>, others: &[Histogram]) -> Result<(), HistogramOverflow> {
    if histograms.len() < others.len() {
        histograms.resize(others.len(), Histogram::new());
    }
    histograms.iter_mut().zip(others).try_for_each(|(histogram, other)| histogram.merge(other))
}

impl UnitTotals {
    /// Adds the totals of another part.
    fn merge(&mut self, other: UnitTotals) -> Result<(), MergeFault> {
        *self = UnitTotals { ok: added(self.ok, other.ok)?, failed: added(self.failed, other.failed)? };
        Ok(())
    }
}

impl NoticeTotals {
    /// Adds the notices of another part.
    fn merge(&mut self, other: &NoticeTotals) -> Result<(), MergeFault> {
        let mut times = self.times;
        times.merge(&other.times);
        *self = NoticeTotals {
            awaited_at_start: added(self.awaited_at_start, other.awaited_at_start)?,
            begun: added(self.begun, other.begun)?,
            begun_in_steady: added(self.begun_in_steady, other.begun_in_steady)?,
            ended: added(self.ended, other.ended)?,
            times,
            lost: added(self.lost, other.lost)?,
            awaited_at_end: added(self.awaited_at_end, other.awaited_at_end)?,
        };
        Ok(())
    }
}

impl SutUse {
    /// Adds what another part of the load used, where the system under test is part of the load generator's process.
    fn merge(&mut self, other: SutUse) -> Result<(), MergeFault> {
        *self = SutUse {
            cpu: Nanos(added(self.cpu.0, other.cpu.0)?),
            throttled: Nanos(added(self.throttled.0, other.throttled.0)?),
        };
        Ok(())
    }
}

impl Health {
    /// Adds the threads of another part.
    fn merge(&mut self, other: Health) -> Result<(), MergeFault> {
        *self = Health {
            threads: self.threads.checked_add(other.threads).ok_or(MergeFault::TooLarge)?,
            cpu: Nanos(added(self.cpu.0, other.cpu.0)?),
            run_queue: Nanos(added(self.run_queue.0, other.run_queue.0)?),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{FailureCodes, Phase};

    fn histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(Nanos(*value)));
        histogram
    }

    /// Makes the record of one kind of operations in second 0, of those that succeeded with these times.
    fn record(response: &[u64], service: &[u64]) -> IntervalRecord {
        let n = response.len() as u64;
        let mut kind = KindTotals::new(1);
        response.iter().for_each(|time| kind.response.record(*time));
        IntervalRecord {
            end: Nanos::from_secs(1),
            thread: Some(0),
            flow: Flow { due: n, started: n, ok: n, ..Flow::default() },
            kinds: vec![kind],
            units: vec![UnitTotals { ok: n, failed: 0 }],
            response: histogram(response),
            service: histogram(service),
            ..IntervalRecord::empty(0, 0)
        }
    }

    /// Merges a record that is changed with one that is right, and returns the fault; the right one stays as it was.
    #[track_caller]
    fn fault(change: impl FnOnce(&mut IntervalRecord)) -> MergeFault {
        let mut right = record(&[5, 6], &[]);
        let mut other = IntervalRecord { agent: 1, thread: Some(2), ..record(&[9], &[7]) };
        change(&mut other);
        let before = right.clone();
        let error = right.merge(&other).unwrap_err();
        assert_eq!(right, before, "checked before anything is added");
        assert_eq!((error.of, error.index), (other.source(), other.index));
        error.fault
    }

    #[test]
    fn records_of_other_intervals_are_refused() {
        let changes: [fn(&mut IntervalRecord); 5] = [
            |record| record.load_point = 1,
            |record| record.index = 1,
            |record| record.phase = Phase::Drain,
            |record| record.start = Nanos(1),
            |record| (record.start, record.end) = (Nanos(0), Nanos(0)),
        ];
        let [changes @ .., shorten] = changes;
        changes.into_iter().for_each(|change| assert_eq!(fault(change), MergeFault::OtherInterval));
        let mut short = record(&[5], &[]);
        shorten(&mut short);
        assert_eq!(short.merge(&record(&[5], &[])), Ok(()), "threads leave a drain at different times");
        assert_eq!((short.end, short.thread), (Nanos::from_secs(1), None));
    }

    #[test]
    fn records_with_other_parts_are_refused() {
        let other = |parts, found, expected| MergeFault::OtherParts { parts, found, expected };
        let kinds = fault(|record| record.kinds.push(KindTotals::new(1)));
        assert_eq!(kinds, other("kinds of operations", 2, 1));
        let measures = fault(|record| record.kinds[0].measures.clear());
        assert_eq!(measures, other("measures of a kind of operations", 0, 1));
        assert_eq!(fault(|record| record.units.clear()), other("kinds of units", 0, 1));
        let pauses = fault(|record| record.pauses = vec![stats::Moments::default()]);
        assert_eq!(pauses, other("kinds of pauses", 1, 0));
    }

    /// By hand: the other record has one operation, which was due, was started and succeeded.
    #[test]
    fn records_that_contradict_themselves_are_refused() {
        let against = |what, left, right| MergeFault::Contradiction { what, left, right };
        assert_eq!(fault(|record| record.flow.due = 3), against("operations that were due", 3, 1));
        assert_eq!(fault(|record| record.flow.abandoned = 1), against("operations in flight", 1, 2));
        let successes = fault(|record| record.kinds[0].response.n = 4);
        assert_eq!(successes, against("successes", 1, 4));
        assert_eq!(fault(|record| record.response = histogram(&[])), against("response times", 1, 0));
        assert_eq!(fault(|record| record.service = histogram(&[7, 7])), against("service times", 1, 2));
        let failures = fault(|record| record.kinds[0].failed = [(Outcome::Reset, 1)].into());
        assert_eq!(failures, against("failures", 0, 1));
        let time_outs = fault(|record| record.kinds[0].failed = [(Outcome::TimedOut, u64::MAX)].into());
        assert_eq!(time_outs, against("time-outs", 0, u64::MAX.into()));
        let awaited = NoticeTotals { begun: 2, lost: 1, ..NoticeTotals::default() };
        let mut noticed = IntervalRecord { notices: vec![awaited], ..record(&[], &[]) };
        let error = noticed.check_counts().unwrap_err();
        assert_eq!(error.fault, against("notices that were awaited", 2, 1));
        noticed.notices[0].awaited_at_end = 1;
        assert_eq!(noticed.check_counts(), Ok(()));
        let codes = fault(|record| record.kinds[0].codes.add(Outcome::WrongStatus, 503, 2));
        assert_eq!(codes, against("failures with a code", 0, 2));
        let in_flight = fault(|record| record.kinds[0].in_flight_at_end = 1);
        assert_eq!(in_flight, against("operations in flight at its end", 0, 1));
    }

    /// By hand: two operations were due on one side; one less than the greatest number were skipped on the other one.
    #[test]
    fn counts_that_do_not_fit_are_refused() {
        assert_eq!(fault(|record| record.units[0].ok = u64::MAX), MergeFault::TooLarge);
        let many =
            |record: &mut IntervalRecord| (record.flow.due, record.flow.skipped) = (u64::MAX, u64::MAX - 1);
        assert_eq!(fault(many), MergeFault::TooLarge);
    }

    #[test]
    fn two_agents_with_contradictory_counts_end_in_an_error_that_names_one() {
        let mut merged = record(&[5], &[]);
        let mut other = IntervalRecord { agent: 3, thread: None, ..record(&[6], &[]) };
        other.flow = Flow { due: 2, started: 2, ok: 2, ..Flow::default() };
        let error = merged.merge(&other).unwrap_err();
        assert_eq!(
            error.to_string(),
            "load agent 3: the record of interval 0 of load point 0 contradicts itself: it has 2 successes, and 1 in \
             another count of them"
        );
        let mut own = record(&[6], &[]);
        own.flow.due = 0;
        assert_eq!(
            own.check_counts().unwrap_err().to_string(),
            "load agent 0, load thread 0: the record of interval 0 of load point 0 contradicts itself: it has 0 \
             operations that were due, and 1 in another count of them"
        );
        assert_eq!(merged.check_counts(), Ok(()));
    }

    proptest! {
        /// Goal: counts of any size are added exactly or refused; nothing wraps around, and nothing panics.
        #[test]
        fn counts_of_any_size_are_added_exactly_or_refused(
            failed: [u64; 2],
            units: [u64; 2],
            threads: [u32; 2],
            spans: [u128; 2],
        ) {
            let [mut merged, other] = [0, 1].map(|part| {
                let mut record = record(&[], &[]);
                let n = failed[part];
                record.flow = Flow { due: n, started: n, failed: n, due_span_ns: spans[part], ..Flow::default() };
                record.kinds[0].failed = [(Outcome::Reset, n)].into();
                record.units[0].ok = units[part];
                record.health.threads = threads[part];
                record
            });
            let before = merged.clone();
            let sums = (
                failed[0].checked_add(failed[1]),
                units[0].checked_add(units[1]),
                threads[0].checked_add(threads[1]),
                spans[0].checked_add(spans[1]),
            );
            match (merged.merge(&other), sums) {
                (Ok(()), (Some(failed), Some(units), Some(threads), Some(span))) => {
                    prop_assert_eq!(merged.kinds[0].failed[&Outcome::Reset], failed);
                    let flow = Flow { due: failed, started: failed, failed, due_span_ns: span, ..Flow::default() };
                    prop_assert_eq!((merged.flow, merged.units[0].ok, merged.health.threads), (flow, units, threads));
                }
                (Err(error), (_, _, _, _)) => {
                    prop_assert_eq!(error.fault, MergeFault::TooLarge);
                    prop_assert!(matches!(sums, (None, ..) | (_, None, ..) | (_, _, None, _) | (.., None)));
                    prop_assert_eq!(merged, before);
                }
                (Ok(()), _) => prop_assert!(false, "a sum does not fit: {:?}", sums),
            }
        }
    }

    /// Goal: a detail that cannot be added leaves the other whole. By hand: 2⁶³ values twice are one more than fit.
    #[test]
    fn details_with_too_many_values_are_refused_as_a_whole() {
        let mut half = histogram(&[1]);
        (0..63).for_each(|_| half.merge(&half.clone()).unwrap());
        let full = KindHistograms { response: vec![half.clone()], ..KindHistograms::default() };
        let mut detail = full.clone();
        assert_eq!((detail.merge(&full), &detail), (Err(HistogramOverflow), &full));
        let failed =
            KindHistograms { failed: [((0, Outcome::Reset), half)].into(), ..KindHistograms::default() };
        assert_eq!(detail.merge(&failed), Ok(()));
        assert_eq!(detail.clone().merge(&failed), Err(HistogramOverflow));
    }

    /// Goal: a server that makes codes up cannot fill the memory, and no failure is lost in a sum.
    #[test]
    fn codes_are_counted_as_long_as_there_is_room() {
        let mut codes = FailureCodes::default();
        (0..300).for_each(|code| codes.add(Outcome::WrongStatus, code, 2));
        codes.add(Outcome::WrongStatus, 255, 1);
        codes.add(Outcome::Reset, 1, 1);
        assert_eq!((codes.iter().len(), codes.others, codes.n()), (256, 2 * 44 + 1, 602));
        assert_eq!(codes.iter().last(), Some((Outcome::WrongStatus, 255, 3)));
        let mut other = FailureCodes::default();
        other.add(Outcome::WrongStatus, 0, 5);
        other.add(Outcome::TimedOut, 9, 7);
        codes.merge(&other);
        assert_eq!((codes.iter().next(), codes.others), (Some((Outcome::WrongStatus, 0, 7)), 96));
    }

    /// Goal: a thread without think times yet records no service times of its own; the merged record has all of them.
    #[test]
    fn service_times_equal_to_response_times_are_kept() {
        for (one, other) in [((&[5, 6], &[]), (&[9], &[7])), ((&[9], &[7]), (&[5, 6], &[]))]
            as [((&[u64], &[u64]), (&[u64], &[u64])); 2]
        {
            let mut merged = record(one.0, one.1);
            merged.merge(&record(other.0, other.1)).unwrap();
            assert_eq!((merged.response, merged.service), (histogram(&[5, 6, 9]), histogram(&[5, 6, 7])));
        }
        let mut merged = record(&[5], &[]);
        merged.merge(&record(&[6], &[])).unwrap();
        assert_eq!(merged.service.n(), 0, "still the response times");
    }
}
