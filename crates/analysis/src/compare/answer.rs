//! The answer of a comparison of servers that were loaded in turns while they ran: which is faster, by how much.

use stats::ComparisonFinding;
use units::Ratio;

use super::{BETWEEN_PROCESSES, ComparedMetric, Comparison, FigureChange, RunInput};

/// The probability with which a difference is found that an answer says it would have found: 19 of 20.
pub const MOSTLY: Ratio = Ratio(0.95);

/// The scatter of the ratios of two turns that followed each other, as it is expected before there are any: of a few
/// seconds each, on a machine that does little else. A house rule for the announcement; the answer has what was measured.
pub const TURN_SCATTER: Ratio = Ratio(0.01);

/// The half-width of the 95 % interval of two processes as they ran, relative to their ratio, from which on more turns would
/// hardly narrow an answer: what processes of identical code differ by is as much. A house rule.
pub const SETTLED_WITHIN: Ratio = Ratio(0.018);

/// The probability of a difference as large, if there were none, below which it is told although the turns are not at their
/// end. So small that the looks on the way hardly add to the false alarms of the last one.
///
/// Source: Haybittle 1971; Peto et al. 1976, Design and Analysis of Randomized Clinical Trials.
const EVIDENT: f64 = 0.001;

/// The part of the cycle of a user that is spent waiting for replies, from which the rate shows how fast a server is.
const WAITING_MIN: f64 = 0.5;

/// The answer about one server: whether it is faster than the first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerAnswer {
    /// The server, as an index of the sides.
    pub side: usize,
    /// The change that answers: of the score, or of the mean response time where users or a schedule set the rate; over
    /// all loads.
    pub change: FigureChange,
    /// The 95 % interval for the ratio of these two processes as they are; `None` with fewer than three turns.
    pub as_found: Option<(f64, f64)>,
    /// The smallest difference that 19 of 20 such comparisons find, as a ratio above no difference (0.05: 5 %); `None` without
    /// an interval.
    pub found_mostly: Option<f64>,
}

impl ServerAnswer {
    /// Returns how many times as fast the server is as the first one, with the interval by which that was decided: the ratio
    /// of scores, or of mean response times the other way round.
    pub fn speed(&self) -> (f64, Option<(f64, f64)>) {
        (self.as_speed(self.change.ratio), self.change.interval.map(|ends| self.as_speeds(ends)))
    }

    /// Returns the same interval of these two processes as they are.
    pub fn speed_as_found(&self) -> Option<(f64, f64)> {
        self.as_found.map(|ends| self.as_speeds(ends))
    }

    /// Returns whether the server is faster; `None` if no difference was found.
    pub fn is_faster(&self) -> Option<bool> {
        let is_better_higher = self.change.metric.is_better_higher();
        match self.change.finding {
            ComparisonFinding::Higher => Some(is_better_higher),
            ComparisonFinding::Lower => Some(!is_better_higher),
            ComparisonFinding::Alike
            | ComparisonFinding::NoEvidence
            | ComparisonFinding::TooShort
            | ComparisonFinding::TooNoisy => None,
        }
    }

    /// Returns how far the ratio of the two processes as they ran is known, as a half-width of its 95 % interval relative to the
    /// ratio; `None` with fewer than three turns.
    pub fn known_within(&self) -> Option<Ratio> {
        self.as_found.map(|(low, high)| Ratio((high / low).ln() / 2.0))
    }

    /// Returns whether more turns would hardly change the answer: they would make it little narrower, or there is no doubt
    /// already.
    ///
    /// Whether the turns show a difference at the usual 5 % does not count: to go on until they do would find one between
    /// equal servers, sooner or later.
    pub fn is_settled(&self) -> bool {
        is_settled(self.known_within(), self.change.p)
    }

    fn as_speed(&self, ratio: f64) -> f64 {
        if self.change.metric.is_better_higher() { ratio } else { 1.0 / ratio }
    }

    fn as_speeds(&self, (low, high): (f64, f64)) -> (f64, f64) {
        let (one, other) = (self.as_speed(low), self.as_speed(high));
        if one <= other { (one, other) } else { (other, one) }
    }
}

fn is_settled(known_within: Option<Ratio>, p: Option<f64>) -> bool {
    known_within.is_some_and(|half| half.0 <= SETTLED_WITHIN.0) || p.is_some_and(|p| p < EVIDENT)
}

