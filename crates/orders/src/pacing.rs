//! The times at which terminals enter transactions.

use units::{Nanos, Rng};

use crate::TransactionType;

/// A multiple of the mean at which think times are cut, as the specification allows.
const THINK_TIME_CUT: f64 = 10.0;

/// The pauses of a terminal around a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// `spec`: a fixed keying time before a transaction, and a think time after it, each by type.
    Specified,
    /// `bf`: no keying time, and think times of one mean, as Benchmark Factory has them.
    Exponential {
        /// The mean think time; 270 ms in the ProLiant report.
        mean: Nanos,
    },
    /// `flat`: no pauses.
    Flat,
}

impl Pacing {
    /// The pacing of the ProLiant report: exponential, mean 270 ms.
    pub const PROLIANT: Pacing = Pacing::Exponential { mean: Nanos::from_millis(270) };

    /// Returns the keying time before a transaction.
    ///
    /// Source: TPC-C revision 5.11, clause 5.2.5.7.
    pub fn keying(self, kind: TransactionType) -> Nanos {
        match (self, kind) {
            (Pacing::Exponential { .. } | Pacing::Flat, _) => Nanos::ZERO,
            (Pacing::Specified, TransactionType::NewOrder) => Nanos::from_secs(18),
            (Pacing::Specified, TransactionType::Payment) => Nanos::from_secs(3),
            (Pacing::Specified, _) => Nanos::from_secs(2),
        }
    }

    /// Draws the think time after a transaction; `spec` cuts it at ten times the mean.
    pub fn think(self, kind: TransactionType, rng: &mut Rng) -> Nanos {
        match self {
            Pacing::Specified => cut_exponential(self.think_mean(kind), 1.0 - rng.uniform()),
            Pacing::Exponential { mean } => rng.exponential(mean),
            Pacing::Flat => Nanos::ZERO,
        }
    }

    /// Returns the mean think time after a transaction, not cut.
    ///
    /// Source: TPC-C revision 5.11, clause 5.2.5.7.
    pub fn think_mean(self, kind: TransactionType) -> Nanos {
        match (self, kind) {
            (Pacing::Exponential { mean }, _) => mean,
            (Pacing::Flat, _) => Nanos::ZERO,
            (Pacing::Specified, TransactionType::NewOrder | TransactionType::Payment) => Nanos::from_secs(12),
            (Pacing::Specified, TransactionType::OrderStatus) => Nanos::from_secs(10),
            (Pacing::Specified, TransactionType::Delivery | TransactionType::StockLevel) => {
                Nanos::from_secs(5)
            }
        }
    }

    /// Returns the mean time from transaction to transaction of a terminal whose transactions take no time, in seconds.
    ///
    /// Formula: Σ share · (keying time + mean think time), with the shares of the types in the order of
    /// [`TransactionType::ALL`]. `N` terminals enter at most `N` ÷ this many transactions per second.
    pub fn mean_cycle(self, shares: [f64; 5]) -> f64 {
        let pauses = TransactionType::ALL.map(|kind| self.keying(kind) + self.think_mean(kind));
        pauses.iter().zip(shares).map(|(pause, share)| pause.as_secs_f64() * share).sum()
    }
}

/// Returns the think time of a uniform number in (0, 1].
///
/// Formula: −ln(u) · mean, at most ten times the mean. Source: TPC-C revision 5.11, clause 5.2.5.4.
fn cut_exponential(mean: Nanos, u: f64) -> Nanos {
    Nanos::from_secs_f64((-u.ln()).min(THINK_TIME_CUT) * mean.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;
    use crate::TransactionMix;

    /// Golden check 9.1: the times in ms, and what cutting does to the mean: 1 − e⁻¹⁰ of it is left.
    #[test]
    fn think_times_are_exponential_and_cut_at_ten_means() {
        let times =
            [0.9, 0.5, 0.1, 0.01].map(|u| cut_exponential(Nanos::from_millis(270), u).as_millis_f64());
        for (time, expected) in times.into_iter().zip([28.447, 187.150, 621.698, 1243.396]) {
            assert!((time - expected).abs() < 0.0005, "{time}");
        }
        let mean = Nanos::from_secs(12);
        assert_eq!(cut_exponential(mean, 1.0), Nanos::ZERO);
        assert_eq!(cut_exponential(mean, 4.53e-5), Nanos::from_secs(120));
        assert!(cut_exponential(mean, 4.55e-5) < Nanos::from_secs(120));
        let n = 200_000;
        let times =
            (0..n).map(|at| cut_exponential(mean, (f64::from(at) + 0.5) / f64::from(n)).as_secs_f64());
        let ratio = times.sum::<f64>() / f64::from(n) / 12.0;
        assert!((ratio - 0.999_954_60).abs() < 2e-6, "{ratio}");
    }

    /// Golden check 9.5: the mean cycle in s, and new orders per minute and warehouse with its ten terminals.
    #[test]
    fn the_mean_cycle_bounds_the_new_orders_of_a_warehouse() {
        let expected =
            [(TransactionMix::Weighted, 20.99, 12.86327), (TransactionMix::Deck, 20.69565, 12.60504)];
        for (mix, seconds, rate) in expected {
            let cycle = Pacing::Specified.mean_cycle(mix.shares());
            assert!((cycle - seconds).abs() < 5e-6, "{cycle}");
            assert!((10.0 * 60.0 / cycle * mix.shares()[0] - rate).abs() < 5e-6, "{mix:?}");
        }
    }

    /// Golden check 9.5: transactions per second of 100, 500 and 1,000 users without response time.
    #[test]
    fn think_times_bound_the_transactions_of_users() {
        let cycle = Pacing::PROLIANT.mean_cycle(TransactionMix::Weighted.shares());
        for (users, rate) in [(100.0, 370.370), (500.0, 1851.852), (1000.0, 3703.704)] {
            assert!((users / cycle - rate).abs() < 0.0005);
        }
        assert_eq!(Pacing::Flat.mean_cycle(TransactionMix::Weighted.shares()), 0.0);
    }

    #[test]
    fn pauses_are_drawn_as_the_pacing_says() {
        let rng = &mut Rng::new(1, StreamPurpose::User, 0);
        let mut mean = |pacing: Pacing, kind| {
            let sum: f64 = (0..40_000).map(|_| pacing.think(kind, rng).as_secs_f64()).sum();
            sum / 40_000.0
        };
        // Four standard errors of the mean: 4 ÷ √40,000 = 2 %.
        assert!((mean(Pacing::Specified, TransactionType::OrderStatus) / 10.0 - 1.0).abs() < 0.02);
        assert!((mean(Pacing::PROLIANT, TransactionType::OrderStatus) / 0.27 - 1.0).abs() < 0.02);
        assert_eq!(mean(Pacing::Flat, TransactionType::OrderStatus), 0.0);
        let keyed = TransactionType::ALL.map(|kind| Pacing::Specified.keying(kind).as_secs_f64());
        assert_eq!(keyed, [18.0, 3.0, 2.0, 2.0, 2.0]);
        assert_eq!(Pacing::PROLIANT.keying(TransactionType::NewOrder), Nanos::ZERO);
    }
}
