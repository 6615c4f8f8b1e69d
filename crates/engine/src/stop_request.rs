//! A request to stop the run early.

use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop the run early.
pub trait StopRequest {
    /// Returns whether a stop was requested.
    fn is_requested(&self) -> bool;
}

impl StopRequest for AtomicBool {
    fn is_requested(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
