//! The results of the analysis of a run: metrics per load point, the verdict, and their sources.

use model::{
    BenchmarkId, ConsistencyCheck, Example, FailureCodes, Load, Modification, NamedCount, Outcome, Phase,
    Plan, RunEnding, Score, SizingRule, Stage, Words,
};
use stats::{Histogram, Steadiness};
use units::{Nanos, Ratio};

use crate::attribute::Attribution;
use crate::classes::TimeClasses;
use crate::find_max::SearchResult;
use crate::finding::Finding;
use crate::resources::ResourceUsage;
use crate::until::UntilResult;
use crate::web::{WebFigures, WebKindFigures};

/// The analysis of a run file.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// The benchmark that was run.
    pub benchmark: BenchmarkId,
    /// Its score.
    pub score: Score,
    /// Its words.
    pub words: Words,
    /// Its sizing rule, if it has one.
    pub sizing: Option<SizingRule>,
    /// Deviations from the benchmark's definition.
    pub modifications: Vec<Modification>,
    /// The ending of the run.
    pub ending: RunEnding,
    /// The load points in the order in which they were run; those that never began are missing.
    pub load_points: Vec<LoadPointResult>,
    /// The curve's marks.
    pub curve: Curve,
    /// The figure that the benchmark is known by; `None` without a valid load point.
    pub headline: Option<HeadlineFigure>,
    /// The result of a search; `None` of a run without one, or whose search did not come to its end.
    pub found: Option<SearchResult>,
    /// The verdict on the whole run.
    pub verdict: Verdict,
}

impl Analysis {
    /// Returns the mean response time over all operations of all load points, Σr / Σn in seconds; `None` if none
    /// succeeded.
    pub fn response_mean(&self) -> Option<f64> {
        let sum = |of: fn(&LoadPointResult) -> f64| self.load_points.iter().map(of).sum::<f64>();
        let n = sum(|point| point.response.histogram.n() as f64);
        (0.0 < n).then(|| sum(|point| point.response.histogram.sum() as f64 / 1e9) / n)
    }

    /// Returns the index of the load point beyond which more load brought no more throughput: [`Curve::saturation`]
    /// where a greater load was run that shows it, a valid one or one beyond the server's capacity. `None` where none was,
    /// because the rate might have grown further.
    pub fn saturation(&self) -> Option<usize> {
        self.curve.shown_saturation(&self.load_points)
    }

    /// Returns whether a load point belongs to the curve: it is valid, or none is.
    pub fn is_on_curve(&self, point: &LoadPointResult) -> bool {
        is_on_curve(&self.load_points, point)
    }

    /// Returns the load point below another on the curve, if there is a gap between their loads.
    pub fn below_gap(&self, point: &LoadPointResult) -> Option<&LoadPointResult> {
        below_gap(&self.load_points, point)
    }
}

/// Returns whether a load point belongs to the curve of these: it is valid, or none is.
fn is_on_curve(load_points: &[LoadPointResult], point: &LoadPointResult) -> bool {
    let is_valid = |point: &LoadPointResult| point.verdict.state == VerdictState::Valid;
    is_valid(point) || !load_points.iter().any(is_valid)
}

/// The ratio of two loads beyond which there is a gap between them. A house rule: load plans double their loads.
const GAP: f64 = 2.0;

/// Returns the load point below another on the curve of these, if there is a gap between their loads.
pub(crate) fn below_gap<'a>(
    load_points: &'a [LoadPointResult],
    point: &LoadPointResult,
) -> Option<&'a LoadPointResult> {
    let level = point.load.level();
    let below = load_points
        .iter()
        .filter(|below| below.load.level() < level && is_on_curve(load_points, below))
        .max_by(|one, other| one.load.level().total_cmp(&other.load.level()))?;
    (GAP * below.load.level() < level).then_some(below)
}

