//! The signing key for run files: a file that only its owner can read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use runfile::SealKey;
use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::exit::{Exit, Failure};

/// Permission bits of group and others.
const OTHERS: u32 = 0o077;

/// Maximum size of a key file, in bytes.
const BYTES_MAX: u64 = 4096;

/// Creates a key and its file. An existing file is never overwritten.
pub(crate) fn make(path: &Path) -> Result<SealKey, Failure> {
    let key = SealKey::new(random().map_err(|error| {
        Failure::new(Exit::Testbed, format!("cannot get random numbers from the kernel: {error}"))
    })?);
    write(path, &key.secret_text()).map_err(|error| {
        let failure = Failure::usage(format!("cannot create the key `{}`: {error}", path.display()));
        match error.kind() {
            ErrorKind::AlreadyExists => {
                failure.hint("a key is never overwritten; choose another file with `--key FILE`")
            }
            _ => failure,
        }
    })?;
    Ok(key)
}

/// Reads a key; refuses one that others have access to.
pub(crate) fn read(path: &Path) -> Result<SealKey, Failure> {
    let name = path.display();
    let cannot_read = |error: io::Error| {
        Failure::usage(format!("cannot read the key `{name}`: {error}"))
            .hint("create a key with `plimsoll seal --new-key`, or name another with `--key FILE`")
    };
    let file = File::open(path).map_err(cannot_read)?;
    let mode = file.metadata().map_err(cannot_read)?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(Failure::usage(format!("other users have access to the key `{name}`"))
            .hint(format!("run `chmod 600 {name}`; create a new key if somebody may have read this one")));
    }
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text).map_err(cannot_read)?;
    SealKey::parse(&text).map_err(|error| Failure::usage(format!("`{name}`: {error}")))
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    let n = retry_on_intr(|| getrandom(&mut bytes, GetRandomFlags::empty()))?;
    if n == bytes.len() { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// Writes a new file that only its owner can read, and creates its directory if necessary.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
