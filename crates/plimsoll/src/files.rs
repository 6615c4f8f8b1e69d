//! Files that users name: read and written whole, or refused with a reason.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use languages::without_mark;

use crate::exit::Failure;

/// The longest text that is read from standard input, in bytes.
const INPUT_BYTES_MAX: u64 = 16 << 20;

/// Reads a text file, without the byte order mark that some editors write.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map(without_mark)
        .map_err(|error| Failure::usage(format!("cannot read `{}`: {error}", path.display())))
}

/// Opens a file to be read piece by piece.
///
/// # Errors
/// It cannot be opened, or is a folder.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() { Err(ErrorKind::IsADirectory.into()) } else { Ok(file) }
}

/// Reads a text file in the same way, or standard input if the path is `-`.
pub(crate) fn read_or_input(path: &Path) -> Result<String, Failure> {
    if path == Path::new("-") { read_input().map(without_mark) } else { read(path) }
}

/// Reads standard input as it is.
pub(crate) fn read_input() -> Result<String, Failure> {
    let mut text = String::new();
    let read = io::stdin().lock().take(INPUT_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
    match text.len() as u64 {
        ..=INPUT_BYTES_MAX => Ok(text),
        _ => Err(Failure::usage(format!("standard input has more than {INPUT_BYTES_MAX} bytes"))),
    }
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
