//! The ratio of two sides in one figure, on a logarithmic scale.

use units::Ratio;

use super::tail_factors::TailFactors;
use crate::Estimate;
use crate::drift::variance;
use crate::estimate::{normal_quantile, student_quantile, student_tail};

/// The fewest repetitions of a side: with fewer, their scatter says hardly anything.
const N_REPETITIONS_MIN: usize = 3;

/// The same, as a proposal.
const RUNS_MIN: u32 = 3;

/// Degrees of freedom that are as good as infinitely many.
const DEGREES_OF_FREEDOM_MAX: f64 = 1e6;

/// The measured logarithm of a ratio b ÷ a, with its error; near 0 without a difference.
///
/// Ratios are compared as logarithms, because twice and half are as far from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// ln(b ÷ a).
    value: f64,
    /// Its standard error, from 0.
    error: f64,
    /// Degrees of freedom of the error.
    degrees_of_freedom: f64,
    tails: TailFactors,
    /// The deviation of ln(b ÷ a) between two single runs.
    per_run: f64,
    /// Degrees of freedom of n runs of each side: this times n − 1.
    freedom_per_run: f64,
    /// The part of the deviation that all runs share, so that more of them do not reduce it.
    common: f64,
}

/// The scatter of a figure from run to run as it is expected before runs show it.
///
/// A few runs say little about it. So its square counts like the variance of `degrees_of_freedom` + 1 earlier runs, to which
/// those that were measured are added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenRuns {
    /// The standard deviation relative to the figure, from 0.
    pub deviation: Ratio,
    /// The degrees of freedom that this expectation is worth, above zero.
    pub degrees_of_freedom: f64,
}

impl BetweenRuns {
    /// Returns the expected variance of one run with its degrees of freedom, once the logarithms of the runs of each side
    /// are known: (ν·s² + Σ (x − x̄)²) ÷ (ν + Σ (n − 1)).
    ///
    /// Source: the posterior of a scaled inverse χ² prior, Gelman et al., Bayesian Data Analysis, 3rd edition, section 2.6.
    fn with(self, sides: [&[f64]; 2]) -> (f64, f64) {
        let known = sides.map(|logs| logs.len().saturating_sub(1) as f64);
        let squares = |logs: &[f64], known: f64| if known < 1.0 { 0.0 } else { known * variance(logs) };
        let seen = squares(sides[0], known[0]) + squares(sides[1], known[1]);
        let degrees_of_freedom = self.degrees_of_freedom + known[0] + known[1];
        let prior = self.degrees_of_freedom * self.deviation.0.powi(2);
        ((prior + seen) / degrees_of_freedom, degrees_of_freedom)
    }
}

/// A figure of one run, with its standard error estimated from the run's own phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredFigure {
    /// The figure, above zero.
    pub value: f64,
    /// Its standard error ÷ the figure, see [`crate::standard_error`].
    pub relative: f64,
    /// Degrees of freedom of the error, above zero.
    pub degrees_of_freedom: f64,
}

impl LogRatio {
    /// Compares interleaved repetitions: pairs (a, b) of measurements that followed each other, so that a drift of
    /// the machine changes both.
    ///
    /// With d_i = ln(b_i ÷ a_i), their mean d and sample deviation s: d with the error s ÷ √n and n − 1 degrees of
    /// freedom. The ratio is the geometric mean of b ÷ a. Where the d_i are skewed, the bootstrap widens the interval.
    ///
    /// `None` with fewer than three pairs, or figures that are not above zero.
    ///
    /// Source: the paired t test on logarithms; the bootstrap: see `tail_factors.rs`.
    pub fn of_pairs(pairs: &[(f64, f64)], seed: u64) -> Option<LogRatio> {
        if pairs.len() < N_REPETITIONS_MIN {
            return None;
        }
        let logs: Vec<f64> = pairs.iter().map(|(a, b)| Some(log(*b)? - log(*a)?)).collect::<Option<_>>()?;
        let n = logs.len() as f64;
        let error = (variance(&logs) / n).sqrt();
        let tails = TailFactors::of(&logs, &[], error, seed)?;
        let per_run = error * n.sqrt();
        let value = mean(&logs);
        let degrees_of_freedom = n - 1.0;
        Some(LogRatio { value, error, degrees_of_freedom, tails, per_run, freedom_per_run: 1.0, common: 0.0 })
    }

