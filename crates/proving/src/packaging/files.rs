//! The files of a package: programs, manual pages, completions, licenses, a unit for the accelerator.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::programs::Programs;
use crate::shell::{output, root, run};

/// The folder of units of systemd, below the root of a system.
pub(super) const UNITS: &str = "usr/lib/systemd/system";

/// The configuration of the service, below the root of a system.
pub(super) const CONFIGURATION: &str = "etc/plimsoll/accelerator.toml";

/// Where the unit of the repository has the program, and where packages have it.
const UNIT_PROGRAM: [&str; 2] = ["/usr/local/bin/plimsoll-accelerator", "/usr/bin/plimsoll-accelerator"];

/// A shell with the file of a completion script below `share`; `{}` stands for the program.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/{}"),
    ("zsh", "zsh/vendor-completions/_{}"),
    ("fish", "fish/vendor_completions.d/{}.fish"),
];

/// Writes what goes below `/usr` of a system, or into a folder of a user's own: programs, manual pages, completions,
/// licenses, changes.
///
/// # Errors
/// A file cannot be written, or a program does not describe itself.
pub(super) fn write_programs(prefix: &Path, programs: &Programs, licenses: &str) -> Result<()> {
    for program in programs.paths() {
        let name = program.file_name().context("a program has a name")?;
        copy(program, &prefix.join("bin").join(name), 0o755)?;
    }
    let share = prefix.join("share");
    write_pages(&programs.plimsoll, &share.join("man/man1"))?;
    for (shell, file) in SHELLS {
        for program in ["plimsoll", "plimsoll-accelerator"] {
            let words = ["completions", shell, "--program", program];
            let script = output(Command::new(&programs.plimsoll).args(words))?;
            write(&share.join(file.replace("{}", program)), script)?;
        }
    }
    let documents = share.join("doc/plimsoll");
    write(&documents.join("copyright"), licenses)?;
    let changes = documents.join("CHANGELOG.md");
    write(&changes, fs::read(root().join("CHANGELOG.md"))?)?;
    compress(&changes)
}

/// Writes the manual pages, compressed.
fn write_pages(plimsoll: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    output(Command::new(plimsoll).args(["man", "--to"]).arg(folder))?;
    for page in fs::read_dir(folder)? {
        compress(&page?.path())?;
    }
    Ok(())
}

/// Writes the units of the accelerator and its configuration.
///
/// # Errors
/// A file cannot be written, or the unit does not have the expected program.
pub(super) fn write_service(system: &Path) -> Result<()> {
    for name in ["plimsoll-accelerator.service", "plimsoll-accelerator.socket"] {
        let path = root().join("packaging").join(name);
        let unit = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        write(&system.join(UNITS).join(name), packaged_unit(&unit))?;
    }
    let service = fs::read_to_string(system.join(UNITS).join("plimsoll-accelerator.service"))?;
    ensure!(service.contains(UNIT_PROGRAM[1]), "the unit does not start `{}`", UNIT_PROGRAM[1]);
    copy(&root().join("examples/accelerator.toml"), &system.join(CONFIGURATION), 0o644)
}

/// Returns a unit without the steps of an installation by hand, with the program where packages have it.
fn packaged_unit(unit: &str) -> String {
    let is_step = |line: &&str| line.starts_with("#   ") || *line == "#";
    let kept =
        unit.lines().filter(|line| !is_step(line)).map(|line| line.replace(UNIT_PROGRAM[0], UNIT_PROGRAM[1]));
    kept.collect::<Vec<_>>().join("\n") + "\n"
}

/// Writes a file that everybody can read, with the folders on the way.
///
/// # Errors
/// It cannot be written.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let folder = path.parent().context("a file has a folder")?;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(path, content).with_context(|| path.display().to_string())?;
    Ok(fs::set_permissions(path, Permissions::from_mode(0o644))?)
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    write(to, fs::read(from).with_context(|| from.display().to_string())?)?;
    Ok(fs::set_permissions(to, Permissions::from_mode(mode))?)
}

/// Replaces a file by a compressed one without its name and time.
fn compress(path: &Path) -> Result<()> {
    run(Command::new("gzip").args(["-9", "--no-name"]).arg(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packaged_unit_has_no_steps_by_hand_and_starts_the_packaged_program() {
        for name in ["plimsoll-accelerator.service", "plimsoll-accelerator.socket"] {
            let unit = fs::read_to_string(root().join("packaging").join(name)).unwrap();
            let packaged = packaged_unit(&unit);
            assert!(!packaged.contains("/usr/local") && !packaged.contains("useradd"), "{packaged}");
            assert!(packaged.contains("[Install]"), "{packaged}");
            let starts = packaged.contains("ExecStart=/usr/bin/plimsoll-accelerator --config");
            assert_eq!(starts, name.ends_with(".service"), "{packaged}");
        }
    }
}