/// The numbers of one load point, from its steady phase unless stated otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPointResult {
    /// Index in the load plan.
    pub index: u32,
    /// The offered load.
    pub load: Load,
    /// Length of the steady phase as recorded; shorter than planned if the run ended in it.
    pub length: Nanos,
    /// The verdict on this load point.
    pub verdict: Verdict,
    /// Totals over all kinds.
    pub total: KindResult,
    /// Per operation kind.
    pub kinds: Vec<KindResult>,
    /// Operations that fell due per second, as the plan offers them; `None` in a closed loop.
    pub offered_rate: Option<f64>,
    /// Successful ÷ due operations; `None` in a closed loop, and if none fell due.
    pub delivered_ratio: Option<f64>,
    /// The benchmark's score, by [`model::Catalog::score`]; `None` if a kind that it needs had no success.
    pub score: Option<f64>,
    /// The score ÷ the parts of the data, by [`model::Catalog::sizing`]; `None` without such a rule.
    pub score_per_part: Option<f64>,
    /// 95 % interval for the score by batch means over the seconds of the phase; `None` if too few.
    pub score_interval: Option<(f64, f64)>,
    /// The steady seconds as numerators and denominators: the ratio of their sums is the score.
    pub score_seconds: Vec<(f64, f64)>,
    /// N·n ÷ S in operations per second, with N users, n successful operations and S the sum of their response times
    /// ([`stats::rate_of_clients`]); `None` unless the score is a harmonic one.
    pub rate_of_clients: Option<f64>,
    /// Successful operations per second: n / T.
    pub rate: f64,
    /// Successful operations per second and user: n / (T·N); `None` in an open loop.
    pub rate_per_user: Option<f64>,
    /// 95 % interval for the rate by batch means over the seconds of the phase; `None` if too few.
    pub rate_interval: Option<(f64, f64)>,
    /// Whether the steady phase was steady.
    pub steadiness: SteadyState,
    /// The end of the warm-up, from the start of the load point: the start of full load if no later transient was
    /// seen.
    /// From the rate of all seconds at full load ([`stats::warm_up_cut`]); `None` if they are too few, or do not show
    /// it.
    pub warm_up: Option<Nanos>,
    /// Failed operations (timed out ones included) per second: E / T.
    pub error_rate: f64,
    /// Failed ÷ successful operations, E / n, from 0; `None` if none succeeded.
    pub error_level: Option<f64>,
    /// Total response time of successful operations ÷ length: Little's load factor.
    pub load_factor: f64,
    /// Mean number of operations in flight from the recorded integral, failed ones included.
    pub in_flight_mean: f64,
    /// Mean number of users that think, from the recorded integral.
    pub thinking_mean: f64,
    /// Gap in N = X·(R + Z), relative to N, or in L = X·R, relative to the mean number L of operations that wait or are in
    /// flight, where users can owe operations; `None` in an open loop.
    pub little_gap: Option<f64>,
    /// The pauses of users as drawn, per kind, in the order of the catalog; of no times in an open loop.
    pub pauses: Vec<PauseResult>,
    /// Successful operations per client; `None` where they are not counted by client, or the phase was cut short.
    pub clients: Option<ClientSpread>,
    /// The notices of each measure of user scope, in the order of the catalog.
    pub notices: Vec<NoticeResult>,
    /// Bytes that successful operations transferred, in 2²⁰ bits per second; `None` where nothing goes over a network.
    pub throughput_mbit: Option<f64>,
    /// Throughput while an operation is under way: 8·Σb / (Σr·2²⁰), in 2²⁰ bits per second.
    pub client_throughput_mbit: Option<f64>,
    /// Complete units (pages) per minute: 60·P / T; `None` where the benchmark counts none, and in an open loop.
    pub units_per_minute: Option<f64>,
    /// Response time of all successful operations.
    pub response: TimeSummary,
    /// Service time; equal to the response time where everything was sent when due.
    pub service: TimeSummary,
    /// Lateness of started operations; `None` where nothing could be late (closed loop without think time).
    pub lateness: Option<TimeSummary>,
    /// The distribution of each measure that has one, in the order of [`model::Catalog::spread_measures`]; `None` where it
    /// does not belong to operations.
    pub spreads: Vec<Option<TimeSummary>>,
    /// Operations in flight at the end of the steady phase: not counted in any rate.
    pub in_flight_at_end: u64,
    /// The summed time that those operations had been in flight by then.
    pub in_flight_age: Nanos,
    /// Successful operations whose connection was to end with the reply and was left open by the peer; the driver
    /// waited up to [`model::CLOSE_WAIT_MAX`] for each, and that wait is part of its response time.
    pub left_open: u64,
    /// Failures per outcome, most frequent first.
    pub failures: Vec<(Outcome, u64)>,
    /// Failures by protocol code, of those that have one.
    pub codes: FailureCodes,
    /// Checks of the system under test, in the order in which they were made.
    pub checks: Vec<ConsistencyCheck>,
    /// Counts beside the records, of all phases.
    pub counts: Vec<NamedCount>,
    /// The first example of each failure.
    pub examples: Vec<Example>,
    /// CPU use of the load threads, from 0 to 1 of their CPUs.
    pub generator_busy: f64,
    /// Time that load threads waited for a CPU ÷ (length · threads).
    pub generator_run_queue: f64,
    /// CPU time of the generator per operation, in seconds.
    pub generator_cpu_per_operation: Option<f64>,
    /// CPUs that the SUT used on average; `None` if not seen.
    pub sut_cpus: Option<f64>,
    /// Use of the SUT's allowance, from 0; `None` if either is not known.
    pub sut_busy: Option<f64>,
    /// CPU time of the SUT per operation, in seconds.
    pub sut_cpu_per_operation: Option<f64>,
    /// The use of machines and services; empty if nothing was monitored.
    pub resources: ResourceUsage,
    /// The bottleneck; `None` if nothing was monitored, and while the run goes on.
    pub attribution: Option<Attribution>,
    /// Second by second, all phases.
    pub timeline: Vec<TimelinePoint>,
    /// Response times of successful operations in classes, of the same seconds.
    pub time_classes: Vec<TimeClasses>,
    /// The figures that only the web family has; `None` of another family.
    pub web: Option<WebFigures>,
    /// The stages of its shape that have begun, in order; empty where the load stays the same. With stages, the figures
    /// above are counts, sums and the timeline: those that depend on the load are absent, or not to be shown
    /// ([`LoadPointResult::rate`] and other means that are never absent).
    pub stages: Vec<StageResult>,
    /// The findings about the limits that end it early; `None` where none does.
    pub until: Option<UntilResult>,
}

