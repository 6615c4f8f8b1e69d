//! The switch that ends a load point early, and the end of a preparation.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::verify::VerifyError;

/// A switch that ends one load point: because the user interrupted the run, something failed, or a limit broke that was to
/// end it.
#[derive(Debug)]
pub(crate) struct StopSwitch<'a> {
    asked: &'a AtomicBool,
    ended: AtomicBool,
}

impl<'a> StopSwitch<'a> {
    /// Creates a switch that follows `asked`.
    pub(crate) fn new(asked: &'a AtomicBool) -> StopSwitch<'a> {
        StopSwitch { asked, ended: AtomicBool::new(false) }
    }

    /// Ends this load point only.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl engine::StopRequest for StopSwitch<'_> {
    fn is_requested(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.asked.load(Ordering::Relaxed)
    }
}

/// Ends the preparation of a run if `stop` is set.
///
/// # Errors
/// It is.
pub(crate) fn go_on_unless(stop: &AtomicBool) -> Result<(), VerifyError> {
    if stop.load(Ordering::Relaxed) { Err(VerifyError::Interrupted) } else { Ok(()) }
}