    /// Compares repetitions that were not interleaved; their numbers may differ.
    ///
    /// With the means and sample variances of the logarithms: error² = s_a² ÷ n_a + s_b² ÷ n_b, and
    /// error⁴ ÷ Σ (s² ÷ n)² ÷ (n − 1) degrees of freedom. The bootstrap draws from each side.
    ///
    /// `None` with fewer than three of a side, or figures that are not above zero.
    ///
    /// Source: Welch 1947, The Generalization of "Student's" Problem when Several Different Population Variances Are
    /// Involved, with the degrees of freedom of Satterthwaite 1946.
    pub fn of_repetitions(a: &[f64], b: &[f64], seed: u64) -> Option<LogRatio> {
        if a.len().min(b.len()) < N_REPETITIONS_MIN {
            return None;
        }
        let a = logs(a)?;
        let b = logs(b)?;
        let part = |logs: &[f64]| (variance(logs) / logs.len() as f64, logs.len() as f64 - 1.0);
        let (error, degrees_of_freedom) = combined(&[part(&a), part(&b)]);
        let tails = TailFactors::of(&b, &a, error, seed)?;
        let value = mean(&b) - mean(&a);
        let per_run = (variance(&a) + variance(&b)).sqrt();
        let freedom_per_run = 2.0;
        Some(LogRatio { value, error, degrees_of_freedom, tails, per_run, freedom_per_run, common: 0.0 })
    }

    /// Compares single runs, or a few of each side, by the errors estimated from their own phases.
    ///
    /// Runs of one server differ by more than their seconds do, and a few of them do not show by how much. So the
    /// scatter that is expected `between` runs is added, once for both sides: it is one unknown. With e_i the error of
    /// run i and s² the variance between runs with its ν degrees of freedom: error² = Σ over both sides of Σ e_i² ÷ n² +
    /// s²·(1 ÷ n_a + 1 ÷ n_b), with Satterthwaite's degrees of freedom.
    ///
    /// `None` without a run on a side, or figures that are not above zero.
    ///
    /// Source: the algebra; two levels of variation as in Kalibera and Jones 2013, Rigorous Benchmarking in Reasonable
    /// Time.
    pub fn of_runs(a: &[MeasuredFigure], b: &[MeasuredFigure], between: BetweenRuns) -> Option<LogRatio> {
        let values = |side: &[MeasuredFigure]| logs(&side.iter().map(|one| one.value).collect::<Vec<_>>());
        let logs_a = values(a)?;
        let logs_b = values(b)?;
        if logs_a.is_empty() || logs_b.is_empty() {
            return None;
        }
        let (variance, freedom) = between.with([&logs_a, &logs_b]);
        let counts = 1.0 / a.len() as f64 + 1.0 / b.len() as f64;
        let parts: Vec<(f64, f64)> =
            within(a).chain(within(b)).chain([(variance * counts, freedom)]).collect();
        let (error, degrees_of_freedom) = combined(&parts);
        let per_run = (mean_square(a) + mean_square(b) + 2.0 * variance).sqrt();
        let value = mean(&logs_b) - mean(&logs_a);
        let tails = TailFactors::STUDENT;
        let freedom_per_run = 2.0;
        let found =
            LogRatio { value, error, degrees_of_freedom, tails, per_run, freedom_per_run, common: 0.0 };
        error.is_finite().then_some(found)
    }

