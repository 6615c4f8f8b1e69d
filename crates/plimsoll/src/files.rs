//! Files that users name: read and written whole, or told why not.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::exit::Failure;

/// Reads a text.
pub fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", path.display())))
}

/// Writes a file, whole or not at all; one that may not be written stays as it is.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut file = File::create(path).map_err(|error| cannot_write(path, &error))?;
    file.write_all(content.as_ref()).map_err(|error| {
        discard(path);
        cannot_write(path, &error)
    })
}

/// Removes what was written of a file: half a report is worse than none. What cannot be removed either is as it is.
pub fn discard(path: &Path) {
    if path.is_file() {
        let _ = std::fs::remove_file(path);
    }
}

/// Says that a file cannot be written, and what to do.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::usage(format!("cannot write `{}`: {error}", path.display()));
    failure.hint(match error.kind() {
        ErrorKind::NotFound => "make the folder first, or name another place",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room there, or name another place",
        _ => "name another place",
    })
}

/// Refuses to write over a run.
pub fn keep_run_file(run: &Path, destination: &Path) -> Result<(), Failure> {
    match (run.canonicalize(), destination.canonicalize()) {
        (Ok(run), Ok(destination)) if run == destination => {
            Err(Failure::usage(format!("that would overwrite the run file `{}`", run.display()))
                .hint("choose another name"))
        }
        _ => Ok(()),
    }
}
