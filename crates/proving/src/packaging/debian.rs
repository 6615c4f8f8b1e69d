//! Packages for Debian.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::files::{CONFIGURATION, write, write_programs, write_service};
use super::licenses;
use super::programs::{BuildKind, Programs};
use super::release::Release;
use crate::shell::{output, run};

/// Actions of `dpkg` with the scripts that it runs for them.
const SCRIPTS: [(&str, &str); 3] = [
    ("postinst", include_str!("scripts/postinst")),
    ("prerm", include_str!("scripts/prerm")),
    ("postrm", include_str!("scripts/postrm")),
];

/// A kind of package.
pub(super) struct DebianPackage {
    pub(super) name: &'static str,
    pub(super) build: BuildKind,
    /// Further lines of its control file.
    relations: &'static str,
    /// What its description adds.
    addition: &'static str,
}

/// The package that most people want.
pub(super) const PLIMSOLL: DebianPackage = DebianPackage {
    name: "plimsoll",
    build: BuildKind::Dynamic,
    relations: "Suggests: plimsoll-pdf\n",
    addition: " Reports are HTML, Markdown, CSV and JSON; PDF and PNG need plimsoll-pdf.\n",
};

/// The package that replaces it and writes PDF.
pub(super) const PLIMSOLL_PDF: DebianPackage = DebianPackage {
    name: "plimsoll-pdf",
    build: BuildKind::WithPdf,
    relations: "Provides: plimsoll\nConflicts: plimsoll\nReplaces: plimsoll\n",
    addition: " This package writes reports as PDF and PNG, too.\n",
};

/// Makes a package in a folder and returns its path.
///
/// # Errors
/// A file cannot be written, or one of Debian's programs fails.
pub(super) fn make(
    package: &DebianPackage,
    programs: &Programs,
    release: &Release,
    folder: &Path,
) -> Result<PathBuf> {
    let staging = tempfile::tempdir()?;
    let system = staging.path().join("system");
    write_programs(&system.join("usr"), programs, &licenses::text(package.build)?)?;
    write_service(&system)?;
    let documents = system.join("usr/share/doc");
    if package.name != "plimsoll" {
        fs::rename(documents.join("plimsoll"), documents.join(package.name))?;
    }
    let control = system.join("DEBIAN");
    let kilobytes = output(Command::new("du").args(["--summarize", "--apparent-size", "-k"]).arg(&system))?;
    let kilobytes = kilobytes.split_whitespace().next().context("du printed nothing")?;
    let libraries = libraries(programs, staging.path())?;
    write(&control.join("control"), control_file(package, release, &libraries, kilobytes))?;
    write(&control.join("conffiles"), format!("/{CONFIGURATION}\n"))?;
    for (name, script) in SCRIPTS {
        write(&control.join(name), script)?;
        fs::set_permissions(control.join(name), Permissions::from_mode(0o755))?;
    }
    // Folders are made with the mask of this process.
    run(Command::new("chmod").args(["--recursive", "u=rwX,go=rX"]).arg(&system))?;
    let path = folder.join(format!("{}_{}_{}.deb", package.name, release.version, release.architecture));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&system).arg(&path);
    output(build.env("SOURCE_DATE_EPOCH", release.seconds.to_string()))?;
    Ok(path)
}

/// Returns the packages of the libraries that programs need: `libc6 (>= 2.34)`.
fn libraries(programs: &Programs, folder: &Path) -> Result<String> {
    // The program reads the name of a package from this file.
    write(&folder.join("debian/control"), "Source: plimsoll\n\nPackage: plimsoll\nArchitecture: any\n")?;
    let mut find = Command::new("dpkg-shlibdeps");
    find.current_dir(folder).arg("-O");
    programs.paths().iter().for_each(|program| {
        find.arg("-e").arg(program);
    });
    let found = output(&mut find)?;
    let depends = found.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    Ok(depends.with_context(|| format!("dpkg-shlibdeps printed `{}`", found.trim()))?.to_owned())
}

fn control_file(package: &DebianPackage, release: &Release, libraries: &str, kilobytes: &str) -> String {
    let DebianPackage { name, relations, addition, .. } = package;
    let Release { version, architecture, .. } = release;
    // `passwd` has `useradd`, which the script after the installation needs.
    format!(
        "Package: {name}\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: Plimsoll <maintainers@plimsoll.invalid>\nInstalled-Size: {kilobytes}\n\
         Depends: {libraries}, passwd\nRecommends: ca-certificates\n{relations}\
         Section: net\nPriority: optional\n\
         Description: server capacity laboratory and web server accelerator\n \
         Plimsoll loads a web, application, file or order-entry server step by step and\n \
         reports how much it can carry, what limits it, and whether the result can be\n \
         trusted. The program plimsoll-accelerator is a caching reverse proxy, with a\n \
         service that is not started until it is enabled.\n .\n{addition}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release() -> Release {
        Release {
            version: "0.1.0".to_owned(),
            architecture: "amd64".to_owned(),
            seconds: 0,
            date: "1970-01-01T00:00:00Z".to_owned(),
        }
    }

    #[test]
    fn the_package_with_pdf_takes_the_place_of_the_other() {
        let control = |package| control_file(package, &release(), "libc6 (>= 2.34)", "100");
        let plain = control(&PLIMSOLL);
        assert!(plain.contains("\nDepends: libc6 (>= 2.34), passwd\n"), "{plain}");
        assert!(plain.contains("\nSuggests: plimsoll-pdf\n") && !plain.contains("Conflicts"), "{plain}");
        let pdf = control(&PLIMSOLL_PDF);
        assert!(
            pdf.starts_with("Package: plimsoll-pdf\n") && pdf.contains("\nConflicts: plimsoll\n"),
            "{pdf}"
        );
    }

    /// A line that does not begin with a name or a blank would end the description.
    #[test]
    fn every_line_of_a_control_file_is_a_field_or_continues_one() {
        for package in [&PLIMSOLL, &PLIMSOLL_PDF] {
            let control = control_file(package, &release(), "libc6", "1");
            for line in control.lines() {
                let is_field = line.split_once(": ").is_some_and(|(name, _)| !name.contains(' '));
                assert!(line.starts_with(' ') || is_field, "{line}");
            }
        }
    }
}