    /// Returns the same ratio as a statement about the programs of two processes that ran all the time: what two
    /// processes of identical code differ by is added to the error, because no number of turns shows it.
    ///
    /// With d the standard deviation of ln(b ÷ a) between two processes of identical code, taken as known: error² +
    /// d², with Satterthwaite's degrees of freedom; the bootstrap's factors count for the old part of the error only. At 95 % the interval is never narrower than that of
    /// the turns alone.
    ///
    /// Source: the algebra; two levels of variation as in Kalibera and Jones 2013, Rigorous Benchmarking in Reasonable
    /// Time.
    #[must_use]
    pub fn between_processes(self, deviation: Ratio) -> LogRatio {
        /// That of an interval of 95 %.
        const P: f64 = 0.975;
        let (own, added) = (self.error.powi(2), deviation.0.powi(2));
        let (error, degrees_of_freedom) =
            combined(&[(own, self.degrees_of_freedom), (added, DEGREES_OF_FREEDOM_MAX)]);
        if error == 0.0 {
            return self;
        }
        // A few turns have few degrees of freedom; what is added must not make their interval narrower.
        let half = |error: f64, freedom: f64| student_quantile(P, freedom).map_or(0.0, |t| t * error);
        let least = half(self.error, self.degrees_of_freedom) / half(error, degrees_of_freedom);
        let factor = |tail: f64| {
            let of_both = (own * tail.powi(2) + added).sqrt() / error;
            if least.is_finite() { of_both.max(least * tail) } else { of_both }
        };
        let tails = TailFactors { below: factor(self.tails.below), above: factor(self.tails.above) };
        let common = self.common.hypot(deviation.0);
        LogRatio { error, degrees_of_freedom, tails, common, ..self }
    }

    /// Returns the ratio b ÷ a with its interval: exp(value ± t·error), farther where the bootstrap says so.
    ///
    /// `None` if confidence is not between 0 and 1, or an end is not a number above zero.
    pub fn ratio(&self, confidence: Ratio) -> Option<Estimate> {
        let half = student_quantile((1.0 + confidence.0) / 2.0, self.degrees_of_freedom)? * self.error;
        let low = (self.value - half * self.tails.below).exp();
        let high = (self.value + half * self.tails.above).exp();
        (0.0 < low && high.is_finite()).then_some(Estimate { value: self.value.exp(), low, high })
    }

    /// Returns the probability of a difference as large as this if there were none, from 0 to 1.
    ///
    /// Two-sided, by Student's t; the end of the interval that is nearer to no difference counts, so that p is below
    /// 1 − confidence exactly where [`LogRatio::ratio`] does not hold 1.
    pub fn p_value(&self) -> f64 {
        if self.value == 0.0 {
            return 1.0;
        }
        let tails = if 0.0 < self.value { self.tails.below } else { self.tails.above };
        (2.0 * student_tail(self.value.abs() / (self.error * tails), self.degrees_of_freedom)).min(1.0)
    }

    /// Returns the smallest detectable difference: the smallest true one that such a comparison finds with
    /// probability `power` at the significance level `alpha`; as a ratio above no difference (0.03: 3 % more).
    ///
    /// exp((t(1 − alpha ÷ 2)·factor + t(power))·error) − 1. `None` if a probability is not between 0 and 1 (power: not
    /// above ½), or the difference is not finite.
    ///
    /// Source: minimum detectable difference, Zar, Biostatistical Analysis, 5th edition, chapter 8, on logarithms.
    pub fn detectable(&self, alpha: Ratio, power: Ratio) -> Option<Ratio> {
        self.detectable_by(alpha, power, |q| student_quantile(q, self.degrees_of_freedom))
    }

    /// Returns the same as if the error were known instead of estimated: the value that more runs or seconds of the
    /// same variation would at least reach. Quantiles of the normal distribution take the place of Student's.
    pub(crate) fn detectable_if_known(&self, alpha: Ratio, power: Ratio) -> Option<Ratio> {
        self.detectable_by(alpha, power, normal_quantile)
    }

