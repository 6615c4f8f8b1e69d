//! The seal of a run file that is audited: is there one, whose is it, does it hold?

use std::io::ErrorKind;
use std::path::Path;

use runfile::{PublicKey, Run, Seal};
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::places;

/// What was found of a seal.
#[derive(Debug)]
pub struct SealAudit {
    /// What is wrong with it, or that it is missing where it was asked for.
    pub findings: Vec<String>,
    /// A seal that holds, whoever signed it.
    pub seal: Option<Seal>,
}

impl SealAudit {
    /// Says for people who sealed the file and when; `None` unless there is a seal that holds.
    pub fn text(&self) -> Option<String> {
        let seal = self.seal.as_ref()?;
        Some(format!("sealed {} by {}", places::time_text(seal.at), seal.signer))
    }

    /// Returns the seal as JSON; `null` unless there is one that holds.
    pub fn json(&self) -> Value {
        let json =
            |seal: &Seal| json!({ "public_key": seal.signer.to_string(), "sealed_unix_ms": seal.at.0 });
        self.seal.as_ref().map_or(Value::Null, json)
    }
}

/// Looks for the seal of a run file and holds the file against it. `signed_by` is the key that must have signed: its
/// text, or the name of a file with it; without it a run file may be without a seal.
pub fn audit(run: &Path, signed_by: Option<&str>) -> Result<SealAudit, Failure> {
    let wanted = signed_by.map(signer).transpose()?;
    let path = places::seal_file(run);
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
        Err(error) if error.is_damage() => vec![format!("seal: the file cannot be held against it: {error}")],
        Err(error) => return Err(error.into()),
    };
    let holds = findings.is_empty();
    if let Some(wanted) = wanted.filter(|wanted| *wanted != seal.signer) {
        findings.push(format!("seal: signed by `{}`, expected `{wanted}`", seal.signer));
    }
    Ok(SealAudit { findings, seal: holds.then_some(seal) })
}

fn without_seal(path: &Path, wanted: Option<PublicKey>) -> SealAudit {
    let missing =
        |wanted| format!("seal: there is no `{}`, expected one signed by `{wanted}`", path.display());
    SealAudit { findings: wanted.map(missing).into_iter().collect(), seal: None }
}

/// Returns the key that is meant: written out, or in a file.
fn signer(text: &str) -> Result<PublicKey, Failure> {
    let key = match text.starts_with("ed25519:") {
        true => text.to_owned(),
        false => std::fs::read_to_string(text)
            .map_err(|error| Failure::usage(format!("cannot read `{text}`: {error}")))?,
    };
    key.parse().map_err(|error| {
        Failure::usage(format!("`{text}`: {error}"))
            .hint("`plimsoll seal --new-key` and `plimsoll audit` of a sealed run print public keys")
    })
}
