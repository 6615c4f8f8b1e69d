//! The benchmark's score at a load point, as the catalog states it: [`model::Score`] has the formulas.

use model::{Load, Score};
use stats::weighted_harmonic_mean;

use super::times::interval_of;
use crate::fold::{KindSums, PointFold, ScoreSecond, SecondTotals, SteadyTotals, counts};

/// Bits of a byte ÷ bits of a megabit.
const MEGABITS: f64 = 8.0 / 1e6;

/// Returns the score of the steady phase as far as it was recorded; `None` if a kind with a weight had no success, and
/// of a harmonic score in an open loop.
pub(super) fn score(score: &Score, load: Load, totals: &SteadyTotals) -> Option<f64> {
    match score {
        Score::Rate { kinds, per } => {
            let counted = totals.kinds.iter().enumerate().filter(|(kind, _)| counts(kinds, *kind));
            let n = counted.fold(0, |sum: u64, (_, kind)| sum.saturating_add(kind.response.n));
            Some(per.seconds() * totals.per_second(n as f64))
        }
        Score::Weighted { weights, per } => {
            Some(per.seconds() * totals.per_second(weighted(weights, &totals.kinds)))
        }
        Score::Throughput { measures } => {
            let bytes = totals.kinds.iter().map(|kind| sum_of(kind, measures));
            Some(totals.per_second(MEGABITS * bytes.fold(0, u128::saturating_add) as f64))
        }
        Score::Harmonic { weights } => harmonic(weights, users(load)?, &totals.kinds),
    }
}

/// Returns the rate of the clients of a harmonic score by their own sums; `None` of another score, and in an open loop.
pub(super) fn rate_of_clients(score: &Score, load: Load, totals: &SteadyTotals) -> Option<f64> {
    let users = users(load).filter(|_| matches!(score, Score::Harmonic { .. }))?;
    stats::rate_of_clients(users, totals.n() as f64, totals.response_seconds())
}

/// Returns each second of the steady phase as a numerator and a denominator: the ratio of their sums is the score.
///
/// The numerator of a rate or throughput is the figure of the second, the denominator 1. Of a harmonic score
/// N ÷ D with D = Σ w_k·R̄_k, the numerator is N and the denominator D + c_t, with the second's contribution
/// c_t = Σ w_k · (S_kt − R̄_k·n_kt) ÷ n̄_k to the sum of ratios (S response times, n operations, n̄ mean per second), whose
/// mean is zero.
///
/// Source: the linearized ratio estimator (Law, Simulation Modeling and Analysis, 5th edition, section 9.3).
pub(super) fn seconds(score: &Score, fold: &PointFold) -> Vec<(f64, f64)> {
    let factor = match score {
        score if score.is_operation_rate() => {
            return fold.seconds.steady().map(SecondTotals::rate).map(|rate| (rate, 1.0)).collect();
        }
        Score::Harmonic { weights } => {
            return harmonic_seconds(weights, fold).unwrap_or_default();
        }
        Score::Rate { per, .. } | Score::Weighted { per, .. } => per.seconds(),
        Score::Throughput { .. } => MEGABITS,
    };
    let figure = |second: &ScoreSecond| factor * second.amount / second.length;
    fold.score_seconds.all.iter().map(|second| (figure(second), 1.0)).collect()
}

/// Returns the 95 % interval for the score by batch means over its seconds; `None` if they are too few.
pub(super) fn interval(score: &Score, seconds: &[(f64, f64)]) -> Option<(f64, f64)> {
    if !matches!(score, Score::Harmonic { .. }) {
        return interval_of(&seconds.iter().map(|(figure, _)| *figure).collect::<Vec<_>>());
    }
    let (users, _) = seconds.first()?;
    let (low, high) = interval_of(&seconds.iter().map(|(_, time)| *time).collect::<Vec<_>>())?;
    (0.0 < low).then(|| (users / high, users / low))
}

fn users(load: Load) -> Option<f64> {
    load.is_closed().then(|| load.level())
}

fn sum_of(kind: &KindSums, measures: &[usize]) -> u128 {
    let sums = measures.iter().filter_map(|measure| kind.measures.get(*measure)).map(|one| one.sum);
    sums.fold(0, u128::saturating_add)
}

/// Returns the number of successful operations, each counted with the weight of its kind.
fn weighted(weights: &[f64], kinds: &[KindSums]) -> f64 {
    weights.iter().zip(kinds).map(|(weight, kind)| weight * kind.response.n as f64).sum()
}

