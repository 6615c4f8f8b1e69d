//! Passwords for databases, as their own clients read them: for PostgreSQL from the environment variable `PGPASSWORD`, from
//! the file that `PGPASSFILE` names, or from `~/.pgpass`; for MariaDB from `MYSQL_PWD`. They are never part of a command line.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use drivers::database::DatabasePassword;
use fleet::ExternalDatabase;
use model::DatabaseProduct;
use thiserror::Error;

use crate::exit::Failure;
use crate::paths;
use crate::stderr::warn;

/// The variables with the password itself.
const PASSWORD: &str = "PGPASSWORD";
const MARIADB_PASSWORD: &str = "MYSQL_PWD";

/// The variable with the path of a file of passwords.
const PASSWORD_FILE: &str = "PGPASSFILE";

/// The file in the home directory that has passwords where the variable names none.
const STANDARD_FILE: &str = ".pgpass";

/// The permissions of others that a file of passwords must not have.
const OF_OTHERS: u32 = 0o077;

/// The most bytes of a file of passwords that are read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Returns the password for a database; `None` if there is none.
///
/// # Errors
/// The file that `PGPASSFILE` names cannot be read, or others may read it.
pub(crate) fn password_for(database: &ExternalDatabase) -> Result<Option<DatabasePassword>, Failure> {
    if database.product == DatabaseProduct::MariaDb {
        return Ok(paths::variable(MARIADB_PASSWORD).ok().map(DatabasePassword::new));
    }
    if let Ok(password) = paths::variable(PASSWORD) {
        return Ok(Some(DatabasePassword::new(password)));
    }
    let Ok(path) = paths::variable(PASSWORD_FILE).map(PathBuf::from) else {
        let home = std::env::home_dir().unwrap_or_default();
        return Ok(password_at(&home.join(STANDARD_FILE), database));
    };
    let text = read(&path).map_err(|why| {
        let error = format!("`{}` of `{PASSWORD_FILE}`: {why}", path.display());
        Failure::usage(error).hint(format!("set `{PASSWORD}` instead, or `chmod 600 {}`", path.display()))
    })?;
    Ok(password_in(&text, database))
}

/// Returns the password that the standard file has for a database. One that others may read is told of and not used, as by
/// PostgreSQL's own clients: the server may ask for no password.
fn password_at(path: &Path, database: &ExternalDatabase) -> Option<DatabasePassword> {
    if !path.is_file() {
        return None;
    }
    match read(path) {
        Ok(text) => password_in(&text, database),
        Err(why) => {
            warn(format!("`{}` is not used: {why}", path.display()));
            None
        }
    }
}

/// Returns the password of the first line that is for a database.
fn password_in(text: &str, database: &ExternalDatabase) -> Option<DatabasePassword> {
    text.lines().find_map(|line| password_of(line, database)).map(DatabasePassword::new)
}

/// A reason why a file of passwords is not used.
#[derive(Debug, Error)]
pub(crate) enum PasswordFileError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
    /// Its permissions are not those of a secret.
    #[error("users other than its owner can read or change it")]
    OpenToOthers,
}

/// Reads a file that only its owner can read or change.
///
/// # Errors
/// It cannot be read, or others can.
pub(crate) fn read(path: &Path) -> Result<String, PasswordFileError> {
    let file = File::open(path)?;
    if file.metadata()?.permissions().mode() & OF_OTHERS != 0 {
        return Err(PasswordFileError::OpenToOthers);
    }
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns the password of a line `host:port:database:user:password` if it is for a database.
fn password_of(line: &str, database: &ExternalDatabase) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, name, user, password] = &fields[..] else { return None };
    let own_host = match &database.host {
        Some(host) => host.trim_start_matches('[').trim_end_matches(']').to_owned(),
        None => database.socket.to_string_lossy().into_owned(),
    };
    // A socket of this machine has the name of its directory, or this one.
    let is_local = database.host.is_none() && host == "localhost";
    let fits = |field: &String, own: &str| field == "*" || field == own;
    let is_for = (is_local || fits(host, &own_host))
        && fits(port, &database.port.to_string())
        && fits(name, &database.database)
        && fits(user, &database.user);
    is_for.then(|| password.clone())
}

/// Splits a line at its colons; a backslash takes the meaning from what follows it. The fifth field goes on to the end.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(next) = characters.next() {
        let last = fields.len() - 1;
        match next {
            '\\' => fields[last].extend(characters.next()),
            ':' if fields.len() < 5 => fields.push(String::new()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, target: &str) -> Option<String> {
        password_of(line, &target.parse().unwrap())
    }

    #[test]
    fn lines_are_for_the_databases_that_they_name() {
        let target = "postgres://me@127.0.0.1:5433/shop";
        for (line, password) in [
            ("127.0.0.1:5433:shop:me:open", Some("open")),
            ("*:*:*:*:any", Some("any")),
            ("*:*:*:me:a\\:b\\\\c", Some("a:b\\c")),
            ("*:*:*:me:a:b", Some("a:b")),
            ("#*:*:*:*:any", None),
            ("127.0.0.2:5433:shop:me:open", None),
            ("127.0.0.1:5432:shop:me:open", None),
            ("127.0.0.1:5433:store:me:open", None),
            ("127.0.0.1:5433:shop:you:open", None),
            ("127.0.0.1:5433:shop:me", None),
            ("", None),
        ] {
            assert_eq!(found(line, target).as_deref(), password, "{line}");
        }
        assert_eq!(found("\\:\\:1:*:*:*:six", "postgres://me@[::1]/shop").as_deref(), Some("six"));
        for host in ["localhost", "/run/postgresql"] {
            let line = format!("{host}:*:*:*:socket");
            let target = "postgres://me@/shop?host=/run/postgresql";
            assert_eq!(found(&line, target).as_deref(), Some("socket"), "{host}");
        }
    }

    #[test]
    fn files_that_others_may_read_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passwords");
        std::fs::write(&path, "*:*:*:*:secret").unwrap();
        let mode = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o640);
        assert_eq!(read(&path).unwrap_err().to_string(), "users other than its owner can read or change it");
        mode(0o600);
        assert_eq!(read(&path).unwrap(), "*:*:*:*:secret");
        assert!(read(&folder.path().join("none")).is_err());
        let database = "postgres://me@a/shop".parse().unwrap();
        assert_eq!(password_at(&path, &database), Some(DatabasePassword::new("secret")));
        mode(0o640);
        assert_eq!(password_at(&path, &database), None, "it is not for others");
        assert_eq!(password_at(&folder.path().join("none"), &database), None);
    }
}
