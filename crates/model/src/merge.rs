//! Merging records of the same interval from several load threads or agents: exact, whatever the order.

use stats::Histogram;

use crate::{Detail, Flow, Health, IntervalRecord, KindTotals, SutUse, UnitTotals};

impl IntervalRecord {
    /// Adds the record of another thread or agent for the same interval of the same load point.
    ///
    /// Only for records of operations that were performed: a stored record may claim more than can be counted.
    ///
    /// The interval ends where the longer of the two ends: threads leave a drain at different times.
    pub fn merge(&mut self, other: &IntervalRecord) {
        assert_eq!(
            (self.load_point, self.index, self.phase, self.start),
            (other.load_point, other.index, other.phase, other.start),
            "only records of the same interval are merged"
        );
        self.end = self.end.max(other.end);
        self.thread = None;
        self.flow.merge(&other.flow);
        self.kinds.iter_mut().zip(&other.kinds).for_each(|(kind, other)| kind.merge(other));
        self.units.iter_mut().zip(&other.units).for_each(|(unit, other)| unit.merge(*other));
        self.pauses.iter_mut().zip(&other.pauses).for_each(|(pause, other)| pause.merge(other));
        self.merge_service(other);
        merge(&mut self.response, &other.response);
        merge(&mut self.lateness, &other.lateness);
        self.health.merge(other.health);
        if let Some(used) = other.sut {
            self.sut.get_or_insert_default().merge(used);
        }
        if let Some(other) = &other.detail {
            self.detail.get_or_insert_default().merge(other);
        }
    }

    /// Adds the service times of another part; a part without any uses its response times.
    fn merge_service(&mut self, other: &IntervalRecord) {
        match (self.service.n(), other.service.n()) {
            (0, 0) => {}
            (0, _) => {
                self.service = self.response.clone();
                merge(&mut self.service, &other.service);
            }
            (_, 0) => merge(&mut self.service, &other.response),
            (_, _) => merge(&mut self.service, &other.service),
        }
    }
}

/// Adds the histogram of another part of the same interval.
fn merge(histogram: &mut Histogram, other: &Histogram) {
    histogram.merge(other).expect("the operations that load threads perform in an interval can be counted");
}

impl Flow {
    /// Adds the flow of another part of the same interval.
    pub fn merge(&mut self, other: &Flow) {
        self.waiting_at_start += other.waiting_at_start;
        self.due += other.due;
        self.started += other.started;
        self.skipped += other.skipped;
        self.waiting_at_end += other.waiting_at_end;
        self.in_flight_at_start += other.in_flight_at_start;
        self.ok += other.ok;
        self.failed += other.failed;
        self.timed_out += other.timed_out;
        self.abandoned += other.abandoned;
        self.in_flight_at_end += other.in_flight_at_end;
        self.left_open += other.left_open;
        self.user_wait.merge(&other.user_wait);
        self.due_span_ns += other.due_span_ns;
        self.in_flight_ns += other.in_flight_ns;
        self.thinking_ns += other.thinking_ns;
        self.in_flight_age_ns += other.in_flight_age_ns;
    }
}

impl KindTotals {
    /// Adds the totals of another part.
    pub fn merge(&mut self, other: &KindTotals) {
        self.response.merge(&other.response);
        self.measures.iter_mut().zip(&other.measures).for_each(|(measure, other)| measure.merge(other));
        for (outcome, n) in &other.failed {
            *self.failed.entry(*outcome).or_default() += n;
        }
        self.codes.merge(&other.codes);
        self.in_flight_at_end += other.in_flight_at_end;
    }
}

impl Detail {
    /// Adds the detail of another part, or of the next interval; kinds, spreads and pauses that only it has are new.
    pub fn merge(&mut self, other: &Detail) {
        merge_all(&mut self.response, &other.response);
        merge_all(&mut self.spreads, &other.spreads);
        merge_all(&mut self.pauses, &other.pauses);
        for (key, histogram) in &other.failed {
            merge(self.failed.entry(*key).or_default(), histogram);
        }
    }
}

/// Adds histograms one by one.
fn merge_all(histograms: &mut Vec<Histogram>, others: &[Histogram]) {
    if histograms.len() < others.len() {
        histograms.resize(others.len(), Histogram::new());
    }
    histograms.iter_mut().zip(others).for_each(|(histogram, other)| merge(histogram, other));
}

impl UnitTotals {
    /// Adds the totals of another part.
    pub fn merge(&mut self, other: UnitTotals) {
        self.ok += other.ok;
        self.failed += other.failed;
    }
}

impl SutUse {
    /// Adds what another part of the load used, where the system under test is part of the load generator's process.
    pub fn merge(&mut self, other: SutUse) {
        self.cpu += other.cpu;
        self.throttled += other.throttled;
    }
}

impl Health {
    /// Adds the threads of another part.
    pub fn merge(&mut self, other: Health) {
        self.threads += other.threads;
        self.cpu += other.cpu;
        self.run_queue += other.run_queue;
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;
    use crate::{FailureCodes, Outcome};

    fn histogram(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(Nanos(*value)));
        histogram
    }

    fn record(response: &[u64], service: &[u64]) -> IntervalRecord {
        let (response, service) = (histogram(response), histogram(service));
        IntervalRecord { end: Nanos::from_secs(1), response, service, ..IntervalRecord::empty(0, 0) }
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
            merged.merge(&record(other.0, other.1));
            assert_eq!((merged.response, merged.service), (histogram(&[5, 6, 9]), histogram(&[5, 6, 7])));
        }
        let mut merged = record(&[5], &[]);
        merged.merge(&record(&[6], &[]));
        assert_eq!(merged.service.n(), 0, "still the response times");
    }
}
