//! The file-server workload: the operations of the clients of a file server, their files, and the bytes in these.
//!
//! - `operation`, `path`: abstract operations and the paths that they are about
//! - `application`, `population`, `content`: the files before load, and their bytes
//! - `ledger`: what a client knows of the files that it has written, so that reads can be verified
//! - `diskmix`: the operations of office programs, after NetBench's Disk Mix, in cycles
//! - `sequential`, `micro`: streams, and tests of one kind of operation
//! - `loadfile`: captured mixes, and their replay
//! - `procedure`, `tbench`: the procedures of published results; the sizes of messages without files
//!
//! A client is a state machine: it is given the answer to its last operation, and says what is next. Nobody here opens
//! a file, and nobody knows the time.
//!
//! Pure: random numbers come from [`units::Rng`], and captured mixes are read from bytes that the caller has.

mod application;
mod content;
mod diskmix;
mod ledger;
mod loadfile;
mod micro;
mod operation;
mod path;
mod population;
mod procedure;
mod sequential;
mod tbench;

pub use application::{APPLICATION_FILES, ApplicationFolder};
pub use content::{BLOCK_BYTES, FileContent, FileVersion, STAMP_BYTES};
pub use diskmix::{CYCLE_OPERATIONS, DiskMix, DiskMixClient, PadUse};
pub use ledger::{Baseline, ContentLedger, EXTENTS_MAX, FILES_MAX, Verify, WrongByte};
pub use loadfile::{
    HANDLES_MAX, LINES_MAX, LOOPS_MAX, LoadFile, LoadFileError, LoadProblem, LoadSummary, PATHS_MAX,
    REQUEST_BYTES_MAX, ReplayClient,
};
pub use micro::{MicroClient, MicroSettings, MicroTest, SEARCHED_ENTRIES};
pub use operation::{
    ExistingFile, Expectation, FileAction, FileAnswer, FileKind, FileOperation, FileRange, FileStep,
    FindSize, Handle, InfoLevel,
};
pub use path::{CapturedPath, Entry, FileId, FilePath, Folder, Owner, PopulatedPath};
pub use population::{
    APPLICATION_FILE_BYTES, BULK_FILE_BYTES, FilePopulation, LISTED_ENTRIES, LISTED_FILE_BYTES,
    PAD_FILE_BYTES, PopulatedFile, Workspace, WorkspaceError, private_folders, workspace_files,
};
pub use procedure::{DBENCH_WARM_UP, NetBenchProcedure, SMBTORTURE_WARM_UP, warm_up};
pub use sequential::{StreamClient, StreamDirection, StreamFiles, StreamShape, StreamShapeError};
pub use tbench::MessageSizes;
