//! The saturation of a closed loop, from the demands that an operation makes on each resource.
//!
//! N users, Z mean think time (s), D_k time that an operation keeps resource k busy (s), m_k servers
//! of that kind (CPUs, disks). D_max is the largest D_k ÷ m_k.

/// The demand of an operation on one resource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// D, the time that one operation keeps it busy, in s, summed over its servers.
    pub busy: f64,
    /// m, how many servers share the work: CPUs, disks; at least 1.
    pub servers: f64,
}

impl Demand {
    /// Returns the share of the time between two operations at full speed, D ÷ m, in s.
    fn per_server(&self) -> f64 {
        self.busy / self.servers
    }
}

/// Returns N*, the number of users from which on the busiest resource sets the limit: (Z + ΣD) ÷ D_max.
///
/// Below it users seldom meet, above they must. `None` if nothing is demanded, or if a figure is not
/// a number of at least zero.
///
/// Source: where the two asymptotic bounds N ÷ (Z + ΣD) and 1 ÷ D_max cross, Denning and Buzen 1978; Lazowska et al.
/// 1984, Quantitative System Performance, chapter 5.
pub fn saturation_users(think: f64, demands: &[Demand]) -> Option<f64> {
    let (total, largest) = totals(demands)?;
    (0.0 <= think && 0.0 < largest).then(|| (think + total) / largest).filter(|users| users.is_finite())
}

/// Returns ΣD and D_max; `None` unless all demands are possible.
fn totals(demands: &[Demand]) -> Option<(f64, f64)> {
    let possible = |demand: &Demand| 0.0 <= demand.busy && 1.0 <= demand.servers;
    let total = demands.iter().map(|demand| demand.busy).sum();
    let largest = demands.iter().map(Demand::per_server).fold(0.0, f64::max);
    demands.iter().all(possible).then_some((total, largest))
}

#[cfg(test)]
mod tests {

    use super::*;

    fn demands(of: &[(f64, f64)]) -> Vec<Demand> {
        of.iter().map(|(busy, servers)| Demand { busy: *busy, servers: *servers }).collect()
    }

    /// By hand: CPU 20 ms on two CPUs, disk 30 ms: D_max 30 ms, ΣD 50 ms. With Z 0.4 s: N* = 0.45 ÷ 0.03 = 15.
    #[test]
    fn two_resources_by_hand() {
        let found = saturation_users(0.4, &demands(&[(0.02, 2.0), (0.03, 1.0)]));
        assert!((found.unwrap() - 15.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn what_is_not_bounded_or_not_possible_gives_none() {
        assert_eq!(saturation_users(1.0, &[]), None);
        for bad in [(-0.1, 1.0), (0.1, 0.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0)] {
            assert_eq!(saturation_users(1.0, &demands(&[bad])), None, "{bad:?}");
        }
        assert_eq!(saturation_users(-1.0, &demands(&[(0.1, 1.0)])), None);
    }
}
