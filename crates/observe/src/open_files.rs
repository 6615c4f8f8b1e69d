//! The limit on open files: every connection is one.

use rustix::process::{Resource, getrlimit};

/// The kernel's own highest limit, as it comes. Source: Linux, `fs.nr_open`.
const OPEN_FILES_MAX: u64 = 1 << 20;

/// Returns the limit on open files of this process and its children once it is raised.
pub fn open_files_max() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX).min(OPEN_FILES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_hard_limit_at_most() {
        assert!(open_files_max() <= getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX));
    }
}
