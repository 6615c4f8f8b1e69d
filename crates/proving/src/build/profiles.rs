//! The profiles of this checkout, for builds of other commits.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::shell::root;

/// Writes the profiles of optimized builds of this checkout to a file of cargo's configuration beside the sources of
/// another commit, and returns its path.
pub(super) fn write(sources: &Path) -> Result<PathBuf> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).context("Cargo.toml")?;
    let path = sources.join("profiles.toml");
    fs::write(&path, optimized(&manifest)?).with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Returns the profiles `release` and `packaged` of a manifest.
fn optimized(manifest: &str) -> Result<String> {
    let manifest: toml::Table = toml::from_str(manifest).context("Cargo.toml")?;
    let mut profiles = manifest
        .get("profile")
        .and_then(toml::Value::as_table)
        .context("Cargo.toml has no profiles")?
        .clone();
    profiles.retain(|name, _| ["release", "packaged"].contains(&name));
    Ok(toml::to_string(&toml::Table::from_iter([("profile".to_owned(), profiles.into())]))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> toml::Table {
        toml::from_str(&fs::read_to_string(root().join("Cargo.toml")).unwrap()).unwrap()
    }

    #[test]
    fn profiles_of_optimized_builds_are_handed_on_with_their_packages_and_the_others_are_not() {
        let text = "[package]\nname = 'a'\n[profile.release]\nlto = 'off'\n[profile.release.package.b]\n\
                    opt-level = 3\n[profile.packaged]\ninherits = 'release'\n[profile.dev]\ndebug = 1\n";
        let found: toml::Table = toml::from_str(&optimized(text).unwrap()).unwrap();
        let expected = "[profile.release]\nlto = 'off'\n[profile.release.package.b]\nopt-level = 3\n\
                        [profile.packaged]\ninherits = 'release'\n";
        assert_eq!(found, toml::from_str(expected).unwrap());
    }

    /// docs/build.md says so.
    #[test]
    fn only_packages_are_optimized_as_a_whole() {
        let profiles = &manifest()["profile"];
        assert_eq!(profiles["release"]["lto"].as_str(), Some("off"));
        assert_eq!(profiles["packaged"]["lto"].as_str(), Some("fat"));
        assert_eq!(profiles["packaged"]["codegen-units"].as_integer(), Some(1));
        assert_eq!(profiles["packaged"]["inherits"].as_str(), Some("release"));
    }

    /// The packages that operations go through, from the socket to the record.
    #[test]
    fn what_every_operation_goes_through_is_optimized_fully_in_both() {
        let packages = &manifest()["profile"]["release"]["package"];
        for name in
            ["engine", "drivers", "fleet", "http1", "stats", "tokio", "rustls", "h2", "httparse", "memchr"]
        {
            assert_eq!(packages[name]["opt-level"].as_integer(), Some(3), "{name}");
        }
    }
}
