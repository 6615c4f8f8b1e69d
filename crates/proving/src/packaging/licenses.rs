//! The licenses of all crates in a program, as one text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::programs::{BuildKind, selection};
use crate::build::{LinkedPackage, linked_packages};
use crate::shell::{cargo, output, root};

/// Beginnings of the names of files with licenses, in capitals.
const LICENSE_FILES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// The texts for crates that say which license they have but bring no file; they are ours, too.
const OWN_TEXTS: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// What a static program has of the C library and of the compiler, whose terms differ from those of the crates.
const STATIC_PARTS: &str = "\
The static programs contain parts of the GNU C Library, under the GNU Lesser General Public License, version 2.1 or later,
as Debian's package libc6-dev has them, and of libgcc, under the GNU General Public License, version 3 or later, with the
GCC Runtime Library Exception. The sources of these programs, and the command that links them with another version of the C
library (`cargo xtask package`), are part of Plimsoll's sources; those of the library are Debian's source package glibc.
";

/// Returns the licenses of the programs and of all crates in them. A text that several crates have is printed once.
///
/// # Errors
/// cargo cannot list the crates, or a file cannot be read.
pub(super) fn text(kind: BuildKind) -> Result<String> {
    let linked = linked_packages(selection(kind))?;
    let folders = folders()?;
    let mut text = String::from(
        "Plimsoll is licensed under either the Apache License 2.0 or the MIT license, at your option.\n\
         SQLite, which is part of it, is in the public domain. The crates that are part of it:\n\n",
    );
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for LinkedPackage { name, version, license } in &linked {
        writeln!(text, "  {name} {version}: {license}")?;
        let folder = folders.get(&(name.clone(), version.clone()));
        for one in
            texts_in(folder.with_context(|| format!("cargo does not know where {name} {version} is"))?)?
        {
            texts.entry(one).or_default().insert(name.clone());
        }
    }
    for own in OWN_TEXTS {
        let path = root().join(own);
        let license = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        texts.entry(normal(&license)).or_default().insert("plimsoll".to_owned());
    }
    if kind == BuildKind::Static {
        write!(text, "\n{STATIC_PARTS}")?;
    }
    for (license, crates) in texts {
        let crates = crates.into_iter().collect::<Vec<_>>().join(", ");
        write!(text, "\n{}\n{crates}\n\n{license}\n", "-".repeat(80))?;
    }
    Ok(text)
}

/// Returns the folder of each package, by name and version.
fn folders() -> Result<BTreeMap<(String, String), PathBuf>> {
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--all-features"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata).context("the metadata of cargo")?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let folder = |package: &serde_json::Value| {
        let text = |key: &str| Some(package[key].as_str()?.to_owned());
        let folder = PathBuf::from(text("manifest_path")?).parent()?.to_owned();
        Some(((text("name")?, text("version")?), folder))
    };
    Ok(packages.iter().filter_map(folder).collect())
}

/// Returns the license texts in the folder of a package.
fn texts_in(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if path.is_file() && LICENSE_FILES.iter().any(|beginning| name.starts_with(beginning)) {
            let text = fs::read(&path).with_context(|| path.display().to_string())?;
            texts.push(normal(&String::from_utf8_lossy(&text)));
        }
    }
    Ok(texts)
}

/// Returns a text without blanks at the ends of its lines and empty lines around it.
fn normal(text: &str) -> String {
    text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_licenses_are_found_and_programs_are_not() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("LICENSE-MIT", "a \r\nb\n\n"), ("license.txt", "c"), ("lib.rs", "no")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let mut texts = texts_in(folder.path()).unwrap();
        texts.sort();
        assert_eq!(texts, ["a\nb", "c"]);
    }
}
