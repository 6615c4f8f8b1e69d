//! Seals: signatures of run files.
//!
//! A run file is never written to after its run, so its seal is a file of its own. The reasons are in
//! `docs/design/seal.md`.
//!
//! - [`Seal`]: making and checking a seal
//! - `sealed_file`: its statements about the run file
//! - `key`: the keys of signers
//! - `text`: its JSON form; `hex`: bytes as digits

mod hex;
mod key;
mod sealed_file;
mod text;

use std::path::PathBuf;

use thiserror::Error;
use units::WallTime;

pub use key::{KeyError, PublicKey, SealKey};
pub use sealed_file::SealedFile;
pub use text::SealTextError;

use crate::chain::Digest;
use crate::{Run, RunFileError, VerifyFinding, image};

/// A signed statement about a run file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seal {
    /// The sealed statements about the run file.
    pub file: SealedFile,
    /// The time of sealing, as the signer states it.
    pub at: WallTime,
    /// The key of the signer.
    pub signer: PublicKey,
    signature: [u8; 64],
}

/// A reason why a run file was not sealed.
#[derive(Debug, Error)]
pub enum SealError {
    /// The run file cannot be read.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// The run is in progress, or was killed: its record is not complete.
    #[error("`{}` has no ending: only the file of a run that has ended can be sealed", .0.display())]
    Unfinished(PathBuf),
    /// The file was changed after it was written.
    #[error("`{}` was changed after it was written: {first}", .path.display())]
    Changed {
        /// The run file.
        path: PathBuf,
        /// The first thing that is wrong with it.
        first: Box<VerifyFinding>,
    },
}

/// A disagreement between a seal and a run file, or a fault of the seal itself.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SealFinding {
    /// The signature does not belong to the statements of the seal.
    #[error("the seal was changed: its signature is not that of `{0}` for its statements")]
    Forged(PublicKey),
    /// The run file differs from a statement of the seal.
    #[error("`{name}` was `{sealed}` when the run file was sealed, is `{found}` now")]
    Differs {
        /// The statement.
        name: &'static str,
        /// The value in the seal.
        sealed: String,
        /// The value in the run file.
        found: String,
    },
}

impl Seal {
    /// Seals the file of a run that has ended, after checking that the file is unchanged.
    ///
    /// `at` is the time now.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has no end, or was changed ([`Run::verify`]).
    pub fn new(run: &Run, key: &SealKey, at: WallTime) -> Result<Seal, SealError> {
        if run.ended().is_none() || !image::is_finished(&run.path)? {
            return Err(SealError::Unfinished(run.path.clone()));
        }
        if let Some(first) = run.verify().into_iter().next() {
            return Err(SealError::Changed { path: run.path.clone(), first: Box::new(first) });
        }
        Ok(Seal::sign(SealedFile::of(run)?, key, at))
    }

    /// Checks a run file against the seal; empty if all is well.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn check(&self, run: &Run) -> Result<Vec<SealFinding>, RunFileError> {
        let mut findings = Vec::new();
        if !self.signer.signed(&message(&self.file, self.at, &self.signer), &self.signature) {
            findings.push(SealFinding::Forged(self.signer));
        }
        let found = SealedFile::of(run)?.statements();
        let both = self.file.statements().into_iter().zip(found);
        let differing = both.filter(|(sealed, found)| sealed != found);
        findings.extend(differing.map(|((name, sealed), (_, found))| SealFinding::Differs {
            name,
            sealed,
            found,
        }));
        Ok(findings)
    }

    fn sign(file: SealedFile, key: &SealKey, at: WallTime) -> Seal {
        let signer = key.public();
        let signature = key.sign(&message(&file, at, &signer));
        Seal { file, at, signer, signature }
    }
}

/// Returns the signed message: the hash of all statements, each field behind its length.
fn message(file: &SealedFile, at: WallTime, signer: &PublicKey) -> [u8; 32] {
    let mut digest = Digest::new("plimsoll seal 1");
    for (name, value) in file.statements() {
        digest.field(name.as_bytes());
        digest.field(value.as_bytes());
    }
    digest.field(&at.0.to_le_bytes());
    digest.field(signer.bytes());
    *digest.finish().as_bytes()
}