/// The numbers of one stage of a load point with a shape.
#[derive(Debug, Clone, PartialEq)]
pub struct StageResult {
    /// Index in the shape.
    pub index: u32,
    /// The start, from the start of the load point.
    pub start: Nanos,
    /// The load as planned.
    pub planned: Stage,
    /// Length as recorded; shorter than planned if the load point ended in it.
    pub length: Nanos,
    /// The verdict on this stage.
    pub verdict: Verdict,
    /// Successful operations.
    pub n: u64,
    /// Failed operations.
    pub errors: u64,
    /// Operations that fell due per second; `None` in a closed loop.
    pub offered_rate: Option<f64>,
    /// Successful ÷ due operations; `None` in a closed loop, and if none fell due.
    pub delivered_ratio: Option<f64>,
    /// Successful operations per second: n / T.
    pub rate: f64,
    /// 95 % interval for the rate by batch means over its seconds; `None` if too few.
    pub rate_interval: Option<(f64, f64)>,
    /// Whether it was steady; only of a constant load it means anything.
    pub steadiness: SteadyState,
    /// Mean number of users who are present, in flight or thinking, from the recorded integrals; `None` in an open loop.
    pub users_mean: Option<f64>,
    /// Gap in N = X·(R + Z), as of a load point, with the planned number N; `None` in an open loop, and of a ramp.
    pub little_gap: Option<f64>,
    /// Response time of successful operations.
    pub response: TimeSummary,
    /// Lateness of started operations; `None` where nothing could be late.
    pub lateness: Option<TimeSummary>,
    /// CPU use of the load threads, from 0 to 1 of their CPUs.
    pub generator_busy: f64,
    /// CPUs that the SUT used on average; `None` if not seen.
    pub sut_cpus: Option<f64>,
    /// Use of the SUT's allowance, from 0; `None` if either is not known.
    pub sut_busy: Option<f64>,
}

impl LoadPointResult {
    /// Returns whether its load changed by a shape, so that it has figures of its stages instead of its own.
    pub fn is_shaped(&self) -> bool {
        !self.stages.is_empty()
    }

    /// Returns the number of T1 lines that the throughput would fill, by the rule of thumb of the Apple report.
    pub fn t1_lines(&self) -> Option<f64> {
        self.throughput_mbit.map(stats::t1_lines)
    }

    /// Returns successful and failed operations that completed in the steady phase.
    pub fn completed(&self) -> u64 {
        self.total.n.saturating_add(self.total.errors)
    }

