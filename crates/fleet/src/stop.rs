//! What ends a load point before its time.

use std::sync::atomic::{AtomicBool, Ordering};

/// Ends one load point: its user asked for the end of everything, or something failed here.
#[derive(Debug)]
pub(crate) struct StopSwitch<'a> {
    asked: &'a AtomicBool,
    failed: AtomicBool,
}

impl<'a> StopSwitch<'a> {
    /// Makes a switch that follows `asked`.
    pub(crate) fn new(asked: &'a AtomicBool) -> StopSwitch<'a> {
        StopSwitch { asked, failed: AtomicBool::new(false) }
    }

    /// Ends this load point, and nothing else.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }
}

impl engine::StopRequest for StopSwitch<'_> {
    fn is_requested(&self) -> bool {
        self.failed.load(Ordering::Relaxed) || self.asked.load(Ordering::Relaxed)
    }
}
