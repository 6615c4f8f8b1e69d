//! The settings of clients.

use std::sync::Arc;

use files::{Baseline, FileContent, LoadFile, Verify};

/// The moment at which written bytes are durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The system under test decides: an operation that flushes does nothing.
    Relaxed,
    /// A flush returns when the file's bytes are durable.
    Flush,
    /// Every write returns when its bytes are durable, and a flush, too.
    Write,
}

/// The settings of all clients of a load point.
#[derive(Debug, Clone)]
pub struct FileClientOptions {
    /// The content of all files.
    pub content: FileContent,
    /// The depth to which read bytes are verified.
    pub verify: Verify,
    /// The content of files of which a client has written nothing. With a captured mix it is not known, whatever is
    /// said here.
    pub baseline: Baseline,
    /// Clients count the generations of what they write from the one after this.
    pub last_generation: u32,
    /// The moment at which written bytes are durable.
    pub durability: Durability,
    /// Whether the time to the first data of each stream is measured.
    pub times_first_data: bool,
    /// The captured mix that is replayed, which has the text of its paths.
    pub loadfile: Option<Arc<LoadFile>>,
}
