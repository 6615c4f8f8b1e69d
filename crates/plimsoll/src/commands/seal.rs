//! `seal`: signs run files.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use runfile::{Run, Seal, SealError, SealKey};
use serde_json::{Value, json};
use units::wall;

use super::{json_text, print, print_json};
use crate::arguments::SealArguments;
use crate::exit::{Exit, Failure};
use crate::stderr::eprint;
use crate::{paths, seal_key};

/// Seals run files; creates the key first if requested.
pub(super) fn perform(arguments: &SealArguments, as_json: bool) -> Result<Exit, Failure> {
    let key_file = match &arguments.key {
        Some(path) => path.clone(),
        None => paths::seal_key()?,
    };
    let key = if arguments.new_key { seal_key::make(&key_file)? } else { seal_key::read(&key_file)? };
    let public = key.public().to_string();
    if arguments.new_key {
        eprint(format!("Created the signing key `{}`: keep it secret.", key_file.display()));
        if !as_json {
            print(&public)?;
        }
    }
    let mut seals: Vec<Value> = Vec::new();
    for run in &arguments.runs {
        let path = seal(run, &key)?;
        if !as_json {
            print(&path.display().to_string())?;
        }
        seals.push(json!({ "run": run, "seal": path }));
    }
    if as_json {
        print_json(&json!({ "format": 1, "key": key_file, "public_key": public, "seals": seals }))?;
    }
    Ok(Exit::Valid)
}

/// Seals a run file and returns the path of its seal.
fn seal(run: &Path, key: &SealKey) -> Result<PathBuf, Failure> {
    let path = paths::seal_file(run);
    let seal = Seal::new(&Run::open(run)?, key, wall()).map_err(failed)?;
    let written = OpenOptions::new().write(true).create_new(true).open(&path);
    let written = written.and_then(|mut file| writeln!(file, "{}", json_text(&seal.json())));
    written.map_err(|error| {
        let failure = Failure::usage(format!("cannot write `{}`: {error}", path.display()));
        match error.kind() {
            ErrorKind::AlreadyExists => failure.hint("move the old seal away to seal the file again"),
            _ => failure,
        }
    })?;
    Ok(path)
}

fn failed(error: SealError) -> Failure {
    match error {
        SealError::RunFile(error) => error.into(),
        SealError::Unfinished(_) => Failure::usage(error).hint("`plimsoll runs` lists how runs ended"),
        SealError::Changed { ref path, .. } => {
            let hint = format!("`plimsoll audit {}` lists all differences", path.display());
            Failure::new(Exit::Differences, error).hint(hint)
        }
    }
}
