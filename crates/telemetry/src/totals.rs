//! Totals of each run since the program began.

use analysis::{GroupStanding, IntervalFigures, LoadPointStatus, OverallTotals};
use model::{IntervalRecord, LoadPoint, Outcome, Phase};
use units::{Nanos, WallTime};

use crate::response_histogram::ResponseHistogram;

/// One of several interleaved runs: the labels by which it is told apart, and what it transfers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MonitoredRun {
    /// The benchmark's id.
    pub benchmark: String,
    /// The benchmark's version.
    pub version: u32,
    /// The label of the server.
    pub server: String,
    /// Indexes of the measures whose sum is what its operations transfer ([`model::Catalog::transferred`]).
    pub transferred: Vec<usize>,
    /// The unit of its score, in the benchmark's words ([`model::Words::score`]).
    pub score_unit: String,
}

/// The state of all runs at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// The program's version.
    pub(crate) program: String,
    /// The time at which counting began.
    pub(crate) began: WallTime,
    /// The runs in the order in which they are interleaved.
    pub(crate) runs: Vec<RunTotals>,
    /// The index of the current run.
    pub(crate) current: usize,
}

/// The totals of one run, in all phases.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunTotals {
    pub(crate) run: MonitoredRun,
    /// The current load point, or the last one.
    pub(crate) point: Option<LoadPoint>,
    /// The phase of the last interval.
    pub(crate) phase: Option<Phase>,
    /// The sums of what only grows.
    pub(crate) sums: OverallTotals,
    /// Response times of successful operations.
    pub(crate) response: ResponseHistogram,
    /// Operations in flight at the end of the last interval.
    pub(crate) in_flight: u64,
    /// The figures of the last interval.
    pub(crate) last: Option<IntervalFigures>,
    /// The score of the current load point's steady phase so far, or of the last one's; `None` before the phase begins, and
    /// if a kind of operation that the score needs had no success.
    pub(crate) score: Option<f64>,
    /// The standings of the current load point, or of the last one; empty before its first record.
    pub(crate) standings: Vec<GroupStanding>,
}

impl RunTotals {
    /// Makes the totals of a run that has not begun.
    pub(crate) fn new(run: MonitoredRun) -> RunTotals {
        // The counter exists from the beginning, so that the first operations are an increase and not a new series.
        let sums = OverallTotals { completed: [(Outcome::Ok, 0)].into(), ..OverallTotals::default() };
        RunTotals { run, sums, ..RunTotals::default() }
    }

    /// Returns the bytes that successful operations have transferred.
    pub(crate) fn transferred(&self) -> u64 {
        let sums = self.run.transferred.iter().filter_map(|measure| self.sums.measures.get(*measure));
        sums.fold(0, |total, sum| total.saturating_add(*sum))
    }

    /// Begins a load point.
    pub(crate) fn load_point(&mut self, point: LoadPoint) {
        self.point = Some(point);
        self.phase = None;
        self.in_flight = 0;
        self.score = None;
        self.standings.clear();
    }

    /// Takes over the score and the standings from the status of the load point.
    pub(crate) fn status(&mut self, status: &LoadPointStatus) {
        self.score = status.score.filter(|_| Nanos::ZERO < status.length);
        self.standings.clone_from(&status.standings);
    }

