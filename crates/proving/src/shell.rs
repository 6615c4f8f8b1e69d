//! External programs: cargo and Debian's tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/proving lies two folders deep").to_owned()
}

/// Beginnings of the variables by which cargo tells a program of its package. Build scripts ask for some of them (that of
/// `ring` does), and so everything above would be built again if a cargo that this program starts had them.
const OF_THIS_PACKAGE: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// Returns a cargo command, of the cargo that runs this program if any, in the root of the repository.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    let names = std::env::vars_os().map(|(name, _)| name);
    let of_package = |name: &str| OF_THIS_PACKAGE.iter().any(|beginning| name.starts_with(beginning));
    names.filter(|name| name.to_str().is_some_and(of_package)).for_each(|name| {
        command.env_remove(name);
    });
    command
}

/// Runs a command with inherited output.
///
/// # Errors
/// It cannot be started, or ends with a failure.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", line(command)))?;
    ensure!(status.success(), "`{}` ended with {status}", line(command));
    Ok(())
}

/// Runs a command and returns its output.
///
/// # Errors
/// It cannot be started, or ends with a failure; the error has its standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start `{}`", line(command)))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{}` ended with {}: {error}", line(command), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns a command as typed in a shell.
pub fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Prints a command before it runs.
pub fn say(command: &mut Command) -> &mut Command {
    println!("{}", line(command));
    command
}

/// Writes a page of results, whose path is relative to the root of the repository, and prints the path.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_page(path: &str, text: &str) -> Result<()> {
    let path = root().join(path);
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    println!("{}", path.display());
    Ok(())
}

/// Returns the Rust sources below a folder.
///
/// # Errors
/// A folder cannot be read.
pub fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}
