//! `licenses`: licenses of linked packages against `deny.toml`, without needing `cargo deny`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use proving::shell::{cargo, output, root};
use toml::{Table, Value};

use crate::spdx::fulfilled;

/// Checks licenses and duplicates of the packages linked with these features (`plimsoll/pdf`); prints a line
/// on success.
pub(crate) fn perform(features: &[&str]) -> Result<()> {
    let linked = linked(features)?;
    let policy = LicensePolicy::read(&std::fs::read_to_string(root().join("deny.toml"))?)?;
    let mut complaints = policy.licenses(&linked);
    // Duplicates brought in by a feature are not checked.
    if features.is_empty() {
        complaints.extend(policy.duplicates(&linked));
    }
    if !complaints.is_empty() {
        bail!("`deny.toml` does not allow these packages:\n  {}", complaints.join("\n  "));
    }
    println!("{} packages, all under licenses that deny.toml allows.", linked.len());
    Ok(())
}

/// A package that ends up in a binary, or runs while one is compiled from it (procedural macros).
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    license: String,
}

/// `cargo tree` shows what is built; `cargo metadata` also lists optional packages that never are.
fn linked(features: &[&str]) -> Result<BTreeSet<Package>> {
    let arguments = ["tree", "--workspace", "--edges", "normal", "--prefix", "none", "--format", "{p}|{l}"];
    let features = features.iter().flat_map(|feature| ["--features", *feature]);
    output(cargo(&arguments).args(features))?.lines().filter(|line| !line.is_empty()).map(package).collect()
}

/// Parses `name v1.2.3 (more)|license`, with ` (*)` at the end of repeated entries.
fn package(line: &str) -> Result<Package> {
    let fields = || {
        let (package, license) = line.trim_end_matches(" (*)").split_once('|')?;
        let mut words = package.split(' ');
        Some((words.next()?, words.next()?.strip_prefix('v')?, license))
    };
    let (name, version, license) =
        fields().with_context(|| format!("cannot read `{line}` from cargo tree"))?;
    Ok(Package { name: name.to_owned(), version: version.to_owned(), license: license.to_owned() })
}

/// The policy in `deny.toml`.
struct LicensePolicy {
    /// Licenses allowed for all packages.
    allowed: Vec<String>,
    /// Packages that may have several versions.
    several: Vec<String>,
}

impl LicensePolicy {
    fn read(text: &str) -> Result<LicensePolicy> {
        let table: Table = text.parse().context("deny.toml")?;
        let list = |section: &str, key: &str| {
            let list = table.get(section).and_then(|section| section.get(key)).and_then(Value::as_array);
            list.with_context(|| format!("deny.toml: expected a list `{key}` in `[{section}]`"))
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let name = |value: &Value| value.get("crate").and_then(text);
        Ok(LicensePolicy {
            allowed: list("licenses", "allow")?.iter().filter_map(text).collect(),
            several: list("bans", "skip")?.iter().filter_map(name).collect(),
        })
    }

    /// Returns packages whose license is not allowed.
    fn licenses(&self, linked: &BTreeSet<Package>) -> Vec<String> {
        let allowed = |license: &str| self.allowed.iter().any(|one| one == license);
        let complaints = linked.iter().filter_map(|Package { name, version, license }| {
            match fulfilled(license, &allowed) {
                Ok(true) => None,
                Ok(false) => Some(format!("{name} {version}: license `{license}`")),
                Err(error) => Some(format!("{name} {version}: {error}")),
            }
        });
        complaints.collect()
    }

    /// Returns packages with several versions without a reason.
    fn duplicates(&self, linked: &BTreeSet<Package>) -> Vec<String> {
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for Package { name, version, .. } in linked {
            versions.entry(name).or_default().insert(version);
        }
        versions.retain(|name, versions| 1 < versions.len() && !self.several.iter().any(|one| one == name));
        let complaint = |(name, versions): (&str, BTreeSet<&str>)| {
            format!("{name} in {} versions: {versions:?}", versions.len())
        };
        versions.into_iter().map(complaint).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "[licenses]\nallow = [\"MIT\"]\n[bans]\nskip = [{ crate = \"syn\" }]\n";

    #[track_caller]
    fn check(lines: &[&str], expected: &[&str]) {
        let linked = lines.iter().map(|line| package(line).unwrap()).collect();
        let policy = LicensePolicy::read(POLICY).unwrap();
        assert_eq!([policy.licenses(&linked), policy.duplicates(&linked)].concat(), expected);
    }

    #[test]
    fn allowed_packages_pass_even_if_repeated() {
        check(&["a v1.0.0|MIT", "a v1.0.0|MIT (*)", "b v2.0.0 (proc-macro)|GPL-3.0 OR MIT"], &[]);
        check(&["syn v2.0.0|MIT", "syn v3.0.0|MIT"], &[]);
    }

    #[test]
    fn another_license_a_missing_one_and_a_second_version_are_found() {
        check(&["a v1.0.0|GPL-3.0"], &["a 1.0.0: license `GPL-3.0`"]);
        check(&["a v1.0.0|"], &["a 1.0.0: expected a license, found None"]);
        check(&["a v1.0.0|MIT", "a v2.0.0|MIT"], &["a in 2 versions: {\"1.0.0\", \"2.0.0\"}"]);
    }

    #[test]
    fn invalid_lines_and_policies_are_errors() {
        assert!(package("[build-dependencies]").is_err());
        assert!(LicensePolicy::read("[licenses]\nallow = []\n").is_err());
    }
}
