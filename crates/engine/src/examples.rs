//! Examples of failures.

use model::{Example, Outcome};
use units::Nanos;

/// The first example of each kind of failure on a load thread.
#[derive(Debug)]
pub(crate) struct Examples {
    load_point: u32,
    /// Outcomes of which an example was kept, one bit each.
    seen: u32,
    kept: Vec<Example>,
}

impl Examples {
    pub(crate) fn new(load_point: u32) -> Examples {
        Examples { load_point, seen: 0, kept: Vec::new() }
    }

    /// Keeps the description of a failure `at` a time from the start of the load point, if it is the first with this
    /// outcome.
    #[cold]
    pub(crate) fn keep(&mut self, at: Nanos, kind: u16, outcome: Outcome, describe: impl FnOnce() -> String) {
        let bit = 1 << outcome as u8;
        if self.seen & bit == 0 {
            self.seen |= bit;
            self.kept.push(Example { load_point: self.load_point, at, kind, outcome, text: describe() });
        }
    }

    /// Takes the examples that were kept since the last call.
    pub(crate) fn take(&mut self) -> Vec<Example> {
        std::mem::take(&mut self.kept)
    }
}
