//! The run file: one SQLite file per run, append-only while running, from which every number can
//! be recomputed.
//!
//! [`Writer`] records a run second by second; [`Run`] opens what it left, also after a crash;
//! [`Run::verify`] tells whether anything in it was changed since, a [`Seal`] who vouches for it.
//! The file's form and the reasons for it: `docs/design/run-file.md`.

mod chain;
mod codec;
mod error;
mod header;
mod image;
mod records;
mod rows;
mod run;
mod schema;
mod seal;
mod stretch;
mod summary;
mod verify;
mod writer;

pub use codec::CodecError;
pub use error::RunFileError;
pub use header::Header;
pub use records::{Extent, Record};
pub use run::{Event, Run};
pub use seal::{KeyError, PublicKey, Seal, SealError, SealFinding, SealKey, SealTextError, SealedFile};
pub use summary::{Summary, summary};
pub use verify::Finding;
pub use writer::Writer;
