//! The law of a simulated server: the distribution of its service times.

use units::{Nanos, Rng};

/// The distribution of service times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServiceTimeDistribution {
    /// A constant time.
    Fixed(Nanos),
    /// Negative exponential with this mean.
    Exponential(Nanos),
    /// One of two: `long` with probability `long_share` (from 0 to 1), else `short`.
    TwoPoint {
        /// The shorter time.
        short: Nanos,
        /// The longer time.
        long: Nanos,
        /// Probability of the longer one.
        long_share: f64,
    },
}

impl ServiceTimeDistribution {
    /// Returns the mean service time S, in s.
    pub fn mean(self) -> f64 {
        match self {
            ServiceTimeDistribution::Fixed(time) | ServiceTimeDistribution::Exponential(time) => {
                time.as_secs_f64()
            }
            ServiceTimeDistribution::TwoPoint { short, long, long_share } => {
                (1.0 - long_share) * short.as_secs_f64() + long_share * long.as_secs_f64()
            }
        }
    }

    /// Returns the squared coefficient of variation, variance ÷ S²: 0 for a fixed time, 1 for a negative
    /// exponential one, p(1 − p)·(long − short)² ÷ S² for two points.
    pub fn variation_squared(self) -> f64 {
        match self {
            ServiceTimeDistribution::Fixed(_) => 0.0,
            ServiceTimeDistribution::Exponential(_) => 1.0,
            ServiceTimeDistribution::TwoPoint { short, long, long_share } => {
                let distance = long.as_secs_f64() - short.as_secs_f64();
                long_share * (1.0 - long_share) * (distance / self.mean()).powi(2)
            }
        }
    }

    /// Draws a service time. Takes one draw from the stream whatever the law, so that laws can be exchanged.
    pub(crate) fn draw(self, rng: &mut Rng) -> Nanos {
        match self {
            ServiceTimeDistribution::Exponential(mean) => rng.exponential(mean),
            ServiceTimeDistribution::Fixed(time) => {
                rng.uniform();
                time
            }
            ServiceTimeDistribution::TwoPoint { short, long, long_share } => {
                if rng.uniform() < long_share {
                    long
                } else {
                    short
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;

    /// By hand: 1 ms and 11 ms, a tenth of them long: mean 0.9 + 1.1 = 2 ms; variance 0.09·100 = 9 ms², ÷ 4 = 2.25.
    #[test]
    fn two_points_by_hand() {
        let law = ServiceTimeDistribution::TwoPoint {
            short: Nanos::from_millis(1),
            long: Nanos::from_millis(11),
            long_share: 0.1,
        };
        assert!((law.mean() - 0.002).abs() < 1e-12);
        assert!((law.variation_squared() - 2.25).abs() < 1e-9);
    }

    /// n = 10⁵: the mean within four standard errors, S·√(v ÷ n).
    #[test]
    fn draws_have_the_mean_of_the_law() {
        let ms = Nanos::from_millis;
        for law in [
            ServiceTimeDistribution::Fixed(ms(2)),
            ServiceTimeDistribution::Exponential(ms(2)),
            ServiceTimeDistribution::TwoPoint { short: ms(1), long: ms(11), long_share: 0.1 },
        ] {
            let mut rng = Rng::new(1, StreamPurpose::Simulation, 0);
            let mean = (0..100_000).map(|_| law.draw(&mut rng).as_secs_f64()).sum::<f64>() / 1e5;
            let error = law.mean() * (law.variation_squared() / 1e5).sqrt();
            assert!((mean - law.mean()).abs() <= 4.0 * error + 1e-12, "{law:?}: {mean}");
        }
    }
}
