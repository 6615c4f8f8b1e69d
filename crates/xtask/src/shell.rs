//! Other programs: cargo and what Debian has.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/xtask lies two folders deep").to_owned()
}

/// Returns cargo, the one that runs us if one does, in the root of the repository.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command whose output goes where ours goes.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", line(command)))?;
    ensure!(status.success(), "`{}` ended with {status}", line(command));
    Ok(())
}

/// Runs a command and returns what it printed.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start `{}`", line(command)))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{}` ended with {}: {error}", line(command), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns a command as one would type it.
pub fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns whether a program can be found, also where only root looks.
pub fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.into_iter().any(|folder| folder.join(program).is_file())
}

/// Installs the Debian packages of programs that are missing, if we are root; else says what to install.
///
/// `needed` holds pairs of program and package.
pub fn install(needed: &[(&str, &str)]) -> Result<()> {
    let missing = needed.iter().filter(|(program, _)| !installed(program));
    let packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    let list = packages.join(" ");
    let able = rustix::process::geteuid().is_root() && installed("apt-get");
    ensure!(able, "missing: {list}\nhint: `apt-get install {list}` as root, then again");
    println!("Installing {list}.");
    run(&mut apt(&["update", "-qq"]))?;
    run(apt(&["install", "-qq", "--no-install-recommends"]).args(&packages))
}

fn apt(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(["-y"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command
}
