//! Names the seed of a test that fails.

/// Runs a test with a seed; if it panics, the seed is printed.
pub fn with_seed(seed: u64, test: impl FnOnce(u64)) {
    let _shown = Shown(seed);
    test(seed);
}

struct Shown(u64);

impl Drop for Shown {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the simulation had seed {}", self.0);
        }
    }
}
