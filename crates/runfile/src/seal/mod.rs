//! Seals: who vouches for a run file, and that it is still the one.
//!
//! A run file is never written to after its run, so its seal is a file of its own. Why it is made so:
//! `docs/design/seal.md`.
//!
//! - [`Seal`]: making and checking one
//! - `sealed_file`: what it says about the run file
//! - `key`: who says so
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
use crate::{Finding, Run, RunFileError, image};

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
    /// It cannot be read.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// The run goes on, or was killed: the file is not yet all of its record.
    #[error("`{}` has no end: only the file of a run that came to its end can be sealed", .0.display())]
    Unfinished(PathBuf),
    /// The file is not as it was written.
    #[error("`{}` is not as it was written: {first}", .path.display())]
    Changed {
        /// The run file.
        path: PathBuf,
        /// The first thing that is wrong with it.
        first: Box<Finding>,
    },
}

/// A disagreement between a seal and a run file, or a fault of the seal itself.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SealFinding {
    /// The signature does not belong to what the seal says.
    #[error("the seal was changed: its signature is not that of `{0}` for what it says")]
    Forged(PublicKey),
    /// The run file is not what the seal says.
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
    /// Seals a run file that came to its end, after a check that it is as it was written.
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

/// Returns what is signed: the hash of all that a seal says, each field behind its length.
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
