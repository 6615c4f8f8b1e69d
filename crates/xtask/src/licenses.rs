//! `licenses`: licenses of linked packages against `deny.toml`, without needing `cargo deny`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use proving::build::{LinkedPackage, linked_packages};
use proving::shell::root;
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

/// Returns the packages of the workspace with these features.
fn linked(features: &[&str]) -> Result<BTreeSet<LinkedPackage>> {
    let features = features.iter().flat_map(|feature| ["--features", *feature]);
    linked_packages(&["--workspace"].into_iter().chain(features).collect::<Vec<_>>())
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
    fn licenses(&self, linked: &BTreeSet<LinkedPackage>) -> Vec<String> {
        let allowed = |license: &str| self.allowed.iter().any(|one| one == license);
        let complaints =
            linked.iter().filter_map(|LinkedPackage { name, version, license }| {
                match fulfilled(license, &allowed) {
                    Ok(true) => None,
                    Ok(false) => Some(format!("{name} {version}: license `{license}`")),
                    Err(error) => Some(format!("{name} {version}: {error}")),
                }
            });
        complaints.collect()
    }

    /// Returns packages with several versions without a reason.
    fn duplicates(&self, linked: &BTreeSet<LinkedPackage>) -> Vec<String> {
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for LinkedPackage { name, version, .. } in linked {
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
        let linked = lines.iter().map(|line| LinkedPackage::parse(line).unwrap()).collect();
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
    fn an_invalid_policy_is_an_error() {
        assert!(LicensePolicy::read("[licenses]\nallow = []\n").is_err());
    }
}
