//! Files that users name: read and written whole, or refused with a reason.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::exit::Failure;

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", path.display())))
}

/// Writes a file, whole or not at all; a file that may not be written is not changed.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut file = File::create(path).map_err(|error| cannot_write(path, &error))?;
    file.write_all(content.as_ref()).map_err(|error| {
        discard(path);
        cannot_write(path, &error)
    })
}

/// Removes a partly written file: half a report is worse than none. Errors are ignored.
pub(crate) fn discard(path: &Path) {
    if path.is_file() {
        let _ = std::fs::remove_file(path);
    }
}

/// Returns the failure of a file that cannot be written, with a hint.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::usage(format!("cannot write `{}`: {error}", path.display()));
    failure.hint(match error.kind() {
        ErrorKind::NotFound => "create the directory first, or choose another path",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or choose another path",
        _ => "choose another path",
    })
}

/// Refuses to overwrite a run file.
pub(crate) fn keep_run_file(run: &Path, destination: &Path) -> Result<(), Failure> {
    match (run.canonicalize(), destination.canonicalize()) {
        (Ok(run), Ok(destination)) if run == destination => {
            Err(Failure::usage(format!("the output would overwrite the run file `{}`", run.display()))
                .hint("choose another path"))
        }
        _ => Ok(()),
    }
}
