//! WebStone 1.1 and 2.x: virtual users that fetch static files without a pause.
//!
//! The original: closed loop, no think time, HTTP/1.0, a connection per file; 1.1 fetches files in pages, 2.x one
//! at a time. Ours does the same with bodies that are verified, so that a wrong length or a wrong byte is an
//! error; every known difference is listed in `docs/benchmarks/webstone-1.1.md` and `webstone-2.0.1.md`.
//!
//! - `filelist`: both formats of the list of files

mod filelist;
mod filelist_lines;
mod filelist_pages;
mod filelist_single;

pub use filelist::{Filelist, FilelistFormat, OBJECT_BYTES_MAX, OBJECTS_MAX, WEIGHT_MAX};

use crate::Builtin;

/// WebStone 1.1.
pub const WEBSTONE_1_1: Builtin = Builtin {
    id: "webstone-1.1",
    definition_file: "webstone-1.1.toml",
    definition: include_str!("definition-1.1.toml"),
    filelist_file: "filelist-1.1.txt",
    filelist: include_str!("filelist-1.1.txt"),
};

/// WebStone 2.0.1; 2.5 gives the same numbers.
pub const WEBSTONE_2_0_1: Builtin = Builtin {
    id: "webstone-2.0.1",
    definition_file: "webstone-2.0.1.toml",
    definition: include_str!("definition-2.0.1.toml"),
    filelist_file: "filelist-2.0.1.txt",
    filelist: include_str!("filelist-2.0.1.txt"),
};
