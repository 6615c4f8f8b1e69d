//! The run file: one SQLite file per run, append-only while running, from which every number can
//! be recomputed.
//!
//! [`Writer`] records a run second by second; [`Run`] opens what it left, also after a crash;
//! [`Run::verify`] tells whether anything in it was changed since, a [`Seal`] who vouches for it.
//! [`wire`] is the form in which records reach the writer from other machines.
//! The file's form and the reasons for it: `docs/design/run-file.md`.

mod chain;
mod codec;
mod detail_batch;
mod error;
mod header;
mod image;
mod records;
mod rows;
mod run;
mod schema;
mod seal;
mod side_files;
mod summary;
mod verify;
mod writer;

pub use codec::{CodecError, wire};
pub use error::RunFileError;
pub use header::Header;
pub use records::{ReadExtent, Record};
pub use run::{Run, RunEvent};
pub use seal::{KeyError, PublicKey, Seal, SealError, SealFinding, SealKey, SealTextError, SealedFile};
pub use summary::{Summary, summary};
pub use verify::VerifyFinding;
pub use writer::Writer;
