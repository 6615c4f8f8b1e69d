//! Totals of a load point so far: sums over its steady phase, the input of the indicators.

use model::{Flow, IntervalRecord, Load, Outcome, Phase};
use stats::Histogram;
use units::{Nanos, Ratio};

use super::history::SECONDS_MAX;
use super::quantile;

/// Fraction of an open loop's in-flight limit from which it counts as reached: lateness is then not the generator's
/// fault. As in the rules of `analysis`.
const NEARLY_FULL: f64 = 0.9;

/// Sums over the steady phase of a load point.
#[derive(Debug, Default)]
pub struct Totals {
    /// Recorded length of the phase.
    pub length: Nanos,
    /// Successful operations.
    pub ok: u64,
    /// Operations that fell due.
    pub due: u64,
    /// Failed operations, including timeouts.
    pub errors: u64,
    /// Operations that failed because of the generator's machine.
    pub own_faults: u64,
    /// Integral of operations in flight, in ns.
    pub in_flight_ns: u128,
    /// Integral of thinking users, in ns.
    pub thinking_ns: u128,
    /// Response time of failed operations, in ns.
    pub failed_ns: u128,
    /// CPU time of the load threads, in ns.
    pub cpu_ns: u64,
    /// Time of the load threads in the run queue, in ns.
    pub run_queue_ns: u64,
    /// Elapsed time × number of load threads, in ns.
    pub thread_ns: u64,
    /// CPU time of the server, and the time over which it was read.
    pub sut: Option<(Nanos, Nanos)>,
    /// Response times of successful operations.
    pub response: Histogram,
    /// Lateness of started operations.
    pub lateness: Histogram,
    /// Lateness in seconds in which the in-flight limit was not reached.
    pub lateness_own: Histogram,
    /// Successful operations per second, for each of the last [`SECONDS_MAX`] seconds.
    pub rates: Vec<f64>,
    /// Sum of the ages of the operations in flight at the start of the phase and now, in ns.
    pub ages_ns: (u128, u128),
    /// Median response time; `None` if there are too few operations.
    pub p50: Option<Nanos>,
    /// 90th percentile of the response time, likewise.
    pub p90: Option<Nanos>,
    /// 99th percentile of the response time, likewise.
    pub p99: Option<Nanos>,
}

impl Totals {
    /// Adds a record of the steady phase; others are ignored. `last` is the flow of the previous record.
    pub fn add(&mut self, load: Load, record: &IntervalRecord, last: Option<&Flow>) {
        if record.phase != Phase::Steady {
            return;
        }
        if self.length == Nanos::ZERO {
            self.ages_ns.0 = last.map_or(0, |flow| flow.in_flight_age_ns);
        }
        let length = record.end.saturating_sub(record.start);
        self.length = self.length.saturating_add(length);
        self.count(record);
        self.health(length, record);
        self.response.merge(&record.response);
        self.lateness.merge(&record.lateness);
        if !in_flight_limit_reached(load, &record.flow) {
            self.lateness_own.merge(&record.lateness);
        }
        if self.rates.len() == SECONDS_MAX {
            self.rates.remove(0);
        }
        self.rates.push(record.flow.ok as f64 / length.as_secs_f64().max(1e-9));
        [self.p50, self.p90, self.p99] = [0.5, 0.9, 0.99].map(|q| quantile(&self.response, q));
    }

    fn count(&mut self, record: &IntervalRecord) {
        let flow = &record.flow;
        self.ok += flow.ok;
        self.due += flow.due;
        self.errors += flow.failed + flow.timed_out;
        self.in_flight_ns += flow.in_flight_ns;
        self.thinking_ns += flow.thinking_ns;
        self.ages_ns.1 = flow.in_flight_age_ns;
        for (outcome, failed) in record.kinds.iter().flat_map(|kind| &kind.failed) {
            self.failed_ns += failed.response.sum();
            self.own_faults += if Outcome::is_ours(*outcome) { failed.n } else { 0 };
        }
    }

