//! Reading the resource counters of machines and services, once a second while a load point runs.
//!
//! Values are raw, as they stand: what they grew by, resets, wraps and gaps are the analysis' business.
//!
//! - `kernel`: the table of kernel files and the functions that read their text
//! - `fetch`: a page of numbers by HTTP

mod fetch;
mod kernel;

pub use kernel::{PROC_FILES, Parse};

use model::Reading;

/// One machine, or one service on it, that is read once a second.
pub trait Watch: Send {
    /// Reads all counters now and appends them; what cannot be read is left out.
    ///
    /// # Errors
    /// If nothing could be read; it may be asked again a second later.
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), WatchError>;
}

/// Why nothing could be read: `http://sut:9100/metrics: it closed the connection`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{watched}: {reason}")]
pub struct WatchError {
    /// The machine or service, as series call it.
    pub watched: String,
    /// What was expected and what came instead.
    pub reason: String,
}
