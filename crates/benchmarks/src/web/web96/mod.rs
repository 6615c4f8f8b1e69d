//! web96: static files in four size classes at a fixed rate, in the style of SPECweb96.
//!
//! The original: operations at a requested rate over HTTP/1.0, a file set that grows with the square root of
//! that rate, ten load points. This version does the same as one open-loop schedule; details that the sources
//! leave open and every known difference are in `docs/benchmarks/web96.md`.

use crate::Builtin;

/// SPECweb96-style static files.
pub(crate) const WEB96: Builtin = Builtin {
    id: "web96",
    definition_file: "web96.toml",
    definition: include_str!("definition.toml"),
    filelists: &[],
};

#[cfg(test)]
mod tests {
    use model::{Overrides, Plan, SutPlan, WebWorkload, make_plan};
    use units::Nanos;

    use super::*;
    use crate::Benchmark;

    const MIB: u64 = 1 << 20;

    fn plan(change: impl FnOnce(&mut Overrides)) -> Plan {
        let Benchmark { definition, workload, .. } = WEB96.load();
        let mut overrides = Overrides::new(SutPlan::of("built-in"));
        change(&mut overrides);
        make_plan(&definition, workload, &overrides).unwrap()
    }

    fn workload() -> WebWorkload {
        WEB96.load().workload.web().unwrap().clone()
    }

    /// Golden check G15, and the sizes ⌊102.4·i⌋, 1024·i, 10240·i, 102400·i.
    #[test]
    fn a_directory_has_36_files_and_5119484_bytes() {
        // √(20 · 0.05) = 1.
        let set = workload().file_set(0.05);
        assert_eq!((set.files.len(), set.bytes()), (36, 5_119_484));
        let mut sizes: Vec<u64> = set.files.iter().map(|file| file.bytes).collect();
        sizes.sort_unstable();
        let class = |tenths: u64| (1..=9).map(move |i| tenths * i / 10);
        let expected: Vec<u64> = [1024, 10_240, 102_400, 1_024_000].into_iter().flat_map(class).collect();
        assert_eq!(sizes, expected);
        assert_eq!(set.files[0].path, "/spec/dir00000/class0_0");
    }

    /// Golden checks G16, G17 and G18: directories, files, bytes and MB (2²⁰ B, truncated).
    #[test]
    fn file_sets_match_the_published_sizes() {
        let bytes_of_directory = 5_119_484;
        for (load, directories, mb) in [
            (5.0, 10, 48),
            (100.0, 45, 219),
            (500.0, 100, 488),
            (1000.0, 142, 693),
            (1650.0, 182, 888),
            (2150.0, 208, 1015),
            (10_000.0, 448, 2187),
        ] {
            assert_eq!(workload().n_files(load), directories * 36, "{load}");
            assert_eq!(directories * bytes_of_directory / MIB, mb, "{load}");
        }
        let spare = workload().file_set(1650.0);
        let full = workload().file_set(2150.0);
        assert_eq!((spare.files.len(), spare.bytes()), (6552, 931_746_088));
        assert_eq!((full.files.len(), full.bytes()), (7488, 1_064_852_672));
        assert_eq!(full.files.iter().filter(|file| file.path.starts_with("/spec/dir00207/")).count(), 36);
    }

    /// Golden check G19, and the mean with the alternatives: 15,027.0 B if files are selected uniformly,
    /// 14,726.2 B with SPECweb99's table.
    #[test]
    fn the_mean_body_matches_the_specification() {
        let mean = |pick: &str| {
            let pick = model::Family::Web.choose_setting("pick.file", pick).unwrap();
            let plan = plan(|run| run.settings = vec![pick]);
            plan.workload.web().unwrap().mean_body_bytes().unwrap()
        };
        assert!((workload().mean_body_bytes().unwrap() - 14_565.5).abs() < 0.05);
        assert!((mean("uniform") - 15_027.0).abs() < 0.05);
        let specweb99 = mean("weights:3.9,5.9,8.8,17.7,35.3,11.8,7.1,5.0,4.4");
        assert!((specweb99 - 14_726.2).abs() < 0.05, "{specweb99}");
    }

    #[test]
    fn classes_have_their_shares_and_are_checked_against_them() {
        let workload = workload();
        let shares: Vec<f64> = (0..4).map(|class| workload.request_share(class)).collect();
        assert_eq!(shares, [0.35, 0.50, 0.14, 0.01]);
        let limits: Vec<f64> = workload.requests.iter().filter_map(|class| class.share_gap_max).collect();
        assert_eq!(limits, [0.05, 0.05, 0.05, 0.10]);
    }

    #[test]
    fn ten_load_points_are_evenly_spaced_up_to_the_maximum() {
        let plan = plan(|run| run.max_load = Some(1650.0));
        let levels: Vec<f64> = plan.load_points.iter().map(|point| point.load.level()).collect();
        assert_eq!(levels, (1..=10).map(|step| f64::from(step) * 165.0).collect::<Vec<_>>());
        assert_eq!(plan.modifications, [], "the maximum is chosen by the tester");
        assert_eq!((plan.phases.settle, plan.phases.steady), (Nanos::from_secs(300), Nanos::from_secs(600)));
        assert_eq!(plan.file_set().bytes() / MIB, 888);
        assert_eq!(plan.workload.file_bytes(plan.level_max()), plan.file_set().bytes());
    }

    /// Golden check G21: the published results delivered 0.9933 and 0.9912 of the requested rate.
    #[test]
    fn the_published_results_pass_the_delivery_rule() {
        let limit = plan(|_| {}).rules.delivered_ratio_min;
        for (delivered, requested, ratio) in [(1639.0, 1650.0, 0.9933), (2131.0, 2150.0, 0.9912)] {
            let found: f64 = delivered / requested;
            assert!((found - ratio).abs() < 5e-5 && limit < found);
        }
    }

    /// n = 10⁵ draws: the first directory has 1/H₁₈₂ = 17.29 % of all requests, three standard deviations of 0.12 %.
    #[test]
    fn the_first_directory_is_requested_most() {
        let schedule = crate::web::pages::PageSchedule::new(&workload(), 1, 1650.0);
        let n = 100_000;
        let top = (0..n).filter(|k| schedule.operation(*k).number < 9).count() as f64 / n as f64;
        assert!((top - 0.1729).abs() < 0.0036, "{top}");
    }
}