    /// Returns the number of runs of each side with which the interval at the confidence 1 − `alpha` leaves out `bound`
    /// with probability `power`, if the ratio found here is the true one.
    ///
    /// The smallest n from 3 with (t(1 − alpha ÷ 2) + t(power))·√(s² ÷ n + d²) ≤ |ln(b ÷ a) − ln(bound)|, where s is the
    /// deviation of ln(b ÷ a) between two single runs, and d that which all of them share. `None` if that is more than [`LogRatio::RUNS_MAX`], or `bound` is not above zero.
    ///
    /// Source: sample size of a t test, Zar, Biostatistical Analysis, 5th edition, chapter 8, on logarithms.
    pub fn runs_to_exclude(&self, bound: f64, alpha: Ratio, power: Ratio) -> Option<u32> {
        let distance = (self.value - log(bound)?).abs();
        let is_enough = |n: &u32| {
            let n = f64::from(*n);
            let of_runs = (self.per_run.powi(2) / n, self.freedom_per_run * (n - 1.0));
            let (error, freedom) = combined(&[of_runs, (self.common.powi(2), DEGREES_OF_FREEDOM_MAX)]);
            let threshold = student_quantile(1.0 - alpha.0 / 2.0, freedom);
            let reach = threshold.zip(student_quantile(power.0, freedom));
            reach.is_some_and(|(threshold, power)| (threshold + power) * error <= distance)
        };
        (RUNS_MIN..=LogRatio::RUNS_MAX).find(is_enough)
    }

    /// The most runs of each side that are worth proposing.
    pub const RUNS_MAX: u32 = 30;

    fn detectable_by(
        &self,
        alpha: Ratio,
        power: Ratio,
        quantile: impl Fn(f64) -> Option<f64>,
    ) -> Option<Ratio> {
        let tails = self.tails.below.max(self.tails.above);
        let threshold = quantile(1.0 - alpha.0 / 2.0)? * tails;
        let more = (threshold + quantile(power.0)?) * self.error;
        Some(Ratio(more.exp_m1())).filter(|more| more.0.is_finite())
    }
}

/// Returns the parts of the squared error that the seconds of the runs of a side add, each with its degrees of freedom.
fn within(runs: &[MeasuredFigure]) -> impl Iterator<Item = (f64, f64)> {
    let n = runs.len() as f64;
    runs.iter().map(move |run| ((run.relative / n).powi(2), run.degrees_of_freedom))
}

fn mean_square(runs: &[MeasuredFigure]) -> f64 {
    runs.iter().map(|run| run.relative.powi(2)).sum::<f64>() / runs.len() as f64
}

