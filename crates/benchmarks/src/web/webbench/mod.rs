//! WebBench: static files and a CGI program at 16 numbers of clients.
//!
//! The original: suite NT_SIMPLE_CGI20 of WebBench 1.0, HTTP/1.0 without keep-alive. Its tree and its
//! proportions are not in any known source, so both are Plimsoll's own; `docs/benchmarks/webbench-1.0.md`
//! lists the origin of each figure. `webbench-later` has the static classes of later suites, from memory, and
//! is not part of 1.0.

use crate::Builtin;

/// WebBench 1.0, one request in five to a CGI program.
pub(crate) const WEBBENCH_1_0: Builtin = Builtin {
    id: "webbench-1.0",
    definition_file: "webbench-1.0.toml",
    definition: include_str!("definition-1.0.toml"),
    filelists: &[],
};

/// The static classes of later WebBench suites.
pub(crate) const WEBBENCH_LATER: Builtin = Builtin {
    id: "webbench-later",
    definition_file: "webbench-later.toml",
    definition: include_str!("definition-later.toml"),
    filelists: &[],
};

#[cfg(test)]
mod tests {
    use model::{ReplyBody, WebWorkload};
    use units::Nanos;

    use super::*;

    /// Returns sizes and shares of the file classes, in percent of the requests for files.
    fn classes(workload: &WebWorkload) -> Vec<(u64, f64)> {
        let shares: Vec<(u64, f64)> = (workload.requests.iter().enumerate())
            .filter_map(|(kind, request)| match &request.reply {
                ReplyBody::File(sizes) => Some((sizes[0], workload.request_share(kind))),
                _ => None,
            })
            .collect();
        let total: f64 = shares.iter().map(|(_, share)| share).sum();
        shares.into_iter().map(|(size, share)| (size, 100.0 * share / total)).collect()
    }

    fn mean(classes: &[(u64, f64)]) -> f64 {
        let total: f64 = classes.iter().map(|(_, share)| share).sum();
        classes.iter().map(|(size, share)| *size as f64 * share).sum::<f64>() / total
    }

    /// Golden check G24.
    #[test]
    fn the_tree_has_130_files_in_13_directories() {
        let workload = WEBBENCH_1_0.load().workload.web().unwrap().clone();
        let set = workload.file_set(60.0);
        assert_eq!((set.files.len(), set.bytes()), (130, 3_404_544));
        let classes = classes(&workload);
        assert!((mean(&classes) - 8168.4).abs() < 0.05);
        let shares = [10.0, 10.0, 9.0, 13.0, 20.0, 14.0, 16.0, 7.0, 0.7, 0.3];
        for (i, ((size, share), expected)) in classes.into_iter().zip(shares).enumerate() {
            assert_eq!(size, 256 << i);
            assert!((share - expected).abs() < 1e-9, "{size}");
        }
        let paths: Vec<&str> = set.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(&paths[..2], ["/f256.html", "/d01/f256.html"]);
        assert_eq!(paths[129], "/d10/a/b/f131072.html");
        let mut directories: Vec<&str> = paths.iter().map(|path| &path[..path.rfind('/').unwrap()]).collect();
        directories.sort_unstable();
        directories.dedup();
        assert_eq!(directories.len(), 13);
    }

    #[test]
    fn one_request_in_five_goes_to_the_program() {
        let workload = WEBBENCH_1_0.load().workload.web().unwrap().clone();
        let cgi = workload.requests.iter().position(|request| request.name == "cgi").unwrap();
        assert!((workload.request_share(cgi) - 0.2).abs() < 1e-12);
        assert_eq!(workload.requests[cgi].reply, ReplyBody::Letters { bytes: 1024, markup: true });
        assert_eq!(workload.requests[cgi].path_of(77), "/cgi-bin/simple?seed=77");
        assert_eq!(workload.requests[cgi].letters_seed(77), 77);
    }

    /// Golden check G23: 16 steps of 30 + 240 + 30 s, 4800 s in total.
    #[test]
    fn sixteen_load_points_take_five_minutes_each() {
        for builtin in [&WEBBENCH_1_0, &WEBBENCH_LATER] {
            let definition = builtin.load().definition;
            let levels = definition.load.levels.list(None, definition.load.unit);
            let mut expected = vec![1.0];
            expected.extend((1..=15).map(|step| f64::from(4 * step)));
            assert_eq!(levels, expected);
            assert_eq!(definition.phases.steady, Nanos::from_secs(240));
            assert_eq!(definition.phases.issuing(), Nanos::from_secs(300));
            assert_eq!(levels.len() as u64 * definition.phases.issuing().0, Nanos::from_secs(4800).0);
        }
    }

    /// The mean of the seven named classes is 5245 B.
    #[test]
    fn the_later_table_has_the_recorded_mean() {
        let workload = WEBBENCH_LATER.load().workload.web().unwrap().clone();
        let named = &classes(&workload)[..7];
        assert!((mean(named) - 5245.0).abs() < 0.5, "{}", mean(named));
        let percent: Vec<f64> = (0..9).map(|kind| (workload.request_share(kind) * 100.0).round()).collect();
        assert_eq!(percent, [20.0, 8.0, 12.0, 20.0, 14.0, 16.0, 7.0, 1.0, 2.0]);
        assert_eq!(workload.requests[8].status, 404);
        let missing = workload.requests[8].path_of(0);
        assert!(workload.file_set(60.0).files.iter().all(|file| file.path != missing));
    }
}
