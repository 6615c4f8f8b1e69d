//! Packages that end up in a program.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use crate::shell::{cargo, output};

/// A package that ends up in a binary, or runs while one is compiled from it (procedural macros).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkedPackage {
    /// The name, as in the registry.
    pub name: String,
    /// The version: `1.2.3`.
    pub version: String,
    /// The license expression of its manifest, which may be empty.
    pub license: String,
}

/// Returns the packages of a selection, such as `--workspace` or `--package plimsoll --features pdf`.
///
/// `cargo tree` lists what is built; `cargo metadata` also lists optional packages that never are.
///
/// # Errors
/// cargo ends with a failure, or prints what is not understood.
pub fn linked_packages(selection: &[&str]) -> Result<BTreeSet<LinkedPackage>> {
    let arguments = ["tree", "--edges", "normal", "--prefix", "none", "--format", "{p}|{l}"];
    let lines = output(cargo(&arguments).args(selection))?;
    lines.lines().filter(|line| !line.is_empty()).map(LinkedPackage::parse).collect()
}

impl LinkedPackage {
    /// Parses `name v1.2.3 (more)|license`, with ` (*)` at the end of repeated entries.
    ///
    /// # Errors
    /// The line is not of this form.
    pub fn parse(line: &str) -> Result<LinkedPackage> {
        let fields = || {
            let (package, license) = line.trim_end_matches(" (*)").split_once('|')?;
            let mut words = package.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?, license))
        };
        let (name, version, license) =
            fields().with_context(|| format!("cannot read `{line}` from cargo tree"))?;
        Ok(LinkedPackage { name: name.to_owned(), version: version.to_owned(), license: license.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_tree_are_read_and_others_are_errors() {
        let package = LinkedPackage::parse("syn v2.0.1 (proc-macro)|MIT OR Apache-2.0 (*)").unwrap();
        assert_eq!((package.name.as_str(), package.version.as_str()), ("syn", "2.0.1"));
        assert_eq!(package.license, "MIT OR Apache-2.0");
        assert!(LinkedPackage::parse("[build-dependencies]").is_err());
    }
}
