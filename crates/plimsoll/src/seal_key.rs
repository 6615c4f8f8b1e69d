//! The key that run files are sealed with: a file that nobody but its owner can read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use runfile::SealKey;
use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::exit::{Exit, Failure};

/// Permissions of everybody but the owner.
const OTHERS: u32 = 0o077;

/// No key file is this large.
const BYTES_MAX: u64 = 4096;

/// Makes a key and its file. One that is there is never overwritten.
pub fn make(path: &Path) -> Result<SealKey, Failure> {
    let key = SealKey::new(random().map_err(|error| {
        Failure::new(Exit::Testbed, format!("the kernel gives no random numbers: {error}"))
    })?);
    write(path, &key.secret_text()).map_err(|error| {
        let failure = Failure::usage(format!("cannot make the key `{}`: {error}", path.display()));
        match error.kind() {
            ErrorKind::AlreadyExists => {
                failure.hint("a key is never overwritten; `--key FILE` names another")
            }
            _ => failure,
        }
    })?;
    Ok(key)
}

/// Reads a key, unless others can read it as well.
pub fn read(path: &Path) -> Result<SealKey, Failure> {
    let name = path.display();
    let cannot_read = |error: io::Error| {
        Failure::usage(format!("cannot read the key `{name}`: {error}"))
            .hint("`plimsoll seal --new-key` makes one, `--key FILE` names another")
    };
    let file = File::open(path).map_err(cannot_read)?;
    let mode = file.metadata().map_err(cannot_read)?.permissions().mode();
    if mode & OTHERS != 0 {
        return Err(Failure::usage(format!("others than its owner have access to the key `{name}`"))
            .hint(format!("`chmod 600 {name}`; make another key if somebody may have read this one")));
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

/// Writes a new file for its owner alone, in a folder that is made if need be.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