/// Returns the error of a sum of independent parts (squared error, degrees of freedom), and its degrees of freedom.
fn combined(parts: &[(f64, f64)]) -> (f64, f64) {
    let squared: f64 = parts.iter().map(|part| part.0).sum();
    let lost: f64 = parts.iter().map(|part| part.0.powi(2) / part.1).sum();
    let degrees_of_freedom = if 0.0 < lost { squared.powi(2) / lost } else { DEGREES_OF_FREEDOM_MAX };
    (squared.sqrt(), degrees_of_freedom.min(DEGREES_OF_FREEDOM_MAX))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn logs(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().map(|value| log(*value)).collect()
}

fn log(value: f64) -> Option<f64> {
    (0.0 < value && value.is_finite()).then(|| value.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIDENCE: Ratio = Ratio(0.95);

    /// By hand: ratios 2, 2, 2; and 1/2, 1, 2 whose geometric mean is 1.
    #[test]
    fn the_ratio_is_the_geometric_mean() {
        let equal = LogRatio::of_pairs(&[(1.0, 2.0), (3.0, 6.0), (0.5, 1.0)], 1).unwrap();
        let ratio = equal.ratio(CONFIDENCE).unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-12 && ratio.high - ratio.low < 1e-9, "{ratio:?}");
        assert!(equal.p_value() < 1e-9);
        let pairs = [(2.0, 1.0), (5.0, 5.0), (1.0, 2.0)];
        let found = LogRatio::of_pairs(&pairs, 1).unwrap();
        let ratio = found.ratio(CONFIDENCE).unwrap();
        assert!((ratio.value - 1.0).abs() < 1e-12 && ratio.low < 1.0 && 1.0 < ratio.high, "{ratio:?}");
        assert_eq!(LogRatio::of_pairs(&pairs, 1), Some(found));
        assert!(0.99 < found.p_value());
    }

    /// By hand: ln ratios 0.1, 0.2, 0.3: mean 0.2, s 0.1, error 0.0577350. One in 27 draws has the lowest three
    /// times: its distance, 0.1·√(3/2), is 1.082326 times 1.95996 errors. t(2) at 0.975 is 4.30265: half 0.268864. p:
    /// t = 3.464102 ÷ 1.082326, two-sided with 2 degrees of freedom: 1 − t ÷ √(2 + t²) = 0.085313.
    #[test]
    fn three_pairs_by_hand() {
        let pairs = [0.1f64, 0.2, 0.3].map(|log| (10.0, 10.0 * log.exp()));
        let found = LogRatio::of_pairs(&pairs, 1).unwrap();
        let ratio = found.ratio(CONFIDENCE).unwrap();
        assert!((ratio.value.ln() - 0.2).abs() < 1e-12);
        assert!((ratio.low.ln() - (0.2 - 0.268_864)).abs() < 1e-5, "{ratio:?}");
        assert!((found.p_value() - 0.085_313).abs() < 1e-5, "{}", found.p_value());
    }

    /// By hand: ln a 0, 0.1, 0.2; ln b 0.5, 0.5, 0.5, 0.9: means 0.1 and 0.6; s² ÷ n: 0.01 ÷ 3 and 0.04 ÷ 4; error
    /// √0.0133333 = 0.115470; freedom 0.000177778 ÷ (0.0000111111 ÷ 2 + 0.0001 ÷ 3) = 4.57143.
    #[test]
    fn unpaired_repetitions_by_hand() {
        let of = |logs: &[f64]| logs.iter().map(|log| log.exp()).collect::<Vec<f64>>();
        let found = LogRatio::of_repetitions(&of(&[0.0, 0.1, 0.2]), &of(&[0.5, 0.5, 0.5, 0.9]), 1).unwrap();
        assert!((found.value - 0.5).abs() < 1e-12 && (found.error - 0.115_470).abs() < 1e-6, "{found:?}");
        assert!((found.degrees_of_freedom - 4.571_43).abs() < 1e-4, "{found:?}");
    }

    /// An expected scatter of runs that is as good as known.
    fn known(deviation: f64) -> BetweenRuns {
        BetweenRuns { deviation: Ratio(deviation), degrees_of_freedom: DEGREES_OF_FREEDOM_MAX }
    }

    /// By hand: errors 3 % and 4 % without a deviation of runs: 5 %; freedom 0.05⁴ ÷ (0.03⁴ ÷ 9 + 0.04⁴ ÷ 9) = 16.68.
    /// With 2 % between runs: √(0.0025 + 0.0008) = 0.0574456. With 6 degrees of freedom for it:
    /// 0.0033² ÷ (0.03⁴ ÷ 9 + 0.04⁴ ÷ 9 + 0.0008² ÷ 6) = 22.635.
    #[test]
    fn single_runs_by_hand() {
        let run = |value, relative| MeasuredFigure { value, relative, degrees_of_freedom: 9.0 };
        let found = LogRatio::of_runs(&[run(100.0, 0.03)], &[run(200.0, 0.04)], known(0.0)).unwrap();
        assert!((found.value - 2.0f64.ln()).abs() < 1e-12 && (found.error - 0.05).abs() < 1e-12);
        assert!((found.degrees_of_freedom - 9.0 * 625.0 / 337.0).abs() < 1e-3, "{found:?}");
        let expected = BetweenRuns { deviation: Ratio(0.02), degrees_of_freedom: 6.0 };
        let wider = LogRatio::of_runs(&[run(100.0, 0.03)], &[run(200.0, 0.04)], expected).unwrap();
        assert!((wider.error - 0.057_445_6).abs() < 1e-6, "{wider:?}");
        assert!((wider.degrees_of_freedom - 22.635).abs() < 0.001, "{wider:?}");
    }

    /// By hand: 2 % with 6 degrees of freedom, and two runs of ln 0.9 and ln 1.1, whose variance is 0.0201344 with one: (6 ·
    /// 0.0004 + 0.0201344) ÷ 7 = 0.00321919; · (½ + 1) + 0.001² · (½ + 1) = 0.00483029, its root 0.0695003.
    #[test]
    fn runs_that_differ_widen_the_interval() {
        let run = |value| MeasuredFigure { value, relative: 0.001, degrees_of_freedom: 9.0 };
        let expected = BetweenRuns { deviation: Ratio(0.02), degrees_of_freedom: 6.0 };
        let error = |a: [f64; 2]| LogRatio::of_runs(&a.map(run), &[run(100.0)], expected).unwrap().error;
        assert!(error([100.0, 100.5]) < 0.024);
        assert!((error([90.0, 110.0]) - 0.069_500_3).abs() < 1e-6, "{}", error([90.0, 110.0]));
    }

    /// By hand: single runs whose ratio deviates by 0.1; with n of each side t(0.975) + t(0.8) with 2·(n − 1) degrees of
    /// freedom, ÷ √n: 3: (2.776 + 0.941) ÷ 1.732 = 2.146; 4: (2.447 + 0.906) ÷ 2 = 1.676; 5: (2.306 + 0.889) ÷ 2.236 =
    /// 1.429. So a bound 0.2146 or more away needs 3 runs, one 0.17 away 4, one 0.15 away 5.
    #[test]
    fn the_runs_that_a_bound_needs_by_hand() {
        let side = |value| MeasuredFigure { value, relative: 0.0, degrees_of_freedom: 9.0 };
        let found = LogRatio::of_runs(&[side(1.0)], &[side(1.0)], known(0.1 / 2.0f64.sqrt())).unwrap();
        let runs = |distance: f64| found.runs_to_exclude(distance.exp(), Ratio(0.05), Ratio(0.8));
        assert_eq!([0.5, 0.215, 0.214, 0.17, 0.15].map(runs), [3, 3, 4, 4, 5].map(Some));
        assert_eq!(runs(-0.17), Some(4));
        assert_eq!((runs(0.01), runs(0.0)), (None, None));
        assert_eq!(found.runs_to_exclude(0.0, Ratio(0.05), Ratio(0.8)), None);
    }

    /// By hand: pairs of −0.01, 0 and 0.01 have the error 0.01 ÷ √3 = 0.0057735 with 2 degrees of freedom. With 1.4 %
    /// between processes: √(0.0000333333 + 0.000196) = 0.0151438, with 0.000229333² ÷ (0.0000333333² ÷ 2) = 94.67. Three
    /// runs reach (1.985 + 0.846) · 0.0151438 = 0.0429; infinitely many reach (1.960 + 0.842) · 0.014 = 0.0392, so that no
    /// number decides a bound 0.039 away.
    #[test]
    fn processes_differ_however_many_turns_they_have() {
        let pairs = [-0.01f64, 0.0, 0.01].map(|log| (1.0, log.exp()));
        let of_turns = LogRatio::of_pairs(&pairs, 1).unwrap();
        let found = of_turns.between_processes(Ratio(0.014));
        assert!((found.error - 0.015_143_8).abs() < 1e-6, "{found:?}");
        assert!((found.degrees_of_freedom - 94.67).abs() < 0.01, "{found:?}");
        assert!(
            1.0 < found.tails.above && found.tails.above < of_turns.tails.above,
            "{found:?} {of_turns:?}"
        );
        let runs = |distance: f64| found.runs_to_exclude(distance.exp(), Ratio(0.05), Ratio(0.8));
        assert_eq!((runs(0.045), runs(0.039)), (Some(3), None));
        let noisy = LogRatio::of_pairs(&[-0.1f64, 0.0, 0.1].map(|log| (1.0, log.exp())), 1).unwrap();
        let low = |found: LogRatio| found.ratio(Ratio(0.95)).unwrap().low;
        assert!((low(noisy) - low(noisy.between_processes(Ratio(0.014)))).abs() < 1e-12, "not narrower");
        let unchanged = of_turns.between_processes(Ratio(0.0));
        assert!((unchanged.error - of_turns.error).abs() < 1e-15 && unchanged.common == 0.0, "{unchanged:?}");
    }

    #[test]
    fn the_p_value_and_the_interval_agree() {
        for shift in [0.0, 0.05, 0.1, 0.2, 0.248_4, 0.248_5, 0.5, 1.0] {
            let pairs = [-0.1f64, 0.0, 0.1].map(|log| (1.0, (log + shift).exp()));
            let found = LogRatio::of_pairs(&pairs, 3).unwrap();
            let ratio = found.ratio(CONFIDENCE).unwrap();
            assert_eq!(found.p_value() < 0.05, 1.0 < ratio.low, "{shift}: {found:?}");
            let turned = LogRatio::of_pairs(&pairs.map(|(a, b)| (b, a)), 3).unwrap();
            assert_eq!(turned.p_value() < 0.05, turned.ratio(CONFIDENCE).unwrap().high < 1.0);
        }
    }

    /// By hand: error 0.01 with very many degrees of freedom: (1.95996 + 0.841621) · 0.01 = 0.0280158; e^… − 1.
    #[test]
    fn the_smallest_detectable_difference_by_hand() {
        let shown = MeasuredFigure {
            value: 1.0,
            relative: 0.01 / 2.0f64.sqrt(),
            degrees_of_freedom: DEGREES_OF_FREEDOM_MAX,
        };
        let found = LogRatio::of_runs(&[shown], &[shown], known(0.0)).unwrap();
        let more = found.detectable(Ratio(0.05), Ratio(0.8)).unwrap();
        assert!((more.0 - 0.028_412).abs() < 1e-5, "{more:?}");
        assert_eq!(found.detectable(Ratio(0.0), Ratio(0.8)), None);
        assert_eq!(found.detectable(Ratio(0.05), Ratio(1.0)), None);
    }

    #[test]
    fn impossible_figures_and_too_few_have_no_ratio() {
        let good = (1.0, 1.0);
        assert_eq!(LogRatio::of_pairs(&[good; 2], 1), None);
        for bad in [(0.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            assert_eq!(LogRatio::of_pairs(&[good, good, bad], 1), None);
            assert_eq!(LogRatio::of_repetitions(&[1.0, 1.0, bad.0], &[1.0, 1.0, bad.1], 1), None);
        }
        assert_eq!(LogRatio::of_repetitions(&[1.0; 2], &[1.0; 9], 1), None);
        let run = MeasuredFigure { value: 1.0, relative: 0.1, degrees_of_freedom: 9.0 };
        assert_eq!(LogRatio::of_runs(&[], &[run], known(0.02)), None);
        assert_eq!(LogRatio::of_runs(&[run], &[MeasuredFigure { value: 0.0, ..run }], known(0.02)), None);
        assert_eq!(
            LogRatio::of_runs(&[run], &[MeasuredFigure { relative: f64::NAN, ..run }], known(0.02)),
            None
        );
        assert_eq!(LogRatio::of_pairs(&[good; 3], 1).unwrap().ratio(Ratio(1.0)), None);
    }
}