/// Returns the metric that answers which server is faster: the score; where a schedule or the pauses of users set the rate,
/// the mean response time.
pub(super) fn metric(comparison: &Comparison, runs: &[RunInput]) -> ComparedMetric {
    let points = || runs.iter().flat_map(|run| &run.analysis.load_points);
    let sum = |of: fn(&crate::LoadPointResult) -> f64| points().map(of).sum::<f64>();
    let waiting = sum(|point| point.in_flight_mean);
    let cycle = waiting + sum(|point| point.thinking_mean);
    let is_closed = comparison.levels.iter().all(|level| level.load.is_closed());
    if is_closed && (WAITING_MIN * cycle <= waiting) {
        ComparedMetric::Score
    } else {
        ComparedMetric::ResponseMean
    }
}

/// Returns the difference that 19 of 20 comparisons by so many turns of each server find if turns scatter by
/// [`TURN_SCATTER`], as a ratio above no difference; `None` with fewer than three turns.
///
/// By simulation of pairs with exactly this scatter: half of them above, half below.
pub fn found_beforehand(n_turns: usize, alpha: Ratio) -> Option<f64> {
    let logs = alternating(n_turns);
    let pairs: Vec<(f64, f64)> = logs.iter().map(|log| (1.0, log.exp())).collect();
    let found = stats::LogRatio::of_pairs(&pairs, 1)?.between_processes(BETWEEN_PROCESSES);
    found.detectable(alpha, MOSTLY).map(|more| more.0)
}

/// Returns the difference that 19 of 20 comparisons find whose answers are settled because the ratio is known within
/// [`SETTLED_WITHIN`], as a ratio above no difference.
///
/// exp((z(1 − alpha ÷ 2) + z(0.95))·√((h ÷ z(0.975))² + p²)) − 1 with the half-width h and p of processes of identical code.
///
/// Source: minimum detectable difference, Zar, Biostatistical Analysis, 5th edition, chapter 8, on logarithms.
pub fn found_when_settled(alpha: Ratio) -> f64 {
    let z = |q| stats::normal_quantile(q).unwrap_or(f64::INFINITY);
    let error = (SETTLED_WITHIN.0 / z(0.975)).hypot(BETWEEN_PROCESSES.0);
    ((z(1.0 - alpha.0 / 2.0) + z(MOSTLY.0)) * error).exp_m1()
}

/// Returns numbers with the sample deviation [`TURN_SCATTER`].
fn alternating(n: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..n).map(|index| if index.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
    let mean = raw.iter().sum::<f64>() / n as f64;
    let squares: f64 = raw.iter().map(|one| (one - mean).powi(2)).sum();
    let deviation = (squares / (n as f64 - 1.0)).sqrt();
    raw.into_iter().map(|one| (one - mean) / deviation * TURN_SCATTER.0).collect()
}

#[cfg(test)]
mod tests {
    use stats::LogRatio;
    use units::{Rng, StreamPurpose};

    use super::*;

    /// Two servers on a machine, turn by turn.
    #[derive(Debug, Clone, Copy)]
    struct Machine {
        /// Standard deviation of the ratio of two processes of identical code.
        processes: f64,
        /// Deviation of a second, whose noise remembers half of the second before.
        second: f64,
        /// The part by which the machine becomes slower from the first turn to the last; half of that again goes up and down.
        drift: f64,
    }

    /// As it was measured: pairs of processes, seconds that scatter, and a machine that becomes slower.
    const USUAL: Machine = Machine { processes: 0.010, second: 0.02, drift: 0.03 };

    /// Turns of each server between two looks at the answer, the most of them, and their seconds: those of the default.
    const TURNS: usize = 8;
    const TURNS_MAX: usize = 24;
    const SECONDS: usize = 4;

