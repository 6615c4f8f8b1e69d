//! Sessions that could not be opened.

use std::io;

use units::Nanos;

/// A reason why the session of a user could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is no connection to the server.
    #[error(transparent)]
    Connection(#[from] io::Error),
    /// The exchange that opens the session failed: a clause of the driver that describes the failure for people.
    #[error("the session could not be opened: {0}")]
    Exchange(String),
    /// It took longer than this.
    #[error("no session within {0}")]
    Slow(Nanos),
}