/// Returns the weighted harmonic mean of the rates N ÷ R̄_k that the users would reach with each kind alone.
fn harmonic(weights: &[f64], users: f64, kinds: &[KindSums]) -> Option<f64> {
    let weighted = weights.iter().zip(kinds).filter(|(weight, _)| 0.0 < **weight);
    let rates = weighted.map(|(weight, kind)| Some((*weight, users / (kind.response.mean()? / 1e9))));
    weighted_harmonic_mean(rates.collect::<Option<Vec<_>>>()?)
}

fn harmonic_seconds(weights: &[f64], fold: &PointFold) -> Option<Vec<(f64, f64)>> {
    let users = users(fold.point.load)?;
    let time = users / harmonic(weights, users, &fold.steady.kinds)?;
    let n_seconds = fold.score_seconds.all.len() as f64;
    let contribution = |second: &ScoreSecond| -> f64 {
        let kinds = weights.iter().zip(&fold.steady.kinds).zip(&second.kinds);
        let weighted = kinds.filter(|((weight, _), _)| 0.0 < **weight);
        let of_kind = |((weight, kind), (n, sum)): ((&f64, &KindSums), &(u64, u128))| {
            let mean = kind.response.mean().unwrap_or(0.0);
            let per_second = kind.response.n as f64 / n_seconds;
            weight * (*sum as f64 - mean * *n as f64) / 1e9 / per_second
        };
        weighted.map(of_kind).sum()
    };
    Some(fold.score_seconds.all.iter().map(|second| (users, time + contribution(second))).collect())
}

#[cfg(test)]
mod tests {
    use mail::{CountedItem, LoopModel, MailScript};
    use model::RateTime;

    use super::*;

    /// Returns the score of a load point whose kinds had these response times in ns, one each.
    fn of(weights: &[f64], users: f64, times: &[u64]) -> f64 {
        let kind = |time: &u64| {
            let mut kind = KindSums::new(0);
            kind.response.record(*time);
            kind
        };
        harmonic(weights, users, &times.iter().map(kind).collect::<Vec<_>>()).unwrap()
    }

    /// The check values of the application server's specification, 9.6: N = 8, w = 0.2 each, R̄ = 4, 20, 5, 8, 10 ms:
    /// r = 2000, 400, 1600, 1000, 800, score 851.063830. The weighted mean of 250, 125, 500, 50, 40 with weights 4, 4, 4,
    /// 1, 1 is 138.613861.
    #[test]
    fn the_harmonic_score_is_that_of_the_specification() {
        let times = [4, 20, 5, 8, 10].map(|ms: u64| ms * 1_000_000);
        assert!((of(&[0.2; 5], 8.0, &times) - 851.063_830).abs() < 1e-6);
        let weights = [4.0, 4.0, 4.0, 1.0, 1.0].map(|weight: f64| weight / 14.0);
        let times = [4_000_000, 8_000_000, 2_000_000, 20_000_000, 25_000_000];
        assert!((of(&weights, 1.0, &times) - 138.613_861).abs() < 1e-6);
    }

    /// Golden check 8 of the specification of mail: six loops, in which all of its items are, weigh 6 · 20 or 6 · 36. The
    /// printed rates (users, response time in s) follow from them within 1 %, because their own fit has loops of 20.1 and
    /// 35.87.
    #[test]
    fn the_weighted_score_of_mail_is_that_of_the_specification() {
        let (mail, mail_db) = (LoopModel::PUBLISHED_MAIL, LoopModel::PUBLISHED_MAIL_DB);
        for (script, of_loop, model, users, response, printed) in [
            (MailScript::Mail, 20.0, mail, 2200.0, 0.360, 2917.0),
            (MailScript::Mail, 20.0, mail, 1795.0, 0.704, 2356.0),
            (MailScript::MailDb, 36.0, mail_db, 1700.0, 1.427, 3914.0),
            (MailScript::MailDb, 36.0, mail_db, 1400.0, 1.670, 3203.0),
        ] {
            let items: Vec<CountedItem> = script.items().collect();
            let weights: Vec<f64> = items.iter().map(|item| f64::from(item.weight())).collect();
            let mut kinds = vec![KindSums::new(0); items.len()];
            for step in script.steps() {
                let kind = items.iter().position(|item| *item == step.item).unwrap();
                (0..6 * step.times / step.every).for_each(|_| kinds[kind].response.record(1));
            }
            let sum = weighted(&weights, &kinds);
            assert!((sum - 6.0 * of_loop).abs() < 1e-9, "{script:?}: {sum}");
            let rate = users * sum / (6.0 * model.loop_seconds(response) / RateTime::Minute.seconds());
            assert!((rate / printed - 1.0).abs() < 0.01, "{script:?}: {rate}");
        }
    }
}