    /// Returns the CPU time per second that the load threads used, in CPUs.
    pub(crate) fn generator_cpus(&self, plan: &Plan) -> f64 {
        self.generator_busy * f64::from(plan.load_threads())
    }
}

/// The statistics that WebStone prints per file and in total. Times in seconds, sizes in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct KindResult {
    /// Name of the kind, or `all`.
    pub name: String,
    /// Successful operations.
    pub n: u64,
    /// Failed operations.
    pub errors: u64,
    /// Pages of this kind that were completed; `None` where the benchmark does not count pages or in a kind's row.
    pub units_ok: Option<u64>,
    /// Response time.
    pub response: SummaryStatistics,
    /// Each measure, in the order of the catalog.
    pub measures: Vec<SummaryStatistics>,
    /// Mean of what the parts of the response time leave of it, in seconds: R̄ − Σ P̄, with the mean P̄ of each measure that
    /// the catalog names as such a part. Where a server states its own times, this is the network and the client. `None`
    /// if there are no such parts, or some operations lack one.
    pub rest_mean: Option<f64>,
    /// Bytes that its successful operations transferred: the sum of the measures that the catalog adds up.
    pub transferred: u64,
    /// Percentiles of the response time.
    pub percentiles: TimeSummary,
    /// The figures that only the web family has; `None` of another family.
    pub web: Option<WebKindFigures>,
}

impl KindResult {
    /// Returns the statistics of a measure, by its index in the catalog; empty where there is no such measure.
    pub fn measure(&self, measure: usize) -> SummaryStatistics {
        self.measures.get(measure).copied().unwrap_or_default()
    }
}

/// Mean, population deviation, least and greatest; all `None` if there were no values.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SummaryStatistics {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Population standard deviation, √|E\[x²\] − E\[x\]²|.
    pub deviation: Option<f64>,
    /// The least.
    pub min: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
}

/// A kind of pause of users.
#[derive(Debug, Clone, PartialEq)]
pub struct PauseResult {
    /// Its name.
    pub name: String,
    /// The times as drawn, whether or not users were back in time.
    pub drawn: TimeSummary,
}

/// The amounts of successful operations that clients have in the steady phase: their number, or their bytes where the score
/// is a throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClientSpread {
    /// The number of clients.
    pub n: u64,
    /// The amount of the client with the least.
    pub least: u64,
    /// The mean.
    pub mean: f64,
    /// The amount of the client with the most.
    pub greatest: u64,
    /// Jain's index of fairness ([`stats::Moments::fairness`]); `None` if no operation succeeded.
    pub fairness: Option<f64>,
}

/// The notices of one kind that users got, in all phases of a load point: begun = ended + lost + pending.
#[derive(Debug, Clone, PartialEq)]
pub struct NoticeResult {
    /// Its name.
    pub name: String,
    /// Were awaited.
    pub begun: u64,
    /// Came.
    pub ended: u64,
    /// Had not come within the time limit.
    pub lost: u64,
    /// Were awaited still when the load point ended.
    pub pending: u64,
    /// Notices whose wait began in the steady phase: percentiles are of all of these.
    pub begun_in_steady: u64,
    /// The mean time of those of them that came, in s.
    pub mean: Option<f64>,
    /// The times of those of them that came.
    pub histogram: Histogram,
}

impl NoticeResult {
    /// Returns the time within which a part of the notices came whose wait began in the steady phase. `None` if fewer of
    /// them came: those that did not come are longer than any time.
    pub fn percentile(&self, q: f64) -> Option<Nanos> {
        self.histogram.quantile_of(Ratio(q), self.begun_in_steady)
    }
}

/// Mean and percentiles of a time, with intervals. The whole histogram is kept for charts and merges.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeSummary {
    /// All values; empty if there were none.
    pub histogram: Histogram,
    /// Arithmetic mean in seconds, from exact sums.
    pub mean: Option<f64>,
    /// 95 % interval for the mean by batch means over the seconds of the phase; `None` if too few.
    pub mean_interval: Option<(f64, f64)>,
    /// p50, p90, p95, p99, p99.9, by nearest rank; those for which there are too few values are missing.
    pub percentiles: Vec<Percentile>,
    /// The greatest, exact.
    pub max: Option<Nanos>,
}