    fn health(&mut self, length: Nanos, record: &IntervalRecord) {
        self.cpu_ns += record.health.cpu.0;
        self.run_queue_ns += record.health.run_queue.0;
        self.thread_ns += length.0 * u64::from(record.health.threads);
        if let Some(used) = record.sut {
            let (cpu, elapsed) = self.sut.unwrap_or_default();
            self.sut = Some((cpu + used.cpu, elapsed + length));
        }
    }

    /// Returns an amount per second of the steady phase so far; zero before it begins.
    pub fn per_second(&self, amount: f64) -> f64 {
        amount / self.length.as_secs_f64().max(1e-9)
    }

    /// Returns the error ratio: failed ÷ completed operations.
    pub fn error_ratio(&self) -> Ratio {
        Ratio(self.errors as f64 / (self.ok + self.errors).max(1) as f64)
    }

    /// Returns the mean CPU use of the server, in CPUs.
    pub fn sut_cpus(&self) -> Option<f64> {
        self.sut.map(|(cpu, elapsed)| cpu.as_secs_f64() / elapsed.as_secs_f64().max(1e-9))
    }

    /// Returns the number of users according to Little's law, X·(R + Z), including failed operations and the operations in
    /// flight at both ends of the phase.
    ///
    /// Recorded think time includes lateness, which is part of the response time and therefore subtracted.
    pub fn users_seen(&self) -> f64 {
        let (age_at_start, age_now) = self.ages_ns;
        let with_server = self.response.sum() as f64 + self.failed_ns as f64;
        let thinking = self.thinking_ns as f64 - self.lateness.sum() as f64;
        self.per_second((with_server + thinking + age_now as f64 - age_at_start as f64) / 1e9)
    }
}

fn in_flight_limit_reached(load: Load, flow: &Flow) -> bool {
    let taken = flow.in_flight_at_start.max(flow.in_flight_at_end) as f64;
    !load.is_closed() && NEARLY_FULL * f64::from(load.in_flight_max()) <= taken
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn only_the_steady_phase_counts() {
        let mut totals = Totals::default();
        let load = Load::Users(1);
        totals.add(load, &testing::record(0, Phase::Settle, 50), None);
        totals.add(load, &testing::record(1, Phase::Steady, 30), None);
        totals.add(load, &testing::record(2, Phase::RampDown, 50), None);
        assert_eq!((totals.ok, totals.length), (30, Nanos::from_secs(1)));
        assert_eq!(totals.per_second(totals.ok as f64), 30.0);
    }

    /// By hand: two seconds with 10 operations of 0.1 s each: 1 user. Another second with 5 of them and one operation that
    /// has been in flight for half a second: (2 + 0.5 + 0.5) ÷ 3 = 1 user.
    #[test]
    fn littles_law_includes_operations_in_flight_at_the_ends_of_the_phase() {
        let mut totals = Totals::default();
        let load = Load::Users(1);
        let response = Nanos::from_millis(100);
        for index in 0..2 {
            totals.add(load, &testing::timed(index, Phase::Steady, 10, response), None);
        }
        assert!((totals.users_seen() - 1.0).abs() < 1e-6);
        let mut cut = testing::timed(2, Phase::Steady, 5, response);
        cut.flow.in_flight_age_ns = 500_000_000;
        totals.add(load, &cut, None);
        assert!((totals.users_seen() - 1.0).abs() < 1e-6, "{}", totals.users_seen());
    }

    #[test]
    fn lateness_at_the_in_flight_limit_is_not_the_generators() {
        let load = Load::Rate { per_second: 10.0, arrivals: model::Arrivals::Constant, in_flight_max: 10 };
        let mut record = testing::record(0, Phase::Steady, 10);
        record.lateness = testing::histogram(10, Nanos::from_secs(1));
        record.flow.in_flight_at_end = 9;
        let mut totals = Totals::default();
        totals.add(load, &record, None);
        assert_eq!((totals.lateness.n(), totals.lateness_own.n()), (10, 0));
    }
}