    /// Adds an interval of all load threads together.
    pub(crate) fn interval(&mut self, record: &IntervalRecord) {
        self.phase = Some(record.phase);
        self.in_flight = record.flow.in_flight_at_end;
        self.sums.interval(record);
        self.last = IntervalFigures::of(record);
        self.response.add(&record.response);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use analysis::{Finding, Reason, RuleGroup, StandingState};
    use model::{Flow, Health, KindTotals, Load, SutUse};
    use stats::Histogram;

    use super::*;

    /// The measure of a run that counts as transferred.
    const TRANSFERRED: usize = 2;

    /// A second of 20 users: three operations of 1.1, 2 and 4 ms, one refused, one in flight.
    pub(crate) fn second() -> IntervalRecord {
        let mut kind = KindTotals::new(4);
        let mut response = Histogram::new();
        for nanos in [1_100_000, 2_000_000, 4_000_000] {
            kind.response.record(nanos);
            kind.measures[TRANSFERRED].record(687);
            response.record(Nanos(nanos));
        }
        kind.failed.insert(Outcome::Refused, 1);
        let flow = Flow { due: 5, ok: 3, failed: 1, in_flight_at_end: 1, ..Flow::default() };
        IntervalRecord {
            phase: Phase::Steady,
            end: Nanos::from_secs(1),
            flow,
            kinds: vec![kind],
            response,
            health: Health { threads: 2, cpu: Nanos::from_millis(500), run_queue: Nanos::ZERO },
            sut: Some(SutUse { cpu: Nanos::from_millis(350), throttled: Nanos::ZERO }),
            ..IntervalRecord::empty(1, 0)
        }
    }

    fn name(server: &str) -> MonitoredRun {
        MonitoredRun {
            benchmark: "web96".to_owned(),
            version: 1,
            server: server.to_owned(),
            transferred: vec![TRANSFERRED],
            score_unit: "pages per minute".to_owned(),
        }
    }

    /// A group whose rules hold, and one that is broken by failures.
    fn standings() -> Vec<GroupStanding> {
        let finding = Finding::TooFewOperations { n: 3, needed: 100 };
        let reason = Reason { load_point: Some(1), stage: None, finding };
        vec![
            GroupStanding { group: RuleGroup::Record, state: StandingState::Holds, reason: None },
            GroupStanding { group: RuleGroup::Sample, state: StandingState::Broken, reason: Some(reason) },
        ]
    }

    /// A status of a load point whose steady phase has this length, with a score of 180.
    fn status(length: Nanos) -> LoadPointStatus {
        LoadPointStatus {
            index: 1,
            is_over: false,
            length,
            ok: 3,
            ok_needed: 0,
            errors: 1,
            rate: 3.0,
            rate_interval: None,
            score: Some(180.0),
            due_rate: 5.0,
            in_flight_mean: 1.0,
            response_mean: None,
            p50: None,
            p95: None,
            p99: None,
            standings: standings(),
            stage: None,
            broken: None,
        }
    }

    fn of(runs: Vec<RunTotals>) -> Snapshot {
        Snapshot { program: "0.1.0".to_owned(), began: WallTime(2_000), runs, current: 0 }
    }

    /// Two runs of which one has had one second.
    pub(crate) fn snapshot() -> Snapshot {
        let mut running = RunTotals::new(name("nginx"));
        running.load_point(LoadPoint { index: 1, load: Load::Users(20) });
        running.interval(&second());
        running.status(&status(Nanos::from_secs(1)));
        of(vec![running, RunTotals::new(name("apache"))])
    }

    pub(crate) fn hostile() -> Snapshot {
        of(vec![RunTotals::new(name("a\"b\\c\nd"))])
    }

    #[test]
    fn totals_grow_and_gauges_are_those_of_the_last_second() {
        let mut run = RunTotals::new(name("nginx"));
        run.interval(&second());
        let idle = Health { cpu: Nanos::from_millis(100), ..second().health };
        run.interval(&IntervalRecord { health: idle, sut: None, ..second() });
        assert_eq!(run.sums.completed, [(Outcome::Ok, 6), (Outcome::Refused, 2)].into());
        assert_eq!((run.sums.due, run.response.n(), run.in_flight), (10, 6, 1));
        assert_eq!(run.sums.sut_cpu, Some(Nanos::from_millis(350)));
        let last = run.last.unwrap();
        assert_eq!((last.generator_busy, last.sut_cpus), (Some(0.05), None));
        run.load_point(LoadPoint { index: 2, load: Load::Users(40) });
        assert_eq!((run.sums.due, run.in_flight, run.phase), (10, 0, None));
    }

    #[test]
    fn the_score_is_that_of_the_load_points_steady_phase() {
        let mut run = RunTotals::new(name("nginx"));
        run.status(&status(Nanos::ZERO));
        assert_eq!(run.score, None, "before the steady phase");
        run.status(&status(Nanos::from_secs(1)));
        assert_eq!(run.score, Some(180.0));
        run.load_point(LoadPoint { index: 2, load: Load::Users(40) });
        assert_eq!(run.score, None, "at the next load point");
    }

    #[test]
    fn the_standings_are_those_of_the_current_load_point() {
        let mut run = RunTotals::new(name("nginx"));
        run.status(&status(Nanos::ZERO));
        assert_eq!(run.standings, standings());
        run.load_point(LoadPoint { index: 2, load: Load::Users(40) });
        assert_eq!(run.standings, []);
    }

    #[test]
    fn an_interval_without_length_has_no_shares() {
        let mut run = RunTotals::new(name("nginx"));
        run.interval(&IntervalRecord { end: Nanos::ZERO, ..second() });
        assert_eq!(run.last, None);
    }
}