impl TimeSummary {
    /// Returns a percentile, q from 0 to 1; `None` if there were too few values for it.
    pub fn percentile(&self, q: f64) -> Option<&Percentile> {
        self.percentiles.iter().find(|percentile| (percentile.q - q).abs() < 1e-9)
    }
}

/// The tests whether the steady phase was a steady state, from a value per second ([`stats::steadiness`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// The steadiness of the rate.
    pub rate: Steadiness,
    /// The steadiness of the mean response time, of seconds in which something succeeded.
    pub response: Steadiness,
}

/// One percentile with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// The quantile, from 0 to 1.
    pub q: f64,
    /// The value.
    pub value: Nanos,
    /// Lower and upper end of its 95 % interval.
    ///
    /// Of the response time over all kinds: by batches of seconds ([`stats::Batches`]), `None` if the phase is too
    /// short for that. Of single kinds, service time, lateness and time to connect: by order statistics, which assume
    /// independent values, because histograms of their seconds are not kept; too narrow where values queue behind
    /// each other.
    pub interval: Option<(Nanos, Nanos)>,
    /// Number of values behind it.
    pub n: u64,
}

/// One second of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimelinePoint {
    /// Middle of the interval, seconds from the start of the load point.
    pub at: f64,
    /// Phase of the interval.
    pub phase: Phase,
    /// Successful operations per second.
    pub rate: f64,
    /// Failed operations per second.
    pub error_rate: f64,
    /// Mean response time of successful operations, in seconds; `None` if none succeeded.
    pub response_mean: Option<f64>,
    /// Median response time.
    pub p50: Option<Nanos>,
    /// 99th percentile of the response time; `None` if too few.
    pub p99: Option<Nanos>,
    /// Use of the load threads' CPUs, from 0 to 1.
    pub generator_busy: f64,
    /// CPUs used by the SUT.
    pub sut_cpus: Option<f64>,
}

/// The marks of the curve over the load points that are valid (all, if none is).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Curve {
    /// Index into `load_points` of the one with the highest score.
    pub peak: Option<usize>,
    /// The smallest load with at least 97 % of the highest score; see [`Analysis::saturation`] for whether the server
    /// was saturated there.
    pub saturation: Option<usize>,
    /// The load with the greatest score ÷ response time.
    pub knee: Option<usize>,
}

impl Curve {
    /// Returns [`Curve::saturation`] where a greater load of these load points shows it; see [`Analysis::saturation`].
    pub(crate) fn shown_saturation(&self, load_points: &[LoadPointResult]) -> Option<usize> {
        let index = self.saturation?;
        let level = load_points.get(index)?.load.level();
        let mut greater = load_points.iter().filter(|point| level < point.load.level());
        let shows = |point: &LoadPointResult| {
            is_on_curve(load_points, point) || point.verdict.state == VerdictState::Overloaded
        };
        greater.any(shows).then_some(index)
    }
}

/// A benchmark's own figure with its companions.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadlineFigure {
    /// The unit of the score: `connections per second`.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Its load point, an index into `load_points`.
    pub load_point: usize,
    /// Mean response time there, seconds.
    pub response_mean: f64,
}

/// A verdict. It has reasons if the load point or run is not valid.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The state.
    pub state: VerdictState,
    /// The reasons why it is not valid; empty if it is.
    pub reasons: Vec<Reason>,
    /// Remarks that a reader must know although it is valid.
    pub remarks: Vec<Reason>,
}

/// The states of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerdictState {
    /// No rule was broken.
    Valid,
    /// The overload of a load point of an open loop: more was offered than the server could do, while it kept up with
    /// less. It shows where the capacity ends and counts for nothing else; a run is never called so.
    Overloaded,
    /// A rule was broken.
    Invalid,
    /// The run or load point did not finish.
    Incomplete,
}

/// A reason of a verdict, or a remark: a finding, and the load point and stage that it concerns. The crate `disclosure` has its
/// sentence and its hint.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The load point, by index; `None` for the whole run.
    pub load_point: Option<u32>,
    /// The stage of it, by index; `None` for all of it.
    pub stage: Option<u32>,
    /// The finding, with its numbers.
    pub finding: Finding,
}

impl Reason {
    /// Returns the name of the rule: `conservation`, `little`, `generator-busy`, `errors`, `steady-length`…
    pub fn rule(&self) -> &'static str {
        self.finding.rule()
    }
}
