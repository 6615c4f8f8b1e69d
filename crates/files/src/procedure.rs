//! The procedures of published results: how many clients, for how long, with how much data.

use units::{Nanos, Ratio};

/// A procedure: load points of growing numbers of clients, each of the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetBenchProcedure {
    /// Its name.
    pub name: &'static str,
    /// The number of clients of each load point.
    pub clients: &'static [u32],
    /// The length of a load point, with both ramps.
    pub length: Nanos,
    /// The first part of it, which is not measured.
    pub ramp_up: Nanos,
    /// The last part of it, which is not measured.
    pub ramp_down: Nanos,
    /// The longest time that a client waits before it begins; each draws its own.
    pub stagger: Nanos,
    /// The workspace of a client, in MB or MiB as its source says.
    pub workspace_megabytes: u32,
}

impl NetBenchProcedure {
    /// The one of IBM's report on the PC Server 330 with NetBench 5.01, of September 1997. The report does not say how
    /// starts were spread.
    pub const IBM97: NetBenchProcedure = NetBenchProcedure {
        name: "ibm97",
        clients: &[4, 12, 20, 28, 36, 44, 52, 60],
        length: Nanos::from_secs(660),
        ramp_up: Nanos::from_secs(30),
        ramp_down: Nanos::from_secs(30),
        stagger: Nanos::from_secs(5),
        workspace_megabytes: 80,
    };

    /// The one of Mindcraft's Open Benchmark, of 1999.
    pub const MINDCRAFT99: NetBenchProcedure = NetBenchProcedure {
        name: "mindcraft99",
        clients: &[1, 12, 24, 36, 48, 60, 72, 84, 96, 108, 120],
        workspace_megabytes: 20,
        ..NetBenchProcedure::IBM97
    };

    /// Returns the part of a load point that is measured.
    pub fn window(&self) -> Nanos {
        self.length.saturating_sub(self.ramp_up).saturating_sub(self.ramp_down)
    }

    /// Returns the length of all load points.
    pub fn total(&self) -> Nanos {
        Nanos(self.length.0.saturating_mul(self.clients.len() as u64))
    }
}

/// The part of a run of dbench that comes before what is measured and is added to it.
pub const DBENCH_WARM_UP: Ratio = Ratio(1.0 / 5.0);

/// The same of smbtorture's `bench.nbench`.
pub const SMBTORTURE_WARM_UP: Ratio = Ratio(1.0 / 20.0);

/// Returns the time that is added to a run before what is measured.
pub fn warm_up(share: Ratio, measured: Nanos) -> Nanos {
    Nanos::from_secs_f64(measured.as_secs_f64() * share.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FilePopulation, Workspace};

    /// Golden check 16: 660 − 30 − 30 = 600 s; 8 steps of 11 minutes are 88 minutes.
    #[test]
    fn a_load_point_measures_ten_of_its_eleven_minutes() {
        let ibm = NetBenchProcedure::IBM97;
        assert_eq!((ibm.window(), ibm.total()), (Nanos::from_secs(600), Nanos::from_secs(88 * 60)));
        let steps: Vec<u32> = (0..8).map(|step| 4 + 8 * step).collect();
        assert_eq!(ibm.clients, steps);
        let steps: Vec<u32> = std::iter::once(1).chain((1..=10).map(|step| 12 * step)).collect();
        assert_eq!(NetBenchProcedure::MINDCRAFT99.clients, steps);
    }

    /// Golden check 17: 60 clients of 80 MB have 4.8 GB, 37.5 times the memory of 128 MB. Ours are MiB, in the same
    /// proportion.
    #[test]
    fn the_largest_load_point_has_37_times_the_memory_of_the_server() {
        let ibm = NetBenchProcedure::IBM97;
        let most = *ibm.clients.iter().max().unwrap();
        assert_eq!(u64::from(most) * u64::from(ibm.workspace_megabytes), 4800);
        let workspace = Workspace::new(ibm.workspace_megabytes).unwrap();
        let population = FilePopulation { workspace, n_clients: most };
        assert_eq!(population.private_bytes() as f64 / f64::from(128 << 20), 37.5);
    }

    /// Golden check 14: of 600 s, 120 s with dbench and 30 s with smbtorture.
    #[test]
    fn other_tools_warm_up_for_a_share_of_the_time() {
        let ten_minutes = Nanos::from_secs(600);
        assert_eq!(warm_up(DBENCH_WARM_UP, ten_minutes), Nanos::from_secs(120));
        assert_eq!(warm_up(SMBTORTURE_WARM_UP, ten_minutes), Nanos::from_secs(30));
    }
}