    /// A normal number; the sum of twelve uniform ones has variance 1.
    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0
    }

    impl Machine {
        /// Returns the logarithm of the rate of a turn.
        fn turn(self, rng: &mut Rng, place: usize) -> f64 {
            let share = place as f64 / (2 * TURNS - 1) as f64;
            let drift = -self.drift * (share + 0.25 * (9.0 * share).sin());
            let mut noise = normal(rng);
            let sum: f64 = (0..SECONDS)
                .map(|_| {
                    let second = self.second * noise;
                    noise = 0.5 * noise + 0.75f64.sqrt() * normal(rng);
                    second
                })
                .sum();
            drift + sum / SECONDS as f64
        }

        /// Compares B, which is `slower`, with A in turns: A B, B A, …; with as many more until the answer is settled, at most
        /// `TURNS_MAX`. Returns it with the number of turns of each.
        fn compare(self, seed: u64, slower: f64) -> (LogRatio, usize) {
            let mut rng = Rng::new(seed, StreamPurpose::Simulation, 1);
            let apart = self.processes * normal(&mut rng) + (1.0 - slower).ln();
            let mut pairs: Vec<(f64, f64)> = Vec::new();
            loop {
                for index in pairs.len()..pairs.len() + TURNS {
                    let [first, second] = [0, 1].map(|turn| self.turn(&mut rng, 2 * index + turn));
                    let (a, b) = if index.is_multiple_of(2) { (first, second) } else { (second, first) };
                    pairs.push((a.exp(), (b + apart).exp()));
                }
                let as_found = LogRatio::of_pairs(&pairs, seed).unwrap();
                let ends = as_found.ratio(Ratio(0.95)).unwrap();
                let found = as_found.between_processes(BETWEEN_PROCESSES);
                let known_within = Ratio((ends.high / ends.low).ln() / 2.0);
                if is_settled(Some(known_within), Some(found.p_value())) || TURNS_MAX <= pairs.len() {
                    return (found, pairs.len());
                }
            }
        }

        /// Returns the share of comparisons that find a difference, in percent, and the mean number of turns of each server.
        fn share_found(self, slower: f64) -> (f64, f64) {
            const N: u64 = 250;
            let all: Vec<(LogRatio, usize)> = (0..N).map(|seed| self.compare(seed, slower)).collect();
            let found = all.iter().filter(|(found, _)| found.p_value() < 0.05).count();
            let turns: usize = all.iter().map(|(_, turns)| turns).sum();
            (100.0 * found as f64 / N as f64, turns as f64 / N as f64)
        }
    }

    /// Goal: identical code raises at most one alarm in twenty comparisons on average, and a server that is 5 % slower is found
    /// in 19 of 20, as far as processes differ as they were measured, also where a second is as uncertain as on a shared
    /// machine; where they differ more, nothing but other processes would help, and where they differ less, it is better. The
    /// table is that of `docs/design/intervals.md`.
    #[test]
    fn identical_code_is_called_alike_and_five_percent_are_found() {
        let cases = [
            (USUAL, 5.0, 95.0),
            (Machine { second: 0.04, ..USUAL }, 5.0, 95.0),
            (Machine { drift: 0.20, ..USUAL }, 5.0, 95.0),
            (Machine { processes: 0.014, ..USUAL }, 12.0, 90.0),
            (Machine { processes: 0.020, ..USUAL }, 25.0, 80.0),
        ];
        for (machine, alarms_max, found_min) in cases {
            let [(alarms, turns), (found, turns_of_slower)] =
                [0.0, 0.05].map(|slower| machine.share_found(slower));
            println!("| {machine:?} | {alarms:.1} | {found:.1} | {turns:.0} | {turns_of_slower:.0} |");
            assert!(alarms <= alarms_max && found_min <= found, "{machine:?}: {alarms} {found}");
        }
    }

    /// By hand: turns that scatter by 1 %, 8 of each: 0.01 ÷ √8 = 0.003536; √(0.0000125 + 0.000144) = 0.012510; (1.9600 +
    /// 1.6449) · 0.012510 = 0.04510, so 4.61 %, with Student's t a little more; four of each: √(0.000025 + 0.000144) = 0.013,
    /// so 4.8 %. Known within 1.8 %: 0.018 ÷ 1.96 = 0.009184; √(0.00008434 + 0.000144) = 0.015111, so 5.60 %.
    #[test]
    fn what_a_comparison_will_find_is_known_before() {
        let percent = |n| found_beforehand(n, Ratio(0.05)).map(|more| (1_000.0 * more).round() / 10.0);
        assert_eq!((percent(8), percent(4), percent(2)), (Some(4.6), Some(4.8), None));
        assert_eq!((1_000.0 * found_when_settled(Ratio(0.05))).round() / 10.0, 5.6);
        let three_servers = found_beforehand(8, Ratio(0.025)).unwrap();
        assert!(0.048 < three_servers && three_servers < 0.053, "{three_servers}");
    }
}
