//! The values of a definition's secrets: read when a run begins, held in memory only.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use languages::{Diagnostic, Diagnostics, foreign_text};
use model::{PlacedSecret, Request, SecretLocation, SecretSource, Secrets};
use thiserror::Error;

use crate::benchmark::{ChosenBenchmark, DefinitionFile, DefinitionSource};
use crate::exit::Failure;
use crate::paths;

/// Maximum length of a secret in a file, in bytes: that of a request body, 1 MiB.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads the values of all secrets; `has_filelist` is whether requests of a filelist take the place of the definition's,
/// which have no secrets.
///
/// # Errors
/// Lists all secrets that cannot be read, each with its key and position in the definition, and never with its value.
pub(crate) fn read(chosen: &ChosenBenchmark, has_filelist: bool) -> Result<Secrets, Failure> {
    let mut secrets = Secrets::default();
    secrets.set_data(chosen.benchmark.data.clone());
    let folder = match &chosen.source {
        DefinitionSource::BuiltIn => return Ok(secrets),
        _ if has_filelist => return Ok(secrets),
        DefinitionSource::File(file) => file.path.parent().unwrap_or(Path::new(".")),
        DefinitionSource::Urls(folder) => folder.as_path(),
    };
    let mut problems = Vec::new();
    let definition = &chosen.benchmark.definition.workload;
    let workload = &chosen.benchmark.workload;
    let (Some(definition), Some(workload)) = (definition.web(), workload.web()) else { return Ok(secrets) };
    for placed in &definition.secrets {
        let request = &workload.requests[placed.kind];
        match value(placed, request, folder, &chosen.given) {
            Ok(value) => secrets.insert(placed.kind, &placed.secret.part, value),
            Err(MissingValue { label, hint }) => {
                let request = &workload.requests[placed.kind].name;
                problems.push(Diagnostic {
                    message: format!("`{}` of request `{request}` has no value", placed.secret.part.key()),
                    span: placed.span.clone(),
                    label,
                    hint: Some(hint),
                });
            }
        }
    }
    match (problems.is_empty(), &chosen.source) {
        (true, _) => Ok(secrets),
        (false, DefinitionSource::File(DefinitionFile { path, text })) => {
            Err(Diagnostics::new(&path.display().to_string(), text, problems).into())
        }
        (false, _) => Err(without_text(&problems)),
    }
}

/// Returns the failure of secrets of URLs, which stand in no file; the hint is that of the first.
fn without_text(problems: &[Diagnostic]) -> Failure {
    let line = |problem: &Diagnostic| foreign_text(&format!("{}: {}", problem.message, problem.label));
    let failure = Failure::usage(problems.iter().map(line).collect::<Vec<_>>().join("\n"));
    match problems.iter().find_map(|problem| problem.hint.clone()) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// A reason why a secret has no value.
struct MissingValue {
    /// The source, and what is wrong with it.
    label: String,
    /// The remedy.
    hint: String,
}

/// Returns the value of a secret.
fn value(
    placed: &PlacedSecret,
    request: &Request,
    folder: &Path,
    given: &BTreeMap<String, String>,
) -> Result<String, MissingValue> {
    let source = &placed.secret.source;
    let fail = |why: &str, hint: String| MissingValue { label: format!("{source} {why}"), hint };
    let (value, hint) = match source {
        SecretSource::Definition => return Ok(placed.value.clone().unwrap_or_default()),
        SecretSource::Env(name) if let Some(value) = given.get(name) => return Ok(value.clone()),
        SecretSource::Env(name) => {
            let hint = format!("set it for the run: `{name}=… plimsoll run …`");
            (paths::variable(name).map_err(|why| fail(why, hint.clone()))?, hint)
        }
        SecretSource::File(path) => {
            let path = folder.join(path);
            let hint = format!("the value is read from `{}` when the run begins", path.display());
            let read = file(&path, &placed.secret.part);
            (read.map_err(|why| fail(&why.to_string(), hint.clone()))?, hint)
        }
    };
    match request.fault_of(&placed.secret.part, &value) {
        Some(fault) => Err(fail(&format!("cannot be used: {fault}"), hint)),
        None => Ok(value),
    }
}

/// A reason why a file has no value of a secret, as the predicate of a sentence.
#[derive(Debug, Error)]
enum SecretFileError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is a directory, a device or a pipe.
    #[error("is not a regular file")]
    NotRegular,
    /// It is longer than any value.
    #[error("is longer than {FILE_BYTES_MAX} bytes")]
    TooLong,
    /// It is not text.
    #[error("is not UTF-8")]
    NotText,
}

/// Reads a value from a file; a trailing line break is removed, except from a body.
fn file(path: &Path, part: &SecretLocation) -> Result<String, SecretFileError> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(SecretFileError::NotRegular);
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if FILE_BYTES_MAX < bytes.len() as u64 {
        return Err(SecretFileError::TooLong);
    }
    let text = String::from_utf8(bytes).map_err(|_| SecretFileError::NotText)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(match part {
        SecretLocation::Body => text,
        _ => line.strip_suffix('\r').unwrap_or(line).to_owned(),
    })
}
