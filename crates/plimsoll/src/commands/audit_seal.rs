//! Audit of a run file's seal: its presence, signer and validity.

use std::io::ErrorKind;
use std::path::Path;

use runfile::{PublicKey, Run, Seal};
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::paths;

/// The result of auditing a seal.
#[derive(Debug)]
pub(super) struct SealAudit {
    /// Problems of the seal, also that a required seal is missing.
    pub findings: Vec<String>,
    /// The seal if it is valid, whoever signed it.
    pub seal: Option<Seal>,
}

impl SealAudit {
    /// Returns who sealed the file and when, as a clause; `None` without a valid seal.
    pub(super) fn text(&self) -> Option<String> {
        let seal = self.seal.as_ref()?;
        Some(format!("sealed {} by {}", paths::time_text(seal.at), seal.signer))
    }

    /// Returns the seal as JSON; `null` without a valid seal.
    pub(super) fn json(&self) -> Value {
        let json =
            |seal: &Seal| json!({ "public_key": seal.signer.to_string(), "sealed_unix_ms": seal.at.0 });
        self.seal.as_ref().map_or(Value::Null, json)
    }
}

/// Verifies the seal of a run file. `signed_by` is the required public key: its text, or the path of a file that contains
/// it; without it, a missing seal is not a finding.
pub(super) fn audit(run: &Path, signed_by: Option<&str>) -> Result<SealAudit, Failure> {
    let wanted = signed_by.map(signer).transpose()?;
    let path = paths::seal_file(run);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(without_seal(&path, wanted)),
        Err(error) => return Err(Failure::usage(format!("cannot read `{}`: {error}", path.display()))),
    };
    let seal = match Seal::parse(&text) {
        Ok(seal) => seal,
        Err(error) => return Ok(SealAudit { findings: vec![format!("seal: {error}")], seal: None }),
    };
    let mut findings: Vec<String> = match Run::open(run).and_then(|run| seal.check(&run)) {
        Ok(found) => found.iter().map(|finding| format!("seal: {finding}")).collect(),
        Err(error) if error.is_damage() => vec![format!("seal: the run file cannot be verified: {error}")],
        Err(error) => return Err(error.into()),
    };
    let is_valid = findings.is_empty();
    if let Some(wanted) = wanted.filter(|wanted| *wanted != seal.signer) {
        findings.push(format!("seal: signed by `{}`, expected `{wanted}`", seal.signer));
    }
    Ok(SealAudit { findings, seal: is_valid.then_some(seal) })
}

fn without_seal(path: &Path, wanted: Option<PublicKey>) -> SealAudit {
    let missing =
        |wanted| format!("seal: `{}` does not exist, expected a seal signed by `{wanted}`", path.display());
    SealAudit { findings: wanted.map(missing).into_iter().collect(), seal: None }
}

/// Returns the public key of a text, or of the file that it names.
fn signer(text: &str) -> Result<PublicKey, Failure> {
    let key = if text.starts_with("ed25519:") {
        text.to_owned()
    } else {
        std::fs::read_to_string(text)
            .map_err(|error| Failure::usage(format!("cannot read `{text}`: {error}")))?
    };
    key.parse().map_err(|error| {
        Failure::usage(format!("`{text}`: {error}"))
            .hint("`plimsoll seal --new-key`, and `plimsoll audit` of a sealed run, print public keys")
    })
}
