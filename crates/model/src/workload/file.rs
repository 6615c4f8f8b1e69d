//! File-server workloads: operations of clients that open, read, write, search, rename and delete files.

use files::FileOperation;

use crate::HasKind;

/// The measures of a file operation besides its response time, by their indexes in the catalog.
pub mod file_measure {
    /// The bytes read from files.
    pub const READ_BYTES: usize = 0;
    /// The bytes written to files.
    pub const WRITTEN_BYTES: usize = 1;
    /// The requests to the server, or the calls to the kernel, that it took.
    pub const EXCHANGES: usize = 2;
    /// The time to the first bytes of a read, from sent; only where a file is read in a stream.
    pub const FIRST_DATA: usize = 3;
}

/// The kind is the operation's place in [`files::FileKind::ALL`].
impl HasKind for FileOperation {
    fn kind(&self) -> u16 {
        FileOperation::kind(self).index() as u16
    }
}
