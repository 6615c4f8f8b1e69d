//! The limit on open files of this process: every connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit on open files of this process as far as allowed; returns the limits before and after.
pub fn raise_open_files() -> (u64, u64) {
    let before = getrlimit(Resource::Nofile);
    let number = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
    let raised = Rlimit { current: before.maximum, maximum: before.maximum };
    let after = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => before.maximum,
        Err(_) => before.current,
    };
    (number(before.current), number(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_to_the_hard_limit() {
        let (before, after) = raise_open_files();
        assert!(before <= after);
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), after);
    }
}
