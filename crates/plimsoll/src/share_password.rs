//! Passwords for shares of file servers: from an environment variable, or from a file that others cannot read. They are never
//! part of a command line.

use std::path::PathBuf;

use fleet::FileShare;

use crate::database_password::read;
use crate::exit::Failure;
use crate::paths;

/// The variable with the password itself.
const PASSWORD: &str = "PLIMSOLL_PASSWORD";

/// The variable with the path of a file whose first line is the password.
const PASSWORD_FILE: &str = "PLIMSOLL_PASSWORD_FILE";

/// Returns the password for the account of a share.
///
/// # Errors
/// There is none, or the file that holds it cannot be read, or others may read it.
pub(crate) fn password_for(share: &FileShare) -> Result<String, Failure> {
    if let Ok(password) = paths::variable(PASSWORD) {
        return Ok(password);
    }
    let path = paths::variable(PASSWORD_FILE).map(PathBuf::from).map_err(|_| {
        Failure::usage(format!("there is no password for `{share}`")).hint(format!(
            "set `{PASSWORD}`, or name a file that only you can read: `{PASSWORD_FILE}=~/.smb-password`"
        ))
    })?;
    let text = read(&path).map_err(|why| {
        let error = format!("`{}` of `{PASSWORD_FILE}`: {why}", path.display());
        Failure::usage(error).hint(format!("set `{PASSWORD}` instead, or `chmod 600 {}`", path.display()))
    })?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
