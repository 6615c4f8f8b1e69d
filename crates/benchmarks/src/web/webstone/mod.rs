//! WebStone 1.1 and 2.x: virtual users that fetch static files without a pause.
//!
//! The original: closed loop, no think time, HTTP/1.0, a connection per file; 1.1 fetches files in pages, 2.x
//! one at a time. This version does the same with verified bodies, so that a wrong length or a wrong byte is
//! an error; every known difference is listed in `docs/benchmarks/webstone-1.1.md` and `webstone-2.0.1.md`.
//!
//! - `filelist`: both formats of the list of files

mod filelist;
mod filelist_lines;
mod filelist_pages;
mod filelist_single;

pub use filelist::{Filelist, FilelistFormat, OBJECT_BYTES_MAX, OBJECTS_MAX, WEIGHT_MAX};

use crate::{Builtin, BuiltinFilelist};

/// WebStone 1.1.
pub const WEBSTONE_1_1: Builtin = Builtin {
    id: "webstone-1.1",
    definition_file: "webstone-1.1.toml",
    definition: include_str!("definition-1.1.toml"),
    filelists: &[BuiltinFilelist { name: "filelist-1.1.txt", text: include_str!("filelist-1.1.txt") }],
};

/// WebStone 2.0.1; 2.5 gives the same numbers.
pub const WEBSTONE_2_0_1: Builtin = Builtin {
    id: "webstone-2.0.1",
    definition_file: "webstone-2.0.1.toml",
    definition: include_str!("definition-2.0.1.toml"),
    filelists: &[
        BuiltinFilelist { name: "filelist-2.0.1.txt", text: include_str!("filelist-2.0.1.txt") },
        BuiltinFilelist { name: "dynamic-light", text: include_str!("filelist-dynamic-light.txt") },
        BuiltinFilelist { name: "dynamic-medium", text: include_str!("filelist-dynamic-medium.txt") },
        BuiltinFilelist { name: "dynamic-heavy", text: include_str!("filelist-dynamic-heavy.txt") },
    ],
};

#[cfg(test)]
mod tests {
    use model::ReplyBody;

    use crate::{builtin_filelist, filelist_workload, find};

    /// The standard files' weights, with 25, 50 and 100 % of the requests for generated pages.
    #[test]
    fn dynamic_filelists_replace_a_share_of_the_requests() {
        let benchmark = find("webstone-2.0.1").unwrap().load();
        for (name, dynamic) in [("dynamic-light", 0.25), ("dynamic-medium", 0.5), ("dynamic-heavy", 1.0)] {
            let filelist = builtin_filelist("webstone-2.0.1", name).unwrap();
            let web = benchmark.definition.workload.web().unwrap();
            let workload = filelist_workload(web, name, filelist.text).unwrap();
            let is_made = |kind: &usize| matches!(workload.requests[*kind].reply, ReplyBody::Letters { .. });
            let made = (0..workload.requests.len()).filter(is_made);
            let share: f64 = made.map(|kind| workload.request_share(kind)).sum();
            assert!((share - dynamic).abs() < 1e-12, "{name}: {share}");
            assert!((workload.mean_body_bytes().unwrap() - 19_773.0).abs() < 1e-6, "{name}");
        }
        assert!(builtin_filelist("webstone-1.1", "dynamic-light").is_none());
        assert!(builtin_filelist("no-such", "dynamic-light").is_none());
    }
}
