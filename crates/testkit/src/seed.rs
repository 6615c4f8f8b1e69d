//! Printing of the seed of a failing test.

/// Runs a test with a seed; if it panics, the seed is printed.
pub fn with_seed(seed: u64, test: impl FnOnce(u64)) {
    let _shown = SeedPrinter(seed);
    test(seed);
}

struct SeedPrinter(u64);

impl Drop for SeedPrinter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the simulation had seed {}", self.0);
        }
    }
}
